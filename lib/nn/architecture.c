/* The text form of an architecture: a backbone, then word=value pairs in any order.  One table
 * holds the words, so that reading, writing and messages cannot disagree. */
#include "nn/architecture.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/backend.h"

static const char *const norm_names[] = {"none", "batch", "instance", "layer", NULL};
static const char *const act_names[] = {"relu", "leaky", "sigmoid", NULL};
static const char *const pool_names[] = {"none", "max", "mean", NULL};

struct word {
    const char *name;
    size_t offset;
    const char *const *values; /* NULL: a number */
    size_t smallest, largest;
    bool of_data; /* 0 while unknown, and then not written */
};

#define NUMBER(field, smallest, largest, of_data)                                                  \
    {                                                                                              \
#field, offsetof(struct architecture, field), NULL, smallest, largest, of_data             \
    }
#define CHOICE(field, values)                                                                      \
    {                                                                                              \
#field, offsetof(struct architecture, field), values, 0, 0, false                          \
    }

static const struct word words[] = {
    NUMBER(depth, 1, 16, false),
    NUMBER(width, 1, BACKEND_MOST_CHANNELS, false),
    NUMBER(kernel, 1, 255, false),
    CHOICE(norm, norm_names),
    CHOICE(act, act_names),
    CHOICE(pool, pool_names),
    NUMBER(channels, 1, 1 << 20, true),
    NUMBER(length, 1, 1 << 24, true),
    NUMBER(classes, 1, 1 << 20, true),
    NUMBER(features, 0, 1 << 20, true),
};

enum { WORDS = sizeof words / sizeof words[0] };

/* Enumerations are read and written through this: they have the size of an int. */
static size_t get(const struct architecture *architecture, const struct word *word)
{
    const char *at = (const char *)architecture + word->offset;

    return word->values ? (size_t) * (const int *)at : *(const size_t *)at;
}

static void set(struct architecture *architecture, const struct word *word, size_t value)
{
    char *at = (char *)architecture + word->offset;

    if (word->values)
        *(int *)at = (int)value;
    else
        *(size_t *)at = value;
}

struct architecture architecture_default(void)
{
    return (struct architecture){.backbone = BACKBONE_CNN,
                                 .depth = 3,
                                 .width = 32,
                                 .kernel = 3,
                                 .norm = NORM_BATCH,
                                 .act = ACTIVATION_RELU,
                                 .pool = POOL_MAX};
}

static struct error *parse_value(const struct word *word, const char *text, size_t *value)
{
    char *end;
    unsigned long long number;

    if (word->values) {
        char choices[128] = "";

        for (size_t i = 0; word->values[i]; i++) {
            if (strcmp(text, word->values[i]) == 0) {
                *value = i;
                return NULL;
            }
            snprintf(choices + strlen(choices), sizeof choices - strlen(choices), "%s%s",
                     i ? ", " : "", word->values[i]);
        }
        return error_make("network: %s=%s: expected one of %s", word->name, text, choices);
    }
    number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || number < word->smallest || number > word->largest)
        return error_make("network: %s=%s: expected a whole number from %zu to %zu", word->name,
                          text, word->smallest, word->largest);
    *value = (size_t)number;
    return NULL;
}

static struct error *parse_word(char *text, bool seen[WORDS], struct architecture *architecture)
{
    char *equals = strchr(text, '=');

    if (!equals)
        return error_make("network: \"%s\" is not word=value", text);
    *equals = '\0';
    for (size_t i = 0; i < WORDS; i++) {
        size_t value = 0;

        if (strcmp(text, words[i].name) != 0)
            continue;
        if (seen[i])
            return error_make("network: %s is given twice", text);
        seen[i] = true;
        TRY(parse_value(&words[i], equals + 1, &value));
        set(architecture, &words[i], value);
        return NULL;
    }
    return error_make("network: unknown word \"%s\"", text);
}

struct error *architecture_parse(const char *text, struct architecture *architecture)
{
    struct architecture parsed = architecture_default();
    bool seen[WORDS] = {false};
    char copy[4 * ARCHITECTURE_TEXT], *rest, *token;

    if (strlen(text) >= sizeof copy)
        return error_make("network: description is too long");
    strcpy(copy, text);
    token = strtok_r(copy, " \t\r\n", &rest);
    if (!token || strcmp(token, "cnn") != 0)
        return error_make("network: expected a description that begins with cnn, got \"%s\"",
                          token ? token : "");
    while ((token = strtok_r(NULL, " \t\r\n", &rest)))
        TRY(parse_word(token, seen, &parsed));
    if (parsed.kernel % 2 == 0)
        return error_make("network: kernel=%zu: expected an odd number", parsed.kernel);
    *architecture = parsed;
    return NULL;
}

void architecture_print(const struct architecture *architecture, char text[ARCHITECTURE_TEXT])
{
    size_t used = (size_t)snprintf(text, ARCHITECTURE_TEXT, "cnn");

    for (size_t i = 0; i < WORDS; i++) {
        size_t value = get(architecture, &words[i]);

        if (words[i].of_data && value == 0)
            continue;
        if (words[i].values)
            used += (size_t)snprintf(text + used, ARCHITECTURE_TEXT - used, " %s=%s", words[i].name,
                                     words[i].values[value]);
        else
            used += (size_t)snprintf(text + used, ARCHITECTURE_TEXT - used, " %s=%zu",
                                     words[i].name, value);
    }
}

size_t architecture_steps(const struct architecture *architecture, size_t blocks)
{
    size_t steps = architecture->length;

    for (size_t i = 0; architecture->pool != POOL_NONE && i < blocks; i++)
        steps /= 2;
    return steps;
}

size_t architecture_embedding(const struct architecture *architecture)
{
    return architecture->features +
           architecture->width * architecture_steps(architecture, architecture->depth);
}

struct error *architecture_check(const struct architecture *architecture)
{
    for (size_t i = 0; i < WORDS; i++) {
        size_t value = get(architecture, &words[i]);

        if (words[i].values)
            continue;
        if (words[i].of_data && value == 0 && words[i].smallest > 0)
            return error_make("network: %s is not known", words[i].name);
        if (value < words[i].smallest || value > words[i].largest)
            return error_make("network: %s=%zu: expected a whole number from %zu to %zu",
                              words[i].name, value, words[i].smallest, words[i].largest);
    }
    if (architecture->kernel % 2 == 0)
        return error_make("network: kernel=%zu: expected an odd number", architecture->kernel);
    if (architecture_steps(architecture, architecture->depth) == 0)
        return error_make("network: series of %zu steps vanish under %zu poolings by 2: use a "
                          "smaller depth or pool=none",
                          architecture->length, architecture->depth);
    return NULL;
}
