/* stack_texts.h - the stacks of an answer as text. */
#ifndef VRS_API_STACK_TEXTS_H
#define VRS_API_STACK_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/recording.h"
#include "render/answer/answer.h"

/* Collects stacks, each once. */
struct stack_collector {
    const struct recording *r;
    uint32_t *place; /* of each stack id, plus 1; 0: not asked for */
    VEC(uint32_t) ids;
};

/* False when out of memory.  `scratch` must outlive the collector, which ends with
 * stack_texts_end; that accepts a zeroed one too. */
bool stack_texts_begin(struct stack_collector *c, const struct recording *r, struct arena *scratch);
void stack_texts_end(struct stack_collector *c);

/* The row of the stack among those of its collector in the texts to come; false when out of memory.
 */
bool stack_texts_ask(struct stack_collector *c, stack_id id, uint32_t *ret);

/* Writes the frames of all collected stacks, those of each recording one collector behind the
 * other, and each frame of one recording once, into `keep`; false when out of memory. */
bool stack_texts_write(const struct stack_collector *c, uint32_t collectors, struct arena *scratch,
                       struct arena *keep, struct stack_texts *ret);

#endif
