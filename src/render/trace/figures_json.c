/* figures_json.c - one function a group of figures, in the order of docs/trace-figures.md. */
#include "render/trace/figures_json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/busy/busy.h"
#include "analysis/trace/memory/memory.h"
#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/tables.h"
#include "base/bytes.h"
#include "base/str.h"
#include "base/utf8.h"
#include "model/trace.h"

enum { NAME_POINTS = 80, ROWS = 5 };

static str clipped(str name)
{
    size_t end = 0;
    uint32_t point;
    for (size_t points = 0; points < NAME_POINTS && end < name.len; points++)
        end += utf8_decode((str){ name.ptr + end, name.len - end }, &point);
    return (str){ name.ptr, end };
}

static void json_known_ns(struct json *j, const char *key, int64_t value)
{
    if (value == TRACE_UNKNOWN)
        json_null(j, key);
    else
        json_i64(j, key, value);
}

/* What the file has. */

static void put_flags(struct json *j, uint8_t flags)
{
    static const struct {
        enum trace_flag flag;
        const char *name;
    } known[] = {
        { TRACE_PROFILE_MEMORY, "profile_memory" }, { TRACE_RECORD_SHAPES, "record_shapes" },
        { TRACE_WITH_FLOPS, "with_flops" },         { TRACE_WITH_MODULES, "with_modules" },
        { TRACE_WITH_STACK, "with_stack" },
    };
    json_line_array(j, "flags");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((flags & known[i].flag) != 0)
            json_text(j, NULL, known[i].name);
    json_close(j);
}

static void put_count(struct json *j, const char *key, uint64_t count)
{
    if (count > 0)
        json_u64(j, key, count);
}

static void put_counts(struct json *j, const char *key, const struct count_row *row, uint32_t rows)
{
    json_line_object(j, key);
    for (uint32_t i = 0; i < rows; i++) {
        json_name(j, row[i].name);
        json_u64(j, NULL, row[i].count);
    }
    json_close(j);
}

static void put_file(struct json *j, const struct file_figures *f)
{
    json_text(j, "form", f->is_array ? "array" : "object");
    json_u64(j, "events", f->events);
    put_counts(j, "ph", f->phase, f->phases);
    put_flags(j, f->flags);
    json_known_ns(j, "base_ns", f->base_ns);
    json_line_object(j, "ts_form");
    put_count(j, "int", f->times_integer);
    put_count(j, "none", f->times_missing);
    put_count(j, "text_or_decimal", f->times_other);
    json_close(j);
    json_u64(j, "devices_listed", f->devices_listed);
}

static void put_kinds(struct json *j, const struct figures *f)
{
    /* By name, which is not the order of the enum. */
    static const enum span_kind order[SPAN_KINDS] = {
        SPAN_ANNOTATION, SPAN_CUDA_EVENT, SPAN_DRIVER, SPAN_GPU_ANNOTATION, SPAN_KERNEL,
        SPAN_MEMCPY,     SPAN_MEMSET,     SPAN_OP,     SPAN_OTHER,          SPAN_OVERHEAD,
        SPAN_PYTHON,     SPAN_RUNTIME,    SPAN_WINDOW, SPAN_SYNC,
    };
    json_line_object(j, "kinds");
    for (uint32_t i = 0; i < SPAN_KINDS; i++)
        put_count(j, span_kind_name(order[i]), f->kinds[order[i]]);
    json_close(j);
    put_counts(j, "other_categories", f->other, f->others);
}

/* Trees and links. */

static void put_trees(struct json *j, const struct figures *f)
{
    const struct call_tree *c = &f->calls;
    json_u64(j, "host_threads", f->host.threads);
    json_u64(j, "partial_overlaps", f->host.overlaps);
    json_u64(j, "max_depth", f->host.max_depth);
    json_line_object(j, "call_tree");
    json_u64(j, "threads", c->threads);
    json_u64(j, "partial_overlaps", c->overlaps);
    json_u64(j, "max_depth", c->max_depth);
    json_u64(j, "distinct_paths", c->paths);
    json_u64(j, "roots", c->roots);
    json_u64(j, "module_frames", c->module_frames);
    json_close(j);
}

static void put_link(struct json *j, const struct figures *f)
{
    static const enum rung order[RUNGS] = { RUNG_EXTERNAL_ID, RUNG_FLOW, RUNG_LAUNCH_NESTING,
                                            RUNG_NONE };
    const struct link_figures *l = &f->link;
    json_object(j, "link");
    json_u64(j, "device_events",
             f->kinds[SPAN_KERNEL] + f->kinds[SPAN_MEMCPY] + f->kinds[SPAN_MEMSET]);
    json_u64(j, "with_launch", l->with_launch);
    json_u64(j, "before_window", l->before_window);
    json_line_object(j, "rungs");
    for (uint32_t i = 0; i < RUNGS; i++)
        put_count(j, rung_names[order[i]], l->events[order[i]]);
    json_close(j);
    json_u64(j, "id_and_nesting_agree", l->agree);
    json_u64(j, "id_and_nesting_differ", l->differ);
    json_u64(j, "max_device_events_per_launch", l->most_of_a_launch);
    json_i64(j, "attributed_ns", i64_minus(f->tables.device_ns, l->ns[RUNG_NONE]));
    json_i64(j, "device_ns", f->tables.device_ns);
    json_close(j);
}

/* Devices. */

static void put_pid(struct json *j, const struct pid_name *pid)
{
    if (!pid->is_known)
        json_null(j, "pid");
    else if (pid->is_number)
        json_i64(j, "pid", pid->number);
    else
        json_str(j, "pid", pid->text);
}

static void put_gaps(struct json *j, const struct device_time *d)
{
    static const enum gap_class classes[GAP_CLASSES] = {
        GAP_HOST_LATE, GAP_LAUNCH_LATENCY,    GAP_NO_LAUNCH,
        GAP_QUEUED,    GAP_QUEUED_UNDER_10US, GAP_SLOW_LAUNCH,
    };
    static const enum blame blames[BLAMES] = {
        BLAME_ALLOCATOR, BLAME_DATALOADER, BLAME_MODULE_LOAD, BLAME_NONE, BLAME_OP,
        BLAME_OPTIMIZER, BLAME_PYTHON,     BLAME_RUNTIME,     BLAME_SYNC,
    };
    json_u64(j, "gaps", d->gaps);
    json_line_array(j, "gap_histogram");
    for (uint32_t i = 0; i < GAP_BINS; i++)
        json_u64(j, NULL, d->gap_histogram[i]);
    json_close(j);
    json_i64(j, "longest_gap_ns", d->longest_gap_ns);
    json_line_object(j, "gap_classes");
    for (uint32_t i = 0; i < GAP_CLASSES; i++) {
        if (d->class_gaps[classes[i]] == 0)
            continue;
        json_line_array(j, gap_class_names[classes[i]]);
        json_u64(j, NULL, d->class_gaps[classes[i]]);
        json_i64(j, NULL, d->class_ns[classes[i]]);
        json_close(j);
    }
    json_close(j);
    json_line_object(j, "host_late_blame_ns");
    for (uint32_t i = 0; i < BLAMES; i++)
        if (d->blame_ns[blames[i]] != 0)
            json_i64(j, blame_names[blames[i]], d->blame_ns[blames[i]]);
    json_close(j);
}

static void put_device(struct json *j, const struct device_time *d)
{
    json_object(j, NULL);
    put_pid(j, &d->pid);
    json_u64(j, "streams", d->streams);
    json_u64(j, "kernels", d->events[SPAN_KERNEL]);
    json_i64(j, "kernel_ns", d->ns[SPAN_KERNEL]);
    json_u64(j, "memcpys", d->events[SPAN_MEMCPY]);
    json_i64(j, "memcpy_ns", d->ns[SPAN_MEMCPY]);
    json_u64(j, "memsets", d->events[SPAN_MEMSET]);
    json_i64(j, "memset_ns", d->ns[SPAN_MEMSET]);
    json_i64(j, "span_ns", d->last_ns - d->first_ns);
    json_i64(j, "busy_ns", d->busy_ns);
    json_i64(j, "sum_ns", d->sum_ns);
    json_i64(j, "idle_ns", d->idle_ns);
    json_i64(j, "computation_ns", d->computation_ns);
    json_i64(j, "exposed_communication_ns", d->exposed_communication_ns);
    json_i64(j, "exposed_memcpy_ns", d->exposed_memcpy_ns);
    json_i64(j, "communication_ns", d->communication_ns);
    json_i64(j, "communication_hidden_ns", d->communication_hidden_ns);
    put_gaps(j, d);
    json_close(j);
}

/* Tables. */

static void put_named(struct json *j, const char *key, const struct name_row *row, uint32_t rows)
{
    json_array(j, key);
    for (uint32_t i = 0; i < rows && i < ROWS; i++) {
        json_line_array(j, NULL);
        json_str(j, NULL, clipped(row[i].name));
        json_i64(j, NULL, row[i].ns);
        json_u64(j, NULL, row[i].calls);
        json_close(j);
    }
    json_close(j);
}

static void put_copies(struct json *j, const struct tables *t)
{
    json_object(j, "memcpy");
    for (uint32_t i = 0; i < t->copies; i++) {
        json_name(j, t->copy[i].kind);
        json_line_array(j, NULL);
        json_i64(j, NULL, t->copy[i].ns);
        json_u64(j, NULL, t->copy[i].calls);
        json_u64(j, NULL, t->copy[i].bytes);
        json_close(j);
    }
    json_close(j);
}

static void put_operator(struct json *j, const struct operator_row *r)
{
    json_line_array(j, NULL);
    json_str(j, NULL, clipped(r->name));
    json_u64(j, NULL, r->calls);
    json_i64(j, NULL, r->cpu_total_ns);
    json_i64(j, NULL, r->self_cpu_ns);
    json_i64(j, NULL, r->device_total_ns);
    json_i64(j, NULL, r->self_device_ns);
    json_close(j);
}

/* The next row by falling device time, ties by name, behind `last` of the order; or NULL. */
static const struct operator_row *next_by_device(const struct tables *t,
                                                 const struct operator_row *last)
{
    const struct operator_row *best = NULL;
    for (uint32_t i = 0; i < t->ops; i++) {
        const struct operator_row *r = &t->op[i];
        bool is_behind = last == NULL || r->self_device_ns < last->self_device_ns ||
                         (r->self_device_ns == last->self_device_ns &&
                          str_compare(r->name, last->name) > 0);
        bool is_better = best == NULL || r->self_device_ns > best->self_device_ns ||
                         (r->self_device_ns == best->self_device_ns &&
                          str_compare(r->name, best->name) < 0);
        if (is_behind && is_better)
            best = r;
    }
    return best != NULL && best->self_device_ns != 0 ? best : NULL;
}

static void put_operators(struct json *j, const struct tables *t)
{
    static const char *const columns[] = { "name",        "calls",           "cpu_total_ns",
                                           "self_cpu_ns", "device_total_ns", "self_device_ns" };
    json_u64(j, "merged_duplicates", t->merged);
    json_u64(j, "op_rows", t->ops);
    json_i64(j, "self_cpu_ns", t->self_cpu_ns);
    json_i64(j, "self_device_ns", t->device_ns);
    json_line_array(j, "op_columns");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        json_text(j, NULL, columns[i]);
    json_close(j);
    json_array(j, "top_self_cpu");
    for (uint32_t i = 0; i < t->ops && i < ROWS; i++)
        put_operator(j, &t->op[i]);
    json_close(j);
    json_array(j, "top_self_device");
    const struct operator_row *r = NULL;
    for (uint32_t i = 0; i < ROWS && (r = next_by_device(t, r)) != NULL; i++)
        put_operator(j, r);
    json_close(j);
}

static void put_pair(struct json *j, const char *key, uint64_t count, int64_t ns)
{
    json_line_array(j, key);
    json_u64(j, NULL, count);
    json_i64(j, NULL, ns);
    json_close(j);
}

static void put_calls(struct json *j, const struct figures *f)
{
    const struct tables *t = &f->tables;
    put_named(j, "runtime_calls", t->call, t->calls);
    put_pair(j, "sync", t->syncs, t->sync_ns);
    put_pair(j, "launch_calls", t->launches, t->launch_ns);
    if (f->delay.count == 0) {
        json_null(j, "launch_delay_ns");
        return;
    }
    json_line_array(j, "launch_delay_ns");
    json_i64(j, NULL, f->delay.least_ns);
    json_i64(j, NULL, f->delay.median_ns);
    json_i64(j, NULL, f->delay.most_ns);
    json_close(j);
}

/* Steps and ranges. */

static void put_steps(struct json *j, const struct figures *f)
{
    static const char *const columns[] = { "name", "start_after_first_event_ns", "dur_ns",
                                           "device_events_launched", "device_ns_launched" };
    json_array(j, "steps");
    for (uint32_t i = 0; i < f->steps; i++) {
        const struct step_row *s = &f->step[i];
        json_line_array(j, NULL);
        json_str(j, NULL, s->name);
        json_i64(j, NULL, s->start_ns - f->first_ns);
        json_i64(j, NULL, s->ns);
        json_u64(j, NULL, s->events);
        json_i64(j, NULL, s->device_ns);
        json_close(j);
    }
    json_close(j);
    json_line_array(j, "step_columns");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        json_text(j, NULL, columns[i]);
    json_close(j);
    json_object(j, "framework_ranges");
    for (uint32_t i = 0; i < f->tables.ranges; i++) {
        const struct name_row *r = &f->tables.range[i];
        json_name(j, r->name);
        json_line_array(j, NULL);
        json_i64(j, NULL, r->ns);
        json_u64(j, NULL, r->calls);
        json_close(j);
    }
    json_close(j);
    json_line_array(j, "fwdbwd");
    json_u64(j, NULL, f->pairs_started);
    json_u64(j, NULL, f->pairs_finished);
    json_close(j);
}

/* Memory. */

static void put_memory(struct json *j, const struct memory_row *r, int64_t first_ns)
{
    json_object(j, NULL);
    json_known_ns(j, "device_type", r->device_type);
    json_known_ns(j, "device_id", r->device_number);
    json_u64(j, "events", r->events);
    json_u64(j, "allocs", r->allocs);
    json_u64(j, "frees", r->frees);
    json_i64(j, "alloc_bytes", r->alloc_bytes);
    json_i64(j, "free_bytes", r->free_bytes);
    json_bool(j, "has_totals", r->has_totals);
    json_i64(j, "base", r->base);
    json_i64(j, "final", r->final);
    if (r->has_totals)
        json_i64(j, "peak_reserved", r->peak_reserved);
    json_i64(j, "peak", r->peak);
    json_i64(j, "peak_after_first_event_ns", r->peak_ns - first_ns);
    json_u64(j, "chain_breaks", r->chain_breaks);
    if (r->has_addresses) {
        json_u64(j, "free_without_alloc", r->free_without_alloc);
        json_u64(j, "alloc_on_live_address", r->alloc_on_live_address);
        json_u64(j, "alive_at_end", r->alive_at_end);
        json_i64(j, "alive_at_end_bytes", r->alive_at_end_bytes);
    }
    json_close(j);
}

void figures_json(struct json *j, const char *key, const struct figures *f)
{
    json_object(j, key);
    put_file(j, &f->file);
    put_kinds(j, f);
    json_u64(j, "ooms", f->file.out_of_memory);
    if (f->has_range)
        json_i64(j, "span_ns", f->last_ns - f->first_ns);
    else
        json_null(j, "span_ns");
    put_trees(j, f);
    put_link(j, f);
    json_array(j, "devices");
    for (uint32_t i = 0; i < f->busy.devices; i++)
        put_device(j, &f->busy.device[i]);
    json_close(j);
    json_u64(j, "kernel_names", f->tables.kernels);
    put_named(j, "top_kernels", f->tables.kernel, f->tables.kernels);
    put_copies(j, &f->tables);
    put_operators(j, &f->tables);
    put_calls(j, f);
    put_steps(j, f);
    json_array(j, "memory");
    for (uint32_t i = 0; i < f->memory.rows; i++)
        put_memory(j, &f->memory.row[i], f->first_ns);
    json_close(j);
    json_close(j);
}
