/* trace_export.h - a profiler trace in the formats of other tools, one file a format. */
#ifndef VRS_RENDER_EXPORT_TRACE_TRACE_EXPORT_H
#define VRS_RENDER_EXPORT_TRACE_TRACE_EXPORT_H

#include <stdbool.h>

#include "analysis/trace/calls/calls.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/trace.h"
#include "render/write/out.h"

/* In this order they are listed and written. */
enum trace_export_table {
    TRACE_TABLE_THREADS,
    TRACE_TABLE_SPANS,
    TRACE_TABLE_FLOWS,
    TRACE_TABLE_MEMORY,
    TRACE_TABLE_STEPS,
    TRACE_TABLE_OPERATORS,
    TRACE_TABLE_KERNELS,
    TRACE_TABLE_COPIES,
    TRACE_TABLE_CALLS,
    TRACE_TABLE_PATHS,
    TRACE_TABLE_RANGES,
    TRACE_TABLE_TIMELINE, /* of memory timelines alone, which have no other */
    TRACE_EXPORT_TABLES
};

/* What a path weighs; in all of them what it has of its own. */
enum trace_weight {
    TRACE_WEIGHT_HOST,   /* ns of the host */
    TRACE_WEIGHT_DEVICE, /* ns of device work */
    TRACE_WEIGHT_BYTES,  /* given out, on devices where there is any, else on the host */
    TRACE_WEIGHT_CALLS,
    TRACE_WEIGHTS
};

extern const char *const trace_weight_names[TRACE_WEIGHTS];

struct trace_exporting {
    const struct trace *t;
    const struct trace_study *study;
    const struct call_paths *calls;
    const struct trace_report *report;
    str path; /* of the file, as it is shown */
    str cut;  /* that the file ends early, and where; empty: it does not */
    const char *tool;
    struct arena *scratch;
    enum trace_weight weight;
    bool device_bytes; /* bytes are those of devices */
    bool inverse;
    enum trace_export_table table; /* of csv */
    const char *database;          /* a file that is new or empty; NULL unless one is written */
};

struct trace_export_format {
    const char *name;
    bool binary;
    bool table;    /* shows one table */
    bool file;     /* writes into `database` */
    bool weighs;   /* takes a weight */
    bool inverts;  /* takes a direction */
    bool bare;     /* has no place for what `cut` says */
    /* As in struct export_format. */
    enum vrs_status (*ready)(struct vrs_error *err);
    enum vrs_status (*write)(struct trace_exporting *e, struct out *out, struct vrs_error *err);
};

/* All formats; the last has no name. */
extern const struct trace_export_format trace_export_formats[];

enum vrs_status trace_export_csv(struct trace_exporting *e, struct out *out, struct vrs_error *err);
enum vrs_status trace_export_folded(struct trace_exporting *e, struct out *out,
                                    struct vrs_error *err);
enum vrs_status trace_export_speedscope(struct trace_exporting *e, struct out *out,
                                        struct vrs_error *err);
enum vrs_status trace_export_pprof(struct trace_exporting *e, struct out *out,
                                   struct vrs_error *err);
enum vrs_status trace_export_html(struct trace_exporting *e, struct out *out,
                                  struct vrs_error *err);
enum vrs_status trace_export_sqlite(struct trace_exporting *e, struct out *out,
                                    struct vrs_error *err);

#endif
