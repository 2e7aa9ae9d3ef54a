/* measurement.h - two measurements of a program, before a change and after it: did it help?
 *
 * A measurement is the JSON of what vramscope.measure_training() and its like give in Python,
 * plain, in gzip or in zstd, or a diagnosis in JSON that has one.  Lifetimes, threads and errors
 * are those of vramscope.h; a result outlives the measurements that it is about. */
#ifndef VRAMSCOPE_MEASUREMENT_H
#define VRAMSCOPE_MEASUREMENT_H

#include <stddef.h>
#include <stdint.h>

#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vrs_measurement;

/* Opens a path; "-" is standard input.  Of the options, `replay` and `progress` mean nothing. */
VRS_API enum vrs_status vrs_open_measurement(const char *path,
                                             const struct vrs_open_options *options,
                                             struct vrs_measurement **ret, struct vrs_error *err);
/* The same of bytes in memory, which must stay until the call returns. */
VRS_API enum vrs_status vrs_open_measurement_bytes(const void *bytes, size_t len, const char *name,
                                                   const struct vrs_open_options *options,
                                                   struct vrs_measurement **ret,
                                                   struct vrs_error *err);
VRS_API void vrs_close_measurement(struct vrs_measurement *measurement);

/* What a path holds, told by its bytes, of the kinds that are compared: the others are NULL. */
struct vrs_comparable {
    struct vrs_file *file;
    struct vrs_trace *trace;
    struct vrs_measurement *measurement;
};
VRS_API enum vrs_status vrs_open_comparable(const char *path,
                                            const struct vrs_open_options *options,
                                            struct vrs_comparable *ret, struct vrs_error *err);
/* Closes the one that there is; NULL is fine. */
VRS_API void vrs_close_comparable(struct vrs_comparable *comparable);

/* How many repeats of A's program vrs_compare takes. */
enum { VRS_REPEATS_MOST = 16 };

/* What changed from `a` to `b`, which may be the same: medians of times with their intervals,
 * figures, peaks of memory, and conditions that are not the same. */
struct vrs_compare_options {
    size_t size;
    const char *path, *b_path; /* shown as the files' names; NULL: those they were opened with */
    /* vrs_verdict is VRS_NO where B's median step or call is above A's by more than fail_over_ns -
     * 1, or cannot be compared; 0: no limit. */
    int64_t fail_over_ns;
    uint64_t fail_over_millionths; /* of A's, likewise plus 1 */
    /* A's program measured again, VRS_REPEATS_MOST at most: what its medians differ by from A's is
     * noise too. */
    const struct vrs_measurement *const *again;
    const char *const *again_paths; /* shown as their names; NULL, or NULL in it: as opened */
    uint32_t again_count;
};
VRS_API enum vrs_status vrs_compare(const struct vrs_measurement *a,
                                    const struct vrs_measurement *b,
                                    const struct vrs_compare_options *options,
                                    struct vrs_result **ret, struct vrs_error *err);

#ifdef __cplusplus
}
#endif
#endif
