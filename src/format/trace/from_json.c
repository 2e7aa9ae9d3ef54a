/* from_json.c - a whole file: read with tolerance, then looked at for something to show. */
#include "format/trace/from_json.h"

#include "format/json/reader.h"
#include "format/trace/event.h"
#include "format/trace/reading.h"
#include "format/trace/tolerant.h"

/* What was read holds something that can be shown. */
static enum vrs_status check(const struct reading *r, const struct json_end *end,
                             struct vrs_error *err)
{
    if (r->is_snapshot && r->trace->events == 0)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a memory snapshot, and no profiler trace: vramscope report reads it");
    if (!r->has_events && !end->cut)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "JSON without a list of events (traceEvents): this is no profiler trace");
    if (r->trace->events == 0)
        return vrs_fail(err, end->cut ? VRS_CORRUPT : VRS_UNSUPPORTED,
                        end->cut ? "the file ends before the first whole event"
                                 : "a list without an event: this is no profiler trace");
    return VRS_OK;
}

static enum vrs_status read_value(struct window *w, const struct limits *limits, struct reading *r,
                                  struct vrs_error *err)
{
    struct json_end end;
    TRY(tolerant_read(w, limits, r, &end, err));
    TRY(check(r, &end, err));
    if (end.cut)
        trace_damaged(r->trace, DAMAGE_TRUNCATED, end.offset);
    r->trace->read_bytes = end.offset;
    events_finish(&r->events);
    return VRS_OK;
}

enum vrs_status trace_from_json(struct window *w, const struct limits *limits, struct trace *t,
                                struct vrs_error *err)
{
    struct reading r = { .trace = t };
    struct limits own = *limits;
    if (own.nesting < TRACE_NESTING)
        own.nesting = TRACE_NESTING;
    enum vrs_status status = events_init(&r.events, t, own.string_bytes, err);
    if (status == VRS_OK)
        status = read_value(w, &own, &r, err);
    window_release(w);
    events_free(&r.events);
    return status;
}
