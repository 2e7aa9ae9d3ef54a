/* limits.h - how much a stranger's file may ask for; all values set, none zero. */
#ifndef VRS_FORMAT_INPUT_LIMITS_H
#define VRS_FORMAT_INPUT_LIMITS_H

#include <stdint.h>

struct limits {
    uint32_t nesting;
    uint32_t string_bytes;
    uint32_t strings_bytes;
    uint32_t items; /* at most 2^28 - 1: memo handles have 28 bits for a row */
    uint64_t unpacked_bytes;
    uint32_t frames;
};

extern const struct limits default_limits;

#endif
