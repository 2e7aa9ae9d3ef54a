/* telemetry.h - events of a tracker as records of telemetry, version 2.
 *
 * A record is a JSON object, or a row of CSV.  The form has no place for allocator figures that
 * are not known: such a record has 0 there, nothing for the device, and a list of them in its
 * metadata, "unknown". */
#ifndef VRS_RENDER_PROFILER_TELEMETRY_H
#define VRS_RENDER_PROFILER_TELEMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "profiler/names.h"
#include "vramscope/tracker.h"

/* Whose events they are.  Texts that are not told have no ptr, numbers are below 0. */
struct telemetry {
    struct names *names;
    str job, collector, backend, source, host;
    int64_t rank, local_rank, world_size;
    int64_t pid;
    uint64_t interval_ms;
    bool process; /* not of a device */
};

/* What an event says for a person; nothing for a sample. */
void telemetry_text(struct names *names, const struct vrs_event *event, struct buf *to);

/* Where a tracker stands. */
void telemetry_line(const struct vrs_tracker_stats *stats, struct buf *to);

/* A record on one line, without its end. */
void telemetry_json(const struct telemetry *t, const struct vrs_event *event, struct buf *to);

/* A line of names, and those of records, with their ends. */
void telemetry_csv_head(struct buf *to);
void telemetry_csv(const struct telemetry *t, const struct vrs_event *event, struct buf *to);

#endif
