/* Errors travel up as values.  A function that can fail returns NULL when it succeeded, else an
 * error that its caller passes on (TRY), adds to (error_in) or frees.  Only the tools print. */
#ifndef SC_ERROR_H
#define SC_ERROR_H

#include <stdbool.h>

struct error;

#define MUST_CHECK __attribute__((warn_unused_result))

/* Makes an error.  Never fails: without memory it returns a fixed error that says so. */
struct error *error_make(const char *format, ...) __attribute__((format(printf, 1, 2))) MUST_CHECK;

/* "what: strerror(errno)". */
struct error *error_system(const char *what) MUST_CHECK;

/* Out of memory, saying for what. */
struct error *error_memory(const char *what) MUST_CHECK;

/* The error, marked as one for lack of memory. */
struct error *error_mark_memory(struct error *error) MUST_CHECK;
/* Whether it is for lack of memory, and so says nothing about the input. */
bool error_is_memory(const struct error *error);

/* The error, marked as naming its subject already: error_in adds nothing more. */
struct error *error_mark_placed(struct error *error) MUST_CHECK;

/* Puts "where: " in front.  NULL stays NULL, so that a call can be wrapped. */
struct error *error_in(const char *where, struct error *error) MUST_CHECK;

/* Appends the second error to the first, which stands for all; either may be NULL. */
struct error *error_and(struct error *first, struct error *second) MUST_CHECK;
/* The error appended to this one, or NULL. */
const struct error *error_next(const struct error *error);

const char *error_message(const struct error *error);
void error_free(struct error *error);

/* Returns the error of the expression, if any, from the calling function. */
#define TRY(expression)                                                                            \
    do {                                                                                           \
        struct error *try_error = (expression);                                                    \
        if (try_error)                                                                             \
            return try_error;                                                                      \
    } while (0)

#endif
