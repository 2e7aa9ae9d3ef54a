/* mark_events.h - where the annotations of a recording stand among the events of a device.
 *
 * A mark has a time and no place in the trace: it stands before the first event that is not
 * older.  Marks are matched by name and time, never by the device they name. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STEPS_MARK_EVENTS_H
#define VRS_ANALYSIS_SNAPSHOT_STEPS_MARK_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/recording.h"

/* Of each mark the first event of the device at or after its time: the number of events where all
 * are older, NO_ROW where no time is known.  `order` has the rows of marks by time, then row. */
struct mark_events {
    uint32_t *event;
    uint32_t *order;
    uint32_t count;
};

enum vrs_status mark_events_make(const struct recording *r, uint32_t device, struct arena *arena,
                                 struct mark_events *ret, struct vrs_error *err) MUST_CHECK;

/* A mark's name without the separators around it: of " _#:=-". */
str mark_name(const struct recording *r, uint32_t mark);
str mark_name_trim(str name);

/* Is the letter case all that differs? */
bool mark_name_is(str name, str word);
bool mark_name_starts(str name, str word);

#endif
