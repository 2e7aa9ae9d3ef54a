/* split_words.c - what a table of operators is to be split by, as people write it. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/splits/split.h"
#include "base/fail.h"
#include "base/str.h"

enum { FRAMES_WITHOUT_NUMBER = 5, FRAMES_MOST = 64 };

/* From 1 to FRAMES_MOST; 0: it is no such number. */
static uint32_t frames_of(str digits)
{
    uint32_t frames = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
            return 0;
        frames = frames * 10 + (uint32_t)(digits.ptr[i] - '0');
        if (frames > FRAMES_MOST)
            return 0;
    }
    return frames;
}

static uint32_t part_of(str word)
{
    static const struct {
        str word;
        uint32_t part;
    } all[] = {
        { { "shapes", 6 }, SPLIT_SHAPES }, { { "module", 6 }, SPLIT_MODULE },
        { { "phase", 5 }, SPLIT_PHASE },   { { "step", 4 }, SPLIT_STEP },
        { { "stack", 5 }, SPLIT_STACK },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (str_equal(word, all[i].word))
            return all[i].part;
    return 0;
}

static enum vrs_status read_word(str word, struct trace_split *ret, struct vrs_error *err)
{
    size_t colon = str_find(word, S(":"));
    uint32_t part = part_of((str){ word.ptr, colon });
    bool has_number = colon < word.len;
    uint32_t frames = has_number ? frames_of((str){ word.ptr + colon + 1, word.len - colon - 1 })
                                 : FRAMES_WITHOUT_NUMBER;
    if (part == 0 || (has_number && part != SPLIT_STACK))
        return vrs_fail(err, VRS_USAGE,
                        "operators are split by shapes, module, phase, step, stack or stack:FRAMES, "
                        "with a comma between two; not by \"%.*s\"",
                        (int)(word.len < 40 ? word.len : 40), word.ptr);
    if (frames == 0)
        return vrs_fail(err, VRS_USAGE, "stack:FRAMES takes a number from 1 to %d", FRAMES_MOST);
    if ((ret->parts & part) != 0)
        return vrs_fail(err, VRS_USAGE, "operators are split by \"%.*s\" twice", (int)colon,
                        word.ptr);
    ret->parts |= part;
    if (part == SPLIT_STACK)
        ret->frames = frames;
    return VRS_OK;
}

enum vrs_status trace_split_read(str words, struct trace_split *ret, struct vrs_error *err)
{
    *ret = (struct trace_split){ .parts = 0 };
    for (;;) {
        size_t comma = str_find(words, S(","));
        TRY(read_word((str){ words.ptr, comma }, ret, err));
        if (comma == words.len)
            return VRS_OK;
        words = (str){ words.ptr + comma + 1, words.len - comma - 1 };
    }
}
