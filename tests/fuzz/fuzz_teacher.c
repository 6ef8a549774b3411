/* Teachers as networks: the tensors of a .tch file must fit its network line.  What is accepted is
 * written again as the same values. */
#include "fuzz.h"

#include "nn/backend.h"
#include "nn/teacher.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct teacher teacher, again;
    char *written;
    size_t written_size;
    FILE *stream;

    if (failed(teacher_read(as_file(bytes, size), backend_cpu(), &teacher)))
        return 0;
    for (size_t i = 0; i < teacher.network->parameter_count; i++)
        MUST(isfinite(teacher.parameters[i]));
    stream = open_memstream(&written, &written_size);
    MUST(stream);
    MUST(!failed(teacher_write(stream, &teacher)));
    fclose(stream);
    MUST(!failed(teacher_read(as_file(written, written_size), backend_cpu(), &again)));
    MUST(again.network->parameter_count == teacher.network->parameter_count);
    MUST(memcmp(again.parameters, teacher.parameters,
                teacher.network->parameter_count * sizeof(float)) == 0);
    MUST(memcmp(again.buffers, teacher.buffers, teacher.network->buffer_count * sizeof(float)) ==
         0);
    teacher_free(&again);
    teacher_free(&teacher);
    free(written);
    return 0;
}
