/* All series are in an order in which every stretch has its share of each class, and are measured
 * batch by batch.  For each candidate a histogram of the distances so far (by class, in a few dozen
 * bins) bounds the quality it can still reach.  Candidates that can no longer enter their list are
 * dropped between batches, and only those whose bound survives to the end are sorted and scored
 * exactly.
 *
 * Why the result is determined: a list holds the best candidates, in a total order, of all series,
 * each of which contributes those that overlap none of its own better ones.  A candidate is dropped
 * only if its quality is less than that of the last in its full list, which only gets harder to
 * enter; what it could have pushed out for overlapping is worse still.  So neither the time nor the
 * order at which lists fill up can be seen in the end. */
#include "shapelets/search.h"

#include <math.h>
#include <string.h>

enum { ABREAST = 4 };

static const struct labelling *labelling_of(const struct search *search, int32_t label)
{
    return &search->labellings[search->options->one_against_rest ? (size_t)label : 0];
}

static uint32_t *histogram_of(const struct search_worker *worker, size_t row)
{
    return worker->histogram + row * worker->labelling->classes * BINS;
}

/* Counts the cells of up to ABREAST runs of one class each, side by side: neighbouring
 * increments go to different rows, so that none waits for a store to the same counter. */
static void count_runs(const struct bins *bins, const uint16_t *const cells[],
                       uint32_t *const rows[], const size_t lengths[], size_t runs)
{
    size_t done = 0;

    if (runs == ABREAST) {
        done = lengths[0];
        for (size_t k = 1; k < ABREAST; k++)
            done = lengths[k] < done ? lengths[k] : done;
        for (size_t i = 0; i < done; i++)
            for (size_t k = 0; k < ABREAST; k++)
                rows[k][bins->of_cell[cells[k][i]]]++;
    }
    for (size_t k = 0; k < runs; k++)
        for (size_t i = done; i < lengths[k]; i++)
            rows[k][bins->of_cell[cells[k][i]]]++;
}

/* Puts the distances of a batch into the histogram of a candidate. */
static void count_batch(const struct search *search, struct search_worker *worker,
                        const struct batch *batch, size_t row)
{
    size_t from = batch->first_block * DISTANCE_LANES;
    size_t to = search->runs[batch->end_run - 1].to;
    const float *distances = worker->table + row * search->stride;
    struct bins *bins = &worker->bins[row];
    uint32_t *histogram = histogram_of(worker, row);

    if (from == 0) {
        bins_make(distances, to, worker->cells, bins);
        worker->likely[row] = BINS / 2;
        memset(histogram, 0, worker->labelling->classes * BINS * sizeof *histogram);
    }
    bins_cells(bins, distances + from, to - from, worker->cells);
    for (size_t first = batch->first_run; first < batch->end_run; first += ABREAST) {
        const uint16_t *cells[ABREAST];
        uint32_t *rows[ABREAST];
        size_t lengths[ABREAST], runs = 0;

        for (size_t r = first; r < batch->end_run && runs < ABREAST; r++, runs++) {
            const struct run *run = &search->runs[r];

            cells[runs] = worker->cells + (run->from - from);
            rows[runs] = histogram + labelling_class(worker->labelling, run->label) * BINS;
            lengths[runs] = run->to - run->from;
        }
        count_runs(bins, cells, rows, lengths, runs);
    }
}

/* How many series of each class come after the batch. */
static void count_unknown(const struct search *search, const struct batch *batch,
                          struct search_worker *worker)
{
    const struct labelling *labelling = worker->labelling;

    memcpy(worker->unknown, labelling->totals, labelling->classes * sizeof *worker->unknown);
    for (size_t r = 0; r < batch->end_run; r++)
        worker->unknown[labelling_class(labelling, search->runs[r].label)] -=
            search->runs[r].to - search->runs[r].from;
    worker->blind = search->quality->bounds->blind(labelling, worker->unknown);
}

static struct scored_candidate describe(const struct search *search,
                                        const struct candidates *candidates, size_t c,
                                        size_t source)
{
    return (struct scored_candidate){.channel = (uint32_t)search->channel,
                                     .start = candidates->start[c],
                                     .length = candidates->length[c],
                                     .label = search->dataset->y[source],
                                     .source = source};
}

/* The quality that candidate c of those kept needs to have a chance: a little less than that of the
 * last in its list, as it is rounded to float when it is stored. */
static double needed_quality(const struct search *search, const struct search_worker *worker,
                             size_t c)
{
    struct scored_candidate candidate = describe(search, &worker->kept, c, worker->source);
    double entry = atomic_load_explicit(&search->entry[select_list(&search->plan, &candidate)],
                                        memory_order_relaxed);

    return entry * (1 - 1e-6) - 1e-9;
}

/* Drops the candidates whose quality cannot reach their list any more. */
static void drop_hopeless(const struct search *search, struct search_worker *worker,
                          const struct batch *batch)
{
    struct candidates *kept = &worker->kept;

    count_unknown(search, batch, worker);
    for (size_t c = 0; c < kept->count; c++) {
        double needed = needed_quality(search, worker, c);
        size_t row = kept->row[c];
        struct quality_bins counted = {.count = BINS, .histogram = histogram_of(worker, row)};

        worker->keep[row] =
            worker->blind >= needed ||
            search->quality->bounds->can_reach(worker->labelling, &counted, worker->unknown, needed,
                                               &worker->likely[row]);
    }
    candidates_keep(kept, worker->keep, kept);
}

static void measure_batch(const struct search *search, struct search_worker *worker,
                          const struct batch *batch)
{
    const struct distance_device *device = search->options->device;
    const float *series = dataset_series(search->dataset, worker->source, search->channel);

    if (device)
        device->measure(worker->on_device, search->on_device, series, &worker->kept,
                        search->options->window, worker->distance.doubt, batch->first_block,
                        batch->end_block, worker->table + batch->first_block * DISTANCE_LANES,
                        search->stride);
    for (size_t b = batch->first_block; !device && b < batch->end_block; b++)
        distance_to_block(series,
                          search->blocks.values + b * search->blocks.length * DISTANCE_LANES,
                          &worker->kept, search->options->window, &worker->distance,
                          worker->table + b * DISTANCE_LANES, search->stride);
    worker->report.distances += worker->kept.count * (search->runs[batch->end_run - 1].to -
                                                      batch->first_block * DISTANCE_LANES);
}

/* The best split of a fully measured candidate; false if it cannot reach its list. */
static bool find_split(const struct search *search, struct search_worker *worker, size_t c,
                       struct quality_split *split)
{
    size_t row = worker->kept.row[c], count = search->dataset->count;
    const float *distances = worker->table + row * search->stride;
    const struct bins *bins = &worker->bins[row];
    struct quality_bins counted = {.count = BINS, .histogram = histogram_of(worker, row)};
    struct quality_range range = {.bins = worker->bin_of};

    if (!search->measures_all) {
        if (!search->quality->bounds->find_range(worker->labelling, &counted,
                                                 needed_quality(search, worker, c), &range))
            return false;
        bins_cells(bins, distances, count, worker->cells);
        for (size_t i = 0; i < count; i++)
            worker->bin_of[i] = bins->of_cell[worker->cells[i]];
    }
    worker->report.sorted++;
    *split = search->quality->score(worker->labelling, distances, search->labels,
                                    search->measures_all ? NULL : &range, &worker->quality);
    return true;
}

/* Exact scores of the candidates that are left. */
static void score(const struct search *search, struct search_worker *worker)
{
    const struct candidates *kept = &worker->kept;

    for (size_t c = 0; c < kept->count; c++) {
        struct scored_candidate *found = &worker->found[worker->found_count];
        float root = sqrtf((float)kept->length[c]);
        struct quality_split split;

        if (!find_split(search, worker, c, &split))
            continue;
        *found = describe(search, kept, c, worker->source);
        found->quality = split.quality;
        found->margin = split.gap / root;
        found->threshold =
            search->options->length_normalised ? split.threshold / root : split.threshold;
        worker->found_count++;
    }
}

/* Puts the source's candidates into the lists, for each list those that do not overlap. */
static void enter_lists(struct search *search, struct search_worker *worker)
{
    size_t first, end;

    if (worker->found_count == 0)
        return;
    select_lists(&search->plan, worker->found[0].label, &first, &end);
    for (size_t list = first; list < end; list++) {
        size_t count = 0;

        for (size_t i = 0; i < worker->found_count; i++)
            if (select_list(&search->plan, &worker->found[i]) == list)
                worker->separate[count++] = worker->found[i];
        if (count == 0)
            continue;
        count = scored_keep_separate(worker->separate, count);
        pthread_mutex_lock(&search->lock);
        for (size_t i = 0; i < count; i++)
            shortlist_add(&search->lists[list], &worker->separate[i]);
        atomic_store_explicit(&search->entry[list], shortlist_entry(&search->lists[list]),
                              memory_order_relaxed);
        pthread_mutex_unlock(&search->lock);
    }
}

/* Measures and scores the candidates of a chunk. */
static void search_chunk(const struct search *search, struct search_worker *worker,
                         const struct candidates *chunk)
{
    memset(worker->keep, 1, chunk->count);
    candidates_keep(chunk, worker->keep, &worker->kept);
    for (size_t b = 0; b < search->batch_count && worker->kept.count; b++) {
        const struct batch *batch = &search->batches[b];

        measure_batch(search, worker, batch);
        if (search->measures_all)
            continue;
        for (size_t c = 0; c < worker->kept.count; c++)
            count_batch(search, worker, batch, worker->kept.row[c]);
        if (b + 1 < search->batch_count)
            drop_hopeless(search, worker, batch);
    }
    score(search, worker);
}

void search_source(void *context, size_t task, unsigned worker_number)
{
    struct search *search = context;
    struct search_worker *worker = &search->workers[worker_number];

    worker->source = search->sources[search->first_source + task * search->source_step];
    worker->labelling = labelling_of(search, search->dataset->y[worker->source]);
    worker->found_count = 0;
    for (size_t i = 0; i < search->chunk_count; i++)
        search_chunk(search, worker, &search->chunks[i]);
    enter_lists(search, worker);
    worker->report.candidates += search->all_candidates;
    if (search->options->progress)
        search->options->progress(search->options->progress_context,
                                  atomic_fetch_add(&search->done, 1) + 1,
                                  search->dataset->count * search->dataset->channels);
}
