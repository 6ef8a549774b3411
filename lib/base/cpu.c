/* The level is found once and kept; two threads that both find it store
 * the same value. */
#include "base/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum cpu_level cpu_machine_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return CPU_AVX2;
#endif
    return CPU_GENERIC;
}

static enum cpu_level wanted_level(void)
{
    const char *wanted = getenv("SHAPECOND_CPU");

    if (wanted && strcmp(wanted, "generic") == 0)
        return CPU_GENERIC;
    return CPU_AVX2;
}

enum cpu_level cpu_level(void)
{
    static _Atomic int known = -1;
    int level = atomic_load_explicit(&known, memory_order_relaxed);

    if (level < 0) {
        enum cpu_level machine = cpu_machine_level(), wanted = wanted_level();

        level = wanted < machine ? (int)wanted : (int)machine;
        atomic_store_explicit(&known, level, memory_order_relaxed);
    }
    return (enum cpu_level)level;
}
