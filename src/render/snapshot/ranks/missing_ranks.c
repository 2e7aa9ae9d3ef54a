/* missing_ranks.c - the sentence about ranks without a snapshot. */
#include "render/snapshot/ranks/missing_ranks.h"

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/report/report.h"
#include "base/buf.h"

enum { MISSING_SHOWN = 16 };

bool missing_ranks_words(struct buf *to, const struct report_set *set)
{
    if (set->several_jobs) {
        buf_text(to, "not known: these are files of several jobs,"
                     " or of several starts of one");
        return true;
    }
    if (set->missings == 0)
        return false;
    buf_text(to, set->missings == 1 ? "no snapshot of rank " : "no snapshot of ranks ");
    for (uint32_t i = 0; i < set->missings && i < MISSING_SHOWN; i++)
        buf_format(to, "%s%u", i > 0 ? ", " : "", (unsigned)set->missing[i]);
    if (set->missings > MISSING_SHOWN)
        buf_format(to, " and %u more", (unsigned)(set->missings - MISSING_SHOWN));
    buf_format(to, " of %u", (unsigned)set->job_ranks);
    return true;
}
