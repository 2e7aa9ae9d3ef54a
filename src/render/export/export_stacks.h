/* export_stacks.h - what is alive at the moment, by whole stack; and frames as one line of text. */
#ifndef VRS_RENDER_EXPORT_EXPORT_STACKS_H
#define VRS_RENDER_EXPORT_EXPORT_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/recording.h"
#include "render/export/export.h"

struct export_sample {
    uint32_t stack;   /* stack_id; 0: none is known */
    uint8_t category; /* enum category; CATEGORIES: not asked for, or not known of the device */
    uint64_t bytes, count;
};

/* A sample is a stack, or where `by_category` a stack and a category.  By larger bytes, then
 * smaller stack, then category.  Stacks are without the innermost frames of the recorder and
 * the allocator, which all of them share. */
struct export_samples {
    struct export_sample *at;
    uint32_t len;
};

enum vrs_status export_samples_make(const struct exporting *e, const struct export_device *d,
                                    bool by_category, struct arena *arena,
                                    struct export_samples *ret, struct vrs_error *err) MUST_CHECK;

/* "model.py:27 forward", a native function's name alone; text as in the file, at most
 * EXPORT_NAME_MAX bytes of each part. */
enum { EXPORT_NAME_MAX = 1024 };
void export_frame_text(const struct recording *r, uint32_t frame, struct buf *to);

/* What a recorder writes where it knows no file or line is none. */
bool export_frame_file(const struct recording *r, uint32_t frame, str *ret);
bool export_frame_line(const struct recording *r, uint32_t frame, uint32_t *ret);

/* "device 0", "host memory 0" */
void export_device_text(const struct export_device *d, struct buf *to);

#define EXPORT_NO_STACK "(no stack)"

#endif
