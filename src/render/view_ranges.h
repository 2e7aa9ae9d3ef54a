/* view_ranges.h - which addresses were mapped, and in which states. */
#ifndef VRS_RENDER_VIEW_RANGES_H
#define VRS_RENDER_VIEW_RANGES_H

#include "analysis/study.h"

/* Part of what one event obtained, or of what was there at the start. */
struct view_range {
    uint64_t address, bytes;
    uint32_t born;   /* the first state in which it is mapped */
    uint32_t until;  /* states it is; 0: to the end */
    uint32_t stream; /* row of streams */
};

struct view_ranges {
    struct view_range *at; /* by born, then address */
    uint32_t count;
};

/* In `arena`. */
enum vrs_status view_ranges_make(const struct study *s, struct arena *arena,
                                 struct view_ranges *ret, struct vrs_error *err) MUST_CHECK;

#endif
