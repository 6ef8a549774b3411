/* Reads an NPY file in full, for timing: npy_load array|dataset FILE.
 *
 *     array    maps it through libnpy-c and adds up every value
 *     dataset  reads it as the tools do: digest, labels and finiteness checked */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dataset.h"

static int load_arrays(const char *path)
{
    struct npy_error error;
    struct npy_array array;
    npy_reader *reader = npy_open(path, &error);
    uint64_t sum = 0;
    int result = -1;

    while (reader && (result = npy_next(reader, &array, &error)) == 1) {
        const size_t words = array.count * array.item_size / sizeof(uint32_t);
        const uint32_t *data = array.data;

        for (size_t i = 0; i < words; i++)
            sum += data[i];
        npy_array_free(&array);
    }
    npy_close(reader);
    if (result < 0)
        fprintf(stderr, "%s: %s\n", path, error.message);
    /* Used, so that it is computed. */
    return result < 0 || sum == 1;
}

static int load_dataset(const char *path)
{
    struct dataset dataset;
    struct error *error = dataset_read(path, NULL, 0, &dataset);

    if (error) {
        fprintf(stderr, "%s\n", error_message(error));
        error_free(error);
        return 1;
    }
    dataset_free(&dataset);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "array") == 0)
        return load_arrays(argv[2]);
    if (argc == 3 && strcmp(argv[1], "dataset") == 0)
        return load_dataset(argv[2]);
    fprintf(stderr, "usage: npy_load array|dataset FILE\n");
    return 2;
}
