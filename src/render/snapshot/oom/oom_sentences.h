/* oom_sentences.h - the verdict on a request that failed, in sentences. */
#ifndef VRS_RENDER_SNAPSHOT_OOM_OOM_SENTENCES_H
#define VRS_RENDER_SNAPSHOT_OOM_OOM_SENTENCES_H

#include <stdbool.h>

#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "base/buf.h"

/* The verdict, with the numbers it stands on. */
void oom_verdict_words(struct buf *to, const struct oom *oom, bool ascii);

/* The same behind oom_headline_words and oom_request_words, without what these said. */
void oom_detail_words(struct buf *to, const struct oom *oom, bool ascii);

/* Which sum a test compares with the request. */
const char *oom_test_words(enum oom_verdict test);

/* "medium: …", and what would make it surer. */
void oom_confidence_words(struct buf *to, const struct oom *oom);

/* Whether another setting would have helped; nothing where that was not asked.  `first`: the
 * sentence begins with a capital and ends with a full stop. */
void oom_what_if_words(struct buf *to, const struct oom *oom, bool first);

/* "the program needs 656.29 MiB more than the card had for it": the verdict in short. */
void oom_headline_words(struct buf *to, const struct oom *oom, bool ascii);

/* "model.py:22 forward asked for 2.00 GiB in the forward of step 3, when 22.20 GiB of 23.56 GiB
 * were in use." */
void oom_request_words(struct buf *to, const struct oom *oom, bool ascii);

/* What the bytes that must go make room for: "this request". */
const char *oom_must_fit(const struct oom *oom);

#endif
