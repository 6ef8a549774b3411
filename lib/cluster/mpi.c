/* Finding and loading the MPI plug-in.
 *
 * There is one for each MPI that was found when shapecond was built (Makefile).  The launcher's
 * variables tell which MPI it is of; a program of another one would find itself alone. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/cluster.h"
#include "cluster/cluster_internal.h"

static size_t number_in(const char *variable)
{
    const char *text = getenv(variable);

    return text ? strtoul(text, NULL, 10) : 0;
}

static bool is_openmpi(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK");
}

size_t cluster_launched(void)
{
    /* Open MPI's mpirun; MPICH's and srun --mpi=pmi2; srun. */
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (number_in(sizes[i]))
            return number_in(sizes[i]);
    return 0;
}

/* In the folder ../lib beside that of the program, or where the system looks for libraries. */
static void *load(const char *library)
{
    char self[PATH_MAX], path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    for (int level = 0; level < 2 && length > 0; level++)
        do
            length--;
        while (length > 0 && self[length] != '/');
    /* RTLD_GLOBAL: Open MPI loads parts of itself that look for its symbols. */
    if (length > 0 &&
        snprintf(path, sizeof path, "%.*s/lib/%s", (int)length, self, library) < PATH_MAX &&
        access(path, F_OK) == 0)
        return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    return dlopen(library, RTLD_NOW | RTLD_GLOBAL);
}

static struct error *load_any(void **plugin)
{
    static const char openmpi[] = "libshapecond-openmpi.so", mpich[] = "libshapecond-mpich.so";
    const char *named = getenv("SHAPECOND_MPI_PLUGIN");

    if (named && *named)
        *plugin = dlopen(named, RTLD_NOW | RTLD_GLOBAL);
    else if ((*plugin = load(is_openmpi() ? openmpi : mpich)))
        return NULL;
    else if (!is_openmpi() && !getenv("PMI_SIZE")) /* no launcher's, so any will do */
        *plugin = load(openmpi);
    if (*plugin)
        return NULL;
    return error_make("no MPI plug-in: %s (shapecond-cluster(7) says how to build it)", dlerror());
}

struct error *mpi_open(struct cluster_transport *transport)
{
    char message[512] = "";
    cluster_plugin_open *open_plugin;
    void *plugin, *entry;

    TRY(load_any(&plugin));
    entry = dlsym(plugin, CLUSTER_ENTRY);
    memcpy(&open_plugin, &entry, sizeof open_plugin);
    if (!entry)
        return error_make("not an MPI plug-in of shapecond: %s", dlerror());
    if (open_plugin(SHAPECOND_VERSION, sizeof *transport, transport, message, sizeof message))
        return error_make("%s", message);
    return NULL; /* it stays: the functions are in it */
}
