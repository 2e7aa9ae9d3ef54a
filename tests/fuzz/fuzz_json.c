/* fuzz_json.c - JSON text, and whatever else the bytes turn out to be. */
#include <stddef.h>
#include <stdint.h>

#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(data, size);
    return 0;
}
