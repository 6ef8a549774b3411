/* What all tools share: options, messages, exit codes, input and output, provenance.
 *
 * A tool declares a struct of options that starts with a struct cli_common, a table that says which
 * option sets which member, and a struct cli_program; cli_parse does the rest.  Usage errors exit
 * with 2, anything else that fails with 1.
 *
 *     struct prune_cli { struct cli_common common; double ratio; };
 *     static const struct cli_option options[] = {
 *         {'p', "ratio", "P", CLI_REAL, CLI_AT(prune_cli, ratio),
 *          "share of the series to drop", .low = 0, .high = 0.999},
 *         {0},
 *     };
 */
#ifndef SC_CLI_H
#define SC_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/dataset.h"
#include "base/error.h"
#include "base/output.h"
#include "formats/slp.h"

enum cli_type {
    CLI_FLAG, /* bool: no argument */
    CLI_SIZE, /* size_t between low and high (high 0: no limit) */
    CLI_SEED, /* uint64_t */
    CLI_REAL, /* double between low and high (both 0: no limit) */
    CLI_TEXT, /* const char * */
    CLI_FILE, /* const char *: a path to read, which provenance leaves out (the digest says more) */
    CLI_OUTPUT, /* const char *: a path to write */
    CLI_FOLDER, /* const char * */
    CLI_CHOICE, /* int: index into choices; a default of -1 is not shown */
    CLI_TEXTS,  /* struct cli_texts: may be given more than once */
};

struct cli_texts {
    const char **items;
    size_t count;
};

struct cli_option {
    char letter; /* or 0 */
    const char *name;
    const char *argument; /* its name in the help, NULL for a flag */
    enum cli_type type;
    size_t offset; /* of the member in the tool's struct: CLI_AT */
    const char *help;
    double low, high;
    const char *const *choices; /* ends with NULL */
    bool unrecorded;            /* does not change the result, so provenance leaves it out */
    bool reads;                 /* text that names a file, or may, which is read */
};

#define CLI_AT(options, member) offsetof(struct options, member)

struct cli_common {
    const char **files; /* arguments that are not options */
    size_t file_count;
    const char *output; /* -o, "-" if not given */
    uint64_t seed;
    size_t threads;
    bool quiet;
};

struct cli_program {
    const char *name;
    const char *arguments;            /* for the usage line: "[FILE]" */
    const char *summary;              /* one sentence */
    const struct cli_option *options; /* ends with a row of zeros */
    size_t most_files;                /* how many arguments it takes at most */
    size_t least_files;               /* and at least: with no more, standard input is the next */
    bool random;                      /* the seed changes the result */
    bool words;                       /* the arguments are words that provenance keeps, not files */
    bool prefix;                      /* -o is not a file: the tool claims its outputs itself */
    bool computes;                    /* last bits depend on what computes: provenance says it */
    const char *notes;                /* more for --help, or NULL */
    const char *example;              /* a command for --help, or NULL */
};

/* Reads the command line into options, whose defaults the caller has set (seed, threads and quiet
 * start as 0, threads as what SHAPECOND_THREADS says).  To be called before anything is opened:
 * opens standard streams that are closed.  Handles --help and --version, refuses files that have
 * two uses (claims.h), sets the thread count, installs signal handlers that remove temporary files
 * and end a child (process.h). */
void cli_parse(int argc, char **argv, const struct cli_program *program, void *options);

/* Prints "program: message" and exits with 1 if there is an error. */
void cli_check(struct error *error);
/* Usage errors: prints the message and a hint to --help, exits with 2. */
_Noreturn void cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A usage error if there is an error about the value of that option; lack of memory is not one. */
void cli_check_usage(const char *option, struct error *error);
/* A remark on standard error, unless --quiet. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A warning on standard error, even with --quiet. */
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The first file argument, or "-". */
const char *cli_input(const struct cli_common *common);

/* This process is a rank of several (cluster_option.h).  Errors name rank and host, and go to
 * `fail` before the process exits.  Ranks other than 0 print nothing, and their outputs go to
 * /dev/null. */
void cli_join(size_t rank, const char *host, void (*fail)(const char *message));
/* A message about another rank, even with --quiet and of any rank. */
void cli_say_of_cluster(const char *text);

/* The provenance is to say that this device computed: results of others are a little different. */
void cli_record_device(const char *name);

/* Adds this run to the provenance in *notes (malloc'ed, may be NULL): tool, version, the options
 * that matter for the result, seed, the digests of the inputs (those that are NULL or "" are left
 * out), and what computed. */
void cli_record(const struct cli_common *common, char **notes, const char *const *digests,
                size_t count);

/* Records this run in the dataset's notes and writes it to -o.  input_digests as above. */
void cli_write_dataset(const struct cli_common *common, struct dataset *dataset,
                       const char *const *digests, size_t count);
void cli_write_pool(const struct cli_common *common, struct shapelet_pool *pool,
                    const char *const *digests, size_t count);

/* For tools that write several files: opens the path and writes the dataset, which takes its name
 * only in cli_commit. */
void cli_stage_dataset(const char *path, const struct dataset *dataset, struct output *output);
/* Ends the program if writing an output, which is not in place yet, has failed. */
void cli_check_written(const char *path, struct error *error);
/* Puts outputs in place, none of them before all of them have been written in full; -o comes first
 * in the list (output_commit_all). */
void cli_commit(struct output *outputs, size_t count);

/* Removes the checkpoint of a run that is done, if there is one. */
void cli_remove_checkpoint(const char *path);

/* A usage error if binary data would go to a terminal. */
void cli_refuse_terminal(const char *path);

/* Warns that a program which reads a dataset does nothing with its views. */
void cli_warn_views(const char *path, const struct dataset *dataset);

/* Opens -o for other data; refuses to write binary data to a terminal. */
void cli_open_output(const char *path, bool binary, struct output *output);
/* Puts it in place, or throws it away and exits if writing it gave an error, which gets the name of
 * the output. */
void cli_finish_output(struct output *output, const char *path, struct error *error);

#endif
