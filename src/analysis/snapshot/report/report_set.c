/* report_set.c - several reports as one answer: what was not read or is missing, totals, ranks. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/rank_of_path.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/report/report.h"
#include "analysis/snapshot/report/totals.h"
#include "analysis/snapshot/report/units.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

/* Their texts stay where they are: the parts are held. */
static enum vrs_status join_unread(const struct report_set *const *part, uint32_t parts,
                                   struct arena *keep, struct report_set *set,
                                   struct vrs_error *err)
{
    uint64_t unreads = 0;
    for (uint32_t i = 0; i < parts; i++)
        unreads += part[i] == NULL ? 0 : part[i]->unreads;
    struct unread_file *unread = arena_array(keep, struct unread_file, unreads);
    if (unread == NULL || unreads > UINT32_MAX)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < parts; i++)
        for (uint32_t k = 0; part[i] != NULL && k < part[i]->unreads; k++)
            unread[set->unreads++] = part[i]->unread[k];
    set->unread = unread;
    return VRS_OK;
}

static void mark_rank(bool *there, uint32_t ranks, int64_t rank)
{
    if (rank >= 0 && rank < ranks)
        there[rank] = true;
}

/* Whether two parts know of one job: the same reading of it, or another of the same identity. */
static bool is_same_job(const struct report_set *a, const struct report_set *b)
{
    return a->silent == b->silent ||
           (a->job.len > 0 && str_equal(a->job, b->job) && a->job_ranks == b->job_ranks);
}

/* The job that the parts are of.  A rank that said how it ended in one reading has done so. */
static enum vrs_status join_job(const struct report_set *const *part, uint32_t parts,
                                struct arena *keep, struct report_set *set, struct vrs_error *err)
{
    for (uint32_t i = 0; i < parts; i++) {
        const struct report_set *other = part[i];
        set->several_jobs = set->several_jobs || (other != NULL && other->several_jobs);
        if (other == NULL || other->job_ranks == 0)
            continue;
        if (set->job_ranks == 0) {
            set->job = other->job;
            set->job_ranks = other->job_ranks;
            set->silent = other->silent;
        } else if (!is_same_job(set, other)) {
            set->several_jobs = true;
        } else if (set->silent != other->silent) {
            bool *silent = arena_array(keep, bool, set->job_ranks);
            if (silent == NULL)
                return vrs_no_memory(err);
            for (uint32_t r = 0; r < set->job_ranks; r++)
                silent[r] = set->silent[r] && other->silent[r];
            set->silent = silent;
        }
    }
    if (set->several_jobs)
        set->job_ranks = 0;
    return VRS_OK;
}

static enum vrs_status join_missing(const struct report *reports, uint32_t count,
                                    struct arena *keep, struct report_set *set,
                                    struct vrs_error *err)
{
    uint32_t ranks = set->job_ranks;
    if (ranks == 0)
        return VRS_OK;
    bool *there = arena_array(keep, bool, ranks);
    uint32_t *missing = arena_array(keep, uint32_t, ranks);
    if (there == NULL || missing == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++)
        mark_rank(there, ranks,
                  reports[i].rank >= 0 ? reports[i].rank : rank_of_path(reports[i].file.path));
    /* One that could not be read is there, too. */
    for (uint32_t i = 0; i < set->unreads; i++)
        mark_rank(there, ranks, rank_of_path(set->unread[i].path));
    for (uint32_t i = 0; i < ranks; i++)
        if (set->silent[i] && !there[i])
            missing[set->missings++] = i;
    set->missing = missing;
    return VRS_OK;
}

enum vrs_status report_set_make(struct report *reports, uint32_t count,
                                const struct report_set *const *part, uint32_t parts,
                                struct arena *keep, struct report_set *ret, struct vrs_error *err)
{
    struct report_set set = { .unreads = 0 };
    TRY(join_unread(part, parts, keep, &set, err));
    TRY(join_job(part, parts, keep, &set, err));
    TRY(join_missing(reports, count, keep, &set, err));
    for (uint32_t i = 0; i < count; i++)
        reports[i].joined = true;
    if (!totals_of(reports, count, CURVE_REQUESTED, &set.requested) ||
        !totals_of(reports, count, CURVE_RESERVED, &set.reserved))
        return vrs_no_memory(err);
    if (set.requested.devices > 0)
        set.largest_path = reports[set.requested.largest_file].file.path;
    TRY(units_compare(reports, count, keep, &set.ranks, err));
    *ret = set;
    return VRS_OK;
}
