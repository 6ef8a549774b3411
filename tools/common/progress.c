#include "common/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/help.h"
#include "base/clock.h"

enum { BAR_WIDTH = 24 };

static struct {
    pthread_mutex_t lock;
    bool active;
    const char *label;
    size_t total;
    double started;
    double drawn;   /* when last */
    char stage[24]; /* "3/12", of a run of several programs, or "" */
    double after;   /* seconds that those after this one will take */
} bar = {.lock = PTHREAD_MUTEX_INITIALIZER};

void progress_start(const char *label, size_t total, bool quiet)
{
    bar.active = !quiet && isatty(STDERR_FILENO);
    bar.label = label;
    bar.total = total ? total : 1;
    bar.started = clock_seconds();
    bar.drawn = 0;
    if (!getenv("SHAPECOND_STAGE") ||
        sscanf(getenv("SHAPECOND_STAGE"), "%23s %lf", bar.stage, &bar.after) != 2)
        bar.stage[0] = '\0';
}

/* "0:12 left", and of a run of several stages "0:12 of ~3:40 left". */
static void print_left(double left, char *text, size_t size)
{
    unsigned long stage = (unsigned long)(left + 0.5);
    unsigned long all = (unsigned long)(left + bar.after + 0.5);

    if (bar.stage[0] && bar.after >= 1)
        snprintf(text, size, "  %lu:%02lu of ~%lu:%02lu left", stage / 60, stage % 60, all / 60,
                 all % 60);
    else
        snprintf(text, size, "  %lu:%02lu left", stage / 60, stage % 60);
}

/* How many characters of "epoch 3 of 9, loss 0.5" fit, up to a comma. */
static int fitting(const char *text, size_t room)
{
    size_t length = strlen(text);

    if (length > room)
        for (length = room; length > 0 && text[length] != ','; length--)
            continue;
    return (int)length;
}

/* The line fits the terminal: a bar that is shorter where there is little room, then as much of the
 * text as fits before the time that is left. */
static void draw(size_t done, const char *text, double time)
{
    size_t width = help_width(STDERR_FILENO) - 1, label = strlen(bar.label), length, room;
    size_t bar_width = width < label + 70 ? BAR_WIDTH / 2 : BAR_WIDTH;
    char marks[BAR_WIDTH + 1], line[512], left[64] = "";
    double share = (double)done / (double)bar.total;

    share = share > 1 ? 1 : share;
    memset(marks, ' ', bar_width);
    memset(marks, '#', (size_t)(share * (double)bar_width));
    marks[bar_width] = '\0';
    /* The first moments say nothing about the rest. */
    if (share > 0 && time - bar.started > 0.5)
        print_left((time - bar.started) * (1 - share) / share, left, sizeof left);
    width = width < sizeof line ? width : sizeof line - 1;
    snprintf(line, sizeof line, "%s%s%.100s [%s] %3.0f %%", bar.stage, bar.stage[0] ? " " : "",
             bar.label, marks, 100 * share);
    length = strlen(line);
    room = length + strlen(left) < width ? width - length - strlen(left) : 0;
    if (text && room > 4)
        snprintf(line + length, room + 1, "  %.*s", fitting(text, room - 2), text);
    length = strlen(line);
    if (length + strlen(left) <= width)
        snprintf(line + length, sizeof line - length, "%s", left);
    fprintf(stderr, "\r\033[K%.*s", (int)width, line);
    fflush(stderr);
}

void progress_update(size_t done, const char *text)
{
    double time;

    if (!bar.active)
        return;
    time = clock_seconds();
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
