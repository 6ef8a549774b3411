#include "common/training.h"

const char *const training_optimisers[] = {"sgd", "adam", "adamw", "auto", NULL};
const char *const training_schedules[] = {"cosine", "constant", NULL};
const char *const training_choices[] = {"loss", "accuracy", "last", NULL};

struct training_cli training_defaults(size_t steps, size_t batch, double rate)
{
    return (struct training_cli){.steps = steps,
                                 .batch = batch,
                                 .rate = rate,
                                 .optimiser = OPTIMISER_ADAMW,
                                 .momentum = 0.9,
                                 .decay = 1e-4};
}

/* A held-out series costs a third of one that is trained on; validation may take a third of the
 * time. */
static size_t validation_interval(size_t count, size_t validation)
{
    size_t every = validation / 3 / (count / 2 + 1);

    return every ? every : 1;
}

void training_options(const struct training_cli *cli, size_t count, size_t validation,
                      struct train_options *train)
{
    int optimiser = cli->optimiser == TRAINING_AUTO ? OPTIMISER_ADAMW : cli->optimiser;

    *train = train_defaults();
    train->batch = train_even_batch(count, cli->batch);
    train->epochs =
        cli->epochs ? cli->epochs : train_epochs_for_steps(cli->steps, count, train->batch);
    train->optimiser = optimiser_defaults((enum optimiser_kind)optimiser);
    train->optimiser.rate = cli->rate;
    train->optimiser.weight_decay = cli->decay;
    if (optimiser == OPTIMISER_SGD)
        train->optimiser.momentum = cli->momentum;
    train->cosine = cli->schedule == 0;
    train->choose = (enum train_choice)cli->choose;
    train->patience = cli->patience;
    train->validate_every =
        cli->validate_every ? cli->validate_every : validation_interval(count, validation);
}
