/* sc-report: one HTML page about a condensed dataset. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "common/cli.h"
#include "report/page.h"

struct report_cli {
    struct cli_common common;
    const char *real, *shapelets, *title;
    struct cli_texts eval;
};

static const struct cli_option options[] = {
    {'r', "real", "FILE", CLI_FILE, CLI_AT(report_cli, real),
     "the dataset that was condensed, to show beside it"},
    {'s', "shapelets", "FILE", CLI_FILE, CLI_AT(report_cli, shapelets), "pool to show"},
    {'e', "eval", "[NAME=]FILE", CLI_TEXTS, CLI_AT(report_cli, eval),
     "table of sc-eval, and what to call it; may be repeated"},
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
    return dataset->count * dataset->channels * dataset->length * sizeof *dataset->x;
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

/* "NAME=FILE", or a file whose name is its name. */
static void read_scores(const char *text, struct scores *scores)
{
    const char *equals = strchr(text, '='), *path = equals ? equals + 1 : text;
    const char *slash = strrchr(text, '/');
    unsigned char *bytes;
    char *name;
    size_t size;

    name = equals ? strndup(text, (size_t)(equals - text)) : strdup(slash ? slash + 1 : text);
    if (!name)
        cli_check(error_memory("a name"));
    cli_check(error_in(file_shown(path), file_read(path, &bytes, &size)));
    cli_check(error_in(file_shown(path), scores_parse((const char *)bytes, size, name, scores)));
    free(bytes);
}

int main(int argc, char **argv)
{
    struct report_cli opt = {0};
    struct dataset condensed, real = {0};
    struct shapelet_pool pool = {0};
    struct scores *scores;
    struct output output;
    struct page page = {0};
    const char *input, *slash;

    cli_parse(argc, argv, &program, &opt);
    input = cli_input(&opt.common);
    slash = strrchr(input, '/');
    cli_check(dataset_read(input, NULL, DATASET_LABELLED | DATASET_VIEWS, &condensed));
    page.title = opt.title;
    page.file = strcmp(input, "-") == 0 ? "tiny.npy" : slash ? slash + 1 : input;
    page.condensed = &condensed;
    page.condensed_bytes = file_bytes(input, &condensed);
    if (opt.real) {
        read_real(opt.real, &condensed, &real);
        page.real = &real;
        page.real_bytes = file_bytes(opt.real, &real);
    }
    if (opt.shapelets) {
        cli_check(slp_read(opt.shapelets, &pool));
        page.pool = &pool;
    }
    scores = calloc(opt.eval.count + 1, sizeof *scores);
    if (!scores)
        cli_check(error_memory("tables"));
    for (size_t i = 0; i < opt.eval.count; i++)
        read_scores(opt.eval.items[i], &scores[i]);
    page.scores = scores;
    page.score_count = opt.eval.count;

    cli_open_output(opt.common.output, false, &output);
    cli_finish_output(&output, opt.common.output, page_write(output.stream, &page));
    for (size_t i = 0; i < opt.eval.count; i++) {
        free((char *)scores[i].name);
        scores_free(&scores[i]);
    }
    free(scores);
    free(opt.eval.items);
    slp_free(&pool);
    dataset_free(&real);
    dataset_free(&condensed);
    return 0;
}
