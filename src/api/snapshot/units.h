/* units.h - what a report keeps for comparisons, and the comparison of several. */
#ifndef VRS_API_SNAPSHOT_UNITS_H
#define VRS_API_SNAPSHOT_UNITS_H

#include "api/result.h"

/* When the devices of one file, and those of others, ran out of memory for the last time. */
struct last_ooms {
    uint64_t time_us, other_us; /* the latest of all; of the other devices; UNKNOWN_U64: none */
    uint32_t device;            /* row of devices: whose the latest is; NO_ROW: another file's */
};

/* `peer_oom_us`: that of another file on the same clock; UNKNOWN_U64: none. */
struct last_ooms last_ooms_of(const struct recording *r, uint64_t peer_oom_us);

/* The unit of row `d` of devices, with its sites or without; NULL where it is not worth a
 * comparison. */
enum vrs_status keep_unit(struct call *a, uint32_t d, const struct last_ooms *ooms,
                          const struct curves *curves, bool sites, struct device_summary **ret,
                          struct vrs_error *err) MUST_CHECK;

/* Fills set->ranks from the units of its reports; the result lives in `keep`. */
enum vrs_status compare_units(struct answer_set *set, bool several, struct arena *keep,
                              struct vrs_error *err) MUST_CHECK;

#endif
