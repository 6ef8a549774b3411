/* What the unit tests share. */
#ifndef SC_TEST_CHECK_H
#define SC_TEST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>

#include "base/error.h"

/* The call succeeds. */
#define assert_ok(expression) check_ok((expression), __FILE__, __LINE__)
/* The call fails and its message contains the text. */
#define assert_fails(text, expression) check_fails((text), (expression), __FILE__, __LINE__)

void check_ok(struct error *error, const char *file, int line);
void check_fails(const char *text, struct error *error, const char *file, int line);

/* |a - b| <= tolerance * max(1, |a|, |b|), and neither is NaN. */
#define assert_near(a, b, tolerance) check_near((a), (b), (tolerance), __FILE__, __LINE__)
void check_near(double a, double b, double tolerance, const char *file, int line);

/* The file that dataset_write makes, in memory that the caller frees. */
struct dataset;
char *dataset_bytes(const struct dataset *dataset, size_t *size);

#endif
