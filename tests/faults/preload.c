/* Loaded into the programs under test (LD_PRELOAD): allocations that fail, and a fork server.
 *
 * The server stops before main and makes a copy of the process for every run, which saves loading
 * and linking: most of the time of a short program.  It reads a byte for each run and writes the
 * process and, when that has ended, its status.
 *
 * Only allocations after the start of main count: what the loader and the constructors of libraries
 * do without memory is not ours (libgfortran ends the program).  A library that is loaded later
 * counts as one allocation, too, and then cannot be loaded.  System calls are the driver's (run.c).
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"

typedef int main_function(int, char **, char **);
typedef void *open_function(const char *, int);
typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void),
                           void (*)(void), void *);

/* The C library's own allocator, under the names that it keeps for this. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

start_function __libc_start_main;
void *memalign(size_t alignment, size_t size);

static struct fault_state *state;
static main_function *real_main;
static volatile bool armed;
static _Thread_local bool loading;

/* ---- Allocations ---- */

static void note_caller(void *caller)
{
    Dl_info info;

    if (dladdr(caller, &info) && info.dli_fname)
        snprintf(state->where, sizeof state->where, "%s+0x%lx", info.dli_fname,
                 (unsigned long)((char *)caller - (char *)info.dli_fbase));
}

static bool fails(void *caller)
{
    unsigned long call;

    if (!armed || loading)
        return false;
    call = atomic_fetch_add(&state->count, 1) + 1;
    if (state->mode == FAULT_NONE || call < state->n ||
        (state->mode == FAULT_ONCE && call != state->n))
        return false;
    if (atomic_fetch_add(&state->failed, 1) == 0)
        note_caller(caller);
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    void *made = fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);

    if (!made)
        return ENOMEM;
    *memory = made;
    return 0;
}

void *dlopen(const char *file, int flags)
{
    open_function *real = (open_function *)(uintptr_t)dlsym(RTLD_NEXT, "dlopen");
    void *loaded;

    if (fails(__builtin_return_address(0)))
        return real("/no/memory/for/it.so", flags); /* so that dlerror has something to say */
    loading = true;
    loaded = real(file, flags);
    loading = false;
    return loaded;
}

/* ---- The fork server ---- */

/* Returns in the copies. */
static void serve(int input, int output)
{
    char order;

    while (read(input, &order, 1) == 1) {
        int answer[2] = {0};

        answer[0] = fork();
        if (answer[0] == 0) {
            close(input);
            close(output);
            setpgid(0, 0);
            return;
        }
        if (answer[0] < 0 || write(output, &answer[0], sizeof answer[0]) < 0)
            _exit(3);
        while (waitpid(answer[0], &answer[1], 0) < 0 && errno == EINTR)
            ;
        if (write(output, &answer[1], sizeof answer[1]) < 0)
            _exit(3);
    }
    _exit(0);
}

/* Whether this program is one of those under test, and not a shell or a helper that one started. */
static bool is_tested(void)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    size_t folder = strlen(state->programs);

    return length > 0 && (size_t)length > folder && memcmp(self, state->programs, folder) == 0 &&
           self[folder] == '/';
}

static int wrapped_main(int argc, char **argv, char **environment)
{
    const char *descriptor = getenv(FAULT_STATE_VARIABLE), *server = getenv(FAULT_SERVER_VARIABLE);
    int input, output;

    if (descriptor) {
        state = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(descriptor), 0);
        if (state == MAP_FAILED)
            _exit(3);
        if (server && sscanf(server, "%d,%d", &input, &output) == 2) {
            unsetenv(FAULT_SERVER_VARIABLE);
            serve(input, output);
        }
        if (is_tested()) {
            prctl(FAULT_MARK, 0, 0, 0, 0);
            armed = true;
        }
    }
    return real_main(argc, argv, environment);
}

int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    start_function *start = (start_function *)(uintptr_t)dlsym(RTLD_NEXT, "__libc_start_main");

    real_main = program;
    return start(wrapped_main, argc, argv, init, fini, rtld_fini, stack_end);
}
