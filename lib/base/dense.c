/* OpenBLAS is loaded when it is first needed, not linked, because of what it does when it is loaded
 * and when memory is short:
 *   - it starts its threads before main() is entered, and where the system refuses them it ends the
 *     program, or tries forever to get their memory.  OPENBLAS_NUM_THREADS=1 prevents that, but
 *     must be there before it is loaded; here it is set for that moment only, since it is not for
 *     programs that this one starts;
 *   - every call that is under way holds a buffer, which is made when there is no free one and then
 *     kept.  OpenBLAS tries forever to get the memory of a new one.  So all that will be needed at
 *     once are made here, each after a check that there is room for it.  If there is not, fewer
 *     calls run at once, which changes no result; if there is no room for one, that is an error.
 * And programs that do not need it start faster. */
#include "base/dense.h"

#include <cblas.h>
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/parallel.h"

static const char library[] = "libopenblas.so.0";
static const char threads_variable[] = "OPENBLAS_NUM_THREADS";

/* OpenBLAS as Debian builds it has places for twice as many buffers.  A buffer is of 128 MB of
 * addresses on x86-64, 32 MB elsewhere, of which only what is used takes memory.  Beyond the first
 * one they are made only where plenty of addresses are left for the program. */
enum { MOST_CALLS = 64, RESERVE = 100 << 10 };

static const size_t library_addresses = (size_t)48 << 20, buffer_addresses = (size_t)160 << 20,
                    plenty = (size_t)1 << 30;

enum { SEQUENTIAL = 0 }; /* openblas_get_parallel: such a build has no locks around its buffers */

/* Of LAPACK, which has no header; column-major. */
typedef void potrf_function(const char *uplo, const int *n, double *a, const int *lda, int *info);
typedef void potrs_function(const char *uplo, const int *n, const int *nrhs, const double *a,
                            const int *lda, double *b, const int *ldb, int *info);
/* Of OpenBLAS: in no header, or not in the cblas.h of another library. */
typedef void *memory_alloc_function(int purpose); /* a buffer for the calling thread */
typedef void memory_free_function(void *buffer);
typedef void set_number_function(int number);
typedef int get_number_function(void);
typedef char *get_text_function(void);

static struct {
    pthread_mutex_t lock;
    bool open;
    bool matters; /* for results: dense_open was called */
    char description[128];
    sem_t calls; /* that may begin now */

    __typeof__(&cblas_dgemm) dgemm;
    __typeof__(&cblas_sgemm) sgemm;
    __typeof__(&cblas_sgemv) sgemv;
    __typeof__(&cblas_ddot) ddot;
    __typeof__(&cblas_daxpy) daxpy;
    potrf_function *potrf;
    potrs_function *potrs;
    set_number_function *set_num_threads;
    get_number_function *get_parallel;
    get_text_function *get_config, *get_corename;
} blas = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Loading ---- */

static bool room_for(size_t bytes)
{
    void *place = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return place != MAP_FAILED && munmap(place, bytes) == 0;
}

/* dlopen, with one thread asked for.  The variable is then as it was.  Since 0.3.29 OpenBLAS makes
 * its first buffer when it is loaded, and tries forever.  libgfortran, which OpenBLAS is linked
 * with, ends the program if it does not get the memory that it wants when it is loaded; freed here,
 * it is available. */
static struct error *load(void **loaded)
{
    const char *value = getenv(threads_variable);
    char *before = value ? strdup(value) : NULL;
    void *reserve = malloc(RESERVE);
    bool ready = room_for(library_addresses + buffer_addresses) && reserve && (before || !value) &&
                 setenv(threads_variable, "1", 1) == 0;

    free(reserve);
    if (!ready) {
        free(before);
        return error_memory("OpenBLAS");
    }
    *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (before)
        setenv(threads_variable, before, 1);
    else
        unsetenv(threads_variable);
    free(before);
    return *loaded ? NULL : error_make("OpenBLAS cannot be loaded: %s", dlerror());
}

static struct error *find(void *loaded, const char *name, void *function)
{
    void *entry = dlsym(loaded, name);

    if (!entry)
        return error_make("%s has no function %s", library, name);
    memcpy(function, &entry, sizeof entry);
    return NULL;
}

static struct error *find_functions(void *loaded)
{
    TRY(find(loaded, "cblas_dgemm", &blas.dgemm));
    TRY(find(loaded, "cblas_sgemm", &blas.sgemm));
    TRY(find(loaded, "cblas_sgemv", &blas.sgemv));
    TRY(find(loaded, "cblas_ddot", &blas.ddot));
    TRY(find(loaded, "cblas_daxpy", &blas.daxpy));
    TRY(find(loaded, "dpotrf_", &blas.potrf));
    TRY(find(loaded, "dpotrs_", &blas.potrs));
    TRY(find(loaded, "openblas_set_num_threads", &blas.set_num_threads));
    TRY(find(loaded, "openblas_get_parallel", &blas.get_parallel));
    TRY(find(loaded, "openblas_get_config", &blas.get_config));
    return find(loaded, "openblas_get_corename", &blas.get_corename);
}

/* Has OpenBLAS make as many buffers as wanted; returns for how many there was room. */
static unsigned make_buffers(void *loaded, unsigned wanted)
{
    void *buffers[MOST_CALLS];
    memory_alloc_function *take = NULL;
    memory_free_function *give_back = NULL;
    struct error *error = find(loaded, "blas_memory_alloc", &take);
    unsigned made = 0;

    if (!error)
        error = find(loaded, "blas_memory_free", &give_back);
    if (error) { /* then one is made by the first call */
        error_free(error);
        return room_for(buffer_addresses);
    }
    while (made < wanted && room_for(made ? plenty : buffer_addresses))
        buffers[made++] = take(0);
    for (unsigned i = 0; i < made; i++)
        give_back(buffers[i]);
    return made;
}

/* "OpenBLAS 0.3.21" is how its configuration begins. */
static void describe(void)
{
    const char *config = blas.get_config(), *end = strchr(config, ' ');

    if (end)
        end += 1 + strcspn(end + 1, " ");
    snprintf(blas.description, sizeof blas.description, "%.*s %s",
             (int)(end ? end - config : (ptrdiff_t)strlen(config)), config, blas.get_corename());
}

static struct error *open_once(void)
{
    unsigned wanted = parallel_threads() < MOST_CALLS ? parallel_threads() : MOST_CALLS, calls;
    void *loaded;

    TRY(load(&loaded));
    TRY(find_functions(loaded));
    blas.set_num_threads(1); /* if something else had loaded it before */
    calls = make_buffers(loaded, blas.get_parallel() == SEQUENTIAL ? 1 : wanted);
    if (calls == 0)
        return error_memory("OpenBLAS");
    if (sem_init(&blas.calls, 0, calls))
        return error_system("OpenBLAS");
    describe();
    blas.open = true;
    return NULL;
}

static struct error *open_for(size_t largest, bool matters)
{
    struct error *error = NULL;

    if (largest > INT_MAX)
        return error_make("a matrix with %zu rows or columns is too large for OpenBLAS: at most %d",
                          largest, INT_MAX);
    pthread_mutex_lock(&blas.lock);
    if (!blas.open)
        error = open_once();
    blas.matters = blas.matters || (matters && !error);
    pthread_mutex_unlock(&blas.lock);
    return error;
}

struct error *dense_open(size_t largest)
{
    return open_for(largest, true);
}

struct error *dense_open_for_estimates(size_t largest)
{
    return open_for(largest, false);
}

const char *dense_description(void)
{
    const char *description;

    pthread_mutex_lock(&blas.lock);
    description = blas.matters ? blas.description : NULL;
    pthread_mutex_unlock(&blas.lock);
    return description;
}

/* ---- Calls ---- */

static void begin_call(void)
{
    while (sem_wait(&blas.calls))
        ; /* interrupted by a signal */
}

static void end_call(void)
{
    sem_post(&blas.calls);
}

/* OpenBLAS wants strides of at least 1, also of arrays without elements. */
static int stride(size_t stride)
{
    return stride > 0 ? (int)stride : 1;
}

static enum CBLAS_TRANSPOSE transposed(bool transpose)
{
    return transpose ? CblasTrans : CblasNoTrans;
}

void dense_multiply(const struct dense_product *p, const double *a, const double *b, double *c)
{
    begin_call();
    blas.dgemm(CblasRowMajor, transposed(p->transpose_a), transposed(p->transpose_b), (int)p->m,
               (int)p->n, (int)p->k, 1, a, stride(p->stride_a), b, stride(p->stride_b), p->keep, c,
               stride(p->stride_c));
    end_call();
}

void dense_multiply_float(const struct dense_product *p, const float *a, const float *b, float *c)
{
    begin_call();
    blas.sgemm(CblasRowMajor, transposed(p->transpose_a), transposed(p->transpose_b), (int)p->m,
               (int)p->n, (int)p->k, 1, a, stride(p->stride_a), b, stride(p->stride_b),
               (float)p->keep, c, stride(p->stride_c));
    end_call();
}

void dense_apply_float(size_t m, size_t k, const float *a, const float *x, float *y)
{
    begin_call();
    blas.sgemv(CblasRowMajor, CblasNoTrans, (int)m, (int)k, 1, a, stride(k), x, 1, 0, y, 1);
    end_call();
}

/* The lower half, a block of rows for each task; then the upper half is copied from it. */
enum { GRAM_ROWS = 128 };

struct gram {
    size_t m, k;
    const double *a;
    double *c;
};

static void gram_rows(void *context, size_t task, unsigned worker)
{
    const struct gram *gram = context;
    size_t first = task * GRAM_ROWS, rest = gram->m - first;
    size_t rows = rest < GRAM_ROWS ? rest : GRAM_ROWS;

    (void)worker;
    dense_multiply(&(struct dense_product){.m = rows,
                                           .n = first + rows,
                                           .k = gram->k,
                                           .transpose_b = true,
                                           .stride_a = gram->k,
                                           .stride_b = gram->k,
                                           .stride_c = gram->m},
                   gram->a + first * gram->k, gram->a, gram->c + first * gram->m);
}

void dense_gram(size_t m, size_t k, const double *a, double *c)
{
    struct gram gram = {m, k, a, c};

    parallel_for((m + GRAM_ROWS - 1) / GRAM_ROWS, gram_rows, &gram);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < i; j++)
            c[j * m + i] = c[i * m + j];
}

/* LAPACK's lower half is the upper one of an array in rows. */
bool dense_cholesky(size_t m, double *a)
{
    int n = (int)m, rows = stride(m), info;

    begin_call();
    blas.potrf("L", &n, a, &rows, &info);
    end_call();
    for (size_t i = 0; i < m; i++) /* OpenBLAS accepts NaN */
        if (!isfinite(a[i * m + i]))
            return false;
    return info == 0;
}

void dense_cholesky_solve(size_t m, size_t count, const double *factor, double *b)
{
    int n = (int)m, sides = (int)count, rows = stride(m), info;

    begin_call();
    blas.potrs("L", &n, &sides, factor, &rows, b, &rows, &info);
    end_call();
}

double dense_dot(size_t count, const double *a, const double *b)
{
    return blas.ddot((int)count, a, 1, b, 1);
}

void dense_add(size_t count, double factor, const double *x, double *y)
{
    blas.daxpy((int)count, factor, x, 1, y, 1);
}
