/* advise.h - advice in words, for its own verb and for the report. */
#ifndef VRS_RENDER_SNAPSHOT_ADVISE_ADVISE_H
#define VRS_RENDER_SNAPSHOT_ADVISE_ADVISE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/waste.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/write/human.h"

/* One or two sentences with one action, with the site and the bytes filled in.  Names are as in the
 * file: the caller escapes them. */
void advice_words(struct buf *to, const struct advice *advice);

/* What it costs to follow, or of empty-cache what it costs not to; false: nothing worth naming. */
bool advice_cost(struct buf *to, const struct advice *advice);

/* What a saving that a replay proved is of, behind its bytes: " reserved", or " of a card" where
 * less of it suffices; else "". */
static_text advice_saved_of(const struct advice *advice);

/* "frees 3.55 GiB", "frees ~1.20 GiB", "frees nothing at the peak", or the severity where the
 * benefit is not bytes */
void advice_saving(struct buf *to, const struct advice *advice);

/* "the peak would be 3.00 GiB at event 7, 1.00 GiB less; …": of all rules together; false: no more
 * than one takes anything from the peak */
bool advice_joint(struct buf *to, const struct advise *advise);

/* The members of a struct advice that are words. */
field_sentence advise_sentence;

void waste_text(struct buf *to, const struct style *style, const struct waste *waste,
                uint32_t rows);

#endif
