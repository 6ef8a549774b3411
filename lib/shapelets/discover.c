/* Setting up the search, channel after channel, and making the pool of what was found. */
#include "shapelets/discover.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"
#include "base/size.h"
#include "shapelets/gain.h"
#include "shapelets/search.h"

enum {
    LEAST_BATCH = 4,        /* blocks of eight series */
    CHECKS = 16,            /* looks at the bound of a candidate */
    SERIES_PER_LOOK = 8,    /* times classes: measuring as many series costs as much as a look */
    TABLE_BYTES = 32 << 20, /* what a thread keeps of the candidates of a series at a time */
    FIRST_ROUND = 8, /* series of each rank before the lists are exchanged for the first time */
};

size_t discover_default_lengths(size_t steps, size_t lengths[5])
{
    size_t count = 0;

    for (size_t percent = 10; percent <= 30; percent += 5) {
        size_t length = (steps * percent + 50) / 100;

        length = length < 3 ? 3 : length;
        length = length > steps ? steps : length;
        if (count == 0 || length > lengths[count - 1])
            lengths[count++] = length;
    }
    return count;
}

size_t discover_default_window(size_t steps)
{
    size_t window = (steps * 15 + 50) / 100;

    return window < 1 ? 1 : window > 50 ? 50 : window;
}

size_t discover_default_start_step(size_t steps)
{
    return (steps + 499) / 500;
}

/* ---- Checks ---- */

static struct error *check_options(const struct dataset *dataset,
                                   const struct discover_options *options)
{
    if (options->length_count == 0)
        return error_make("no candidate lengths");
    for (size_t i = 0; i < options->length_count; i++) {
        if (options->lengths[i] < 1 || (i && options->lengths[i] <= options->lengths[i - 1]))
            return error_make("candidate lengths must be positive and ascending");
        if (options->lengths[i] > dataset->length)
            return error_make("candidates of %zu steps are longer than the series (%zu steps)",
                              options->lengths[i], dataset->length);
    }
    if (options->start_step == 0 || options->k == 0)
        return error_make("the start step and k must be positive");
    if (dataset->length > INT32_MAX)
        return error_make("series of %zu steps are too long", dataset->length);
    return NULL;
}

static struct error *check_classes(const struct dataset *dataset, const size_t *counts)
{
    size_t present = 0;

    for (size_t v = 0; v < dataset->classes; v++)
        present += counts[v] > 0;
    if (present < 2)
        return error_make("shapelets tell classes apart, but the %zu series have %zu class%s",
                          dataset->count, present, present == 1 ? "" : "es");
    return NULL;
}

/* ---- The order of measuring ---- */

struct place {
    double share; /* how much of its class comes before */
    int32_t label;
    size_t series;
};

static int compare_share(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->share != y->share)
        return x->share < y->share ? -1 : 1;
    return x->series < y->series ? -1 : 1;
}

static int compare_label(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return x->series < y->series ? -1 : 1;
}

/* Sorts the places of a batch by class and notes the runs. */
static void set_runs(struct search *search, struct place *places, struct batch *batch, size_t from,
                     size_t to, size_t *run_count)
{
    qsort(places + from, to - from, sizeof *places, compare_label);
    batch->first_run = *run_count;
    for (size_t i = from; i < to; i++) {
        search->order[i] = places[i].series;
        search->labels[i] = places[i].label;
        if (i == from || places[i].label != places[i - 1].label)
            search->runs[(*run_count)++] =
                (struct run){.from = i, .to = i + 1, .label = places[i].label};
        else
            search->runs[*run_count - 1].to = i + 1;
    }
    batch->end_run = *run_count;
}

static struct error *set_order(struct search *search, const size_t *counts)
{
    const struct dataset *dataset = search->dataset;
    size_t count = dataset->count, blocks = (count + DISTANCE_LANES - 1) / DISTANCE_LANES;
    size_t size = blocks / CHECKS, run_count = 0, least;
    struct place *places = calloc(count, sizeof *places);
    size_t *seen = calloc(dataset->classes, sizeof *seen);

    least = LEAST_BATCH + dataset->classes * SERIES_PER_LOOK / DISTANCE_LANES;
    size = size < least ? least : size;
    search->batch_count = (blocks + size - 1) / size;
    search->batches = calloc(search->batch_count, sizeof *search->batches);
    search->runs = calloc(count, sizeof *search->runs);
    search->order = calloc(count, sizeof *search->order);
    search->labels = calloc(count, sizeof *search->labels);
    if (!places || !seen || !search->batches || !search->runs || !search->order ||
        !search->labels) {
        free(places);
        free(seen);
        return error_memory("the order of the series");
    }
    for (size_t i = 0; i < count; i++) {
        size_t v = (size_t)dataset->y[i];

        places[i] = (struct place){.share = ((double)seen[v]++ + 0.5) / (double)counts[v],
                                   .label = dataset->y[i],
                                   .series = i};
    }
    qsort(places, count, sizeof *places, compare_share);
    for (size_t b = 0; b < search->batch_count; b++) {
        struct batch *batch = &search->batches[b];

        batch->first_block = b * size;
        batch->end_block = b + 1 == search->batch_count ? blocks : (b + 1) * size;
        set_runs(search, places, batch, batch->first_block * DISTANCE_LANES,
                 b + 1 == search->batch_count ? count : batch->end_block * DISTANCE_LANES,
                 &run_count);
    }
    free(places);
    free(seen);
    return NULL;
}

/* The order changes nothing in the result; a good mix of sources early makes more candidates
 * hopeless later. */
static struct error *set_sources(struct search *search)
{
    struct random_stream stream = random_stream(0, RANDOM_SHAPELETS, 0);

    search->sources = calloc(search->dataset->count, sizeof *search->sources);
    if (!search->sources)
        return error_memory("the order of the sources");
    for (size_t i = 0; i < search->dataset->count; i++)
        search->sources[i] = i;
    random_shuffle(&stream, search->sources, search->dataset->count);
    return NULL;
}

/* ---- Candidates and memory ---- */

static struct error *set_chunks(struct search *search)
{
    const struct discover_options *options = search->options;
    size_t steps = search->dataset->length, classes = search->labellings[0].classes;
    size_t starts = (steps - options->lengths[0]) / options->start_step + 1;
    size_t bytes =
        search->stride * sizeof(float) + BINS * classes * sizeof(uint32_t) + sizeof(struct bins);
    size_t at_once = TABLE_BYTES / bytes / options->length_count;

    at_once = at_once < 1 ? 1 : at_once > starts ? starts : at_once;
    search->chunks = calloc((starts + at_once - 1) / at_once, sizeof *search->chunks);
    if (!search->chunks)
        return error_memory("candidates");
    for (size_t from = 0; from < starts; from += at_once) {
        struct candidates *chunk = &search->chunks[search->chunk_count];
        size_t to = from + at_once < starts ? from + at_once : starts;

        TRY(candidates_make(steps, options->lengths, options->length_count, options->start_step,
                            from * options->start_step, (to - 1) * options->start_step + 1, chunk));
        search->chunk_count++;
        search->all_candidates += chunk->count;
        if (chunk->count > search->most_candidates)
            search->most_candidates = chunk->count;
    }
    return NULL;
}

static struct error *device_memory(const struct search *search)
{
    const char *fault = search->options->device->fault();

    return fault ? error_make("%s", fault) : error_memory("the series on the device");
}

static struct error *worker_make(const struct search *search, struct search_worker *worker)
{
    size_t most = search->most_candidates, count = search->dataset->count;
    size_t classes = search->labellings[0].classes;
    const struct candidates *largest = search->chunks;

    for (size_t i = 1; i < search->chunk_count; i++)
        if (search->chunks[i].count > largest->count)
            largest = &search->chunks[i];
    TRY(candidates_clone(largest, &worker->kept));
    TRY(distance_scratch_make(largest, &worker->distance));
    if (search->options->device) {
        /* No batch has more blocks than the first. */
        worker->on_device =
            search->options->device->worker_open(largest, search->batches[0].end_block);
        if (!worker->on_device)
            return device_memory(search);
    }
    TRY(quality_scratch_make(count, search->dataset->classes, &worker->quality));
    worker->table = malloc(most * search->stride * sizeof *worker->table);
    worker->histogram = malloc(most * BINS * classes * sizeof *worker->histogram);
    worker->bins = malloc(most * sizeof *worker->bins);
    worker->likely = malloc(most);
    worker->keep = malloc(most);
    worker->cells = malloc(count * sizeof *worker->cells);
    worker->bin_of = malloc(count);
    worker->unknown = malloc(classes * sizeof *worker->unknown);
    worker->found = malloc(search->all_candidates * sizeof *worker->found);
    worker->separate = malloc(search->all_candidates * sizeof *worker->separate);
    if (!worker->table || !worker->histogram || !worker->bins || !worker->likely || !worker->keep ||
        !worker->cells || !worker->bin_of || !worker->unknown || !worker->found ||
        !worker->separate)
        return error_memory("the distances of the candidates of a series");
    return NULL;
}

static void worker_free(const struct search *search, struct search_worker *worker)
{
    if (worker->on_device)
        search->options->device->worker_close(worker->on_device);
    candidates_free(&worker->kept);
    distance_scratch_free(&worker->distance);
    quality_scratch_free(&worker->quality);
    free(worker->table);
    free(worker->histogram);
    free(worker->bins);
    free(worker->likely);
    free(worker->keep);
    free(worker->cells);
    free(worker->bin_of);
    free(worker->unknown);
    free(worker->found);
    free(worker->separate);
}

static struct error *set_labellings(struct search *search, const size_t *counts)
{
    size_t classes = search->dataset->classes;

    search->labelling_count = search->options->one_against_rest ? classes : 1;
    search->labellings = calloc(search->labelling_count, sizeof *search->labellings);
    if (!search->labellings)
        return error_memory("classes");
    TRY(gain_xlogx(search->dataset->count, &search->xlogx));
    for (size_t p = 0; p < search->labelling_count; p++)
        TRY(labelling_make(counts, classes, search->options->one_against_rest ? (int32_t)p : -1,
                           search->xlogx, &search->labellings[p]));
    return NULL;
}

static struct error *set_workers(struct search *search)
{
    search->worker_count = parallel_threads();
    search->workers = calloc(search->worker_count, sizeof *search->workers);
    if (!search->workers)
        return error_memory("threads");
    for (unsigned i = 0; i < search->worker_count; i++)
        TRY(worker_make(search, &search->workers[i]));
    return NULL;
}

static struct error *set_lists(struct search *search)
{
    search->lists = calloc(search->plan.lists, sizeof *search->lists);
    search->entry = calloc(search->plan.lists, sizeof *search->entry);
    if (!search->lists || !search->entry)
        return error_memory("the best candidates");
    for (size_t i = 0; i < search->plan.lists; i++)
        TRY(shortlist_make(search->plan.capacity, &search->lists[i]));
    return NULL;
}

static struct error *search_make(struct search *search, const size_t *counts)
{
    const struct dataset *dataset = search->dataset;
    size_t k = search->options->k;

    /* An odd number of cache lines, so that rows do not all fall into the same sets. */
    search->stride = ((dataset->count + 15) / 16 | 1) * 16;
    search->quality = qualities[search->options->quality];
    search->measures_all = search->options->keep_all || !search->quality->bounds;
    TRY(set_labellings(search, counts));
    TRY(set_order(search, counts));
    TRY(set_sources(search));
    TRY(set_chunks(search));
    /* There are never more shapelets than candidates. */
    if (k / dataset->count >= search->all_candidates)
        k = search->all_candidates * dataset->count;
    search->plan =
        select_plan(search->options->selection, k, counts, dataset->classes, dataset->length);
    TRY(set_lists(search));
    return set_workers(search);
}

/* The series of a channel. */
static void series_free(struct search *search)
{
    if (search->on_device)
        search->options->device->series_close(search->on_device);
    search->on_device = NULL;
    series_blocks_free(&search->blocks);
}

static struct error *series_make(struct search *search, size_t channel)
{
    const struct distance_device *device = search->options->device;

    series_free(search);
    TRY(series_blocks_make(search->dataset, channel, search->order, &search->blocks));
    if (device) {
        search->on_device = device->series_open(&search->blocks);
        if (!search->on_device)
            return device_memory(search);
    }
    return NULL;
}

static void search_free(struct search *search)
{
    for (size_t i = 0; search->labellings && i < search->labelling_count; i++)
        labelling_free(&search->labellings[i]);
    for (size_t i = 0; search->chunks && i < search->chunk_count; i++)
        candidates_free(&search->chunks[i]);
    for (size_t i = 0; search->lists && i < search->plan.lists; i++)
        shortlist_free(&search->lists[i]);
    for (unsigned i = 0; search->workers && i < search->worker_count; i++)
        worker_free(search, &search->workers[i]);
    free(search->xlogx);
    free(search->labellings);
    free(search->order);
    free(search->labels);
    free(search->sources);
    free(search->runs);
    free(search->batches);
    free(search->chunks);
    free(search->lists);
    free((void *)search->entry);
    free(search->workers);
    series_free(search);
    pthread_mutex_destroy(&search->lock);
}

/* ---- Ranks ----
 *
 * Each searches the candidates of some series.  After a round of 8 series each, then of 16, 32 and
 * so on, the lists of all are merged: those of one rank alone would fill up later, and fewer
 * candidates be dropped early.  A merged list holds the best of all series that were searched, so
 * that the last is the list that one process would have made. */

/* All lists: how many candidates each has, then room for `capacity` of each. */
static struct scored_candidate *packed_list(const struct search *search, void *packed, size_t list)
{
    size_t *counts = packed;

    return (struct scored_candidate *)(counts + search->plan.lists) + list * search->plan.capacity;
}

static void merge_packed(void *context, void *into, const void *from)
{
    const struct search *search = context;
    size_t *counts = into;
    const size_t *other = from;

    for (size_t i = 0; i < search->plan.lists; i++) {
        struct shortlist list = {search->plan.capacity, counts[i], packed_list(search, into, i)};

        shortlist_add_missing(&list, packed_list(search, (void *)from, i), other[i]);
        counts[i] = list.count;
    }
}

static struct error *exchange_lists(struct search *search)
{
    size_t lists = search->plan.lists, capacity = search->plan.capacity;
    size_t bytes = lists * (sizeof(size_t) + capacity * sizeof(struct scored_candidate));
    size_t *counts;
    struct error *error;

    if (!search->options->cluster)
        return NULL;
    if (!(counts = calloc(1, bytes)))
        return error_memory("the best candidates of all ranks");
    for (size_t i = 0; i < lists; i++) {
        counts[i] = search->lists[i].count;
        memcpy(packed_list(search, counts, i), search->lists[i].items,
               counts[i] * sizeof *search->lists[i].items);
    }
    error = cluster_merge(search->options->cluster, counts, bytes, merge_packed, search);
    for (size_t i = 0; i < lists && !error; i++) {
        search->lists[i].count = counts[i];
        memcpy(search->lists[i].items, packed_list(search, counts, i),
               counts[i] * sizeof *search->lists[i].items);
        atomic_store(&search->entry[i], shortlist_entry(&search->lists[i]));
    }
    free(counts);
    return error;
}

/* In a round, every size-th source is this rank's. */
static struct error *search_sources(struct search *search)
{
    size_t count = search->dataset->count, end;
    size_t rank = cluster_rank(search->options->cluster);
    size_t ranks = cluster_size(search->options->cluster);
    size_t round = ranks == 1 ? count : FIRST_ROUND * ranks;

    for (size_t first = 0; first < count; first = end, round *= 2) {
        end = size_min(first + round, count);
        search->first_source = first + rank;
        search->source_step = ranks;
        if (search->first_source < end)
            parallel_for(size_ceiling(end - search->first_source, ranks), search_source, search);
        if (search->options->device && search->options->device->fault())
            return device_memory(search);
        TRY(exchange_lists(search));
    }
    return NULL;
}

static void add_reports(void *context, void *into, const void *from)
{
    const struct discover_report *other = from;
    struct discover_report *sum = into;

    (void)context;
    sum->candidates += other->candidates;
    sum->distances += other->distances;
    sum->sorted += other->sorted;
}

/* ---- Channels and the pool ---- */

static struct error *search_channel(struct search *search, size_t channel,
                                    struct scored_candidate *chosen, size_t *count)
{
    struct select_measure measure = {.dataset = search->dataset,
                                     .window = search->options->window,
                                     .length_normalised = search->options->length_normalised};
    double doubt;

    search->channel = channel;
    TRY(series_make(search, channel));
    TRY(distance_doubt(&search->blocks, &doubt));
    for (unsigned i = 0; i < search->worker_count; i++)
        search->workers[i].distance.doubt = doubt;
    for (size_t i = 0; i < search->plan.lists; i++) {
        search->lists[i].count = 0;
        atomic_store(&search->entry[i], -1.0F);
    }
    TRY(search_sources(search));
    return select_final(&search->plan, search->lists, &measure, chosen, count);
}

static struct error *make_pool(const struct search *search, const struct scored_candidate *chosen,
                               size_t count, struct shapelet_pool *pool)
{
    const struct dataset *dataset = search->dataset;
    size_t values = 0;
    float *next;

    for (size_t i = 0; i < count; i++)
        values += chosen[i].length;
    TRY(slp_new(count, values, pool));
    pool->channels = dataset->channels;
    pool->steps = dataset->length;
    pool->classes = dataset->classes;
    pool->quality = search->options->quality;
    pool->length_normalised = search->options->length_normalised;
    next = pool->values;
    for (size_t i = 0; i < count; i++) {
        const struct scored_candidate *found = &chosen[i];
        const float *series = dataset_series(dataset, found->source, found->channel);
        size_t window = search->options->window;

        memcpy(next, series + found->start, found->length * sizeof *next);
        pool->shapelets[i] = (struct shapelet){.values = next,
                                               .channel = found->channel,
                                               .start = found->start,
                                               .length = found->length,
                                               .label = found->label,
                                               .window = window < SLP_WINDOW_FULL ? (uint32_t)window
                                                                                  : SLP_WINDOW_FULL,
                                               .source = found->source,
                                               .quality = found->quality,
                                               .threshold = found->threshold};
        next += found->length;
    }
    return NULL;
}

static struct error *search_all(struct search *search, struct shapelet_pool *pool)
{
    size_t channels = search->dataset->channels, k = search->plan.k, count = 0, room;
    struct error *error = NULL;
    struct scored_candidate *chosen;

    if (__builtin_mul_overflow(channels, k, &room) || !(chosen = calloc(room, sizeof *chosen)))
        return error_memory("the pool");
    for (size_t c = 0; c < channels && !error; c++) {
        size_t found = 0;

        error = search_channel(search, c, chosen + count, &found);
        count += found;
    }
    if (!error)
        error = make_pool(search, chosen, count, pool);
    free(chosen);
    return error;
}

struct error *discover_shapelets(const struct dataset *dataset,
                                 const struct discover_options *options, struct shapelet_pool *pool,
                                 struct discover_report *report)
{
    struct search search = {.dataset = dataset, .options = options};
    struct discover_report sum = {0};
    struct error *error;
    size_t *counts;

    *pool = (struct shapelet_pool){0};
    TRY(check_options(dataset, options));
    if (!(counts = calloc(dataset->classes + 1, sizeof *counts)))
        return error_memory("class counts");
    dataset_class_counts(dataset, counts);
    pthread_mutex_init(&search.lock, NULL);
    error = check_classes(dataset, counts);
    if (!error)
        error = search_make(&search, counts);
    if (!error)
        error = search_all(&search, pool);
    for (unsigned i = 0; search.workers && i < search.worker_count; i++)
        add_reports(NULL, &sum, &search.workers[i].report);
    if (!error)
        error = cluster_merge(options->cluster, &sum, sizeof sum, add_reports, NULL);
    if (report)
        *report = sum;
    search_free(&search);
    free(counts);
    return error;
}
