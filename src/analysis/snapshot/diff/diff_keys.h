/* diff_keys.h - stacks of two recordings under common keys.
 *
 * Ids of one recording mean nothing in another, so frames are interned anew, by their text, into
 * tables that both sides share: two stacks, of whichever side, are one place under a key exactly
 * when they get the same id.  Keys are SITE_EXACT, SITE_LINE and SITE_FUNCTION_IN_FILE.
 *
 * SITE_EXACT keeps every frame.  The others drop native frames, module calls, and a frame that
 * repeats the one that called it directly.  Modules in modules are no recursion: a module call
 * stands between them.  What has no Python frame is known by the backward node or operator it runs.
 */
#ifndef VRS_ANALYSIS_SNAPSHOT_DIFF_DIFF_KEYS_H
#define VRS_ANALYSIS_SNAPSHOT_DIFF_DIFF_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/site.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/stacks.h"
#include "model/strings.h"

enum { DIFF_KEYS = SITE_FUNCTION_IN_FILE + 1 };

struct diff_keys_side {
    const struct study *study;
    uint32_t *seen[DIFF_KEYS];    /* of a frame: as the key sees it */
    uint32_t *reduced[DIFF_KEYS]; /* of a stack, plus 1; 0: not yet asked */
    uint32_t *last[DIFF_KEYS];    /* of such a stack: the frame it ends in, if not dropped */
    uint32_t *chain;              /* scratch: the stacks of a walk */
};

struct diff_keys {
    struct diff_keys_side side[2];
    bool python_only; /* stacks without a Python frame have no key but the exact one */
    struct strings strings;
    struct frames frames;
    struct stacks stacks;
};

/* `scratch` must outlive the keys.  False when out of memory; nothing is then to be freed. */
bool diff_keys_init(struct diff_keys *k, const struct study *a, const struct study *b,
                    struct arena *scratch);
void diff_keys_free(struct diff_keys *k);

/* In k->stacks; 0: nothing of the stack is left. */
enum vrs_status diff_keys_of(struct diff_keys *k, uint32_t side, stack_id stack, enum site_key key,
                             stack_id *ret, struct vrs_error *err) MUST_CHECK;

/* By the text of their frames, innermost first; an order that knows no sides. */
int diff_keys_compare(const struct diff_keys *k, stack_id a, stack_id b);

#endif
