/* job.c - numbers the ranks of a job. */
#include "analysis/trace/report/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

static int by_rank(const void *a, const void *b)
{
    const struct rank_unit *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                              : str_compare(x->path, y->path);
}

/* What the ranks of files are to each other. */
struct kinship {
    bool are_known, are_different;
    bool are_several; /* two different ones at least */
    uint32_t twin;    /* in `room`: the first of two that are equal */
};

/* `room` is then the units by rank. */
static struct kinship kinship_of(const struct rank_unit *unit, uint32_t units,
                                 struct rank_unit *room)
{
    struct kinship k = { .are_known = true, .are_different = true };
    memcpy(room, unit, units * sizeof *room);
    qsort(room, units, sizeof *room, by_rank);
    k.are_known = room[0].rank >= 0;
    k.are_several = room[0].rank != room[units - 1].rank;
    for (uint32_t i = units - 1; i > 0; i--)
        if (room[i].rank == room[i - 1].rank) {
            k.are_different = false;
            k.twin = i - 1;
        }
    return k;
}

static bool say_same(const struct rank_unit *twin, static_text by, struct arena *arena,
                     struct trace_set *ret)
{
    struct same_rank *same = arena_array(arena, struct same_rank, 1);
    if (same == NULL)
        return false;
    *same = (struct same_rank){ by, twin[0].rank, twin[0].path, twin[1].path };
    ret->same_rank = same;
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

/* By what the files themselves say; `*ret_told`: that is enough.  Jobs of one rank are many
 * jobs. */
static bool by_info(const struct trace_report *report, const struct rank_unit *unit,
                    uint32_t units, struct rank_unit *room, struct arena *arena, bool *ret_told,
                    struct trace_set *ret)
{
    const static_text by = "distributed_info";
    struct kinship k = kinship_of(unit, units, room);
    *ret_told = are_of_one_job(report, units) && k.are_known &&
                (k.are_different || report[0].capture.world_size > 1);
    if (!*ret_told)
        return true;
    return k.are_different ? compare(unit, units, by, arena, &ret->ranks)
                           : say_same(&room[k.twin], by, arena, ret);
}

static bool by_name(struct rank_unit *unit, uint32_t units, struct rank_unit *room,
                    struct arena *arena, struct trace_set *ret)
{
    const static_text by = "name";
    for (uint32_t i = 0; i < units; i++)
        unit[i].rank = rank_of_path(unit[i].path);
    struct kinship k = kinship_of(unit, units, room);
    if (!k.are_known)
        return true;
    if (k.are_different)
        return compare(unit, units, by, arena, &ret->ranks);
    /* Files that all have one number are no ranks. */
    return !k.are_several || say_same(&room[k.twin], by, arena, ret);
}

static bool tells_job(const struct trace_report *r)
{
    return r->capture.rank >= 0 && r->capture.world_size > 1;
}

/* How many files tell a job of so many ranks. */
static uint32_t count_of_job(const struct trace_report *report, uint32_t reports, int64_t world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < reports; i++)
        count += tells_job(&report[i]) && report[i].capture.world_size == world;
    return count;
}

/* The first file that is not of the job of which most are; ptr NULL: none, or there is no such
 * job. */
static str outsider_of(const struct trace_report *report, uint32_t reports)
{
    int64_t world = 0;
    uint32_t most = 1;
    for (uint32_t i = 0; i < reports; i++) {
        uint32_t count = count_of_job(report, reports, report[i].capture.world_size);
        if (tells_job(&report[i]) && count > most) {
            most = count;
            world = report[i].capture.world_size;
        }
    }
    for (uint32_t i = 0; world > 0 && i < reports; i++)
        if (!tells_job(&report[i]) || report[i].capture.world_size != world)
            return report[i].file.path;
    return (str){ NULL, 0 };
}

bool job_of_files(const struct trace_report *report, uint32_t reports, struct arena *arena,
                  struct trace_set *ret)
{
    *ret = (struct trace_set){ .ranks = NULL };
    if (reports < 2)
        return true;
    for (uint32_t i = 0; i < reports; i++)
        if (report[i].rank.parts != 1)
            return true;
    struct rank_unit *unit = arena_array(arena, struct rank_unit, reports);
    struct rank_unit *room = arena_array(arena, struct rank_unit, reports);
    if (unit == NULL || room == NULL)
        return false;
    for (uint32_t i = 0; i < reports; i++)
        unit[i] = (struct rank_unit){ report[i].file.path, report[i].capture.rank,
                                      &report[i].rank.part[0] };
    bool told = false;
    if (!by_info(report, unit, reports, room, arena, &told, ret))
        return false;
    if (!told && !by_name(unit, reports, room, arena, ret))
        return false;
    if (!told && ret->ranks == NULL && ret->same_rank == NULL)
        ret->outsider = outsider_of(report, reports);
    return true;
}

static const struct field same_fields[] = {
    { "ranked_by", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct same_rank, by) },
    { "rank", NULL, UNIT_NUMBER, FIELD_SIGNED, FIELD_AT(struct same_rank, rank) },
    { "path", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct same_rank, path) },
    { "other_path", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct same_rank, other_path) },
};
static const struct row_type same_row_type = ROW_TYPE("same_rank", struct same_rank, same_fields);

static const struct field set_fields[] = {
    { "ranks", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_set, ranks),
      .row = &trace_ranks_row_type, .pointer = true },
    { "same_rank", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_set, same_rank),
      .row = &same_row_type, .pointer = true },
    { "outsider", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_set, outsider) },
};
const struct row_type trace_set_row_type = ROW_TYPE("trace_set", struct trace_set, set_fields);
