#include "common/claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "base/identity.h"

struct claim {
    const char *option; /* NULL: an argument */
    const char *path;
    bool written;
    struct file_identity identity;
};

static struct claim *claims;
static size_t claim_count, claim_room;
static bool any_written, standard_input;

static struct file_identity identify(const char *path, bool written)
{
    if (strcmp(path, "-") == 0)
        return identity_of_descriptor(written ? STDOUT_FILENO : STDIN_FILENO);
    return identity_of(path);
}

/* Devices such as terminals and /dev/null can have many uses, and one connection can be standard
 * input and output. */
static bool conflict(const struct claim *a, const struct claim *b)
{
    mode_t mode = a->identity.mode;

    if (!a->written && !b->written)
        return false;
    if (a->written && b->written && strcmp(a->path, "-") == 0 && strcmp(b->path, "-") == 0)
        return true;
    if (!identity_same(&a->identity, &b->identity))
        return false;
    if (a->identity.state == FILE_TO_BE_MADE || S_ISREG(mode) || S_ISBLK(mode))
        return true;
    return a->written && b->written && !S_ISCHR(mode);
}

static const char *name(const struct claim *claim, char text[64])
{
    snprintf(text, 64, "--%s", claim->option ? claim->option : "");
    return claim->option ? text : "the input";
}

static void refuse(const struct claim *a, const struct claim *b)
{
    const char *path = strcmp(a->path, "-") == 0 ? b->path : a->path;
    char first[64], second[64];

    if (strcmp(path, "-") == 0)
        path = a->written ? "standard output" : "standard input";
    cli_usage("%s and %s are the same file: '%s'", name(a, first), name(b, second), path);
}

/* Also as /dev/stdout: what process_open_streams puts there is a folder. */
static bool is_standard_output(const struct claim *claim)
{
    struct file_identity output = identity_of_descriptor(STDOUT_FILENO);

    return claim->written && (strcmp(claim->path, "-") == 0 ||
                              (S_ISDIR(output.mode) && identity_same(&claim->identity, &output)));
}

void claims_add(const char *option, const char *path, bool written)
{
    struct claim claim = {option, path, written, identify(path, written)};

    if (claim_count == claim_room) {
        struct claim *more = realloc(claims, (2 * claim_room + 8) * sizeof *claims);

        if (!more)
            cli_check(error_memory("file names"));
        claims = more;
        claim_room = 2 * claim_room + 8;
    }
    if (is_standard_output(&claim))
        cli_check(output_check_standard());
    if (!written && strcmp(path, "-") == 0) {
        if (standard_input)
            cli_usage("standard input can be read once only");
        standard_input = true;
    }
    /* Inputs come first: the many of a large import need not be compared with each other. */
    any_written = any_written || written;
    for (size_t i = 0; any_written && i < claim_count; i++) {
        if (conflict(&claim, &claims[i]))
            refuse(&claim, &claims[i]);
    }
    claims[claim_count++] = claim;
}

bool claims_standard_input(void)
{
    return standard_input;
}

bool claims_other(const char *option, const char *path)
{
    struct file_identity identity = identity_of(path);
    bool other = false;

    for (size_t i = 0; i < claim_count && !other; i++) {
        struct file_identity now = identify(claims[i].path, claims[i].written);

        other = (!claims[i].option || strcmp(claims[i].option, option) != 0) &&
                identity_same(&identity, &now);
        identity_free(&now);
    }
    identity_free(&identity);
    return other;
}
