/* trace_words.c - plain sentences: who did what for how long. */
#include "render/trace/trace_words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/busy/busy.h"
#include "analysis/trace/figures/figures.h"
#include "analysis/trace/memory/memory.h"
#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/tables.h"
#include "base/bytes.h"
#include "base/str.h"
#include "model/trace.h"
#include "render/write/cpp_name.h"
#include "render/write/escape.h"
#include "render/write/text.h"

const char *trace_gap_word(uint8_t kind)
{
    static const char *const words[GAP_CLASSES] = {
        [GAP_NO_LAUNCH] = "launch not recorded",
        [GAP_QUEUED_UNDER_10US] = "gaps under 10 us between queued work",
        [GAP_QUEUED] = "launched work held back on the device",
        [GAP_HOST_LATE] = "the host was late",
        [GAP_LAUNCH_LATENCY] = "from launch to start",
        [GAP_SLOW_LAUNCH] = "slow launches",
    };
    return words[kind];
}

const char *trace_reason_word(uint8_t reason)
{
    static const char *const words[BLAMES] = {
        [BLAME_DATALOADER] = "data loader",
        [BLAME_SYNC] = "waiting for the device",
        [BLAME_ALLOCATOR] = "allocating device memory",
        [BLAME_MODULE_LOAD] = "loading kernels",
        [BLAME_OPTIMIZER] = "optimizer",
        [BLAME_OP] = "operators",
        [BLAME_RUNTIME] = "calls of the runtime",
        [BLAME_PYTHON] = "code between operators",
        [BLAME_NONE] = "no host event recorded",
    };
    return reason < BLAMES ? words[reason] : "";
}

const char *trace_step_word(uint8_t kind)
{
    static const char *const words[STEP_KINDS] = {
        [STEP_PLAIN] = "",
        [STEP_WARM_UP] = "warm-up",
        [STEP_CUT] = "cut",
        [STEP_EMPTY] = "empty",
    };
    return words[kind];
}

void trace_memory_device(struct buf *to, int64_t device_type, int64_t number)
{
    enum { TYPE_CPU = 0, TYPE_CUDA = 1, TYPE_HIP = 6, TYPE_XPU = 12, TYPE_MPS = 13 };
    const char *name = device_type == TYPE_CPU                               ? "host"
                       : device_type == TYPE_CUDA || device_type == TYPE_HIP ? "GPU"
                       : device_type == TYPE_XPU                             ? "XPU"
                       : device_type == TYPE_MPS                             ? "MPS"
                                                                             : "device";
    buf_text(to, name);
    if (device_type != TYPE_CPU && number != TRACE_UNKNOWN)
        buf_format(to, " %lld", (long long)number);
}

/* What is counted and what it is; texts, commas and values are counted one by one. */
static const struct {
    const char *noun, *words;
} damage_words[TRACE_DAMAGES] = {
    [DAMAGE_NO_TIME] = { "event", " without a time, left out" },
    [DAMAGE_NEGATIVE] = { "event", " with a negative duration, taken as 0" },
    [DAMAGE_NO_DURATION] = { "event", " with a duration that is no number, taken as 0" },
    [DAMAGE_RANGE] = { "event", " with a time beyond 64 bits of nanoseconds, taken as the nearest: "
                                "what is told of time is wrong" },
    [DAMAGE_NOT_AN_EVENT] = { "value", " in the place of an event, left out" },
    [DAMAGE_ESCAPE] = { "escape", " that JSON does not have, taken as a backslash" },
    [DAMAGE_CONTROL] = { "control character", " in a text, kept" },
    [DAMAGE_UTF8] = { "text", " not in UTF-8, wrong bytes replaced" },
    [DAMAGE_QUOTE] = { "quote", " in a text, kept" },
    [DAMAGE_COMMA] = { "comma", " too many or too few, read as if it were right" },
    [DAMAGE_WORD] = { "value", " that JSON does not have, taken as missing" },
    [DAMAGE_NESTED] = { "value", " nested too deep, taken as missing" },
    [DAMAGE_LONG] = { "event", " of more than 64 MiB, left out" },
    [DAMAGE_SKIPPED] = { "damaged place",
                         " that could not be mended, left out up to the next event" },
    [DAMAGE_ZEROS] = { "event", " with a time of 0, which may never have been set" },
    [DAMAGE_NOT_A_ROW] = { "row", " left out for numbers that a row cannot have" },
    [DAMAGE_UNORDERED] = { "row", " with a time before the row above, taken as that time" },
};

/* A whole stream of what is no whole text: by its checksum it is not what was packed. */
static bool is_corrupt(const struct trace_file *file)
{
    bool corrupt = false;
    for (uint32_t i = 0; i < file->damages; i++)
        corrupt = corrupt || file->damage[i].kind == DAMAGE_CHECKSUM;
    return corrupt && file->cut_stream.name == NULL;
}

const char *trace_incomplete_words(const struct trace_file *file)
{
    return file->was_cut                 ? "it was written from a file that ends too early"
           : file->cut_stream.is_damaged ? "the file cannot be unpacked to its end"
           : is_corrupt(file)            ? "the file is corrupt"
                                         : "the file ends too early";
}

/* Where the file ends too early, or the one that it was written from, and the stream in which it is
 * packed where that does.  `one`: what the file is a list of. */
static void put_cut(struct buf *to, const struct trace_file *file, uint64_t offset, const char *one)
{
    const struct cut_stream *stream = &file->cut_stream;
    if (file->was_cut)
        buf_format(to, "this file was written from one that ended too early, at its byte %llu",
                   (unsigned long long)offset);
    else if (stream->name == NULL)
        buf_format(to, "%s, at byte %llu%s",
                   is_corrupt(file) ? "the packed data is corrupt, and its text does not end"
                                    : "the file ends too early",
                   (unsigned long long)offset, file->is_packed ? " of what it unpacks to" : "");
    else
        buf_format(to, "the %s %s, at byte %llu of the file, which is byte %llu unpacked",
                   stream->name,
                   stream->is_damaged ? "data cannot be unpacked further" : "stream ends too early",
                   (unsigned long long)stream->at, (unsigned long long)offset);
    buf_format(to, "; the whole %ss before are kept", one);
}

void trace_damage_words(struct buf *to, const struct style *style, const struct trace_file *file,
                        const struct damage_row *damage, const char *one)
{
    unsigned long long offset = damage->first_offset;
    switch (damage->kind) {
    case DAMAGE_TRUNCATED:
        put_cut(to, file, damage->first_offset, one);
        return;
    case DAMAGE_BEHIND:
        buf_format(to, "what stands behind the end of the trace, at byte %llu%s, is left out",
                   offset, file->is_packed ? " of what it unpacks to" : "");
        return;
    case DAMAGE_CHECKSUM:
        human_counted(to, damage->count, "wrong checksum", style->ascii);
        buf_format(to,
                   " of the packing, at byte %llu of the file; what it unpacks to is shown, and "
                   "may be wrong",
                   offset);
        return;
    case DAMAGE_PACKED_BYTES:
        human_counted(to, damage->count, "byte", style->ascii);
        buf_format(to, " behind the packed data, from byte %llu of the file on, left out", offset);
        return;
    default:
        human_counted(to, damage->count, damage_words[damage->kind].noun, style->ascii);
        buf_text(to, damage_words[damage->kind].words);
    }
}

static void put_ns(struct buf *to, int64_t ns)
{
    human_ns(to, ns > 0 ? (uint64_t)ns : 0);
}

void trace_name(struct buf *to, const struct style *style, str name)
{
    enum { NAME_MOST = 60 };
    struct buf escaped;
    if (name.len == 0) {
        buf_text(to, "what has an empty name");
        return;
    }
    buf_init(&escaped, SIZE_MAX / 2);
    escape_text(&escaped, name, style->ascii);
    for (int how = CPP_NAME_ARGUMENTS;
         how <= CPP_NAME_FUNCTORS && escape_width(buf_slice(&escaped)) > NAME_MOST; how++) {
        struct buf shorter;
        buf_init(&shorter, SIZE_MAX / 2);
        cpp_name(&shorter, buf_slice(&escaped), (enum cpp_name)how);
        buf_end(&escaped, to);
        escaped = shorter;
    }
    text_fit(to, style, buf_slice(&escaped), NAME_MOST, CUT_END);
    buf_end(&escaped, to);
}

/* "device 0 (NVIDIA H100)", or "process 800 (Ascend Hardware)" where the file does not number its
 * devices. */
void trace_device_words(struct buf *to, const struct style *style, const struct trace_device *d)
{
    buf_text(to, d->is_listed || d->name.ptr == NULL ? "device " : "process ");
    escape_text(to, d->device, style->ascii);
    if (d->name.ptr != NULL) {
        buf_text(to, " (");
        trace_name(to, style, d->name);
        buf_char(to, ')');
    }
}

/* The largest reasons of a late host, "data loader 284 ms, operators 53.0 ms". */
static void put_reasons(struct buf *to, const struct trace_device *d, uint32_t most)
{
    for (uint32_t i = 0; i < d->blames && i < most; i++) {
        buf_text(to, i == 0 ? "" : ", ");
        buf_text(to, trace_reason_word(d->blame[i].reason));
        buf_char(to, ' ');
        put_ns(to, d->blame[i].ns);
    }
}

/* How busy it was and how long idle: in the time of the steps where there are any. */
static void put_busy_share(struct buf *to, const struct trace_device *d)
{
    bool has_steps = d->steps_busy >= 0;
    buf_text(to, " was busy for ");
    human_share(to, has_steps ? d->steps_busy : d->busy);
    buf_text(to, " of the ");
    put_ns(to, has_steps ? d->steps_window_ns : d->window_ns);
    buf_text(to, has_steps ? " of the steps" : " from its first event to its last");
}

static int64_t idle_time(const struct trace_device *d)
{
    return d->steps_busy >= 0 ? i64_minus(d->steps_window_ns, d->steps_busy_ns) : d->idle_ns;
}

static bool time_is_on(const struct trace_report *r, const struct trace_device *d)
{
    const double high = 0.9;
    return d->window_ns > 0 && (d->steps_busy >= 0 ? d->steps_busy : d->busy) >= high &&
           r->figures.tables.kernels > 0;
}

bool trace_time_is_on_devices(const struct trace_report *r)
{
    for (uint32_t i = 0; i < r->devices; i++)
        if (time_is_on(r, &r->device[i]))
            return true;
    return false;
}

static void device_verdict(struct buf *to, const struct style *style, const struct trace_report *r,
                           const struct trace_device *d)
{
    trace_device_words(to, style, d);
    if (d->window_ns <= 0) {
        buf_text(to, " did one thing that took no time");
        return;
    }
    put_busy_share(to, d);
    if (time_is_on(r, d)) {
        const struct name_row *k = &r->figures.tables.kernel[0];
        buf_text(to, ": the time is in what runs there, above all in ");
        trace_name(to, style, k->name);
        buf_text(to, " (");
        human_share(to, share_ratio((uint64_t)k->ns, (uint64_t)r->figures.tables.device_ns));
        buf_char(to, ')');
        return;
    }
    if (idle_time(d) <= 0)
        return;
    buf_text(to, " and idle for the other ");
    put_ns(to, idle_time(d));
    if (d->gap_kinds == 0 || d->steps_ends_ns > d->gap[0].ns) {
        buf_text(to, ", above all before its first event and behind its last (");
        put_ns(to, d->steps_ends_ns);
        buf_char(to, ')');
        return;
    }
    buf_text(to, ", above all ");
    switch ((enum gap_class)d->gap[0].kind) {
    case GAP_HOST_LATE:
        buf_text(to, "because the host was late (");
        put_reasons(to, d, 3);
        buf_char(to, ')');
        return;
    case GAP_SLOW_LAUNCH:
        buf_text(to, "because launches were slow: loading of kernels, or a full queue (");
        break;
    case GAP_LAUNCH_LATENCY:
        buf_text(to, "because work took long from its launch to its start (");
        break;
    case GAP_NO_LAUNCH:
        buf_text(to, "before work whose launch was not recorded (");
        break;
    case GAP_QUEUED:
        buf_text(to, "because work that was launched waited for something else (");
        break;
    case GAP_QUEUED_UNDER_10US:
        buf_text(to, "in short gaps between work that was launched (");
        break;
    case GAP_CLASSES:
        break;
    }
    put_ns(to, d->gap[0].ns);
    buf_char(to, ')');
}

/* Of each phase that means nothing here: only what lasts by itself (X) is a range, and links and
 * metadata are read beside. */
static bool is_read(str phase)
{
    static const char *const read[] = { "X", "M", "s", "t", "f", "i", "I" };
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (str_equal(phase, str_from(read[i])))
            return true;
    return false;
}

static void put_unread(struct buf *to, const struct style *style, const struct file_figures *f)
{
    enum { PHASES_SHOWN = 6 };
    uint64_t unread = 0;
    uint32_t phases = 0;
    for (uint32_t i = 0; i < f->phases; i++)
        unread += is_read(f->phase[i].name) ? 0 : f->phase[i].count;
    if (unread == 0)
        return;
    buf_text(to, "; ");
    human_counted(to, unread, "event", style->ascii);
    buf_text(to, unread == 1 ? " is" : " are");
    buf_text(to, " not read, of phase ");
    for (uint32_t i = 0; i < f->phases && phases < PHASES_SHOWN; i++) {
        if (is_read(f->phase[i].name))
            continue;
        buf_text(to, phases++ == 0 ? "" : ", ");
        trace_name(to, style, f->phase[i].name);
    }
}

static void foreign_verdict(struct buf *to, const struct style *style, const struct figures *f)
{
    human_counted(to, f->kinds[SPAN_OTHER], "range", style->ascii);
    buf_text(to, " of another tool than torch.profiler, in ");
    put_ns(to, f->last_ns - f->first_ns);
    buf_text(to, ": it tells nothing of operators, steps and devices");
    if (f->kinds[SPAN_OTHER] > 0)
        buf_text(to, "; --tree shows which range lies in which");
    put_unread(to, style, &f->file);
}

/* Where nothing ran on a device. */
static void host_verdict(struct buf *to, const struct style *style, const struct trace_report *r)
{
    const struct figures *f = &r->figures;
    if (!figures_are_of_torch(f)) {
        foreign_verdict(to, style, f);
        return;
    }
    buf_text(to, r->file.complete ? "no device activity was recorded"
                                  : "no device activity stands in the part that could be read");
    if (r->capture.devices > 0) {
        buf_text(to, ", though a GPU is listed (");
        escape_text(to,
                    r->capture.device[0].name.ptr != NULL ? r->capture.device[0].name : S("GPU"),
                    style->ascii);
        buf_char(to, ')');
    }
    if (r->ops == 0)
        return;
    buf_text(to, "; of ");
    put_ns(to, r->self_cpu_ns);
    buf_text(to, " on the host");
    if (r->figures.host.threads > 1)
        buf_format(to, ", added up over %u threads,", (unsigned)r->figures.host.threads);
    buf_text(to, " the largest part is in ");
    trace_name(to, style, r->op[0].name);
    buf_text(to, " (");
    human_share(to, share_ratio((uint64_t)r->op[0].self_cpu_ns, (uint64_t)r->self_cpu_ns));
    buf_char(to, ')');
}

void trace_verdict_words(struct buf *to, const struct style *style, const struct trace_report *r)
{
    enum { DEVICES_SHOWN = 8 };
    if (r->devices == 0)
        host_verdict(to, style, r);
    for (uint32_t i = 0; i < r->devices && i < DEVICES_SHOWN; i++) {
        buf_text(to, i == 0 ? "" : "; ");
        device_verdict(to, style, r, &r->device[i]);
    }
    if (r->devices > DEVICES_SHOWN)
        buf_format(to, "; and %u more", (unsigned)(r->devices - DEVICES_SHOWN));
}

/* Sums over all devices. */

static int64_t idle_of(const struct trace_report *r)
{
    int64_t idle = 0;
    for (uint32_t i = 0; i < r->devices; i++)
        idle = i64_plus(idle, r->device[i].idle_ns);
    return idle;
}

/* Behind what they are all parts of: "of 4.01 ms: from launch to start 1.02 ms (25.4 %), ".
 * `what` that is, where its name does not tell. */
static void put_part(struct buf *to, const char *word, int64_t ns, int64_t whole, const char *what)
{
    if (to->len == 0) {
        buf_text(to, "of ");
        put_ns(to, whole);
        buf_text(to, what);
        buf_text(to, ": ");
    } else {
        buf_text(to, ", ");
    }
    buf_text(to, word);
    buf_char(to, ' ');
    put_ns(to, ns);
    buf_text(to, " (");
    human_share(to, share_ratio((uint64_t)ns, (uint64_t)whole));
    buf_char(to, ')');
}

void trace_idle_words(struct buf *to, const struct style *style, const struct trace_report *r)
{
    int64_t by_class[GAP_CLASSES] = { 0 };
    (void)style;
    for (uint32_t i = 0; i < r->devices; i++)
        for (uint32_t k = 0; k < r->device[i].gap_kinds; k++)
            by_class[r->device[i].gap[k].kind] =
                i64_plus(by_class[r->device[i].gap[k].kind], r->device[i].gap[k].ns);
    for (;;) {
        uint32_t most = 0;
        for (uint32_t c = 1; c < GAP_CLASSES; c++)
            most = by_class[c] > by_class[most] ? c : most;
        if (by_class[most] <= 0)
            return;
        put_part(to, trace_gap_word((uint8_t)most), by_class[most], idle_of(r),
                 r->devices == 1 ? " from its first event to its last" : "");
        by_class[most] = 0;
    }
}

void trace_late_words(struct buf *to, const struct style *style, const struct trace_report *r)
{
    int64_t by_reason[BLAMES] = { 0 }, late = 0;
    (void)style;
    for (uint32_t i = 0; i < r->devices; i++) {
        for (uint32_t k = 0; k < r->device[i].blames; k++) {
            const struct blame_row *b = &r->device[i].blame[k];
            by_reason[b->reason] = i64_plus(by_reason[b->reason], b->ns);
            late = i64_plus(late, b->ns);
        }
    }
    for (;;) {
        uint32_t most = 0;
        for (uint32_t b = 1; b < BLAMES; b++)
            most = by_reason[b] > by_reason[most] ? b : most;
        if (by_reason[most] <= 0)
            return;
        put_part(to, trace_reason_word((uint8_t)most), by_reason[most], late,
                 " in which the host was late");
        by_reason[most] = 0;
    }
}

/* "; without ProfilerStep#3 (warm-up) and ProfilerStep#8 to ProfilerStep#9 (cut)": what no figure
 * of steps counts. */
static void put_steps_left_out(struct buf *to, const struct style *style,
                               const struct trace_report *r)
{
    uint32_t left_out = 0;
    for (uint32_t i = 0, next; i < r->steps; i = next) {
        for (next = i + 1; next < r->steps && r->step[next].kind == r->step[i].kind;)
            next++;
        if (r->step[i].kind == STEP_PLAIN)
            continue;
        buf_text(to, left_out++ == 0 ? "; without " : " and ");
        trace_name(to, style, r->step[i].name);
        if (next - i > 1) {
            buf_text(to, " to ");
            trace_name(to, style, r->step[next - 1].name);
        }
        buf_format(to, " (%s)", trace_step_word(r->step[i].kind));
    }
}

void trace_steps_words(struct buf *to, const struct style *style, const struct trace_report *r)
{
    const struct step_statistics *t = &r->statistics;
    if (r->steps == 0)
        return;
    human_counted(to, r->steps, "step", style->ascii);
    put_steps_left_out(to, style, r);
    if (t->count == 0)
        return;
    buf_text(to, ", on the host ");
    put_ns(to, (int64_t)t->median_ns);
    if (t->count > 1) {
        buf_text(to, " each in the median, from ");
        put_ns(to, t->min_ns);
        buf_text(to, " to ");
        put_ns(to, t->max_ns);
    }
    if (r->devices > 0) {
        buf_text(to, "; with their work ");
        put_ns(to, (int64_t)t->aware_median_ns);
    }
}

void trace_memory_words(struct buf *to, const struct style *style, const struct trace_report *r)
{
    const struct memory *m = &r->figures.memory;
    (void)style;
    for (uint32_t i = 0; i < m->rows; i++) {
        const struct memory_row *row = &m->row[i];
        buf_text(to, i == 0 ? "" : "; ");
        trace_memory_device(to, row->device_type, row->device_number);
        buf_text(to, row->is_lower_bound ? " at least " : " ");
        human_bytes(to, row->peak);
        buf_text(to, " at the peak, ");
        put_ns(to, row->peak_ns - r->figures.first_ns);
        buf_text(to, " after the first event");
    }
    for (uint32_t i = 0; i < m->rows; i++) {
        if (m->row[i].is_lower_bound) {
            buf_text(to, " (at least, since the events tell no totals: what was in use before them "
                         "is not known)");
            return;
        }
    }
}

void trace_links_words(struct buf *to, const struct style *style, const struct trace_report *r)
{
    const struct linking *l = &r->linking;
    const double nearly_all = 0.999;
    if (l->coverage < 0 || (l->coverage >= nearly_all && l->before_events == 0))
        return;
    double by_arrows = share_ratio((uint64_t)l->rung[RUNG_FLOW].ns,
                                   (uint64_t)r->figures.tables.device_ns);
    human_share(to, l->coverage);
    buf_text(to, " of the device time is linked to operators");
    if (l->rung[RUNG_FLOW].ns > 0 && by_arrows < l->coverage) {
        buf_text(to, ", ");
        human_share(to, by_arrows);
    }
    if (l->rung[RUNG_FLOW].ns > 0)
        buf_text(to, " by arrows of the file alone, without the call that launched it: when it was "
                     "launched is not known");
    if (l->before_events > 0) {
        buf_text(to, "; the launches of ");
        human_counted(to, l->before_events, "device event", style->ascii);
        buf_text(to, " (");
        put_ns(to, l->before_ns);
        buf_text(to, ") were not recorded: they were before the recording began");
    }
}
