#include "checkpoints.h"

#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parallel.h"
#include "formats/dataset.h"
#include "base/digest.h"
#include "fuzz.h"
#include "match/experts.h"
#include "match/match.h"
#include "nn/backend_cpu.h"
#include "nn/teacher.h"
#include "nn/train.h"

enum { SERIES = 4, STEPS = 4, CLASSES = 2, HEADER_LINES = 5 };

#define NETWORK(norm)                                                                              \
    "cnn depth=1 width=1 kernel=1 norm=" norm " act=relu pool=max channels=1 length=4 classes=2"

/* ---- Runs ---- */

static float values[SERIES * STEPS] = {1, 2, 3, 4, -1, 0, -2, 1, 2, 2, 4, 3, 0, -1, 1, -2};
static int32_t labels[SERIES] = {0, 1, 0, 1};

static const struct dataset *dataset(void)
{
    static const struct dataset dataset = {.count = SERIES,
                                           .channels = 1,
                                           .length = STEPS,
                                           .classes = CLASSES,
                                           .x = values,
                                           .y = labels};

    parallel_set_threads(1);
    return &dataset;
}

static struct architecture architecture(const char *text)
{
    struct architecture parsed;

    MUST(!failed(architecture_parse(text, &parsed)));
    return parsed;
}

struct error *training_run(const char *path)
{
    const struct dataset *data = dataset();
    const struct tensor_dataset tensors = {.count = data->count, .x = data->x, .labels = data->y};
    const struct architecture cnn = architecture(NETWORK("batch"));
    struct train_options options = train_defaults();
    struct train_result result;
    struct teacher teacher;
    struct error *error;

    options.epochs = 2;
    options.batch = 2;
    options.patience = 1;
    options.checkpoint = path;
    options.checkpoint_every = 1;
    MUST(!failed(teacher_new(&cnn, backend_cpu(), &teacher)));
    network_initialise(teacher.network, 1, 0, teacher.parameters, teacher.buffers);
    error = train_network(teacher.network, &options, &tensors, &tensors, teacher.parameters,
                          teacher.buffers, &result);
    teacher_free(&teacher);
    return error;
}

struct error *matching_run(const char *path)
{
    struct match_options options = match_unset();
    struct match_result result;
    struct dataset condensed;
    struct error *error;

    options.method = &method_unroll;
    options.architecture = architecture(NETWORK("none"));
    options.per_class = 1;
    match_set(&options, "steps", 2);
    match_set(&options, "student-steps", 3);
    match_set(&options, "unroll-steps", 2);
    options.checkpoint = path;
    options.checkpoint_every = 1;
    match_fill_in(&options, CLASSES);
    error = match_condense(&options, dataset(), &condensed, &result);
    dataset_free(&condensed);
    return error;
}

struct error *experts_run(const char *path)
{
    struct expert_options options = expert_defaults();
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    struct error *error;

    MUST(stream);
    options.architecture = architecture(NETWORK("none"));
    options.count = 2;
    options.epochs = 1;
    options.checkpoint = path;
    error = experts_train(&options, dataset(), NULL, stream);
    fclose(stream);
    free(text);
    return error;
}

/* ---- Files ---- */

static char path[64];

static void remove_file(void)
{
    unlink(path);
}

/* In memory where that can be. */
static void choose_path(void)
{
    if (path[0])
        return;
    snprintf(path, sizeof path, "%s/shapecond-fuzz-%d",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
    atexit(remove_file);
}

/* A whole checkpoint of the run. */
static char *make_checkpoint(checkpoint_run *run, size_t *size)
{
    static char bytes[1 << 16];
    int file;
    ssize_t got;

    choose_path();
    unlink(path);
    MUST(!failed(run(path)));
    file = open(path, O_RDONLY | O_CLOEXEC);
    got = read(file, bytes, sizeof bytes);
    close(file);
    MUST(got > 0 && got < (ssize_t)sizeof bytes);
    *size = (size_t)got;
    return bytes;
}

/* Bytes of the header: its lines and the digest of them. */
static size_t measure_header(const char *bytes, size_t size)
{
    const char *next = bytes;

    for (int line = 0; line < HEADER_LINES; line++) {
        next = memchr(next, '\n', size - (size_t)(next - bytes));
        MUST(next);
        next++;
    }
    return (size_t)(next - bytes);
}

uint8_t *checkpoint_records(checkpoint_run *run, size_t *size, size_t *record)
{
    size_t whole, header, count = run == experts_run ? 2 : 1;
    const char *bytes = make_checkpoint(run, &whole);
    uint8_t *records;

    header = measure_header(bytes, whole);
    *record = (whole - header) / count - DIGEST_TEXT;
    *size = count * *record;
    records = malloc(*size);
    MUST(records);
    for (size_t i = 0; i < count; i++)
        memcpy(records + i * *record, bytes + header + i * (*record + DIGEST_TEXT), *record);
    return records;
}

/* The header of the run, made once. */
static const char *header_of(checkpoint_run *run, size_t *size)
{
    static checkpoint_run *made;
    static char header[4096];
    static size_t header_size;

    if (made != run) {
        size_t whole;
        const char *bytes = make_checkpoint(run, &whole);

        header_size = measure_header(bytes, whole);
        MUST(header_size < sizeof header);
        memcpy(header, bytes, header_size);
        made = run;
    }
    *size = header_size;
    return header;
}

const char *checkpoint_file(checkpoint_run *run, const uint8_t *records, size_t size, size_t record)
{
    static char bytes[1 << 16];
    size_t header_size, used;
    const char *header = header_of(run, &header_size);
    int file;

    memcpy(bytes, header, header_size);
    used = header_size;
    for (uint64_t number = 0; size; number++) {
        uint64_t little = htole64(number);
        size_t some = size < record ? size : record;
        struct digest digest;

        MUST(used + some + DIGEST_TEXT <= sizeof bytes);
        memcpy(bytes + used, records, some);
        used += some;
        records += some;
        size -= some;
        if (some < record)
            break;
        digest_start(&digest);
        digest_add(&digest, header, header_size);
        digest_add(&digest, &little, sizeof little);
        digest_add(&digest, records - some, some);
        digest_finish(&digest, bytes + used);
        bytes[used + DIGEST_TEXT - 1] = '\n';
        used += DIGEST_TEXT;
    }
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    MUST(file >= 0 && write(file, bytes, used) == (ssize_t)used);
    close(file);
    return path;
}
