/* oom_sentences.h - the verdict on a request that failed, in sentences. */
#ifndef VRS_RENDER_SNAPSHOT_OOM_OOM_SENTENCES_H
#define VRS_RENDER_SNAPSHOT_OOM_OOM_SENTENCES_H

#include <stdbool.h>

#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "base/buf.h"

/* The verdict, with the numbers it stands on. */
void oom_verdict_words(struct buf *to, const struct oom *oom, bool ascii);

/* Which sum a test compares with the request. */
const char *oom_test_words(enum oom_verdict test);

/* "medium: …", and what would make it surer. */
void oom_confidence_words(struct buf *to, const struct oom *oom);

/* Whether another setting would have helped; nothing where that was not asked. */
void oom_what_if_words(struct buf *to, const struct oom *oom);

/* What the bytes that must go make room for: "this request". */
const char *oom_must_fit(const struct oom *oom);

#endif
