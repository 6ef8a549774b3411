#include "report/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "report/html.h"

/* ---- Learning curves ---- */

/* What can be drawn: others are gaps. */
static bool is_drawn(double value)
{
    return isfinite((float)value);
}

/* Its last number and the range of all; false if there is none. */
static bool column_range(const double *values, size_t rows, double *last, struct html_scale *scale)
{
    double low = INFINITY, high = -INFINITY, margin;

    for (size_t i = 0; i < rows; i++) {
        if (!is_drawn(values[i]))
            continue;
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
        *last = values[i];
    }
    margin = fmax(0.05 * (high - low), 1e-9 * fmax(1, fabs(high)));
    *scale = (struct html_scale){rows, low - margin, high + margin};
    return low <= high;
}

/* The numbers at the ends of the horizontal axis, if the rows are evenly spaced on it: then the
 * page's script can name the one under the cursor. */
static void write_axis(FILE *stream, const struct table *table)
{
    const double first = table->values[0], last = table->values[table->rows - 1];

    for (size_t i = 0; i < table->rows; i++) {
        double even = table->rows > 1
                          ? first + (last - first) * (double)i / (double)(table->rows - 1)
                          : first;

        if (!(fabs(table->values[i] - even) <= 1e-6 * fmax(1, fabs(even))))
            return;
    }
    fprintf(stream, " data-x=\"%.6g %.6g ", first, last);
    html_text(stream, table->names[0]);
    fputc('"', stream);
}

/* "validation_loss" as "validation loss". */
static void write_words(FILE *stream, const char *name)
{
    char words[64];

    snprintf(words, sizeof words, "%s", name);
    for (char *c = words; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    html_text(stream, words);
}

static struct error *write_curve(FILE *stream, const struct report_curve *curve, size_t column)
{
    const struct table *table = &curve->table;
    const double *values = table->values + column * table->rows;
    float *drawn = malloc((table->rows + 1) * sizeof *drawn);
    struct html_scale scale;
    double last = 0;

    if (!drawn)
        return error_memory("the report");
    if (column_range(values, table->rows, &last, &scale)) {
        for (size_t i = 0; i < table->rows; i++)
            drawn[i] = (float)(is_drawn(values[i]) ? values[i] : i ? (double)drawn[i - 1] : last);
        fprintf(stream,
                "<div class=\"panel\"><svg class=\"k%zu tall\" viewBox=\"0 0 100 100\" "
                "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
                (column - 1) % 8);
        html_text(stream, table->names[column]);
        fputc('"', stream);
        html_scale(stream, &scale);
        write_axis(stream, table);
        fputc('>', stream);
        html_curve(stream, &scale, "own", table->names[column], drawn, 0, table->rows);
        fputs("</svg><small>", stream);
        html_text(stream, curve->name);
        fputs(": ", stream);
        write_words(stream, table->names[column]);
        fputs(" by ", stream);
        html_text(stream, table->names[0]);
        fprintf(stream, "<br>%.4g at the end, from %.4g to %.4g</small></div>", last,
                scale.low + 0.05 / 1.1 * (scale.high - scale.low),
                scale.high - 0.05 / 1.1 * (scale.high - scale.low));
    }
    free(drawn);
    return NULL;
}

struct error *training_write_curves(FILE *stream, const struct report_curve *curves, size_t count)
{
    fputs("<h2>Learning curves</h2>\n<p>Each on a scale of its own, which its caption "
          "names.</p>\n<div class=\"panels large\">",
          stream);
    for (size_t i = 0; i < count; i++)
        for (size_t column = 1; column < curves[i].table.columns; column++)
            TRY(write_curve(stream, &curves[i], column));
    fputs("</div>\n", stream);
    return NULL;
}

/* ---- Stages ---- */

struct stage {
    const char *command; /* within the log */
    int length;          /* of its program */
    const char *output;  /* the file that it wrote, without its folder; NULL: not known */
    int output_length;
    double seconds, bytes;
};

static int word_length(const char *word, const char *end)
{
    int length = 0;

    while (word + length < end && word[length] != ' ')
        length++;
    return length;
}

/* A program that ran twice is told apart by what it wrote. */
static void find_output(struct stage *stage, const char *end)
{
    const char *option =
        memmem(stage->command, (size_t)(end - stage->command), " -o ", strlen(" -o "));

    stage->output = option ? option + strlen(" -o ") : NULL;
    if (!option)
        return;
    stage->output_length = word_length(stage->output, end);
    for (const char *slash;
         (slash = memchr(stage->output, '/', (size_t)stage->output_length)) != NULL;) {
        stage->output_length -= (int)(slash + 1 - stage->output);
        stage->output = slash + 1;
    }
}

/* Seconds, bytes and the command, with tabs between. */
static bool parse_stage(const char *line, const char *end, struct stage *stage)
{
    const char *first = memchr(line, '\t', (size_t)(end - line));
    const char *second = first ? memchr(first + 1, '\t', (size_t)(end - first - 1)) : NULL;

    if (!second || number_parse(line, first, &stage->seconds) != first ||
        number_parse(first + 1, second, &stage->bytes) != second ||
        !(stage->seconds >= 0 && stage->seconds <= 1e12) ||
        !(stage->bytes >= 0 && stage->bytes < 1e15))
        return false;
    stage->command = second + 1;
    stage->length = word_length(stage->command, end);
    find_output(stage, end);
    return true;
}

enum { MOST_STAGES = 200 };

static size_t parse_stages(const char *log, size_t size, struct stage stages[MOST_STAGES])
{
    const char *end = log + size;
    size_t count = 0;

    while (log < end && count < MOST_STAGES) {
        const char *newline = memchr(log, '\n', (size_t)(end - log));

        newline = newline ? newline : end;
        count += parse_stage(log, newline, &stages[count]);
        log = newline + 1;
    }
    return count;
}

static void write_stage(FILE *stream, const struct stage *stage, double most)
{
    char name[256];

    snprintf(name, sizeof name, "%.*s", stage->length, stage->command);
    fputs("<div>", stream);
    html_text(stream, name);
    if (stage->output) {
        snprintf(name, sizeof name, "%.*s", stage->output_length, stage->output);
        fputs(" <small>", stream);
        html_text(stream, name);
        fputs("</small>", stream);
    }
    fprintf(stream,
            "</div><div class=\"track\"><span class=\"fill\" style=\"width:%.2f%%\"></span></div>"
            "<div class=\"n\">%.1f&thinsp;s</div><div class=\"n\">",
            100 * stage->seconds / most, stage->seconds);
    html_bytes(stream, (size_t)stage->bytes);
    fputs("</div>\n", stream);
}

/* "92 seconds", "12 minutes" */
static void write_duration(FILE *stream, double seconds)
{
    if (seconds < 120)
        fprintf(stream, "%.0f seconds", seconds);
    else
        fprintf(stream, "%.0f minutes", seconds / 60);
}

struct error *training_check_stages(const char *log, size_t size)
{
    struct stage stages[MOST_STAGES];

    if (parse_stages(log, size, stages) == 0)
        return error_make("not a list of stages that shapecond has written");
    return NULL;
}

void training_write_stages(FILE *stream, const char *log, size_t size)
{
    struct stage stages[MOST_STAGES];
    size_t count = parse_stages(log, size, stages);
    double total = 0, most = 1e-9;

    for (size_t i = 0; i < count; i++) {
        total += stages[i].seconds;
        most = fmax(most, stages[i].seconds);
    }
    fputs("<h2>Stages</h2>\n<p>How long each program ran, and how many bytes it wrote; ", stream);
    write_duration(stream, total);
    fputs(" in all.</p>\n<div class=\"scores stages\">", stream);
    for (size_t i = 0; i < count; i++)
        write_stage(stream, &stages[i], most);
    fputs("</div>\n", stream);
}
