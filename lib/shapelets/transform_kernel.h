/* The kernel of transform.c, compiled once for each instruction set: eight places in a vector, a
 * few vectors at a time, one step of the shapelet after the other.  The including file defines
 * SQUARES, the name of the function. */
#include "shapelets/transform_internal.h"

#define INLINE static inline __attribute__((always_inline))

typedef float eight __attribute__((vector_size(32)));
typedef float eight_anywhere __attribute__((vector_size(32), aligned(4), may_alias));

INLINE void squares_of(const float *x, const float *shapelet, size_t length, int vectors,
                       float *squares)
{
    eight total[6] = {0};

    for (size_t from = 0; from < length; from += TRANSFORM_CHUNK) {
        size_t to = length - from > TRANSFORM_CHUNK ? from + TRANSFORM_CHUNK : length;
        eight sum[6] = {0};

        for (size_t t = from; t < to; t++)
            for (int v = 0; v < vectors; v++) {
                eight difference = *(const eight_anywhere *)(x + t + v * 8) - shapelet[t];

                sum[v] += difference * difference;
            }
        for (int v = 0; v < vectors; v++)
            total[v] += sum[v];
    }
    for (int v = 0; v < vectors; v++)
        *(eight_anywhere *)(squares + v * 8) = total[v];
}

void SQUARES(const float *x, const float *shapelet, size_t length, size_t places, float *squares)
{
    for (size_t done = 0; done < places;) {
        size_t vectors = (places - done + 7) / 8;

        switch (vectors) {
        case 1:
            squares_of(x + done, shapelet, length, 1, squares + done);
            break;
        case 2:
            squares_of(x + done, shapelet, length, 2, squares + done);
            break;
        case 3:
            squares_of(x + done, shapelet, length, 3, squares + done);
            break;
        case 4:
            squares_of(x + done, shapelet, length, 4, squares + done);
            break;
        case 5:
            squares_of(x + done, shapelet, length, 5, squares + done);
            break;
        default:
            squares_of(x + done, shapelet, length, 6, squares + done);
        }
        done += 8 * (vectors < 6 ? vectors : 6);
    }
}
