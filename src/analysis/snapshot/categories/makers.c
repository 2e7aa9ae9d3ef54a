/* makers.c - the innermost frame of each stack that makes or moves a model, and its lines by rank.
 */
#include "analysis/snapshot/categories/makers.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/steps/phases.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/strings.h"

/* A line, and the function that it stands in. */
struct maker {
    uint32_t file, name, line, frame;
};

static int by_function(const void *a, const void *b)
{
    const struct maker *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

/* `convert` is what _apply calls: its one line moves everything. */
static bool makes(const struct code *code, const struct tokens *tokens, uint32_t frame)
{
    if ((tokens->of_frame[frame] & TOKEN_INIT) == 0)
        return false;
    str name = strings_text(&code->strings, (string_id){ code->frames.name[frame] });
    return !str_equal(name, S("convert"));
}

/* Lines of one function, ascending. */
static void rank(const struct maker *maker, uint32_t len, uint8_t *line)
{
    uint32_t first = maker[0].line, last = maker[len - 1].line;
    for (uint32_t i = 0; i < len; i++) {
        uint32_t at = maker[i].line;
        enum maker_line is = first == last ? MAKER_ONLY
                             : at == first ? MAKER_FIRST
                             : at == last  ? MAKER_LAST
                                           : MAKER_MIDDLE;
        line[maker[i].frame] = (uint8_t)is;
    }
}

enum vrs_status makers_make(const struct code *code, const struct tokens *tokens,
                            const struct lifetimes *lifetimes, const uint8_t *born,
                            struct arena *scratch, struct makers *ret, struct vrs_error *err)
{
    uint32_t stacks = code->stacks.rows.len, frames = code->frames.rows.len, len = 0;
    struct makers made = {
        .of_stack = arena_array(scratch, uint32_t, stacks),
        .line = arena_array(scratch, uint8_t, frames),
        .gradient = arena_array(scratch, bool, frames),
    };
    struct maker *maker = arena_array(scratch, struct maker, frames);
    if (made.of_stack == NULL || made.line == NULL || made.gradient == NULL || maker == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 1; i < stacks; i++) {
        uint32_t frame = code->stacks.frame[i];
        made.of_stack[i] =
            makes(code, tokens, frame) ? frame : made.of_stack[code->stacks.caller[i]];
    }
    for (uint32_t i = 0; i < lifetimes->count; i++) {
        if (born[i] != PHASE_INIT)
            continue;
        uint32_t frame = made.of_stack[lifetimes->at[i].alloc_stack.n];
        if (frame == 0 || made.line[frame] != MAKER_NONE)
            continue;
        made.line[frame] = MAKER_ONLY;
        maker[len++] = (struct maker){ code->frames.file[frame], code->frames.name[frame],
                                       code->frames.line[frame], frame };
    }
    if (len > 1)
        qsort(maker, len, sizeof *maker, by_function);
    for (uint32_t first = 0, i = 1; i <= len; i++)
        if (i == len || maker[i].file != maker[first].file || maker[i].name != maker[first].name) {
            rank(&maker[first], i - first, made.line);
            first = i;
        }
    *ret = made;
    return VRS_OK;
}
