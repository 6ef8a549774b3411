/* Text that came from files, made fit for a terminal or for JSON. */
#ifndef SC_TEXT_H
#define SC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

bool text_ends_with(const char *text, const char *end);
/* The same for any case of ASCII letters, as endings of file names are compared. */
bool text_ends_with_nocase(const char *text, const char *end);

bool text_is_ascii(const char *text);

/* Bytes of the UTF-8 character that the text starts with: 1 to 4, or 0 if it starts with none; and
 * its code point. */
size_t text_decode(const char *text, uint32_t *point);

/* Bytes of that character if it is within the length and safe to show on a terminal: not a control
 * character, not one that changes the direction of text, and UTF-8.  Else 0. */
size_t text_printable(const char *text, size_t length);

/* Writes length bytes of a string (which may be longer) with all characters that are not printable
 * replaced by '?', so that no file can send control sequences to a terminal. */
void text_write(FILE *stream, const char *text, size_t length);

/* Writes a string with every byte of what is not printable as \x1b, so that nothing is lost. */
void text_escape(FILE *stream, const char *text);

#endif
