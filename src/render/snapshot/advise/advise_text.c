/* advise_text.c - what to change and the bytes it frees, for people. */
#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_answer.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/device_answer.h"
#include "render/answer/envelope.h"
#include "render/answer/next.h"
#include "render/snapshot/advise/advise.h"
#include "render/snapshot/renderers.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

enum { ROWS_DEFAULT = 20 };

static void put_words(struct buf *to, const struct style *style, const struct advice *a)
{
    struct buf words, escaped;
    buf_init(&words, SIZE_MAX / 2);
    buf_init(&escaped, SIZE_MAX / 2);
    advice_words(&words, a);
    escape_text(&escaped, buf_slice(&words), style->ascii);
    envelope_words(to, style, "", &escaped);
    buf_end(&words, to);
    buf_end(&escaped, to);
}

/* Columns from which the clauses of rules stand beside their names. */
enum { CLAUSES_LEAST = 50 };

static void put_evidence(struct buf *to, const struct style *style, const struct advice *a)
{
    struct buf words, cost;
    buf_init(&words, SIZE_MAX / 2);
    buf_init(&cost, SIZE_MAX / 2);
    buf_format(&words, "rule %s, confidence %s", a->id, confidence_names[a->confidence]);
    for (uint32_t i = 0; i < a->at_events; i++) {
        if (a->at_event[i] < 0)
            buf_text(&words, i == 0 ? "; before the first event" : ", before the first event");
        else
            buf_format(&words, "%s %lld", i == 0 ? "; event" : ",", (long long)a->at_event[i]);
    }
    if (advice_cost(&cost, a)) {
        buf_text(&words, "; costs ");
        buf_str(&words, buf_slice(&cost));
    }
    paint_on(to, style, PAINT_DIM);
    envelope_words(to, style, "", &words);
    paint_off(to, style);
    buf_end(&words, to);
    buf_end(&cost, to);
}

static void put_advice(struct buf *to, const struct style *style, const struct advice *a,
                       uint32_t number)
{
    buf_char(to, '\n');
    struct buf words;
    buf_init(&words, 1 << 10);
    advice_saving(&words, a);
    paint_on(to, style, PAINT_BOLD);
    buf_format(to, "%-8u ", (unsigned)number);
    text_wrap(to, style, buf_slice(&words), 9, 9);
    paint_off(to, style);
    buf_end(&words, to);
    put_words(to, style, a);
    put_evidence(to, style, a);
}

static void put_joint(struct buf *to, const struct style *style, const struct advise *a)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    if (advice_joint(&words, a)) {
        buf_char(to, '\n');
        envelope_words(to, style, "together", &words);
    }
    buf_end(&words, to);
}

static void put_silent(struct buf *to, const struct style *style, const struct advise *a)
{
    buf_char(to, '\n');
    text_wrap(to, style, S("rules that stay silent"), 0, 0);
    for (uint32_t i = 0; i < a->silents; i++) {
        if (style->width < CLAUSES_LEAST) {
            buf_format(to, "  %s\n    ", a->silent[i].id);
            text_wrap(to, style, str_from(a->silent[i].clause), 4, 4);
            continue;
        }
        buf_format(to, "  %-18s ", a->silent[i].id);
        text_wrap(to, style, str_from(a->silent[i].clause), 21, 21);
    }
}

static void put_peak(struct buf *to, const struct style *style, const struct advise *a)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    human_bytes(&words, a->peak_bytes);
    if (a->peak_event < 0)
        buf_text(&words, " in use before the first event");
    else
        buf_format(&words, " in use at event %lld", (long long)a->peak_event);
    envelope_words(to, style, "peak", &words);
    buf_end(&words, to);
}

/* What to type next: with waste it is all said. */
static void put_next(struct buf *to, const struct style *style, const struct advise_answer *result,
                     const struct devices_answer *answer)
{
    str path = answer->file.path;
    buf_char(to, '\n');
    if (result->leaks > 0)
        next_line(to, style, "next", "leaks", path, "", "what grows from step to step");
    else if (result->explain_silent)
        next_line(to, style, "next", "advise", path, " --waste", "what lives too long");
    else
        next_line(to, style, "next", "advise", path, " --explain-silent",
                  "why other rules stay silent");
}

static void put_result(struct out *out, const struct device_answer *device,
                       const struct devices_answer *answer, const struct render_options *options)
{
    const struct advise_answer *result = device->result;
    const struct advise *a = &result->advise;
    const struct style *style = &options->style;
    struct buf *to = &out->text;
    uint32_t most = options->rows == 0 ? ROWS_DEFAULT : options->rows;
    put_peak(to, style, a);
    if (a->advices == 0)
        buf_text(to, "\n"
                     "no rule found anything to change\n");
    for (uint32_t i = 0; i < a->advices && i < most; i++)
        put_advice(to, style, &a->advice[i], i + 1);
    if (a->advices > most)
        buf_format(to, "\n%u more; -n %u shows them\n", (unsigned)(a->advices - most),
                   (unsigned)a->advices);
    put_joint(to, style, a);
    if (result->explain_silent)
        put_silent(to, style, a);
    if (result->has_waste)
        waste_text(to, style, &result->waste, most);
    if (result->leaks > 0 || !result->has_waste)
        put_next(to, style, result, answer);
}

void advise_text(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options)
{
    (void)several;
    device_answer_text(out, set, options, put_result);
}
