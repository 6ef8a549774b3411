#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

enum { MOST_PROCESSES = 64, MOST_THREADS = 256, MOST_SYNCED = 64 };

const char *const call_names[CALLS + 1] = {"allocate",  "mmap",   "write",  "open",   "read",
                                           "fsync",     "rename", "linkat", "unlink", "fchmod",
                                           "ftruncate", "close",  "mkdir",  "clone",  NULL};

static const int call_errors[CALLS] = {ENOMEM, ENOMEM, ENOSPC, EMFILE, EIO, EIO, EIO,
                                       EIO,    EACCES, EPERM,  EIO,    EIO, EIO, EAGAIN};

/* Where a call has what it is about. */
enum subject { BY_DESCRIPTOR, BY_PATH, BY_OPEN, BY_MAPPING, BY_NOTHING };

struct system_call {
    int number;
    enum call call;
    bool point; /* to kill at */
    enum subject subject;
    int argument; /* of the descriptor or path */
};

static const struct system_call system_calls[] = {
    {SYS_mmap, CALL_MMAP, false, BY_MAPPING, 4},
    {SYS_write, CALL_WRITE, true, BY_DESCRIPTOR, 0},
    {SYS_pwrite64, CALL_WRITE, true, BY_DESCRIPTOR, 0},
    {SYS_writev, CALL_WRITE, true, BY_DESCRIPTOR, 0},
    {SYS_pwritev, CALL_WRITE, true, BY_DESCRIPTOR, 0},
    {SYS_openat, CALL_OPEN, true, BY_OPEN, 1},
    {SYS_read, CALL_READ, false, BY_DESCRIPTOR, 0},
    {SYS_pread64, CALL_READ, false, BY_DESCRIPTOR, 0},
    {SYS_readv, CALL_READ, false, BY_DESCRIPTOR, 0},
    {SYS_fsync, CALL_SYNC, true, BY_DESCRIPTOR, 0},
    {SYS_fdatasync, CALL_SYNC, true, BY_DESCRIPTOR, 0},
    {SYS_renameat, CALL_RENAME, true, BY_PATH, 1},
    {SYS_renameat2, CALL_RENAME, true, BY_PATH, 1},
    {SYS_linkat, CALL_LINK, true, BY_PATH, 3},
    {SYS_unlinkat, CALL_UNLINK, true, BY_PATH, 1},
    {SYS_fchmod, CALL_CHMOD, true, BY_DESCRIPTOR, 0},
    {SYS_fchmodat, CALL_CHMOD, true, BY_PATH, 1},
    {SYS_ftruncate, CALL_TRUNCATE, true, BY_DESCRIPTOR, 0},
    {SYS_truncate, CALL_TRUNCATE, true, BY_PATH, 0},
    {SYS_close, CALL_CLOSE, true, BY_DESCRIPTOR, 0},
    {SYS_mkdirat, CALL_MKDIR, true, BY_PATH, 1},
    {SYS_clone, CALL_CLONE, false, BY_NOTHING, 0},
    {SYS_clone3, CALL_CLONE, false, BY_NOTHING, 0},
#ifdef SYS_open /* what newer machines have no numbers for any more */
    {SYS_open, CALL_OPEN, true, BY_OPEN, 0},
    {SYS_creat, CALL_OPEN, true, BY_PATH, 0},
    {SYS_rename, CALL_RENAME, true, BY_PATH, 0},
    {SYS_link, CALL_LINK, true, BY_PATH, 1},
    {SYS_unlink, CALL_UNLINK, true, BY_PATH, 0},
    {SYS_rmdir, CALL_UNLINK, true, BY_PATH, 0},
    {SYS_chmod, CALL_CHMOD, true, BY_PATH, 0},
    {SYS_mkdir, CALL_MKDIR, true, BY_PATH, 0},
    {SYS_fork, CALL_CLONE, false, BY_NOTHING, 0},
    {SYS_vfork, CALL_CLONE, false, BY_NOTHING, 0},
#endif
};

enum { SYSTEM_CALLS = sizeof system_calls / sizeof *system_calls };

struct thread {
    pid_t thread, process;
};

struct identity {
    dev_t device;
    ino_t number;
};

struct server {
    const struct bench *bench;
    const char *checkpoint; /* of the command, or NULL */
    pid_t process;
    int orders, answers; /* pipes of the fork server */
    int listener;        /* of seccomp; -1: not watched */
    int input;           /* standard input of the command */
    struct fault_state *state;
    int state_file;

    /* Of the run that goes on: */
    const struct fault *fault;
    struct run *run;
    pid_t program; /* the copy that runs; 0: not known yet */
    struct thread threads[MOST_THREADS];
    size_t thread_count;
    pid_t armed[MOST_PROCESSES]; /* processes that are in main */
    size_t armed_count;
    struct identity synced[MOST_SYNCED]; /* files that were not written since they were synced */
    size_t synced_count;
};

_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
    exit(2);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- The filter ---- */

#if defined __x86_64__
enum { MACHINE = (int)AUDIT_ARCH_X86_64 };
#elif defined __aarch64__
enum { MACHINE = (int)AUDIT_ARCH_AARCH64 };
#else
#error "the fault tests do not know the system calls of this machine"
#endif

/* Stops the calls of the table, execve, and the mark at the start of main.  Returns the descriptor
 * that they are announced on, or -1. */
static int install_filter(void)
{
    struct sock_filter program[SYSTEM_CALLS + 16];
    unsigned short count = 0;
    struct sock_fprog filter = {.filter = program};

#define ADD(...) program[count++] = (struct sock_filter)__VA_ARGS__
    ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)MACHINE, 1, 0));
    ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    for (size_t i = 0; i < SYSTEM_CALLS; i++) /* to the last line but three */
        ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)system_calls[i].number,
                     (unsigned char)(SYSTEM_CALLS - i + 4), 0));
    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 4, 0));
    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 2));
    ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])));
    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FAULT_MARK, 1, 0));
    ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
#undef ADD
    filter.len = count;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
                        &filter);
}

bool server_can_watch(void)
{
    int status = 1;
    pid_t child = fork();

    if (child == 0)
        _exit(install_filter() < 0);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* ---- Starting ---- */

union descriptor_message {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
};

static void send_descriptor(int socket, int descriptor)
{
    union descriptor_message control = {.room = {0}};
    char byte = 0;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    if (sendmsg(socket, &message, 0) != 1)
        _exit(3);
}

static int receive_descriptor(int socket)
{
    union descriptor_message control;
    char byte;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *header;
    int descriptor = -1;

    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
        fail("the server did not start");
    header = CMSG_FIRSTHDR(&message);
    if (header)
        memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
}

static void set_number(const char *name, const char *format, int first, int second)
{
    char text[32];

    snprintf(text, sizeof text, format, first, second);
    setenv(name, text, 1);
}

/* In the new process: everything that a run inherits. */
static void become_server(const struct server *server, const struct command *command,
                          unsigned threads, const int orders[2], const int answers[2])
{
    static const int plain[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGQUIT, SIGCHLD, SIGXFSZ};
    const struct bench *bench = server->bench;
    const struct rlimit none = {0, 0};
    char *words[COMMAND_MOST_WORDS + 2], number[16], program[4096];
    sigset_t no_signals;

    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        signal(plain[i], SIG_DFL);
    sigemptyset(&no_signals);
    sigprocmask(SIG_SETMASK, &no_signals, NULL);
    setrlimit(RLIMIT_CORE, &none);
    umask(022);
    if (chdir(bench->work) || dup2(server->input, 0) < 0 || dup2(bench->output, 1) < 0 ||
        dup2(bench->error, 2) < 0)
        _exit(3);
    fcntl(orders[0], F_SETFD, 0);
    fcntl(answers[1], F_SETFD, 0);
    fcntl(server->state_file, F_SETFD, 0);
    setenv("LD_PRELOAD", bench->library, 1);
    setenv("TMPDIR", bench->work, 1);
    setenv("LC_ALL", "C", 1);
    /* Threads of a library that run before main would not be in the copies. */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    set_number(FAULT_STATE_VARIABLE, "%d", server->state_file, 0);
    set_number(FAULT_SERVER_VARIABLE, "%d,%d", orders[0], answers[1]);
    memcpy(words, command->words, sizeof command->words);
    snprintf(number, sizeof number, "%u", threads);
    words[command->word_count] = strdup("--threads");
    words[command->word_count + 1] = number;
    words[command->word_count + 2] = NULL;
    snprintf(program, sizeof program, "%s/%s", bench->programs, words[0]);
    execv(program, words);
    _exit(3);
}

struct server *server_start(const struct bench *bench, const struct command *command,
                            unsigned threads, bool watched)
{
    struct server *server = calloc(1, sizeof *server);
    int orders[2], answers[2], channel[2];

    if (!server)
        fail("memory");
    server->bench = bench;
    server->checkpoint = command->checkpoint;
    server->listener = -1;
    server->input = open(command->input ? command->input : "/dev/null", O_RDONLY | O_CLOEXEC);
    server->state_file = memfd_create("state", MFD_CLOEXEC);
    if (server->input < 0 || server->state_file < 0 ||
        ftruncate(server->state_file, sizeof *server->state) || pipe2(orders, O_CLOEXEC) ||
        pipe2(answers, O_CLOEXEC) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel))
        fail(command->input ? command->input : "a server");
    server->state = mmap(NULL, sizeof *server->state, PROT_READ | PROT_WRITE, MAP_SHARED,
                         server->state_file, 0);
    if (server->state == MAP_FAILED)
        fail("mmap");
    snprintf(server->state->programs, sizeof server->state->programs, "%s", bench->programs);
    server->process = fork();
    if (server->process < 0)
        fail("fork");
    if (server->process == 0) {
        if (watched)
            send_descriptor(channel[1], install_filter());
        become_server(server, command, threads, orders, answers);
    }
    close(channel[1]);
    if (watched)
        server->listener = receive_descriptor(channel[0]);
    close(channel[0]);
    close(orders[0]);
    close(answers[1]);
    server->orders = orders[1];
    server->answers = answers[0];
    return server;
}

void server_stop(struct server *server)
{
    close(server->orders);
    close(server->answers);
    if (server->listener >= 0)
        close(server->listener);
    close(server->input);
    kill(server->process, SIGKILL);
    waitpid(server->process, NULL, 0);
    munmap(server->state, sizeof *server->state);
    close(server->state_file);
    free(server);
}

/* ---- What a call is about ---- */

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_within(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    return strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]);
}

static bool is_named(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');

    return name && strcmp(slash ? slash + 1 : path, name) == 0;
}

/* `flags`: as of open(). */
static enum object kind_of_path(const struct server *server, const char *path,
                                unsigned long long flags)
{
    const struct bench *bench = server->bench;

    if (begins(path, "pipe:") || begins(path, "socket:"))
        return OBJECT_PIPE;
    if ((flags & O_TMPFILE) == O_TMPFILE)
        return OBJECT_NAMELESS;
    if (is_within(path, bench->work) || is_within(path, bench->inputs) || path[0] != '/') {
        if (flags & O_DIRECTORY)
            return OBJECT_FOLDER;
        if ((flags & O_ACCMODE) == O_RDONLY)
            return OBJECT_INPUT;
        return is_named(path, server->checkpoint) ? OBJECT_CHECKPOINT : OBJECT_WORK;
    }
    if (is_within(path, bench->programs))
        return OBJECT_PROGRAM;
    if (begins(path, "/proc/") || begins(path, "/sys/") || begins(path, "/dev/") ||
        begins(path, "/etc/") || begins(path, "/usr/") || begins(path, "/lib") ||
        strstr(path, ".so.")) /* a library, in any folder where it is looked for */
        return OBJECT_SYSTEM;
    return OBJECT_OTHER;
}

static void read_path(pid_t process, unsigned long long address, char path[256])
{
    ssize_t got = -1;

    /* The string may end right before a page that is not there. */
    for (size_t size = 255; size > 0 && got < 0; size /= 2) {
        struct iovec here = {path, size}, there = {(void *)(uintptr_t)address, size};

        got = process_vm_readv(process, &here, 1, &there, 1, 0);
    }
    path[got > 0 ? got : 0] = '\0';
}

static size_t find_synced(const struct server *server, const struct stat *status)
{
    size_t i = 0;

    while (i < server->synced_count && (server->synced[i].device != status->st_dev ||
                                        server->synced[i].number != status->st_ino))
        i++;
    return i;
}

/* Keeps the list of files that are on the disk up to date, for a call that goes on. */
static void follow(struct server *server, const struct seccomp_notif *notice, enum call call)
{
    char link[64];
    struct stat status;
    size_t i;

    if (call != CALL_SYNC && call != CALL_WRITE)
        return;
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)notice->pid, (int)notice->data.args[0]);
    if (stat(link, &status))
        return;
    i = find_synced(server, &status);
    if (call == CALL_SYNC && i == server->synced_count && i < MOST_SYNCED)
        server->synced[server->synced_count++] = (struct identity){status.st_dev, status.st_ino};
    if (call == CALL_WRITE && i < server->synced_count)
        server->synced[i] = server->synced[--server->synced_count];
}

/* How a file was opened. */
static unsigned long long flags_of_descriptor(pid_t thread, int descriptor)
{
    char path[64], line[128];
    unsigned long long flags = O_WRONLY;
    FILE *stream;

    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", thread, descriptor);
    stream = fopen(path, "re");
    while (stream && fgets(line, sizeof line, stream))
        if (sscanf(line, "flags: %llo", &flags) == 1)
            break;
    if (stream)
        fclose(stream);
    /* A file that was made without a name still has the flags of its folder. */
    if ((flags & O_TMPFILE) == O_TMPFILE)
        flags &= ~(unsigned long long)O_TMPFILE;
    return flags;
}

static void look_at_descriptor(const struct server *server, pid_t thread, int descriptor,
                               char path[256])
{
    static const enum object standard[] = {OBJECT_STDIN, OBJECT_STDOUT, OBJECT_STDERR};
    char link[64];
    struct stat status;
    ssize_t length;

    snprintf(link, sizeof link, "/proc/%d/fd/%d", thread, descriptor);
    length = readlink(link, path, 255);
    path[length > 0 ? length : 0] = '\0';
    server->run->object = descriptor >= 0 && descriptor <= 2
                              ? standard[descriptor]
                              : kind_of_path(server, path, flags_of_descriptor(thread, descriptor));
    if (server->run->object != OBJECT_WORK || stat(link, &status))
        return;
    if (find_synced(server, &status) < server->synced_count)
        server->run->object = OBJECT_SYNCED;
    else if (status.st_nlink == 0)
        server->run->object = OBJECT_NAMELESS;
}

static void describe(const struct server *server, const struct seccomp_notif *notice,
                     const struct system_call *called)
{
    const unsigned long long *arguments = notice->data.args;
    struct run *run = server->run;
    char path[256] = "";
    int descriptor = (int)arguments[called->argument];

    switch (called->subject) {
    case BY_NOTHING:
        run->object = OBJECT_NONE;
        break;
    case BY_MAPPING:
        if (arguments[3] & MAP_ANONYMOUS)
            run->object = OBJECT_ANONYMOUS;
        else
            look_at_descriptor(server, (pid_t)notice->pid, descriptor, path);
        break;
    case BY_DESCRIPTOR:
        look_at_descriptor(server, (pid_t)notice->pid, descriptor, path);
        break;
    case BY_PATH:
    case BY_OPEN:
        read_path((pid_t)notice->pid, arguments[called->argument], path);
        run->object = kind_of_path(
            server, path, called->subject == BY_OPEN ? arguments[called->argument + 1] : O_WRONLY);
        break;
    }
    snprintf(run->what, sizeof run->what, "%s %lu: %s", call_names[called->call],
             run->counts[called->call], path);
}

/* ---- Watching ---- */

static pid_t process_of(struct server *server, pid_t thread)
{
    char path[64], line[128];
    pid_t process = thread;
    FILE *stream;

    for (size_t i = 0; i < server->thread_count; i++)
        if (server->threads[i].thread == thread)
            return server->threads[i].process;
    snprintf(path, sizeof path, "/proc/%d/status", thread);
    stream = fopen(path, "re");
    while (stream && fgets(line, sizeof line, stream))
        if (sscanf(line, "Tgid: %d", &process) == 1)
            break;
    if (stream)
        fclose(stream);
    if (server->thread_count < MOST_THREADS)
        server->threads[server->thread_count++] = (struct thread){thread, process};
    return process;
}

static size_t find_armed(const struct server *server, pid_t process)
{
    size_t i = 0;

    while (i < server->armed_count && server->armed[i] != process)
        i++;
    return i;
}

static void arm(struct server *server, pid_t process)
{
    if (server->armed_count < MOST_PROCESSES && find_armed(server, process) == server->armed_count)
        server->armed[server->armed_count++] = process;
}

static void disarm(struct server *server, pid_t process)
{
    size_t i = find_armed(server, process);

    if (i < server->armed_count)
        server->armed[i] = server->armed[--server->armed_count];
}

static void answer(const struct server *server, const struct seccomp_notif *notice, int error,
                   bool go_on)
{
    struct seccomp_notif_resp response = {
        .id = notice->id,
        .error = -error,
        .flags = go_on ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0,
    };

    /* ENOENT: it was killed in the meantime. */
    if (ioctl(server->listener, SECCOMP_IOCTL_NOTIF_SEND, &response) && errno != ENOENT)
        fail("answering a system call");
}

/* A close() that fails closes even so: another file takes the place of the one that it was. */
static void close_for_it(const struct server *server, const struct seccomp_notif *notice)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct seccomp_notif_addfd replacement = {
        .id = notice->id,
        .flags = SECCOMP_ADDFD_FLAG_SETFD,
        .srcfd = (unsigned)null,
        .newfd = (unsigned)notice->data.args[0],
        .newfd_flags = O_CLOEXEC,
    };

    ioctl(server->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &replacement);
    close(null);
}

static const struct system_call *find_call(int number)
{
    for (size_t i = 0; i < SYSTEM_CALLS; i++)
        if (system_calls[i].number == number)
            return &system_calls[i];
    return NULL;
}

/* Whether the fault strikes this call, which was counted already. */
static bool strikes(const struct server *server, const struct seccomp_notif *notice,
                    const struct system_call *called)
{
    const struct fault *fault = server->fault;
    const struct run *run = server->run;

    if (fault->signal)
        return called->point && run->points == fault->n;
    if (fault->mode == FAULT_NONE || fault->call != called->call)
        return false;
    if (fault->mode == FAULT_ONCE)
        return run->counts[called->call] == fault->n;
    /* From then on: but what it has to say about it can be said. */
    return run->counts[called->call] >= fault->n &&
           !(called->call == CALL_WRITE && notice->data.args[0] == 2);
}

static void strike(struct server *server, const struct seccomp_notif *notice,
                   const struct system_call *called, pid_t process)
{
    const struct fault *fault = server->fault;
    struct run *run = server->run;

    if (!run->fired)
        describe(server, notice, called);
    run->fired = true;
    if (fault->signal) {
        kill(server->program, fault->signal);
        /* One that is dead at this call must not go through with it. */
        if (fault->signal != SIGKILL || process != server->program)
            answer(server, notice, 0, true);
        return;
    }
    if (called->call == CALL_CLOSE)
        close_for_it(server, notice);
    answer(server, notice, call_errors[called->call], false);
}

static void handle_call(struct server *server)
{
    struct seccomp_notif notice = {0};
    const struct system_call *called;
    pid_t process;

    if (ioctl(server->listener, SECCOMP_IOCTL_NOTIF_RECV, &notice)) {
        if (errno == ENOENT || errno == EINTR)
            return;
        fail("waiting for a system call");
    }
    process = process_of(server, (pid_t)notice.pid);
    if (notice.data.nr == SYS_prctl) {
        if (!server->program) /* its number may be on the way still */
            server->program = process;
        arm(server, process);
        answer(server, &notice, 0, false);
        return;
    }
    if (notice.data.nr == SYS_execve)
        disarm(server, process);
    called = find_call(notice.data.nr);
    if (!called || find_armed(server, process) == server->armed_count) {
        answer(server, &notice, 0, true);
        return;
    }
    server->run->counts[called->call]++;
    server->run->points += called->point;
    if (strikes(server, &notice, called)) {
        strike(server, &notice, called, process);
    } else {
        follow(server, &notice, called->call);
        answer(server, &notice, 0, true);
    }
}

/* ---- Processes that outlive the program ---- */

/* Ends up here because this process adopts orphans.  Fills in those that live. */
static size_t list_orphans(const struct server *server, pid_t orphans[MOST_PROCESSES])
{
    char path[64], line[4096] = "", *next = line;
    size_t count = 0;
    FILE *stream;
    int length;
    pid_t process;

    while ((process = waitpid(-1, NULL, WNOHANG)) > 0)
        if (process == server->process)
            fail("the fork server died");
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    stream = fopen(path, "re");
    if (!stream)
        return 0;
    if (!fgets(line, sizeof line, stream))
        line[0] = '\0';
    fclose(stream);
    for (; sscanf(next, "%d%n", &process, &length) == 1; next += length)
        if (process != server->process && count < MOST_PROCESSES)
            orphans[count++] = process;
    return count;
}

/* They get a moment to notice that their parent is gone. */
static void settle(struct server *server)
{
    const double patience = 3;
    double end = now() + patience;
    pid_t orphans[MOST_PROCESSES];
    size_t count;

    while ((count = list_orphans(server, orphans)) > 0) {
        struct pollfd calls = {.fd = server->listener, .events = POLLIN};

        if (poll(&calls, 1, 2) > 0 && calls.revents & POLLIN)
            handle_call(server);
        if (now() < end)
            continue;
        server->run->orphans += count;
        for (size_t i = 0; i < count; i++)
            kill(orphans[i], SIGKILL);
        end = now() + patience;
    }
}

/* ---- A run ---- */

/* The next number of the fork server; false when there is none in time. */
static bool await_answer(struct server *server, double end, int *value)
{
    for (;;) {
        struct pollfd files[] = {{.fd = server->answers, .events = POLLIN},
                                 {.fd = server->listener, .events = POLLIN}};
        double left = end - now();

        if (left <= 0)
            return false;
        if (poll(files, server->listener >= 0 ? 2 : 1, (int)(left * 1000) + 1) < 0 &&
            errno != EINTR)
            fail("poll");
        /* Calls first: the fork server itself waits for its own. */
        if (files[1].revents & POLLIN)
            handle_call(server);
        else if (files[0].revents & (POLLIN | POLLHUP)) {
            if (read(server->answers, value, sizeof *value) != sizeof *value)
                fail("the fork server died");
            return true;
        }
    }
}

static void prepare(struct server *server, const struct fault *fault, struct run *run)
{
    const struct bench *bench = server->bench;
    struct fault_state *state = server->state;
    bool allocates = !fault->signal && fault->call == CALL_ALLOCATE;

    *run = (struct run){0};
    server->fault = fault;
    server->run = run;
    server->program = 0;
    server->thread_count = server->armed_count = server->synced_count = 0;
    state->mode = allocates ? fault->mode : FAULT_NONE;
    state->n = fault->n;
    state->count = state->failed = 0;
    state->where[0] = '\0';
    if (ftruncate(bench->output, 0) || ftruncate(bench->error, 0))
        fail("ftruncate");
    lseek(server->input, 0, SEEK_SET);
}

void server_run(struct server *server, const struct fault *fault, struct run *run)
{
    double end = now() + server->bench->patience;
    int process;

    prepare(server, fault, run);
    if (write(server->orders, "r", 1) != 1 || !await_answer(server, end, &process))
        fail("the fork server does not answer");
    server->program = process;
    if (!await_answer(server, end, &run->status)) {
        run->hung = true;
        kill(-process, SIGKILL);
        kill(process, SIGKILL);
        if (!await_answer(server, now() + server->bench->patience, &run->status))
            fail("a program that was killed does not end");
    }
    settle(server);
    run->counts[CALL_ALLOCATE] = server->state->count;
    if (server->state->failed) {
        run->fired = true;
        snprintf(run->what, sizeof run->what, "allocation %lu: %s", fault->n, server->state->where);
    }
}
