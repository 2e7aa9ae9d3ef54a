/* leaks_lines.c - which ranks grow, in a line each. */
#include "render/snapshot/leaks/leaks_lines.h"

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/leaks/leaks.h"
#include "base/buf.h"
#include "render/answer/answer.h"
#include "render/answer/device_pages.h"
#include "render/write/escape.h"
#include "render/write/text.h"

static void put_words(struct buf *words, const struct device_answer *device, bool ascii,
                      struct device_line *ret)
{
    const struct leaks *g = device->result;
    if (g->moments == 0) {
        buf_text(words, "too few steps");
        return;
    }
    ret->bytes = g->slope_total_bytes > 0 ? (uint64_t)g->slope_total_bytes : 0;
    ret->matters = g->leaks + g->suspects > 0;
    if (!ret->matters) {
        buf_text(words, "nothing grows from step to step");
        return;
    }
    buf_text(words, g->leaks > 0 ? "leak at " : "suspect at ");
    escape_text(words, g->site[0].site.culprit, ascii);
}

const struct device_lines leaks_lines = { put_words, "a step", "what grows", CUT_END };
