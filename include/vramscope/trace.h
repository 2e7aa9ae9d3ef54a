/* trace.h - what can be asked of a trace of torch.profiler: where the time of a run went.
 *
 * A trace is Chrome Trace Event JSON, plain, in gzip or in zstd; or, where a function says so, the
 * export of a memory timeline.  Lifetimes, threads and errors are
 * those of vramscope.h; a result outlives the trace that it is about. */
#ifndef VRAMSCOPE_TRACE_H
#define VRAMSCOPE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramscope/vramscope.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vrs_trace;

/* Opens a path; "-" is standard input.  Pipes work.  Of the options, `replay` means nothing here.
 * A memory snapshot fails with VRS_UNSUPPORTED, and the message names what reads it. */
VRS_API enum vrs_status vrs_open_trace(const char *path, const struct vrs_open_options *options,
                                       struct vrs_trace **ret, struct vrs_error *err);
/* The same of bytes in memory, which must stay until the call returns. */
VRS_API enum vrs_status vrs_open_trace_bytes(const void *bytes, size_t len, const char *name,
                                             const struct vrs_open_options *options,
                                             struct vrs_trace **ret, struct vrs_error *err);
/* Opens whatever a path holds, told by its bytes: one of the two is given, the other is NULL. */
VRS_API enum vrs_status vrs_open_any(const char *path, const struct vrs_open_options *options,
                                     struct vrs_file **ret_file, struct vrs_trace **ret_trace,
                                     struct vrs_error *err);
/* The same of bytes in memory, and of a stream, as vrs_open_bytes and vrs_open_stream read them. */
VRS_API enum vrs_status vrs_open_any_bytes(const void *bytes, size_t len, const char *name,
                                           const struct vrs_open_options *options,
                                           struct vrs_file **ret_file, struct vrs_trace **ret_trace,
                                           struct vrs_error *err);
VRS_API enum vrs_status vrs_open_any_stream(int64_t (*read)(void *arg, void *bytes, size_t len),
                                            void *arg, const char *name,
                                            const struct vrs_open_options *options,
                                            struct vrs_file **ret_file,
                                            struct vrs_trace **ret_trace, struct vrs_error *err);
/* Whether a path holds a trace, by the same bytes, which are read alone: of a pipe they are gone
 * then.  What cannot be read, or has no name ("-"), holds none. */
VRS_API bool vrs_is_trace(const char *path);
VRS_API void vrs_close_trace(struct vrs_trace *trace);

/* Whether it is a memory timeline, as export_memory_timeline() of torch.profiler writes it: bytes
 * by category over time.  It has the columns of the table "timeline" and no row in any other, and
 * is answered by vrs_trace_report (a kind of its own, which vrs_merge does not join with traces)
 * and vrs_trace_export to csv.  What else is asked fails with VRS_UNSUPPORTED, and the message says
 * why; a format or a table of vrs_trace_export that it has not with VRS_USAGE. */
VRS_API bool vrs_trace_is_timeline(const struct vrs_trace *trace);

/* How much there was to read: all events, also those without a row, bytes after unpacking, and of
 * them those in which no event could be made out. */
VRS_API uint64_t vrs_trace_events(const struct vrs_trace *trace);
VRS_API uint64_t vrs_trace_read_bytes(const struct vrs_trace *trace);
VRS_API uint64_t vrs_trace_skipped_bytes(const struct vrs_trace *trace);
/* How many kinds of damage there are in the file, mended, read around or a missing end: the rows of
 * "file.damage" in VRS_JSON. */
VRS_API uint32_t vrs_trace_damages(const struct vrs_trace *trace);

/* Columns.  A name is "table.column", as "spans.start"; docs/formats.md lists them.  Times are
 * nanoseconds, and INT64_MIN is a number that the file does not tell. */
VRS_API enum vrs_status vrs_trace_column(const struct vrs_trace *trace, const char *name,
                                         struct vrs_span *ret, struct vrs_error *err);
/* All columns by number: NULL when there is no i-th. */
VRS_API const char *vrs_trace_column_table(uint32_t i);
VRS_API const char *vrs_trace_column_name(uint32_t i);
/* What a number in "spans.kind" means, as "kernel"; NULL: nothing. */
VRS_API const char *vrs_trace_span_kind(uint32_t kind);
/* A string of the trace by id, not ended by a NUL; lives as long as the trace.  NULL when there is
 * none. */
VRS_API const char *vrs_trace_string(const struct vrs_trace *trace, uint32_t id, size_t *ret_len);

/* Parts of VRS_TEXT, each with all its rows. */
enum vrs_trace_section {
    VRS_TRACE_OPS = 1,     /* operators, as key_averages() has them */
    VRS_TRACE_KERNELS = 2, /* what ran on devices, and copies */
    VRS_TRACE_GAPS = 4,    /* why devices waited, and the longest gaps */
    VRS_TRACE_STEPS = 8,
    VRS_TRACE_MEMORY = 16,
    VRS_TRACE_CALLS = 32,     /* of the runtime and the driver: launches, synchronisation */
    VRS_TRACE_FINDINGS = 64,  /* what to change, and why a rule says nothing */
    VRS_TRACE_PHASES = 128,   /* of training, on the wall and on devices */
    VRS_TRACE_LAUNCHES = 256, /* how long they took, and how much was queued */
    VRS_TRACE_MODULES = 512,  /* torch.nn.Module, forward and backward */
    VRS_TRACE_TREE = 1024,    /* the call tree: who called what, and what it cost */
    VRS_TRACE_METHOD = 2048   /* the method of four phases: baseline, kind, component, operation */
};

struct vrs_trace_options {
    size_t size;
    const char *path;  /* shown as the file's name; NULL: the path it was opened with */
    uint32_t sections; /* enum vrs_trace_section, which VRS_TEXT shows alone; 0: a page */
    /* Operators as key_averages() has them where Python frames were recorded too: the framework
     * then takes the time of operators that a frame called from ranges around it. */
    bool as_framework;
    /* Thresholds of rules to be replaced, each "NAME=VALUE", `threshold_count` of them.  The names
     * are those of vrs_trace_threshold. */
    const char *const *thresholds;
    size_t threshold_count;
    /* Of VRS_TRACE_TREE: paths with less of the time of hosts and of devices are left out; "1%",
     * "0.01", NULL: 1 %. */
    const char *min_share;
    /* Operators, split by what else tells calls of one name apart, besides those by their names:
     * "shapes", "module", "phase", "step", "stack" or "stack:3" (so many frames, 5 where no number
     * stands there), with a comma between two; NULL: none.  They stand in a table of their own,
     * which VRS_TRACE_OPS then shows. */
    const char *by;
};

/* The name of the i-th threshold that rules compare with, from 0; NULL behind the last. */
VRS_API const char *vrs_trace_threshold(size_t i);

/* How busy the devices were and why they waited, steps, operators, kernels, copies, calls and
 * memory.  VRS_TEXT, VRS_JSON, and VRS_CSV of the table of the one section that was asked for:
 * without one of the operators. */
VRS_API enum vrs_status vrs_trace_report(const struct vrs_trace *trace,
                                         const struct vrs_trace_options *options,
                                         struct vrs_result **ret, struct vrs_error *err);

/* VRS_USAGE for words that make no sense of whatever trace: thresholds, `min_share`, `by`. */
VRS_API enum vrs_status vrs_trace_report_check(const struct vrs_trace_options *options,
                                               struct vrs_error *err);

/* What was measured of a training without a profiler: means of its steps in seconds, and the median
 * of a step; each below 0 (or NaN) where it was not measured.  All members are to be set: 0 is a
 * measurement. */
struct vrs_measured {
    size_t size;
    const char *of;  /* shown: the model, its device, its batches */
    uint32_t steps;  /* how many were measured */
    bool on_device;  /* where the model is; times but that of loading are then of its clock */
    double median_s; /* of a step */
    double step_s;   /* without the loading of its batch */
    double loading_s, copy_s, forward_s, backward_s, optimizer_s;
    double samples_per_second; /* with the loading */
    double busy;               /* the share of the time that the device worked, from 0 to 1 */
    int64_t workers;           /* of the loader; -1: not known */
    int64_t processors;        /* that the process may use; -1 */
};

/* The method of four phases on a training that was measured: the baseline, the kind of bottleneck,
 * the phases; with a trace of the same training (NULL: there is none) modules, operators and what
 * to change.  Of the options `path` and the thresholds count.  VRS_TEXT and VRS_JSON. */
VRS_API enum vrs_status vrs_method_report(const struct vrs_measured *measured,
                                          const struct vrs_trace *trace,
                                          const struct vrs_trace_options *options,
                                          struct vrs_result **ret, struct vrs_error *err);

/* Does a trace keep limits: "min-busy" and "max-idle" with a share of the time of the steps, or
 * without steps of that from the first to the last work, of the device that kept it worst;
 * "max-step" with a time, "max-memory-peak" with a size.  Limits of snapshots may stand beside
 * them, and are never decided: a trace has no value for them.  VRS_USAGE where there are no others.
 */
struct vrs_trace_check_options {
    size_t size;
    const char *path;              /* as above */
    const struct vrs_limit *limit; /* a later one replaces an earlier of the same name */
    uint32_t limits;
    bool strict;                      /* undecided is not good enough */
    const char *budget, *budget_name; /* more limits, as in vrs_check_options; or NULL */
};
VRS_API enum vrs_status vrs_trace_check(const struct vrs_trace *trace,
                                        const struct vrs_trace_check_options *options,
                                        struct vrs_result **ret, struct vrs_error *err);

/* VRS_USAGE for words that make no sense of whatever trace. */
VRS_API enum vrs_status vrs_trace_check_check(const struct vrs_trace_check_options *options,
                                              struct vrs_error *err);

/* Writes a trace, or a part of it, as Chrome Trace Event JSON: what was read of a damaged file, as
 * a file without damage; or some steps with the device work that they launched. */
struct vrs_trace_rewrite_options {
    size_t size;
    /* "3..5", "3..", "..5" or "3", by the numbers in their names; NULL: all of the trace. */
    const char *steps;
    bool drop_python;
    int64_t min_duration_ns; /* shorter host events go, unless kept device work needs them */
};
VRS_API enum vrs_status vrs_trace_rewrite(const struct vrs_trace *trace,
                                          const struct vrs_trace_rewrite_options *options,
                                          const struct vrs_sink *sink, struct vrs_error *err);

/* VRS_USAGE for words that make no sense of whatever trace. */
VRS_API enum vrs_status vrs_trace_rewrite_check(const struct vrs_trace_rewrite_options *options,
                                                struct vrs_error *err);

/* What changed from `a` to `b`, which may be one trace: medians of a step. */
struct vrs_trace_diff_options {
    size_t size;
    const char *path, *b_path; /* as above */
    const char *at;            /* NULL: all steps; "step:3": that of this number */
    const char *to;            /* of `b`, where it is another one */
    /* vrs_verdict is VRS_NO where B's median step is above A's by more than fail_over_ns - 1; 0: no
     * limit. */
    int64_t fail_over_ns;
    uint64_t fail_over_millionths; /* of A's */
    /* Operators matched by more than their names, besides those by these: "shapes", "module",
     * "phase", "stack" or "stack:3", with a comma between two; NULL: none. */
    const char *by;
};
VRS_API enum vrs_status vrs_trace_diff(const struct vrs_trace *a, const struct vrs_trace *b,
                                       const struct vrs_trace_diff_options *options,
                                       struct vrs_result **ret, struct vrs_error *err);

/* VRS_USAGE for words that make no sense of whatever traces. */
VRS_API enum vrs_status vrs_trace_diff_check(const struct vrs_trace_diff_options *options,
                                             struct vrs_error *err);

/* A trace for other tools.  It is written straight from the trace, row by row; so it is a call of
 * its own and not a format of vrs_write. */
struct vrs_trace_export_options {
    size_t size;
    const char *path; /* shown as the file's name; NULL: the path it was opened with */
    /* "csv", "folded", "speedscope", "pprof", "html", "sqlite", "chrome"; "perfetto" is "chrome",
     * which it reads.  html is a page with a flame graph, in one file that needs nothing else.
     * chrome has what was read, so it mends a damaged trace. */
    const char *to;
    /* Of csv: "threads", "spans", "flows", "memory", "steps", "operators" (default), "kernels",
     * "copies", "calls", "paths" of the call tree, "ranges" over it; of a memory timeline
     * "timeline", which is then the default, alone. */
    const char *table;
    /* Of folded, speedscope, pprof and html, what a path of the call tree has of its own: "host"
     * (default) and "device" nanoseconds, "bytes" that allocators gave out, "calls".  pprof and
     * html have all of them and show this one first; speedscope has the host's time from moment to
     * moment. */
    const char *weight;
    bool inverse; /* of folded and html: the innermost frame first */
    /* Of sqlite, which writes to no sink: a file that is new or empty.  After a failure it is of
     * no use. */
    const char *database;
    /* Told in one line that the trace is cut, where the format has no place to say so, and that
     * nothing of it has any of the weight; NULL: nobody is. */
    void (*note)(void *arg, const char *text);
    void *note_arg;
};
VRS_API enum vrs_status vrs_trace_export(const struct vrs_trace *trace,
                                         const struct vrs_trace_export_options *options,
                                         const struct vrs_sink *sink, struct vrs_error *err);

/* VRS_USAGE where vrs_trace_export would refuse these words of whatever trace; VRS_UNSUPPORTED for
 * a format that this build is without.  `database` is not looked at. */
VRS_API enum vrs_status vrs_trace_export_check(const struct vrs_trace_export_options *options,
                                               struct vrs_error *err);

#ifdef __cplusplus
}
#endif

#endif
