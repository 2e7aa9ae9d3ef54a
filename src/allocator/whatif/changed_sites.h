/* changed_sites.h - which allocations a what-if changes: words about sites and scopes.
 */
#ifndef VRS_ALLOCATOR_WHATIF_CHANGED_SITES_H
#define VRS_ALLOCATOR_WHATIF_CHANGED_SITES_H

#include <stdint.h>

#include "allocator/replay/program.h"
#include "allocator/whatif/whatif.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"

enum { SITE_CHANGES_MAX = 200 };

/* Names the line that a stack stands for, and the library's under it. */
struct stack_namer {
    enum vrs_status (*name)(void *arg, stack_id stack, str *ret_culprit, str *ret_owner,
                            struct vrs_error *err);
    void *arg;
};

/* Words about one site, read as far as no recording is needed. */
struct site_option {
    enum change_kind kind;
    str site;      /* a part of a culprit's or owner's name; empty where `event` is given */
    int64_t event; /* the exact stack of this event, or -1 */
    double factor;
    str scope;     /* of CHANGE_FREE_EARLY: an annotation's name; empty where `until` is given */
    int64_t until; /* the event it ends at, or -1 */
};

struct site_options {
    struct site_option *read; /* at most SITE_CHANGES_MAX */
    uint32_t options;
};

/* "model.py:12" (or "event:7") of CHANGE_DROP, "SITE=0.5" of CHANGE_SCALE, "SITE=optimizer" (or an
 * event's number) of CHANGE_FREE_EARLY.  VRS_USAGE for words that no recording could give a
 * meaning. */
enum vrs_status site_option_read(enum change_kind kind, str text, struct site_option *ret,
                                 struct vrs_error *err) MUST_CHECK;

/* The changes of one device; `*ret_stack` is of each stack its change plus 1.  VRS_USAGE for a site
 * or scope that the recording does not have. */
enum vrs_status site_changes_make(const struct site_options *options, const struct program *p,
                                  const struct stack_namer *namer, struct arena *arena,
                                  struct site_change **ret_change, uint8_t **ret_stack,
                                  struct vrs_error *err) MUST_CHECK;

#endif
