/* limits.c - the limits that no honest file reaches. */
#include "format/input/limits.h"

const struct limits default_limits = {
    .nesting = 64,
    .string_bytes = 16u << 20,
    .strings_bytes = UINT32_MAX,
    .items = (1u << 28) - 1,
    .unpacked_bytes = (uint64_t)64 << 30,
    .frames = 65535,
};
