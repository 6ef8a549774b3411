/* The text form of an architecture.  The tables of words say how each is read, written and checked,
 * so that the three cannot disagree. */
#include "nn/architecture.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/family.h"

static const struct family *const families[] = {
    &family_cnn, &family_fcn, &family_resnet,      &family_inception,
    &family_tcn, &family_mlp, &family_transformer, &family_gru,
};

enum { FAMILIES = sizeof families / sizeof families[0] };

const char *const family_norms[] = {"none", "batch", "instance", "layer", NULL};
const char *const family_activations[] = {"relu", "leaky", "sigmoid", "gelu", NULL};
const char *const family_poolings[] = {"none", "max", "mean", NULL};
const char *const family_ends[] = {"flatten", "max", "mean", NULL};

/* The numbers of the data, which all families have; 0 while unknown, and then not written. */
static const struct word data_words[] = {
    {.name = "channels", .smallest = 1, .largest = 1 << 20, .help = "channels of the series"},
    {.name = "length", .smallest = 1, .largest = 1 << 24, .help = "steps of the series"},
    {.name = "classes", .smallest = 1, .largest = 1 << 20, .help = "classes, the outputs"},
    {.name = "features", .smallest = 0, .largest = 1 << 20, .help = "shapelet distances"},
};

enum { DATA_WORDS = sizeof data_words / sizeof data_words[0] };

/* Word i of an architecture, and its place: those of the family, then those of the data. */
static const struct word *word_at(const struct architecture *architecture, size_t i, size_t **value)
{
    struct architecture *a = (struct architecture *)(uintptr_t)architecture;
    size_t *const of_data[] = {&a->channels, &a->length, &a->classes, &a->features};
    size_t own = 0;

    while (a->family->words[own].name)
        own++;
    if (i >= own + DATA_WORDS)
        return NULL;
    *value = i < own ? &a->values[i] : of_data[i - own];
    return i < own ? &a->family->words[i] : &data_words[i - own];
}

static bool is_of_data(const struct word *word)
{
    return word >= data_words && word < data_words + DATA_WORDS;
}

static struct architecture default_of(const struct family *family)
{
    struct architecture architecture = {.family = family};

    for (size_t i = 0; family->words[i].name; i++)
        architecture.values[i] = family->words[i].standard;
    return architecture;
}

struct architecture architecture_default(void)
{
    return default_of(families[0]);
}

size_t architecture_value(const struct architecture *architecture, const char *name)
{
    const struct word *word;
    size_t *value;

    for (size_t i = 0; (word = word_at(architecture, i, &value)); i++)
        if (strcmp(word->name, name) == 0)
            return *value;
    return 0;
}

/* ---- Reading ---- */

static struct error *parse_choice(const struct word *word, const char *text, size_t *value)
{
    char choices[128] = "";

    for (size_t i = 0; word->choices[i]; i++) {
        if (strcmp(text, word->choices[i]) == 0) {
            *value = i;
            return NULL;
        }
        snprintf(choices + strlen(choices), sizeof choices - strlen(choices), "%s%s", i ? ", " : "",
                 word->choices[i]);
    }
    return error_make("network: %s=%s: expected one of %s", word->name, text, choices);
}

static struct error *expected_fraction(const struct word *word, const char *text)
{
    return error_make("network: %s=%s: expected a number from %g to %g with at most three decimals",
                      word->name, text, (double)word->smallest / 1000,
                      (double)word->largest / 1000);
}

/* "0.125" as 125. */
static struct error *parse_thousandths(const struct word *word, const char *text, size_t *value)
{
    size_t number = 0, decimals = 0, digits = 0;
    const char *c = text;

    for (; *c >= '0' && *c <= '9' && digits < 6; c++, digits++)
        number = 10 * number + (size_t)(*c - '0');
    if (digits > 0 && *c == '.')
        for (c++; *c >= '0' && *c <= '9' && decimals < 3; c++, decimals++)
            number = 10 * number + (size_t)(*c - '0');
    for (; decimals < 3; decimals++)
        number *= 10;
    if (digits == 0 || *c || number < word->smallest || number > word->largest)
        return expected_fraction(word, text);
    *value = number;
    return NULL;
}

static struct error *parse_number(const struct word *word, const char *text, size_t *value)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end || number < word->smallest || number > word->largest)
        return error_make("network: %s=%s: expected a whole number from %zu to %zu", word->name,
                          text, word->smallest, word->largest);
    *value = (size_t)number;
    return NULL;
}

static struct error *parse_word(char *text, bool seen[ARCHITECTURE_WORDS + DATA_WORDS],
                                struct architecture *architecture)
{
    char *equals = strchr(text, '=');
    const struct word *word;
    size_t *value;

    if (!equals)
        return error_make("network: \"%s\" is not word=value", text);
    *equals = '\0';
    for (size_t i = 0; (word = word_at(architecture, i, &value)); i++) {
        if (strcmp(text, word->name) != 0)
            continue;
        if (seen[i])
            return error_make("network: %s is given twice", text);
        seen[i] = true;
        if (word->choices)
            return parse_choice(word, equals + 1, value);
        return word->thousandths ? parse_thousandths(word, equals + 1, value)
                                 : parse_number(word, equals + 1, value);
    }
    return error_make("network: unknown word \"%s\"", text);
}

/* "cnn, fcn or resnet". */
static void list_families(char *text, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < FAMILIES; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0              ? ""
                                 : i + 1 == FAMILIES ? " or "
                                                     : ", ",
                                 families[i]->name);
}

static struct error *find_family(const char *name, const struct family **family)
{
    char names[128];

    for (size_t i = 0; name && i < FAMILIES; i++)
        if (strcmp(name, families[i]->name) == 0) {
            *family = families[i];
            return NULL;
        }
    list_families(names, sizeof names);
    return error_make("network: expected a description that begins with %s, got \"%s\"", names,
                      name ? name : "");
}

static struct error *check_odd(const struct architecture *architecture)
{
    const struct word *word;
    size_t *value;

    for (size_t i = 0; (word = word_at(architecture, i, &value)); i++)
        if (word->odd && *value % 2 == 0)
            return error_make("network: %s=%zu: expected an odd number", word->name, *value);
    return NULL;
}

struct error *architecture_parse(const char *text, struct architecture *architecture)
{
    const struct family *family = NULL;
    struct architecture parsed;
    bool seen[ARCHITECTURE_WORDS + DATA_WORDS] = {false};
    char copy[4 * ARCHITECTURE_TEXT], *rest, *token;

    if (strlen(text) >= sizeof copy)
        return error_make("network: description is too long");
    strcpy(copy, text);
    TRY(find_family(strtok_r(copy, " \t\r\n", &rest), &family));
    parsed = default_of(family);
    while ((token = strtok_r(NULL, " \t\r\n", &rest)))
        TRY(parse_word(token, seen, &parsed));
    TRY(check_odd(&parsed));
    *architecture = parsed;
    return NULL;
}

/* ---- Writing and checking ---- */

void architecture_print(const struct architecture *architecture, char text[ARCHITECTURE_TEXT])
{
    const struct word *word;
    size_t *value, used;

    text[0] = '\0';
    if (!architecture->family)
        return;
    used = (size_t)snprintf(text, ARCHITECTURE_TEXT, "%s", architecture->family->name);
    for (size_t i = 0; (word = word_at(architecture, i, &value)); i++) {
        if ((is_of_data(word) && *value == 0) || (word->unwritten && *value == word->standard))
            continue;
        if (word->choices)
            used += (size_t)snprintf(text + used, ARCHITECTURE_TEXT - used, " %s=%s", word->name,
                                     word->choices[*value]);
        else if (word->thousandths)
            used += (size_t)snprintf(text + used, ARCHITECTURE_TEXT - used, " %s=%g", word->name,
                                     (double)*value / 1000);
        else
            used += (size_t)snprintf(text + used, ARCHITECTURE_TEXT - used, " %s=%zu", word->name,
                                     *value);
    }
}

struct error *architecture_check(const struct architecture *architecture)
{
    const struct word *word;
    size_t *value;

    for (size_t i = 0; (word = word_at(architecture, i, &value)); i++) {
        if (word->choices)
            continue;
        if (is_of_data(word) && *value == 0 && word->smallest > 0)
            return error_make("network: %s is not known", word->name);
        if (*value < word->smallest || *value > word->largest)
            return error_make("network: %s=%zu: expected a whole number from %zu to %zu",
                              word->name, *value, word->smallest, word->largest);
    }
    TRY(check_odd(architecture));
    return architecture->family->check ? architecture->family->check(architecture) : NULL;
}
