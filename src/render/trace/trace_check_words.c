/* trace_check_words.c - limits of a trace, their values and evidence in words. */
#include "render/trace/trace_check_words.h"

#include <stddef.h>
#include <stdint.h>

#include "render/write/escape.h"
#include "render/write/human.h"

static void put_amount(struct buf *to, const struct trace_check_row *row, int64_t value,
                       double ratio)
{
    if (row->measure == TRACE_RATIO)
        human_share(to, ratio);
    else if (row->measure == TRACE_BYTES)
        human_bytes(to, value);
    else
        human_ns(to, value > 0 ? (uint64_t)value : 0);
}

void trace_check_value_words(struct buf *to, const struct trace_check_row *row)
{
    if (row->known)
        put_amount(to, row, row->value, row->value_ratio);
    else
        buf_char(to, '-');
}

void trace_check_limit_words(struct buf *to, const struct trace_check_row *row, bool ascii)
{
    if (row->measure != TRACE_NO_MEASURE)
        put_amount(to, row, row->limit, row->limit_ratio);
    else if (row->asked.len > 0)
        escape_text(to, row->asked, ascii);
    else
        buf_char(to, '-');
}

void trace_check_evidence_words(struct buf *to, const struct trace_check_row *row, bool ascii)
{
    if (row->reason != NULL) {
        buf_text(to, row->reason_text);
    } else if (row->device.ptr != NULL) {
        buf_text(to, "device ");
        escape_text(to, row->device, ascii);
        buf_text(to, row->of_time == TRACE_TIME_STEPS    ? ", of the steps"
                     : row->of_time == TRACE_TIME_WINDOW ? ", first to last work"
                                                         : "");
    } else if (row->steps > 0) {
        buf_text(to, row->steps > 1 ? "median of " : "");
        human_counted(to, row->steps, "step", ascii);
    }
}

void trace_check_row_words(struct buf *to, const struct trace_check_row *row, bool ascii)
{
    trace_check_value_words(to, row);
    buf_text(to, row->kind == TRACE_LIMIT_MIN_BUSY ? " of at least " : " of at most ");
    trace_check_limit_words(to, row, ascii);
    size_t before = to->len;
    buf_text(to, "; ");
    trace_check_evidence_words(to, row, ascii);
    if (to->len == before + 2)
        to->len = before;
}

void trace_check_tally_words(struct buf *to, const struct answer_set *set)
{
    const struct trace_check *checks = set->answers;
    unsigned long long all = 0, fails = 0, open = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        all += checks[i].rows;
        fails += checks[i].fails;
        open += checks[i].inconclusive;
    }
    if (fails == 0 && open == 0)
        buf_format(to, all == 1 ? "the limit holds" : "all %llu limits hold", all);
    if (fails > 0)
        buf_format(to, "%llu of %llu limit%s exceeded", fails, all, all == 1 ? "" : "s");
    if (open > 0)
        buf_format(to, "%s%llu of %llu could not be decided", fails > 0 ? ", " : "", open, all);
}
