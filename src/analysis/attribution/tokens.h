/* tokens.h - what the frames of a stack say about the work it did, as bits.
 *
 * Frames are classified once each; a stack has the bits of all its frames, which one pass from
 * callers to callees gives.  Interpreter and libc frames are never evidence. */
#ifndef VRS_ANALYSIS_ATTRIBUTION_TOKENS_H
#define VRS_ANALYSIS_ATTRIBUTION_TOKENS_H

#include "analysis/attribution/naming.h"

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
#define TOKEN_OPTIMIZER_INIT TOKEN(10) /* __init__ of an optimizer */
#define TOKEN_ACCUMULATE TOKEN(11)     /* AccumulateGrad */
#define TOKEN_SAVED TOKEN(12)          /* saved variables are released */
#define TOKEN_WORKSPACE TOKEN(13)      /* cuBLAS, cuBLASLt workspace getter */
#define TOKEN_SCRATCH TOKEN(14) /* cuDNN plan or convolution workspace, sort or scan scratch */
#define TOKEN_COMMUNICATION TOKEN(15) /* c10d, NCCL, FSDP collectives */
#define TOKEN_REDUCER TOKEN(16)       /* DDP's reducer buckets */
#define TOKEN_KV_CACHE TOKEN(17)
/* Evidence for advice and verdicts. */
#define TOKEN_LOSS TOKEN(18)       /* cross entropy, log-softmax, nll */
#define TOKEN_FUSED_LOSS TOKEN(19) /* a fused linear and cross entropy kernel */
#define TOKEN_MATH_ATTENTION TOKEN(20)
#define TOKEN_FUSED_ATTENTION TOKEN(21)
#define TOKEN_MULTI_TENSOR TOKEN(22)
#define TOKEN_SINGLE_TENSOR TOKEN(23)
#define TOKEN_FUSED_OPTIMIZER TOKEN(24)
#define TOKEN_COLLECTOR TOKEN(25)     /* Python's gc */
#define TOKEN_EMPTY_CACHE TOKEN(26)   /* the empty-cache entry */
#define TOKEN_DEVICE_MALLOC TOKEN(27) /* the device allocator's malloc */
#define TOKEN_APPLY TOKEN(28)         /* module _apply or convert: moving a model */
#define TOKEN_COPY TOKEN(29)          /* a copy to the device */
#define TOKEN_RECOMPUTE TOKEN(30)     /* a module called inside the engine */
#define TOKEN_CALL TOKEN(31)          /* module-call plumbing */
#define TOKEN_PAGED_CACHE TOKEN(32)   /* a KV cache in pages, or its tables */

struct tokens {
    token_set *of_frame; /* of each frame_id, by itself */
    token_set *of_stack; /* of each stack_id: of all its frames */
};

enum vrs_status tokens_make(const struct code *code, const struct naming *naming,
                            struct arena *arena, struct tokens *ret,
                            struct vrs_error *err) MUST_CHECK;

#endif
