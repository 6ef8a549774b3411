/* What the last bits of a computation depend on besides its input: the instructions that the
 * kernels were compiled for, the compiler and its options, and the libraries that do arithmetic.
 *
 * Provenance notes hold this text where the bytes of the output depend on it, and a checkpoint of
 * another one is refused: its run would end with bytes that neither of the two gives. */
#ifndef SC_COMPUTED_BY_H
#define SC_COMPUTED_BY_H

/* For example "avx2, glibc 2.36 fma, gcc 12.2.0 -O3": one line.  ", OpenBLAS 0.3.21 Haswell"
 * follows once results of this process depend on it (dense.h). */
const char *computed_by(void);

#endif
