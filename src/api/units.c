/* units.c - from reports to units, from units to their comparison. */
#include "api/units.h"

#include <stdlib.h>

struct last_ooms last_ooms_of(const struct recording *r)
{
    struct last_ooms ooms = { UNKNOWN_U64, UNKNOWN_U64, NO_ROW };
    for (uint32_t d = 0; r->devices.rows.len > 1 && d < r->devices.rows.len; d++) {
        uint64_t time = last_oom_us(r, d);
        if (time == UNKNOWN_U64)
            continue;
        if (ooms.device == NO_ROW || time > ooms.time_us) {
            ooms.other_us = ooms.time_us;
            ooms.time_us = time;
            ooms.device = d;
        } else if (ooms.other_us == UNKNOWN_U64 || time > ooms.other_us) {
            ooms.other_us = time;
        }
    }
    return ooms;
}

enum vrs_status keep_unit(struct asking *a, uint32_t d, const struct last_ooms *ooms,
                          const struct curves *curves, bool sites, struct unit **ret,
                          struct vrs_error *err)
{
    *ret = NULL;
    if (!unit_counts(a->r, d, curves))
        return VRS_OK;
    struct unit *unit = arena_take(a->keep, sizeof *unit);
    if (unit == NULL)
        return vrs_no_memory(err);
    uint64_t peer_us = ooms->device == d ? ooms->other_us : ooms->time_us;
    unit_init(a->r, d, curves, peer_us, unit);
    *ret = unit;
    return sites ? unit_add_sites(a->r, d, a->naming, a->keep, &a->scratch, unit, err) : VRS_OK;
}

/* A file among those that are compared. */
struct ranked_file {
    const struct report *report;
    int64_t rank;
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

/* Whether the names of the files give each a rank of its own; else the numbers in them mean
 * something else. */
static bool are_named(const struct ranked_file *file, uint32_t files)
{
    for (uint32_t i = 0; i < files; i++)
        if (file[i].rank < 0 || (i > 0 && file[i].rank == file[i - 1].rank))
            return false;
    return true;
}

/* The files by rank, as their names have it, else by path: in whatever order they are given, the
 * answer is the same. */
static struct ranked_file *rank_files(const struct answer_set *set, struct arena *scratch,
                                      bool *ret_named)
{
    struct ranked_file *file = arena_array(scratch, struct ranked_file, set->count);
    for (uint32_t i = 0; file != NULL && i < set->count; i++)
        file[i] =
            (struct ranked_file){ &set->report[i], rank_of_path(set->report[i].file.path), i };
    if (file == NULL)
        return NULL;
    qsort(file, set->count, sizeof *file, by_name);
    *ret_named = are_named(file, set->count);
    if (*ret_named)
        return file;
    for (uint32_t i = 0; i < set->count; i++)
        file[i].rank = 0;
    qsort(file, set->count, sizeof *file, by_name);
    for (uint32_t i = 0; i < set->count; i++)
        file[i].rank = i;
    return file;
}

static enum vrs_status compare(struct answer_set *set, bool several, struct arena *keep,
                               struct arena *scratch, struct vrs_error *err)
{
    uint32_t units = 0, at = 0;
    bool named = false;
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < set->report[i].devices; k++)
            units += set->report[i].device[k].unit != NULL;
    if (!several && units < 2)
        return VRS_OK;
    const struct ranked_file *file = rank_files(set, scratch, &named);
    struct rank_unit *unit = arena_array(keep, struct rank_unit, units);
    struct ranks *ranks = arena_take(keep, sizeof *ranks);
    if (file == NULL || unit == NULL || ranks == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < set->count; i++) {
        const struct report *report = file[i].report;
        for (uint32_t k = 0; k < report->devices; k++) {
            const struct report_device *d = &report->device[k];
            if (d->unit == NULL)
                continue;
            unit[at++] = (struct rank_unit){
                .unit = d->unit,
                .path = report->file.path,
                .entry = report->file.entry,
                .file = i,
                .device = d->name.number,
                .rank = file[i].rank,
                .rank_named = named,
                .grade = d->trust.grade,
                .whole = d->curves.of[CURVE_REQUESTED].start_known,
            };
        }
    }
    TRY(ranks_compute(unit, units, keep, scratch, ranks, err));
    set->ranks = ranks;
    return VRS_OK;
}

enum vrs_status compare_units(struct answer_set *set, bool several, struct arena *keep,
                              struct vrs_error *err)
{
    struct arena scratch;
    arena_init(&scratch, SIZE_MAX / 2);
    enum vrs_status status = compare(set, several, keep, &scratch, err);
    arena_free(&scratch);
    return status;
}
