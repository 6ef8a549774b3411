#include "base/computed_by.h"

#include <gnu/libc-version.h>
#include <pthread.h>
#include <stdio.h>

#include "base/cpu.h"
#include "base/dense.h"

/* The options that change the code (Makefile). */
#ifndef SHAPECOND_CODE_FLAGS
#define SHAPECOND_CODE_FLAGS "with unknown options"
#endif

#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)

#if defined(__clang__)
#define COMPILER                                                                                   \
    "clang " TEXT(__clang_major__) "." TEXT(__clang_minor__) "." TEXT(__clang_patchlevel__)
#else
#define COMPILER "gcc " TEXT(__GNUC__) "." TEXT(__GNUC_MINOR__) "." TEXT(__GNUC_PATCHLEVEL__)
#endif

enum { LONGEST = 512 };
static char text[LONGEST], with_algebra[LONGEST + 130];

static const char *kernels(void)
{
#if defined(__x86_64__)
    return cpu_level() >= CPU_AVX2 ? "avx2" : "generic";
#elif defined(__aarch64__)
    return "generic arm64";
#else
    return "generic, another processor than x86-64 and arm64";
#endif
}

/* glibc has exp, log, sin ... with fused products for processors that have them, even if
 * SHAPECOND_CPU says otherwise. */
static const char *library_kind(void)
{
    return cpu_machine_level() >= CPU_AVX2 ? " fma" : "";
}

static void describe(void)
{
    snprintf(text, sizeof text, "%s, glibc %s%s, " COMPILER " " SHAPECOND_CODE_FLAGS, kernels(),
             gnu_get_libc_version(), library_kind());
}

static void add_algebra(void)
{
    snprintf(with_algebra, sizeof with_algebra, "%s, %s", text, dense_description());
}

const char *computed_by(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT, once_more = PTHREAD_ONCE_INIT;

    pthread_once(&once, describe);
    if (!dense_description())
        return text;
    pthread_once(&once_more, add_algebra);
    return with_algebra;
}
