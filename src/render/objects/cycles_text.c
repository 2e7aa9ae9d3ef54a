/* cycles_text.c - what reference cycles hold, for people: a sentence for each. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/objects/cycles.h"
#include "base/buf.h"
#include "base/field.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/objects/object_answers.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

enum { ROWS_DEFAULT = 20, SHOWN_ENDS = 6 };

/* "Trainer -> dict -> Trainer"; of a long way its ends. */
static void put_way(struct buf *to, const str *type, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (count > 2 * SHOWN_ENDS && i == SHOWN_ENDS) {
            buf_format(to, " -> (%u more)", count - 2 * SHOWN_ENDS);
            i = count - SHOWN_ENDS;
        }
        buf_text(to, i > 0 ? " -> " : "");
        escape_text(to, type[i], true);
    }
}

bool cycle_sentence(struct buf *to, const struct field *f, const void *row)
{
    const struct cycle_row *cycle = row;
    (void)f;
    human_bytes(to, (int64_t)cycle->bytes);
    buf_text(to, " of ");
    human_counted(to, cycle->tensors, "tensor", true);
    buf_text(to, " held by a cycle of ");
    human_counted(to, cycle->objects, "object", true);
    buf_text(to, ": ");
    put_way(to, cycle->loop, cycle->loops);
    if (cycle->ways > 1) {
        buf_text(to, ", and ");
        put_way(to, cycle->way, cycle->ways);
    }
    return true;
}

void cycles_text(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options)
{
    const struct cycles *cycles = set->answers;
    uint32_t most = options->rows == 0 ? ROWS_DEFAULT : options->rows;
    uint32_t shown = cycles->rows < most ? cycles->rows : most;
    struct buf *to = &out->text, words;
    (void)several;
    if (cycles->rows == 0)
        buf_text(to, "no reference cycle holds a tensor\n");
    buf_init(&words, SIZE_MAX / 2);
    for (uint32_t i = 0; i < shown; i++) {
        words.len = 0;
        cycle_sentence(&words, NULL, &cycles->row[i]);
        text_wrap(to, &options->style, buf_slice(&words), 0, 2);
    }
    buf_end(&words, to);
    if (shown < cycles->rows) {
        human_counted(to, cycles->rows - shown, "more cycle", options->style.ascii);
        buf_char(to, '\n');
    }
}
