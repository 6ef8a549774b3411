#include "common/process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/coprocess.h"
#include "base/text.h"
#include "common/progress.h"
#include "base/file.h"
#include "formats/mapped.h"
#include "base/output.h"

/* ---- Descriptors ---- */

void process_open_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        int opened = -1;

        if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF)
            continue;
        /* Standard output becomes something that cannot be written under any name, not even as
         * /dev/stdout; the number that open() returns is the lowest that is free. */
        if (stream != STDOUT_FILENO)
            opened = open("/dev/null", O_WRONLY);
        if (opened < 0)
            opened = open("/", O_PATH);
        if (opened != stream)
            _exit(1);
    }
}

/* ---- Signals ---- */

static const int fatal[] = {SIGHUP,  SIGINT,  SIGQUIT,   SIGTERM, SIGPIPE, SIGALRM,
                            SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO};

static const char *program_name;
static volatile sig_atomic_t stopped_by; /* put off */
static void (*at_end)(void);

void process_end_by(int signal_number)
{
    sigset_t only;

    signal(signal_number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, signal_number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    raise(signal_number);
}

void process_at_end(void (*function)(void))
{
    at_end = function;
}

static void leave_nothing(void)
{
    if (at_end)
        at_end();
    output_abort_all_from_signal();
    coprocess_kill_from_signal();
}

static void clean_up(int signal_number)
{
    if (output_is_committing() && !stopped_by) {
        stopped_by = signal_number;
        return;
    }
    leave_nothing();
    process_end_by(signal_number);
}

void process_check_stopped(void)
{
    if (stopped_by)
        clean_up(stopped_by);
}

void process_on_signal(void (*handler)(int signal_number))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        struct sigaction before;

        if (sigaction(fatal[i], NULL, &before) == 0 &&
            (before.sa_handler == SIG_DFL || before.sa_handler == clean_up))
            sigaction(fatal[i], &action, NULL);
    }
}

void process_default_signals(void)
{
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        struct sigaction now;

        if (sigaction(fatal[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            signal(fatal[i], SIG_DFL);
    }
}

/* ---- Inputs that are cut off ---- */

/* Adds to a message as far as there is room; what is not printable becomes '?'. */
static size_t append(char *message, size_t used, size_t room, const char *text)
{
    for (size_t length = strlen(text); length && used + 4 < room;) {
        size_t bytes = text_printable(text, length);

        memcpy(message + used, bytes ? text : "?", bytes ? bytes : 1);
        used += bytes ? bytes : 1;
        text += bytes ? bytes : 1;
        length -= bytes ? bytes : 1;
    }
    return used;
}

/* As message() of cli.c would, but with what a signal handler may call. */
static void say(const char *path, const char *what)
{
    static const char clear_line[] = "\r\033[K";
    char message[1024];
    size_t used = 0;

    if (progress_is_drawn()) {
        memcpy(message, clear_line, sizeof clear_line - 1);
        used = sizeof clear_line - 1;
    }
    used = append(message, used, sizeof message / 8, program_name);
    used = append(message, used, sizeof message / 8, ": ");
    used = append(message, used, sizeof message * 3 / 4, path);
    used = append(message, used, sizeof message, ": ");
    used = append(message, used, sizeof message, what);
    message[used++] = '\n';
    while (write(STDERR_FILENO, message, used) < 0 && errno == EINTR)
        ;
}

static void end_of_input(int signal_number, siginfo_t *info, void *context)
{
    static atomic_flag once = ATOMIC_FLAG_INIT;
    bool cut = false;
    const char *path = info->si_code > 0 ? mapped_at(info->si_addr, &cut) : NULL;

    (void)context;
    while (atomic_flag_test_and_set(&once)) /* another thread is at it */
        pause();
    if (path)
        say(file_shown(path), cut ? "was truncated while it was in use" : "can no longer be read");
    leave_nothing();
    if (path)
        _exit(1);
    process_end_by(signal_number);
}

void process_catch_signals(const char *program)
{
    struct sigaction bus = {.sa_sigaction = end_of_input, .sa_flags = SA_SIGINFO};

    program_name = program;
    process_on_signal(clean_up);
    sigfillset(&bus.sa_mask);
    sigaction(SIGBUS, &bus, NULL);
    /* A file that may not grow any more is an error of writing, like a full disk. */
    signal(SIGXFSZ, SIG_IGN);
}
