/* replay_sentences.h - what a replay found, in words for a person. */
#ifndef VRS_RENDER_SNAPSHOT_REPLAY_REPLAY_SENTENCES_H
#define VRS_RENDER_SNAPSHOT_REPLAY_REPLAY_SENTENCES_H

#include <stdbool.h>

#include "allocator/replay/replay.h"
#include "allocator/whatif/questions.h"
#include "allocator/whatif/whatif.h"
#include "base/buf.h"
#include "render/answer/answer.h"

/* "the model reproduces this recording exactly", and why where it does not */
void replay_grade_words(struct buf *to, const struct agreement *agreement, bool ascii);

/* "at event 1204: the model allocates at 0x7f00 where 0x7f20 was recorded" */
void replay_disagreement_words(struct buf *to, const struct first_disagreement *first);

/* What usually lies behind the first disagreement; NULL where there is none. */
const char *replay_likely(const struct replay_result *result);

/* The same as the sentence of a struct replay_result. */
field_sentence replay_sentence;

/* Which of the identities hold, and what that means for the answers. */
void replay_identity_words(struct buf *to, const struct identities *identities);

/* Where a row's run ended before the recording does, in one sentence, `brief` or with all that is
 * known of it; nothing where it completes. */
void replay_end_words(struct buf *to, const struct replay_row *row, bool brief, bool ascii);

#endif
