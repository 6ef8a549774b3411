/* A child process on two pipes: what is sent comes in on its standard input, what it writes to its
 * standard output is the answer; its standard error is ours.
 *
 * Nothing here waits forever: a child that neither reads nor writes is given up after the time
 * limit, one that ends is noticed, and coprocess_end leaves no process behind.  A child that writes
 * while it is still being sent a request is refused, because both sides could then wait for each
 * other. */
#ifndef SC_COPROCESS_H
#define SC_COPROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct coprocess {
    pid_t process;     /* also its process group; 0: none */
    int input, output; /* our ends: the child's standard input and output */
    double patience;   /* seconds for a whole request or answer */
    double deadline;   /* of the answer that is being read */
    size_t allowance;  /* bytes that may still be read: guards against an endless answer */
    bool silent;       /* there is nothing more to read */
    bool hopeless;     /* it broke the protocol: do not wait for its end */
    bool ended;        /* by itself: */
    siginfo_t how;
    bool lost; /* ended, with an unknown status: children are ignored (SIGCHLD) */
};

/* Starts `command` with /bin/sh. */
struct error *coprocess_start(const char *command, double patience,
                              struct coprocess *coprocess) MUST_CHECK;

/* Sends all bytes. */
struct error *coprocess_send(struct coprocess *coprocess, const void *bytes,
                             size_t size) MUST_CHECK;

/* Announces an answer of at most `bytes` bytes, all of it within the time limit. */
void coprocess_expect(struct coprocess *coprocess, size_t bytes);

/* Reads as read(2) does, for npy_open_source; context is the coprocess.  errno is ETIMEDOUT when
 * the time for the answer is over, EMSGSIZE when more comes than is allowed. */
ssize_t coprocess_read(void *coprocess, void *buffer, size_t size);

/* Why the child no longer answers: "exited with status 1", "was killed by signal 9 (Killed)" or
 * "closed its input or output". */
struct error *coprocess_gone(struct coprocess *coprocess) MUST_CHECK;

/* Closes the pipes, gives the child five seconds to end by itself (none if it was given up), then
 * kills it and all that it started and left in its process group. */
void coprocess_end(struct coprocess *coprocess);

/* Kills the child, if there is one, and all of its process group.  Safe in a signal handler; of
 * several children, the one that was started last. */
void coprocess_kill_from_signal(void);

#endif
