/* comparison_sentences.h - what changed between two measurements, in sentences; each appends
 * nothing where there is none to say. */
#ifndef VRS_RENDER_MEASUREMENT_COMPARISON_SENTENCES_H
#define VRS_RENDER_MEASUREMENT_COMPARISON_SENTENCES_H

#include "analysis/measurement/compare/compare.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/write/human.h"

/* Did it help? */
void comparison_verdict(struct buf *to, const struct style *style, const struct comparison *c);
/* What two runs of A's program differ by: whether the intervals hold it, and of which times no
 * repeat tells it. */
void comparison_runs(struct buf *to, const struct style *style, const struct comparison *c);
/* Did it help the loading of data, which a step does not hold? */
void comparison_loading(struct buf *to, const struct style *style, const struct comparison *c);
/* What makes it a comparison of two things. */
void comparison_differences(struct buf *to, const struct style *style, const struct comparison *c);

/* A number of a unit: "7.00 ms", "512 MiB", "2857.14 samples/s"; "-" for NAN. */
void comparison_value(struct buf *to, const struct style *style, str unit, double value);
/* "-29.1 % to -28.0 %", in parts of A; nothing where there is no interval. */
void comparison_interval(struct buf *to, const struct compared_row *row);
/* "faster", or why it was not judged. */
const char *comparison_verdict_words(const struct compared_row *row);

#endif
