#include "common/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "base/clock.h"
#include "common/process.h"
#include "formats/ckpt.h"

const char command_none[] = "";

/* The program that runs now, and the signal that stops the run: it is passed on to the program, and
 * no other is started.  This process outlives its children to clean up, then ends by the same
 * signal. */
static volatile pid_t running;
static volatile sig_atomic_t stopped_by;

/* What command_end has to see to, however the process exits. */
static struct command_runner *active;

static void stop(int signal_number)
{
    stopped_by = signal_number;
    if (running > 0)
        kill(running, signal_number);
}

/* Ends by the signal that came, if one did. */
static void check_stopped(struct command_runner *runner)
{
    int signal_number = stopped_by;

    if (!signal_number)
        return;
    command_end(runner);
    process_end_by(signal_number);
}

static void end_active(void)
{
    if (active)
        command_end(active);
}

/* Two runs in one folder would overwrite each other's files.  Held until the process ends; without
 * effect on a file system without locks. */
static void lock_folder(struct command_runner *runner, const char *folder)
{
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (descriptor < 0 || faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS))
        cli_check(error_system(folder));
    if (flock(descriptor, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        cli_check(error_make("%s: another run of shapecond uses this folder", folder));
    runner->lock = descriptor;
}

/* A folder where nothing can be written is known at once, not after the first stage. */
static void check_writable(const char *path)
{
    struct output output;

    cli_check(output_open(path, &output));
    output_abort(&output);
}

void command_begin(struct command_runner *runner, const char *folder,
                   const struct cli_common *common)
{
    *runner = (struct command_runner){.common = common, .temporary.lock = -1};
    process_on_signal(stop);
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, the exit status of a program would be lost */
    if (folder) {
        runner->folder = command_name(runner, folder);
        if (mkdir(folder, 0777) && errno != EEXIST)
            cli_check(error_system(folder));
        lock_folder(runner, folder);
        command_log_open(&runner->log, runner->folder);
        check_writable(runner->log.path);
        return;
    }
    cli_check(folder_make(&runner->temporary));
    if (!common->quiet)
        fputs("+ STAGES=$(mktemp -d)\n", stderr);
    runner->folder = runner->temporary.path;
    active = runner;
    atexit(end_active);
}

void command_end(struct command_runner *runner)
{
    const struct folder *folder = &runner->temporary;

    active = NULL;
    if (folder->path && !folder_remove(folder))
        cli_warn("%s: this temporary folder could not be removed", folder->path);
    folder_free(&runner->temporary);
    command_log_close(&runner->log);
    if (runner->lock > 0)
        close(runner->lock);
    for (size_t i = 0; i < runner->name_count; i++)
        free(runner->names[i]);
    free(runner->names);
    for (size_t i = 0; i < runner->stage_count; i++)
        free(runner->stages[i]);
    free(runner->stages);
    *runner = (struct command_runner){.temporary.lock = -1};
}

const char *command_keep(struct command_runner *runner, char *name)
{
    char **more =
        name ? realloc(runner->names, (runner->name_count + 1) * sizeof *runner->names) : NULL;

    if (!more)
        cli_check(error_memory("a file name"));
    runner->names = more;
    return runner->names[runner->name_count++] = name;
}

const char *command_file(struct command_runner *runner, const char *name)
{
    char *path;

    if (asprintf(&path, "%s/%s", runner->folder, name) < 0)
        path = NULL;
    return command_keep(runner, path);
}

const char *command_name(struct command_runner *runner, const char *path)
{
    char *safe;

    if (asprintf(&safe, "%s%s", path[0] == '-' ? "./" : "", path) < 0)
        safe = NULL;
    return command_keep(runner, safe);
}

/* The path of the program: in the folder of this one. */
static char *program_path(const char *program)
{
    char self[PATH_MAX], *slash, *path;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length <= 0)
        return strdup(program);
    self[length] = '\0';
    slash = strrchr(self, '/');
    if (asprintf(&path, "%.*s/%s", (int)(slash - self), self, program) < 0)
        return NULL;
    return path;
}

static bool is_plain(const char *word)
{
    return *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "-_./=,:+%@") == strlen(word);
}

static bool is_printable(const char *word)
{
    size_t bytes;

    for (size_t length = strlen(word); length; length -= bytes, word += bytes) {
        bytes = text_printable(word, length);
        if (bytes == 0)
            return false;
    }
    return true;
}

/* In quotes: '...', or $'...' with escapes, as bash and others have it. */
static void say_quoted(const char *word)
{
    bool printable = is_printable(word);

    fputs(printable ? "'" : "$'", stderr);
    for (const char *c = word; *c; c++) {
        if (printable)
            fputs(*c == '\'' ? "'\\''" : (char[]){*c, '\0'}, stderr);
        else if (*c == '\'' || *c == '\\')
            fprintf(stderr, "\\%c", *c);
        else
            fprintf(stderr, *c >= ' ' && *c < 0x7f ? "%c" : "\\x%02x", (unsigned char)*c);
    }
    fputc('\'', stderr);
}

/* The part of a word after the name of the temporary folder, or NULL. */
static const char *in_temporary(const struct command_runner *runner, const char *word)
{
    const char *folder = runner->temporary.path;
    size_t length = folder ? strlen(folder) : 0;

    return length && strncmp(word, folder, length) == 0 && word[length] == '/' ? word + length
                                                                               : NULL;
}

static void say_words(const struct command_runner *runner, const char *const *words)
{
    fputs("+", stderr);
    for (; *words; words++) {
        const char *rest = in_temporary(runner, *words), *equals = strchr(*words, '=');
        const char *value = equals ? in_temporary(runner, equals + 1) : NULL;

        if (rest)
            fprintf(stderr, " \"$STAGES\"%s", rest);
        else if (value) { /* NAME=FILE */
            char *name = strndup(*words, (size_t)(equals + 1 - *words));

            cli_check(name ? NULL : error_memory("a word"));
            fputc(' ', stderr);
            say_quoted(name);
            fprintf(stderr, "\"$STAGES\"%s", value);
            free(name);
        } else if (is_plain(*words))
            fprintf(stderr, " %s", *words);
        else {
            fputc(' ', stderr);
            say_quoted(*words);
        }
    }
}

void command_say(const struct command_runner *runner, const char *const *words)
{
    if (runner->common->quiet)
        return;
    say_words(runner, words);
    fputc('\n', stderr);
}

/* With its number as a comment. */
static void say(const struct command_runner *runner, const char *const *words, bool done)
{
    say_words(runner, words);
    if (runner->total)
        fprintf(stderr, "  # %zu of %zu", runner->number, runner->total);
    fputs(done ? ", done before\n" : "\n", stderr);
}

static void fail(struct command_runner *runner, const char *program, const char *how)
{
    const char *advice = runner->advice;

    command_end(runner);
    cli_check(error_make("%s %s%s%s", program, how, advice ? "; " : "", advice ? advice : ""));
}

/* ---- Starting a program and waiting for it ---- */

enum { CANNOT_START = 127 }; /* as shells have it */

/* What the kernel sends a program when this process is gone: SIGTERM, upon which it removes its
 * temporary files, unless it would not get it. */
static int death_signal(const sigset_t *mask)
{
    struct sigaction action;
    bool deaf = sigismember(mask, SIGTERM) == 1 ||
                (sigaction(SIGTERM, NULL, &action) == 0 && action.sa_handler == SIG_IGN);

    return deaf ? SIGKILL : SIGTERM;
}

/* In the child.  The signal for the death of its parent comes when the thread that started it ends,
 * which is the main thread; it is lost if that was before the request. */
_Noreturn static void become(const char *path, const char *const *words, pid_t parent, int lock,
                             const sigset_t *mask)
{
    prctl(PR_SET_PDEATHSIG, death_signal(mask));
    if (getppid() == parent) {
        if (lock >= 0)
            fcntl(lock, F_SETFD, 0); /* the folder is in use for as long as the program runs */
        process_default_signals();
        sigprocmask(SIG_SETMASK, mask, NULL);
        execvp(path, (char *const *)(uintptr_t)words);
    }
    _exit(CANNOT_START);
}

/* Starts the program; no signal may come before it is known whom to pass it on to. */
static bool start(const char *path, const char *const *words, int lock)
{
    pid_t parent = getpid(), child = -1;
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    if (!stopped_by)
        child = fork();
    if (child == 0)
        become(path, words, parent, lock, &before);
    running = child > 0 ? child : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child > 0;
}

/* Its status.  It is forgotten only when no signal can go to it any more. */
static int finish(void)
{
    siginfo_t info;
    pid_t child = running;
    int status = -1;

    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) && errno == EINTR)
        ;
    running = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* ---- One command ---- */

enum { MORE_WORDS = 6 }; /* that are added, and the end */

/* The program, the words that are not left out, and the seed; with room for more.  NULL if memory
 * ran out. */
static const char **command_words(const char *program, const char *const *words, const char *seed)
{
    size_t given = 0, count = 0;
    const char **all;

    while (words[given])
        given++;
    all = calloc(given + 2 + MORE_WORDS, sizeof *all);
    if (!all)
        return NULL;
    all[count++] = program;
    for (size_t i = 0; i < given; i++) {
        if (words[i] != command_none)
            all[count++] = words[i];
    }
    all[count] = seed;
    return all;
}

static bool can_continue(const char *program)
{
    return strcmp(program, "sc-teacher") == 0 || strcmp(program, "sc-match") == 0;
}

/* A file that the user did not name: one that was damaged is not worth ending the run for. */
static void drop_damaged(const char *checkpoint)
{
    bool damaged;

    cli_check(ckpt_is_damaged(checkpoint, &damaged));
    if (!damaged)
        return;
    cli_warn("%s: damaged; this stage starts from the beginning", checkpoint);
    if (unlink(checkpoint))
        cli_check(error_system(checkpoint));
}

/* What does not change the result and need not be said. */
static void add_silent_words(struct command_runner *runner, const char **words, const char *threads,
                             const char *key)
{
    size_t count = 0;
    char *checkpoint;

    while (words[count])
        count++;
    words[count++] = threads;
    if (runner->common->quiet)
        words[count++] = "--quiet";
    if (runner->times) {
        words[count++] = "--times";
        words[count++] = runner->times;
    }
    if (runner->log.path && can_continue(words[0])) {
        if (asprintf(&checkpoint, "%s/%.16s.ckpt", runner->folder, key) < 0)
            checkpoint = NULL;
        words[count++] = "--checkpoint";
        words[count] = command_keep(runner, checkpoint);
        drop_damaged(words[count]);
    }
}

/* Runs the program; returns only if it did well. */
static void run_program(struct command_runner *runner, const char *path, const char *const *words)
{
    bool started = start(path, words, runner->temporary.lock);
    int status = started ? finish() : 0;

    check_stopped(runner);
    if (!started || (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_START))
        fail(runner, words[0], "cannot be started");
    if (WIFSIGNALED(status))
        fail(runner, words[0], "was stopped by a signal");
    if (status)
        fail(runner, words[0], "failed");
}

/* Tells the program's progress bar (progress.h) which stage it is and how many seconds the stages
 * after it will take, by how long those before took. */
static void announce(const struct command_runner *runner)
{
    double left = runner->expected_total - runner->expected_before - runner->expected;
    char text[64];

    if (runner->expected_before > 1)
        left *= runner->took / runner->expected_before;
    snprintf(text, sizeof text, "%zu/%zu %.0f", runner->number, runner->total, left > 0 ? left : 0);
    if (runner->total)
        setenv("SHAPECOND_STAGE", text, 1);
}

static void add_stage(struct command_runner *runner, const char *key, const char *const *words,
                      double seconds)
{
    char *line = command_log_stage(&runner->log, key, words, seconds), **more;

    if (!line)
        return;
    more = realloc(runner->stages, (runner->stage_count + 1) * sizeof *runner->stages);
    if (!more)
        cli_check(error_memory("the stages"));
    runner->stages = more;
    runner->stages[runner->stage_count++] = line;
}

void command_write_stages(struct command_runner *runner, const char *path)
{
    struct output output;

    cli_check(output_open(path, &output));
    for (size_t i = 0; i < runner->stage_count; i++)
        fprintf(output.stream, "%s\n", runner->stages[i]);
    cli_check(output_commit(&output));
}

void command_remove_outdated(const struct command_runner *runner)
{
    char *file = runner->outdated ? realpath(runner->outdated, NULL) : NULL; /* a link stays */
    struct stat status;

    if (file && stat(file, &status) == 0 && S_ISREG(status.st_mode) && unlink(file))
        cli_check(error_system(runner->outdated));
    free(file);
}

static bool writes_result(const struct command_runner *runner, const char *const *words)
{
    for (; words[0] && words[1]; words++)
        if (strcmp(words[0], "-o") == 0 && strcmp(words[1], runner->common->output) == 0)
            return true;
    return false;
}

void command_run(struct command_runner *runner, const char *program, const char *const *words)
{
    char seed[32], threads[32], key[DIGEST_TEXT] = "", *path;
    const char **all;
    size_t said = 0; /* words that were */
    bool done = false;
    double begun = clock_seconds();

    if (runner->counting) {
        runner->total++;
        runner->expected_total += runner->expected;
        runner->expected = 0;
        return;
    }
    runner->number++;
    snprintf(seed, sizeof seed, "--seed=%llu", (unsigned long long)runner->common->seed);
    snprintf(threads, sizeof threads, "--threads=%zu", runner->common->threads);
    path = program_path(program);
    all = path ? command_words(program, words, seed) : NULL;
    if (!all)
        cli_check(error_memory("a command"));
    if (runner->log.path) {
        command_log_key(path, all, key);
        done = command_log_has(&runner->log, key, all);
    }
    if (!runner->common->quiet)
        say(runner, all, done);
    if (!done) {
        double seconds;

        while (all[said])
            said++;
        add_silent_words(runner, all, threads, key);
        announce(runner);
        if (writes_result(runner, all))
            command_remove_outdated(runner);
        run_program(runner, path, all);
        seconds = clock_seconds() - begun;
        command_log_add(&runner->log, key, all, seconds);
        runner->expected_before += runner->expected;
        runner->took += runner->expected > 0 ? seconds : 0;
        all[said] = NULL;
        add_stage(runner, key, all, seconds);
    } else {
        add_stage(runner, key, all, -1);
        runner->expected_total -= runner->expected;
    }
    runner->expected = 0;
    runner->advice = runner->times = NULL;
    check_stopped(runner);
    free(path);
    free(all);
}
