/* What cli.c and cli_output.c know of the run. */
#ifndef SC_CLI_INTERNAL_H
#define SC_CLI_INTERNAL_H

#include "common/cli.h"

struct cli_state {
    const struct cli_program *program; /* for messages and provenance */
    bool quiet;
    char *recorded;     /* options that were given and matter for the result: " --name=value ..." */
    const char *device; /* to be recorded, or NULL */
    struct {
        size_t number;
        const char *host;
        void (*fail)(const char *message); /* NULL: one process alone */
    } rank;
};

extern struct cli_state cli_state;

#endif
