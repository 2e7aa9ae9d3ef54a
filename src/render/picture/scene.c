/* scene.c - a proven study becomes what a picture of it shows. */
#include "render/picture/scene.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/replay/block_sizes.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/trust/trust.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/recording.h"
#include "render/page/column.h"
#include "render/page/source_marks.h"
#include "render/page/source_ranges.h"

const char *const scene_view_names[SCENE_VIEWS] = {
    [SCENE_GROUPS] = "groups",
    [SCENE_STACK] = "stack",
    [SCENE_MAP] = "map",
};

static enum vrs_status take_rows(struct page_source *from, struct arena *arena,
                                 struct scene_device *d, struct vrs_error *err)
{
    const struct study *s = from->s;
    uint32_t rows = s->lifetimes.count, states = s->events + 1;
    uint32_t *born = arena_array(arena, uint32_t, rows), *end = arena_array(arena, uint32_t, rows);
    double *bytes = arena_array(arena, double, rows);
    if (born == NULL || end == NULL || bytes == NULL)
        return vrs_no_memory(err);
    uint64_t older = 0;
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t count = page_alloc_until(from, i), size = page_alloc_bytes(from, i);
        born[i] = (uint32_t)page_alloc_born(from, i);
        end[i] = count == 0 ? states : born[i] + (uint32_t)count;
        bytes[i] = (double)(size < PAGE_NUMBER_MOST ? size : PAGE_NUMBER_MOST);
        older += born[i] == 0 ? size : 0;
    }
    d->rows = (struct raster_rows){
        .rows = rows,
        .born = born,
        .end = end,
        .bytes = bytes,
        .adjust = (double)(int64_t)((uint64_t)s->curves.of[CURVE_REQUESTED].start_bytes - older),
        .states = states,
    };
    double *curve;
    TRY(raster_curve(&d->rows, arena, &curve, err));
    d->requested = curve;
    return VRS_OK;
}

/* Bytes of the blocks, as far as they are known; a lower bound where they are not. */
static enum vrs_status take_active(struct page_source *from, struct arena *arena,
                                   struct scene_device *d, struct vrs_error *err)
{
    struct raster_rows blocks = d->rows;
    double *bytes = arena_array(arena, double, blocks.rows), *curve;
    if (bytes == NULL)
        return vrs_no_memory(err);
    d->active_exact = true;
    for (uint32_t i = 0; i < blocks.rows; i++) {
        uint64_t pad = page_alloc_pad(from, i);
        bool known = pad != UINT32_MAX;
        bytes[i] = blocks.bytes[i] + (known ? (double)pad : 0);
        d->active_exact = d->active_exact && known && page_alloc_source(from, i) != SOURCE_ROUNDED;
    }
    blocks.bytes = bytes;
    TRY(raster_curve(&blocks, arena, &curve, err));
    d->active = curve;
    return VRS_OK;
}

static enum vrs_status take_reserved(struct page_source *from, struct arena *arena,
                                     struct scene_device *d, struct vrs_error *err)
{
    const struct page_ranges *ranges = &from->ranges;
    uint32_t states = d->rows.states;
    if (ranges->count == 0)
        return VRS_OK;
    uint32_t *born = arena_array(arena, uint32_t, ranges->count);
    uint32_t *end = arena_array(arena, uint32_t, ranges->count);
    double *bytes = arena_array(arena, double, ranges->count), *curve;
    struct scene_range *kept = arena_array(arena, struct scene_range, ranges->count);
    const struct pools *pools = &from->s->r->pools;
    if (born == NULL || end == NULL || bytes == NULL || kept == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < ranges->count; i++) {
        const struct page_range *r = &ranges->at[i];
        uint64_t size = r->bytes < PAGE_NUMBER_MOST ? r->bytes : PAGE_NUMBER_MOST;
        born[i] = r->born;
        end[i] = r->until == 0 ? states : r->born + r->until;
        bytes[i] = (double)size;
        kept[i] = (struct scene_range){
            .born = born[i],
            .end = end[i],
            .lane = (uint32_t)page_lane_of(from, r->address),
            .base = r->address,
            .bytes = bytes[i],
            .held = r->pool != 0 && (pools->first[r->pool] != 0 || pools->second[r->pool] != 0),
        };
    }
    struct raster_rows rows = { ranges->count, born, end, bytes, 0, states };
    TRY(raster_curve(&rows, arena, &curve, err));
    d->reserved = curve;
    d->range = kept;
    d->ranges = ranges->count;
    return VRS_OK;
}

/* Requests that failed; what was mapped and free then is the least that the device has. */
static enum vrs_status take_ooms(struct page_source *from, struct arena *arena,
                                 struct scene_device *d, struct vrs_error *err)
{
    const struct events *e = &from->s->r->events;
    struct scene_flag *flag = arena_array(arena, struct scene_flag, from->oom_count);
    if (flag == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < from->oom_count; i++) {
        uint32_t row = page_event_row(from, from->ooms, i), state = from->ooms[i] + 1;
        uint64_t free = e->address[row];
        flag[i] = (struct scene_flag){ state, e->size[row] };
        if (free == UNKNOWN_U64 || free > PAGE_NUMBER_MOST || d->reserved == NULL ||
            !from->s->curves.of[CURVE_RESERVED].start_known)
            continue;
        double seen = d->reserved[state] + (double)free;
        d->capacity = seen > d->capacity ? seen : d->capacity;
    }
    d->oom = flag;
    d->ooms = from->oom_count;
    return VRS_OK;
}

/* Phases among the marks are those of the study, in their order. */
static enum vrs_status take_spans(const struct page_source *from, struct arena *arena,
                                  struct scene_device *d, struct vrs_error *err)
{
    const struct phases *known = &from->s->phases;
    struct scene_step *step = arena_array(arena, struct scene_step, from->marks.count);
    struct scene_phase *phase = arena_array(arena, struct scene_phase, known->intervals);
    if (step == NULL || phase == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < from->marks.count; i++) {
        const struct page_mark *mark = &from->marks.at[i];
        if (mark->kind == PAGE_STEP) {
            step[d->steps++] = (struct scene_step){ mark->first, mark->last };
        } else if (mark->kind == PAGE_PHASE && d->phases < known->intervals) {
            const char *name = phase_names[known->interval[d->phases].phase];
            phase[d->phases++] = (struct scene_phase){ mark->first, mark->last, name };
        }
    }
    d->step = step;
    d->phase = phase;
    return VRS_OK;
}

/* Rows in stack order when groups lie on one another: by group, then by birth. */
static enum vrs_status take_order(struct arena *arena, struct scene_device *d,
                                  struct vrs_error *err)
{
    const struct raster_groups *g = &d->groups;
    uint32_t *order = arena_array(arena, uint32_t, d->rows.rows);
    uint32_t *first = arena_array(arena, uint32_t, g->groups);
    uint32_t *count = arena_array(arena, uint32_t, g->groups);
    if (order == NULL || first == NULL || count == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < d->rows.rows; i++)
        count[g->of[i]]++;
    for (uint32_t i = 0, at = 0; i < g->groups; i++) {
        first[g->bands[i]] = at;
        at += count[g->bands[i]];
    }
    for (uint32_t i = 0; i < d->rows.rows; i++)
        order[first[g->of[i]]++] = i;
    d->order = order;
    return VRS_OK;
}

static enum vrs_status take_places(struct page_source *from, struct arena *arena,
                                   struct scene_device *d, struct vrs_error *err)
{
    enum { UNIT = 512 };
    uint32_t rows = d->rows.rows;
    uint32_t *lane = arena_array(arena, uint32_t, rows), *wait = arena_array(arena, uint32_t, rows);
    double *block = arena_array(arena, double, rows), *request = arena_array(arena, double, rows);
    if (lane == NULL || wait == NULL || block == NULL || request == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t pad = page_alloc_pad(from, i), units = (uint64_t)(d->rows.bytes[i] / UNIT);
        lane[i] = (uint32_t)page_alloc_lane(from, i);
        wait[i] = (uint32_t)page_alloc_waits(from, i);
        units += (double)units * UNIT < d->rows.bytes[i];
        block[i] = pad != UINT32_MAX ? d->rows.bytes[i] + (double)pad
                   : units == 0      ? UNIT
                                     : (double)(units * UNIT);
        request[i] = pad != UINT32_MAX ? d->rows.bytes[i] : block[i];
    }
    d->lane = lane;
    d->wait = wait;
    d->block = block;
    d->request = request;
    return VRS_OK;
}

static enum vrs_status find_span(const struct scene_options *asked, const struct study *s,
                                 struct scene_device *d, struct vrs_error *err)
{
    int64_t from = -1, to = -1, at = 0;
    TRY(page_events_between(s, asked->has_from ? &asked->from : NULL,
                            asked->has_to ? &asked->to : NULL, &from, &to, err));
    d->from = (double)(from + 1);
    d->to = (double)(to + 2);
    d->peak = (uint32_t)(from + 1);
    for (uint32_t p = d->peak + 1; p < (uint32_t)(to + 2); p++)
        if (d->requested[p] > d->requested[d->peak])
            d->peak = p;
    d->cursor = d->peak;
    d->at_peak = !asked->has_at || asked->at.kind == AT_PEAK;
    if (!asked->has_at)
        return VRS_OK;
    TRY(moment_in_study(s, asked->at, &at, err));
    if (at < from || at > to)
        return vrs_fail(
            err, VRS_USAGE,
            "the moment of the legend, event %lld, is not among the events shown, %lld to %lld",
            (long long)at, (long long)from, (long long)to);
    d->cursor = (uint32_t)(at + 1);
    return VRS_OK;
}

static enum vrs_status take(const struct scene *scene, struct page_source *from, str line,
                            struct arena *arena, struct scene_device *d, struct vrs_error *err)
{
    const struct study *s = from->s;
    struct trust *trust = arena_take(arena, sizeof *trust);
    if (trust == NULL)
        return vrs_no_memory(err);
    *trust = from->proven->trust;
    *d = (struct scene_device){
        .line = line,
        .cursor_us = UNKNOWN_U64,
        .trust = trust,
        .start_known = s->curves.of[CURVE_REQUESTED].start_known,
        .traced = s->traced && s->events > 0,
    };
    TRY(take_rows(from, arena, d, err));
    TRY(find_span(&scene->asked, s, d, err));
    TRY(take_active(from, arena, d, err));
    TRY(take_reserved(from, arena, d, err));
    TRY(take_ooms(from, arena, d, err));
    TRY(take_spans(from, arena, d, err));
    TRY(scene_group_rows(scene, from, arena, d, err));
    TRY(take_order(arena, d, err));
    return scene->asked.view == SCENE_MAP ? take_places(from, arena, d, err) : VRS_OK;
}

enum vrs_status scene_take(const struct scene *scene, const struct proven_study *proven, str line,
                           struct arena *arena, struct scene_device *ret, struct vrs_error *err)
{
    struct arena *scratch = proven->study->scratch;
    struct arena_mark mark = arena_mark(scratch);
    struct page_source from;
    enum vrs_status status = page_source_make(proven, &from, err);
    if (status == VRS_OK) {
        status = take(scene, &from, line, arena, ret, err);
        page_source_end(&from);
    }
    arena_release(scratch, mark);
    return status;
}
