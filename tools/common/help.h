/* What a program says about its options: --help, a suggestion for one that does not exist, and
 * completion for shells.  All of it comes from the tables of options. */
#ifndef SC_HELP_H
#define SC_HELP_H

#include <stdio.h>

#include "common/cli.h"

/* Columns of the terminal that the descriptor is; 80 if it is not a terminal or does not say. */
size_t help_width(int descriptor);

/* --help, wrapped to the width.  options holds the defaults. */
void help_print(const struct cli_program *program, const struct cli_option *common,
                const void *options, size_t width);

/* The option that is most like the name, without its dashes, or NULL if none is. */
const char *help_suggest(const struct cli_program *program, const struct cli_option *common,
                         const char *name, size_t length);

/* Writes completion of the program's options for "bash", "zsh" or "fish"; false: no such shell. */
bool help_complete(const struct cli_program *program, const struct cli_option *common,
                   const char *shell);

#endif
