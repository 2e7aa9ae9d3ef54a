/* png.h - pixels as a PNG file. */
#ifndef VRS_RENDER_WRITE_PNG_H
#define VRS_RENDER_WRITE_PNG_H

#include <stdint.h>

#include "base/fail.h"
#include "base/str.h"
#include "render/write/out.h"

/* Pixels are 0xRRGGBB, row by row. */
struct png {
    uint32_t W, H; /* at least 1 */
    const uint32_t *pixels;
    const struct png_text {
        const char *key; /* 1 to 79 Latin letters */
        str text;        /* UTF-8 */
    } * text;
    uint32_t texts;
};

/* Of eight bits a pixel where 256 colours suffice, else of 24.  Sticky failures of `out` are its
 * own. */
enum vrs_status png_write(struct out *out, const struct png *png, struct vrs_error *err) MUST_CHECK;

#endif
