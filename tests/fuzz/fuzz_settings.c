/* fuzz_settings.c - bytes as a settings string: taken whole or not at all, and as one of a file. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/machine/config.h"
#include "allocator/machine/rounding.h"
#include "base/fail.h"
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static bool same(const struct allocator_config *a, const struct allocator_config *b)
{
    for (uint32_t i = 0; i < ROUNDING_DIVISIONS; i++)
        if (a->rounding.divisions[i] != b->rounding.divisions[i])
            return false;
    return a->rounding.divides == b->rounding.divides && a->max_split_bytes == b->max_split_bytes &&
           a->non_split_rounding_bytes == b->non_split_rounding_bytes &&
           a->large_segment_bytes == b->large_segment_bytes && a->gc_threshold == b->gc_threshold &&
           a->memory_fraction == b->memory_fraction && a->expandable == b->expandable;
}

static void require_sound(const struct allocator_config *c)
{
    bool divides = false;
    for (uint32_t i = 0; i < ROUNDING_DIVISIONS; i++) {
        uint64_t divisions = c->rounding.divisions[i];
        require((divisions & (divisions - 1)) == 0, "divisions are no power of two");
        divides |= divisions > 1;
    }
    require(c->rounding.divides == divides, "divides is wrong");
    require(c->gc_threshold >= 0 && c->gc_threshold < 1, "a threshold out of bounds");
    require(c->memory_fraction >= 0 && c->memory_fraction <= 1, "a fraction out of bounds");
    require(c->max_split_bytes < ENDLESS_BYTES || c->max_split_bytes == UINT64_MAX,
            "a largest size to split that is endless by another name");
    require(c->max_split_bytes >= c->large_segment_bytes, "blocks of a segment are not split");
    require(c->non_split_rounding_bytes >= 20 * MIB && c->non_split_rounding_bytes <= ENDLESS_BYTES,
            "a rounding out of bounds");
    require(c->large_segment_bytes > OWN_SEGMENT_MIN && c->large_segment_bytes % MIB == 0 &&
                c->large_segment_bytes <= ENDLESS_BYTES,
            "a segment size out of bounds");
    for (uint64_t request = 1; request != 0; request <<= 1) {
        uint64_t block = rounding_apply(&c->rounding, request + request / 3);
        require(block >= request + request / 3, "a block too small");
        require(config_segment_bytes(c, block) >= block, "a segment too small");
    }
}

static void require_words(const struct vrs_error *err)
{
    require(err->status == VRS_USAGE && err->message[0] != '\0', "a failure without words");
    for (const char *at = err->message; *at != '\0'; at++)
        require(*at >= ' ' && *at <= '~', "a failure in words that cannot be printed");
    require(strlen(err->message) < sizeof err->message - 1, "a failure in words that were cut");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = { (const char *)data, size };
    const struct allocator_config none = config_default();
    struct allocator_config set = none, taken = none;
    struct vrs_error err = { .message = "" };
    enum vrs_status status = config_set(&set, text, &err);
    config_take(&taken, text);
    require_sound(&taken);
    if (status == VRS_OK) {
        require_sound(&set);
        require(same(&set, &taken), "what can be set is not what is taken");
        require(config_set(&set, text, NULL) == VRS_OK && same(&set, &taken),
                "setting it again is not the same");
    } else {
        require_words(&err);
        require(same(&set, &none), "a failure changed something");
    }
    return 0;
}
