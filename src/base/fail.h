/* fail.h - how a function says that it failed: a status for the program, a line for a person. */
#ifndef VRS_BASE_FAIL_H
#define VRS_BASE_FAIL_H

#include <stdint.h>

#include "vramscope/error.h"

#define VRS_NO_OFFSET UINT64_MAX

/* Passes a failure up; the only control-flow macro of the project. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum vrs_status try_status_ = (call);                                                      \
        if (try_status_ != VRS_OK)                                                                 \
            return try_status_;                                                                    \
    } while (0)

#define MUST_CHECK __attribute__((warn_unused_result))

/* Words a failure and returns `status`.  `err` may be NULL. */
enum vrs_status vrs_fail(struct vrs_error *err, enum vrs_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a failure at a byte of the input. */
enum vrs_status vrs_fail_at(struct vrs_error *err, enum vrs_status status, uint64_t offset,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Whole, so that who looks at its caller alone, as clang-tidy does, sees that it fails. */
static inline enum vrs_status vrs_no_memory(struct vrs_error *err)
{
    (void)vrs_fail(err, VRS_NOMEM, "out of memory");
    return VRS_NOMEM;
}

#endif
