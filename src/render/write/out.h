/* out.h - buffered text on its way to a sink. */
#ifndef VRS_RENDER_WRITE_OUT_H
#define VRS_RENDER_WRITE_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/fail.h"

enum { OUT_ENOUGH = 64 * 1024 };

/* Text goes on to the sink whenever enough has gathered, so that output needs no memory of its
 * own size.  Sticky, as buf. */
struct out {
    struct buf text;
    bool (*write)(void *arg, const char *bytes, size_t len);
    void *arg;
    bool refused; /* the sink took no more */
};

/* An empty text on its way to the end of a buffer, which `out_into_end` lets it reach; a failure
 * becomes one of the buffer. */
struct out out_into(struct buf *to);
void out_into_end(struct out *out);

/* Hands over what has gathered when it is at least `least` bytes. */
void out_flush(struct out *out, size_t least);

/* Hands over the rest, unless writing ended with a failed `status` of its own, and frees the text.
 * Returns that status, or why the text did not arrive. */
enum vrs_status out_finish(struct out *out, enum vrs_status status,
                           struct vrs_error *err) MUST_CHECK;

#endif
