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

/* The program that runs now; signals are passed on to it. */
static volatile pid_t running;

static void pass_on(int signal_number)
{
    if (running > 0)
        kill(running, signal_number);
}

/* This process outlives its children, to clean up behind them. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

void command_begin(struct command_runner *runner, const char *folder,
                   const struct cli_common *common)
{
    const char *base = getenv("TMPDIR");

    *runner = (struct command_runner){.temporary = !folder, .common = common};
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
    catch_signals();
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

void command_run(struct command_runner *runner, const char *program, const char *const *words)
{
    char seed[32], threads[32], *path = program_path(program);
    const char *all[MOST_WORDS] = {program};
    size_t count = 1;
    int status;
    pid_t child;

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
    if (!path || posix_spawnp(&child, path, NULL, NULL, (char *const *)(uintptr_t)all, environ))
        fail(runner, program, "cannot be started");
    running = child;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    running = 0;
    free(path);
    if (WIFSIGNALED(status))
        fail(runner, program, "was stopped by a signal");
    if (status)
        fail(runner, program, "failed");
}
