/* sc-shapelets: find the subsequences of a labelled dataset that tell its classes apart best
 * (paper, 3.1, "fast shapelet discovery"). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/cluster_option.h"
#include "common/device_option.h"
#include "common/progress.h"
#include "base/file.h"
#include "shapelets/discover.h"
#include "shapelets/lengths.h"
#include "shapelets/standardise.h"

struct search_cli {
    struct cli_common common;
    size_t k;
    const char *lengths;
    size_t start_step;
    const char *window;
    bool normalise;
    bool raw;
    int quality, gain;
    int select;
    bool measure_all;
    int device;
    struct cluster_cli cluster;
    const char *labels;
};

static const char *const gains[] = {"all", "one", NULL};
static const char *const selections[] = {"top", "class", "diverse", NULL};

static const struct cli_option options[] = {
    {'k', "shapelets", "K", CLI_SIZE, CLI_AT(search_cli, k), "shapelets for each channel",
     .low = 1},
    {'l', "lengths", "LIST", CLI_TEXT, CLI_AT(search_cli, lengths),
     "lengths of candidates, such as 14,18,22 or 10-30:5; by default 10 to 30 % of the steps"},
    {0, "step", "N", CLI_SIZE, CLI_AT(search_cli, start_step),
     "candidates start at multiples of this; 0: the smallest step that leaves at most 500 starts"},
    {'w', "window", "W", CLI_TEXT, CLI_AT(search_cli, window),
     "compare up to W steps around a candidate's own place, or 'full': everywhere; by default 15 % "
     "of the steps, at most 50"},
    {0, "normalise", NULL, CLI_FLAG, CLI_AT(search_cli, normalise),
     "divide distances by the square root of the length"},
    {0, "raw", NULL, CLI_FLAG, CLI_AT(search_cli, raw),
     "networks get the distances as they come, not standardised"},
    {0, "quality", "MEASURE", CLI_CHOICE, CLI_AT(search_cli, quality), "how candidates are scored",
     .choices = slp_quality_names},
    {0, "gain", "OF", CLI_CHOICE, CLI_AT(search_cli, gain),
     "score candidates for telling all classes apart, or one from the rest", .choices = gains},
    {0, "select", "HOW", CLI_CHOICE, CLI_AT(search_cli, select),
     "the best, the best of each class in turn, or those that add most to the others",
     .choices = selections},
    {0, "measure-all", NULL, CLI_FLAG, CLI_AT(search_cli, measure_all),
     "do not drop hopeless candidates early: the same pool, later", .unrecorded = true},
    DEVICE_OPTION(search_cli),
    CLUSTER_OPTIONS(search_cli),
    {0, "labels", "FILE", CLI_FILE, CLI_AT(search_cli, labels), "file that holds the labels alone"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-shapelets",
    .arguments = "[FILE]",
    .summary = "Finds the subsequences of a labelled dataset that tell its classes apart best.",
    .example = "sc-shapelets -k 20 train.npy -o pool.slp",
    .options = options,
    .most_files = 1,
};

static void show_progress(void *context, size_t done, size_t total)
{
    const struct cluster *cluster = context;

    (void)total;
    progress_update(done * cluster_size(cluster), NULL); /* the other ranks do as much */
}

/* "20" or "full". */
static size_t parse_window(const char *text, size_t steps)
{
    char *end;
    unsigned long long window;

    if (!text)
        return discover_default_window(steps);
    if (strcmp(text, "full") == 0)
        return DISCOVER_FULL;
    window = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || window >= SLP_WINDOW_FULL)
        cli_usage("--window: '%s' is neither a number of steps nor 'full'", text);
    return (size_t)window;
}

/* Lengths as given, or chosen for series of that length; the caller frees them. */
static size_t *parse_lengths(const char *text, size_t steps, size_t *count)
{
    size_t *lengths = NULL;

    if (text) {
        cli_check_usage("lengths", lengths_parse(text, &lengths, count));
        return lengths;
    }
    lengths = calloc(5, sizeof *lengths);
    if (!lengths)
        cli_check(error_memory("lengths"));
    *count = discover_default_lengths(steps, lengths);
    return lengths;
}

static void say_result(const struct search_cli *opt, const struct dataset *dataset,
                       const struct shapelet_pool *pool, const struct discover_report *report)
{
    if (pool->count < opt->k * dataset->channels)
        cli_warn("only %zu of %zu shapelets: there are no more candidates that do not overlap",
                 pool->count, opt->k * dataset->channels);
    cli_say("%zu shapelets of %" PRIu64 " candidates; %.1f %% of the distances were needed, %.1f "
            "%% of the candidates were sorted",
            pool->count, report->candidates,
            100 * (double)report->distances / ((double)report->candidates * (double)dataset->count),
            100 * (double)report->sorted / (double)report->candidates);
}

int main(int argc, char **argv)
{
    struct search_cli opt = {.k = 20, .cluster = CLUSTER_DEFAULTS};
    struct discover_options discover = {0};
    struct discover_report report;
    struct shapelet_pool pool;
    struct dataset dataset;
    const char *digests[2], *input;
    size_t *lengths;

    cli_parse(argc, argv, &program, &opt);
    /* Usage errors are found before anything is read. */
    parse_window(opt.window, 1);
    free(parse_lengths(opt.lengths, 1, &discover.length_count));
    discover.cluster = cluster_chosen(&opt.cluster, &opt.common);
    cli_check(dataset_read(cli_input(&opt.common), opt.labels, DATASET_LABELLED, &dataset));
    cluster_check_dataset(discover.cluster, cli_input(&opt.common), &dataset);
    cli_warn_views(cli_input(&opt.common), &dataset);
    lengths = parse_lengths(opt.lengths, dataset.length, &discover.length_count);
    discover.lengths = lengths;
    discover.window = parse_window(opt.window, dataset.length);
    discover.start_step =
        opt.start_step ? opt.start_step : discover_default_start_step(dataset.length);
    discover.k = opt.k;
    discover.length_normalised = opt.normalise;
    discover.quality = (size_t)opt.quality;
    discover.one_against_rest = opt.gain == 1;
    discover.selection = (enum selection)opt.select;
    discover.keep_all = opt.measure_all;
    discover.device = device_chosen(opt.device, true).distance;
    discover.progress = show_progress;
    discover.progress_context = discover.cluster;

    progress_start("sc-shapelets", dataset.count * dataset.channels, opt.common.quiet);
    input = file_shown(cli_input(&opt.common));
    cli_check(error_in(input, discover_shapelets(&dataset, &discover, &pool, &report)));
    if (!opt.raw)
        cli_check(error_in(input, pool_standardise(&pool, &dataset, discover.cluster)));
    progress_end();
    say_result(&opt, &dataset, &pool, &report);
    digests[0] = dataset.digest;
    digests[1] = dataset.label_digest;
    cli_write_pool(&opt.common, &pool, digests, 2);
    cluster_done(discover.cluster);
    slp_free(&pool);
    dataset_free(&dataset);
    free(lengths);
    return 0;
}
