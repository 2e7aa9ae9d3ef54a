/* peak_lines.c - what each rank held, in a line each. */
#include "render/snapshot/peak/peak_lines.h"

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/breakdown/peak.h"
#include "analysis/snapshot/breakdown/peak_moment.h"
#include "base/buf.h"
#include "render/answer/answer.h"
#include "render/answer/device_pages.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/text.h"

/* The largest row; by name the largest that has one, which is what was asked. */
static const struct peak_row *find_shown(const struct peak *p)
{
    for (uint32_t i = 0; i < p->rows; i++)
        if (p->row[i].named)
            return &p->row[i];
    return &p->row[0];
}

static void put_words(struct buf *words, const struct device_answer *device, bool ascii,
                      struct device_line *ret)
{
    const struct peak_moment *m = device->result;
    ret->matters = m->peak.total_bytes > 0;
    ret->bytes = m->peak.total_bytes > 0 ? (uint64_t)m->peak.total_bytes : 0;
    if (m->peak.rows == 0)
        return;
    const struct peak_row *row = find_shown(&m->peak);
    human_share(words, row->share_ratio);
    buf_char(words, ' ');
    escape_text(words, row->name, ascii);
}

const struct device_lines peak_lines = { put_words, "in use", "most of it", CUT_MIDDLE };
