#include "nn/train_checkpoint.h"

#include <stdio.h>

#include "nn/checkpoint.h"

/* The arrays in the order of the file. */
static struct checkpoint checkpoint_of(const struct train_checkpoint *state,
                                       char text[ARCHITECTURE_TEXT])
{
    size_t parameters = state->network->parameter_count, buffers = state->network->buffer_count;
    struct checkpoint checkpoint = {.kind = "training",
                                    .network = text,
                                    .fingerprint = state->fingerprint,
                                    .backend = state->network->backend,
                                    .cluster = state->cluster};

    architecture_print(&state->network->architecture, text);
    checkpoint_add(&checkpoint, "parameters", state->parameters, parameters);
    checkpoint_add(&checkpoint, "buffers", state->buffers, buffers);
    checkpoint_add(&checkpoint, "best.parameters", state->best_parameters, parameters);
    checkpoint_add(&checkpoint, "best.buffers", state->best_buffers, buffers);
    checkpoint_add(&checkpoint, "optimiser.first", state->optimiser->first, parameters);
    checkpoint_add(&checkpoint, "optimiser.second", state->optimiser->second, parameters);
    return checkpoint;
}

/* Doubles as C's hexadecimal numbers, so that nothing is lost. */
struct error *train_checkpoint_write(const char *path, const struct train_checkpoint *state)
{
    char text[ARCHITECTURE_TEXT], progress[CHECKPOINT_PROGRESS];
    struct checkpoint checkpoint = checkpoint_of(state, text);
    const struct train_result *best = &state->best;

    snprintf(progress, sizeof progress, "epoch=%zu steps=%zu best=%zu loss=%a %a %a", state->epoch,
             state->optimiser->steps, best->best_epoch, best->loss, best->validation_loss,
             best->validation_accuracy);
    return checkpoint_write(path, &checkpoint, progress);
}

struct error *train_checkpoint_read(const char *path, struct train_checkpoint *state, bool *found)
{
    char text[ARCHITECTURE_TEXT], progress[CHECKPOINT_PROGRESS];
    struct checkpoint checkpoint = checkpoint_of(state, text);
    struct train_result *best = &state->best;

    TRY(checkpoint_read(path, &checkpoint, progress, found));
    if (*found && sscanf(progress, "epoch=%zu steps=%zu best=%zu loss=%la %la %la", &state->epoch,
                         &state->optimiser->steps, &best->best_epoch, &best->loss,
                         &best->validation_loss, &best->validation_accuracy) != 6)
        return checkpoint_strange(path, &checkpoint);
    return NULL;
}
