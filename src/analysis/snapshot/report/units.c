/* units.c - from devices to units, from the units of reports to their comparison. */
#include "analysis/snapshot/report/units.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/rank_of_path.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/ranks/device_summary.h"
#include "analysis/snapshot/ranks/ranks.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"

struct last_ooms last_ooms_of(const struct recording *r, uint64_t peer_oom_us)
{
    struct last_ooms ooms = { peer_oom_us, UNKNOWN_U64, NO_ROW };
    for (uint32_t d = 0; d < r->devices.rows.len; d++) {
        uint64_t time = last_oom_us(r, d);
        if (time == UNKNOWN_U64)
            continue;
        if (ooms.time_us == UNKNOWN_U64 || time > ooms.time_us) {
            ooms.other_us = ooms.time_us;
            ooms.time_us = time;
            ooms.device = d;
        } else if (ooms.other_us == UNKNOWN_U64 || time > ooms.other_us) {
            ooms.other_us = time;
        }
    }
    return ooms;
}

enum vrs_status summary_make(const struct summary_place *place, uint32_t d,
                             const struct curves *curves, struct device_summary **ret,
                             struct vrs_error *err)
{
    *ret = NULL;
    if (!summary_counts(place->r, d, curves))
        return VRS_OK;
    struct device_summary *summary = arena_take(place->keep, sizeof *summary);
    if (summary == NULL)
        return vrs_no_memory(err);
    uint64_t peer_us = place->ooms.device == d ? place->ooms.other_us : place->ooms.time_us;
    summary_init(place->r, d, curves, peer_us, summary);
    *ret = summary;
    if (!place->sites)
        return VRS_OK;
    return summary_add_sites(place->r, d, place->naming, place->keep, place->scratch, summary, err);
}

/* A file among those that are compared. */
struct ranked_file {
    const struct report *report;
    int64_t rank;
    bool named;
    uint32_t file; /* as it was given */
};

static int by_name(const void *a, const void *b)
{
    const struct ranked_file *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    int order = str_compare(x->report->file.path, y->report->file.path);
    if (order == 0)
        order = str_compare(x->report->file.entry, y->report->file.entry);
    return order != 0 ? order : (x->file > y->file) - (x->file < y->file);
}

/* Is the rank of a file, one of several in the order of ranks, another one's too? */
static bool is_shared(const struct ranked_file *file, uint32_t files, uint32_t i)
{
    return (i > 0 && file[i].rank == file[i - 1].rank) ||
           (i + 1 < files && file[i].rank == file[i + 1].rank);
}

/* Ranks that the caller has given are meant; the entries of a page share the page's. */
static enum vrs_status check_given(const struct ranked_file *file, uint32_t files,
                                   struct vrs_error *err)
{
    const struct report *last = NULL;
    for (uint32_t i = 0; i < files; i++) {
        const struct report *report = file[i].report;
        if (report->rank < 0)
            continue;
        if (last != NULL && last->rank == report->rank &&
            !str_equal(last->file.path, report->file.path))
            return vrs_fail(err, VRS_USAGE, "rank %lld is given to %.80s and to %.80s",
                            (long long)last->rank, last->file.path.ptr, report->file.path.ptr);
        last = report;
    }
    return VRS_OK;
}

/* Whether each file has a rank of its own, if not the caller's then its name's; else the numbers
 * in names mean something else. */
static bool are_named(const struct ranked_file *file, uint32_t files)
{
    for (uint32_t i = 0; i < files; i++)
        if (file[i].rank < 0 || (file[i].report->rank < 0 && is_shared(file, files, i)))
            return false;
    return true;
}

/* Files that have none take the numbers that are left, by path. */
static void number_others(struct ranked_file *file, uint32_t files)
{
    for (uint32_t i = 0; i < files; i++) {
        file[i].rank = file[i].report->rank;
        file[i].named = file[i].rank >= 0;
    }
    qsort(file, files, sizeof *file, by_name);
    uint32_t others = 0;
    while (others < files && !file[others].named)
        others++;
    int64_t next = 0;
    for (uint32_t i = 0, given = others; i < others; next++) {
        while (given < files && file[given].rank < next)
            given++;
        if (given == files || file[given].rank != next)
            file[i++].rank = next;
    }
    qsort(file, files, sizeof *file, by_name);
}

/* The files by rank, as the caller or their names have it, else by path: in whatever order they are
 * given, the answer is the same. */
static enum vrs_status rank_files(const struct report *reports, uint32_t count,
                                  struct arena *scratch, struct ranked_file **ret,
                                  struct vrs_error *err)
{
    struct ranked_file *file = arena_array(scratch, struct ranked_file, count);
    if (file == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        const struct report *report = &reports[i];
        int64_t rank = report->rank >= 0 ? report->rank : rank_of_path(report->file.path);
        file[i] = (struct ranked_file){ report, rank, true, i };
    }
    qsort(file, count, sizeof *file, by_name);
    *ret = file;
    TRY(check_given(file, count, err));
    if (!are_named(file, count))
        number_others(file, count);
    return VRS_OK;
}

/* Devices of one file share its clock. */
static bool have_one_clock(const struct report *reports, uint32_t count)
{
    for (uint32_t i = 0; count > 1 && i < count; i++)
        if (!reports[i].one_clock)
            return false;
    return true;
}

static enum vrs_status compare(const struct report *reports, uint32_t count, struct arena *keep,
                               struct arena *scratch, const struct ranks **ret,
                               struct vrs_error *err)
{
    uint32_t units = 0, at = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < reports[i].devices; k++)
            units += reports[i].device[k].summary != NULL;
    struct ranked_file *file = NULL;
    TRY(rank_files(reports, count, scratch, &file, err));
    struct rank_unit *unit = arena_array(keep, struct rank_unit, units);
    struct ranks *ranks = arena_take(keep, sizeof *ranks);
    if (unit == NULL || ranks == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        const struct report *report = file[i].report;
        for (uint32_t k = 0; k < report->devices; k++) {
            const struct report_device *d = &report->device[k];
            if (d->summary == NULL)
                continue;
            unit[at++] = (struct rank_unit){
                .summary = d->summary,
                .path = report->file.path,
                .entry = report->file.entry,
                .file = i,
                .device = d->name.number,
                .rank = file[i].rank,
                .rank_named = file[i].named,
                .grade = d->trust.grade,
                .whole = d->curves.of[CURVE_REQUESTED].start_known,
            };
        }
    }
    TRY(ranks_compute(unit, units, have_one_clock(reports, count), keep, scratch, ranks, err));
    *ret = ranks;
    return VRS_OK;
}

enum vrs_status units_compare(const struct report *reports, uint32_t count, struct arena *keep,
                              const struct ranks **ret, struct vrs_error *err)
{
    struct arena scratch;
    arena_init(&scratch, SIZE_MAX / 2);
    enum vrs_status status = compare(reports, count, keep, &scratch, ret, err);
    arena_free(&scratch);
    return status;
}

enum vrs_status units_compare_devices(struct report *report, struct arena *keep,
                                      struct vrs_error *err)
{
    uint32_t units = 0;
    for (uint32_t i = 0; i < report->devices; i++)
        units += report->device[i].summary != NULL;
    return units < 2 ? VRS_OK : units_compare(report, 1, keep, &report->ranks, err);
}
