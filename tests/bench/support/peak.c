/* Runs a command and says what memory it took: its own, not the pages of files that it maps.
 *     peak [-l MIB] [-o FILE] COMMAND ARGUMENT...
 * One line to FILE (standard error): seconds, peak MiB of anonymous memory of the largest process,
 * peak MiB with the pages of files, exit status.  -l: more than that of anonymous memory ends the
 * command, and this program with status 99.
 *
 * The anonymous memory of the process and its descendants is read from /proc every two milliseconds
 * (RssAnon has no high-water mark); the other figure is the kernel's own (VmHWM). */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TOO_MUCH = 99, PERIOD = 2000000 };

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* KiB of anonymous memory of the largest of the process and its descendants. */
static long anonymous(pid_t process)
{
    char path[64], line[256];
    long most = 0, child;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "RssAnon:", 8) == 0)
            most = strtol(line + 8, NULL, 10);
    if (file)
        fclose(file);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)process, (int)process);
    file = fopen(path, "re");
    while (file && fscanf(file, "%ld", &child) == 1) {
        long of_child = anonymous((pid_t)child);

        most = of_child > most ? of_child : most;
    }
    if (file)
        fclose(file);
    return most;
}

static pid_t start(char **command)
{
    pid_t process = fork();

    if (process == 0) {
        setpgid(0, 0);
        execvp(command[0], command);
        fprintf(stderr, "peak: %s: %s\n", command[0], strerror(errno));
        _exit(127);
    }
    return process;
}

int main(int argc, char **argv)
{
    const char *output = NULL;
    long limit = 0, peak = 0, more;
    int option, status = 0;
    bool ended = false;
    struct rusage usage;
    double begin;
    pid_t process;
    FILE *stream;

    while ((option = getopt(argc, argv, "+l:o:")) != -1) {
        if (option == 'l')
            limit = 1024 * strtol(optarg, NULL, 10);
        else if (option == 'o')
            output = optarg;
        else
            return 2;
    }
    if (optind == argc)
        return 2;
    begin = now();
    process = start(argv + optind);
    if (process < 0)
        return 127;
    while (wait4(process, &status, WNOHANG, &usage) == 0) {
        more = anonymous(process);
        peak = more > peak ? more : peak;
        if (limit && more > limit && !ended) {
            ended = true;
            kill(-process, SIGKILL);
        }
        nanosleep(&(struct timespec){.tv_nsec = PERIOD}, NULL);
    }
    status = ended ? TOO_MUCH : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    stream = output ? fopen(output, "we") : stderr;
    if (!stream)
        return 127;
    fprintf(stream, "%.3f %.1f %.1f %d\n", now() - begin, (double)peak / 1024,
            (double)usage.ru_maxrss / 1024, status);
    return fclose(stream) ? 127 : status;
}
