/* sc-report: one HTML page about a condensed dataset. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "common/claims.h"
#include "common/cli.h"
#include "report/page.h"

struct report_cli {
    struct cli_common common;
    const char *real, *shapelets, *searched, *times, *title, *name, *note;
    struct cli_texts eval, curves;
};

static const struct cli_option options[] = {
    {'r', "real", "FILE", CLI_FILE, CLI_AT(report_cli, real),
     "the dataset that was condensed, to show beside it"},
    {'s', "shapelets", "FILE", CLI_FILE, CLI_AT(report_cli, shapelets), "pool to show"},
    {0, "searched", "FILE", CLI_FILE, CLI_AT(report_cli, searched),
     "dataset that the pool was found in, to show where; by default that of --real if it fits"},
    {'e', "eval", "[NAME=]FILE", CLI_TEXTS, CLI_AT(report_cli, eval),
     "table of sc-eval, and what to call it; may be repeated"},
    {'c', "curve", "[NAME=]FILE", CLI_TEXTS, CLI_AT(report_cli, curves),
     "table of a training (sc-teacher --log), and what to call it; may be repeated"},
    {0, "note", "TEXT", CLI_TEXT, CLI_AT(report_cli, note), "what to add about the accuracy"},
    {0, "times", "FILE", CLI_FILE, CLI_AT(report_cli, times),
     "stages.tsv of shapecond --keep: how long the stages took, and what they wrote"},
    {0, "name", "FILE", CLI_TEXT, CLI_AT(report_cli, name),
     "what the file is called in the Python lines"},
    {0, "title", "TEXT", CLI_TEXT, CLI_AT(report_cli, title), "headline"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-report",
    .arguments = "[FILE]",
    .summary = "Writes an HTML page about a condensed dataset: series, shapelets, accuracy, use.",
    .example = "sc-report --real train.npy --eval tiny.tsv tiny.npy -o tiny.html",
    .options = options,
    .most_files = 1,
};

static size_t file_bytes(const char *path, const struct dataset *dataset)
{
    struct stat status;

    if (strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode))
        return (size_t)status.st_size;
    return dataset->count * dataset_series_size(dataset) * sizeof *dataset->x;
}

static void read_real(const char *path, const struct dataset *condensed, struct dataset *real)
{
    cli_check(dataset_read(path, NULL, DATASET_LABELLED, real));
    if (real->channels != condensed->channels || real->length != condensed->length ||
        real->classes != condensed->classes)
        cli_check(
            error_make("%s: %zu channels, %zu steps and %zu classes, but the condensed dataset "
                       "has %zu, %zu and %zu",
                       file_shown(path), real->channels, real->length, real->classes,
                       condensed->channels, condensed->length, condensed->classes));
}

/* The file of "NAME=FILE", or of a text without a name. */
static const char *file_of(const char *text)
{
    const char *equals = strchr(text, '=');

    return equals ? equals + 1 : text;
}

static void claim_files(const char *option, const struct cli_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        claims_add(option, file_of(texts->items[i]), false);
}

/* "NAME=FILE", or a file whose name is its name; both are malloc'ed. */
struct named_file {
    char *name;
    unsigned char *bytes;
    size_t size;
    const char *path;
};

static struct named_file read_named(const char *text)
{
    const char *equals = strchr(text, '='), *slash = strrchr(text, '/');
    struct named_file file = {.path = file_of(text)};

    file.name = equals ? strndup(text, (size_t)(equals - text)) : strdup(slash ? slash + 1 : text);
    if (!file.name)
        cli_check(error_memory("a name"));
    cli_check(error_in(file_shown(file.path), file_read(file.path, &file.bytes, &file.size)));
    return file;
}

static void read_scores(const char *text, struct scores *scores)
{
    struct named_file file = read_named(text);

    cli_check(error_in(file_shown(file.path),
                       scores_parse((const char *)file.bytes, file.size, file.name, scores)));
    free(file.bytes);
}

static void read_curve(const char *text, struct report_curve *curve)
{
    struct named_file file = read_named(text);

    curve->name = file.name;
    cli_check(error_in(file_shown(file.path),
                       table_parse((const char *)file.bytes, file.size, &curve->table)));
    free(file.bytes);
}

/* Whether the shapelets can have been cut out of this dataset. */
static bool fits_pool(const struct dataset *dataset, const struct shapelet_pool *pool)
{
    if (dataset->channels != pool->channels || dataset->length != pool->steps)
        return false;
    for (size_t k = 0; k < pool->count; k++) {
        const struct shapelet *shapelet = &pool->shapelets[k];

        if (shapelet->source >= dataset->count ||
            memcmp(dataset_series(dataset, (size_t)shapelet->source, shapelet->channel) +
                       shapelet->start,
                   shapelet->values, shapelet->length * sizeof(float)) != 0)
            return false;
    }
    return true;
}

/* The pool, and where it was found. */
static void read_pool(const struct report_cli *opt, struct page *page, struct shapelet_pool *pool,
                      struct dataset *searched)
{
    cli_check(slp_read(opt->shapelets, pool));
    page->pool = pool;
    if (opt->searched) {
        cli_check(dataset_read(opt->searched, NULL, 0, searched));
        if (!fits_pool(searched, pool))
            cli_check(error_make("%s: the shapelets of %s are not in it", file_shown(opt->searched),
                                 file_shown(opt->shapelets)));
        page->searched = searched;
    } else if (page->real && fits_pool(page->real, pool)) {
        page->searched = page->real;
    }
}

static void read_tables(const struct report_cli *opt, struct page *page)
{
    struct scores *scores = calloc(opt->eval.count + 1, sizeof *scores);
    struct report_curve *curves = calloc(opt->curves.count + 1, sizeof *curves);
    unsigned char *bytes;

    if (!scores || !curves)
        cli_check(error_memory("tables"));
    for (size_t i = 0; i < opt->eval.count; i++)
        read_scores(opt->eval.items[i], &scores[i]);
    for (size_t i = 0; i < opt->curves.count; i++)
        read_curve(opt->curves.items[i], &curves[i]);
    page->scores = scores;
    page->score_count = opt->eval.count;
    page->curves = curves;
    page->curve_count = opt->curves.count;
    if (opt->times) {
        cli_check(
            error_in(file_shown(opt->times), file_read(opt->times, &bytes, &page->times_size)));
        page->times = (const char *)bytes;
        cli_check(
            error_in(file_shown(opt->times), training_check_stages(page->times, page->times_size)));
    }
}

static void free_tables(struct page *page)
{
    for (size_t i = 0; i < page->score_count; i++) {
        free((char *)page->scores[i].name);
        scores_free((struct scores *)&page->scores[i]);
    }
    for (size_t i = 0; i < page->curve_count; i++) {
        free((char *)page->curves[i].name);
        table_free((struct table *)&page->curves[i].table);
    }
    free((struct scores *)page->scores);
    free((struct report_curve *)page->curves);
    free((char *)page->times);
}

int main(int argc, char **argv)
{
    struct report_cli opt = {0};
    struct dataset condensed, real = {0}, searched = {0};
    struct shapelet_pool pool = {0};
    struct output output;
    struct page page = {0};
    const char *input, *slash;

    cli_parse(argc, argv, &program, &opt);
    claim_files("eval", &opt.eval);
    claim_files("curve", &opt.curves);
    if (opt.searched && !opt.shapelets)
        cli_usage("--searched needs --shapelets");
    input = cli_input(&opt.common);
    slash = strrchr(input, '/');
    cli_check(dataset_read(input, NULL, DATASET_LABELLED | DATASET_VIEWS, &condensed));
    page.title = opt.title;
    page.note = opt.note;
    page.file = opt.name                  ? opt.name
                : strcmp(input, "-") == 0 ? "tiny.npy"
                : slash                   ? slash + 1
                                          : input;
    page.condensed = &condensed;
    page.condensed_bytes = file_bytes(input, &condensed);
    if (opt.real) {
        read_real(opt.real, &condensed, &real);
        page.real = &real;
        page.real_bytes = file_bytes(opt.real, &real);
    }
    if (opt.shapelets)
        read_pool(&opt, &page, &pool, &searched);
    read_tables(&opt, &page);

    cli_open_output(opt.common.output, false, &output);
    cli_finish_output(&output, opt.common.output, page_write(output.stream, &page));
    free_tables(&page);
    free(opt.eval.items);
    free(opt.curves.items);
    slp_free(&pool);
    dataset_free(&searched);
    dataset_free(&real);
    dataset_free(&condensed);
    return 0;
}
