/* noise_words.h - what people are told of a change and of the noise it may be. */
#ifndef VRS_RENDER_ANSWER_NOISE_WORDS_H
#define VRS_RENDER_ANSWER_NOISE_WORDS_H

#include "base/buf.h"
#include "base/noise.h"

/* "no difference"; nothing for what was not judged, which is said once, elsewhere. */
extern const char *const noise_verdict_words[NOISE_VERDICTS];

/* A change in parts of what was: "+4.2 %"; of ten times as much and more "x 12", as
 * far as "> x 9999"; "-" where it is
 * NAN or beyond all sense. */
void noise_change_ratio(struct buf *to, double ratio);

/* "+5 %" or "+5.00 ms". */
void noise_limit_words(struct buf *to, const struct noise_limit *limit);

#endif
