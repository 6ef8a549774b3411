/* The MPI plug-in: a transport (transport.h) over MPI.
 *
 * The main thread sends data, the watch thread notes.  So that any MPI with MPI_THREAD_SERIALIZED
 * will do, all calls are made under one lock, and none of them waits: a message is started, and
 * then looked after until it is done, with pauses that grow to a millisecond.  That also leaves the
 * processor to the threads that compute, where MPI itself would spin. */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/transport.h"

enum { TAG_DATA = 1, TAG_NOTE = 2, NOTES = 64, EAGER_LOOKS = 50 };

static struct {
    pthread_mutex_t lock;
    MPI_Comm data, notes;
    struct cluster_note posted[NOTES]; /* on their way */
    MPI_Request requests[NOTES];
} mpi = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Looks after a message until it is done. */
static bool finish(MPI_Request *request)
{
    long pause = 20000; /* nanoseconds */

    for (int looks = 0;; looks++) {
        int done = 0, failure;

        pthread_mutex_lock(&mpi.lock);
        failure = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&mpi.lock);
        if (failure != MPI_SUCCESS)
            return false;
        if (done)
            return true;
        if (looks < EAGER_LOOKS) {
            sched_yield();
            continue;
        }
        nanosleep(&(struct timespec){0, pause}, NULL);
        pause = pause < 500000 ? 2 * pause : 1000000;
    }
}

static bool send_data(void *state, size_t to, const void *bytes, size_t size)
{
    MPI_Request request;
    int failure;

    (void)state;
    pthread_mutex_lock(&mpi.lock);
    failure = MPI_Isend(bytes, (int)size, MPI_BYTE, (int)to, TAG_DATA, mpi.data, &request);
    pthread_mutex_unlock(&mpi.lock);
    return failure == MPI_SUCCESS && finish(&request);
}

static bool receive_data(void *state, size_t from, void *bytes, size_t size)
{
    MPI_Request request;
    int failure;

    (void)state;
    pthread_mutex_lock(&mpi.lock);
    failure = MPI_Irecv(bytes, (int)size, MPI_BYTE, (int)from, TAG_DATA, mpi.data, &request);
    pthread_mutex_unlock(&mpi.lock);
    return failure == MPI_SUCCESS && finish(&request);
}

static bool post_note(void *state, size_t to, const struct cluster_note *note)
{
    bool posted = false;

    (void)state;
    pthread_mutex_lock(&mpi.lock);
    for (int i = 0; i < NOTES && !posted; i++) {
        int done = 1;

        if (mpi.requests[i] != MPI_REQUEST_NULL)
            MPI_Test(&mpi.requests[i], &done, MPI_STATUS_IGNORE);
        if (!done)
            continue;
        mpi.posted[i] = *note;
        MPI_Isend(&mpi.posted[i], sizeof *note, MPI_BYTE, (int)to, TAG_NOTE, mpi.notes,
                  &mpi.requests[i]);
        posted = true;
    }
    pthread_mutex_unlock(&mpi.lock);
    return posted;
}

static bool take_note(void *state, struct cluster_note *note)
{
    MPI_Status status;
    int there = 0;

    (void)state;
    pthread_mutex_lock(&mpi.lock);
    if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_NOTE, mpi.notes, &there, &status) == MPI_SUCCESS && there)
        MPI_Recv(note, sizeof *note, MPI_BYTE, status.MPI_SOURCE, TAG_NOTE, mpi.notes,
                 MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&mpi.lock);
    return there;
}

/* Signs of life may be on their way to ranks that no longer listen: they are received here. */
static void drain(void)
{
    struct cluster_note note;
    MPI_Request barrier;
    int done = 0;

    MPI_Ibarrier(mpi.notes, &barrier);
    while (!done) {
        int sent;

        for (int i = 0; i < NOTES; i++)
            if (mpi.requests[i] != MPI_REQUEST_NULL)
                MPI_Test(&mpi.requests[i], &sent, MPI_STATUS_IGNORE);
        while (take_note(NULL, &note))
            ;
        MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    while (take_note(NULL, &note))
        ;
}

static void close_mpi(void *state, bool failed)
{
    (void)state;
    if (failed) {
        pthread_mutex_lock(&mpi.lock);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    drain();
    MPI_Finalize();
}

__attribute__((visibility("default"))) cluster_plugin_open shapecond_mpi_open;

int shapecond_mpi_open(const char *version, size_t transport_size,
                       struct cluster_transport *transport, char *message, size_t size)
{
    int provided, rank, ranks;

    if (strcmp(version, SHAPECOND_VERSION) != 0 || transport_size != sizeof *transport) {
        snprintf(message, size, "the MPI plug-in is of shapecond %s, the program of %s",
                 SHAPECOND_VERSION, version);
        return 1;
    }
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
        snprintf(message, size, "MPI does not start");
        return 1;
    }
    if (provided < MPI_THREAD_SERIALIZED) {
        snprintf(message, size, "this MPI was built without threads");
        MPI_Finalize();
        return 1;
    }
    for (int i = 0; i < NOTES; i++)
        mpi.requests[i] = MPI_REQUEST_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi.data);
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi.notes);
    MPI_Comm_set_errhandler(mpi.data, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(mpi.notes, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    *transport = (struct cluster_transport){.rank = (size_t)rank,
                                            .size = (size_t)ranks,
                                            .send = send_data,
                                            .receive = receive_data,
                                            .post = post_note,
                                            .take = take_note,
                                            .close = close_mpi};
    return 0;
}
