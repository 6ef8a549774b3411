/* A progress bar on standard error: drawn only when that is a terminal and --quiet is not given.
 *
 *     sc-teacher [########            ] 40 %  epoch 41 of 100, loss 0.213  0:12 left
 *
 * The environment variable SHAPECOND_STAGE ("3/12 200"), which shapecond sets, says which of
 * several stages this is and how many seconds those after it will take:
 *
 *     3/12 sc-teacher [########            ] 40 %  epoch 41 of 100  0:12 of ~3:32 left
 *
 * progress_update may be called from any thread and as often as wanted: it draws at most ten times
 * a second. */
#ifndef SC_PROGRESS_H
#define SC_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

void progress_start(const char *label, size_t total, bool quiet);
/* done of total; text, if not NULL, is shown after the bar. */
void progress_update(size_t done, const char *text);
/* Wipes the bar.  Also safe when none was started. */
void progress_end(void);

/* Whether there is a bar on the terminal now.  Safe in a signal handler. */
bool progress_is_drawn(void);

#endif
