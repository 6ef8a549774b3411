/* Text that came from files, made fit for a terminal or for JSON. */
#ifndef SC_TEXT_H
#define SC_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Bytes of the UTF-8 character that the text starts with: 1 to 4, or 0 if it starts with none. */
size_t text_character(const char *text);

/* Writes length bytes of a string (which may go on) with control characters and what is not UTF-8
 * replaced by '?', so that no file can play tricks on a terminal. */
void text_write(FILE *stream, const char *text, size_t length);

#endif
