/* fail.c - writes a failure into the caller's struct vrs_error. */
#include "base/fail.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

__attribute__((format(printf, 4, 0))) static void word(struct vrs_error *err,
                                                       enum vrs_status status, uint64_t offset,
                                                       const char *format, va_list args)
{
    if (err == NULL)
        return;
    err->status = status;
    err->offset = offset;
    vsnprintf(err->message, sizeof err->message, format, args);
}

enum vrs_status vrs_fail(struct vrs_error *err, enum vrs_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    word(err, status, VRS_NO_OFFSET, format, args);
    va_end(args);
    return status;
}

enum vrs_status vrs_fail_at(struct vrs_error *err, enum vrs_status status, uint64_t offset,
                            const char *format, ...)
{
    va_list args;
    va_start(args, format);
    word(err, status, offset, format, args);
    va_end(args);
    return status;
}
