/* sc-plot: draw a dataset, a shapelet pool, curves or scores as SVG or for the terminal. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/help.h"
#include "base/file.h"
#include "formats/scores.h"
#include "plot/figures.h"
#include "formats/table.h"

enum { MOST_TABLES = 100 }; /* of sc-eval in one picture */

struct plot_cli {
    struct cli_common common;
    struct figure_options figure;
    const char *over;
    const char *shapelets;
    bool text;
};

static const struct cli_option options[] = {
    {0, "over", "FILE", CLI_FILE, CLI_AT(plot_cli, over),
     "dataset whose series are drawn behind, thin and grey"},
    {0, "shapelets", "FILE", CLI_FILE, CLI_AT(plot_cli, shapelets),
     "pool whose best matches are marked on the series"},
    {'c', "columns", "N", CLI_SIZE, CLI_AT(plot_cli, figure.columns), "panels in a row", .low = 1,
     .high = 100},
    {'r', "rows", "N", CLI_SIZE, CLI_AT(plot_cli, figure.rows), "rows of panels at most", .low = 1,
     .high = 1000},
    {0, "channel", "N", CLI_SIZE, CLI_AT(plot_cli, figure.channel), "channel that is drawn"},
    {0, "all-channels", NULL, CLI_FLAG, CLI_AT(plot_cli, figure.all_channels),
     "dataset: a row for each channel"},
    {0, "text", NULL, CLI_FLAG, CLI_AT(plot_cli, text),
     "draw with characters, for a terminal, not as SVG"},
    {0, "behind", "N", CLI_SIZE, CLI_AT(plot_cli, figure.behind),
     "series of --over behind each panel at most"},
    {0, "log", NULL, CLI_FLAG, CLI_AT(plot_cli, figure.logarithmic),
     "table: a logarithmic horizontal axis"},
    {0, "marks", NULL, CLI_FLAG, CLI_AT(plot_cli, figure.marks),
     "table: mark the values, and join them over gaps"},
    {0, "title", "TEXT", CLI_TEXT, CLI_AT(plot_cli, figure.title), "headline"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-plot",
    .arguments = "[FILE]",
    .summary = "Draws a dataset, a shapelet pool (.slp), curves (TSV) or tables of sc-eval as SVG.",
    .example = "sc-plot tiny.npy -o tiny.svg",
    .options = options,
    .most_files = MOST_TABLES,
};

/* What is drawn besides the file itself. */
struct context {
    struct dataset real;
    struct shapelet_pool pool;
    const struct dataset *over;            /* or NULL */
    const struct shapelet_pool *shapelets; /* or NULL */
};

static void read_context(const struct plot_cli *opt, struct context *context)
{
    if (opt->over) {
        cli_check(dataset_read(opt->over, NULL, 0, &context->real));
        context->over = &context->real;
    }
    if (opt->shapelets) {
        cli_check(slp_read(opt->shapelets, &context->pool));
        context->shapelets = &context->pool;
    }
}

static struct error *draw_dataset(FILE *stream, const unsigned char *bytes, size_t size,
                                  const struct context *context, const struct plot_cli *opt)
{
    struct dataset dataset;
    struct error *error;

    TRY(dataset_read_memory(bytes, size, 0, &dataset));
    error = opt->text
                ? text_dataset(stream, &dataset, help_width(STDOUT_FILENO), &opt->figure)
                : figure_dataset(stream, &dataset, context->over, context->shapelets, &opt->figure);
    dataset_free(&dataset);
    return error;
}

static struct error *draw_pool(FILE *stream, const unsigned char *bytes, size_t size,
                               const struct context *context, const struct plot_cli *opt)
{
    struct shapelet_pool pool;
    struct error *error;

    TRY(slp_read_memory(bytes, size, &pool));
    error = opt->text
                ? text_pool(stream, &pool, context->over, help_width(STDOUT_FILENO), &opt->figure)
                : figure_pool(stream, &pool, context->over, &opt->figure);
    slp_free(&pool);
    return error;
}

/* The name of a file without folder and ending. */
static char *stem(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    return strcmp(path, "-") == 0
               ? strdup("accuracy")
               : strndup(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static void parse_scores(const char *path, const unsigned char *bytes, size_t size,
                         struct scores *scores)
{
    char *name = stem(path);

    if (!name)
        cli_check(error_memory("a name"));
    cli_check(error_in(file_shown(path), scores_parse((const char *)bytes, size, name, scores)));
}

/* All tables in one picture; the first has been read. */
static struct error *draw_scores(FILE *stream, const unsigned char *bytes, size_t size,
                                 const struct plot_cli *opt)
{
    size_t count = opt->common.file_count ? opt->common.file_count : 1;
    struct scores *scores = calloc(count, sizeof *scores);
    struct error *error;

    if (!scores)
        return error_memory("tables");
    parse_scores(cli_input(&opt->common), bytes, size, &scores[0]);
    for (size_t i = 1; i < count; i++) {
        const char *path = opt->common.files[i];
        unsigned char *other;
        size_t other_size;

        cli_check(error_in(file_shown(path), file_read(path, &other, &other_size)));
        parse_scores(path, other, other_size, &scores[i]);
        free(other);
    }
    error = opt->text ? text_scores(stream, scores, count, help_width(STDOUT_FILENO), &opt->figure)
                      : figure_scores(stream, scores, count, &opt->figure);
    for (size_t i = 0; i < count; i++) {
        free((char *)scores[i].name);
        scores_free(&scores[i]);
    }
    free(scores);
    return error;
}

static struct error *draw_table(FILE *stream, const unsigned char *bytes, size_t size,
                                const struct context *context, const struct plot_cli *opt)
{
    struct table table;
    struct error *error;

    (void)context;
    if (scores_are((const char *)bytes, size))
        return draw_scores(stream, bytes, size, opt);
    TRY(table_parse((const char *)bytes, size, &table));
    error = opt->text ? text_curves(stream, &table, help_width(STDOUT_FILENO), &opt->figure)
                      : figure_curves(stream, &table, &opt->figure);
    table_free(&table);
    return error;
}

int main(int argc, char **argv)
{
    static struct error *(*const draw[])(FILE *, const unsigned char *, size_t,
                                         const struct context *, const struct plot_cli *) = {
        [FILE_NPY] = draw_dataset,
        [FILE_POOL] = draw_pool,
        [FILE_TEXT] = draw_table,
    };
    struct plot_cli opt = {.figure = figure_defaults()};
    struct context context = {0};
    unsigned char *bytes;
    struct output output;
    struct error *error;
    const char *shown;
    size_t size;

    cli_parse(argc, argv, &program, &opt);
    shown = file_shown(cli_input(&opt.common));
    cli_check(error_in(shown, file_read(cli_input(&opt.common), &bytes, &size)));
    if (opt.common.file_count > 1 &&
        (file_kind(bytes, size) != FILE_TEXT || !scores_are((const char *)bytes, size)))
        cli_usage("several files: only for tables of sc-eval");
    read_context(&opt, &context);
    cli_open_output(opt.common.output, false, &output);
    error = draw[file_kind(bytes, size)](output.stream, bytes, size, &context, &opt);
    if (error)
        output_abort(&output);
    cli_check(error_in(shown, error));
    cli_finish_output(&output, opt.common.output, NULL);
    dataset_free(&context.real);
    slp_free(&context.pool);
    free(bytes);
    return 0;
}
