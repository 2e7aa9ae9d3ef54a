/* trace_stacks.c - from a path up to its root. */
#include "render/export/trace/trace_stacks.h"

#include <stdint.h>

#include "analysis/trace/calls/calls.h"
#include "analysis/trace/calls/tree.h"
#include "base/table.h"
#include "model/trace.h"

uint32_t trace_stack(const struct trace_exporting *e, uint32_t path, uint32_t *frame)
{
    const struct call_paths *c = e->calls;
    uint32_t frames = 0;
    for (uint32_t at = path; c->at[at].parent != NO_ROW; at = c->at[at].parent) {
        if (frames == TRACE_FRAMES_MOST) {
            frame[frames++] = TRACE_FRAME_REST;
            break;
        }
        frame[frames++] = at;
    }
    if (frames == 0 || c->roots > 1)
        frame[frames++] = c->at[path].root;
    return frames;
}

bool trace_has_device_bytes(const struct trace *t)
{
    enum { TYPE_CPU = 0 };
    const struct memory_events *m = &t->memory;
    for (uint32_t i = 0; i < m->rows.len; i++)
        if (m->device_type[i] != TYPE_CPU)
            return true;
    return false;
}

static uint64_t not_negative(int64_t value)
{
    return value < 0 ? 0 : (uint64_t)value;
}

uint64_t trace_weight_of(const struct trace_exporting *e, enum trace_weight weight, uint32_t path)
{
    const struct call_path *p = &e->calls->at[path];
    switch (weight) {
    case TRACE_WEIGHT_HOST:
        return not_negative(p->self_host_ns);
    case TRACE_WEIGHT_DEVICE:
        return not_negative(p->self_device_ns);
    case TRACE_WEIGHT_BYTES:
        return not_negative(e->device_bytes ? p->self_bytes.device : p->self_bytes.cpu);
    case TRACE_WEIGHT_CALLS:
        return p->parent == NO_ROW ? 0 : p->calls; /* a thread is not called */
    case TRACE_WEIGHTS:
        break;
    }
    return 0;
}

void trace_frame_name(const struct trace_exporting *e, uint32_t frame, struct buf *to)
{
    if (frame == TRACE_FRAME_REST)
        buf_text(to, TRACE_REST_NAME);
    else if (e->calls->at[frame].parent == NO_ROW)
        tree_root_name(e->t, e->calls, e->calls->at[frame].track, to);
    else if (e->calls->at[frame].name == 0)
        buf_text(to, "(no name)");
    else
        buf_str(to, trace_text(e->t, e->calls->at[frame].name));
}
