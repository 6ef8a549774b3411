/* Tables of numbers as text: a line of column names, then rows; separated by tabs, commas or
 * spaces.  What the tools print as TSV, and what a user plots. */
#ifndef SC_TABLE_H
#define SC_TABLE_H

#include <stddef.h>

#include "base/error.h"

struct table {
    size_t columns;
    size_t rows;
    char **names;   /* (columns,) in one block; "column 1" ... if the text has none */
    double *values; /* (columns, rows); NaN where a field is empty, "-" or "nan" */
};

struct error *table_parse(const char *text, size_t size, struct table *table) MUST_CHECK;
void table_free(struct table *table);

#endif
