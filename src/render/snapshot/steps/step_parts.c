/* step_parts.c - steps in JSON, and in two or three lines. */
#include "render/snapshot/steps/step_parts.h"

#include "render/write/escape.h"

enum { LOOPS_TOLD = 3 };

static void put_boundaries(struct json *j, const struct steps *s)
{
    json_array(j, "boundaries");
    for (uint32_t i = 0; i < s->count; i++) {
        const struct step_boundary *b = &s->boundary[i];
        json_line_object(j, NULL);
        json_u64(j, "event", b->event);
        json_u64(j, "valley_event", b->valley_event);
        json_i64(j, "live_bytes", b->live_bytes);
        json_i64(j, "peak_bytes", b->peak_bytes);
        json_i64(j, "peak_event", b->peak_event);
        json_close(j);
    }
    json_close(j);
}

static void put_loops(struct json *j, const struct step_rows *rows, struct stack_numbers *numbers)
{
    json_array(j, "inner_loops");
    for (uint32_t i = 0; i < rows->steps.inners; i++) {
        const struct inner_loop *loop = &rows->steps.inner[i];
        json_line_object(j, NULL);
        json_u64(j, "period_allocs", loop->period_allocs);
        json_u64(j, "repeats", loop->repeats);
        json_fixed(j, "similarity_ratio", loop->similarity_ratio, 6);
        json_text(j, "refused_by", loop->refused_by);
        json_site(j, "site", &rows->inner_site[i], numbers);
        json_close(j);
    }
    json_close(j);
}

void json_steps(struct json *j, const struct step_rows *rows, struct stack_numbers *numbers)
{
    const struct steps *s = &rows->steps;
    json_object(j, "steps");
    if (s->source == STEPS_NONE)
        json_null(j, "source");
    else
        json_text(j, "source", step_source_names[s->source]);
    json_u64(j, "count", s->count);
    json_u64(j, "micro_steps", s->micro_steps);
    put_boundaries(j, s);
    json_known_fixed(j, "similarity_median_ratio", s->similarity_median_ratio, 6);
    json_line_object(j, "agreement");
    for (int i = STEPS_MARKS; i < STEP_SOURCES; i++)
        json_u64(j, step_source_names[i], s->agreement[i]);
    json_close(j);
    put_loops(j, rows, numbers);
    json_close(j);
}

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
    [STEPS_PERIOD] = "repetition",
};

/* "; by phases and repetition too; by the optimizer's annotations 2" */
static void put_agreement(struct buf *to, const struct steps *s)
{
    uint32_t agreeing = 0, told = 0;
    for (int i = STEPS_MARKS; i < STEP_SOURCES; i++)
        agreeing += s->count != 0 && i != (int)s->source && s->agreement[i] == s->count;
    for (int i = STEPS_MARKS; i < STEP_SOURCES; i++) {
        if (s->count == 0 || i == (int)s->source || s->agreement[i] != s->count)
            continue;
        buf_text(to, told == 0 ? "; by " : told + 1 == agreeing ? " and " : ", ");
        buf_text(to, found_by[i]);
        told++;
    }
    if (told != 0)
        buf_text(to, " too");
    for (int i = STEPS_MARKS; i < STEP_SOURCES; i++)
        if (i != (int)s->source && s->agreement[i] != 0 && s->agreement[i] != s->count)
            buf_format(to, "; by %s %u", found_by[i], s->agreement[i]);
}

static void put_refusal(struct buf *to, const char *rule)
{
    static const struct {
        const char *rule, *words;
    } refusals[] = {
        { "no_python_frames", "but no Python called them: not steps" },
        { "autograd_threads", "all inside one backward: not steps" },
        { "optimizer_phase", "all inside the optimizer, one parameter after another: not steps" },
        { "inside_module", "all inside one module's call, like layers: not steps" },
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
        buf_text(&words, "no two complete steps found");
    } else {
        buf_format(&words, "%u complete, by %s", s->count, found_by[s->source]);
        if (s->low_confidence)
            buf_text(&words, " (uncertain: the sizes vary)");
        if (s->micro_steps > 1)
            buf_format(&words, ", %u times forward and backward in each", s->micro_steps);
    }
    put_agreement(&words, s);
    envelope_words(to, style, "steps", &words);
    for (uint32_t i = 0; i < s->inners && i < LOOPS_TOLD; i++) {
        const struct inner_loop *loop = &s->inner[i];
        buf_format(&words, "%u times %u allocation%s at ", loop->repeats, loop->period_allocs,
                   loop->period_allocs == 1 ? "" : "s");
        escape_text(&words, rows->inner_site[i].culprit, style->ascii);
        buf_text(&words, ", ");
        put_refusal(&words, loop->refused_by);
        envelope_words(to, style, i == 0 ? "loop" : "", &words);
    }
    buf_end(&words, to);
}
