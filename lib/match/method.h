/* A matching method describes itself: its name, what it needs, and its parameters with their
 * limits, defaults and help.
 *
 * A new method is one file, method_X.c, that defines method_X, and its name in MATCH_METHODS.  The
 * options of sc-match, their defaults and --help, the refusal of options that a method does not
 * have, and the fingerprint of checkpoints follow from the description; so does the test that
 * compares sc-match(1) with it. */
#ifndef SC_MATCH_METHOD_H
#define SC_MATCH_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "data/classes.h"
#include "formats/dataset.h"

struct match_options;

/* A number that a method takes: the option --NAME of sc-match.  Methods that have a parameter of
 * the same name agree on its letter, kind and limits; defaults and help may differ. */
struct match_parameter {
    char letter; /* of the option, or 0 */
    const char *name;
    const char *argument; /* its name in the help */
    bool whole;           /* a whole number */
    double low, high;
    const char *help;
    double standard; /* the default, unless it depends on other options */
    double (*recommend)(const struct match_options *options, size_t classes);
    const char *recommended; /* what `recommend` gives, in words */
    bool too_large;          /* may be the cause when a loss is no longer a number */
};

/* What a method uses besides its parameters. */
enum match_needs {
    MATCH_NEEDS_EXPERTS = 1,      /* options->experts (sc-experts) */
    MATCH_NEEDS_NETWORK = 2,      /* options->architecture */
    MATCH_NEEDS_FROM = 4,         /* it can start from a condensed dataset */
    MATCH_NEEDS_SHAPELETS = 8,    /* its students can have shapelet features */
    MATCH_NEEDS_SOFT_LABELS = 16, /* it always has soft labels; others where label-rate > 0 */
};

/* Soft labels are logits, learned at the temperature at which sc-eval uses them.  At first the
 * logit of the label is MATCH_LABEL_LOGIT, and the others are 0. */
enum { MATCH_TEMPERATURE = 4, MATCH_LABEL_LOGIT = 16 };

enum match_optimiser {
    MATCH_OPTIMISER_DEFAULT,
    MATCH_SGD,    /* momentum 0.5, as published */
    MATCH_SCALED, /* the same with gradients divided by a running root mean square of them, so that
                     the rate is what a value moves in a step, whatever the loss; unlike with Adam,
                     values that matter little stay where they are */
    MATCH_ADAM,
};

/* What all methods work on. */
struct match_problem {
    const struct match_options *options;
    const struct dataset *dataset;
    struct class_lists lists;
    size_t count;    /* condensed series */
    size_t series;   /* floats of one */
    int32_t *labels; /* (count,) */
    double unit;     /* mean over the channels of the standard deviation of their values */
};

/* What is learned, and the gradients of it. */
struct condensed {
    float *x;       /* (N, C, L) */
    float *targets; /* (N, V): soft labels, if they are used */
    double rate;    /* step size of the students, of methods with a parameter "rate-rate" */
};

struct match_method {
    const char *name;
    const char *summary;                      /* for --help */
    unsigned needs;                           /* of enum match_needs */
    enum match_optimiser optimiser;           /* by default */
    const struct match_parameter *parameters; /* ends with a row of zeros; has "steps" and "rate" */

    struct error *(*make)(const struct match_problem *problem, void **state);
    void (*free)(void *state);

    /* The loss of a step; its gradient is written.  What it does may depend on the number of the
     * step and on `kept`, and on nothing else that happened before. */
    double (*step)(void *state, size_t step, const struct condensed *condensed,
                   struct condensed *gradient);

    /* Floats that live from step to step, for checkpoints; NULL: none. */
    float *(*kept)(void *state, size_t *count);
};

/* The methods, in the order of --help; the first is the default. */
#define MATCH_METHODS(row) row(dc) row(dsa) row(dm) row(mtt) row(condtsc) row(unroll)

#define MATCH_DECLARE(name) extern const struct match_method method_##name;
MATCH_METHODS(MATCH_DECLARE)
#undef MATCH_DECLARE

/* All of them; ends with NULL. */
extern const struct match_method *const match_methods[];

/* Which of the method's parameters has this name; SIZE_MAX: none. */
size_t match_parameter(const struct match_method *method, const char *name);

/* Rows of the tables; what follows the help is the default or .recommend and the like. */
/* clang-format off */
#define MATCH_WHOLE(letter, name, low, high, ...)     {letter, name, "N", true, low, high, __VA_ARGS__}
#define MATCH_REAL(letter, name, low, high, ...)      {letter, name, "R", false, low, high, __VA_ARGS__}
/* Every method has these. */
#define MATCH_STEPS(...) MATCH_WHOLE(0, "steps", 0, 1e9, "steps of the optimiser; 0: keep the start", __VA_ARGS__)
#define MATCH_RATE(...)  MATCH_REAL('r', "rate", 0, 1e30, "learning rate of the series", __VA_ARGS__)
/* clang-format on */

#endif
