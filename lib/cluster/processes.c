/* Ranks that are processes of this machine: forked from the one that was started, which is rank 0.
 *
 * Each pair of ranks has a socket for data, and each rank a socket for notes that all others write
 * to.  A rank that ends closes its sockets, so that whoever waits for its data knows.  Rank 0 also
 * asks the system which of its children have ended, and they whether rank 0 is still their
 * parent. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/cluster.h"
#include "cluster/cluster_internal.h"

struct processes {
    size_t rank, size;
    int data[CLUSTER_MOST_PROCESSES];          /* to each other rank */
    int notes_to[CLUSTER_MOST_PROCESSES];      /* to each rank */
    int notes;                                 /* to this one */
    pid_t parent;                              /* of a child */
    _Atomic pid_t pid[CLUSTER_MOST_PROCESSES]; /* of the children, in rank 0; 0: has ended */
};

static bool send_data(void *state, size_t to, const void *bytes, size_t size)
{
    const struct processes *processes = state;

    for (size_t done = 0; done < size;) {
        ssize_t some =
            send(processes->data[to], (const char *)bytes + done, size - done, MSG_NOSIGNAL);

        if (some < 0 && errno != EINTR)
            return false;
        done += some > 0 ? (size_t)some : 0;
    }
    return true;
}

static bool receive_data(void *state, size_t from, void *bytes, size_t size)
{
    const struct processes *processes = state;

    for (size_t done = 0; done < size;) {
        ssize_t some = recv(processes->data[from], (char *)bytes + done, size - done, 0);

        if (some == 0 || (some < 0 && errno != EINTR))
            return false;
        done += some > 0 ? (size_t)some : 0;
    }
    return true;
}

/* A rank that is gone takes no notes and misses none. */
static bool post_note(void *state, size_t to, const struct cluster_note *note)
{
    const struct processes *processes = state;

    return send(processes->notes_to[to], note, sizeof *note, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ||
           (errno != EAGAIN && errno != ENOBUFS && errno != EINTR);
}

/* A child that has ended and was not known to. */
static bool find_ended(struct processes *processes, struct cluster_note *note)
{
    for (size_t r = 1; processes->rank == 0 && r < processes->size; r++) {
        pid_t pid = atomic_load(&processes->pid[r]);
        int status;

        if (pid == 0 || waitpid(pid, &status, WNOHANG) != pid)
            continue;
        atomic_store(&processes->pid[r], 0);
        *note = (struct cluster_note){.kind = NOTE_GONE, .from = (uint32_t)r};
        if (WIFSIGNALED(status))
            snprintf(note->text, sizeof note->text, "was ended by signal %d (%s)", WTERMSIG(status),
                     strsignal(WTERMSIG(status)));
        else
            snprintf(note->text, sizeof note->text, "has ended with status %d",
                     WEXITSTATUS(status));
        return true;
    }
    if (processes->rank == 0 || getppid() == processes->parent)
        return false;
    *note = (struct cluster_note){.kind = NOTE_GONE, .from = 0};
    snprintf(note->text, sizeof note->text, "has ended");
    return true;
}

/* What a rank wrote before it ended comes first. */
static bool take_note(void *state, struct cluster_note *note)
{
    struct processes *processes = state;

    return recv(processes->notes, note, sizeof *note, MSG_DONTWAIT) == (ssize_t)sizeof *note ||
           find_ended(processes, note);
}

static void close_processes(void *state, bool failed)
{
    struct processes *processes = state;

    for (size_t r = 1; processes->rank == 0 && r < processes->size; r++) {
        pid_t pid = atomic_exchange(&processes->pid[r], 0);

        if (pid && failed)
            kill(pid, SIGKILL); /* perhaps it is stopped */
        while (pid && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (failed)
        return; /* another thread may be waiting for data */
    for (size_t r = 0; r < processes->size; r++) {
        if (r != processes->rank)
            close(processes->data[r]);
        close(processes->notes_to[r]);
    }
    close(processes->notes);
    free(processes);
}

/* ---- Forking ---- */

/* All sockets, before the ranks separate. */
struct sockets {
    int data[CLUSTER_MOST_PROCESSES][CLUSTER_MOST_PROCESSES]; /* [a][b]: of a, to b */
    int notes[CLUSTER_MOST_PROCESSES][2];                     /* to read, to write */
};

static bool make_pair(int type, int *one, int *other)
{
    int pair[2];

    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair))
        return false;
    *one = pair[0];
    *other = pair[1];
    return true;
}

static bool make_sockets(size_t count, struct sockets *sockets)
{
    for (size_t a = 0; a < count; a++) {
        if (!make_pair(SOCK_DGRAM, &sockets->notes[a][0], &sockets->notes[a][1]))
            return false;
        for (size_t b = 0; b < a; b++)
            if (!make_pair(SOCK_STREAM, &sockets->data[a][b], &sockets->data[b][a]))
                return false;
    }
    return true;
}

/* All of them, or all but those of one rank. */
static void close_sockets(const struct sockets *sockets, size_t count, size_t keep)
{
    for (size_t a = 0; a < count; a++) {
        if (a != keep && sockets->notes[a][0] >= 0)
            close(sockets->notes[a][0]);
        if (keep == SIZE_MAX && sockets->notes[a][1] >= 0)
            close(sockets->notes[a][1]);
        for (size_t b = 0; b < count; b++)
            if (a != keep && sockets->data[a][b] >= 0)
                close(sockets->data[a][b]);
    }
}

static void become(struct processes *processes, const struct sockets *sockets, size_t rank)
{
    processes->rank = rank;
    processes->notes = sockets->notes[rank][0];
    for (size_t r = 0; r < processes->size; r++) {
        processes->data[r] = sockets->data[rank][r];
        processes->notes_to[r] = sockets->notes[r][1];
    }
    close_sockets(sockets, processes->size, rank);
}

static struct error *fork_ranks(struct processes *processes, const struct sockets *sockets)
{
    pid_t self = getpid();

    for (size_t r = 1; r < processes->size; r++) {
        pid_t pid = fork();

        if (pid < 0) {
            struct error *error = error_system("a process for the cluster");

            while (--r > 0) {
                kill(processes->pid[r], SIGKILL);
                waitpid(processes->pid[r], NULL, 0);
            }
            return error;
        }
        if (pid == 0) {
            processes->parent = self;
            become(processes, sockets, r);
            return NULL;
        }
        processes->pid[r] = pid;
    }
    become(processes, sockets, 0);
    return NULL;
}

struct error *processes_open(size_t count, struct cluster_transport *transport)
{
    struct processes *processes = calloc(1, sizeof *processes);
    struct sockets sockets;
    struct error *error = NULL;

    if (!processes)
        return error_memory("a cluster");
    memset(&sockets, -1, sizeof sockets);
    processes->size = count;
    if (!make_sockets(count, &sockets))
        error = error_system("sockets of the cluster");
    if (!error)
        error = fork_ranks(processes, &sockets);
    if (error) {
        close_sockets(&sockets, count, SIZE_MAX);
        free(processes);
        return error;
    }
    *transport = (struct cluster_transport){.rank = processes->rank,
                                            .size = count,
                                            .state = processes,
                                            .send = send_data,
                                            .receive = receive_data,
                                            .post = post_note,
                                            .posts_from_signals = true,
                                            .take = take_note,
                                            .close = close_processes};
    return NULL;
}
