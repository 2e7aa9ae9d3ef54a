/* sim_history.c - the history of simulated devices: begun, ended, written as a snapshot. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "allocator/whatif/run_recording.h"
#include "allocator/whatif/run_state.h"
#include "api/file.h"
#include "api/profiler/sim.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/recording.h"
#include "profiler/backend_sim.h"
#include "profiler/sim_device.h"
#include "profiler/sim_events.h"
#include "render/export/snapshot_pickle.h"
#include "render/write/out.h"
#include "vramscope/sim.h"

enum { HISTORY_ENTRIES = 100000, MICROSECOND_NS = 1000 };

static const enum sim_stacks stacks_kept[] = {
    [VRS_SIM_STACKS_ALL] = SIM_STACKS_ALL,
    [VRS_SIM_STACKS_ALLOC] = SIM_STACKS_ALLOCS,
    [VRS_SIM_STACKS_BLOCKS] = SIM_STACKS_BLOCKS,
    [VRS_SIM_STACKS_NONE] = SIM_STACKS_NONE,
};

/* Beginning and ending. */

static void clear(struct vrs_sim *sim)
{
    sim_history_clear(sim->sim);
    sim->names.marks.rows.len = 0;
}

enum vrs_status vrs_sim_history_start(struct vrs_sim *sim,
                                      const struct vrs_sim_history_options *options,
                                      struct vrs_error *err)
{
    struct vrs_sim_history_options o = { 0 };
    options_take(&o, sizeof o, options);
    if ((unsigned)o.stacks >= sizeof stacks_kept / sizeof *stacks_kept)
        return vrs_fail(err, VRS_USAGE, "no stacks are called %d; enum vrs_sim_stacks has them",
                        (int)o.stacks);
    sim_lock(sim->sim);
    if (o.clear)
        clear(sim);
    sim_history_start(sim->sim, o.entries == 0 ? HISTORY_ENTRIES : o.entries, stacks_kept[o.stacks],
                      !o.state_only);
    sim_unlock(sim->sim);
    return VRS_OK;
}

void vrs_sim_history_stop(struct vrs_sim *sim)
{
    sim_lock(sim->sim);
    sim_history_stop(sim->sim);
    clear(sim);
    sim_unlock(sim->sim);
}

bool vrs_sim_history_on(struct vrs_sim *sim)
{
    sim_lock(sim->sim);
    bool on = sim->sim->common.recording;
    sim_unlock(sim->sim);
    return on;
}

enum vrs_status vrs_sim_history_count(struct vrs_sim *sim, uint32_t device, uint64_t *ret_entries,
                                      uint64_t *ret_dropped, struct vrs_error *err)
{
    sim_lock(sim->sim);
    const struct sim_device *d = sim_device_at(sim->sim, device, err);
    if (d != NULL) {
        *ret_entries = d->history.ring.len;
        *ret_dropped = d->history.dropped;
    }
    sim_unlock(sim->sim);
    return d == NULL ? VRS_USAGE : VRS_OK;
}

/* Marks. */

/* All but the newest half, so that it is seldom done. */
static void forget_old_marks(struct marks *m)
{
    uint32_t kept = m->rows.len / 2, from = m->rows.len - kept;
    memmove(m->name, m->name + from, kept * sizeof *m->name);
    memmove(m->stage, m->stage + from, kept * sizeof *m->stage);
    memmove(m->device, m->device + from, kept * sizeof *m->device);
    memmove(m->time_us, m->time_us + from, kept * sizeof *m->time_us);
    m->rows.len = kept;
}

static bool add_mark(struct vrs_sim *sim, const char *name, size_t name_len, bool end)
{
    struct marks *m = &sim->names.marks;
    string_id id;
    if (m->rows.len >= sim->sim->common.history_most)
        forget_old_marks(m);
    if (!sim_intern_text(sim, name, name_len, &id) || !table_reserve(m, &marks_kind, 1))
        return false;
    uint32_t row = m->rows.len++;
    m->name[row] = id.n;
    m->stage[row] = end ? STAGE_END : STAGE_START;
    m->device[row] = sim->sim->current;
    m->time_us[row] = sim->sim->common.clock_ns / MICROSECOND_NS;
    return true;
}

enum vrs_status vrs_sim_mark(struct vrs_sim *sim, const char *name, size_t name_len, bool end,
                             struct vrs_error *err)
{
    sim_lock(sim->sim);
    bool ok = !sim->sim->common.recording || add_mark(sim, name, name_len, end);
    sim_unlock(sim->sim);
    return ok ? VRS_OK : vrs_no_memory(err);
}

/* The recording. */

static bool add_event(struct recording *to, const struct sim_event *event)
{
    static const uint8_t action[SIM_ACTIONS] = {
        [SIM_ALLOC] = ACTION_ALLOC,
        [SIM_FREE_REQUESTED] = ACTION_FREE_REQUESTED,
        [SIM_FREE_COMPLETED] = ACTION_FREE_COMPLETED,
        [SIM_SEGMENT_ALLOC] = ACTION_SEGMENT_ALLOC,
        [SIM_SEGMENT_FREE] = ACTION_SEGMENT_FREE,
        [SIM_MAP] = ACTION_SEGMENT_MAP,
        [SIM_UNMAP] = ACTION_SEGMENT_UNMAP,
        [SIM_OOM] = ACTION_OOM,
    };
    struct events *e = &to->events;
    uint16_t stream;
    if (!streams_intern(&to->streams, event->stream, &stream))
        return false;
    uint32_t row = e->rows.len++; /* there is room */
    e->action[row] = action[event->action];
    e->stream[row] = stream;
    e->stack[row] = event->origin.stack;
    e->context[row] = event->origin.context;
    e->address[row] = event->address;
    e->size[row] = event->size;
    e->time_us[row] = event->time_us;
    return true;
}

static bool add_events(struct recording *to, const struct sim_events *history)
{
    if (!table_reserve(&to->events, &events_kind, history->ring.len))
        return false;
    for (uint32_t i = 0; i < history->ring.len; i++)
        if (!add_event(to, sim_events_at(history, i)))
            return false;
    return true;
}

static bool add_state(struct recording *to, const struct sim_device *d)
{
    VEC(struct origin_of) origin = { .max = UINT32_MAX };
    bool ok = vec_reserve(&origin, d->life.len);
    for (uint32_t i = 0; i < d->life.len && ok; i++)
        origin.at[origin.len++] =
            (struct origin_of){ d->life.at[i].origin.stack, d->life.at[i].origin.context };
    ok = ok && run_state_add(to, &d->m, origin.at, origin.len);
    vec_free(&origin);
    return ok;
}

static bool add_device(struct recording *to, const struct sim_device *d, uint32_t number)
{
    struct devices *t = &to->devices;
    if (!table_reserve(t, &devices_kind, 1))
        return false;
    uint32_t row = t->rows.len++;
    t->kind[row] = DEVICE_CUDA;
    t->number[row] = number;
    t->parts[row] = PART_SEGMENTS | PART_TRACE | PART_ANCHOR;
    t->first_segment[row] = to->segments.rows.len;
    t->first_block[row] = to->blocks.rows.len;
    t->first_event[row] = to->events.rows.len;
    t->events[row] = d->history.ring.len;
    t->first_allocation[row] = t->allocations[row] = 0;
    t->orphan_frees[row] = t->double_allocs[row] = t->returned_unobtained_bytes[row] = 0;
    return add_events(to, &d->history) && add_state(to, d);
}

/* Copies what there is now. */
static enum vrs_status copy_all(const struct vrs_sim *sim, struct recording *to,
                                struct vrs_error *err)
{
    const struct sim *s = sim->sim;
    bool ok = !s->common.no_memory;
    TRY(run_recording_begin(to, &sim->names, &sim->config, err));
    for (uint32_t i = 0; i < s->devices && ok; i++)
        ok = !s->device[i].history.lost && add_device(to, &s->device[i], i);
    return ok ? VRS_OK : vrs_no_memory(err);
}

/* The simulation is held for the copy alone. */
static enum vrs_status record(struct vrs_sim *sim, struct recording *to, struct vrs_error *err)
{
    sim_lock(sim->sim);
    enum vrs_status status = copy_all(sim, to, err);
    sim_unlock(sim->sim);
    TRY(status);
    return run_recording_finish(to, err);
}

enum vrs_status vrs_sim_dump(struct vrs_sim *sim, const struct vrs_sim_dump_options *options,
                             const struct vrs_sink *sink, struct vrs_error *err)
{
    struct vrs_sim_dump_options o = { 0 };
    struct recording r;
    options_take(&o, sizeof o, options);
    if (!recording_init(&r, SIM_ROWS_MAX, SIM_TEXT_MAX))
        return vrs_no_memory(err);
    struct out out = { .write = sink->write, .arg = sink->arg };
    buf_init(&out.text, SIZE_MAX / 2);
    enum vrs_status status = record(sim, &r, err);
    if (status == VRS_OK)
        status = snapshot_pickle(&out, &r, err);
    recording_free(&r);
    return out_finish(&out, status, err);
}
