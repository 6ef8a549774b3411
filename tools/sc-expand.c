/* sc-expand: write the labelled views of a condensed dataset out as ordinary series. */
#include "common/cli.h"
#include "base/file.h"
#include "views/view.h"

static const struct cli_option options[] = {{0}};

static const struct cli_program program = {
    .name = "sc-expand",
    .arguments = "[FILE]",
    .summary = "Writes out the labelled views of a condensed dataset as ordinary series.",
    .example = "sc-expand tiny.npy -o many.npy",
    .options = options,
    .most_files = 1,
};

int main(int argc, char **argv)
{
    struct cli_common common = {0};
    struct dataset condensed, expanded;

    cli_parse(argc, argv, &program, &common);
    cli_check(dataset_read(cli_input(&common), NULL, DATASET_LABELLED | DATASET_VIEWS, &condensed));
    if (condensed.views.count == 0)
        cli_check(
            error_make("%s: has no views (sc-views adds them)", file_shown(cli_input(&common))));
    cli_check(view_expand(&condensed, &expanded));
    cli_say("%zu series, %zu of them views", expanded.count, condensed.views.count);
    cli_write_dataset(&common, &expanded, (const char *[]){condensed.digest}, 1);
    dataset_free(&expanded);
    dataset_free(&condensed);
    return 0;
}
