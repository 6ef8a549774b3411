#include "common/shapelets.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

size_t shapelets_window(const char *text)
{
    char *end;
    unsigned long long window;

    if (!text || strcmp(text, "found") == 0)
        return TRANSFORM_AS_FOUND;
    if (strcmp(text, "full") == 0)
        return TRANSFORM_FULL;
    window = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || window >= TRANSFORM_AS_FOUND)
        cli_usage("--window: '%s' is neither a number of steps nor 'full' nor 'found'", text);
    return (size_t)window;
}

struct feature_source shapelets_source(const struct shapelets_cli *cli, const struct device *device,
                                       struct shapelet_pool *pool)
{
    struct feature_source source = {.window = shapelets_window(cli->window), .device = device};

    memset(pool, 0, sizeof *pool);
    if (cli->window && !cli->pool)
        cli_usage("--window needs --shapelets");
    if (cli->pool) {
        cli_check(slp_read(cli->pool, pool));
        source.pool = pool;
    }
    return source;
}

void shapelets_transform(const struct shapelets_cli *cli, const struct shapelet_pool *pool,
                         const struct dataset *dataset, struct transform *transform)
{
    struct error *error;

    *transform = (struct transform){0};
    if (!cli->pool)
        return;
    if (pool->steps != dataset->length || pool->classes != dataset->classes)
        error = error_make("found in series of %zu steps and %zu classes, these have %zu and %zu",
                           pool->steps, pool->classes, dataset->length, dataset->classes);
    else
        error = transform_make(pool, dataset->channels, dataset->length,
                               shapelets_window(cli->window), transform);
    cli_check(error_in(file_shown(cli->pool), error));
}
