/* The frame of checkpoints, with the bytes as they are: nothing but what was written is accepted.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/ckpt.h"
#include "base/digest.h"

enum { RECORD = 8 };

/* ckpt.c wants a file that it can seek in. */
static const char *in_file(const uint8_t *bytes, size_t size)
{
    static char path[32];
    static int file = -1;

    if (file < 0) {
        file = memfd_create("fuzz", MFD_CLOEXEC);
        MUST(file >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    MUST(ftruncate(file, 0) == 0 && pwrite(file, bytes, size, 0) == (ssize_t)size);
    return path;
}

/* Puts the digest of the header right, which no mutation would ever find. */
static void mend_header(uint8_t *bytes, size_t size)
{
    struct digest digest;
    char line[DIGEST_TEXT];
    size_t text = 0;

    for (size_t lines = 0; text < size && lines < 4; text++)
        lines += bytes[text] == '\n';
    if (size - text < DIGEST_TEXT)
        return;
    digest_start(&digest);
    digest_add(&digest, bytes, text);
    digest_finish(&digest, line);
    memcpy(bytes + text, line, DIGEST_TEXT - 1);
    bytes[text + DIGEST_TEXT - 1] = '\n';
}

/* Whether the file ends with the digest of its header, the number 0 and its only record. */
static bool is_as_written(const uint8_t *bytes, size_t size, size_t record)
{
    const uint64_t number = 0;
    size_t header = size - DIGEST_TEXT - record;
    struct digest digest;
    char line[DIGEST_TEXT];

    digest_start(&digest);
    digest_add(&digest, bytes, header);
    digest_add(&digest, &number, sizeof number);
    digest_add(&digest, bytes + header, record);
    digest_finish(&digest, line);
    return memcmp(bytes + size - DIGEST_TEXT, line, DIGEST_TEXT - 1) == 0;
}

static void read_both_ways(const uint8_t *bytes, size_t size)
{
    const struct ckpt_run run = {"fuzzing", "0123", "libFuzzer"};
    uint8_t *state, record[RECORD];
    size_t state_size;
    struct ckpt ckpt;

    if (!failed(ckpt_read(in_file(bytes, size), &run, &state, &state_size))) {
        MUST(state && state_size + DIGEST_TEXT < size);
        MUST(is_as_written(bytes, size, state_size));
        free(state);
    }
    if (failed(ckpt_open(in_file(bytes, size), &run, RECORD, &ckpt)))
        return;
    MUST(ckpt.count * (RECORD + DIGEST_TEXT) < size);
    while (ckpt.next < ckpt.count && !failed(ckpt_next(&ckpt, record)))
        continue;
    if (ckpt.next == ckpt.count)
        MUST(!failed(ckpt_add(&ckpt, record)));
    ckpt_close(&ckpt);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size + 1);

    MUST(copy);
    read_both_ways(bytes, size);
    memcpy(copy, bytes, size);
    mend_header(copy, size);
    read_both_ways(copy, size);
    free(copy);
    return 0;
}
