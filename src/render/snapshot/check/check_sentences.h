/* check_sentences.h - what all forms of a checked budget say: values, limits, evidence.
 *
 * Everything here is plain text; each form escapes it in its own way.  Names of a file or its code
 * have been through escape_text, so that none of them holds a control character. */
#ifndef VRS_RENDER_SNAPSHOT_CHECK_CHECK_SENTENCES_H
#define VRS_RENDER_SNAPSHOT_CHECK_CHECK_SENTENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/check/budget.h"
#include "analysis/snapshot/check/check.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"

/* "PASS", "FAIL", "INCONCLUSIVE" */
extern const char *const check_outcome_words[CHECK_OUTCOMES];

/* What a limit is of: "the peak of the bytes in use". */
extern const char *const limit_meanings[LIMIT_KINDS];

/* "run.pickle, device 0" */
void check_place_words(struct buf *to, const struct devices_answer *answer,
                       const struct device_answer *device, bool ascii);

/* Sizes as people read them, exact where that would hide what was compared. */
void check_value_words(struct buf *to, const struct check_row *row);
void check_limit_words(struct buf *to, const struct check_row *row);

/* "event 148", "at the start; in the recorded window" */
void check_evidence_words(struct buf *to, const struct check_row *row);

/* How many of a row's sites are printed: none where the rows of a comparison say the same. */
uint32_t check_sites_shown(const struct check_row *row);

/* "4.05 GiB  model.py:12 forward" */
void check_site_words(struct buf *to, const struct check_site *site, bool ascii);

/* "+1.00 GiB  model.py:12 forward (moved, M3, score 0.86)" */
void check_diff_words(struct buf *to, const struct check_diff_row *row, bool ascii);

/* How many limits of a set hold, fail, and stay undecided. */
struct check_tally {
    uint64_t all, fails, inconclusive; /* limits */
    uint64_t recordings, unread;
    uint64_t unjudged; /* recordings that were read and have no device of limits */
};
struct check_tally check_tally_of(const struct answer_set *set);

/* Why a recording without a device of limits has none. */
str check_empty_words(const struct devices_answer *answer);

/* "1 of 3 limits is exceeded, 1 could not be decided", and before it how many recordings could not
 * be read. */
void check_tally_words(struct buf *to, const struct check_tally *tally);

#endif
