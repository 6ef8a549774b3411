/* Weka's .arff.  Plain: a numeric attribute for each step and a class attribute, first or last.
 * Relational, as the UEA archive has its multivariate datasets: one relational attribute that holds
 * all channels of a series in quotes, separated by \n, and the class attribute.
 *
 *     @relation Moves
 *     @attribute series relational
 *       @attribute step0 numeric
 *       @attribute step1 numeric
 *     @end series
 *     @attribute activity {still,walking}
 *     @data
 *     '0.1,0.2\n1,2',still */
#include "formats/import-internal.h"

#include <stdlib.h>
#include <string.h>

struct header {
    bool in_relation;      /* between a relational attribute and its @end */
    size_t attributes;     /* outside of it */
    size_t steps;          /* numeric ones, outside or inside */
    size_t class_position; /* from 1; 0 when there is none */
    bool relational;
    bool last_is_named_class; /* the last attribute is called class, label or target */
};

/* A name, which may be quoted, or the part of a line up to white space. */
static void next_name(const char **text, const char *end, const char **start, const char **stop)
{
    import_trim(text, &end);
    *start = *text;
    if (*text < end && (**text == '\'' || **text == '"')) {
        const char quote = **text;

        for (++*text; *text < end && **text != quote; ++*text) {
            if (**text == '\\' && *text + 1 < end)
                ++*text;
        }
        *text += *text < end;
    } else {
        while (*text < end && **text != ' ' && **text != '\t' && **text != '{')
            ++*text;
    }
    *stop = *text;
}

/* The labels between { and }. */
static struct error *parse_labels(struct import_source *source, const char *text, const char *end)
{
    if (end[-1] != '}')
        return error_make("no } after the list of labels");
    end--;
    text++;
    while (text < end) {
        const char *start = text;
        struct error *error;
        size_t length;
        char *label, quote = '\0';

        for (; text < end && (quote || *text != ','); text++) {
            if (*text == '\\' && text + 1 < end)
                text++;
            else if (quote ? *text == quote : *text == '\'' || *text == '"')
                quote = quote ? '\0' : *text;
        }
        TRY(import_unquote(start, text, '\\', &label, &length));
        error = length ? import_declare(source, label, length) : NULL;
        free(label);
        TRY(error);
        text++;
    }
    return NULL;
}

static bool is_any(const char *start, const char *end, const char *const *words)
{
    for (; *words; words++) {
        if (import_is_word(start, end, *words))
            return true;
    }
    return false;
}

/* "@attribute NAME TYPE", from after the first word. */
static struct error *parse_attribute(struct import_source *source, struct header *header,
                                     const char *text, const char *end)
{
    static const char *const numeric[] = {"numeric", "real", "integer", NULL};
    static const char *const class_names[] = {"class", "label", "target", NULL};
    const char *name, *name_end;
    char shown[64];
    bool is_class;

    next_name(&text, end, &name, &name_end);
    import_trim(&text, &end);
    import_quote(text, end, shown);
    if (text == end)
        return error_make("an attribute without a type");
    is_class = *text == '{' || import_is_word(text, end, "string");
    if (header->in_relation) {
        if (!is_any(text, end, numeric))
            return error_make("attribute of type %s among the steps of a series", shown);
        header->steps++;
        return NULL;
    }
    header->attributes++;
    header->last_is_named_class = is_any(name, name_end, class_names);
    if (is_class) {
        if (header->class_position)
            return error_make("a second attribute that is not numeric");
        header->class_position = header->attributes;
        return *text == '{' ? parse_labels(source, text, end) : NULL;
    }
    if (import_is_word(text, end, "relational")) {
        if (header->relational || header->steps)
            return error_make("a relational attribute beside other series");
        header->relational = header->in_relation = true;
    } else if (is_any(text, end, numeric)) {
        header->steps++;
    } else {
        return error_make("attribute of type %s, which is not one of: numeric, {...}, relational",
                          shown);
    }
    return NULL;
}

static struct error *parse_header(struct import_source *source, struct header *header,
                                  const char *line, const char *end, bool *data)
{
    const char *text = line, *keyword, *stop;
    char shown[64];

    next_name(&text, end, &keyword, &stop);
    import_quote(keyword, stop, shown);
    if (import_is_word(keyword, stop, "@attribute"))
        return parse_attribute(source, header, text, end);
    if (import_is_word(keyword, stop, "@end"))
        header->in_relation = false;
    else if (import_is_word(keyword, stop, "@data"))
        *data = true;
    else if (!import_is_word(keyword, stop, "@relation"))
        return error_make("%s is not one of: @relation, @attribute, @end, @data", shown);
    return NULL;
}

/* What the header means for the rows. */
static struct error *settle(struct import_source *source, struct header *header)
{
    struct import_syntax *syntax = &source->syntax;
    const enum import_label label = source->options->label;

    if (header->in_relation)
        return error_make("a relational attribute without its @end");
    if (label == IMPORT_LABEL_NONE && header->class_position)
        return error_make("--label=none, but the rows have labels");
    if (!header->class_position && !header->relational && label != IMPORT_LABEL_NONE) {
        /* Classes that are declared as numbers. */
        if (label != IMPORT_LABEL_LAST && !header->last_is_named_class)
            return error_make("no attribute is a class ({...}); --label says where the labels are");
        header->class_position = header->attributes;
        header->steps -= header->steps > 0;
    }
    syntax->labelled = header->class_position > 0;
    syntax->label_last = header->class_position == header->attributes;
    if (syntax->labelled && header->class_position > 1 && !syntax->label_last)
        return error_make("the class must be the first or the last attribute");
    if (header->relational && header->attributes > 1 + (size_t)syntax->labelled)
        return error_make("more attributes than the series and a class");
    syntax->relational = header->relational;
    syntax->steps = header->steps;
    syntax->header = "the header";
    syntax->columns = header->relational ? 0 : syntax->labelled && !syntax->label_last ? 2 : 1;
    return NULL;
}

/* Where the field ends that starts here, and what it is without the comma. */
static const char *field_end(const char *text, const char *end)
{
    char quote = '\0';

    for (; text < end && (quote || *text != ','); text++) {
        if (*text == '\\' && text + 1 < end)
            text++;
        else if (quote ? *text == quote : *text == '\'' || *text == '"')
            quote = quote ? '\0' : *text;
    }
    return text;
}

/* The start of the last field. */
static const char *last_field(const char *line, const char *end)
{
    const char *comma;

    while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    /* Quotes may protect commas: then the line is scanned from its start. */
    if (end > line && (end[-1] == '\'' || end[-1] == '"')) {
        const char *start = line;

        for (const char *next = line; (next = field_end(next, end)) < end; start = ++next)
            continue;
        return start;
    }
    comma = memrchr(line, ',', (size_t)(end - line));
    return comma ? comma + 1 : line;
}

/* "'1,2\n3,4'": the channels of one series. */
static struct error *parse_relation(struct import_chunk *chunk, const char *text, const char *end)
{
    import_trim(&text, &end);
    if (end - text < 2 || (*text != '\'' && *text != '"') || end[-1] != *text)
        return error_make("the series must be in quotes");
    text++;
    end--;
    for (size_t channel = 1;; channel++) {
        const char *stop = memmem(text, (size_t)(end - text), "\\n", 2);
        struct error *error;
        char where[48];

        error = import_channel(chunk, text, stop ? stop : end, "value", 1);
        if (error) {
            snprintf(where, sizeof where, "channel %zu", channel);
            return error_in(where, error);
        }
        /* A \n after the last channel is fine as well. */
        if (!stop || stop + 2 == end)
            return NULL;
        text = stop + 2;
    }
}

static struct error *parse_line(struct import_chunk *chunk, const char *line, const char *end)
{
    const struct import_syntax *syntax = &chunk->source->syntax;
    const char *label = end, *label_end = end, *values = line, *values_end = end;
    struct error *error;
    size_t length;
    char *text;

    if (line[strspn(line, " \t")] == '{')
        return error_make("sparse rows cannot be read");
    if (syntax->labelled && syntax->label_last) {
        label = last_field(line, end);
        values_end = label > line ? label - 1 : line;
    } else if (syntax->labelled) {
        label = line;
        label_end = field_end(line, end);
        values = label_end < end ? label_end + 1 : end;
    }
    if (syntax->relational)
        TRY(parse_relation(chunk, values, values_end));
    else
        TRY(import_channel(chunk, values, values_end, "column", syntax->columns));
    if (!syntax->labelled)
        return import_end_row(chunk, NULL, 0);
    TRY(import_unquote(label, label_end, '\\', &text, &length));
    error = import_end_row(chunk, text, length);
    free(text);
    return error;
}

struct error *import_arff(struct import_source *source, const char *bytes, size_t size,
                          const char *labels)
{
    const char *text = bytes, *end = bytes + size, *line, *line_end;
    struct header header = {0};
    size_t number = 1;
    bool data = false;

    (void)labels;
    source->syntax = (struct import_syntax){.separator = ',', .comments = "%", .quotes = true};
    for (; !data && import_next_line(&text, end, &line, &line_end); number++) {
        import_trim(&line, &line_end);
        if (line < line_end && *line != '%')
            TRY(import_at_line(source, number,
                               parse_header(source, &header, line, line_end, &data)));
    }
    if (!data)
        return error_in(source->name, error_make("no @data line"));
    TRY(error_in(source->name, settle(source, &header)));
    return import_lines(source, text, end, number, bytes, parse_line);
}
