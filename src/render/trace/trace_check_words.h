/* trace_check_words.h - limits of a trace, their values and evidence in words, for every form. */
#ifndef VRS_RENDER_TRACE_TRACE_CHECK_WORDS_H
#define VRS_RENDER_TRACE_TRACE_CHECK_WORDS_H

#include <stdbool.h>

#include "analysis/trace/check/trace_check.h"
#include "base/buf.h"
#include "render/answer/answer.h"

void trace_check_value_words(struct buf *to, const struct trace_check_row *row);
void trace_check_limit_words(struct buf *to, const struct trace_check_row *row, bool ascii);

/* Why it is undecided, or whose value it is. */
void trace_check_evidence_words(struct buf *to, const struct trace_check_row *row, bool ascii);

/* "4.9 % of at least 70.0 %; device 0, of the steps" */
void trace_check_row_words(struct buf *to, const struct trace_check_row *row, bool ascii);

/* "1 of 3 limits exceeded", of all files. */
void trace_check_tally_words(struct buf *to, const struct answer_set *set);

#endif
