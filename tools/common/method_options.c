/* Methods that share a parameter share its option; where they differ in its meaning or default, the
 * help says which method does what. */
#include "common/method_options.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void append(char text[METHOD_HELP], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void append(char text[METHOD_HELP], const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, METHOD_HELP - used, format, arguments);
    va_end(arguments);
}

/* The method's parameter of this name, or NULL. */
static const struct match_parameter *parameter_of(const struct match_method *method,
                                                  const char *name)
{
    size_t i = match_parameter(method, name);

    return i == SIZE_MAX ? NULL : &method->parameters[i];
}

static const char *help_of(const struct match_parameter *parameter)
{
    return parameter->help;
}

/* The default in words; a number lasts until the second call after this one. */
static const char *default_of(const struct match_parameter *parameter)
{
    static char texts[2][32];
    static size_t calls;
    char *text = texts[calls++ % 2];

    if (parameter->recommend)
        return parameter->recommended;
    snprintf(text, sizeof texts[0], "%g", parameter->standard);
    return text;
}

/* Appends what `describe` gives for a parameter, once for all methods where it is the same: "A", or
 * "dc, dsa: A; mtt: B".  named: name the methods even where all that have the parameter agree,
 * unless these are all methods. */
static void append_descriptions(char text[METHOD_HELP], const char *name, bool named,
                                const char *(*describe)(const struct match_parameter *))
{
    bool described[METHOD_NAMES] = {false};
    size_t descriptions = 0;

    for (size_t i = 0; match_methods[i]; i++) {
        const struct match_parameter *parameter = parameter_of(match_methods[i], name);
        char users[METHOD_HELP] = "";
        bool all = true;

        if (!parameter || described[i])
            continue;
        for (size_t j = 0; match_methods[j]; j++) {
            const struct match_parameter *other = parameter_of(match_methods[j], name);

            if (other && strcmp(describe(other), describe(parameter)) == 0) {
                append(users, "%s%s", users[0] ? ", " : "", match_methods[j]->name);
                described[j] = true;
            } else if (other || named) {
                all = false;
            }
        }
        append(text, "%s%s%s%s", descriptions++ ? "; " : "", all ? "" : users, all ? "" : ": ",
               describe(parameter));
    }
}

static bool has_option(const struct cli_option *options, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(options[i].name, name) == 0)
            return true;
    return false;
}

static struct cli_option option_of(const struct match_parameter *parameter, size_t offset,
                                   char help[METHOD_HELP])
{
    append_descriptions(help, parameter->name, true, help_of);
    append(help, " [");
    append_descriptions(help, parameter->name, false, default_of);
    append(help, "]");
    return (struct cli_option){.letter = parameter->letter,
                               .name = parameter->name,
                               .argument = parameter->argument,
                               .type = parameter->whole ? CLI_SIZE : CLI_REAL,
                               .offset = offset,
                               .help = help,
                               .low = parameter->low,
                               .high = parameter->high};
}

void method_options_names(const char *names[METHOD_NAMES])
{
    size_t count = 0;

    for (; match_methods[count]; count++) {
        assert(count + 1 < METHOD_NAMES);
        names[count] = match_methods[count]->name;
    }
    names[count] = NULL;
}

void method_options_needs(unsigned needs, const char *what, char text[METHOD_HELP])
{
    for (size_t i = 0; match_methods[i]; i++)
        if (match_methods[i]->needs & needs)
            append(text, "%s%s", text[0] ? ", " : "", match_methods[i]->name);
    append(text, ": %s", what);
}

size_t method_options_make(struct cli_option *options, size_t offset, struct method_values *values)
{
    static char help[METHOD_PARAMETERS][METHOD_HELP];
    size_t count = 0;

    for (size_t i = 0; match_methods[i]; i++)
        for (const struct match_parameter *row = match_methods[i]->parameters; row->name; row++) {
            size_t member = row->whole ? offsetof(struct method_values, given[0].whole)
                                       : offsetof(struct method_values, given[0].real);

            if (has_option(options, count, row->name))
                continue;
            assert(count < METHOD_PARAMETERS);
            values->given[count].whole = MATCH_UNSET;
            values->given[count].real = NAN;
            options[count] =
                option_of(row, offset + member + count * sizeof values->given[0], help[count]);
            count++;
        }
    return count;
}

void method_options_apply(const struct cli_option *options, size_t count,
                          const struct method_values *values, struct match_options *match)
{
    for (size_t i = 0; i < count; i++) {
        bool whole = options[i].type == CLI_SIZE;

        if (whole ? values->given[i].whole == MATCH_UNSET : isnan(values->given[i].real))
            continue;
        if (!parameter_of(match->method, options[i].name))
            cli_usage("--%s does not apply to %s", options[i].name, match->method->name);
        match_set(match, options[i].name,
                  whole ? (double)values->given[i].whole : values->given[i].real);
    }
}
