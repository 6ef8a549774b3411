/* Provenance, and outputs that are put in place when they are whole. */
#include "common/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/computed_by.h"
#include "base/file.h"
#include "base/memory_stream.h"
#include "common/claims.h"
#include "common/cli_internal.h"
#include "common/process.h"
#include "formats/mapped.h"

/* ---- Provenance ---- */

void cli_record_device(const char *name)
{
    cli_state.device = name;
}

void cli_record(const struct cli_common *common, char **notes, const char *const *digests,
                size_t count)
{
    struct memory_stream line;
    FILE *stream;

    cli_check(memory_stream_open("provenance", &line));
    stream = line.stream;
    if (*notes && **notes)
        fprintf(stream, "%s\n", *notes);
    fprintf(stream, "%s %s", cli_state.program->name, SHAPECOND_VERSION);
    for (size_t i = 0; cli_state.program->words && i < common->file_count; i++)
        fprintf(stream, " %s", common->files[i]);
    fputs(cli_state.recorded ? cli_state.recorded : "", stream);
    if (cli_state.device)
        fprintf(stream, " --device=%s", cli_state.device);
    if (cli_state.program->random)
        fprintf(stream, " --seed=%llu", (unsigned long long)common->seed);
    for (size_t i = 0; i < count; i++) {
        if (digests[i] && digests[i][0])
            fprintf(stream, " <%s", digests[i]);
    }
    if (cli_state.program->computes)
        fprintf(stream, " [%s]", computed_by());
    cli_check(memory_stream_close(&line));
    free(*notes);
    *notes = line.bytes;
}

/* ---- Output ---- */

void cli_refuse_terminal(const char *path)
{
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO) && cli_state.rank.number == 0)
        cli_usage("will not write binary data to a terminal; use -o FILE or a pipe");
}

void cli_open_output(const char *path, bool binary, struct output *output)
{
    if (binary)
        cli_refuse_terminal(path);
    cli_check(output_open(cli_state.rank.number == 0 ? path : "/dev/null", output));
}

static const char *shown_output(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

/* A result made from a truncated input is wrong; one made from an input that was written to may
 * still be right. */
static void check_inputs(void)
{
    bool cut;
    const char *path = mapped_changed(&cut);

    if (path && cut)
        cli_check(error_make("%s: was truncated while it was in use", file_shown(path)));
    if (path)
        cli_warn("%s: was changed while it was in use: the result may be of either version",
                 file_shown(path));
}

void cli_finish_output(struct output *output, const char *path, struct error *error)
{
    check_inputs();
    if (error) {
        output_abort(output);
        cli_check(error_in(shown_output(path), error));
    }
    cli_check(output_commit(output));
}

void cli_check_written(const char *path, struct error *error)
{
    if (error)
        check_inputs(); /* the data may be that of a file */
    cli_check(error_in(shown_output(path), error));
}

void cli_stage_dataset(const char *path, const struct dataset *dataset, struct output *output)
{
    cli_open_output(path, true, output);
    cli_check_written(path, dataset_write(output->stream, dataset));
}

void cli_warn_views(const char *path, const struct dataset *dataset)
{
    if (dataset->dropped_views)
        cli_warn("%s: its %zu labelled views are left out (sc-expand makes series of them)",
                 file_shown(path), dataset->dropped_views);
}

void cli_commit(struct output *outputs, size_t count)
{
    struct error *error;

    check_inputs();
    error = output_commit_all(outputs, count);
    process_check_stopped();
    cli_check(error);
}

void cli_remove_checkpoint(const char *path)
{
    char *file = path ? realpath(path, NULL) : NULL; /* a link stays */

    /* Two names can still be of one file, where capital letters do not count for example. */
    if (file && !claims_other("checkpoint", path) && unlink(file) && errno != ENOENT)
        cli_check(error_system(path));
    free(file);
}

void cli_write_dataset(const struct cli_common *common, struct dataset *dataset,
                       const char *const *digests, size_t count)
{
    struct output output;

    cli_open_output(common->output, true, &output);
    cli_record(common, &dataset->notes, digests, count);
    cli_finish_output(&output, common->output, dataset_write(output.stream, dataset));
}

void cli_write_pool(const struct cli_common *common, struct shapelet_pool *pool,
                    const char *const *digests, size_t count)
{
    struct output output;

    cli_open_output(common->output, true, &output);
    cli_record(common, &pool->notes, digests, count);
    cli_finish_output(&output, common->output, slp_write(output.stream, pool));
}
