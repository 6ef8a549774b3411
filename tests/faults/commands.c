#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    const char *path;
    size_t line;
    const char *inputs, *tests;
};

static void refuse(const struct place *place, const char *why)
{
    fprintf(stderr, "%s:%zu: %s\n", place->path, place->line, why);
    exit(2);
}

/* The word with {in} and {tests} replaced, malloc'ed. */
static char *expand(const struct place *place, const char *word)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    while (stream && *word) {
        if (strncmp(word, "{in}", 4) == 0) {
            fputs(place->inputs, stream);
            word += 4;
        } else if (strncmp(word, "{tests}", 7) == 0) {
            fputs(place->tests, stream);
            word += 7;
        } else {
            fputc(*word++, stream);
        }
    }
    if (!stream || fclose(stream) || !text)
        refuse(place, "out of memory");
    return text;
}

/* Cuts the next word off the line; NULL at its end. */
static char *next_word(const struct place *place, char **rest)
{
    char *start = *rest + strspn(*rest, " \t\n"), *end;

    if (!*start)
        return NULL;
    if (*start == '\'') {
        end = strchr(++start, '\'');
        if (!end)
            refuse(place, "a quote is not closed");
    } else {
        end = start + strcspn(start, " \t\n");
    }
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return expand(place, start);
}

static void take_output(const struct place *place, char *word, struct command *command)
{
    if (word[0] == '^')
        command->checkpoint = word + 1;
    else if (word[0] == '+')
        command->folder = word + 1;
    else if (command->output_count == COMMAND_MOST_OUTPUTS)
        refuse(place, "too many outputs");
    else {
        command->grows[command->output_count] = word[0] == '~';
        command->outputs[command->output_count++] = word + (word[0] == '~');
    }
}

static void parse(const struct place *place, char *line, struct command *command)
{
    char *colon = strchr(line, ':'), *slash, *rest, *word;
    bool after_arrow = false;

    *command = (struct command){0};
    if (!colon)
        refuse(place, "no name and colon");
    *colon = '\0';
    slash = strchr(line, '/');
    if (slash)
        *slash = '\0';
    command->slow = slash ? strtoul(slash + 1, NULL, 10) : 1;
    command->name = strdup(line);
    rest = colon + 1;
    while ((word = next_word(place, &rest))) {
        if (strcmp(word, "=>") == 0)
            after_arrow = true;
        else if (after_arrow)
            take_output(place, word, command);
        else if (strcmp(word, "<") == 0)
            command->input = next_word(place, &rest);
        else if (command->word_count == COMMAND_MOST_WORDS - 3)
            refuse(place, "too many words");
        else
            command->words[command->word_count++] = word;
    }
    if (!command->name || !command->word_count || !command->slow)
        refuse(place, "no command");
}

size_t commands_read(const char *path, const char *inputs, const char *tests,
                     struct command commands[COMMAND_MOST])
{
    struct place place = {path, 0, inputs, tests};
    FILE *stream = fopen(path, "r");
    char line[4096];
    size_t count = 0;

    if (!stream) {
        perror(path);
        exit(2);
    }
    while (fgets(line, sizeof line, stream)) {
        place.line++;
        if (line[strspn(line, " \t\n")] == '\0' || line[0] == '#')
            continue;
        if (count == COMMAND_MOST)
            refuse(&place, "too many commands");
        parse(&place, line, &commands[count++]);
    }
    fclose(stream);
    return count;
}
