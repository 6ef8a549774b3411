/* The search in one channel: every candidate of every series measured, bounded and scored, the best
 * kept in lists.  Used by discover.c, which sets it up. */
#ifndef SC_SHAPELETS_SEARCH_H
#define SC_SHAPELETS_SEARCH_H

#include <pthread.h>
#include <stdatomic.h>

#include "shapelets/bins.h"
#include "shapelets/discover.h"
#include "shapelets/distance.h"
#include "shapelets/quality.h"

/* Series of one class, side by side in the order of measuring. */
struct run {
    size_t from, to;
    int32_t label;
};

/* Series that are measured between two looks at the bounds. */
struct batch {
    size_t first_block, end_block;
    size_t first_run, end_run;
};

/* What one thread works with.  A candidate is known by its row of the table. */
struct search_worker {
    /* At work on: */
    size_t source;
    const struct labelling *labelling;
    struct candidates kept;

    struct distance_scratch distance;
    void *on_device; /* instead of it, where a device measures */
    struct quality_scratch quality;
    float *table;                      /* (candidates, stride) distances */
    uint32_t *histogram;               /* (candidates, classes, BINS) */
    struct bins *bins;                 /* (candidates,) */
    uint8_t *likely;                   /* (candidates,) bin where the best split may be */
    uint8_t *keep;                     /* (candidates,) */
    uint16_t *cells;                   /* (series,) */
    uint8_t *bin_of;                   /* (series,) */
    size_t *unknown;                   /* (classes,) */
    double blind;                      /* the blind bound of unknown */
    struct scored_candidate *found;    /* of the source, in all chunks */
    struct scored_candidate *separate; /* those for one list that do not overlap */
    size_t found_count;
    struct discover_report report;
};

struct search {
    const struct dataset *dataset;
    const struct discover_options *options;
    struct select_plan plan;
    double *xlogx;
    const struct quality *quality;
    bool measures_all;            /* no candidate is dropped */
    struct labelling *labellings; /* one, or one for each class */
    size_t labelling_count;
    size_t *order;   /* (N,) series in the order of measuring */
    int32_t *labels; /* (N,) in that order */
    size_t *sources; /* (N,) in the order in which they are searched */
    struct run *runs;
    struct batch *batches;
    size_t batch_count;
    struct candidates *chunks; /* all candidates of a series, some starts at a time */
    size_t chunk_count;
    size_t most_candidates; /* of a chunk */
    size_t all_candidates;  /* of a series */
    size_t stride;
    struct search_worker *workers;
    unsigned worker_count;
    pthread_mutex_t lock; /* of the lists */
    _Atomic size_t done;  /* sources, in all channels */

    /* Of the current channel. */
    size_t channel;
    size_t first_source, source_step; /* tasks are these of `sources` */
    struct series_blocks blocks;
    void *on_device; /* the same, where a device measures */
    struct shortlist *lists;
    _Atomic float *entry; /* shortlist_entry of each list, readable without the lock */
};

/* Searches the candidates of series sources[first_source + task * source_step]: a task for
 * parallel_for. */
void search_source(void *search, size_t task, unsigned worker);

#endif
