/* Which commands have been run already in a folder that is kept, so that a run that was stopped
 * continues where it was, and one with other options repeats only what they change.
 *
 * FOLDER/commands.tsv has one line for each command that ended well: a digest of the command, of
 * the program and of the files that it read; a digest of the files that it wrote; the seconds that
 * it took; and the command itself.  A command need not be run again when the first is the same and
 * the files are still those of the second. */
#ifndef SC_COMMAND_LOG_H
#define SC_COMMAND_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/digest.h"

struct command_log_line;

struct command_log {
    char *path; /* NULL: nothing is kept */
    struct command_log_line *lines;
    size_t count;
};

/* Reads the log of a folder.  A damaged line counts as a command that has not been run. */
void command_log_open(struct command_log *log, const char *folder);
void command_log_close(struct command_log *log);

/* What a command depends on.  `program` is the path of the program, the words end with NULL.  Words
 * that name files are read, also after a =; but not the word after -o, --save, --log, --checkpoint
 * and --times, and of that after --teacher-command every file that it names. */
void command_log_key(const char *program, const char *const *words, char key[DIGEST_TEXT]);

/* Whether the command has been run and its files are as it left them. */
bool command_log_has(const struct command_log *log, const char *key, const char *const *words);

/* Seconds, bytes of the files that the command wrote, and its words: a malloc'ed line with tabs, or
 * NULL if it wrote none.  One that was done before, for which seconds is negative, took as long as
 * the log says. */
char *command_log_stage(const struct command_log *log, const char *key, const char *const *words,
                        double seconds);

/* Adds the command, which took so long, and writes the log; it replaces the one that wrote the same
 * file before.  A command that writes no file is not added. */
void command_log_add(struct command_log *log, const char *key, const char *const *words,
                     double seconds);

#endif
