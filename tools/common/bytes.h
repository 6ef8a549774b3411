/* Sizes of files as options: 40000, 40k or 1.5M. */
#ifndef SC_COMMON_BYTES_H
#define SC_COMMON_BYTES_H

/* The number of bytes that --bytes says; wrong usage ends the program. */
double bytes_option(const char *text);

#endif
