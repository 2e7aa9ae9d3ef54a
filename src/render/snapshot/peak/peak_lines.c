/* peak_lines.c - what each rank held, in a line each. */
#include "render/snapshot/peak/peak_lines.h"

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/breakdown/peak_moment.h"
#include "base/buf.h"
#include "render/answer/answer.h"
#include "render/answer/device_pages.h"
#include "render/write/escape.h"
#include "render/write/human.h"

static void put_words(struct buf *words, const struct device_answer *device, bool ascii,
                      struct device_line *ret)
{
    const struct peak_moment *m = device->result;
    ret->matters = m->peak.total_bytes > 0;
    ret->bytes = m->peak.total_bytes > 0 ? (uint64_t)m->peak.total_bytes : 0;
    if (m->peak.rows == 0)
        return;
    human_share(words, m->peak.row[0].share_ratio);
    buf_char(words, ' ');
    escape_text(words, m->peak.row[0].name, ascii);
}

const struct device_lines peak_lines = { put_words, "in use", "most of it" };
