#include "common/command_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory_stream.h"
#include "common/cli.h"

struct command_log_line {
    char key[DIGEST_TEXT], written[DIGEST_TEXT];
    char *rest; /* seconds and command, as in the file */
};

/* ---- Digests ---- */

/* What cannot be read is never taken for what was there before. */
static void add_chance(struct digest *digest)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    digest_add(digest, &time.tv_sec, sizeof time.tv_sec);
    digest_add(digest, &time.tv_nsec, sizeof time.tv_nsec);
}

/* Adds the name and the content of a regular file; false if it is not one or cannot be opened. */
static bool add_file(struct digest *digest, const char *path)
{
    unsigned char block[65536];
    struct stat status;
    ssize_t got = -1;
    int descriptor;

    if (stat(path, &status) || !S_ISREG(status.st_mode))
        return false;
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        add_chance(digest);
        return false;
    }
    digest_add(digest, path, strlen(path) + 1);
    digest_add(digest, &status.st_size, sizeof status.st_size);
    do {
        got = read(descriptor, block, sizeof block);
        if (got > 0)
            digest_add(digest, block, (size_t)got);
    } while (got > 0 || (got < 0 && errno == EINTR));
    if (got < 0)
        cli_check(error_system(path));
    close(descriptor);
    return true;
}

static bool names_output(const char *word)
{
    return strcmp(word, "-o") == 0 || strcmp(word, "--save") == 0 || strcmp(word, "--log") == 0 ||
           strcmp(word, "--last") == 0 || strcmp(word, "--checkpoint") == 0;
}

/* Outputs, and this log itself, which sc-report shows. */
static bool names_unread(const char *word)
{
    return names_output(word) || strcmp(word, "--times") == 0;
}

/* The files that a command for /bin/sh names: a script, its data. */
static void add_named_files(struct digest *digest, const char *command)
{
    char *text = strdup(command), *rest = text, *word;

    if (!text)
        cli_check(error_memory("a command"));
    while ((word = strsep(&rest, " \t\n'\"")) != NULL)
        if (*word)
            add_file(digest, word);
    free(text);
}

void command_log_key(const char *program, const char *const *words, char key[DIGEST_TEXT])
{
    struct digest digest;

    digest_start(&digest);
    add_file(&digest, program);
    for (; *words; words++) {
        digest_add(&digest, *words, strlen(*words) + 1);
        if (names_unread(*words) && words[1]) {
            words++;
            digest_add(&digest, *words, strlen(*words) + 1);
        } else if (strcmp(*words, "--teacher-command") == 0 && words[1]) {
            words++;
            digest_add(&digest, *words, strlen(*words) + 1);
            add_named_files(&digest, *words);
        } else if (!add_file(&digest, *words) && strchr(*words, '=')) {
            add_file(&digest, strchr(*words, '=') + 1);
        }
    }
    digest_finish(&digest, key);
}

/* The parts of a dataset that sc-split writes under one prefix; how many there are. */
static size_t add_parts(struct digest *digest, const char *prefix)
{
    static const char *const parts[] = {"train", "val", "test"};
    size_t found = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *path;

        if (asprintf(&path, "%s-%s.npy", prefix, parts[i]) < 0)
            cli_check(error_memory("a file name"));
        found += add_file(digest, path);
        free(path);
    }
    return found;
}

/* Standard output and devices keep nothing. */
static bool is_stream(const char *path)
{
    return strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0 ||
           strncmp(path, "/proc/", 6) == 0;
}

/* The digest of all files that the command writes; false if it writes none or one is missing. */
static bool written_files(const char *const *words, char written[DIGEST_TEXT])
{
    bool split = words[0] && strcmp(words[0], "sc-split") == 0;
    struct digest digest;
    size_t files = 0;

    digest_start(&digest);
    for (; words[0] && words[1]; words++) {
        if (!names_output(words[0]) || strcmp(words[0], "--checkpoint") == 0)
            continue;
        if (is_stream(words[1]))
            return false;
        if (!(split ? add_parts(&digest, words[1]) > 0 : add_file(&digest, words[1])))
            return false;
        files++;
    }
    digest_finish(&digest, written);
    return files > 0;
}

/* Bytes of the files that the command wrote, as they are now. */
static double written_bytes(const char *const *words)
{
    static const char *const parts[] = {"", "-train.npy", "-val.npy", "-test.npy"};
    double bytes = 0;

    for (; words[0] && words[1]; words++) {
        if (!names_output(words[0]) || strcmp(words[0], "--checkpoint") == 0)
            continue;
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            struct stat status;
            char *path;

            if (asprintf(&path, "%s%s", words[1], parts[i]) < 0)
                cli_check(error_memory("a file name"));
            if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
                bytes += (double)status.st_size;
            free(path);
        }
    }
    return bytes;
}

/* ---- The file ---- */

/* Parses a line of the file in place; false if it is malformed. */
static bool parse_line(char *text, struct command_log_line *line)
{
    char *first = strchr(text, '\t'), *second = first ? strchr(first + 1, '\t') : NULL;

    if (!second || first - text != DIGEST_TEXT - 1 || second - first != DIGEST_TEXT)
        return false;
    memcpy(line->key, text, DIGEST_TEXT - 1);
    memcpy(line->written, first + 1, DIGEST_TEXT - 1);
    line->key[DIGEST_TEXT - 1] = line->written[DIGEST_TEXT - 1] = '\0';
    line->rest = strdup(second + 1);
    if (!line->rest)
        cli_check(error_memory("the log of commands"));
    return true;
}

static struct command_log_line *new_line(struct command_log *log)
{
    struct command_log_line *more = realloc(log->lines, (log->count + 1) * sizeof *log->lines);

    if (!more)
        cli_check(error_memory("the log of commands"));
    log->lines = more;
    return &log->lines[log->count++];
}

void command_log_open(struct command_log *log, const char *folder)
{
    unsigned char *bytes;
    size_t size;
    struct error *error;

    *log = (struct command_log){NULL};
    if (asprintf(&log->path, "%s/commands.tsv", folder) < 0)
        cli_check(error_memory("a file name"));
    error = file_read(log->path, &bytes, &size);
    if (error) { /* the first run there */
        error_free(error);
        return;
    }
    for (size_t begin = 0, end; begin < size; begin = end + 1) {
        struct command_log_line line;
        char *text;

        for (end = begin; end < size && bytes[end] != '\n'; end++)
            ;
        text = strndup((const char *)bytes + begin, end - begin);
        cli_check(text ? NULL : error_memory("the log of commands"));
        if (parse_line(text, &line))
            *new_line(log) = line;
        free(text);
    }
    free(bytes);
}

void command_log_close(struct command_log *log)
{
    for (size_t i = 0; i < log->count; i++)
        free(log->lines[i].rest);
    free(log->lines);
    free(log->path);
    *log = (struct command_log){NULL};
}

bool command_log_has(const struct command_log *log, const char *key, const char *const *words)
{
    char written[DIGEST_TEXT];

    for (size_t i = 0; i < log->count; i++)
        if (strcmp(log->lines[i].key, key) == 0)
            return written_files(words, written) && strcmp(log->lines[i].written, written) == 0;
    return false;
}

/* The word after -o, or NULL. */
static const char *output_of(const char *const *words)
{
    for (; words[0] && words[1]; words++)
        if (strcmp(words[0], "-o") == 0)
            return words[1];
    return NULL;
}

/* Whether a command of the log, as describe has it, wrote that file. */
static bool wrote(const char *command, const char *output)
{
    size_t length = strlen(output);

    while ((command = strstr(command, " -o ")) != NULL) {
        command += strlen(" -o ");
        if (strncmp(command, output, length) == 0 &&
            (command[length] == ' ' || command[length] == '\0'))
            return true;
    }
    return false;
}

/* Drops the command before with the same key or the same output, which is replaced. */
static void drop_lines(struct command_log *log, const char *key, const char *output)
{
    size_t kept = 0;

    for (size_t i = 0; i < log->count; i++) {
        struct command_log_line *line = &log->lines[i];

        if (strcmp(line->key, key) == 0 || (output && wrote(line->rest, output)))
            free(line->rest);
        else
            log->lines[kept++] = *line;
    }
    log->count = kept;
}

/* Seconds, the bytes if they are not negative, then the words with a space between: to be read, not
 * to be run. */
static char *describe(const char *const *words, double seconds, double bytes)
{
    struct memory_stream text;

    cli_check(memory_stream_open("the log of commands", &text));
    fprintf(text.stream, "%.2f\t", seconds);
    if (bytes >= 0)
        fprintf(text.stream, "%.0f\t", bytes);
    for (size_t i = 0; words[i]; i++)
        fprintf(text.stream, "%s%s", i ? " " : "", words[i]);
    cli_check(memory_stream_close(&text));
    for (char *c = text.bytes; *c; c++)
        if (*c == '\n')
            *c = ' ';
    return text.bytes;
}

char *command_log_stage(const struct command_log *log, const char *key, const char *const *words,
                        double seconds)
{
    char written[DIGEST_TEXT];

    if (!written_files(words, written))
        return NULL;
    for (size_t i = 0; seconds < 0 && i < log->count; i++)
        if (strcmp(log->lines[i].key, key) == 0)
            seconds = strtod(log->lines[i].rest, NULL);
    return describe(words, seconds > 0 ? seconds : 0, written_bytes(words));
}

void command_log_add(struct command_log *log, const char *key, const char *const *words,
                     double seconds)
{
    char written[DIGEST_TEXT];
    struct command_log_line *line;
    struct output output;

    if (!log->path || !written_files(words, written))
        return;
    drop_lines(log, key, output_of(words));
    line = new_line(log);
    memcpy(line->key, key, DIGEST_TEXT);
    memcpy(line->written, written, DIGEST_TEXT);
    line->rest = describe(words, seconds, -1);
    cli_check(output_open(log->path, &output));
    for (size_t i = 0; i < log->count; i++)
        fprintf(output.stream, "%s\t%s\t%s\n", log->lines[i].key, log->lines[i].written,
                log->lines[i].rest);
    cli_check(output_commit(&output));
}
