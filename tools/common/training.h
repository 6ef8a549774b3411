/* The options of training that sc-teacher and sc-eval share. */
#ifndef SC_TRAINING_H
#define SC_TRAINING_H

#include "common/cli.h"
#include "nn/train.h"

struct training_cli {
    size_t steps;
    size_t epochs; /* 0: as many as make that number of steps */
    size_t batch;
    double rate;
    int optimiser;
    double momentum;
    double decay;
    int schedule;
    int choose;
    size_t patience;
    size_t validate_every; /* 0: so that it takes a small part of the time */
};

/* The optimisers, and after them one that is left to the tool. */
enum { TRAINING_AUTO = OPTIMISER_ADAMW + 1 };

extern const char *const training_optimisers[];
extern const char *const training_schedules[];
extern const char *const training_choices[];

/* Rows for the table of a tool whose struct `options` has a struct training_cli `training`;
 * steps_default and batch_default: text about those that have no default of their own, or "". */
/* clang-format off */
#define TRAINING_OPTIONS(options, steps_default, batch_default)                                    \
    {0, "steps", "N", CLI_SIZE, CLI_AT(options, training.steps),                                   \
     "steps of the optimiser, rounded to whole epochs" steps_default, .low = 1},                   \
    {'e', "epochs", "N", CLI_SIZE, CLI_AT(options, training.epochs),                               \
     "epochs, instead of --steps; 0: by the steps"},                          \
    {'b', "batch", "N", CLI_SIZE, CLI_AT(options, training.batch),                                 \
     "series in a step at most" batch_default, .low = 1},                                          \
    {'r', "rate", "R", CLI_REAL, CLI_AT(options, training.rate),                                   \
     "learning rate", .low = 0, .high = 1000},                                                     \
    {0, "optimiser", "KIND", CLI_CHOICE, CLI_AT(options, training.optimiser),                      \
     "optimiser", .choices = training_optimisers},                                            \
    {0, "momentum", "M", CLI_REAL, CLI_AT(options, training.momentum),                             \
     "of sgd", .low = 0, .high = 0.999999},                                                        \
    {0, "decay", "D", CLI_REAL, CLI_AT(options, training.decay),                                   \
     "weight decay", .low = 0, .high = 1000},                                                      \
    {0, "schedule", "KIND", CLI_CHOICE, CLI_AT(options, training.schedule),                        \
     "how the learning rate changes", .choices = training_schedules},                                       \
    {0, "choose", "BY", CLI_CHOICE, CLI_AT(options, training.choose),                              \
     "epoch to keep: by validation loss, by validation accuracy, or the last",                     \
     .choices = training_choices},                                                                 \
    {0, "patience", "N", CLI_SIZE, CLI_AT(options, training.patience),                             \
     "stop after N epochs without a better one; 0: never"},                                        \
    {0, "validate-every", "N", CLI_SIZE, CLI_AT(options, training.validate_every),                 \
     "epochs between two validations; 0: so that they take little time"}
/* clang-format on */

/* AdamW, cosine, weight decay 1e-4. */
struct training_cli training_defaults(size_t steps, size_t batch, double rate);

/* For a dataset of `count` series and `validation` held-out ones.  Loss, seed and progress are left
 * to the tool. */
void training_options(const struct training_cli *cli, size_t count, size_t validation,
                      struct train_options *train);

#endif
