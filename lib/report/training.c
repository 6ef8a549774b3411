#include "report/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "report/html.h"

/* ---- Learning curves ---- */

/* Its last number and the range of all; false if there is none. */
static bool column_range(const double *values, size_t rows, double *last, struct html_scale *scale)
{
    double low = INFINITY, high = -INFINITY, margin;

    for (size_t i = 0; i < rows; i++) {
        if (!isfinite(values[i]))
            continue;
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
        *last = values[i];
    }
    margin = fmax(0.05 * (high - low), 1e-9);
    *scale = (struct html_scale){rows, low - margin, high + margin};
    return low <= high;
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
            drawn[i] = (float)(isfinite(values[i]) ? values[i] : i ? (double)drawn[i - 1] : last);
        fprintf(stream,
                "<div class=\"panel\"><svg class=\"k%zu tall\" viewBox=\"0 0 100 100\" "
                "preserveAspectRatio=\"none\" role=\"img\">",
                (column - 1) % 8);
        html_curve(stream, &scale, "own", drawn, 0, table->rows);
        fputs("</svg><small>", stream);
        html_text(stream, curve->name);
        fputs(": ", stream);
        html_text(stream, table->names[column]);
        fputs(" by ", stream);
        html_text(stream, table->names[0]);
        fprintf(stream, "<br>%.4g at the end, from %.4g to %.4g</small></div>", last,
                scale.low + 0.05 / 1.1 * (scale.high - scale.low),
                scale.high - 0.05 / 1.1 * (scale.high - scale.low));
    }
    free(drawn);
    return NULL;
}

struct error *write_curves(FILE *stream, const struct report_curve *curves, size_t count)
{
    fputs("<h2>Learning curves</h2>\n<div class=\"panels large\">", stream);
    for (size_t i = 0; i < count; i++)
        for (size_t column = 1; column < curves[i].table.columns; column++)
            TRY(write_curve(stream, &curves[i], column));
    fputs("</div>\n", stream);
    return NULL;
}

/* ---- Time of the stages ---- */

struct stage {
    const char *command; /* within the log */
    int length;          /* of its program */
    double seconds;
};

/* The third field and the first word of the fourth. */
static bool parse_stage(const char *line, const char *end, struct stage *stage)
{
    for (int tabs = 0; tabs < 2; tabs++) {
        line = memchr(line, '\t', (size_t)(end - line));
        if (!line)
            return false;
        line++;
    }
    stage->command = memchr(line, '\t', (size_t)(end - line));
    if (!stage->command || number_parse(line, stage->command, &stage->seconds) != stage->command ||
        !(stage->seconds >= 0))
        return false;
    stage->command++;
    for (stage->length = 0;
         stage->command + stage->length < end && stage->command[stage->length] != ' ';)
        stage->length++;
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

static void write_stage(FILE *stream, const char *name, double seconds, double most)
{
    fputs("<div>", stream);
    html_text(stream, name);
    fprintf(stream,
            "</div><div class=\"track\"><span class=\"fill\" style=\"width:%.2f%%\"></span></div>"
            "<div class=\"n\">%.1f&thinsp;s</div>\n",
            100 * seconds / most, seconds);
}

struct error *write_times(FILE *stream, const char *log, size_t size)
{
    struct stage stages[MOST_STAGES];
    size_t count = parse_stages(log, size, stages);
    double total = 0, most = 1e-9, others = 0;

    if (count == 0)
        return error_make("not a log of commands that shapecond has written");
    for (size_t i = 0; i < count; i++) {
        total += stages[i].seconds;
        most = fmax(most, stages[i].seconds);
    }
    fprintf(stream,
            "<h2>Time</h2>\n<p>The stages that took longest, of %.0f seconds in all.</p>\n"
            "<div class=\"scores\">",
            total);
    for (size_t i = 0; i < count; i++) {
        char name[64];

        snprintf(name, sizeof name, "%.*s", stages[i].length, stages[i].command);
        if (stages[i].seconds < 0.01 * total)
            others += stages[i].seconds;
        else
            write_stage(stream, name, stages[i].seconds, most);
    }
    write_stage(stream, "all others", others, most);
    fputs("</div>\n", stream);
    return NULL;
}
