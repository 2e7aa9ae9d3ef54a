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
#include "render/write/escape.h"
#include "render/write/text.h"

enum { ROWS_SHOWN = 3 };

static void put_ns(struct buf *to, int64_t ns)
{
    human_ns(to, ns > 0 ? (uint64_t)ns : 0);
}

/* Whether the time to look at is that of devices. */
static bool is_on_device(const struct trace_report *r)
{
    return r->figures.tables.device_ns > 0;
}

/* "11.7 ms (64.2 %)", without a share where the whole is 0. */
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
        buf_text(&words, "no whole step was recorded; diff compares such traces as a whole");
    envelope_words(to, style, "baseline", &words);
    trace_memory_words(&words, style, r);
    if (words.len > 0)
        envelope_words(to, style, "", &words);
    buf_end(&words, to);
}

void bottleneck_text(struct buf *to, const struct style *style, const struct bottleneck *b)
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
    buf_text(&line, words[b->kind]);
    paint_off(&line, style);
    trace_template_words(&line, style, &b->why);
    envelope_words(to, style, "kind", &line);
    buf_end(&line, to);
}

/* The phases, the longest first, on the device where something ran on one. */
static void put_phases(struct buf *to, const struct style *style, const struct trace_report *r)
{
    const struct trace_phases *p = &r->phases;
    bool on_device = is_on_device(r);
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

static int64_t own_ns(const struct module_row *row, bool on_device)
{
    return on_device ? row->self_device_ns : row->self_host_ns;
}

/* The modules that take most by themselves, the longest first; returns how many. */
static uint32_t longest_modules(const struct trace_report *r,
                                const struct module_row *ret[ROWS_SHOWN])
{
    bool on_device = is_on_device(r);
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->modules.rows; i++) {
        const struct module_row *row = &r->modules.row[i];
        uint32_t at = count;
        while (at > 0 && own_ns(row, on_device) > own_ns(ret[at - 1], on_device))
            at--;
        if (at == ROWS_SHOWN || own_ns(row, on_device) <= 0)
            continue;
        count += count < ROWS_SHOWN;
        for (uint32_t k = count - 1; k > at; k--)
            ret[k] = ret[k - 1];
        ret[at] = row;
    }
    return count;
}

/* Why no module is named. */
static const char *no_modules(const struct trace_report *r)
{
    if (!r->file.complete)
        return "none in the part that could be read";
    if (r->modules.rows > 0)
        return "none of them takes any time by itself";
    for (uint32_t i = 0; i < r->capture.missings; i++)
        if (str_equal(str_from(r->capture.missing[i].what), S("source lines")))
            return "not recorded: with_stack=True records the frames of modules";
    return "no frames of modules are in the trace";
}

/* Paths of modules differ at their ends. */
static void put_path(struct buf *to, const struct style *style, str path)
{
    enum { PATH_MOST = 60 };
    struct buf escaped;
    buf_init(&escaped, SIZE_MAX / 2);
    escape_text(&escaped, path, style->ascii);
    text_fit(to, style, buf_slice(&escaped), PATH_MOST, CUT_START);
    buf_end(&escaped, to);
}

/* Times of the host hold Python's own, of which the whole is not known. */
static void put_modules(struct buf *to, const struct style *style, const struct trace_report *r)
{
    const struct module_row *shown[ROWS_SHOWN];
    bool on_device = is_on_device(r);
    uint32_t count = longest_modules(r, shown);
    struct buf line;
    buf_init(&line, SIZE_MAX / 2);
    for (uint32_t i = 0; i < count; i++) {
        buf_text(&line, i > 0        ? ", "
                        : on_device ? "on the device, by itself: "
                                    : "on the host, by itself: ");
        put_path(&line, style, shown[i]->path);
        buf_char(&line, ' ');
        put_part(&line, own_ns(shown[i], on_device),
                 on_device ? r->figures.tables.device_ns : 0);
    }
    if (count == 0)
        buf_text(&line, no_modules(r));
    envelope_words(to, style, "modules", &line);
    buf_end(&line, to);
}

/* Ranges of a profiler's step and of our own phases, which are no operation of themselves. */
static bool is_around_operators(str name)
{
    return str_equal(name, S("ProfilerStep*")) ||
           (str_starts(name, S("## ")) && str_ends(name, S(" ##")));
}

/* The operators that take most by themselves. */
static void put_operators(struct buf *to, const struct style *style, const struct trace_report *r)
{
    bool on_device = is_on_device(r);
    uint32_t shown = 0;
    struct buf line;
    buf_init(&line, SIZE_MAX / 2);
    for (uint32_t i = 0; i < r->ops && shown < ROWS_SHOWN; i++) {
        const struct operator_row *op = &r->op[on_device ? r->op_by_device[i] : i];
        int64_t ns = on_device ? op->self_device_ns : op->self_cpu_ns;
        if (ns <= 0)
            break;
        if (is_around_operators(op->name))
            continue;
        buf_text(&line, shown++ > 0 ? ", " : on_device ? "on the device: " : "on the host: ");
        trace_name(&line, style, op->name);
        buf_char(&line, ' ');
        put_part(&line, ns, on_device ? r->figures.tables.device_ns : r->self_cpu_ns);
    }
    if (line.len == 0)
        buf_text(&line, r->file.complete ? "none was recorded that takes time"
                                         : "none in the part that could be read");
    envelope_words(to, style, "ops", &line);
    buf_end(&line, to);
}

/* What ran longest on devices. */
static void put_kernels(struct buf *to, const struct style *style, const struct trace_report *r)
{
    const struct tables *t = &r->figures.tables;
    struct buf line;
    buf_init(&line, SIZE_MAX / 2);
    for (uint32_t i = 0; i < t->kernels && i < ROWS_SHOWN; i++) {
        buf_text(&line, i == 0 ? "" : ", ");
        trace_name(&line, style, t->kernel[i].name);
        buf_char(&line, ' ');
        put_part(&line, t->kernel[i].ns, t->device_ns);
    }
    if (line.len > 0)
        envelope_words(to, style, "kernels", &line);
    buf_end(&line, to);
}

void trace_method_parts(struct buf *to, const struct style *style, const struct trace_report *r,
                        const char *all)
{
    if (figures_are_of_torch(&r->figures))
        put_modules(to, style, r);
    put_operators(to, style, r);
    put_kernels(to, style, r);
    trace_findings_lead(to, style, r, all);
}

void trace_method_text(struct buf *to, const struct style *style, const struct trace_report *r)
{
    put_baseline(to, style, r);
    bottleneck_text(to, style, &r->bottleneck);
    put_phases(to, style, r);
    trace_method_parts(to, style, r, "vramscope trace --findings");
    trace_missing_text(to, style, r);
    next_line(to, style, "verify", "diff", r->file.path, " AFTER",
              "the same loop, recorded after the change");
}
