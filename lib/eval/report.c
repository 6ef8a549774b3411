/* Columns are numbered, so that rows, means and deviations come from the same loop: first those of
 * `headings`, then the recall of each class. */
#include "eval/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/file.h"
#include "eval/metrics.h"

enum column { ACCURACY, RATIO, MACRO_F1, VALIDATION, EPOCH, RECALL };
static const char *const headings[] = {"accuracy", "ratio", "macro_f1", "validation", "epoch"};

static size_t columns_of(const struct report *report)
{
    return RECALL + report->scores[0].classes;
}

/* All in percent but the epoch. */
static double value_of(const struct report *report, size_t index, size_t column)
{
    const struct score *score = &report->scores[index];

    switch (column) {
    case ACCURACY:
        return 100 * score->accuracy;
    case RATIO:
        return 100 * score->accuracy / report->full;
    case MACRO_F1:
        return 100 * score->macro_f1;
    case VALIDATION:
        return report->students ? 100 * score->training.validation_accuracy : NAN;
    case EPOCH:
        return report->students ? (double)score->training.best_epoch : NAN;
    default:
        return 100 * metrics_recall(score->confusion, score->classes, column - RECALL);
    }
}

/* Mean and deviation of a column; Welford's way needs no copy of it. */
static void summarise(const struct report *report, size_t column, double *mean, double *deviation)
{
    double squares = 0;

    *mean = 0;
    for (size_t i = 0; i < report->count; i++) {
        double value = value_of(report, i, column), before = value - *mean;

        *mean += before / (double)(i + 1);
        squares += before * (value - *mean);
    }
    *deviation = report->count > 1 ? sqrt(squares / (double)(report->count - 1)) : 0 * *mean;
}

/* ---- Table ---- */

static void write_name(FILE *stream, const struct report *report, size_t label)
{
    if (report->names)
        text_write(stream, report->names[label], strlen(report->names[label]));
    else
        fprintf(stream, "%zu", label);
}

static void write_value(FILE *stream, double value, bool whole)
{
    if (isnan(value))
        fputs("\t-", stream);
    else
        fprintf(stream, whole ? "\t%.0f" : "\t%.2f", value);
}

static void write_heading(FILE *stream, const struct report *report)
{
    fputs("seed", stream);
    for (size_t column = 0; column < RECALL; column++)
        fprintf(stream, "\t%s", headings[column]);
    for (size_t label = 0; label < report->scores[0].classes; label++) {
        fputs("\trecall:", stream);
        write_name(stream, report, label);
    }
    fputc('\n', stream);
}

static void write_rows(FILE *stream, const struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        if (report->students)
            fprintf(stream, "%llu", (unsigned long long)(report->first_seed + i));
        else
            fputc('-', stream);
        for (size_t column = 0; column < columns_of(report); column++)
            write_value(stream, value_of(report, i, column), column == EPOCH);
        fputc('\n', stream);
    }
}

static void write_summary(FILE *stream, const struct report *report, bool deviations)
{
    fputs(deviations ? "deviation" : "mean", stream);
    for (size_t column = 0; column < columns_of(report); column++) {
        double mean, deviation;

        summarise(report, column, &mean, &deviation);
        write_value(stream, deviations ? deviation : mean, column == EPOCH);
    }
    fputc('\n', stream);
}

/* How often a true class was taken for another, over all scores. */
static size_t confused(const struct report *report, size_t label, size_t predicted)
{
    size_t sum = 0;

    for (size_t i = 0; i < report->count; i++)
        sum += report->scores[i].confusion[label * report->scores[i].classes + predicted];
    return sum;
}

static void write_confusion(FILE *stream, const struct report *report)
{
    size_t classes = report->scores[0].classes;

    fputs("\ntrue", stream);
    for (size_t label = 0; label < classes; label++) {
        fputs("\tas:", stream);
        write_name(stream, report, label);
    }
    fputc('\n', stream);
    for (size_t label = 0; label < classes; label++) {
        write_name(stream, report, label);
        for (size_t predicted = 0; predicted < classes; predicted++)
            fprintf(stream, "\t%zu", confused(report, label, predicted));
        fputc('\n', stream);
    }
}

void report_write_table(FILE *stream, const struct report *report, bool confusion)
{
    write_heading(stream, report);
    write_rows(stream, report);
    write_summary(stream, report, false);
    write_summary(stream, report, true);
    if (confusion)
        write_confusion(stream, report);
}

/* ---- JSON ---- */

static void write_json_score(struct json *json, const struct report *report, size_t index)
{
    const struct score *score = &report->scores[index];

    json_open(json, NULL, '{');
    if (report->students)
        json_size(json, "seed", report->first_seed + index);
    else
        json_null(json, "seed");
    for (size_t column = 0; column < RECALL; column++)
        json_real(json, headings[column], value_of(report, index, column));
    json_open_row(json, "recall", '[');
    for (size_t label = 0; label < score->classes; label++)
        json_real(json, NULL, value_of(report, index, RECALL + label));
    json_close(json, ']');
    json_open(json, "confusion", '[');
    for (size_t label = 0; label < score->classes; label++) {
        json_open_row(json, NULL, '[');
        for (size_t predicted = 0; predicted < score->classes; predicted++)
            json_size(json, NULL, score->confusion[label * score->classes + predicted]);
        json_close(json, ']');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void write_json_summary(struct json *json, const struct report *report, bool deviations)
{
    double mean, deviation;

    json_open(json, deviations ? "deviation" : "mean", '{');
    for (size_t column = 0; column < RECALL; column++) {
        summarise(report, column, &mean, &deviation);
        json_real(json, headings[column], deviations ? deviation : mean);
    }
    json_open_row(json, "recall", '[');
    for (size_t column = RECALL; column < columns_of(report); column++) {
        summarise(report, column, &mean, &deviation);
        json_real(json, NULL, deviations ? deviation : mean);
    }
    json_close(json, ']');
    json_close(json, '}');
}

void report_write_json(FILE *stream, const struct report *report)
{
    struct json json = {.stream = stream};
    size_t classes = report->scores[0].classes;

    json_open(&json, NULL, '{');
    json_real(&json, "full", 100 * report->full);
    json_open_row(&json, "classes", '[');
    for (size_t label = 0; label < classes; label++) {
        if (report->names)
            json_text(&json, NULL, report->names[label], strlen(report->names[label]));
        else
            json_size(&json, NULL, label);
    }
    json_close(&json, ']');
    write_json_summary(&json, report, false);
    write_json_summary(&json, report, true);
    json_open(&json, "confusion", '[');
    for (size_t label = 0; label < classes; label++) {
        json_open_row(&json, NULL, '[');
        for (size_t predicted = 0; predicted < classes; predicted++)
            json_size(&json, NULL, confused(report, label, predicted));
        json_close(&json, ']');
    }
    json_close(&json, ']');
    json_open(&json, "scores", '[');
    for (size_t i = 0; i < report->count; i++)
        write_json_score(&json, report, i);
    json_close(&json, ']');
    json_close(&json, '}');
}

/* ---- Full accuracy ---- */

/* The second field of the line that starts with "mean". */
static struct error *find_mean(char *text, double *percent)
{
    char *rest = text;
    const char *line = strsep(&rest, "\n");

    if (strncmp(line, "seed\taccuracy\t", 14) == 0) {
        while ((line = strsep(&rest, "\n"))) {
            if (strncmp(line, "mean\t", 5) == 0) {
                *percent = strtod(line + 5, NULL);
                return NULL;
            }
        }
    }
    return error_make("not a table of sc-eval");
}

struct error *report_read_full(const char *text, double *full)
{
    char *end;
    double percent = strtod(text, &end);

    if (end == text || *end) {
        unsigned char *bytes;
        size_t size;
        struct error *error;

        TRY(error_in(file_shown(text), file_read(text, &bytes, &size)));
        error = memchr(bytes, 0, size) || size == 0 ? error_make("not a table of sc-eval") : NULL;
        if (!error) {
            bytes[size - 1] = '\0'; /* the end of the last line */
            error = find_mean((char *)bytes, &percent);
        }
        free(bytes);
        TRY(error_in(file_shown(text), error));
    }
    if (!(percent >= 0 && percent <= 100))
        return error_make("%s: an accuracy of %g %% is not between 0 and 100", text, percent);
    *full = percent / 100;
    return NULL;
}
