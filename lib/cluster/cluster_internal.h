/* The ways to get a transport. */
#ifndef SC_CLUSTER_INTERNAL_H
#define SC_CLUSTER_INTERNAL_H

#include "base/error.h"
#include "cluster/transport.h"

/* Forks count - 1 processes; returns in all of them. */
struct error *processes_open(size_t count, struct cluster_transport *transport) MUST_CHECK;

struct error *mpi_open(struct cluster_transport *transport) MUST_CHECK;

#endif
