/* Tables of sc-plot: what is read has numbers for every row and column, and the same ones again
 * when they are written as sc-eval writes them. */
#include "fuzz.h"

#include "formats/table.h"

static void check_again(const struct table *table)
{
    struct table again;
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    MUST(stream);
    for (size_t c = 0; c < table->columns; c++)
        fprintf(stream, "%sname", c ? "\t" : "");
    for (size_t row = 0; row < table->rows; row++)
        for (size_t c = 0; c < table->columns; c++)
            fprintf(stream, "%c%.17g", c ? '\t' : '\n', table->values[c * table->rows + row]);
    MUST(fclose(stream) == 0);
    MUST(!failed(table_parse(text, size, &again)));
    MUST(again.rows == table->rows && again.columns == table->columns);
    for (size_t i = 0; i < table->rows * table->columns; i++)
        MUST(again.values[i] == table->values[i] ||
             (isnan(again.values[i]) && isnan(table->values[i])));
    table_free(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct table table;

    if (failed(table_parse((const char *)bytes, size, &table)))
        return 0;
    MUST(table.columns >= 2 && table.rows >= 1);
    for (size_t c = 0; c < table.columns; c++)
        MUST(strlen(table.names[c]) < 64);
    for (size_t i = 0; i < table.rows * table.columns; i++)
        MUST(!isinf(table.values[i]));
    check_again(&table);
    table_free(&table);
    return 0;
}
