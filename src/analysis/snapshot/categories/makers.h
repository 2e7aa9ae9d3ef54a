/* makers.h - the line that made a tensor when a model was made or moved.
 *
 * torch.nn.Module._apply moves parameters by its first such line and buffers by its last, and what
 * one line of an __init__ makes is of one kind: what shares its line with a tensor that gets a
 * gradient is a parameter, frozen or not. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CATEGORIES_MAKERS_H
#define VRS_ANALYSIS_SNAPSHOT_CATEGORIES_MAKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/code.h"

/* Of the lines of one function that make tensors; as bits they are a set. */
enum maker_line { MAKER_NONE, MAKER_FIRST, MAKER_MIDDLE, MAKER_LAST, MAKER_ONLY, MAKER_LINES };

struct makers {
    uint32_t *of_stack; /* frame_id of each stack_id; 0: none */
    uint8_t *line;      /* enum maker_line of each frame_id */
    bool *gradient;     /* of each frame_id: a tensor that it made has the size of a gradient */
};

/* `born` has each allocation's phase. */
enum vrs_status makers_make(const struct code *code, const struct tokens *tokens,
                            const struct lifetimes *lifetimes, const uint8_t *born,
                            struct arena *scratch, struct makers *ret,
                            struct vrs_error *err) MUST_CHECK;

#endif
