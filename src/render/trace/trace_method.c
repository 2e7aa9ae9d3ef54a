/* trace_method.c - baseline, kind, component and operation: a line or two each, in that order. */
#include "render/trace/trace_method.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/figures/figures.h"
#include "analysis/trace/modules/modules.h"
#include "analysis/trace/phases/phases.h"
#include "analysis/trace/rules/bottleneck.h"
#include "analysis/trace/tables/tables.h"
#include "base/bytes.h"
#include "base/str.h"
#include "render/answer/envelope.h"
#include "render/answer/next.h"
#include "render/trace/trace_file.h"
#include "render/trace/trace_findings.h"
#include "render/trace/trace_phases.h"
#include "render/trace/trace_words.h"

enum { ROWS_SHOWN = 3 };

static void put_ns(struct buf *to, int64_t ns)
{
    human_ns(to, ns > 0 ? (uint64_t)ns : 0);
}

/* "11.7 ms (64.2 %)" */
static void put_part(struct buf *to, int64_t ns, int64_t whole)
{
    put_ns(to, ns);
    if (whole <= 0)
        return;
    buf_text(to, " (");
    human_share(to, share_ratio(ns > 0 ? (uint64_t)ns : 0, (uint64_t)whole));
    buf_char(to, ')');
}

/* How long a step takes, by which a change is judged; and what memory it needs. */
static void put_baseline(struct buf *to, const struct style *style, const struct trace_report *r)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    trace_steps_words(&words, style, r);
    if (words.len == 0)
        buf_text(&words, "no whole step was recorded, so there is nothing to compare a change with");
    envelope_words(to, style, "baseline", &words);
    trace_memory_words(&words, style, r);
    if (words.len > 0)
        envelope_words(to, style, "", &words);
    buf_end(&words, to);
}

static void put_kind(struct buf *to, const struct style *style, const struct trace_report *r)
{
    static const char *const words[BOTTLENECK_KINDS] = {
        [BOTTLENECK_UNKNOWN] = "cannot be told: ",
        [BOTTLENECK_DATA] = "the loading of data: ",
        [BOTTLENECK_DEVICE] = "the device (GPU-bound): ",
        [BOTTLENECK_HOST] = "the host (CPU-bound): ",
        [BOTTLENECK_MIXED] = "mixed: ",
    };
    struct buf line;
    buf_init(&line, SIZE_MAX / 2);
    paint_on(&line, style, PAINT_BOLD);
    buf_text(&line, words[r->bottleneck.kind]);
    paint_off(&line, style);
    trace_template_words(&line, style, &r->bottleneck.why);
    envelope_words(to, style, "kind", &line);
    buf_end(&line, to);
}

/* The phases, the longest first, on the device where something ran on one. */
static void put_phases(struct buf *to, const struct style *style, const struct trace_report *r)
{
    const struct trace_phases *p = &r->phases;
    bool on_device = r->devices > 0;
    bool told[TRACE_PHASES] = { false };
    int64_t whole = 0;
    struct buf line;
    buf_init(&line, SIZE_MAX / 2);
    for (uint32_t i = 0; i < p->rows; i++)
        whole = i64_plus(whole, on_device ? p->row[i].device_ns : p->row[i].wall_ns);
    for (;;) {
        const struct trace_phase_row *most = NULL;
        int64_t most_ns = 0;
        for (uint32_t i = 0; i < p->rows; i++) {
            int64_t ns = on_device ? p->row[i].device_ns : p->row[i].wall_ns;
            if (told[p->row[i].phase] || ns <= most_ns)
                continue;
            most = &p->row[i];
            most_ns = ns;
        }
        if (most == NULL)
            break;
        told[most->phase] = true;
        buf_text(&line, line.len > 0 ? ", " : on_device ? "on the device: " : "on the host: ");
        buf_format(&line, "%s ", trace_phase_word(most->phase));
        put_part(&line, most_ns, whole);
    }
    if (line.len > 0)
        envelope_words(to, style, "phases", &line);
    buf_end(&line, to);
}

/* Whether it is longer by itself. */
static bool is_longer(const struct module_row *a, const struct module_row *b, bool on_device)
{
    return on_device ? a->self_device_ns > b->self_device_ns : a->self_host_ns > b->self_host_ns;
}

/* The modules that take most by themselves. */
static void put_modules(struct buf *to, const struct style *style, const struct trace_report *r)
{
    const struct module_row *shown[ROWS_SHOWN];
    uint32_t count = 0;
    bool on_device = r->devices > 0;
    struct buf line;
    buf_init(&line, SIZE_MAX / 2);
    for (uint32_t i = 0; i < r->modules.rows; i++) {
        uint32_t at = count;
        while (at > 0 && is_longer(&r->modules.row[i], shown[at - 1], on_device))
            at--;
        if (at == ROWS_SHOWN)
            continue;
        count += count < ROWS_SHOWN;
        for (uint32_t k = count - 1; k > at; k--)
            shown[k] = shown[k - 1];
        shown[at] = &r->modules.row[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        buf_text(&line, i == 0 ? "by itself: " : ", ");
        trace_name(&line, style, shown[i]->path);
        buf_char(&line, ' ');
        put_part(&line, on_device ? shown[i]->self_device_ns : shown[i]->self_host_ns,
                 on_device ? r->figures.tables.device_ns : r->self_cpu_ns);
    }
    if (count == 0)
        buf_text(&line, r->file.complete
                            ? "not recorded: with_stack=True records the frames of modules"
                            : "none in the part that could be read");
    envelope_words(to, style, "modules", &line);
    buf_end(&line, to);
}

/* The operators that take most by themselves, and what they ran. */
static void put_operations(struct buf *to, const struct style *style, const struct trace_report *r)
{
    bool on_device = r->figures.tables.device_ns > 0;
    uint32_t shown = 0;
    struct buf line;
    buf_init(&line, SIZE_MAX / 2);
    for (uint32_t i = 0; i < r->ops && shown < ROWS_SHOWN; i++) {
        const struct operator_row *op = &r->op[on_device ? r->op_by_device[i] : i];
        int64_t ns = on_device ? op->self_device_ns : op->self_cpu_ns;
        if (ns <= 0)
            break;
        if (str_equal(op->name, S("ProfilerStep*"))) /* the step is no operation of itself */
            continue;
        buf_text(&line, shown++ > 0 ? ", " : on_device ? "on the device: " : "on the host: ");
        trace_name(&line, style, op->name);
        buf_char(&line, ' ');
        put_part(&line, ns, on_device ? r->figures.tables.device_ns : r->self_cpu_ns);
    }
    if (line.len == 0)
        buf_text(&line, "none was recorded");
    envelope_words(to, style, "ops", &line);
    for (uint32_t i = 0; i < r->figures.tables.kernels && i < ROWS_SHOWN; i++) {
        const struct name_row *k = &r->figures.tables.kernel[i];
        buf_text(&line, i == 0 ? "" : ", ");
        trace_name(&line, style, k->name);
        buf_char(&line, ' ');
        put_part(&line, k->ns, r->figures.tables.device_ns);
    }
    if (line.len > 0)
        envelope_words(to, style, "kernels", &line);
    buf_end(&line, to);
}

void trace_method_text(struct buf *to, const struct style *style, const struct trace_report *r)
{
    put_baseline(to, style, r);
    put_kind(to, style, r);
    put_phases(to, style, r);
    if (figures_are_of_torch(&r->figures))
        put_modules(to, style, r);
    put_operations(to, style, r);
    trace_findings_lead(to, style, r);
    trace_missing_text(to, style, r);
    next_line(to, style, "verify", "diff", r->file.path, " AFTER",
              "the same loop, recorded after the change");
}
