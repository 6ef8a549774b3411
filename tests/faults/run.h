/* Runs of one command with a fault in it.
 *
 * Allocations fail in the preloaded library.  System calls are stopped by seccomp and wait for this
 * process to let them go on, to answer them with an error, or to kill the program at them: every
 * one, those of the C library's own streams as well, and of all processes that the program starts.
 * What the loader does before main is not counted. */
#ifndef SC_FAULT_RUN_H
#define SC_FAULT_RUN_H

#include <stdbool.h>
#include <sys/types.h>

#include "commands.h"
#include "fault.h"

/* Kinds of calls that fail, each counted by itself. */
enum call {
    CALL_ALLOCATE,
    CALL_MMAP,
    CALL_WRITE,
    CALL_OPEN,
    CALL_READ,
    CALL_SYNC,
    CALL_RENAME,
    CALL_LINK,
    CALL_UNLINK,
    CALL_CHMOD,
    CALL_TRUNCATE,
    CALL_CLOSE,
    CALL_MKDIR,
    CALL_CLONE, /* threads and processes */
    CALLS
};

extern const char *const call_names[CALLS + 1];

/* What a system call was about. */
enum object {
    OBJECT_NONE,
    OBJECT_STDIN,
    OBJECT_STDOUT,
    OBJECT_STDERR,
    OBJECT_SYSTEM,     /* /proc, /sys, /dev, /etc, libraries */
    OBJECT_PROGRAM,    /* one of those under test */
    OBJECT_FOLDER,     /* a folder that is to be synced or searched */
    OBJECT_NAMELESS,   /* a file without a name, yet or any more */
    OBJECT_SYNCED,     /* a file that was not written any more since fsync() succeeded */
    OBJECT_WORK,       /* a file that is written */
    OBJECT_CHECKPOINT, /* one with the name of the checkpoint, to be written */
    OBJECT_INPUT,      /* one that is only read */
    OBJECT_PIPE,       /* and sockets */
    OBJECT_ANONYMOUS,  /* memory that belongs to no file */
    OBJECT_OTHER,
};

/* What is to happen.  All zeros: nothing. */
struct fault {
    enum call call;
    enum fault_mode mode;
    unsigned long n; /* the call that fails; with signal, the call of the file system that it is
                      * sent at */
    int signal;      /* to the program, instead of a failure; 0: none */
};

struct run {
    int status; /* as of waitpid */
    bool hung;  /* it had to be killed */
    bool fired;
    unsigned long counts[CALLS];
    unsigned long points;  /* calls that change the file system, or could */
    unsigned long orphans; /* processes that did not end with it */
    enum object object;
    char what[320]; /* the call that failed, for people */
};

/* Where programs run, made once. */
struct bench {
    const char *work;   /* the working folder */
    const char *inputs; /* folder */
    const char *programs;
    const char *library; /* to preload */
    double patience;     /* seconds before a run has hung */
    int output, error;   /* what it wrote to standard output and error: files in memory */
};

/* A command, loaded and stopped before main. */
struct server;
/* `watched`: system calls are stopped.  Ends the program when that cannot be. */
struct server *server_start(const struct bench *bench, const struct command *command,
                            unsigned threads, bool watched);
void server_stop(struct server *server);

/* Whether this kernel can stop system calls. */
bool server_can_watch(void);

/* One run, in the working folder as it is. */
void server_run(struct server *server, const struct fault *fault, struct run *run);

#endif
