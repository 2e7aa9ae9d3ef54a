/* fuzz_zstd.c - bytes as a zstd stream, and as what a whole stream unpacks to. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <zstd.h>

#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(data, size);
    size_t bound = ZSTD_compressBound(size);
    uint8_t *packed = malloc(bound);
    if (packed == NULL)
        return 0;
    size_t len = ZSTD_compress(packed, bound, data, size, 1);
    if (!ZSTD_isError(len))
        fuzz_read(packed, len);
    free(packed);
    return 0;
}
