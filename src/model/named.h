/* named.h - which allocation each name of the recorded process is of.
 *
 * A name holds for memory that is in use at its address, with at least its bytes, at the end of the
 * recording.  What the list says of anything else, and what several entries claim with different
 * names, names nothing.  Other threads may free and allocate between the list and the snapshot:
 * what was, or may have been, allocated after the list was begun has no name either. */
#ifndef VRS_MODEL_NAMED_H
#define VRS_MODEL_NAMED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "model/recording.h"

/* Fills named.standing and named.allocation and orders the rows; the allocations are paired. */
enum vrs_status match_names(struct recording *r, struct vrs_error *err) MUST_CHECK;

/* The row of `named` that holds for an allocation, or NO_ROW. */
uint32_t named_find(const struct recording *r, uint32_t allocation);

/* How many entries hold: the first so many rows. */
uint32_t named_holding(const struct recording *r);

/* The row of devices that an entry speaks of, or NO_ROW. */
uint32_t named_device(const struct recording *r, uint32_t row);

/* Whether times tell which events of a device are older than the list of names. */
bool named_datable(const struct recording *r, uint32_t device);

#endif
