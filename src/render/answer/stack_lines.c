/* stack_lines.c - chooses the frames of a stack that a person reads: frames of the interpreter and
 * of libraries in C++ are most of a stack, the same in all, and hundreds of characters long. */
#include "render/answer/stack_lines.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "render/answer/answer.h"
#include "render/answer/document.h"
#include "render/answer/envelope.h"
#include "render/write/escape.h"
#include "render/write/human.h"

/* The innermost line among some that is of a part; NO_ROW: there is none. */
static uint32_t innermost(const struct stack_texts *texts, uint32_t first, uint32_t end,
                          enum frame_part part)
{
    for (uint32_t k = first; k < end; k++)
        if (texts->part[texts->line[k]] == part)
            return k;
    return NO_ROW;
}

static void put_line(struct buf *to, const struct stack_lines *lines, const char *whose, str text)
{
    buf_repeat(to, S(" "), STACK_INDENT);
    buf_text(to, whose);
    escape_text(to, text, lines->ascii);
    buf_char(to, '\n');
}

void stack_lines_put(struct buf *to, struct stack_lines *lines, stack_id stack, const char *whose)
{
    const struct stack_texts *texts = lines->texts;
    uint32_t place = stack_texts_place(texts, stack), shown = 0;
    uint32_t first = place == NO_ROW ? 0 : texts->first[place];
    uint32_t end = place == NO_ROW ? 0 : texts->first[place + 1];
    uint32_t node = innermost(texts, first, end, FRAME_PART_NODE);
    uint32_t operator_line = innermost(texts, first, end, FRAME_PART_OPERATOR);
    if (operator_line == NO_ROW)
        operator_line = innermost(texts, first, end, FRAME_PART_MEMORY);
    for (uint32_t k = first; k < end; k++) {
        uint32_t frame = texts->line[k];
        bool brief = k == node || k == operator_line;
        if (!lines->all && !brief && texts->part[frame] != FRAME_PART_PYTHON)
            continue;
        put_line(to, lines, whose,
                 brief && !lines->all ? texts->brief[frame] : texts->frame[frame]);
        shown++;
    }
    lines->hidden += end - first - shown;
    if (shown == 0)
        put_line(to, lines, whose, first == end ? S("(no stack)") : S("(native frames only)"));
}

void stack_lines_end(struct buf *to, const struct stack_lines *lines, const struct style *style)
{
    struct buf words;
    if (lines->hidden == 0)
        return;
    buf_init(&words, 256);
    human_counted(&words, lines->hidden, "native frame", style->ascii);
    buf_text(&words, lines->hidden == 1 ? " is" : " are");
    buf_text(&words, " left out of the stacks: --all-frames");
    buf_char(to, '\n');
    envelope_words(to, style, "frames", &words);
    buf_end(&words, to);
}
