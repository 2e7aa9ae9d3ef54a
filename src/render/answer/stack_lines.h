/* stack_lines.h - a stack under a row of text, a line a frame. */
#ifndef VRS_RENDER_ANSWER_STACK_LINES_H
#define VRS_RENDER_ANSWER_STACK_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/ids.h"
#include "render/answer/answer.h"
#include "render/write/human.h"

enum { STACK_INDENT = 12 };

/* How stacks are shown, and what was left out of them. */
struct stack_lines {
    const struct stack_texts *texts;
    bool all;   /* every frame; else those of Python, the operator and the node of autograd */
    bool ascii; /* no character outside ASCII */
    uint64_t hidden;
};

/* The innermost frame first, each behind `whose`; "(no stack)" where there is none. */
void stack_lines_put(struct buf *to, struct stack_lines *lines, stack_id stack, const char *whose);

/* A line about what was left out; nothing where all frames were shown. */
void stack_lines_end(struct buf *to, const struct stack_lines *lines, const struct style *style);

#endif
