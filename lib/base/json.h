/* Writing JSON (RFC 8259), one value on a line; objects and lists that are opened as a row stay on
 * their line.
 *
 *     struct json json = {stdout};
 *     json_open(&json, NULL, '{');
 *     json_text(&json, "name", "x", 1);
 *     json_open_row(&json, "shape", '[');
 *     json_size(&json, NULL, 3);
 *     json_close(&json, ']');
 *     json_close(&json, '}');
 *
 * key is NULL inside of lists and for the outermost value. */
#ifndef SC_JSON_H
#define SC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct json {
    FILE *stream;
    unsigned depth;
    unsigned row_depth; /* depth at which a row was opened, 0: none */
    bool more;          /* something was written at this depth */
};

void json_open(struct json *json, const char *key, char bracket);
void json_open_row(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
/* length bytes of a string (which may be longer); what is not UTF-8 becomes U+FFFD. */
void json_text(struct json *json, const char *key, const char *text, size_t length);
void json_size(struct json *json, const char *key, size_t value);
/* Nine digits, enough for every float; null when it is not finite, for which JSON has no word. */
void json_real(struct json *json, const char *key, double value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

#endif
