/* replay_sites.h - which allocations a what-if changes: the caller's words about sites and scopes.
 */
#ifndef VRS_API_SNAPSHOT_REPLAY_SITES_H
#define VRS_API_SNAPSHOT_REPLAY_SITES_H

#include "allocator/replay/program.h"
#include "allocator/whatif/whatif.h"
#include "api/result.h"
#include "vramscope/snapshot.h"

enum { SITE_CHANGES_MAX = 200 };

/* The caller's words about one site, read as far as no recording is needed. */
struct site_option {
    enum change_kind kind;
    str site;      /* a part of a culprit's or owner's name; empty where `event` is given */
    int64_t event; /* the exact stack of this event, or -1 */
    double factor;
    str scope;     /* of CHANGE_FREE_EARLY: an annotation's name; empty where `until` is given */
    int64_t until; /* the event it ends at, or -1 */
};

struct site_options {
    struct site_option *read;
    uint32_t options;
};

/* VRS_USAGE for words that no recording could give a meaning. */
enum vrs_status site_options_read(const struct vrs_replay_options *o, struct arena *arena,
                                  struct site_options *ret, struct vrs_error *err) MUST_CHECK;

/* The changes of one device; `*ret_stack` is of each stack its change plus 1.  VRS_USAGE for a site
 * or scope that the recording does not have. */
enum vrs_status site_changes_make(const struct site_options *options, const struct program *p,
                                  struct naming *naming, struct arena *arena,
                                  struct site_change **ret_change, uint8_t **ret_stack,
                                  struct vrs_error *err) MUST_CHECK;

#endif
