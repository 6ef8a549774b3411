/* Running other programs of the suite, one after another, in a folder of files between them. */
#ifndef SC_COMMAND_H
#define SC_COMMAND_H

#include <stdbool.h>

#include "common/cli.h"

enum { COMMAND_MOST_FILES = 64 };

struct command_runner {
    char *folder;   /* of the files between the programs */
    bool temporary; /* goes when the run ends */
    const struct cli_common *common;
    char *files[COMMAND_MOST_FILES]; /* names that command_file gave */
    size_t file_count;
};

/* Uses the folder (made if it is not there), or a temporary one for NULL. */
void command_begin(struct command_runner *runner, const char *folder,
                   const struct cli_common *common);

/* Removes a temporary folder.  Also done when a program fails. */
void command_end(struct command_runner *runner);

/* A file of the folder; the string lives until command_end. */
const char *command_file(struct command_runner *runner, const char *name);

/* Says the command on standard error (unless --quiet) and runs it with the seed and threads of this
 * program; a program that fails ends this one, too, and so does a signal to this one, which the
 * program gets as well and which may come between two programs.  The words end with NULL; empty
 * ones are left out.  Programs are taken from the folder that this one is in. */
void command_run(struct command_runner *runner, const char *program, const char *const *words);

#define COMMAND(runner, program, ...)                                                              \
    command_run(runner, program, (const char *const[]){__VA_ARGS__, NULL})

#endif
