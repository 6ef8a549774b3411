#include "match/checkpoint.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "tch.h"

enum { NOTE = 256 };

/* Doubles as C's hexadecimal numbers, so that nothing is lost. */
static const char note_format[] = "matching %s step=%zu %a %a %a";
static const char note_scan[] = "matching %63s step=%zu %la %la %la";

void match_checkpoint_add(struct match_checkpoint *checkpoint, const char *name, float *values,
                          size_t count)
{
    size_t i = checkpoint->arrays;

    if (!values || count == 0)
        return;
    checkpoint->array[i].name = name;
    checkpoint->array[i].values = values;
    checkpoint->array[i].count = count;
    checkpoint->arrays++;
}

static struct error *write_stream(FILE *stream, const struct match_checkpoint *checkpoint)
{
    double *const *numbers = checkpoint->numbers;
    struct tch_tensor tensors[MATCH_CHECKPOINT_ARRAYS];
    char note[NOTE];
    struct tch tch = {.network = "none", .notes = note, .tensors = tensors};

    snprintf(note, sizeof note, note_format, checkpoint->fingerprint, checkpoint->step, *numbers[0],
             *numbers[1], *numbers[2]);
    for (; tch.count < checkpoint->arrays; tch.count++)
        tensors[tch.count] = (struct tch_tensor){.name = checkpoint->array[tch.count].name,
                                                 .ndim = 1,
                                                 .shape = {checkpoint->array[tch.count].count},
                                                 .count = checkpoint->array[tch.count].count,
                                                 .values = checkpoint->array[tch.count].values};
    return tch_write(stream, &tch);
}

struct error *match_checkpoint_write(const char *path, const struct match_checkpoint *checkpoint)
{
    struct output output;
    struct error *error;

    TRY(output_open(path, &output));
    error = write_stream(output.stream, checkpoint);
    if (error) {
        output_abort(&output);
        return error_in(path, error);
    }
    return output_commit(&output);
}

static struct error *take_note(const char *note, struct match_checkpoint *checkpoint)
{
    double *const *numbers = checkpoint->numbers;
    char fingerprint[64];

    if (!note || sscanf(note, note_scan, fingerprint, &checkpoint->step, numbers[0], numbers[1],
                        numbers[2]) != 2 + MATCH_CHECKPOINT_NUMBERS)
        return error_make("not a checkpoint of a matching");
    if (strcmp(fingerprint, checkpoint->fingerprint) != 0)
        return error_make("belongs to a matching with other data or options: remove it to start "
                          "from the beginning");
    return NULL;
}

static struct error *take_arrays(const struct tch *tch, struct match_checkpoint *checkpoint)
{
    for (size_t i = 0; i < checkpoint->arrays; i++) {
        const struct tch_tensor *stored = tch_find(tch, checkpoint->array[i].name);

        if (!stored || stored->count != checkpoint->array[i].count)
            return error_make("%s is missing or has the wrong size", checkpoint->array[i].name);
        memcpy(checkpoint->array[i].values, stored->values, stored->count * sizeof *stored->values);
    }
    return NULL;
}

struct error *match_checkpoint_read(const char *path, struct match_checkpoint *checkpoint)
{
    struct tch tch;
    struct error *error;

    if (access(path, F_OK) != 0)
        return NULL;
    TRY(tch_read(path, &tch));
    error = take_note(tch.notes, checkpoint);
    if (!error)
        error = take_arrays(&tch, checkpoint);
    tch_free(&tch);
    return error_in(path, error);
}
