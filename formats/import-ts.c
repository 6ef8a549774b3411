/* .ts files, as sktime and aeon have them: a header of lines that start with @, then one series in
 * a line, its channels separated by colons, the label after the last one.
 *
 *     @problemName Moves
 *     @univariate false
 *     @dimension 2
 *     @classLabel true still walking
 *     @data
 *     0.1,0.2,0.3:1,2,3:still */
#include "formats/import-internal.h"

#include <string.h>

#include "base/number.h"

/* The next word of a line; empty at its end. */
static void next_word(const char **text, const char *end, const char **start, const char **stop)
{
    while (*text < end && (**text == ' ' || **text == '\t' || **text == '\r'))
        ++*text;
    *start = *text;
    while (*text < end && **text != ' ' && **text != '\t' && **text != '\r')
        ++*text;
    *stop = *text;
}

static struct error *parse_flag(const char *keyword, const char *start, const char *end, bool *flag)
{
    char shown[64];

    *flag = import_is_word(start, end, "true");
    if (*flag || import_is_word(start, end, "false"))
        return NULL;
    import_quote(start, end, shown);
    return error_make("%s must be true or false, not %s", keyword, shown);
}

static struct error *parse_count(const char *keyword, const char *start, const char *end,
                                 size_t *count)
{
    char shown[64];
    double number;

    import_quote(start, end, shown);
    if (number_parse(start, end, &number) != end || start == end || !(number >= 1) ||
        number > 1e9 || number != (double)(size_t)number)
        return error_make("%s must be a whole number from 1, not %s", keyword, shown);
    *count = (size_t)number;
    return NULL;
}

static struct error *parse_labels(struct import_source *source, const char *text, const char *end)
{
    const char *start, *stop;

    next_word(&text, end, &start, &stop);
    TRY(parse_flag("@classLabel", start, stop, &source->syntax.labelled));
    if (!source->syntax.labelled)
        return NULL;
    for (next_word(&text, end, &start, &stop); start < stop; next_word(&text, end, &start, &stop))
        TRY(import_declare(source, start, (size_t)(stop - start)));
    return NULL;
}

/* A line of the header.  *data is set when the data follow it. */
static struct error *parse_header(struct import_source *source, const char *line, const char *end,
                                  bool *data)
{
    const char *text = line, *keyword, *keyword_end, *start, *stop;
    struct import_syntax *syntax = &source->syntax;
    char shown[64];
    bool flag;

    next_word(&text, end, &keyword, &keyword_end);
    import_quote(keyword, keyword_end, shown);
    if (keyword == keyword_end || *keyword != '@')
        return error_make("%s before @data", shown);
    if (import_is_word(keyword, keyword_end, "@classLabel"))
        return parse_labels(source, text, end);
    next_word(&text, end, &start, &stop);
    if (import_is_word(keyword, keyword_end, "@data")) {
        *data = true;
    } else if (import_is_word(keyword, keyword_end, "@timestamps")) {
        TRY(parse_flag("@timeStamps", start, stop, &flag));
        if (flag)
            return error_make("series with time stamps cannot be read");
    } else if (import_is_word(keyword, keyword_end, "@targetlabel")) {
        TRY(parse_flag("@targetLabel", start, stop, &flag));
        if (flag)
            return error_make("@targetLabel: values to predict are not classes");
    } else if (import_is_word(keyword, keyword_end, "@univariate")) {
        TRY(parse_flag("@univariate", start, stop, &flag));
        if (flag)
            syntax->channels = 1;
    } else if (import_is_word(keyword, keyword_end, "@dimension") ||
               import_is_word(keyword, keyword_end, "@dimensions")) {
        TRY(parse_count("@dimension", start, stop, &syntax->channels));
    } else if (import_is_word(keyword, keyword_end, "@serieslength")) {
        TRY(parse_count("@seriesLength", start, stop, &syntax->steps));
        syntax->header = "@seriesLength";
    }
    /* @problemName, @missing, @equalLength and keywords yet to come say nothing that is needed. */
    return NULL;
}

static struct error *parse_line(struct import_chunk *chunk, const char *line, const char *end)
{
    const struct import_syntax *syntax = &chunk->source->syntax;
    const char *label = NULL, *label_end = end;

    if (syntax->labelled) {
        label = memrchr(line, ':', (size_t)(end - line));
        if (!label)
            return error_make("no ':' before a label");
        end = label++;
        import_trim(&label, &label_end);
    }
    for (size_t channel = 1;; channel++) {
        const char *colon = memchr(line, ':', (size_t)(end - line));
        struct error *error;
        char where[48];

        error = import_channel(chunk, line, colon ? colon : end, "value", 1);
        if (error) {
            snprintf(where, sizeof where, "channel %zu", channel);
            return error_in(where, error);
        }
        if (!colon)
            break;
        line = colon + 1;
    }
    return import_end_row(chunk, label, (size_t)(label_end - label));
}

struct error *import_ts(struct import_source *source, const char *bytes, size_t size,
                        const char *labels)
{
    const char *text = bytes, *end = bytes + size, *line, *line_end;
    size_t number = 1;
    bool data = false;

    (void)labels;
    source->syntax = (struct import_syntax){.separator = ',', .comments = "#%"};
    for (; !data && import_next_line(&text, end, &line, &line_end); number++) {
        import_trim(&line, &line_end);
        if (line < line_end && *line != '#' && *line != '%')
            TRY(import_at_line(source, number, parse_header(source, line, line_end, &data)));
    }
    if (!data)
        return error_in(source->name, error_make("no @data line"));
    return import_lines(source, text, end, number, bytes, parse_line);
}
