#include "judge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const verdict_names[VERDICTS] = {"harmless", "clean",  "late", "SILENT", "MISSING",
                                             "UNLISTED", "SIGNAL", "HANG", "MUTE",   "DAMAGED",
                                             "LEFTOVER", "ORPHAN", "ODD"};

static const char old_content[] = "what was there before\n";

/* ---- Failures that a program may shrug off ---- */

struct harmless {
    enum call call;
    enum object object; /* OBJECT_NONE: any */
    const char *why;
};

static const struct harmless harmless[] = {
    {CALL_ALLOCATE, OBJECT_NONE, "what works with less memory gives the same bytes"},
    {CALL_MMAP, OBJECT_ANONYMOUS, "memory for a thread or a large block: works with less"},
    {CALL_MMAP, OBJECT_INPUT, "a file that cannot be mapped is read"},
    {CALL_MMAP, OBJECT_STDIN, "a file that cannot be mapped is read"},
    {CALL_OPEN, OBJECT_INPUT, "a file that cannot be opened to be mapped is opened to be read"},
    {CALL_CLONE, OBJECT_NONE, "works with fewer threads"},
    {CALL_WRITE, OBJECT_STDERR, "a remark that nobody can read"},
    {CALL_OPEN, OBJECT_NAMELESS, "a hidden name is used where files without one cannot be"},
    {CALL_OPEN, OBJECT_FOLDER, "not every file system can sync a folder"},
    {CALL_SYNC, OBJECT_FOLDER, "not every file system can sync a folder"},
    {CALL_CLOSE, OBJECT_FOLDER, "nothing is lost"},
    {CALL_CLOSE, OBJECT_NAMELESS, "nothing is lost: it was thrown away"},
    {CALL_CLOSE, OBJECT_SYNCED, "nothing is lost: it is on the disk"},
    {CALL_CLOSE, OBJECT_CHECKPOINT, "nothing is lost: what was added is on the disk"},
    {CALL_READ, OBJECT_CHECKPOINT,
     "the C library reads ahead where it seeks; records have digests"},
    {CALL_CLOSE, OBJECT_INPUT, "nothing is lost: it was only read"},
    {CALL_CLOSE, OBJECT_STDIN, "nothing is lost: it was only read"},
    {CALL_UNLINK, OBJECT_WORK, "what was not removed is named: that is looked at before"},
    {CALL_CLOSE, OBJECT_PIPE, "what was sent was answered"},
    {CALL_OPEN, OBJECT_PROGRAM, "a stage whose program cannot be read is not taken for done"},
    {CALL_CLOSE, OBJECT_PROGRAM, "nothing is lost: it was only read"},
    {CALL_MMAP, OBJECT_SYSTEM, "libraries are looked for without the list of them"},
    {CALL_OPEN, OBJECT_SYSTEM, "a guess is made where the system does not tell"},
    {CALL_READ, OBJECT_SYSTEM, "a guess is made where the system does not tell"},
    {CALL_CLOSE, OBJECT_SYSTEM, "nothing is lost: it was only read"},
};

static bool is_harmless(enum call call, enum object object)
{
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (harmless[i].call == call &&
            (harmless[i].object == OBJECT_NONE || harmless[i].object == object))
            return true;
    return false;
}

/* ---- Files ---- */

_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void path_of(const struct bench *bench, const char *name, char path[4096])
{
    snprintf(path, 4096, "%s/%s", bench->work, name);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    return walk->level == 0 ? 0 : remove(path);
}

void folder_reset(const struct bench *bench, const struct command *command, bool old)
{
    if (nftw(bench->work, remove_entry, 8, FTW_DEPTH | FTW_PHYS))
        fail(bench->work);
    for (size_t i = 0; old && i < command->output_count; i++) {
        char path[4096];
        FILE *stream;

        path_of(bench, command->outputs[i], path);
        stream = fopen(path, "wbe");
        if (!stream || fputs(old_content, stream) < 0 || fclose(stream))
            fail(path);
    }
}

/* All of a file that is open, malloc'ed and ended by a zero; NULL if it is not there. */
static char *read_descriptor(int file, size_t *size)
{
    struct stat status;
    char *bytes;

    if (file < 0 || fstat(file, &status))
        return NULL;
    *size = (size_t)status.st_size;
    bytes = malloc(*size + 1);
    if (!bytes || pread(file, bytes, *size, 0) != status.st_size)
        fail("reading an output");
    bytes[*size] = '\0';
    return bytes;
}

static char *read_output(const struct bench *bench, const struct command *command, size_t i,
                         size_t *size)
{
    char path[4096], *bytes;
    int file;

    if (i == command->output_count)
        return read_descriptor(bench->output, size);
    path_of(bench, command->outputs[i], path);
    file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bytes = read_descriptor(file, size);
    if (file >= 0)
        close(file);
    return bytes;
}

void reference_take(const struct bench *bench, const struct command *command,
                    struct reference *reference)
{
    for (size_t i = 0; i <= command->output_count; i++) {
        reference->outputs[i] = read_output(bench, command, i, &reference->sizes[i]);
        if (!reference->outputs[i]) {
            fprintf(stderr, "faults: %s: does not write %s\n", command->name, command->outputs[i]);
            exit(2);
        }
    }
}

void reference_free(struct reference *reference)
{
    for (size_t i = 0; i <= COMMAND_MOST_OUTPUTS; i++)
        free(reference->outputs[i]);
    memset(reference, 0, sizeof *reference);
}

uint64_t reference_hash(const struct command *command, const struct reference *reference)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

    for (size_t i = 0; i <= command->output_count; i++)
        for (size_t k = 0; k <= reference->sizes[i]; k++)
            hash = (hash ^ (unsigned char)reference->outputs[i][k]) * 0x100000001b3u;
    return hash;
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name);

    return length > strlen(end) && strcmp(name + length - strlen(end), end) == 0;
}

/* The same but for numbers: a report tells how long the stages took. */
static bool same_text(const char *a, const char *b)
{
    static const char numbers[] = "0123456789.";

    for (;; a++, b++) {
        a += strspn(a, numbers);
        b += strspn(b, numbers);
        if (*a != *b || !*a)
            return *a == *b;
    }
}

enum state { ABSENT, OLD, COMPLETE, DIFFERENT };

static enum state state_of(const struct bench *bench, const struct command *command,
                           const struct reference *reference, size_t i)
{
    size_t size;
    char *bytes = read_output(bench, command, i, &size);
    enum state state = DIFFERENT;

    if (!bytes)
        state = ABSENT;
    else if (i < command->output_count && ends_with(command->outputs[i], ".html")
                 ? same_text(bytes, reference->outputs[i])
                 : size == reference->sizes[i] && memcmp(bytes, reference->outputs[i], size) == 0)
        state = COMPLETE;
    else if (strcmp(bytes, old_content) == 0)
        state = OLD;
    free(bytes);
    return state;
}

/* How many output files are in each state, logs not counted. */
static void count_states(const struct bench *bench, const struct command *command,
                         const struct reference *reference, size_t counts[DIFFERENT + 1])
{
    memset(counts, 0, (DIFFERENT + 1) * sizeof *counts);
    for (size_t i = 0; i < command->output_count; i++)
        if (!command->grows[i])
            counts[state_of(bench, command, reference, i)]++;
}

/* ---- Leftovers ---- */

static bool is_expected(const struct command *command, const char *name)
{
    for (size_t i = 0; i < command->output_count; i++)
        if (strcmp(name, command->outputs[i]) == 0)
            return true;
    return (command->checkpoint && strcmp(name, command->checkpoint) == 0) ||
           (command->folder && strcmp(name, command->folder) == 0);
}

/* Calls seen for every file that the command should not leave. */
static void each_leftover(const struct bench *bench, const struct command *command,
                          void (*seen)(void *context, const char *name), void *context)
{
    DIR *folder = opendir(bench->work);
    const struct dirent *entry;

    if (!folder)
        fail(bench->work);
    while ((entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !is_expected(command, entry->d_name))
            seen(context, entry->d_name);
    closedir(folder);
}

struct unnamed {
    char *message;
    unsigned count;
};

static void check_named(void *context, const char *name)
{
    struct unnamed *unnamed = context;

    unnamed->count += !strstr(unnamed->message, name);
}

static unsigned count_unnamed(const struct bench *bench, const struct command *command)
{
    size_t size;
    struct unnamed unnamed = {.message = read_descriptor(bench->error, &size)};

    each_leftover(bench, command, check_named, &unnamed);
    free(unnamed.message);
    return unnamed.count;
}

/* ---- Messages ---- */

void judge_message(const struct bench *bench, char text[200])
{
    size_t size = 0;
    char *message = read_descriptor(bench->error, &size), *line;

    if (size && message[size - 1] == '\n')
        message[size - 1] = '\0';
    line = strrchr(message, '\n');
    snprintf(text, 200, "%s", line ? line + 1 : message);
    free(message);
}

/* "PROGRAM: something" of the command, or of a program that it runs. */
static bool has_message(const struct bench *bench)
{
    size_t size;
    char *message = read_descriptor(bench->error, &size), *colon = strstr(message, ": ");
    bool has = colon && strlen(colon) > 5;

    free(message);
    return has;
}

/* ---- Verdicts ---- */

static enum verdict judge_success(const struct bench *bench, const struct command *command,
                                  const struct reference *reference, const struct fault *fault,
                                  const struct run *run)
{
    for (size_t i = 0; i <= command->output_count; i++)
        switch (state_of(bench, command, reference, i)) {
        case ABSENT:
            return VERDICT_MISSING;
        case COMPLETE:
            break;
        default:
            return VERDICT_SILENT;
        }
    if (count_unnamed(bench, command))
        return VERDICT_LEFTOVER;
    return is_harmless(fault->call, run->object) ? VERDICT_HARMLESS : VERDICT_UNLISTED;
}

/* A remark that cannot be written is all that such a failure may cost. */
static bool may_be_mute(const struct fault *fault, const struct run *run)
{
    return fault->call == CALL_WRITE && run->object == OBJECT_STDERR;
}

enum verdict judge_failure(const struct bench *bench, const struct command *command,
                           const struct reference *reference, const struct fault *fault,
                           const struct run *run)
{
    size_t counts[DIFFERENT + 1];

    if (run->hung)
        return VERDICT_HANG;
    if (run->orphans)
        return VERDICT_ORPHAN;
    if (WIFSIGNALED(run->status))
        return VERDICT_SIGNAL;
    if (WEXITSTATUS(run->status) == 0)
        return judge_success(bench, command, reference, fault, run);
    if (WEXITSTATUS(run->status) != 1)
        return VERDICT_ODD;
    if (!has_message(bench) && !may_be_mute(fault, run))
        return VERDICT_MUTE;
    count_states(bench, command, reference, counts);
    if (counts[DIFFERENT] || (counts[COMPLETE] && counts[OLD]))
        return VERDICT_DAMAGED;
    if (count_unnamed(bench, command))
        return VERDICT_LEFTOVER;
    return counts[COMPLETE] && !counts[ABSENT] ? VERDICT_LATE : VERDICT_CLEAN;
}

/* ---- Kills ---- */

struct temporaries {
    const struct command *command;
    struct kill_remains *remains;
    bool strange; /* one that is neither of an output nor of a pipeline */
};

enum { HIDDEN_RANDOM = 12, FOLDER_RANDOM = 6 };

/* ".NAME.xxxxxxxxxxxx" of an output or a checkpoint. */
static bool is_temporary_of(const char *name, const char *output)
{
    size_t length = output ? strlen(output) : 0;

    return length && name[0] == '.' && strncmp(name + 1, output, length) == 0 &&
           name[length + 1] == '.' &&
           strspn(name + length + 2, "0123456789abcdef") == HIDDEN_RANDOM &&
           strlen(name + length + 2) == HIDDEN_RANDOM;
}

static void add_temporary(void *context, const char *name)
{
    struct temporaries *temporaries = context;
    const struct command *command = temporaries->command;
    struct kill_remains *remains = temporaries->remains;
    size_t used = strlen(remains->names), random = 0;

    if (is_temporary_of(name, command->checkpoint))
        random = HIDDEN_RANDOM;
    for (size_t i = 0; i < command->output_count; i++)
        if (is_temporary_of(name, command->outputs[i]))
            random = HIDDEN_RANDOM;
    if (strncmp(name, "shapecond-run-", 14) == 0)
        random = FOLDER_RANDOM;
    temporaries->strange |= random == 0;
    remains->left++;
    snprintf(remains->names + used, sizeof remains->names - used, "%s%.*s%s", used ? " " : "",
             (int)(strlen(name) - random), name, random ? "?" : "");
}

enum verdict judge_kill(const struct bench *bench, const struct command *command,
                        const struct reference *reference, const struct fault *fault,
                        const struct run *run, struct kill_remains *remains)
{
    struct temporaries temporaries = {.command = command, .remains = remains};
    size_t counts[DIFFERENT + 1];

    *remains = (struct kill_remains){0};
    count_states(bench, command, reference, counts);
    remains->complete = !counts[ABSENT] && !counts[OLD] && !counts[DIFFERENT];
    each_leftover(bench, command, add_temporary, &temporaries);
    if (run->hung)
        return VERDICT_HANG;
    if (run->orphans)
        return VERDICT_ORPHAN;
    if (counts[DIFFERENT] || (counts[COMPLETE] && counts[OLD]))
        return VERDICT_DAMAGED;
    if (temporaries.strange || (remains->left && fault->signal != SIGKILL))
        return VERDICT_LEFTOVER;
    if (WIFSIGNALED(run->status) ? WTERMSIG(run->status) != fault->signal
                                 : WEXITSTATUS(run->status) != 0)
        return VERDICT_ODD;
    return VERDICT_CLEAN;
}

enum verdict judge_again(const struct bench *bench, const struct command *command,
                         const struct reference *reference, const struct run *run,
                         const struct kill_remains *before)
{
    struct kill_remains remains = {0};
    struct temporaries temporaries = {.command = command, .remains = &remains};
    char path[4096];

    if (run->hung)
        return VERDICT_HANG;
    if (WIFSIGNALED(run->status))
        return VERDICT_SIGNAL;
    if (WEXITSTATUS(run->status) != 0)
        return VERDICT_ODD;
    for (size_t i = 0; i <= command->output_count; i++)
        if (state_of(bench, command, reference, i) != COMPLETE)
            return VERDICT_SILENT;
    if (command->checkpoint) {
        path_of(bench, command->checkpoint, path);
        if (access(path, F_OK) == 0)
            return VERDICT_LEFTOVER;
    }
    each_leftover(bench, command, add_temporary, &temporaries);
    return remains.left > before->left ? VERDICT_LEFTOVER : VERDICT_CLEAN;
}
