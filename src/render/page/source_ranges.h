/* source_ranges.h - which addresses were mapped, and in which states. */
#ifndef VRS_RENDER_PAGE_SOURCE_RANGES_H
#define VRS_RENDER_PAGE_SOURCE_RANGES_H

#include <stdint.h>

#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"

/* Part of what one event obtained, or of what was there at the start. */
struct page_range {
    uint64_t address, bytes;
    uint32_t born;   /* the first state in which it is mapped */
    uint32_t until;  /* states it is; 0: to the end */
    uint32_t stream; /* row of streams */
    uint32_t pool;   /* row of pools */
};

/* Addresses that were mapped at some time, without gaps between them. */
struct page_island {
    uint64_t address, bytes;
    uint64_t before; /* bytes of the islands below */
};

struct page_ranges {
    struct page_range *at; /* by born, then address */
    uint32_t count;
    struct page_island *island; /* by address */
    uint32_t islands;
};

/* In `arena`. */
enum vrs_status page_ranges_make(const struct study *s, struct arena *arena,
                                 struct page_ranges *ret, struct vrs_error *err) MUST_CHECK;

/* How many bytes that were mapped at some time lie below an address; UINT64_MAX: it never was. */
uint64_t page_ranges_below(const struct page_ranges *ranges, uint64_t address);

#endif
