/* The option --device, which all tools that compute share. */
#ifndef SC_DEVICE_OPTION_H
#define SC_DEVICE_OPTION_H

#include "common/cli.h"
#include "device/device.h"

extern const char *const device_choices[];

/* A row for the table of a tool whose struct `options` has an int `device`.  Left out of the
 * provenance, which says instead what was used, if it was not the processor. */
/* clang-format off */
#define DEVICE_OPTION(options)                                                                     \
    {0, "device", "WHERE", CLI_CHOICE, CLI_AT(options, device),                                    \
     "what computes: the processor, a GPU, or a GPU if there is one (shapecond-cuda(7))",          \
     .choices = device_choices, .unrecorded = true}
/* clang-format on */

/* Opens the device of the choice, or prints what is missing and exits.  same: what is computed has
 * the same bits on all of them, so that the provenance need not tell. */
struct device device_chosen(int choice, bool same);

/* The same for a network, described by `text` or by the teacher file `path` (either may be NULL):
 * where the choice is auto and the GPU's plug-in cannot run such a network, the processor. */
struct device device_for_network(int choice, const char *text, const char *path);

#endif
