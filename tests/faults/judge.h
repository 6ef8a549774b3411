/* The working folder of a command, and what a run has left in it. */
#ifndef SC_FAULT_JUDGE_H
#define SC_FAULT_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "commands.h"
#include "run.h"

/* How a run with a failure ended.  From VERDICT_SILENT on they are defects. */
enum verdict {
    VERDICT_HARMLESS, /* succeeded with the right bytes, and was expected to (judge.c has the list)
                       */
    VERDICT_CLEAN,    /* exit 1 with a message, output as before */
    VERDICT_LATE,     /* the same, with the whole output in place */
    VERDICT_SILENT,   /* exit 0 with other bytes */
    VERDICT_MISSING,  /* exit 0 without an output */
    VERDICT_UNLISTED, /* exit 0 with the right bytes, though nothing says that it may */
    VERDICT_SIGNAL,   /* abort, segmentation fault, ... */
    VERDICT_HANG,
    VERDICT_MUTE,     /* exit 1 without a message */
    VERDICT_DAMAGED,  /* failed, and the output is neither as before nor whole, or new beside old */
    VERDICT_LEFTOVER, /* files that it did not name */
    VERDICT_ORPHAN,   /* processes that did not end with it */
    VERDICT_ODD,      /* another exit status */
    VERDICTS
};

extern const char *const verdict_names[VERDICTS];

/* Output files of an undisturbed run. */
struct reference {
    char *outputs[COMMAND_MOST_OUTPUTS + 1]; /* the last is standard output */
    size_t sizes[COMMAND_MOST_OUTPUTS + 1];
};

/* Empties the working folder.  `old`: then puts files there that the outputs replace. */
void folder_reset(const struct bench *bench, const struct command *command, bool old);

/* Takes what the run has left for right. */
void reference_take(const struct bench *bench, const struct command *command,
                    struct reference *reference);
void reference_free(struct reference *reference);
/* One number for all of it. */
uint64_t reference_hash(const struct command *command, const struct reference *reference);

enum verdict judge_failure(const struct bench *bench, const struct command *command,
                           const struct reference *reference, const struct fault *fault,
                           const struct run *run);

/* After a kill: VERDICT_CLEAN, or a defect.  Temporary files that SIGKILL leaves are no defect;
 * their names go into `left`, of which `left_count` were there. */
struct kill_remains {
    bool complete; /* all outputs are there */
    unsigned left;
    char names[256]; /* of those that are left, their random letters as '?' */
};
enum verdict judge_kill(const struct bench *bench, const struct command *command,
                        const struct reference *reference, const struct fault *fault,
                        const struct run *run, struct kill_remains *remains);

/* Whether the command, run again after a kill, did as an undisturbed one. */
enum verdict judge_again(const struct bench *bench, const struct command *command,
                         const struct reference *reference, const struct run *run,
                         const struct kill_remains *remains);

/* The last line of what it wrote to standard error. */
void judge_message(const struct bench *bench, char text[200]);

#endif
