/* What the driver of the fault tests and the library that it preloads share. */
#ifndef SC_FAULT_H
#define SC_FAULT_H

#include <stdatomic.h>

/* A prctl() that no kernel knows: the driver sees it as "main begins, count from here". */
#define FAULT_MARK 0x5c0fa017

#define FAULT_STATE_VARIABLE  "FAULT_STATE"  /* descriptor of a struct fault_state */
#define FAULT_SERVER_VARIABLE "FAULT_SERVER" /* descriptors of a fork server: "IN,OUT" */

enum fault_mode {
    FAULT_NONE,   /* only count */
    FAULT_ONCE,   /* the n-th call fails */
    FAULT_ALWAYS, /* and all that follow */
};

/* In memory that a program under test shares with all that it starts. */
struct fault_state {
    char programs[4096]; /* folder of the programs that are under test; others are left alone */
    enum fault_mode mode;
    unsigned long n;     /* the allocation that fails, from 1 */
    atomic_ulong count;  /* allocations so far */
    atomic_ulong failed; /* those that failed */
    char where[256];     /* object file and offset that asked for the first of them */
};

#endif
