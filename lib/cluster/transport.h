/* What carries the messages of a cluster (cluster.h): processes of this machine (processes.c), or
 * MPI by way of a plug-in (mpi.c loads it, mpi/plugin.c is it).
 *
 * Two kinds of messages.  Data go from one rank to another that waits for them, in order.  Notes
 * are small, wait for nobody, and are for the watch thread of each rank: signs of life and
 * failures. */
#ifndef SC_CLUSTER_TRANSPORT_H
#define SC_CLUSTER_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cluster_note_kind {
    NOTE_ALIVE,
    NOTE_FAILED, /* `from` cannot continue; the text says why */
    NOTE_GONE,   /* made by the transport itself: process `from` has ended; the text says how */
};

struct cluster_note {
    uint32_t kind, from;
    char text[504];
};

struct cluster_transport {
    size_t rank, size;
    void *state;
    /* Data, of the main thread: these wait as long as it takes.  False: the other rank is gone. */
    bool (*send)(void *state, size_t to, const void *bytes, size_t size);
    bool (*receive)(void *state, size_t from, void *bytes, size_t size);
    /* Notes, of any thread.  False: there is no room now; there is no note. */
    bool (*post)(void *state, size_t to, const struct cluster_note *note);
    bool posts_from_signals; /* a signal handler may call it */
    bool (*take)(void *state, struct cluster_note *note);
    /* The last call.  failed: ends the other ranks as well, as far as that is possible from here,
     * and need not return. */
    void (*close)(void *state, bool failed);
};

/* What the plug-in exports.  Of the program: SHAPECOND_VERSION and the size of the struct; a
 * plug-in of another version refuses.  Returns 0 and fills in the transport, or writes to
 * message[size] what is wrong. */
#define CLUSTER_ENTRY "shapecond_mpi_open"
typedef int cluster_plugin_open(const char *version, size_t transport_size,
                                struct cluster_transport *transport, char *message, size_t size);

#endif
