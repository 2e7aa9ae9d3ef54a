/* oom_lines.c - which ranks failed, and why, in a line each. */
#include "render/snapshot/oom/oom_lines.h"

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "base/buf.h"
#include "render/answer/answer.h"
#include "render/answer/device_pages.h"
#include "render/write/human.h"
#include "render/write/text.h"

/* "live_exceeds_capacity" in words. */
static void put_spaced(struct buf *words, const char *name)
{
    for (; *name != '\0'; name++)
        buf_char(words, *name == '_' ? ' ' : *name);
}

static void put_words(struct buf *words, const struct device_answer *device, bool ascii,
                      struct device_line *ret)
{
    const struct oom *o = device->result;
    (void)ascii;
    if (o->basis == OOM_NOTHING) {
        buf_text(words, "no request failed");
        return;
    }
    ret->matters = true;
    ret->bytes = o->live_bytes;
    put_spaced(words, oom_verdict_names[o->tests.verdict]);
    if (o->request.bytes > 0) {
        buf_text(words, ": ");
        human_bytes(words, (int64_t)o->request.bytes);
        buf_text(words, " asked for");
    }
}

const struct device_lines oom_lines = { put_words, "alive", "verdict", CUT_END };
