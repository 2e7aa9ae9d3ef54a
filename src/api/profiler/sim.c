/* sim.c - simulated devices for callers: their names interned, their requests passed on. */
#include "api/profiler/sim.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "allocator/machine/config.h"
#include "api/file.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/utf8.h"
#include "model/code.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/stacks.h"
#include "model/strings.h"
#include "profiler/backend_sim.h"
#include "profiler/sim_device.h"
#include "profiler/sim_refusal.h"
#include "vramscope/sim.h"

#define TOTAL_BYTES ((uint64_t)80 << 30)

/* The whole. */

static enum vrs_status begin_names(struct vrs_sim *s, struct vrs_error *err)
{
    pool_id pool;
    if (!recording_init(&s->names, SIM_ROWS_MAX, SIM_TEXT_MAX))
        return vrs_no_memory(err);
    if (!pools_intern(&s->names.pools, 0, 0, &pool)) {
        recording_free(&s->names);
        return vrs_no_memory(err);
    }
    s->default_pool = pool.n;
    return VRS_OK;
}

enum vrs_status vrs_sim_make(const struct vrs_sim_options *options, struct vrs_sim **ret,
                             struct vrs_error *err)
{
    struct vrs_sim_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct sim_options made = {
        .devices = o.devices == 0 ? 1 : o.devices,
        .total_bytes = o.total_bytes == 0 ? TOTAL_BYTES : o.total_bytes,
        .context_bytes = o.context_bytes,
        .config = config_default(),
        .history_most = o.history_entries,
        .clock_ns = o.clock_ns,
    };
    struct sim *sim;
    TRY(config_set(&made.config, text_or_empty(o.settings), err));
    TRY(sim_make(&made, &sim, err));
    struct vrs_sim *s = arena_array(&sim->arena, struct vrs_sim, 1);
    enum vrs_status status = s == NULL ? vrs_no_memory(err) : begin_names(s, err);
    if (status != VRS_OK) {
        sim_free(sim);
        return status;
    }
    s->sim = sim;
    s->config = made.config;
    *ret = s;
    return VRS_OK;
}

void vrs_sim_close(struct vrs_sim *sim)
{
    if (sim == NULL)
        return;
    recording_free(&sim->names);
    sim_free(sim->sim);
}

void vrs_sim_backend(struct vrs_sim *sim, struct vrs_backend *ret)
{
    sim_backend(sim->sim, ret);
}

void vrs_sim_hold(struct vrs_sim *sim)
{
    sim_lock(sim->sim);
}

void vrs_sim_let_go(struct vrs_sim *sim)
{
    sim_unlock(sim->sim);
}

/* Unlocks; for the end of a call. */
static enum vrs_status leave(struct vrs_sim *sim, enum vrs_status status)
{
    sim_unlock(sim->sim);
    return status;
}

/* Names. */

bool sim_intern_text(struct vrs_sim *s, const char *text, size_t len, string_id *ret)
{
    struct strings *strings = &s->names.code.strings;
    str whole = { text, len };
    if (utf8_valid(whole))
        return strings_intern(strings, whole, ret);
    struct buf repaired;
    buf_init(&repaired, SIM_TEXT_MAX);
    utf8_repair(&repaired, whole);
    bool ok = !repaired.failed && strings_intern(strings, buf_slice(&repaired), ret);
    buf_free(&repaired);
    return ok;
}

enum vrs_status vrs_sim_code(struct vrs_sim *sim, const char *file, size_t file_len,
                             const char *function, size_t function_len, uint32_t *ret,
                             struct vrs_error *err)
{
    /* The number is that of a frame without a line. */
    struct frame frame = { .line = NO_LINE };
    frame_id id = { 0 };
    sim_lock(sim->sim);
    bool ok = sim_intern_text(sim, file, file_len, &frame.file) &&
              sim_intern_text(sim, function, function_len, &frame.name) &&
              frames_intern(&sim->names.code.frames, frame, &id);
    sim_unlock(sim->sim);
    if (!ok)
        return vrs_no_memory(err);
    *ret = id.n;
    return VRS_OK;
}

static enum vrs_status intern_stack(struct vrs_sim *s, const struct vrs_sim_stack *stack,
                                    stack_id *ret, struct vrs_error *err)
{
    struct frames *f = &s->names.code.frames;
    uint32_t row[VRS_SIM_FRAMES], frames = stack == NULL ? 0 : stack->frames;
    if (frames > VRS_SIM_FRAMES)
        frames = VRS_SIM_FRAMES;
    for (uint32_t i = 0; i < frames; i++) {
        const struct vrs_sim_frame *told = &stack->frame[i];
        frame_id id;
        if (told->code == 0 || told->code >= f->rows.len)
            return vrs_fail(err, VRS_USAGE, "no code has the number %u", (unsigned)told->code);
        struct frame frame = { { f->name[told->code] }, { f->file[told->code] }, told->line, 0 };
        if (!frames_intern(f, frame, &id))
            return vrs_no_memory(err);
        row[i] = id.n;
    }
    ret->n = 0;
    return frames == 0 || stacks_push_all(&s->names.code.stacks, row, frames, ret)
               ? VRS_OK
               : vrs_no_memory(err);
}

/* What a request carries, as rows of the names. */
static enum vrs_status intern_request(struct vrs_sim *s, const struct vrs_sim_request *r,
                                      struct sim_request *ret, struct vrs_error *err)
{
    struct context context = { .pool = { s->default_pool } };
    context_id id;
    stack_id stack;
    TRY(intern_stack(s, &r->stack, &stack, err));
    if (r->pool != 0 && !pools_intern(&s->names.pools, 0, r->pool, &context.pool))
        return vrs_no_memory(err);
    if (r->tag != NULL && !sim_intern_text(s, r->tag, r->tag_len, &context.user_metadata))
        return vrs_no_memory(err);
    if (!contexts_intern(&s->names.contexts, context, &id))
        return vrs_no_memory(err);
    *ret = (struct sim_request){
        .device = r->device,
        .pool = r->pool == 0 ? 0 : context.pool.n,
        .bytes = r->bytes,
        .stream = r->stream,
        .origin = { stack.n, id.n },
    };
    return VRS_OK;
}

/* Memory. */

static enum vrs_status tell_refusal(const struct sim_refusal *r, struct vrs_sim_refusal *ret,
                                    struct vrs_error *err)
{
    *ret = (struct vrs_sim_refusal){
        .device = r->device,
        .requested = r->requested_bytes,
        .segment = r->segment_bytes,
        .total = r->total_bytes,
        .free = r->free_bytes,
        .allowed = r->allowed_bytes,
        .process = r->process_bytes,
        .allocated = r->allocated_bytes,
        .reserved = r->reserved_bytes,
    };
    struct buf text;
    buf_init(&text, sizeof ret->message - 1);
    sim_refusal_text(r, &text);
    bool failed = text.failed;
    if (!failed)
        memcpy(ret->message, text.at, text.len);
    buf_free(&text);
    return failed ? vrs_no_memory(err) : VRS_LIMIT;
}

enum vrs_status vrs_sim_alloc(struct vrs_sim *sim, const struct vrs_sim_request *request,
                              struct vrs_sim_block *ret, struct vrs_sim_refusal *ret_refusal,
                              struct vrs_error *err)
{
    struct vrs_sim_request o = { 0 };
    struct sim_request asked;
    struct sim_grant grant;
    struct sim_refusal refusal;
    options_take(&o, sizeof o, request);
    sim_lock(sim->sim);
    enum vrs_status status = intern_request(sim, &o, &asked, err);
    if (status == VRS_OK)
        status = sim_alloc(sim->sim, &asked, &grant, &refusal, err);
    leave(sim, status);
    if (status == VRS_LIMIT && ret_refusal != NULL)
        return tell_refusal(&refusal, ret_refusal, err);
    if (status == VRS_OK)
        *ret = (struct vrs_sim_block){ grant.device, grant.block, grant.turn, grant.address,
                                       grant.block_bytes };
    return status;
}

static struct sim_grant granted(const struct vrs_sim_block *block)
{
    return (struct sim_grant){ block->device, block->place, block->turn, block->address,
                               block->block_bytes };
}

enum vrs_status vrs_sim_free(struct vrs_sim *sim, const struct vrs_sim_block *block,
                             const struct vrs_sim_stack *stack, struct vrs_error *err)
{
    struct sim_grant grant = granted(block);
    stack_id id = { 0 };
    sim_lock(sim->sim);
    enum vrs_status status = intern_stack(sim, stack, &id, err);
    if (status == VRS_OK)
        status = sim_release(sim->sim, &grant, id.n, err);
    return leave(sim, status);
}

enum vrs_status vrs_sim_record_stream(struct vrs_sim *sim, const struct vrs_sim_block *block,
                                      uint64_t stream, struct vrs_error *err)
{
    struct sim_grant grant = granted(block);
    sim_lock(sim->sim);
    return leave(sim, sim_record_stream(sim->sim, &grant, stream, err));
}

enum vrs_status vrs_sim_empty_cache(struct vrs_sim *sim, uint32_t device,
                                    const struct vrs_sim_stack *stack, struct vrs_error *err)
{
    stack_id id = { 0 };
    sim_lock(sim->sim);
    enum vrs_status status = intern_stack(sim, stack, &id, err);
    if (status == VRS_OK)
        status = sim_empty_cache(sim->sim, device, id.n, err);
    return leave(sim, status);
}

enum vrs_status vrs_sim_synchronize(struct vrs_sim *sim, uint32_t device, struct vrs_error *err)
{
    sim_lock(sim->sim);
    return leave(sim, sim_synchronize(sim->sim, device, err));
}

/* The device and what is around it. */

uint32_t vrs_sim_devices(const struct vrs_sim *sim)
{
    return sim->sim->devices;
}

enum vrs_status vrs_sim_set_current(struct vrs_sim *sim, uint32_t device, struct vrs_error *err)
{
    sim_lock(sim->sim);
    bool there = sim_device_at(sim->sim, device, err) != NULL;
    if (there)
        sim->sim->current = device;
    return leave(sim, there ? VRS_OK : VRS_USAGE);
}

enum vrs_status vrs_sim_advance(struct vrs_sim *sim, uint64_t ns, struct vrs_error *err)
{
    sim_lock(sim->sim);
    return leave(sim, sim_advance(sim->sim, ns, err));
}

uint64_t vrs_sim_clock_ns(struct vrs_sim *sim)
{
    sim_lock(sim->sim);
    uint64_t now = sim->sim->common.clock_ns;
    sim_unlock(sim->sim);
    return now;
}

enum vrs_status vrs_sim_utilisation(struct vrs_sim *sim, uint32_t device, double percent,
                                    uint64_t ns, struct vrs_error *err)
{
    if (!(percent >= 0 && percent <= 100))
        return vrs_fail(err, VRS_USAGE, "a utilisation is from 0 to 100 percent");
    sim_lock(sim->sim);
    struct sim_device *d = sim_device_at(sim->sim, device, err);
    if (d == NULL)
        return leave(sim, VRS_USAGE);
    return leave(sim, sim_device_load(d, percent, ns) ? VRS_OK : vrs_no_memory(err));
}

enum vrs_status vrs_sim_other(struct vrs_sim *sim, uint32_t device, uint64_t bytes,
                              struct vrs_error *err)
{
    sim_lock(sim->sim);
    return leave(sim, sim_other(sim->sim, device, bytes, err));
}

enum vrs_status vrs_sim_fail_next(struct vrs_sim *sim, uint32_t device, uint64_t requests,
                                  struct vrs_error *err)
{
    sim_lock(sim->sim);
    struct sim_device *d = sim_device_at(sim->sim, device, err);
    if (d != NULL)
        d->failures = requests;
    return leave(sim, d == NULL ? VRS_USAGE : VRS_OK);
}
