/* A guide that is another program: the protocol of sc-teacher-command(7), version 1.
 *
 * Both streams are NPY arrays one after another and nothing else.  A request is a text (a unicode
 * scalar: a word and what belongs to it) and the arrays that it calls for:
 *
 *     "hello 1 channels=C length=L classes=V features=K"          -> "ready 1", or "error ..."
 *     "forward"                      X (N, C, L), features (N, K)  -> logits (N, V)
 *     "backward weight=W first=F norm=plain|squared"
 *                                    dlogits (N, V)                -> dX (N, C, L),
 *                                                                     dfeatures (N, K), R ()
 *
 * features and dfeatures only if K is not 0.  The end of its input tells the program to end. */
#include "condense/guide.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/coprocess.h"
#include "base/memory_stream.h"
#include "formats/npy-c/npy-c.h"

enum { PROTOCOL_VERSION = 1, MOST_HEADER = 1 << 16 };

struct command_guide {
    struct coprocess process;
    npy_reader *answers;
    struct memory_stream request;
    size_t channels, length, classes, features;
    size_t count; /* series of the last forward */
};

/* ---- Requests ---- */

static int begin_request(struct command_guide *guide, const char *text)
{
    memory_stream_restart(&guide->request);
    return npy_write_strings(guide->request.stream, &text, 0, 1, NULL);
}

static int add_array(struct command_guide *guide, size_t ndim, const size_t *shape,
                     const float *values)
{
    return npy_write_data(guide->request.stream, NPY_FLOAT, 4, ndim, shape, values, NULL);
}

static struct error *send_request(struct command_guide *guide, int failed)
{
    TRY(memory_stream_flush(&guide->request));
    if (failed)
        return error_memory("a request to the teacher");
    return coprocess_send(&guide->process, guide->request.bytes, guide->request.size);
}

/* ---- Answers ---- */

static struct error *next_array(struct command_guide *guide, const char *what, size_t most_values,
                                struct npy_array *array)
{
    struct npy_error error;
    int result;

    coprocess_expect(&guide->process, most_values * 8 + MOST_HEADER);
    errno = 0;
    result = npy_next(guide->answers, array, &error);
    if (result == 1)
        return NULL;
    if (errno == ETIMEDOUT)
        return error_make("no %s within %g seconds", what, guide->process.patience);
    if (errno == EMSGSIZE)
        return error_make("the %s are too long", what);
    if (guide->process.silent)
        return coprocess_gone(&guide->process);
    return error_make("where its %s should be: %s", what, error.message);
}

static void print_shape(size_t ndim, const size_t *shape, char text[128])
{
    size_t used = (size_t)snprintf(text, 128, "(");

    for (size_t i = 0; i < ndim && used < 100; i++)
        used += (size_t)snprintf(text + used, 128 - used, i ? ", %zu" : "%zu", shape[i]);
    snprintf(text + used, 128 - used, ")");
}

static struct error *check_array(const char *what, size_t ndim, const size_t *shape,
                                 struct npy_array *array)
{
    char wanted[128], got[128];
    struct npy_error error;
    const float *values;

    if (array->ndim != ndim || memcmp(array->shape, shape, ndim * sizeof *shape) != 0) {
        print_shape(ndim, shape, wanted);
        print_shape(array->ndim, array->shape, got);
        return error_make("its %s must have the shape %s, not %s", what, wanted, got);
    }
    if (npy_convert(array, NPY_FLOAT, 4, &error))
        return error_make("its %s: %s", what, error.message);
    values = array->data;
    for (size_t i = 0; i < array->count; i++)
        if (!isfinite(values[i]))
            return error_make("its %s are not finite", what);
    return NULL;
}

/* An answer of that shape, as floats, into values. */
static struct error *receive(struct command_guide *guide, const char *what, size_t ndim,
                             const size_t *shape, float *values)
{
    struct npy_array array;
    struct error *error;
    size_t count = 1;

    for (size_t i = 0; i < ndim; i++)
        count *= shape[i];
    TRY(next_array(guide, what, count, &array));
    error = check_array(what, ndim, shape, &array);
    if (!error)
        memcpy(values, array.data, count * sizeof *values);
    npy_array_free(&array);
    return error;
}

/* ---- The guide ---- */

static struct error *explain(struct error *error)
{
    return error_in("teacher command", error);
}

static struct error *say_hello(struct command_guide *guide)
{
    char text[192];
    struct npy_array array;
    struct npy_error npy_error;
    struct error *error = NULL;
    char **words;

    snprintf(text, sizeof text, "hello %d channels=%zu length=%zu classes=%zu features=%zu",
             PROTOCOL_VERSION, guide->channels, guide->length, guide->classes, guide->features);
    TRY(send_request(guide, begin_request(guide, text)));
    TRY(next_array(guide, "first words", 0, &array));
    words = array.ndim == 0 && array.kind == NPY_UNICODE ? npy_strings(&array, &npy_error) : NULL;
    npy_array_free(&array);
    if (!words)
        return error_make("did not say \"ready 1\" first");
    if (strncmp(words[0], "error ", 6) == 0)
        error = error_make("%s", words[0] + 6);
    else if (strcmp(words[0], "ready 1") != 0)
        error = error_make("said \"%.100s\" instead of \"ready 1\"", words[0]);
    free(words);
    return error;
}

static struct error *command_prepare(void *state, size_t slots, size_t most_samples)
{
    (void)state;
    (void)slots;
    (void)most_samples;
    return NULL;
}

static struct error *command_forward(void *state, size_t slot, size_t count, const float *x,
                                     const float *features, bool matched, float *logits)
{
    struct command_guide *guide = state;
    const size_t series[] = {count, guide->channels, guide->length};
    const size_t distances[] = {count, guide->features}, answer[] = {count, guide->classes};
    int failed = begin_request(guide, "forward");

    (void)slot;
    (void)matched;
    guide->count = count;
    failed |= add_array(guide, 3, series, x);
    if (guide->features)
        failed |= add_array(guide, 2, distances, features);
    TRY(explain(send_request(guide, failed)));
    return explain(receive(guide, "logits", 2, answer, logits));
}

static struct error *command_backward(void *state, size_t slot, const struct matching *matching,
                                      const float *dlogits, float *dx, float *dfeatures,
                                      double *distance)
{
    struct command_guide *guide = state;
    const size_t series[] = {guide->count, guide->channels, guide->length};
    const size_t distances[] = {guide->count, guide->features};
    const size_t logits[] = {guide->count, guide->classes};
    char text[128];
    float answered;
    int failed;

    (void)slot;
    snprintf(text, sizeof text, "backward weight=%.9g first=%.9g norm=%s",
             matching ? matching->weight : 0, matching ? matching->first : 1,
             matching && matching->squared ? "squared" : "plain");
    failed = begin_request(guide, text);
    failed |= add_array(guide, 2, logits, dlogits);
    TRY(explain(send_request(guide, failed)));
    TRY(explain(receive(guide, "gradients", 3, series, dx)));
    if (guide->features)
        TRY(explain(receive(guide, "gradients of the features", 2, distances, dfeatures)));
    TRY(explain(receive(guide, "statistics", 0, series, &answered)));
    *distance = (double)answered;
    return NULL;
}

static void command_close(void *state)
{
    struct command_guide *guide = state;

    npy_close(guide->answers);
    coprocess_end(&guide->process);
    memory_stream_free(&guide->request);
    free(guide);
}

static struct error *start(const char *command, double patience, struct command_guide *guide)
{
    struct npy_error npy_error;

    TRY(coprocess_start(command, patience, &guide->process));
    TRY(memory_stream_open("a request to the teacher", &guide->request));
    guide->answers = npy_open_source(coprocess_read, &guide->process, &npy_error);
    if (!guide->answers)
        return error_memory("the teacher command");
    return say_hello(guide);
}

struct error *guide_from_command(const char *command, double patience, struct guide *guide)
{
    struct command_guide *state = calloc(1, sizeof *state);
    struct error *error;

    if (!state)
        return error_memory("the teacher command");
    state->channels = guide->channels;
    state->length = guide->length;
    state->classes = guide->classes;
    state->features = guide->features;
    state->process.input = state->process.output = -1;
    error = start(command, patience, state);
    if (error) {
        command_close(state);
        return explain(error);
    }
    guide->statistics = true;
    guide->side_by_side = false;
    guide->backend = backend_cpu();
    guide->state = state;
    guide->prepare = command_prepare;
    guide->forward = command_forward;
    guide->backward = command_backward;
    guide->close = command_close;
    return NULL;
}
