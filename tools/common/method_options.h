/* Options of sc-match that follow from what the matching methods say of themselves
 * (match/method.h): one for each parameter that any of them has. */
#ifndef SC_METHOD_OPTIONS_H
#define SC_METHOD_OPTIONS_H

#include <stddef.h>

#include "common/cli.h"
#include "match/match.h"

enum { METHOD_PARAMETERS = 32, METHOD_NAMES = 16, METHOD_HELP = 400 };

/* The values on the command line, in the order of the options: MATCH_UNSET or NaN if not given. */
struct method_values {
    struct {
        size_t whole;
        double real;
    } given[METHOD_PARAMETERS];
};

/* The names of all methods, and NULL. */
void method_options_names(const char *names[METHOD_NAMES]);

/* "dc, dsa: TEXT", with the methods that have one of these needs. */
void method_options_needs(unsigned needs, const char *what, char text[METHOD_HELP]);

/* Writes one option for each parameter to `options`, METHOD_PARAMETERS at most, and returns their
 * number.  The values are `offset` bytes from the start of the tool's struct; they become unset. */
size_t method_options_make(struct cli_option *options, size_t offset, struct method_values *values);

/* Sets the parameters of match->method that were given; those of other methods are usage errors. */
void method_options_apply(const struct cli_option *options, size_t count,
                          const struct method_values *values, struct match_options *match);

#endif
