/* The commands that are put to the test: a list in a file, one on a line.
 *
 *     NAME[/N]: PROGRAM WORD... [< FILE] => OUTPUT... [~LOG] [^CHECKPOINT] [+FOLDER]
 *
 * Words may stand in single quotes.  {in} is the folder of the inputs, {tests} that of the built
 * tests.  Outputs, log, checkpoint and folder are what the command may leave in its working folder.
 * A ~LOG grows during the run and must be whole only after one that succeeded; the content of a
 * +FOLDER is not looked at.  Standard output is an output, too.  /N: a command that takes long,
 * with which not as many places are tried by that factor. */
#ifndef SC_FAULT_COMMANDS_H
#define SC_FAULT_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

enum { COMMAND_MOST_WORDS = 64, COMMAND_MOST_OUTPUTS = 8, COMMAND_MOST = 128 };

struct command {
    char *name;
    char *words[COMMAND_MOST_WORDS]; /* ends with NULL; room for two more */
    size_t word_count;
    char *input; /* of standard input, or NULL */
    char *outputs[COMMAND_MOST_OUTPUTS];
    size_t output_count;
    bool grows[COMMAND_MOST_OUTPUTS]; /* a log */
    unsigned long slow;               /* 1, or that factor */
    char *checkpoint, *folder;        /* or NULL */
};

/* Reads the list; ends the program with a message when a line makes no sense. */
size_t commands_read(const char *path, const char *inputs, const char *tests,
                     struct command commands[COMMAND_MOST]);

#endif
