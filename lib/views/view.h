/* Views: more series, made from those of a condensed dataset by a recipe whose random choices come
 * from counters, so that a file needs to hold only the recipe and a teacher's logits for each view.
 *
 * View m draws u[0], u[1], ... (32 bits each, as shares of 2^32) from the stream (seed,
 * RANDOM_VIEW, m).  Three series come first, each from 7 + C numbers: which one, shift, how much of
 * it, from where, three displacements, and the gain of each channel:
 *
 *     r = 1 - crop u[2],  s = (1 - r)(L - 1) u[3]                 the part from s to s + r (L - 1)
 *     d(t): warp (2 u[4..6] - 1) h at t = h, 2h, 3h, 0 at both ends, linear between; h = (L - 1)/4
 *     q = s + r (t + d(t)),  i = floor(q),  f = q - i
 *     v = (1 - f) x[(i + k) mod L] + f x[(i + 1 + k) mod L]       k: the shift
 *     out = centre + g (v - centre),  g = 1 + gain (2 u[7 + c] - 1)
 *
 * where centre is the mean of the channel over all series.  Then, with probability `mix`, the
 * second is mixed into the first by a weight of each channel, and, with probability `cut`, a
 * segment of the third replaces that of the result.  Every step commutes with a change of scale and
 * offset of a channel, so that views stay valid under sc-scale and its undoing.
 *
 * All arithmetic is in double, without fused products, in the order of the formulas, so that a
 * reader in NumPy makes the same bytes (sc-dataset(5) has one). */
#ifndef SC_VIEWS_VIEW_H
#define SC_VIEWS_VIEW_H

#include <stddef.h>

#include "formats/dataset.h"
#include "base/error.h"

/* Recipes with names.  The more views vary, the more of what the teacher knows its logits say, up
 * to where its answers mean nothing; where that is differs from dataset to dataset
 * (pipelines/DECISIONS.md, eval/view_choice.h).  The first is the default. */
enum { VIEW_PRESETS = 3 };
extern const struct view_preset {
    const char *name;
    struct view_recipe recipe;
} view_presets[VIEW_PRESETS];

struct view_recipe view_recipe_default(void);

/* Reads words such as "strong" or "shift=0.25 crop=0 mix=0.5"; those that are not named stay as
 * they are, and "none" sets all to 0. */
struct error *view_recipe_parse(const char *text, struct view_recipe *recipe) MUST_CHECK;

/* Views first .. first + count - 1 of the series, into x (count, C, L). */
struct error *view_make(const struct dataset *dataset, const struct view_recipe *recipe,
                        size_t first, size_t count, float *x) MUST_CHECK;

/* Logits that are this far below the largest are as good as impossible at the usual temperature of
 * 4, and codes need not tell them apart.  The sixteen codes of 4 bits had better tell smaller
 * differences apart (pipelines/DECISIONS.md). */
#define VIEW_RANGE        48.0f
#define VIEW_RANGE_4_BITS 20.0f

/* Gives the dataset `count` views with these logits (count, V), rounded to codes of `bits` bits, as
 * its soft labels are, if it has some.  Codes reach down to `most` below the largest logit. */
struct error *view_label(struct dataset *dataset, const struct view_recipe *recipe, size_t count,
                         const float *logits, unsigned bits, double most) MUST_CHECK;

/* How many views fit with the series into `bytes` (dataset_content_size), if their labels are not
 * compressed; at least 0.  An error if the series do not fit. */
struct error *view_room(const struct dataset *dataset, unsigned bits, double bytes,
                        double *room) MUST_CHECK;

/* Keeps as many of the first views as fit with the series into `bytes`; an error if none does. */
struct error *view_fit(struct dataset *dataset, double bytes) MUST_CHECK;

/* The logits of views whose class does not change (mix and cut are 0): those of the series that
 * each is made from, or, for series without soft labels, 0 for its class and far less for the
 * others. */
void view_kept_logits(const struct dataset *dataset, const struct view_recipe *recipe, size_t count,
                      float *logits);

/* The logits of view m, as they were stored, into logits[V]. */
void view_logits(const struct dataset *dataset, size_t m, float *logits);

/* An ordinary dataset: the series, then the views with the class of their largest logit.  Names and
 * notes are copied.  Series without soft labels get those of view_kept_logits. */
struct error *view_expand(const struct dataset *dataset, struct dataset *expanded) MUST_CHECK;

#endif
