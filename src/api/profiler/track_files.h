/* track_files.h - records of a tracker's events in files that are only ever added to.
 *
 * A run has segments, RUN.000001.jsonl and so on, of which the oldest are removed, and a manifest,
 * RUN.manifest.json, that is replaced whole when a segment begins and when the run ends.  Whoever
 * has an event puts its record into a buffer; the sampling thread writes the buffer.  A program
 * that is killed leaves whole lines, but for the last of them at most, and a manifest that says
 * "running".
 *
 * Nothing is written by a child of fork. */
#ifndef VRS_API_PROFILER_TRACK_FILES_H
#define VRS_API_PROFILER_TRACK_FILES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/vec.h"
#include "render/profiler/telemetry.h"
#include "vramscope/tracker.h"

struct track_segment {
    uint32_t number;
    uint64_t records, bytes;
};

struct track_files {
    struct vrs_track_files options; /* folder: NULL where no files are wanted */
    struct buf path;                /* what it points to */
    pid_t owner;
    pthread_mutex_t guard; /* of what waits */
    struct buf waiting, line;
    uint64_t waiting_records, dropped;
    bool taking; /* records: a run is under way */

    pthread_mutex_t writer; /* of what follows; taken before `guard` */
    struct buf writing;
    int folder, segment; /* descriptors; -1 */
    VEC(struct track_segment) kept;
    struct vrs_track_files_state total;
    uint64_t flushed_ns, began_us;
};

/* False where the system has no more locks. */
bool track_files_init(struct track_files *f);
/* Accepts a zeroed one. */
void track_files_free(struct track_files *f);
void track_files_after_fork(struct track_files *f);

enum vrs_status track_files_take(struct track_files *f, const struct vrs_track_files *options,
                                 struct vrs_error *err) MUST_CHECK;

/* Begins a run; nothing happens where no files are wanted. */
enum vrs_status track_files_open(struct track_files *f, const struct telemetry *t,
                                 struct vrs_error *err) MUST_CHECK;
void track_files_put(struct track_files *f, const struct telemetry *t,
                     const struct vrs_event *event);
/* Writes what waits, if that is due. */
void track_files_flush(struct track_files *f, const struct telemetry *t);
void track_files_close(struct track_files *f, const struct telemetry *t, bool interrupted);

void track_files_state(struct track_files *f, struct vrs_track_files_state *ret);

#endif
