/* Decimal numbers in text, read and written without the locale and without loss.
 *
 * Reading is exactly rounded: the double is the one that strtod gives in the C locale, for every
 * input.  Writing gives the shortest text that reads back as the same float. */
#ifndef SC_NUMBER_H
#define SC_NUMBER_H

#include <stddef.h>

enum { NUMBER_TEXT = 32 }; /* room for any number that is written here, and its end */

/* Reads the number that starts at text and ends before end: digits with an optional sign, point and
 * exponent, or inf, infinity or nan in any case.  No white space, no hexadecimal.  Returns where it
 * stopped, or NULL if no number starts there.  Too large gives infinity, too small zero. */
const char *number_parse(const char *text, const char *end, double *value);

/* Writes the float and a final zero byte; returns the length.  "nan", "inf" and "-inf" for what is
 * not finite. */
size_t number_format(float value, char text[NUMBER_TEXT]);

/* Same for a double. */
size_t number_format_double(double value, char text[NUMBER_TEXT]);

#endif
