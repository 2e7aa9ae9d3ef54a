/* naming.h - which line of a stack is shown to a person: culprit, owner, operator. */
#ifndef VRS_ANALYSIS_ATTRIBUTION_NAMING_H
#define VRS_ANALYSIS_ATTRIBUTION_NAMING_H

#include <stdint.h>

#include "analysis/attribution/frame_class.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/code.h"

/* Many lines may share one long name: what is shown of a file's or function's name is bounded, so
 * that answers cannot grow beyond their file. */
enum { NAME_BYTES_MAX = 240 };

/* The lines chosen for one stack; each is text as shown, ready to be grouped by, with a NUL behind
 * it. */
struct stack_names {
    str culprit; /* "model.py:84 forward", "autograd:MmBackward0", "native:empty", "(no stack)" */
    str owner;
    frame_id culprit_frame, owner_frame; /* id 0 where the text is no frame */
};

/* Names the stacks of some code, each once; owned by the arena it was made with. */
struct naming;

enum vrs_status naming_make(const struct code *code, const struct frame_class_options *options,
                            struct arena *arena, struct naming **ret,
                            struct vrs_error *err) MUST_CHECK;

/* Another one of the same options and code, for a thread of its own: it lives in `tables`,
 * what it names in `texts`. */
enum vrs_status naming_again(const struct naming *n, struct arena *texts, struct arena *tables,
                             struct naming **ret, struct vrs_error *err) MUST_CHECK;

/* Frames whose path has one of these parts own nothing either.  Said before anything is named;
 * `parts` must outlive the naming. */
void naming_pass_over(struct naming *n, const str *parts, uint32_t count);

enum frame_class naming_class(const struct naming *n, frame_id frame);

enum vrs_status naming_of(struct naming *n, stack_id stack, struct stack_names *ret,
                          struct vrs_error *err) MUST_CHECK;

/* The innermost operator that a stack runs, or else the one that made its memory; empty: none is
 * known.  A piece of a native name, with no NUL behind it. */
str naming_operator(const struct naming *n, stack_id stack);

/* The innermost Python line that is no plumbing, of whosever code; empty: there is none. */
enum vrs_status naming_innermost(struct naming *n, stack_id stack, str *ret,
                                 struct vrs_error *err) MUST_CHECK;

/* The line that called the stack's owner, plumbing passed over; empty: there is none. */
enum vrs_status naming_called_from(struct naming *n, stack_id stack, str *ret,
                                   struct vrs_error *err) MUST_CHECK;

#endif
