/* advise_lines.c - what each rank could save, in a line each. */
#include "render/snapshot/advise/advise_lines.h"

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_answer.h"
#include "base/buf.h"
#include "render/answer/answer.h"
#include "render/answer/device_pages.h"
#include "render/write/text.h"

static void put_words(struct buf *words, const struct device_answer *device, bool ascii,
                      struct device_line *ret)
{
    const struct advise *a = &((const struct advise_answer *)device->result)->advise;
    (void)ascii;
    if (a->advices == 0) {
        buf_text(words, "nothing to change");
        return;
    }
    ret->matters = true;
    ret->bytes =
        a->joint_saving_bytes > 0 ? (uint64_t)a->joint_saving_bytes : a->advice[0].saving_bytes;
    for (uint32_t i = 0; i < a->advices; i++) {
        buf_text(words, i == 0 ? "" : ", ");
        buf_text(words, a->advice[i].id);
    }
}

const struct device_lines advise_lines = { put_words, "to save", "rules that speak", CUT_END };
