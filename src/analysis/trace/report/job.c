/* job.c - numbers the ranks of a job. */
#include "analysis/trace/report/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/rank_of_path.h"
#include "base/field.h"
#include "base/str.h"
#include "model/trace.h"

static bool compare(const struct rank_unit *unit, uint32_t units, static_text by,
                    struct arena *arena, const struct trace_ranks **ret)
{
    struct trace_ranks *ranks = arena_array(arena, struct trace_ranks, 1);
    if (ranks == NULL || !trace_ranks_make(unit, units, by, arena, ranks))
        return false;
    *ret = ranks;
    return true;
}

/* Processes are ranks in the order in which they appear. */
bool job_of_file(const struct rank_parts *parts, struct arena *arena,
                 const struct trace_ranks **ret)
{
    *ret = NULL;
    if (parts->parts < 2)
        return true;
    struct rank_unit *unit = arena_array(arena, struct rank_unit, parts->parts);
    uint32_t units = 0;
    if (unit == NULL)
        return false;
    /* A process without steps and collectives is a helper of a rank. */
    for (uint32_t i = 0; i < parts->parts; i++) {
        const struct rank_part *part = &parts->part[i];
        if (part->steps == 0 && part->collectives == 0)
            continue;
        unit[units] = (struct rank_unit){ .path = { NULL, 0 }, .rank = units, .part = part };
        units++;
    }
    return units < 2 || compare(unit, units, "process", arena, ret);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Whether each has one of its own. */
static bool are_different(const struct rank_unit *unit, uint32_t units, int64_t *room)
{
    for (uint32_t i = 0; i < units; i++)
        room[i] = unit[i].rank;
    qsort(room, units, sizeof *room, by_number);
    for (uint32_t i = 0; i < units; i++)
        if (room[i] < 0 || (i > 0 && room[i] == room[i - 1]))
            return false;
    return true;
}

static bool are_of_one_job(const struct trace_report *report, uint32_t reports)
{
    for (uint32_t i = 0; i < reports; i++)
        if (report[i].capture.world_size == TRACE_UNKNOWN ||
            report[i].capture.world_size != report[0].capture.world_size)
            return false;
    return true;
}

bool job_of_files(const struct trace_report *report, uint32_t reports, struct arena *arena,
                  const struct trace_ranks **ret)
{
    *ret = NULL;
    for (uint32_t i = 0; i < reports; i++)
        if (reports < 2 || report[i].rank.parts != 1)
            return true;
    struct rank_unit *unit = arena_array(arena, struct rank_unit, reports);
    int64_t *room = arena_array(arena, int64_t, reports);
    if (unit == NULL || room == NULL)
        return false;
    for (uint32_t i = 0; i < reports; i++)
        unit[i] = (struct rank_unit){ report[i].file.path, report[i].capture.rank,
                                      &report[i].rank.part[0] };
    if (are_of_one_job(report, reports) && are_different(unit, reports, room))
        return compare(unit, reports, "distributed_info", arena, ret);
    for (uint32_t i = 0; i < reports; i++)
        unit[i].rank = rank_of_path(report[i].file.path);
    return !are_different(unit, reports, room) || compare(unit, reports, "name", arena, ret);
}

static const struct field set_fields[] = {
    { "ranks", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_set, ranks),
      .row = &trace_ranks_row_type, .pointer = true },
};
const struct row_type trace_set_row_type = ROW_TYPE("trace_set", struct trace_set, set_fields);
