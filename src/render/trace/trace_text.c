/* trace_text.c - what a trace says, for people: the verdict, why devices waited, then tables. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/trace/busy/busy.h"
#include "analysis/trace/figures/figures.h"
#include "analysis/trace/ranks/trace_ranks.h"
#include "analysis/trace/report/job.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/tables/tables.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "model/trace.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/answer/next.h"
#include "render/trace/trace_answer.h"
#include "render/trace/trace_file.h"
#include "render/trace/trace_findings.h"
#include "render/trace/trace_launches.h"
#include "render/trace/trace_line.h"
#include "render/trace/trace_phases.h"
#include "render/trace/trace_ranks.h"
#include "render/trace/trace_split.h"
#include "render/trace/trace_memory.h"
#include "render/trace/trace_method.h"
#include "render/trace/trace_modules.h"
#include "render/trace/trace_tables.h"
#include "render/trace/trace_tree.h"
#include "render/trace/trace_words.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

/* One line a device: how busy it was over time. */

static uint64_t ns_between(int64_t from, int64_t to)
{
    int64_t ns = i64_minus(to, from);
    return ns > 0 ? (uint64_t)ns : 0;
}

static void put_bins(struct buf *to, const struct style *style, const struct trace_device *d)
{
    uint32_t columns = trace_line_columns(style, BUSY_BINS);
    for (uint32_t c = 0; c < columns; c++) {
        uint32_t from = c * BUSY_BINS / columns, end = (c + 1) * BUSY_BINS / columns;
        double sum = 0;
        for (uint32_t i = from; i < end; i++)
            sum += d->bin[i] > 0 ? d->bin[i] : 0;
        trace_line_bar(to, style, sum / (end - from));
    }
    buf_char(to, '\n');
}

/* "busy", of several devices "busy 12": a number that fits before the line. */
static void busy_label(const struct trace_device *d, uint32_t devices, char ret[ENVELOPE_LABEL])
{
    static const char busy[] = "busy ";
    size_t len = d->device.len, digits = 0;
    while (digits < len && d->device.ptr[digits] >= '0' && d->device.ptr[digits] <= '9')
        digits++;
    bool fits = devices > 1 && digits == len && sizeof busy + len < ENVELOPE_LABEL;
    snprintf(ret, ENVELOPE_LABEL, "%s%.*s", busy, fits ? (int)len : 0, d->device.ptr);
}

static void put_busy(struct buf *to, const struct style *style, const struct trace_report *r)
{
    enum { DEVICES_SHOWN = 8 };
    for (uint32_t i = 0; i < r->devices && i < DEVICES_SHOWN; i++) {
        char label[ENVELOPE_LABEL];
        if (r->device[i].window_ns <= 0)
            continue;
        busy_label(&r->device[i], r->devices, label);
        envelope_label(to, style, label);
        paint_on(to, style, PAINT_USED);
        put_bins(to, style, &r->device[i]);
        paint_off(to, style);
        trace_line_axis(to, style, trace_line_columns(style, BUSY_BINS),
                        ns_between(r->figures.first_ns, r->device[i].first_ns),
                        ns_between(r->figures.first_ns, r->device[i].last_ns));
    }
}

/* Sentences. */

static void put_words(struct buf *to, const struct style *style, const char *label,
                      const struct trace_report *r,
                      void (*say)(struct buf *, const struct style *, const struct trace_report *))
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    say(&words, style, r);
    if (words.len > 0)
        envelope_words(to, style, label, &words);
    buf_end(&words, to);
}

/* Whether the time is rather in what runs on devices than in the host's code. */
static bool devices_are_busy(const struct trace_report *r)
{
    const double busy = 0.7;
    for (uint32_t i = 0; i < r->devices; i++) {
        const struct trace_device *d = &r->device[i];
        if ((d->steps_busy >= 0 ? d->steps_busy : d->busy) >= busy)
            return true;
    }
    return false;
}

/* The first screen. */
static void put_page(struct buf *to, const struct trace_report *r,
                     const struct render_options *options)
{
    const struct style *style = &options->style;
    enum { ROWS_SHOWN = 5 };
    uint32_t rows = options->rows == 0 ? ROWS_SHOWN : options->rows;
    put_words(to, style, "verdict", r, trace_verdict_words);
    put_busy(to, style, r);
    put_words(to, style, "idle", r, trace_idle_words);
    put_words(to, style, "late", r, trace_late_words);
    put_words(to, style, "steps", r, trace_steps_words);
    put_words(to, style, "memory", r, trace_memory_words);
    put_words(to, style, "links", r, trace_links_words);
    trace_missing_text(to, style, r);
    trace_findings_lead(to, style, r, "--findings");
    if (!figures_are_of_torch(&r->figures) && r->figures.kinds[SPAN_OTHER] == 0)
        return;
    buf_char(to, '\n');
    trace_steps_table(to, style, r, rows);
    if (devices_are_busy(r))
        trace_ops_by_device_table(to, style, r, rows);
    else
        trace_ops_table(to, style, r, rows);
    trace_kernels_table(to, style, r, rows);
    if (!figures_are_of_torch(&r->figures))
        next_line(to, style, "next", "trace", r->file.path, " --tree", "which range lies in which");
    else if (r->devices == 0)
        next_line(to, style, "next", "trace", r->file.path, " --ops", "all operators");
    else if (trace_time_is_on_devices(r))
        next_line(to, style, "next", "trace", r->file.path, " --kernels", "what the devices ran");
    else
        next_line(to, style, "next", "trace", r->file.path, " --gaps", "why the devices waited");
}

/* Why a part that was asked for has no rows; nothing where it has some. */
static void put_words_if_empty(struct buf *to, const struct style *style,
                               const struct trace_report *r, uint32_t section)
{
    const struct tables *t = &r->figures.tables;
    uint64_t gaps = 0;
    for (uint32_t i = 0; i < r->devices; i++)
        gaps += r->device[i].gaps;
    const struct {
        uint32_t section;
        bool empty;
        const char *label, *words;
    } all[] = {
        { SECTION_STEPS, r->steps == 0, "steps",
          "none: ranges of steps come from schedule=schedule(...) and prof.step() in each step" },
        { SECTION_GAPS, r->devices == 0, "gaps", "none: no device activity was recorded" },
        { SECTION_GAPS, r->devices > 0 && gaps == 0, "gaps",
          "none: each device was busy from its first event to its last" },
        { SECTION_OPS, r->ops == 0, "ops",
          figures_are_of_torch(&r->figures)
              ? "none were recorded"
              : "none: the ranges are of another tool than torch.profiler; --tree shows which lies "
                "in which" },
        { SECTION_KERNELS, t->kernels == 0, "kernels", "none: no device activity was recorded" },
        { SECTION_CALLS, t->calls == 0, "calls",
          "none: no calls of the runtime and the driver were recorded" },
        { SECTION_MEMORY, r->figures.memory.rows == 0, "memory",
          r->capture.profile_memory
              ? "none: the file says that memory was recorded (profile_memory), but has no event "
                "of the allocators"
              : "none: events of the allocators are recorded with profile_memory=True" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].section != section || !all[i].empty)
            continue;
        struct buf words;
        buf_init(&words, SIZE_MAX / 2);
        buf_text(&words, r->file.complete ? all[i].words : "none in the part that could be read");
        envelope_words(to, style, all[i].label, &words);
        buf_end(&words, to);
    }
}

/* The parts that were asked for, whole. */
static void put_sections(struct buf *to, const struct trace_report *r,
                         const struct render_options *options)
{
    const struct style *style = &options->style;
    uint32_t rows = options->rows == 0 ? UINT32_MAX : options->rows;
    static const uint32_t all[] = { SECTION_STEPS, SECTION_GAPS,  SECTION_OPS,
                                    SECTION_KERNELS, SECTION_CALLS, SECTION_MEMORY };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if ((r->sections & all[i]) != 0)
            put_words_if_empty(to, style, r, all[i]);
    if ((r->sections & SECTION_STEPS) != 0)
        trace_whole_steps_table(to, style, r, rows);
    if ((r->sections & SECTION_GAPS) != 0)
        trace_gaps_tables(to, style, r, rows);
    if ((r->sections & SECTION_OPS) != 0 && r->split.by.parts != 0)
        trace_split_table(to, style, r, rows);
    else if ((r->sections & SECTION_OPS) != 0)
        trace_ops_table(to, style, r, rows);
    if ((r->sections & SECTION_KERNELS) != 0) {
        trace_kernels_table(to, style, r, rows);
        trace_copies_table(to, style, r, rows);
    }
    if ((r->sections & SECTION_CALLS) != 0)
        trace_calls_table(to, style, r, rows);
    if ((r->sections & SECTION_MEMORY) != 0) {
        trace_memory_table(to, style, r, rows);
        trace_memory_peaks(to, style, r, rows);
    }
    if ((r->sections & SECTION_FINDINGS) != 0)
        trace_findings_text(to, style, r, rows);
    if ((r->sections & SECTION_PHASES) != 0)
        trace_phases_tables(to, style, r, rows);
    if ((r->sections & SECTION_LAUNCHES) != 0)
        trace_launches_tables(to, style, r, rows);
    if ((r->sections & SECTION_MODULES) != 0)
        trace_modules_table(to, style, r, rows);
    if (r->tree != NULL)
        trace_tree_text(to, style, r->tree, rows);
    if ((r->sections & SECTION_METHOD) != 0)
        trace_method_text(to, style, r);
}

/* Below the page, where there are several. */
static void put_ranks(struct buf *to, const struct trace_report *r, const struct trace_ranks *ranks,
                      const struct render_options *options)
{
    if (ranks == NULL || r->sections != 0)
        return;
    buf_char(to, '\n');
    trace_ranks_text(to, &options->style, ranks, r->capture.world_size, options->rows);
}

static void put_set(struct buf *to, const struct trace_report *reports,
                    const struct trace_set *set, const struct render_options *options)
{
    put_ranks(to, &reports[0], set->ranks, options);
    if (reports[0].sections != 0)
        return;
    if (set->same_rank != NULL || set->outsider.ptr != NULL)
        buf_char(to, '\n');
    if (set->same_rank != NULL)
        trace_same_rank_text(to, &options->style, set->same_rank);
    else if (set->outsider.ptr != NULL)
        trace_outsider_text(to, &options->style, set->outsider);
}

void trace_answer_text(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options)
{
    const struct trace_report *reports = set->answers;
    for (uint32_t i = 0; i < set->count; i++) {
        if (i > 0)
            buf_char(&out->text, '\n');
        trace_file_text(&out->text, &options->style, &reports[i].file, "profiler trace", "event");
        if (reports[i].sections == 0)
            put_page(&out->text, &reports[i], options);
        else
            put_sections(&out->text, &reports[i], options);
        put_ranks(&out->text, &reports[i], reports[i].ranks, options);
        out_flush(out, OUT_ENOUGH);
    }
    if (several && set->more != NULL)
        put_set(&out->text, reports, set->more, options);
}
