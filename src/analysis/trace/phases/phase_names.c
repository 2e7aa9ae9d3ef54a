/* phase_names.c - phases by the names that loops, loaders and optimizers give their ranges. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/trace/phases/phases.h"
#include "base/str.h"

const char *const trace_phase_names[TRACE_PHASES] = {
    [PHASE_DATA] = "data",         [PHASE_OPTIMIZER] = "optimizer",
    [PHASE_RECOMPUTE] = "recompute", [PHASE_BACKWARD] = "backward",
    [PHASE_FORWARD] = "forward",   [PHASE_OTHER] = "other",
    [PHASE_UNKNOWN] = "unknown",
};

static bool is_passed_over(char c)
{
    return c == '#' || c == '_' || c == '-' || c == ' ';
}

/* Whether the word stands at a place of the name, which may write it apart: zero_grad, Zero-Grad. */
static bool stands_at(str name, size_t at, str word)
{
    for (size_t i = 0; i < word.len; at++) {
        if (at == name.len)
            return false;
        if (is_passed_over(name.ptr[at]))
            continue;
        if (to_lower(name.ptr[at]) != word.ptr[i++])
            return false;
    }
    return true;
}

static bool has_word(str name, str word)
{
    for (size_t at = 0; at < name.len; at++)
        if (!is_passed_over(name.ptr[at]) && stands_at(name, at, word))
            return true;
    return false;
}

enum trace_phase trace_phase_of_range(str name)
{
    static const struct {
        str word;
        enum trace_phase phase;
    } words[] = {
        { { "dataload", 8 }, PHASE_DATA },       { { "datapipe", 8 }, PHASE_DATA },
        { { "nextbatch", 9 }, PHASE_DATA },      { { "fetch", 5 }, PHASE_DATA },
        { { "zerograd", 8 }, PHASE_OPTIMIZER },  { { "optimizer", 9 }, PHASE_OPTIMIZER },
        { { "optimstep", 9 }, PHASE_OPTIMIZER }, { { "backward", 8 }, PHASE_BACKWARD },
        { { "bwd", 3 }, PHASE_BACKWARD },        { { "forward", 7 }, PHASE_FORWARD },
        { { "fwd", 3 }, PHASE_FORWARD },         { { "loss", 4 }, PHASE_FORWARD },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_word(name, words[i].word))
            return words[i].phase;
    return PHASE_OTHER;
}
