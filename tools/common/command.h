/* Running other programs of the suite, one after another, in a folder of files between them. */
#ifndef SC_COMMAND_H
#define SC_COMMAND_H

#include "common/cli.h"
#include "common/command_log.h"
#include "common/folder.h"

struct command_runner {
    const char *folder;      /* of the files between the programs */
    struct folder temporary; /* that folder, unless the user named one */
    struct command_log log;  /* of that which the user named */
    int lock;                /* on it, 0: none */
    const struct cli_common *common;
    bool counting;        /* commands are only counted */
    size_t total, number; /* how many there will be; this one's */
    /* Seconds: what the caller expects of the next command, of all of them (summed while counting),
     * of those before, and how long those took. */
    double expected, expected_total, expected_before, took;
    const char *advice; /* what to say if the next command fails, or NULL */
    const char *times;  /* --times of the next command, which is not said, or NULL */
    /* A file about the result (-o): an old one is removed before a new result is written. */
    const char *outdated;
    /* Of each command that wrote files: seconds, bytes of the files and the command, with tabs. */
    char **stages;
    size_t stage_count;
    char **names; /* that command_file and command_name gave */
    size_t name_count;
};

/* Uses the folder (made if it is not there), or a temporary one for NULL. */
void command_begin(struct command_runner *runner, const char *folder,
                   const struct cli_common *common);

/* Removes a temporary folder.  Also done when a program fails, when this one exits and when it is
 * ended by a signal; one that SIGKILL ended leaves it to the next (folder.h). */
void command_end(struct command_runner *runner);

/* A file of the folder; the string lives until command_end. */
const char *command_file(struct command_runner *runner, const char *name);

/* A path as a program takes it for one, never for an option; lives as long. */
const char *command_name(struct command_runner *runner, const char *path);

/* Keeps a malloc'ed word, or ends the program for NULL; lives as long. */
const char *command_keep(struct command_runner *runner, char *word);

/* Writes the lines of the stages so far into a file of the folder. */
void command_write_stages(struct command_runner *runner, const char *path);

/* Removes the outdated file, if there is one. */
void command_remove_outdated(const struct command_runner *runner);

/* Says a command (words up to NULL) that this program runs itself. */
void command_say(const struct command_runner *runner, const char *const *words);

/* Stands for a word that is left out. */
extern const char command_none[];

/* Prints the command on standard error (unless --quiet), as it can be pasted into a shell: files of
 * a temporary folder are "$STAGES"/..., and the first command makes that folder.  Runs it with the
 * seed and threads of this program, unless it has been run in a folder that the user named and its
 * files are still there; then it only says so.  In such a folder, programs that can continue from a
 * checkpoint get one.  A program that fails ends this one.  So does a signal to this one, which is
 * passed on to the program and may come between two programs.  A program never outlives this one.
 * The words end with NULL.  Programs are taken from the folder that this one is in. */
void command_run(struct command_runner *runner, const char *program, const char *const *words);

#define COMMAND(runner, program, ...)                                                              \
    command_run(runner, program, (const char *const[]){__VA_ARGS__, NULL})

#endif
