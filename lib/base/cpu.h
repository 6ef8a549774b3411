/* Which vector instructions this machine has, asked once at run time.
 *
 * Hot kernels are compiled once for each level (files named X_avx2.c beside the portable
 * X_generic.c) and the caller picks by cpu_level().  Setting SHAPECOND_CPU to generic lowers the
 * level, so that tests can run every path; nothing raises it. */
#ifndef SC_CPU_H
#define SC_CPU_H

enum cpu_level {
    CPU_GENERIC, /* whatever the compiler assumes: SSE2 on x86-64, NEON on arm64 */
    CPU_AVX2,    /* AVX2 with FMA */
};

enum cpu_level cpu_level(void);

/* What the machine has, whatever SHAPECOND_CPU says. */
enum cpu_level cpu_machine_level(void);

#endif
