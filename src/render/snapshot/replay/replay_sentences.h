/* replay_sentences.h - what a replay found, in words for a person. */
#ifndef VRS_RENDER_SNAPSHOT_REPLAY_REPLAY_SENTENCES_H
#define VRS_RENDER_SNAPSHOT_REPLAY_REPLAY_SENTENCES_H

#include "render/answer/result.h"
#include "render/write/human.h"

/* "the model reproduces this recording exactly", and why where it does not */
void replay_grade_words(struct buf *to, const struct agreement *agreement, bool ascii);

/* "at event 1204: the model hands out 0x7f00 where 0x7f20 was recorded" */
void replay_disagreement_words(struct buf *to, const struct first_disagreement *first);

/* What usually lies behind the first disagreement; NULL where there is none. */
const char *replay_likely(const struct replay_device *d);

/* Which of the identities hold, and what that means for the answers. */
void replay_identity_words(struct buf *to, const struct identities *identities);

/* Whether answers are given without reserve. */
bool replay_is_certain(const struct replay_device *d);

/* Where a row's run ended before the recording does, in one sentence, `brief` or with all that is
 * known of it; nothing where it completes. */
void replay_end_words(struct buf *to, const struct replay_row *row, bool brief, bool ascii);

#endif
