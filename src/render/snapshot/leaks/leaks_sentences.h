/* leaks_sentences.h - sentences about what stays after each step, for the text and the page. */
#ifndef VRS_RENDER_SNAPSHOT_LEAKS_LEAKS_SENTENCES_H
#define VRS_RENDER_SNAPSHOT_LEAKS_LEAKS_SENTENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/leaks/leaks.h"
#include "base/buf.h"
#include "render/write/human.h"

/* "none: in 3 steps no site leaves memory behind in each; …": where there is neither a leak nor a
 * suspect. */
void leaks_none_words(struct buf *to, const struct leaks *g, const struct style *style);

/* What the names of the classes in the list mean; a leak needs no explanation. */
void leaks_legend_words(struct buf *to, const struct leaks *g);

/* "9 stable sites hold 1.20 GiB", after `before`: those that are no rows; nothing where there are
 * none.  How many. */
uint32_t leaks_stable_words(struct buf *to, const struct leaks *g, const char *before, bool ascii);

#endif
