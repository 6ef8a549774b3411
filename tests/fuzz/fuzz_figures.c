/* Figures and reports of tables, scores and logs of commands: whatever is in them can be drawn or
 * is refused, and reaches a terminal as printable characters. */
#include "fuzz.h"

#include "formats/scores.h"
#include "plot/figures.h"
#include "report/training.h"

static char *text;
static size_t text_size;

static FILE *begin(void)
{
    FILE *stream = open_memstream(&text, &text_size);

    MUST(stream);
    return stream;
}

static void end(FILE *stream, bool bad)
{
    MUST(fclose(stream) == 0);
    MUST(bad || text_size > 0);
    for (size_t i = 0; i < text_size; i++)
        MUST((unsigned char)text[i] >= ' ' || text[i] == '\n');
    free(text);
}

static void draw_table(const struct table *table, const struct figure_options *options)
{
    struct report_curve curve = {"name", *table};
    FILE *stream = begin();

    end(stream, failed(figure_curves(stream, table, options)));
    stream = begin();
    end(stream, failed(text_curves(stream, table, 60, options)));
    stream = begin();
    end(stream, failed(training_write_curves(stream, &curve, 1)));
}

static void draw_scores(const struct scores *scores, const struct figure_options *options)
{
    FILE *stream = begin();

    end(stream, failed(figure_scores(stream, scores, 1, options)));
    stream = begin();
    end(stream, failed(text_scores(stream, scores, 1, 60, options)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct figure_options options = figure_defaults();
    const char *given = (const char *)bytes;
    struct scores scores;
    struct table table;
    FILE *stream;

    options.logarithmic = size % 2;
    options.marks = size / 2 % 2;
    if (!failed(table_parse(given, size, &table))) {
        draw_table(&table, &options);
        table_free(&table);
    }
    if (!failed(scores_parse(given, size, "some\033[2Jname", &scores))) {
        draw_scores(&scores, &options);
        scores_free(&scores);
    }
    if (!failed(training_check_stages(given, size))) {
        stream = begin();
        training_write_stages(stream, given, size);
        end(stream, false);
    }
    return 0;
}
