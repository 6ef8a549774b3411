#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

static void write_string(FILE *stream, const char *text, size_t length)
{
    fputc('"', stream);
    for (size_t i = 0; i < length;) {
        const unsigned char first = (unsigned char)text[i];
        uint32_t point;
        size_t bytes = text_decode(text + i, &point);

        if (bytes == 0 || bytes > length - i)
            fputs("\\ufffd", stream);
        else if (first == '"' || first == '\\')
            fprintf(stream, "\\%c", first);
        else if (!text_printable(text + i, length - i))
            fprintf(stream, "\\u%04x", (unsigned)point);
        else
            fwrite(text + i, 1, bytes, stream);
        i += bytes ? bytes : 1;
    }
    fputc('"', stream);
}

static void new_line(const struct json *json)
{
    fprintf(json->stream, "\n%*s", (int)(2 * json->depth), "");
}

/* What goes before a value: comma, line, key. */
static void begin(struct json *json, const char *key)
{
    if (json->more)
        fputc(',', json->stream);
    if (json->row_depth) {
        if (json->more)
            fputc(' ', json->stream);
    } else if (json->depth) {
        new_line(json);
    }
    if (key) {
        write_string(json->stream, key, strlen(key));
        fputs(": ", json->stream);
    }
    json->more = true;
}

void json_open(struct json *json, const char *key, char bracket)
{
    begin(json, key);
    fputc(bracket, json->stream);
    json->depth++;
    json->more = false;
}

void json_open_row(struct json *json, const char *key, char bracket)
{
    json_open(json, key, bracket);
    if (!json->row_depth)
        json->row_depth = json->depth;
}

void json_close(struct json *json, char bracket)
{
    bool row = json->row_depth != 0;

    if (json->row_depth == json->depth)
        json->row_depth = 0;
    json->depth--;
    if (json->more && !row)
        new_line(json);
    fputc(bracket, json->stream);
    json->more = true;
    if (json->depth == 0) {
        fputc('\n', json->stream);
        json->more = false;
    }
}

void json_text(struct json *json, const char *key, const char *text, size_t length)
{
    begin(json, key);
    write_string(json->stream, text, length);
}

void json_size(struct json *json, const char *key, size_t value)
{
    begin(json, key);
    fprintf(json->stream, "%zu", value);
}

void json_real(struct json *json, const char *key, double value)
{
    begin(json, key);
    if (isfinite(value))
        fprintf(json->stream, "%.9g", value);
    else
        fputs("null", json->stream);
}

void json_bool(struct json *json, const char *key, bool value)
{
    begin(json, key);
    fputs(value ? "true" : "false", json->stream);
}

void json_null(struct json *json, const char *key)
{
    begin(json, key);
    fputs("null", json->stream);
}
