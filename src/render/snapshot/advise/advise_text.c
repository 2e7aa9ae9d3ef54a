/* advise_text.c - what to change and the bytes it frees, for people. */
#include <stdbool.h>
#include <stddef.h>
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
#include "render/snapshot/advise/advise_lines.h"
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

/* `of_end`: only the final state is known, so that no event is named. */
static void put_evidence(struct buf *to, const struct style *style, const struct advice *a,
                         bool of_end)
{
    struct buf words, cost;
    buf_init(&words, SIZE_MAX / 2);
    buf_init(&cost, SIZE_MAX / 2);
    buf_format(&words, "rule %s, confidence %s", a->id, confidence_names[a->confidence]);
    for (uint32_t i = 0; i < a->at_events && !of_end; i++) {
        if (a->at_event[i] < 0)
            buf_text(&words, i == 0 ? "; before the first event" : ", before the first event");
        else
            buf_format(&words, "%s %lld",
                       i != 0              ? ","
                       : a->at_events == 1 ? "; seen at event"
                                           : "; seen at events",
                       (long long)a->at_event[i]);
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

/* What an advice is printed with. */
struct shown {
    struct buf *to;
    const struct style *style;
    const struct device_answer *device;
    const struct devices_answer *answer;
};

/* "vramscope replay run.pickle --set … --device 1", to be typed. */
static void put_command(const struct shown *s, const char *label, const char *verb,
                        const char *options, const char *meaning)
{
    struct buf words;
    buf_init(&words, 256);
    buf_text(&words, options);
    next_device(&words, s->device->name, s->answer->devices);
    buf_char(&words, '\0');
    if (!words.failed)
        next_line(s->to, s->style, label, verb, s->answer->file.path, words.at, meaning);
    buf_end(&words, s->to);
}

static void put_verification(const struct shown *s, const struct advice_verification *v)
{
    struct buf options;
    if (v->verb == NULL)
        return;
    buf_init(&options, 256);
    buf_format(&options, "%s%s%c", v->options[0] == '\0' ? "" : " ", v->options, '\0');
    if (!options.failed)
        put_command(s, "verify", v->verb, options.at, "prints that figure");
    buf_end(&options, s->to);
}

static void put_advice(const struct shown *s, const struct advice *a, uint32_t number, bool of_end)
{
    struct buf *to = s->to;
    const struct style *style = s->style;
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
    put_evidence(to, style, a, of_end);
    put_verification(s, &a->verification);
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
    if (a->of_end)
        buf_text(&words, " in use in the final state, the only one known");
    else if (a->peak_event < 0)
        buf_text(&words, " in use before the first event");
    else
        buf_format(&words, " in use at event %lld", (long long)a->peak_event);
    envelope_words(to, style, a->of_end ? "end" : "peak", &words);
    buf_end(&words, to);
}

/* What to type next: with waste it is all said. */
static void put_next(struct out *out, const struct device_answer *device,
                     const struct devices_answer *answer, const struct render_options *options)
{
    const struct advise_answer *result = device->result;
    const struct shown shown = { &out->text, &options->style, device, answer };
    if (result->leaks > 0)
        put_command(&shown, "next", "leaks", "", "what grows from step to step");
    else if (result->has_waste)
        return;
    else if (result->explain_silent)
        put_command(&shown, "next", "advise", " --waste", "what lives too long");
    else
        put_command(&shown, "next", "advise", " --explain-silent", "why other rules stay silent");
}

static void put_result(struct out *out, const struct device_answer *device,
                       const struct devices_answer *answer, const struct render_options *options)
{
    const struct advise_answer *result = device->result;
    const struct advise *a = &result->advise;
    const struct style *style = &options->style;
    struct buf *to = &out->text;
    uint32_t most = options->rows == 0 ? ROWS_DEFAULT : options->rows;
    const struct shown shown = { to, style, device, answer };
    put_peak(to, style, a);
    if (a->advices == 0)
        buf_text(to, "\n"
                     "no rule found anything to change\n");
    for (uint32_t i = 0; i < a->advices && i < most; i++)
        put_advice(&shown, &a->advice[i], i + 1, a->of_end);
    if (a->advices > most)
        buf_format(to, "\n%u more; -n %u shows them\n", (unsigned)(a->advices - most),
                   (unsigned)a->advices);
    put_joint(to, style, a);
    if (result->explain_silent)
        put_silent(to, style, a);
    if (result->has_waste)
        waste_text(to, style, &result->waste, most);
}

void advise_text(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options)
{
    (void)several;
    static const struct device_text parts = { put_result, put_next };
    device_answers_text(out, set, options, &advise_lines, &parts);
}
