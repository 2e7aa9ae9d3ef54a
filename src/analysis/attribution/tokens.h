/* tokens.h - bits for the work that a stack does (optimizer, autograd, module, …), from its frames.
 *
 * Frames are classified once each; a stack has the bits of its frames, which one pass from callers
 * to callees gives.  Of what says whose work it is the innermost frame decides: forward and
 * backward in an optimizer's closure take the optimizer's bit back.  Interpreter and libc frames
 * are never evidence. */
#ifndef VRS_ANALYSIS_ATTRIBUTION_TOKENS_H
#define VRS_ANALYSIS_ATTRIBUTION_TOKENS_H

#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/code.h"

typedef uint64_t token_set;

#define TOKEN(n) ((token_set)1 << (n))
#define TOKEN_PYTHON TOKEN(0) /* some frame is Python */
#define TOKEN_NATIVE TOKEN(1) /* some frame is not */
#define TOKEN_USER TOKEN(2)   /* some frame is the user's own */
/* Phases (spec: the phase of an alloc). */
#define TOKEN_OPTIMIZER TOKEN(3)
#define TOKEN_ZERO_GRAD TOKEN(4)
#define TOKEN_ENGINE TOKEN(5)   /* native autograd::Engine */
#define TOKEN_BACKWARD TOKEN(6) /* Python's torch/autograd: backward, grad, ... */
#define TOKEN_MODULE TOKEN(7)   /* module-call plumbing, or a function named forward */
#define TOKEN_DATA TOKEN(8)
#define TOKEN_INIT TOKEN(9)
/* Evidence for categories. */
#define TOKEN_ACCUMULATE TOKEN(10)    /* AccumulateGrad */
#define TOKEN_SAVED TOKEN(11)         /* saved variables are released */
#define TOKEN_COMMUNICATION TOKEN(12) /* c10d, NCCL, FSDP collectives */
#define TOKEN_REDUCER TOKEN(13)       /* DDP's reducer buckets */
#define TOKEN_KV_CACHE TOKEN(14)
/* Evidence for advice and verdicts. */
#define TOKEN_LOSS TOKEN(15)       /* cross entropy, log-softmax, nll */
#define TOKEN_FUSED_LOSS TOKEN(16) /* a fused linear and cross entropy kernel */
#define TOKEN_MATH_ATTENTION TOKEN(17)
#define TOKEN_MULTI_TENSOR TOKEN(18)
#define TOKEN_COLLECTOR TOKEN(19)     /* Python's gc */
#define TOKEN_EMPTY_CACHE TOKEN(20)   /* the empty-cache entry */
#define TOKEN_DEVICE_MALLOC TOKEN(21) /* the device allocator's malloc */
#define TOKEN_APPLY TOKEN(22)         /* module _apply or convert: moving a model */
#define TOKEN_COPY TOKEN(23)          /* a copy to the device */
#define TOKEN_RECOMPUTE TOKEN(24)     /* a module called inside the engine */
#define TOKEN_CALL TOKEN(25)          /* module-call plumbing */
#define TOKEN_PAGED_CACHE TOKEN(26)   /* a KV cache in pages, or its tables */
#define TOKEN_TO_COPY TOKEN(27)       /* a copy of another type or device */
#define TOKEN_SOFTMAX TOKEN(28)
#define TOKEN_PRODUCTS TOKEN(29)    /* products of a batch of matrices */
#define TOKEN_CONCATENATE TOKEN(30) /* cat */
#define TOKEN_AUTOCAST TOKEN(31)    /* a cast that autocast keeps */

struct tokens {
    token_set *of_frame; /* of each frame_id, by itself */
    token_set *of_stack; /* of each stack_id: of its frames together */
};

enum vrs_status tokens_make(const struct code *code, const struct naming *naming,
                            struct arena *arena, struct tokens *ret,
                            struct vrs_error *err) MUST_CHECK;

#endif
