/* fuzz_gzip.c - bytes as a gzip stream, and as what a whole stream unpacks to. */
#define ZLIB_CONST
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <zlib.h>

#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(data, size);
    z_stream z = { .zalloc = Z_NULL };
    if (size > UINT32_MAX / 2 ||
        deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    size_t bound = deflateBound(&z, (uLong)size);
    uint8_t *packed = malloc(bound);
    z.next_in = data;
    z.avail_in = (uInt)size;
    z.next_out = packed;
    z.avail_out = (uInt)bound;
    if (packed != NULL && deflate(&z, Z_FINISH) == Z_STREAM_END)
        fuzz_read(packed, z.total_out);
    deflateEnd(&z);
    free(packed);
    return 0;
}
