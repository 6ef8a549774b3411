#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct error {
    char *message;
    bool memory; /* there was too little */
    bool placed; /* it names its subject already */
    struct error *next;
};

/* Stands in when there is no memory for an error; never freed. */
static char out_of_memory_message[] = "out of memory";
static struct error out_of_memory = {.message = out_of_memory_message, .memory = true};

/* Takes the message over. */
static struct error *error_from(char *message)
{
    struct error *error = message ? malloc(sizeof *error) : NULL;

    if (!error) {
        free(message);
        return &out_of_memory;
    }
    *error = (struct error){.message = message};
    return error;
}

struct error *error_make(const char *format, ...)
{
    char *message = NULL;
    va_list arguments;

    va_start(arguments, format);
    if (vasprintf(&message, format, arguments) < 0)
        message = NULL;
    va_end(arguments);
    return error_from(message);
}

struct error *error_system(const char *what)
{
    return error_make("%s: %s", what, strerror(errno));
}

struct error *error_mark_memory(struct error *error)
{
    error->memory = true;
    return error;
}

struct error *error_mark_placed(struct error *error)
{
    if (error && error != &out_of_memory)
        error->placed = true;
    return error;
}

struct error *error_memory(const char *what)
{
    return error_mark_memory(error_make("out of memory for %s", what));
}

bool error_is_memory(const struct error *error)
{
    return error->memory;
}

struct error *error_in(const char *where, struct error *error)
{
    struct error *outer;

    if (!error || error->placed)
        return error;
    outer = error_make("%s: %s", where, error->message);
    if (error->memory)
        outer = error_mark_memory(outer);
    if (outer != &out_of_memory) {
        outer->next = error->next;
        error->next = NULL;
    }
    error_free(error);
    return outer;
}

struct error *error_and(struct error *first, struct error *second)
{
    struct error *last = first;

    if (!first || !second || first == &out_of_memory) {
        if (first)
            error_free(second);
        return first ? first : second;
    }
    while (last->next)
        last = last->next;
    last->next = second;
    return first;
}

const struct error *error_next(const struct error *error)
{
    return error->next;
}

const char *error_message(const struct error *error)
{
    return error->message;
}

void error_free(struct error *error)
{
    while (error && error != &out_of_memory) {
        struct error *next = error->next;

        free(error->message);
        free(error);
        error = next;
    }
}
