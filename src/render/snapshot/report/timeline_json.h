/* timeline_json.h - the timeline of a device, as a member of its report. */
#ifndef VRS_RENDER_SNAPSHOT_REPORT_TIMELINE_JSON_H
#define VRS_RENDER_SNAPSHOT_REPORT_TIMELINE_JSON_H

#include "analysis/snapshot/timeline/timeline.h"
#include "render/write/json.h"
#include "render/write/out.h"

/* The member "timeline"; NULL: null. */
void timeline_json(struct json *j, struct out *out, const struct timeline *t);

/* The pool of a row as the file names it: [first, second]. */
void json_pool(struct json *j, const uint64_t pool[2]);

#endif
