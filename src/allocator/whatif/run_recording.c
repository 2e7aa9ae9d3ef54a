/* run_recording.c - appends the events of a what-if run as a recorder would have written them. */
#include "allocator/whatif/run_recording.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "allocator/machine/rounding.h"
#include "allocator/replay/program.h"
#include "allocator/replay/start_state.h"
#include "allocator/whatif/run_state.h"
#include "base/str.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/copy_interned.h"
#include "model/ids.h"
#include "model/pairing.h"
#include "model/strings.h"

struct run_recording {
    struct recording *to;
    const struct program *p;
    const struct machine *m;
    VEC(struct origin_of) origin; /* of each block of the machine */
    uint64_t time_us;             /* of the event of the program at which things happen */
    bool failed;
};

/* Events. */

static void append(struct run_recording *w, uint8_t action, uint64_t address, uint64_t size,
                   uint16_t stream, struct origin_of origin)
{
    struct events *e = &w->to->events;
    if (w->failed || !table_reserve(e, &events_kind, 1)) {
        w->failed = true;
        return;
    }
    uint32_t row = e->rows.len++;
    e->action[row] = action;
    e->stream[row] = stream;
    e->stack[row] = origin.stack;
    e->address[row] = address;
    e->size[row] = size;
    e->time_us[row] = w->time_us;
    e->context[row] = origin.context;
}

/* From now on things happen at this event of the program (-1: before the first). */
static struct origin_of move_to(struct run_recording *w, int64_t event)
{
    const struct events *e = &w->p->r->events;
    uint32_t row = w->p->first + (event < 0 ? 0 : (uint32_t)event);
    w->time_us = e->time_us[row];
    return (struct origin_of){ e->stack[row], e->context[row] };
}

static uint16_t stream_row(struct run_recording *w, uint32_t side)
{
    uint16_t row = 0;
    if (!streams_intern(&w->to->streams, w->m->lanes.at[side / 2].stream, &row))
        w->failed = true;
    return row;
}

static struct origin_of *origin_at(struct run_recording *w, uint32_t block)
{
    while (w->origin.len <= block && !w->failed)
        w->failed = !vec_push(&w->origin, (struct origin_of){ 0, 0 });
    return w->failed ? NULL : &w->origin.at[block];
}

static void began(void *arg, const struct machine *m, const uint32_t *block_of)
{
    struct run_recording *w = arg;
    w->m = m;
    w->origin.max = UINT32_MAX;
    for (uint32_t i = 0; i < w->p->starts; i++) {
        struct origin_of *origin = block_of[i] == 0 ? NULL : origin_at(w, block_of[i]);
        if (origin != NULL)
            *origin = (struct origin_of){ w->p->start[i].stack, 0 };
    }
}

static void observed(void *arg, int64_t event, const struct machine_call *call)
{
    static const uint8_t action[] = {
        [SEGMENT_MADE] = ACTION_SEGMENT_ALLOC,
        [SEGMENT_RETURNED] = ACTION_SEGMENT_FREE,
        [PAGES_MAPPED] = ACTION_SEGMENT_MAP,
        [PAGES_UNMAPPED] = ACTION_SEGMENT_UNMAP,
    };
    struct run_recording *w = arg;
    struct origin_of origin = move_to(w, event);
    append(w, action[call->call], call->address, call->bytes, stream_row(w, call->side), origin);
}

static void allocated(void *arg, uint32_t event, uint32_t slot, uint32_t block)
{
    struct run_recording *w = arg;
    struct origin_of origin = move_to(w, event), *kept = origin_at(w, block);
    const struct machine_block *b = &w->m->blocks.at[block];
    (void)slot;
    if (kept != NULL)
        *kept = origin;
    append(w, ACTION_ALLOC, b->address, b->requested, stream_row(w, b->side), origin);
}

static void freed(void *arg, int64_t event, uint32_t slot, uint32_t block, bool completed)
{
    struct run_recording *w = arg;
    const struct machine_block *b = &w->m->blocks.at[block];
    struct origin_of origin = move_to(w, event);
    (void)slot;
    append(w, completed ? ACTION_FREE_COMPLETED : ACTION_FREE_REQUESTED, b->address, b->requested,
           stream_row(w, b->side), origin);
}

static void ran_out(void *arg, uint32_t event, uint64_t rounded, uint64_t device_free)
{
    struct run_recording *w = arg;
    uint32_t row = w->p->first + event;
    struct origin_of origin = move_to(w, event);
    append(w, ACTION_OOM, device_free, rounded, w->p->r->events.stream[row], origin);
}

static void passed(void *arg, uint32_t event)
{
    struct run_recording *w = arg;
    const struct events *e = &w->p->r->events;
    uint32_t row = w->p->first + event;
    struct origin_of origin = move_to(w, event);
    bool snapshot = e->action[row] == ACTION_SNAPSHOT;
    append(w, e->action[row], e->address[row], snapshot ? w->m->active : e->size[row],
           e->stream[row], origin);
}

static void ended(void *arg, const struct machine *m, const uint32_t *block_of)
{
    struct run_recording *w = arg;
    struct devices *d = &w->to->devices;
    uint32_t row = d->rows.len - 1;
    (void)block_of;
    if (!run_state_add(w->to, m, w->origin.at, w->origin.len))
        w->failed = true;
    d->events[row] = w->to->events.rows.len - d->first_event[row];
}

static bool begin_device(struct run_recording *w)
{
    struct devices *d = &w->to->devices;
    if (!table_reserve(d, &devices_kind, 1))
        return false;
    uint32_t row = d->rows.len++;
    d->kind[row] = DEVICE_CUDA;
    d->number[row] = w->p->r->devices.number[w->p->device];
    d->parts[row] = PART_SEGMENTS | PART_TRACE | PART_ANCHOR;
    d->first_segment[row] = w->to->segments.rows.len;
    d->first_block[row] = w->to->blocks.rows.len;
    d->first_event[row] = w->to->events.rows.len;
    d->segments[row] = d->blocks[row] = d->events[row] = 0;
    d->first_allocation[row] = d->allocations[row] = 0;
    d->orphan_frees[row] = d->double_allocs[row] = d->returned_unobtained_bytes[row] = 0;
    return true;
}

enum vrs_status run_recording_add(struct recording *to, const struct program *p,
                                  const struct start_state *start, const struct whatif_question *q,
                                  struct whatif_answer *ret, struct vrs_error *err)
{
    struct run_recording w = { .to = to, .p = p };
    struct run_listener listener = {
        &w, began, observed, allocated, freed, ran_out, passed, ended,
    };
    struct whatif_question heard_question = *q;
    heard_question.listener = &listener;
    if (!begin_device(&w))
        return vrs_no_memory(err);
    enum vrs_status status = whatif_run(p, start, &heard_question, ret, err);
    vec_free(&w.origin);
    TRY(status);
    return w.failed ? vrs_no_memory(err) : VRS_OK;
}

/* Settings. */

static bool is_allocator_setting(str name)
{
    return str_equal(name, S("PYTORCH_CUDA_ALLOC_CONF")) || str_equal(name, S("max_split_size")) ||
           str_equal(name, S("garbage_collection_threshold")) ||
           str_equal(name, S("expandable_segments")) ||
           str_starts(name, S("roundup_power2_divisions."));
}

static bool push_setting(struct recording *to, str name, enum setting_type type, int64_t integer,
                         double real, str text)
{
    struct settings *s = &to->settings;
    string_id name_id, text_id = { 0 };
    if (!strings_intern(&to->code.strings, name, &name_id) ||
        (type == SETTING_TEXT && !strings_intern(&to->code.strings, text, &text_id)) ||
        !table_reserve(s, &settings_kind, 1))
        return false;
    uint32_t row = s->rows.len++;
    s->name[row] = name_id.n;
    s->type[row] = (uint8_t)type;
    s->integer[row] = integer;
    s->real[row] = real;
    s->text[row] = text_id.n;
    return true;
}

static bool push_rounding(struct recording *to, const struct rounding *rounding)
{
    for (uint32_t i = 0; i < ROUNDING_DIVISIONS; i++) {
        char name[48];
        int len = snprintf(name, sizeof name, "roundup_power2_divisions.%u", 1u << i);
        if (!push_setting(to, (str){ name, (size_t)len }, SETTING_INT,
                          (int64_t)rounding->divisions[i], 0, S("")))
            return false;
    }
    return true;
}

/* What the settings dict has no place for stands in the string alone. */
static str conf_text(const struct allocator_config *c, char *text, size_t size)
{
    int len = snprintf(text, size, "expandable_segments:%s", c->expandable ? "True" : "False");
    size_t used = (size_t)len;
    if (c->large_segment_bytes != LARGE_SEGMENT_BYTES)
        used += (size_t)snprintf(text + used, size - used, ",large_segment_size_mb:%llu",
                                 (unsigned long long)(c->large_segment_bytes / MIB));
    if (c->non_split_rounding_bytes != LARGE_SEGMENT_BYTES)
        used += (size_t)snprintf(text + used, size - used, ",max_non_split_rounding_mb:%llu",
                                 (unsigned long long)(c->non_split_rounding_bytes / MIB));
    return (str){ text, used };
}

bool run_recording_settings(struct recording *to, const struct allocator_config *c)
{
    struct settings *s = &to->settings;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->rows.len; i++) {
        if (is_allocator_setting(strings_text(&to->code.strings, (string_id){ s->name[i] })))
            continue;
        s->name[kept] = s->name[i];
        s->type[kept] = s->type[i];
        s->integer[kept] = s->integer[i];
        s->real[kept] = s->real[i];
        s->text[kept++] = s->text[i];
    }
    s->rows.len = kept;
    char text[160];
    int64_t max_split = c->max_split_bytes == UINT64_MAX ? -1 : (int64_t)c->max_split_bytes;
    return push_setting(to, S("PYTORCH_CUDA_ALLOC_CONF"), SETTING_TEXT, 0, 0,
                        conf_text(c, text, sizeof text)) &&
           push_setting(to, S("max_split_size"), SETTING_INT, max_split, 0, S("")) &&
           push_setting(to, S("garbage_collection_threshold"), SETTING_FLOAT, 0, c->gc_threshold,
                        S("")) &&
           push_setting(to, S("expandable_segments"), SETTING_BOOL, c->expandable, 0, S("")) &&
           push_rounding(to, &c->rounding);
}

enum vrs_status run_recording_begin(struct recording *to, const struct recording *from,
                                    const struct allocator_config *config, struct vrs_error *err)
{
    if (!recording_copy_interned(to, from) || !run_recording_settings(to, config))
        return vrs_no_memory(err);
    to->origin.encoding = ENCODING_PICKLE;
    to->origin.pickle_protocol = 4;
    to->origin.complete = true;
    return VRS_OK;
}

enum vrs_status run_recording_finish(struct recording *to, struct vrs_error *err)
{
    return pair_allocations(to, err);
}
