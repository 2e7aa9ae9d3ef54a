/* step_parts.c - the lines about steps that several answers print. */
#include "render/snapshot/steps/step_parts.h"

#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/envelope.h"
#include "render/write/escape.h"
#include "render/write/human.h"

enum { LOOPS_TOLD = 3 };

const char *phase_word(enum phase phase)
{
    return phase == PHASES ? "-" : phase_names[phase];
}

/* How each source is told to people. */
static const char *const found_by[STEP_SOURCES] = {
    [STEPS_NONE] = "",
    [STEPS_MARKS] = "numbered annotations",
    [STEPS_OPTIMIZER] = "the optimizer's annotations",
    [STEPS_PHASES] = "phases",
    [STEPS_ANNOTATIONS] = "repeated annotations",
    [STEPS_PERIOD] = "repetition",
};

/* "; also by phases and repetition; 2 by the optimizer's annotations" */
static void put_agreement(struct buf *to, const struct steps *s)
{
    uint32_t agreeing = 0, told = 0;
    for (int i = STEPS_MARKS; i < STEP_SOURCES; i++)
        agreeing += s->count != 0 && i != (int)s->source && s->agreement[i] == s->count;
    for (int i = STEPS_MARKS; i < STEP_SOURCES; i++) {
        if (s->count == 0 || i == (int)s->source || s->agreement[i] != s->count)
            continue;
        buf_text(to, told == 0 ? "; also by " : told + 1 == agreeing ? " and " : ", ");
        buf_text(to, found_by[i]);
        told++;
    }
    for (int i = STEPS_MARKS; i < STEP_SOURCES; i++) {
        if (i == (int)s->source || s->agreement[i] == 0 || s->agreement[i] == s->count)
            continue;
        if (s->count == 1 && i == STEPS_PERIOD)
            buf_format(to, "; what repeats itself %u times is no step", s->agreement[i]);
        else
            buf_format(to, "; %u by %s", s->agreement[i], found_by[i]);
    }
}

static void put_refusal(struct buf *to, const char *rule)
{
    static const struct {
        const char *rule, *words;
    } refusals[] = {
        { "no_python_frames", "which no Python code calls: not steps" },
        { "autograd_threads", "all inside one backward: not steps" },
        { "optimizer_phase", "all inside the optimizer, one parameter after another: not steps" },
        { "inside_module", "all inside one module's call, like layers: not steps" },
        { "no_backward", "none with a backward, which the recording has: not steps" },
        { "uneven", "at distances that differ, as in a loop that runs several times: not steps" },
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (str_equal(str_from(rule), str_from(refusals[i].rule)))
            buf_text(to, refusals[i].words);
}

void steps_lines(struct buf *to, const struct style *style, const struct step_rows *rows)
{
    const struct steps *s = &rows->steps;
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    if (s->source == STEPS_NONE) {
        buf_text(&words, "no complete step found");
    } else {
        if (s->kind == STEP_PASS)
            buf_format(&words, "%u complete passes, nothing is trained; found by %s", s->count,
                       found_by[s->source]);
        else
            buf_format(&words, "%u complete, found by %s", s->count, found_by[s->source]);
        if (s->low_confidence)
            buf_text(&words, " (uncertain: the sizes vary)");
        if (s->micro_steps > 1)
            buf_format(&words, ", with forward and backward %u times in each", s->micro_steps);
    }
    put_agreement(&words, s);
    if (s->passes != 0) {
        buf_text(&words, "; beside them ");
        human_counted(&words, s->passes, "pass", style->ascii);
        buf_text(&words, " without a backward");
    }
    envelope_words(to, style, "steps", &words);
    for (uint32_t i = 0; i < rows->inners && i < LOOPS_TOLD; i++) {
        const struct inner_loop *loop = &rows->inner[i].loop;
        buf_format(&words, "%u allocation%s repeat%s %u times at ", loop->period_allocs,
                   loop->period_allocs == 1 ? "" : "s", loop->period_allocs == 1 ? "s" : "",
                   loop->repeats);
        escape_text(&words, rows->inner[i].site.culprit, style->ascii);
        buf_text(&words, ", ");
        put_refusal(&words, loop->refused_by);
        envelope_words(to, style, i == 0 ? "loop" : "", &words);
    }
    buf_end(&words, to);
}
