#include "common/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 24 };

static struct {
    pthread_mutex_t lock;
    bool active;
    const char *label;
    size_t total;
    double started;
    double drawn; /* when last */
} bar = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void progress_start(const char *label, size_t total, bool quiet)
{
    bar.active = !quiet && isatty(STDERR_FILENO);
    bar.label = label;
    bar.total = total ? total : 1;
    bar.started = now();
    bar.drawn = 0;
}

static void draw(size_t done, const char *text, double time)
{
    char marks[BAR_WIDTH + 1];
    double share = (double)done / (double)bar.total;
    size_t filled;

    share = share > 1 ? 1 : share;
    filled = (size_t)(share * BAR_WIDTH);
    memset(marks, ' ', BAR_WIDTH);
    memset(marks, '#', filled);
    marks[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r\033[K%s [%s] %3.0f %%", bar.label, marks, 100 * share);
    if (text)
        fprintf(stderr, "  %s", text);
    /* The first moments say nothing about the rest. */
    if (share > 0 && time - bar.started > 0.5) {
        unsigned long left = (unsigned long)((time - bar.started) * (1 - share) / share + 0.5);

        fprintf(stderr, "  %lu:%02lu left", left / 60, left % 60);
    }
    fflush(stderr);
}

void progress_update(size_t done, const char *text)
{
    double time;

    if (!bar.active)
        return;
    time = now();
    pthread_mutex_lock(&bar.lock);
    if (bar.active && time - bar.drawn >= 0.1) {
        bar.drawn = time;
        draw(done, text, time);
    }
    pthread_mutex_unlock(&bar.lock);
}

bool progress_is_drawn(void)
{
    return bar.active && bar.drawn > 0;
}

void progress_end(void)
{
    pthread_mutex_lock(&bar.lock);
    if (bar.active && bar.drawn > 0) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    bar.active = false;
    pthread_mutex_unlock(&bar.lock);
}
