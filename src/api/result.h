/* result.h - the way of one call from its options to its answer. */
#ifndef VRS_API_RESULT_H
#define VRS_API_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/replay/prove.h"
#include "analysis/attribution/naming.h"
#include "analysis/snapshot/trust/trust.h"
#include "api/file.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/file_facts.h"
#include "model/recording.h"
#include "model/strings.h"
#include "render/answer/answer.h"
#include "vramscope/vramscope.h"

/* What answers live in.  A set made by vrs_merge shares that of its parts; the last one to let go
 * frees it.  The count is not locked. */
struct result_memory;

struct vrs_result {
    struct result_memory *memory; /* this struct too lives in it */
    struct arena *arena;          /* of `memory` */
    bool several;                 /* made by vrs_merge: a set, even if of one */
    struct answer_set set;
    struct recording *run; /* what vrs_replay kept; or NULL */
    /* What joining adds to a set, or why this kind cannot be joined; NULL: nothing, and it can. */
    enum vrs_status (*join)(struct vrs_result *joined, const struct vrs_result *const *parts,
                            uint32_t count, struct vrs_error *err);
    static_text alone;
    enum vrs_verdict (*verdict)(const struct answer_set *set); /* NULL: of no yes or no */
    struct strings strings;                                    /* of columns; where has_strings */
    bool has_strings;
    struct result_column *column; /* those that were asked for, the last one first */
    struct result_memory **part;  /* held by a set */
    uint32_t parts;
};

/* A copy as UTF-8, which answers are: names of files are any bytes.  ptr NULL: no memory. */
str result_text(struct arena *keep, str text);

/* A result with room for `count` answers of one kind; NULL when out of memory. */
struct vrs_result *result_make(const struct answer_kind *kind, uint32_t count);

/* Copies the answers of one result to place `at` of another, without what they point to. */
void result_copy_answers(struct vrs_result *to, uint32_t at, const struct vrs_result *from);

/* Keeps the memory of a result for one more owner. */
struct result_memory *result_memory_hold(const struct vrs_result *result);

/* What one call works with. */
struct call {
    const struct vrs_recording *recording;
    const struct recording *r;
    const struct proof *proof; /* final once the recording is proven */
    struct trust_basis *basis; /* of each device that is wanted, by call_prepare; or NULL */
    uint32_t threads;          /* 0: one for each processor */
    struct arena *keep;        /* of the result */
    struct arena scratch;      /* of the call */
    struct arena names;        /* of the call: scratch is given back in between */
    struct naming *naming;
    struct vrs_result *result;
    int64_t device; /* the number plus 1; 0: all */
};

/* Begins: the result, the naming, the replay.  Ends with call_end, also after a failure. */
enum vrs_status call_begin(struct call *a, const struct vrs_recording *recording,
                           const struct answer_kind *kind, const char *user_root,
                           const char *library, int64_t device, struct vrs_error *err) MUST_CHECK;

/* The same, the replay left to call_prepare. */
enum vrs_status call_begin_unproven(struct call *a, const struct vrs_recording *recording,
                                    const struct answer_kind *kind, const char *user_root,
                                    const char *library, int64_t device,
                                    struct vrs_error *err) MUST_CHECK;

/* Where a long replay is to come, leaves it to the studies to find what trust rests on: the study
 * is as long, and nothing else has to be done beside the two. */
void call_leave_basis(struct call *a);

/* Replays the recording, finds what trust rests on and does what needs neither, side by side. */
enum vrs_status call_prepare(struct call *a,
                             enum vrs_status (*beside)(void *arg, struct vrs_error *err), void *arg,
                             struct vrs_error *err) MUST_CHECK;

/* Frees scratch; gives the result out, or frees it too when `status` is a failure. */
enum vrs_status call_end(struct call *a, enum vrs_status status, struct vrs_result **ret);

/* What trust in a device rests on; NULL: left to who needs it. */
const struct trust_basis *call_basis(const struct call *a, uint32_t device);

/* Whether the caller wants this device (a row of devices). */
bool call_wants(const struct call *a, uint32_t device);

enum vrs_status file_facts_of(const struct vrs_recording *recording, const char *path,
                              struct arena *keep, struct file_facts *ret,
                              struct vrs_error *err) MUST_CHECK;

/* One more reason behind `*count` ones, its text copied to `keep`. */
enum vrs_status answer_reason_add(struct arena *keep, struct answer_reason **list, uint32_t *count,
                                  const char *id, str text, struct vrs_error *err) MUST_CHECK;

#endif
