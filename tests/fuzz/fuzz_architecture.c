/* Descriptions of networks: what is read is printed and read again as the same, and what is whole
 * makes a network whose values are where its views say. */
#include "fuzz.h"

#include "nn/architecture.h"
#include "nn/backend.h"
#include "nn/network.h"

static void check_views(const struct network_view *views, size_t count, size_t floats)
{
    size_t next = 0;

    for (size_t i = 0; i < count; i++) {
        size_t product = 1;

        for (size_t d = 0; d < views[i].ndim; d++)
            MUST(!__builtin_mul_overflow(product, views[i].shape[d], &product));
        MUST(views[i].offset == next && views[i].count == product && views[i].name[0]);
        MUST(!__builtin_add_overflow(next, product, &next));
    }
    MUST(next == floats);
}

static void build(const struct architecture *architecture)
{
    struct network *network;

    if (failed(network_new(architecture, backend_cpu(), &network)))
        return;
    MUST(network->embedding > architecture->features);
    check_views(network->parameters, network->parameter_views, network->parameter_count);
    check_views(network->buffers, network->buffer_views, network->buffer_count);
    network_free(network);
}

static const char *text_of(const struct architecture *architecture, char text[ARCHITECTURE_TEXT])
{
    architecture_print(architecture, text);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct architecture architecture = {0}, again;
    char *copy = malloc(size + 1), text[ARCHITECTURE_TEXT], same[ARCHITECTURE_TEXT];

    MUST(copy);
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    if (!failed(architecture_parse(copy, &architecture))) {
        bool gru = strncmp(text_of(&architecture, text), "gru", 3) == 0;

        MUST(architecture_value(&architecture, gru ? "hidden" : "width") >= 1);
        if (strncmp(text, "cnn", 3) == 0)
            MUST(architecture_value(&architecture, "kernel") % 2 == 1);
        MUST(strlen(text) < sizeof text - 1);
        MUST(!failed(architecture_parse(text, &again)));
        architecture_print(&again, same);
        MUST(strcmp(text, same) == 0);
        build(&architecture);
    }
    free(copy);
    return 0;
}
