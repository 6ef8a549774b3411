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
     "where to compute; auto: a GPU if one is usable (shapecond-cuda(7))",                         \
     .choices = device_choices, .unrecorded = true}
/* clang-format on */

/* Opens the device of the choice, or prints what is missing and exits.  same: what is computed has
 * the same bits on all of them, so that the provenance need not tell. */
struct device device_chosen(int choice, bool same);

#endif
