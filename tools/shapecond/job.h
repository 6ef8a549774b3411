/* What shapecond is asked to do and what it knows before the stages run.
 *
 *     look.c    reads the data once and rejects early what a later stage would reject
 *     size.c    bytes and time: --bytes, results that are too large, estimates
 *     stages.c  the stages up to the condensed dataset
 *     result.c  the result in the format of its name, and how good it is
 *
 * All functions end the program with a message when something is wrong, as those of cli.h do. */
#ifndef SC_SHAPECOND_JOB_H
#define SC_SHAPECOND_JOB_H

#include "common/cli.h"
#include "common/command.h"
#include "formats/export.h"

/* Whom the result is for. */
enum { STUDENTS_ANY, STUDENTS_SHAPELETS };

/* What the options of the stages are chosen from. */
struct facts {
    size_t count, channels, length, classes;
    size_t smallest, largest; /* class */
    size_t fewest;            /* series of a class that are not held out */
    size_t longest_name;      /* characters of a class's name */
    size_t notes;             /* characters of the provenance */
    bool ascii_notes;
    bool soft;     /* there are soft labels, which the result keeps */
    bool groups;   /* of the series, which the result keeps */
    bool held_out; /* there are series to validate with */
    bool by_group; /* they are held out by groups */
};

/* A way to divide --bytes between series and views.  Series are per_class of each class in few
 * bits, or as many compressed ones as fit into `bytes`. */
enum {
    BUDGETS = 5,
    USUAL_BUDGET = 2, /* without held-out series to try them on */
};
struct budget {
    size_t per_class, views, bits; /* views: with --bytes about as many */
    double step, bytes;            /* options of sc-quantise; step 0: few bits, not compressed */
};

/* Who labels series and views. */
struct labelling {
    enum { TEACHER_BOTH, TEACHER_FIRST, TEACHER_POOLED } teacher;
    bool last;     /* their last epochs, not those with the lowest loss on held-out series */
    double margin; /* of sc-views */
};

/* Trials of budgets and then of labels, which are numbered in the names of their files. */
enum { LABEL_TRIALS = 4, TRIALS = BUDGETS + LABEL_TRIALS };

/* Accuracy on the held-out series, in %. */
struct scores_held_out {
    double condensed, random, teacher;
};

struct job {
    struct cli_common common;

    /* Options. */
    size_t per_class, views; /* per_class 0: compressed series, as many as fit */
    size_t sample;           /* of each class, among which series are chosen; 0: all */
    const char *bytes;
    int students;
    size_t steps, refine;
    bool unscored, force;
    size_t bits; /* 0: not given */
    int device;
    const char *network, *teacher, *command;
    const char *validate, *test, *keep, *report, *label, *labels, *import;

    /* What follows from them. */
    const char *data; /* the dataset itself, also of a file that is imported */
    struct facts facts;
    const char *pooled; /* the network of a second teacher, which pools over time, or NULL: none */
    double size;        /* of the result, by --bytes or default; 0: by --spc */
    struct budget budget; /* what the result is made of */
    struct labelling labelling;
    struct budget budgets[BUDGETS]; /* that are tried */
    enum export_format format;      /* of the result, by its name; EXPORT_NONE: a dataset file */
    char *pool_path;                /* where the shapelets go, or NULL */

    /* The run. */
    struct command_runner run;
    const char *train, *val; /* as the stages see them; val NULL: none */
    struct scores_held_out scores;
    const char *result; /* the result as a dataset file in the scale of the data */
};

/* A teacher that the user brings.  It sees the series as they are in the file; those of shapecond
 * see standardised series. */
static inline bool has_own_teacher(const struct job *job)
{
    return job->teacher || job->command;
}

/* Whether the chosen series get views. */
static inline bool has_views(const struct job *job)
{
    return job->students == STUDENTS_ANY && job->views > 0;
}

/* ---- look.c ---- */

/* Whether sc-import has to make a dataset of the file: text, or arrays with labels of their own. */
bool needs_import(const struct job *job);
void import_data(struct job *job);

/* Fills in the facts, and checks all files that the stages will read. */
void look_at_data(struct job *job);

/* Whether the result can be written where it is to go; claims the files of the stages. */
void check_places(struct job *job);

/* The network of the other programs where it fits (NULL), else a smaller one. */
const char *fitting_network(const struct facts *facts);

/* ---- size.c ---- */

/* The size of the result: --bytes, or by default that of ten float32 series per class. */
void plan_size(struct job *job);

/* Fills in the budgets. */
void plan_bytes(struct job *job);

/* Bytes of the series and views of the result: as planned, and the most that --bytes allows. */
double budget_bytes(const struct job *job);
double content_bytes(const struct job *job);

/* The share of the training series that takes this many bytes, stored as float32. */
double random_share(const struct job *job, double bytes);

/* The default of --spc; check_enough: whether each class has that many real series. */
void plan_series(struct job *job);
void check_enough(const struct job *job);
void check_smaller(const struct job *job);

/* How many threads the stages run. */
size_t job_threads(const struct job *job);

/* Seconds that a stage will take with the threads of this run: about right on a common processor
 * (see size.c). */
double training_seconds(const struct job *job, size_t steps, size_t batch);
double search_seconds(const struct job *job);

/* For a large dataset: about how much memory and disk the stages take. */
void say_memory(const struct job *job);

/* Series of each class that shapelets are looked for in. */
size_t search_per_class(const struct facts *facts);

/* "~40 s", "~12 min" */
void print_duration(double seconds, char text[32]);

/* ---- stages.c ---- */

/* From the data to condensed.npy. */
void condense(struct job *job);

/* The words that hand a teacher to a stage: two of them.  The first teacher chooses series and is
 * scored; that and the pooled one, if there is one, label views. */
struct teacher_words {
    const char *option, *value;
};
struct teacher_words first_teacher(struct job *job);

/* For the stages that compute; nothing for what they do anyway. */
const char *device_word(const struct job *job);

/* ---- result.c ---- */

/* The accuracy in a table of sc-eval, in %; 0 while stages are only counted. */
double read_accuracy(const struct job *job, const char *table);

/* condensed.npy, in the scale of the data and in the format of its name. */
void write_result(struct job *job);

/* Students on the test dataset. */
void score_test(struct job *job);

/* Students on the held-out series. */
void score_held_out(struct job *job);

/* The page of sc-report(1). */
void write_report(struct job *job);

/* The result in a few lines: its size, how good it is, what to do next. */
void say_result(struct job *job);

#endif
