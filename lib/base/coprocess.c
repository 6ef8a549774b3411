#include "base/coprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

extern char **environ;

/* Seconds that a child gets to end by itself. */
static const double grace = 5;

/* The child, for the signal handler. */
static volatile pid_t alive;

void coprocess_kill_from_signal(void)
{
    if (alive > 0)
        kill(-alive, SIGKILL);
}

/* ---- Starting ---- */

/* The shell, with the far ends of the pipes as its standard input and output.  All other ends close
 * by themselves (O_CLOEXEC).  A process group of its own, so that all of it can be killed. */
static int spawn(const char *command, int input, int output, pid_t *process)
{
    /* Not changed, though the type does not say so. */
    char *const arguments[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                               (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    int failed;

    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    if (posix_spawn_file_actions_init(&actions))
        return ENOMEM;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    failed = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    if (!failed)
        failed = posix_spawn(process, "/bin/sh", &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

struct error *coprocess_start(const char *command, double patience, struct coprocess *coprocess)
{
    int to_child[2], from_child[2];

    *coprocess = (struct coprocess){.input = -1, .output = -1, .patience = patience};
    if (pipe2(to_child, O_CLOEXEC))
        return error_system("pipe");
    if (pipe2(from_child, O_CLOEXEC)) {
        close(to_child[0]);
        close(to_child[1]);
        return error_system("pipe");
    }
    errno = spawn(command, to_child[0], from_child[1], &coprocess->process);
    alive = errno == 0 ? coprocess->process : 0;
    close(to_child[0]);
    close(from_child[1]);
    coprocess->input = to_child[1];
    coprocess->output = from_child[0];
    /* Only writing: a pipe that is full must not hold us up. */
    if (errno == 0)
        fcntl(coprocess->input, F_SETFL, O_NONBLOCK);
    else
        coprocess->process = 0;
    if (coprocess->process == 0) {
        struct error *error = error_system("/bin/sh");

        coprocess_end(coprocess);
        return error;
    }
    return NULL;
}

/* ---- Talking ---- */

/* poll() that continues after signals.  0: the time is over. */
static int wait_for(struct pollfd *files, nfds_t count, double end)
{
    for (;;) {
        double left = end - clock_seconds();
        int ready = poll(files, count, left > 0 ? (int)(1000 * (left < 1e6 ? left : 1e6)) + 1 : 0);

        if (ready > 0 || (ready < 0 && errno != EINTR))
            return ready;
        if (ready == 0 && clock_seconds() >= end)
            return 0;
    }
}

/* write() to a child that may be gone, without the signal that this sends. */
static ssize_t write_quietly(int file, const void *bytes, size_t size)
{
    const struct timespec no_time = {0};
    sigset_t pipe_signal, before;
    ssize_t written;
    int reason;

    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    written = write(file, bytes, size);
    reason = errno;
    if (written < 0 && reason == EPIPE && !sigismember(&before, SIGPIPE))
        sigtimedwait(&pipe_signal, NULL, &no_time);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return written;
}

struct error *coprocess_send(struct coprocess *coprocess, const void *bytes, size_t size)
{
    const char *next = bytes;
    double end = clock_seconds() + coprocess->patience;

    while (size) {
        struct pollfd files[] = {{.fd = coprocess->input, .events = POLLOUT},
                                 {.fd = coprocess->output, .events = POLLIN}};
        ssize_t written;

        coprocess->hopeless = true;
        if (wait_for(files, 2, end) == 0)
            return error_make("did not read what it was sent within %g seconds",
                              coprocess->patience);
        if (files[1].revents & POLLIN)
            return error_make("wrote before it was asked");
        coprocess->hopeless = false;
        if (files[0].revents & POLLERR || files[1].revents & POLLHUP)
            return coprocess_gone(coprocess);
        written = write_quietly(coprocess->input, next, size);
        if (written < 0 && errno == EPIPE)
            return coprocess_gone(coprocess);
        if (written < 0 && errno != EAGAIN && errno != EINTR)
            return error_system("writing");
        if (written > 0) {
            next += written;
            size -= (size_t)written;
        }
    }
    return NULL;
}

void coprocess_expect(struct coprocess *coprocess, size_t bytes)
{
    coprocess->allowance = bytes;
    coprocess->deadline = clock_seconds() + coprocess->patience;
}

ssize_t coprocess_read(void *context, void *buffer, size_t size)
{
    struct coprocess *coprocess = context;
    struct pollfd file = {.fd = coprocess->output, .events = POLLIN};
    int ready = wait_for(&file, 1, coprocess->deadline);
    ssize_t got;

    if (ready == 0) {
        coprocess->hopeless = true;
        errno = ETIMEDOUT;
    }
    if (ready <= 0)
        return -1;
    if (size > coprocess->allowance)
        size = coprocess->allowance;
    if (size == 0) {
        errno = EMSGSIZE;
        return -1;
    }
    got = read(coprocess->output, buffer, size);
    if (got > 0)
        coprocess->allowance -= (size_t)got;
    coprocess->silent = got == 0;
    return got;
}

/* ---- Ending ---- */

/* Waits for the child for some time; true if it has ended.  It stays a zombie, so that its process
 * group is still its own. */
static bool await_end(struct coprocess *coprocess, double patience)
{
    double end = clock_seconds() + patience;

    while (!coprocess->ended) {
        const struct timespec moment = {.tv_nsec = 2000000};

        coprocess->how = (siginfo_t){.si_pid = 0};
        if (waitid(P_PID, (id_t)coprocess->process, &coprocess->how, WEXITED | WNOHANG | WNOWAIT) ==
            0)
            coprocess->ended = coprocess->how.si_pid == coprocess->process;
        else
            coprocess->ended = coprocess->lost = errno == ECHILD;
        if (!coprocess->ended && clock_seconds() >= end)
            return false;
        if (!coprocess->ended)
            nanosleep(&moment, NULL);
    }
    return true;
}

struct error *coprocess_gone(struct coprocess *coprocess)
{
    if (!await_end(coprocess, 1)) {
        coprocess->hopeless = true;
        return error_make("closed its input or output");
    }
    if (coprocess->how.si_code == CLD_KILLED || coprocess->how.si_code == CLD_DUMPED)
        return error_make("was killed by signal %d (%s)", coprocess->how.si_status,
                          strsignal(coprocess->how.si_status));
    return error_make("exited with status %d", coprocess->how.si_status);
}

void coprocess_end(struct coprocess *coprocess)
{
    if (coprocess->input >= 0)
        close(coprocess->input);
    if (coprocess->output >= 0)
        close(coprocess->output);
    coprocess->input = coprocess->output = -1;
    if (coprocess->process == 0)
        return;
    await_end(coprocess, coprocess->hopeless ? 0 : grace);
    if (!coprocess->lost) {
        kill(-coprocess->process, SIGKILL);
        kill(coprocess->process, SIGKILL); /* it may have left the group */
    }
    if (alive == coprocess->process)
        alive = 0;
    while (waitpid(coprocess->process, NULL, 0) < 0 && errno == EINTR)
        ;
    coprocess->process = 0;
}
