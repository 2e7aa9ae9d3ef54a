/* measured_text.c - the method's page about a training that was measured, for people. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/bottleneck.h"
#include "analysis/trace/rules/measured.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/answer/next.h"
#include "render/trace/trace_answer.h"
#include "render/trace/trace_file.h"
#include "render/trace/trace_method.h"
#include "render/trace/trace_words.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"

static const char *clock_words(const struct measured_training *t)
{
    return t->on_device ? "by the device's clock" : "by the host's clock";
}

/* "20 steps, each 12.3 ms in the mean and 11.9 ms in the median, by the host's clock; ..." */
static void put_baseline(struct buf *to, const struct style *style, const struct measured_method *m)
{
    const struct measured_training *t = &m->training;
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    if (t->steps == 0) {
        buf_text(&words, "no step was measured");
    } else {
        buf_format(&words, "%u steps, each ", t->steps);
        human_ns(&words, t->step_ns > 0 ? (uint64_t)t->step_ns : 0);
        buf_text(&words, " in the mean and ");
        human_ns(&words, t->median_ns > 0 ? (uint64_t)t->median_ns : 0);
        buf_format(&words, " in the median, %s", clock_words(t));
    }
    if (t->loading_ns >= 0) {
        buf_text(&words, "; loading a batch takes ");
        human_ns(&words, (uint64_t)t->loading_ns);
        buf_text(&words, " in the mean");
    }
    if (t->samples >= 0) {
        buf_text(&words, "; the whole loop trains on ");
        buf_fixed(&words, t->samples, t->samples < 100 ? 1 : 0);
        buf_text(&words, " samples a second");
    }
    envelope_words(to, style, "baseline", &words);
    buf_end(&words, to);
}

/* How many workers load, where that is what to change. */
static void put_workers(struct buf *to, const struct style *style, const struct measured_method *m)
{
    const struct measured_training *t = &m->training;
    struct buf words;
    if (m->bottleneck.kind != BOTTLENECK_DATA || t->workers < 0)
        return;
    buf_init(&words, SIZE_MAX / 2);
    buf_text(&words, "the loader has ");
    human_counted(&words, (uint64_t)t->workers, "worker", style->ascii);
    if (t->processors > 0) {
        buf_text(&words, "; the process may use ");
        human_counted(&words, (uint64_t)t->processors, "processor", style->ascii);
        buf_text(&words, t->workers < t->processors
                             ? ", and as many workers can load at once"
                             : ": more workers help only where they wait, as for files");
    }
    envelope_words(to, style, "", &words);
    buf_end(&words, to);
}

/* The parts of a step, the longest first. */
static void put_phases(struct buf *to, const struct style *style, const struct measured_training *t)
{
    struct {
        const char *name;
        int64_t ns;
    } part[] = { { t->on_device ? "copy to the device" : "copy of the batch", t->copy_ns },
                 { "forward", t->forward_ns },
                 { "backward", t->backward_ns },
                 { "optimizer", t->optimizer_ns } };
    enum { PARTS = sizeof part / sizeof *part };
    struct buf words;
    int64_t whole = 0;
    buf_init(&words, SIZE_MAX / 2);
    for (size_t i = 0; i < PARTS; i++)
        whole = i64_plus(whole, part[i].ns > 0 ? part[i].ns : 0);
    for (size_t shown = 0; shown < PARTS; shown++) {
        size_t most = 0;
        for (size_t i = 1; i < PARTS; i++)
            if (part[i].ns > part[most].ns)
                most = i;
        if (part[most].ns <= 0)
            break;
        buf_text(&words, shown > 0 ? ", " : "of a step, in the mean: ");
        buf_format(&words, "%s ", part[most].name);
        human_ns(&words, (uint64_t)part[most].ns);
        buf_text(&words, " (");
        human_share(&words, (double)part[most].ns / (double)whole);
        buf_char(&words, ')');
        part[most].ns = -1;
    }
    if (words.len > 0)
        envelope_words(to, style, "phases", &words);
    buf_end(&words, to);
}

/* What the lines that follow are of. */
static void put_recorded(struct buf *to, const struct style *style, const struct trace_report *r)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    trace_steps_words(&words, style, r);
    buf_text(&words, words.len > 0 ? ", under the profiler, which slows them down; what follows is "
                                     "of all of them together"
                                   : "no whole step; what follows is of all that was recorded");
    envelope_words(to, style, "recorded", &words);
    trace_memory_words(&words, style, r);
    if (words.len > 0)
        envelope_words(to, style, "", &words);
    buf_end(&words, to);
}

static void put_method(struct buf *to, const struct style *style, const struct measured_method *m)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    escape_text(&words, m->training.of, style->ascii);
    envelope_words(to, style, "training", &words);
    put_baseline(to, style, m);
    bottleneck_text(to, style, &m->bottleneck);
    put_workers(to, style, m);
    put_phases(to, style, &m->training);
    if (m->traced != NULL) {
        put_recorded(to, style, m->traced);
        trace_method_parts(to, style, m->traced, "the trace's findings()");
        if (m->training.on_device) /* else there is no work of devices to be missing */
            trace_missing_text(to, style, m->traced);
    } else {
        buf_text(&words, "none was recorded, and a note says why");
        envelope_words(to, style, "ops", &words);
    }
    buf_end(&words, to);
    next_line(to, style, "verify", "compare", S("before.json"), " after.json",
              "both of save(), before and after the change");
}

void measured_text(struct out *out, const struct answer_set *set, bool several,
                   const struct render_options *options)
{
    const struct measured_method *methods = set->answers;
    (void)several;
    for (uint32_t i = 0; i < set->count; i++)
        put_method(&out->text, &options->style, &methods[i]);
    out_flush(out, OUT_ENOUGH);
}
