#include "common/command.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_WORDS = 64 };

/* The program that runs now, and the signal that ends all: it is passed on to the program, and no
 * other is started.  Only then this process, which outlives its children to clean up behind them,
 * ends by the signal, too. */
static volatile pid_t running;
static volatile sig_atomic_t stopped_by;

static void stop(int signal_number)
{
    stopped_by = signal_number;
    if (running > 0)
        kill(running, signal_number);
}

static void catch_signals(void)
{
    static const int fatal[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE};
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};

    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        struct sigaction before;

        /* What was ignored when the program started stays ignored (nohup). */
        if (sigaction(fatal[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(fatal[i], &action, NULL);
    }
}

/* Ends by the signal that came, if one did. */
static void check_stopped(struct command_runner *runner)
{
    int signal_number = stopped_by;

    if (!signal_number)
        return;
    command_end(runner);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void command_begin(struct command_runner *runner, const char *folder,
                   const struct cli_common *common)
{
    const char *base = getenv("TMPDIR");

    *runner = (struct command_runner){.temporary = !folder, .common = common};
    catch_signals();
    if (folder) {
        runner->folder = strdup(folder);
        if (mkdir(folder, 0777) && errno != EEXIST)
            cli_check(error_system(folder));
    } else if (asprintf(&runner->folder, "%s/shapecond-XXXXXX", base ? base : "/tmp") < 0) {
        runner->folder = NULL;
    } else if (!mkdtemp(runner->folder)) {
        cli_check(error_system(runner->folder));
    }
    if (!runner->folder)
        cli_check(error_memory("a file name"));
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

void command_end(struct command_runner *runner)
{
    if (runner->temporary)
        nftw(runner->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    for (size_t i = 0; i < runner->file_count; i++)
        free(runner->files[i]);
    free(runner->folder);
    *runner = (struct command_runner){0};
}

const char *command_file(struct command_runner *runner, const char *name)
{
    char *path;

    if (runner->file_count == COMMAND_MOST_FILES ||
        asprintf(&path, "%s/%s", runner->folder, name) < 0)
        cli_check(error_memory("a file name"));
    runner->files[runner->file_count++] = path;
    return path;
}

/* Where the program is: beside this one. */
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

/* As it can be pasted into a shell. */
static void say(const char *const *words)
{
    fputs("+", stderr);
    for (; *words; words++) {
        if (strspn(*words, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                           "-_./=,:+%@") == strlen(*words))
            fprintf(stderr, " %s", *words);
        else {
            fputs(" '", stderr);
            for (const char *c = *words; *c; c++)
                fputs(*c == '\'' ? "'\\''" : (char[]){*c, '\0'}, stderr);
            fputc('\'', stderr);
        }
    }
    fputc('\n', stderr);
}

static void fail(struct command_runner *runner, const char *program, const char *how)
{
    command_end(runner);
    cli_check(error_make("%s %s", program, how));
}

/* Starts the program; no signal may come before it is known whom to pass it on to. */
static bool start(const char *path, const char *const *words)
{
    posix_spawnattr_t attributes;
    sigset_t all, before;
    pid_t child = 0;
    bool started = false;

    if (!path || posix_spawnattr_init(&attributes))
        return false;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    posix_spawnattr_setsigmask(&attributes, &before);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (!stopped_by)
        started = !posix_spawnp(&child, path, NULL, &attributes, (char *const *)(uintptr_t)words,
                                environ);
    running = started ? child : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    posix_spawnattr_destroy(&attributes);
    return started;
}

/* Its status.  It is forgotten only when no signal can go to it any more. */
static int finish(void)
{
    siginfo_t info;
    pid_t child = running;
    int status = 0;

    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) && errno == EINTR)
        ;
    running = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

void command_run(struct command_runner *runner, const char *program, const char *const *words)
{
    char seed[32], threads[32], *path = program_path(program);
    const char *all[MOST_WORDS] = {program};
    size_t count = 1;
    bool started;
    int status = 0;

    for (; *words && count < MOST_WORDS - 6; words++) {
        if (**words)
            all[count++] = *words;
    }
    snprintf(seed, sizeof seed, "--seed=%llu", (unsigned long long)runner->common->seed);
    all[count++] = seed;
    if (!runner->common->quiet)
        say(all);
    snprintf(threads, sizeof threads, "--threads=%zu", runner->common->threads);
    all[count++] = threads;
    if (runner->common->quiet)
        all[count++] = "--quiet";
    started = start(path, all);
    free(path);
    if (started)
        status = finish();
    check_stopped(runner);
    if (!started)
        fail(runner, program, "cannot be started");
    if (WIFSIGNALED(status))
        fail(runner, program, "was stopped by a signal");
    if (status)
        fail(runner, program, "failed");
}
