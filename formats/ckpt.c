#include "formats/ckpt.h"

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/output.h"

static const char magic[] = "shapecond checkpoint ";
static const char version[] = "1\n";
/* A line with a digest is as long as the string: a newline takes the place of its zero byte. */
enum { HEADER_LINES = 4, DIGEST_LINE = DIGEST_TEXT, MOST_HEADER = 4096 };

/* Whether the file exists.  Anything but a regular file is an error, standard output ("-") as
 * well: a device or a pipe need not end, and would be removed after the run. */
static struct error *look(const char *path, bool *found)
{
    struct stat status;

    *found = stat(path, &status) == 0;
    if (!*found && errno != ENOENT)
        return error_system(path);
    if (*found ? !S_ISREG(status.st_mode) : strcmp(path, "-") == 0)
        return error_make("%s: a checkpoint is a regular file", path);
    return NULL;
}

/* Bytes of a file with `count` records. */
static size_t size_with(const struct ckpt *ckpt, size_t count)
{
    return ckpt->header_size + count * (ckpt->record_size + DIGEST_LINE);
}

/* Reports the damage and what to do.  Records before the damaged one can be saved. */
static struct error *damaged(const struct ckpt *ckpt, const char *what)
{
    if (ckpt->next == 0)
        return error_make("damaged: %s; remove it to start from the beginning", what);
    return error_make("damaged: %s; remove it to start from the beginning, or cut it off before "
                      "the damage (truncate -s %zu)",
                      what, size_with(ckpt, ckpt->next));
}

static void digest_line(struct digest *digest, char line[DIGEST_LINE])
{
    digest_finish(digest, line);
    line[DIGEST_LINE - 1] = '\n';
}

/* ---- The header ---- */

static struct error *make_header(struct ckpt *ckpt, const struct ckpt_run *run)
{
    char *text, *longer;
    struct digest digest;
    int length = asprintf(&text, "%s%skind %s\nrun %s\nby %s\n", magic, version, run->kind,
                          run->fingerprint, run->computed_by);

    if (length < 0)
        return error_memory("a checkpoint");
    longer = realloc(text, (size_t)length + DIGEST_LINE);
    if (!longer) {
        free(text);
        return error_memory("a checkpoint");
    }
    digest_start(&digest);
    digest_add(&digest, longer, (size_t)length);
    digest_line(&digest, longer + length);
    ckpt->header = longer;
    ckpt->header_size = (size_t)length + DIGEST_LINE;
    return NULL;
}

/* Bytes of the header of a file, which need not be that of this run; 0 if it is not as it was
 * written. */
static size_t whole_header(const char *bytes, size_t size)
{
    char line[DIGEST_LINE];
    struct digest digest;
    size_t text = 0;

    for (size_t lines = 0; text < size && lines < HEADER_LINES; text++)
        lines += bytes[text] == '\n';
    if (size - text < DIGEST_LINE)
        return 0;
    digest_start(&digest);
    digest_add(&digest, bytes, text);
    digest_line(&digest, line);
    return memcmp(bytes + text, line, DIGEST_LINE) == 0 ? text + DIGEST_LINE : 0;
}

/* What follows the word on the next line, fit for a message; NULL if it has another word. */
static const char *next_line(char **rest, const char *word)
{
    size_t length = strlen(word);
    char *line = *rest, *end = strchr(line, '\n');

    if (!end || strncmp(line, word, length) != 0)
        return NULL;
    for (char *next = line; next < end; next++)
        if (*next < ' ' || *next > '~')
            *next = '?';
    *end = '\0';
    *rest = end + 1;
    return line + length;
}

/* Why a file that starts with this string is not a checkpoint of this run. */
static struct error *explain(const struct ckpt *ckpt, const struct ckpt_run *run, char *bytes,
                             size_t size)
{
    char *rest = bytes + sizeof magic - 1 + sizeof version - 1;
    const char *kind, *by;

    if (strncmp(bytes, magic, sizeof magic - 1) != 0)
        return error_make("not a checkpoint, or damaged beyond recognition: name another file, or "
                          "remove this one to start from the beginning");
    if (strncmp(bytes + sizeof magic - 1, version, sizeof version - 1) != 0)
        return error_make("a checkpoint of another version of shapecond, or damaged: remove it to "
                          "start from the beginning");
    if (!whole_header(bytes, size))
        return damaged(ckpt, "the digest of its header is wrong");
    kind = next_line(&rest, "kind ");
    if (!kind || !next_line(&rest, "run ") || !(by = next_line(&rest, "by ")))
        return damaged(ckpt, "its header lacks a line");
    if (strcmp(kind, run->kind) != 0)
        return error_make("a checkpoint of a %s, not of a %s: name another file", kind, run->kind);
    /* Before the fingerprint: other instructions make other features, which are in it. */
    if (strcmp(by, run->computed_by) != 0)
        return error_make("computed so far by \"%s\", but this is \"%s\", and the result would be "
                          "that of neither: continue with the former, or remove it to start from "
                          "the beginning",
                          by, run->computed_by);
    return error_make("belongs to a %s with other data or options: remove it to start from the "
                      "beginning",
                      kind);
}

/* Reads the header of the file, which must be that of the run. */
static struct error *read_header(struct ckpt *ckpt, const struct ckpt_run *run)
{
    char found[MOST_HEADER + 1];
    size_t size;

    TRY(make_header(ckpt, run));
    size = fread(found, 1, MOST_HEADER, ckpt->stream);
    found[size] = '\0';
    if (ferror(ckpt->stream))
        return error_make("%s", strerror(errno));
    if (size < ckpt->header_size || memcmp(found, ckpt->header, ckpt->header_size) != 0)
        return explain(ckpt, run, found, size);
    if (fseeko(ckpt->stream, (off_t)ckpt->header_size, SEEK_SET) != 0)
        return error_make("%s", strerror(errno));
    return NULL;
}

/* ---- Records ---- */

static void begin_record(const struct ckpt *ckpt, struct digest *digest)
{
    uint64_t number = htole64(ckpt->next);

    digest_start(digest);
    digest_add(digest, ckpt->header, ckpt->header_size);
    digest_add(digest, &number, sizeof number);
}

static struct error *write_record(struct ckpt *ckpt, const struct ckpt_part *parts, size_t count)
{
    char line[DIGEST_LINE];
    struct digest digest;

    begin_record(ckpt, &digest);
    for (size_t i = 0; i < count; i++) {
        digest_add(&digest, parts[i].bytes, parts[i].size);
        if (fwrite(parts[i].bytes, 1, parts[i].size, ckpt->stream) != parts[i].size)
            return error_make("%s", strerror(errno));
    }
    digest_line(&digest, line);
    if (fwrite(line, 1, sizeof line, ckpt->stream) != sizeof line)
        return error_make("%s", strerror(errno));
    ckpt->next++;
    return NULL;
}

static struct error *read_record(struct ckpt *ckpt, void *record)
{
    char line[DIGEST_LINE], expected[DIGEST_LINE];
    struct digest digest;

    if (fread(record, 1, ckpt->record_size, ckpt->stream) != ckpt->record_size ||
        fread(line, 1, sizeof line, ckpt->stream) != sizeof line)
        return ferror(ckpt->stream) ? error_make("%s", strerror(errno))
                                    : damaged(ckpt, "it is too short");
    begin_record(ckpt, &digest);
    digest_add(&digest, record, ckpt->record_size);
    digest_line(&digest, expected);
    if (memcmp(line, expected, sizeof line) != 0)
        return damaged(ckpt, "the digest of what it holds is wrong");
    ckpt->next++;
    return NULL;
}

/* Bytes after the header. */
static struct error *rest_size(const struct ckpt *ckpt, size_t *size)
{
    struct stat status;

    if (fstat(fileno(ckpt->stream), &status) != 0)
        return error_make("%s", strerror(errno));
    if ((size_t)status.st_size < ckpt->header_size)
        return damaged(ckpt, "it is too short");
    *size = (size_t)status.st_size - ckpt->header_size;
    return NULL;
}

/* ---- One record ---- */

struct error *ckpt_write(const char *path, const struct ckpt_run *run,
                         const struct ckpt_part *parts, size_t count)
{
    struct ckpt ckpt = {.path = path};
    struct output output = {0};
    struct error *error = make_header(&ckpt, run);

    if (!error)
        error = output_open(path, &output);
    if (!error) {
        ckpt.stream = output.stream;
        if (fwrite(ckpt.header, 1, ckpt.header_size, ckpt.stream) != ckpt.header_size)
            error = error_system(path);
        else if (count)
            error = error_in(path, write_record(&ckpt, parts, count));
        if (error)
            output_abort(&output);
        else
            error = output_commit(&output);
    }
    free(ckpt.header);
    return error;
}

static struct error *read_only_record(struct ckpt *ckpt, const struct ckpt_run *run,
                                      unsigned char **state)
{
    size_t size = 0;

    TRY(read_header(ckpt, run));
    TRY(rest_size(ckpt, &size));
    if (size < DIGEST_LINE)
        return damaged(ckpt, "it is too short");
    ckpt->record_size = size - DIGEST_LINE;
    *state = malloc(ckpt->record_size + 1);
    return *state ? read_record(ckpt, *state) : error_memory("the checkpoint");
}

struct error *ckpt_read(const char *path, const struct ckpt_run *run, unsigned char **state,
                        size_t *size)
{
    struct ckpt ckpt = {.path = path};
    struct error *error;
    bool found;

    *state = NULL;
    TRY(look(path, &found));
    if (!found)
        return NULL;
    ckpt.stream = fopen(path, "rbe");
    if (!ckpt.stream)
        return error_system(path);
    error = read_only_record(&ckpt, run, state);
    *size = ckpt.record_size;
    ckpt_close(&ckpt);
    if (error) {
        free(*state);
        *state = NULL;
    }
    return error_in(path, error);
}

struct error *ckpt_is_damaged(const char *path, bool *is_damaged)
{
    struct ckpt ckpt = {.path = path};
    unsigned char *bytes;
    char line[DIGEST_LINE];
    struct digest digest;
    size_t size;
    bool found;

    *is_damaged = false;
    TRY(look(path, &found));
    if (!found)
        return NULL;
    TRY(file_read(path, &bytes, &size));
    ckpt.header = (char *)bytes;
    ckpt.header_size = whole_header(ckpt.header, size < MOST_HEADER ? size : MOST_HEADER);
    *is_damaged = true;
    if (ckpt.header_size && size - ckpt.header_size >= DIGEST_LINE) {
        ckpt.record_size = size - ckpt.header_size - DIGEST_LINE;
        begin_record(&ckpt, &digest);
        digest_add(&digest, bytes + ckpt.header_size, ckpt.record_size);
        digest_line(&digest, line);
        *is_damaged = memcmp(bytes + size - DIGEST_LINE, line, DIGEST_LINE) != 0;
    }
    free(bytes);
    return NULL;
}

/* ---- Records of one size ---- */

/* How many there are, and whether an incomplete one follows. */
static struct error *count_records(struct ckpt *ckpt)
{
    size_t stride = ckpt->record_size + DIGEST_LINE, size;

    TRY(rest_size(ckpt, &size));
    ckpt->count = size / stride;
    ckpt->torn = size % stride != 0;
    return NULL;
}

struct error *ckpt_open(const char *path, const struct ckpt_run *run, size_t record_size,
                        struct ckpt *ckpt)
{
    struct error *error;
    bool found;

    *ckpt = (struct ckpt){.path = path, .record_size = record_size};
    TRY(look(path, &found));
    if (!found)
        TRY(ckpt_write(path, run, NULL, 0));
    ckpt->stream = fopen(path, "r+be");
    if (!ckpt->stream)
        return error_system(path);
    error = read_header(ckpt, run);
    if (!error)
        error = count_records(ckpt);
    if (error)
        ckpt_close(ckpt);
    return error_in(path, error);
}

struct error *ckpt_next(struct ckpt *ckpt, void *record)
{
    return error_in(ckpt->path, read_record(ckpt, record));
}

struct error *ckpt_add(struct ckpt *ckpt, const void *record)
{
    struct ckpt_part part = {record, ckpt->record_size};
    off_t end = (off_t)size_with(ckpt, ckpt->next);

    if (fseeko(ckpt->stream, end, SEEK_SET) != 0 ||
        (ckpt->torn && ftruncate(fileno(ckpt->stream), end) != 0))
        return error_system(ckpt->path);
    ckpt->torn = false;
    TRY(error_in(ckpt->path, write_record(ckpt, &part, 1)));
    if (fflush(ckpt->stream) != 0 || fsync(fileno(ckpt->stream)) != 0)
        return error_system(ckpt->path);
    return NULL;
}

void ckpt_close(struct ckpt *ckpt)
{
    if (ckpt->stream)
        fclose(ckpt->stream);
    free(ckpt->header);
    ckpt->stream = NULL;
    ckpt->header = NULL;
}
