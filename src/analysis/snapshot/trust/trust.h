/* trust.h - how far the numbers of a device can be believed, and why. */
#ifndef VRS_ANALYSIS_SNAPSHOT_TRUST_TRUST_H
#define VRS_ANALYSIS_SNAPSHOT_TRUST_TRUST_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/replay/replay.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/trust/recorded_stacks.h"
#include "analysis/snapshot/trust/trust_checks.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/recording.h"

enum trust_window {
    WINDOW_COMPLETE,
    WINDOW_LATE_START,
    WINDOW_OVERFLOWED,
    WINDOW_OVERFLOW_SUSPECTED,
    WINDOW_STATE_ONLY,
    WINDOW_ONE_EVENT,
    WINDOW_INCOMPLETE,
    WINDOWS
};
extern const char *const trust_window_names[WINDOWS];

struct trust_item {
    static_text id; /* a code of the format's trust report */
    str text;       /* one sentence for a person */
    uint64_t count;
    uint64_t worst_bytes; /* UNKNOWN_U64: does not apply */
    int64_t first_event;  /* -1 where no event is meant */
    bool failed;          /* a failed check, not a fact */
};

/* Items worst first: failed checks, then facts, each by bytes, then by the order of the codes. */
struct trust {
    char grade;   /* 'A' to 'D' */
    bool differs; /* a check that lowers the grade fails */
    bool cut;     /* the device's part of a cut file is not whole */
    bool guessed; /* values of the file have a wrong type, and were taken as absent */
    enum trust_window window;
    struct trust_item *item;
    uint32_t items;
};

/* What takes neither curves nor a replay, and so can be found beside them. */
struct trust_basis {
    struct checks checks; /* as checks_run leaves them */
    struct recorded_stacks capture;
    struct breach older; /* allocations older than the trace */
    /* In use before the first event, and of that without a stack. */
    uint64_t older_bytes, older_unknown_bytes;
};

enum vrs_status trust_basis_find(const struct recording *r, uint32_t device,
                                 struct trust_basis *ret, struct vrs_error *err) MUST_CHECK;

/* Runs the other checks and collects the facts; texts live in `arena`.  `agreement` is what
 * replaying the device found, or NULL. */
enum vrs_status trust_assess(const struct recording *r, uint32_t device,
                             const struct trust_basis *basis, const struct curves *curves,
                             const struct agreement *agreement, struct arena *arena,
                             struct trust *ret, struct vrs_error *err) MUST_CHECK;

/* A copy that lives in another arena. */
enum vrs_status trust_copy(const struct trust *from, struct arena *arena, struct trust *ret,
                           struct vrs_error *err) MUST_CHECK;

#endif
