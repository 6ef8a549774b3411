/* Answers of a teacher command: the bytes are all that it ever writes.  The functions of
 * base/coprocess.h are replaced by some that start no process. */
#include "fuzz.h"

#include <errno.h>

#include "base/coprocess.h"
#include "condense/guide.h"
#include "nn/network.h"

enum { SERIES = 2, CHANNELS = 2, LENGTH = 3, CLASSES = 2, FEATURES = 2 };

static const uint8_t *next;
static size_t left, most_at_once;

struct error *coprocess_start(const char *command, double patience, struct coprocess *coprocess)
{
    (void)command;
    *coprocess = (struct coprocess){.input = -1, .output = -1, .patience = patience};
    return NULL;
}

struct error *coprocess_send(struct coprocess *coprocess, const void *bytes, size_t size)
{
    struct npy_error error;
    struct npy_array text;
    npy_reader *reader = npy_open_memory(bytes, size, &error);

    (void)coprocess;
    MUST(reader && npy_next(reader, &text, &error) == 1 && text.kind == NPY_UNICODE);
    npy_array_free(&text);
    npy_close(reader);
    return NULL;
}

void coprocess_expect(struct coprocess *coprocess, size_t bytes)
{
    coprocess->allowance = bytes;
}

ssize_t coprocess_read(void *context, void *buffer, size_t size)
{
    struct coprocess *coprocess = context;

    if (size > coprocess->allowance)
        size = coprocess->allowance;
    if (size == 0) {
        errno = EMSGSIZE;
        return -1;
    }
    if (size > left)
        size = left;
    if (size > most_at_once)
        size = most_at_once;
    memcpy(buffer, next, size);
    next += size;
    left -= size;
    coprocess->allowance -= size;
    coprocess->silent = size == 0;
    return (ssize_t)size;
}

struct error *coprocess_gone(struct coprocess *coprocess)
{
    (void)coprocess;
    return error_make("exited with status 0");
}

void coprocess_end(struct coprocess *coprocess)
{
    (void)coprocess;
}

void coprocess_kill_from_signal(void)
{
}

static void check_finite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        MUST(isfinite(values[i]));
}

/* One batch, forward and backward. */
static void use(const struct guide *guide)
{
    const struct matching matching = {.weight = 1, .first = 1};
    const float x[SERIES * CHANNELS * LENGTH] = {1}, features[SERIES * FEATURES] = {2};
    float logits[SERIES * CLASSES], dx[SERIES * CHANNELS * LENGTH], dfeatures[SERIES * FEATURES];
    double distance;

    if (failed(guide->prepare(guide->state, 1, SERIES)) ||
        failed(guide->forward(guide->state, 0, SERIES, x, features, true, logits)))
        return;
    check_finite(logits, SERIES * CLASSES);
    if (failed(guide->backward(guide->state, 0, &matching, logits, dx, dfeatures, &distance)))
        return;
    check_finite(dx, SERIES * CHANNELS * LENGTH);
    check_finite(dfeatures, SERIES * guide->features);
    MUST(isfinite(distance));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct guide guide = {.channels = CHANNELS, .length = LENGTH, .classes = CLASSES};

    /* The size chooses the rest, so that whole answers can be seeds. */
    guide.features = size & 1 ? FEATURES : 0;
    most_at_once = size & 2 ? 5 : SIZE_MAX;
    next = bytes;
    left = size;
    if (failed(guide_from_command("none", 1, &guide)))
        return 0;
    use(&guide);
    guide_close(&guide);
    return 0;
}
