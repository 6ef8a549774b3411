/* sc-info: say what is in a file. */
#include <stdint.h>
#include <stdio.h>

#include "common/cli.h"
#include "data/info.h"

struct info_cli {
    struct cli_common common;
    bool json;
    bool tsv;
    bool all;
};

static const struct cli_option options[] = {
    {0, "json", NULL, CLI_FLAG, CLI_AT(info_cli, json), "write JSON, one object for each file", 0},
    {0, "tsv", NULL, CLI_FLAG, CLI_AT(info_cli, tsv), "write a table, one row for each file", 0},
    {'a', "all", NULL, CLI_FLAG, CLI_AT(info_cli, all),
     "show all channels, classes and shapelets, however many", 0},
    {0},
};

static const struct cli_program program = {
    .name = "sc-info",
    .arguments = "[FILE]...",
    .summary = "Says what is in a dataset, a shapelet pool, a teacher or any other NPY file.",
    .example = "sc-info train.npy",
    .options = options,
    .most_files = SIZE_MAX,
};

int main(int argc, char **argv)
{
    struct info_cli opt = {.json = false};
    struct output output;
    size_t files;

    cli_parse(argc, argv, &program, &opt);
    if (opt.json && opt.tsv)
        cli_usage("--json and --tsv exclude each other");
    files = opt.common.file_count ? opt.common.file_count : 1;
    cli_open_output(opt.common.output, false, &output);
    if (opt.tsv)
        info_write_tsv_heading(output.stream);
    for (size_t i = 0; i < files; i++) {
        struct info info;

        cli_check(info_read(opt.common.file_count ? opt.common.files[i] : "-", &info));
        if (opt.json)
            info_write_json(output.stream, &info);
        else if (opt.tsv)
            info_write_tsv(output.stream, &info);
        else
            info_write_text(output.stream, &info, opt.all);
        info_free(&info);
    }
    cli_commit(&output, 1);
    return 0;
}
