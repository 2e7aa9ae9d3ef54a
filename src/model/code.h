/* code.h - the source lines that a recording names, and the call stacks made of them.
 *
 * All four tables are interned: equal texts, frames and stacks have equal ids.  Which line of a
 * stack is the user's own is asked of them alone (analysis/attribution), whatever was recorded
 * with the stack. */
#ifndef VRS_MODEL_CODE_H
#define VRS_MODEL_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/frames.h"
#include "model/stacks.h"
#include "model/strings.h"

struct code {
    struct strings strings; /* and the texts of all other tables */
    struct frames frames;
    struct fx_nodes fx_nodes;
    struct stacks stacks;
};

/* Each table with row 0; `max_string_bytes` bounds the text.  False when out of memory; nothing is
 * then to be freed. */
bool code_init(struct code *c, uint32_t max_string_bytes);
void code_free(struct code *c);

#endif
