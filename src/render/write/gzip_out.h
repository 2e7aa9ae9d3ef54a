/* gzip_out.h - packs what is written to it on the way to a sink. */
#ifndef VRS_RENDER_WRITE_GZIP_OUT_H
#define VRS_RENDER_WRITE_GZIP_OUT_H

#include "base/fail.h"
#include "render/write/out.h"

struct gzip_out {
    struct out plain; /* to be written to and flushed as any */
    struct out *packed;
    void *state;
};

enum vrs_status gzip_out_begin(struct gzip_out *g, struct out *packed,
                               struct vrs_error *err) MUST_CHECK;

/* Flushes and ends; `plain` must not be written to any more.  To be called once after
 * gzip_out_begin, also to give up. */
enum vrs_status gzip_out_end(struct gzip_out *g, struct vrs_error *err) MUST_CHECK;

#endif
