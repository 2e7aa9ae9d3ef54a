/* export.h - a recording in the formats of other tools, one file a format behind one interface.
 *
 * An exporter writes straight from the recording, row by row, so that its memory does not follow
 * the size of what it writes.  All of it is read-only to exporters, save for what is said below. */
#ifndef VRS_RENDER_EXPORT_EXPORT_H
#define VRS_RENDER_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "analysis/snapshot/curves/curve_steps.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/file_facts.h"
#include "model/recording.h"
#include "render/write/out.h"

/* In this order they are listed and written. */
enum export_table {
    EXPORT_DEVICES,
    EXPORT_ALLOCATIONS,
    EXPORT_EVENTS,
    EXPORT_CURVES,
    EXPORT_SEGMENTS,
    EXPORT_BLOCKS,
    EXPORT_SITES,
    EXPORT_STACKS,
    EXPORT_FRAMES,
    EXPORT_MARKS,
    EXPORT_SETTINGS,
    EXPORT_TABLES
};

/* What each allocation of a device is, as struct categories has it; `of` is NULL where no table
 * shows it, or nothing decides it. */
struct export_categories {
    uint8_t *of, *confidence;
    uint16_t *rule;
    bool *undecided;
    const char *const *rule_names;
};

/* A phase or a step, by its first and last event; of steps the number, from 1. */
struct export_span {
    uint32_t first_event, last_event;
    uint32_t step;
    uint8_t phase; /* enum phase */
};

/* In the order of events, without overlaps; none where nothing shows them, or they are not known.
 */
struct export_spans {
    struct export_span *at;
    uint32_t count;
};

struct export_device {
    uint32_t row;      /* of devices */
    int64_t number;    /* as tables have it: of host memory n, -1 - n */
    int64_t at_event;  /* of formats that show one moment */
    bool has_moment;   /* false: this device has no such moment */
    bool tracks_exact; /* active and allocated bytes */
    struct lifetimes lifetimes;
    struct curve_steps steps; /* an exporter moves it as it likes */
    struct export_categories categories;
    struct export_spans step_spans, phase_spans;
};

struct exporting {
    const struct recording *r;
    const struct file_facts *file;
    str cut;          /* that the recording ends early, and where; empty: it does not */
    const char *tool; /* version of the writer */
    struct export_device *device;
    uint32_t devices;
    struct naming *naming;
    struct arena *scratch; /* for names that are asked for while rows are written */
    uint32_t *used;        /* stacks that something carries, ascending; row 0 is not among them */
    uint32_t used_count;
    uint32_t *name_of_block; /* of each block its row of named, plus 1; NULL: none has a name */
    bool wanted[EXPORT_TABLES];
    bool by_count, inverse;
    const char *database; /* a file that is new or empty; NULL unless the format writes one */
};

enum export_needs {
    EXPORT_NEEDS_TABLES,  /* any set of tables */
    EXPORT_NEEDS_TABLE,   /* exactly one */
    EXPORT_NEEDS_MOMENT,  /* stacks of what is alive */
    EXPORT_NEEDS_NOTHING, /* it shows everything */
    EXPORT_NEEDS_FILE     /* likewise, into `database` */
};

struct export_format {
    const char *name;
    enum export_needs needs;
    bool binary;
    bool categories; /* shown whatever tables are wanted */
    bool spans;      /* likewise steps and phases */
    bool moment;     /* likewise stacks of what is alive, on devices that have that moment */
    bool bare;       /* has no place for what `cut` says */
    /* Whether this machine has what the format needs, which `write` loads; NULL: nothing. */
    enum vrs_status (*ready)(struct vrs_error *err);
    /* NULL where this build is without it.  Failures while writing are those of `out`. */
    enum vrs_status (*write)(struct exporting *e, struct out *out, struct vrs_error *err);
};

/* All formats; the last has no name. */
extern const struct export_format export_formats[];

enum vrs_status export_csv(struct exporting *e, struct out *out, struct vrs_error *err);
enum vrs_status export_json(struct exporting *e, struct out *out, struct vrs_error *err);
enum vrs_status export_folded(struct exporting *e, struct out *out, struct vrs_error *err);
enum vrs_status export_speedscope(struct exporting *e, struct out *out, struct vrs_error *err);
enum vrs_status export_pprof(struct exporting *e, struct out *out, struct vrs_error *err);
enum vrs_status export_sqlite(struct exporting *e, struct out *out, struct vrs_error *err);
enum vrs_status export_sqlite_ready(struct vrs_error *err);
enum vrs_status export_perfetto(struct exporting *e, struct out *out, struct vrs_error *err);

#endif
