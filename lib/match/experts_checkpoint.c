#include "match/experts_checkpoint.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nn/checkpoint.h"

static const char title[] = "sc-experts checkpoint ";

static struct error *write_name(struct experts_checkpoint *checkpoint, const char *name)
{
    if (fprintf(checkpoint->stream, "%s%s\n", title, name) < 0 || fflush(checkpoint->stream) != 0)
        return error_system(checkpoint->path);
    return NULL;
}

static struct error *check_name(struct experts_checkpoint *checkpoint, const char *name)
{
    char line[128], expected[128];

    snprintf(expected, sizeof expected, "%s%s\n", title, name);
    if (!fgets(line, sizeof line, checkpoint->stream) ||
        strncmp(line, title, sizeof title - 1) != 0)
        return error_make("%s: not a checkpoint of sc-experts", checkpoint->path);
    if (strcmp(line, expected) != 0)
        return error_make("%s: belongs to experts with other data or options: remove it to start "
                          "from the beginning",
                          checkpoint->path);
    return NULL;
}

/* How many whole experts follow the name; the rest is cut off. */
static struct error *count_finished(struct experts_checkpoint *checkpoint)
{
    long start = ftell(checkpoint->stream);
    size_t bytes = checkpoint->floats * sizeof(float);
    struct stat info;

    if (start < 0 || fstat(fileno(checkpoint->stream), &info) != 0)
        return error_system(checkpoint->path);
    checkpoint->finished = (size_t)(info.st_size - start) / bytes;
    if (ftruncate(fileno(checkpoint->stream),
                  (off_t)(checkpoint->finished * bytes) + (off_t)start) != 0)
        return error_system(checkpoint->path);
    return NULL;
}

struct error *experts_checkpoint_open(const char *path, const char *name, size_t floats,
                                      struct experts_checkpoint *checkpoint)
{
    struct stat info;
    bool found;

    *checkpoint = (struct experts_checkpoint){.path = path, .floats = floats};
    if (!path)
        return NULL;
    TRY(checkpoint_look(path, &found));
    checkpoint->stream = fopen(path, "a+b");
    if (!checkpoint->stream || fstat(fileno(checkpoint->stream), &info) != 0)
        return error_system(path);
    if (info.st_size == 0)
        return write_name(checkpoint, name);
    rewind(checkpoint->stream);
    TRY(check_name(checkpoint, name));
    return count_finished(checkpoint);
}

struct error *experts_checkpoint_next(struct experts_checkpoint *checkpoint, float *points)
{
    if (fread(points, sizeof *points, checkpoint->floats, checkpoint->stream) != checkpoint->floats)
        return error_make("%s: cannot be read to its end", checkpoint->path);
    return NULL;
}

struct error *experts_checkpoint_add(struct experts_checkpoint *checkpoint, const float *points)
{
    if (!checkpoint->stream)
        return NULL;
    if (fseek(checkpoint->stream, 0, SEEK_END) != 0 ||
        fwrite(points, sizeof *points, checkpoint->floats, checkpoint->stream) !=
            checkpoint->floats ||
        fflush(checkpoint->stream) != 0)
        return error_system(checkpoint->path);
    return NULL;
}

void experts_checkpoint_close(struct experts_checkpoint *checkpoint)
{
    if (checkpoint->stream)
        fclose(checkpoint->stream);
    checkpoint->stream = NULL;
}
