/* from_pickle.c - the fast path where events stand, the ordinary reader everywhere else. */
#include "format/snapshot/from_pickle.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/str.h"
#include "format/pickle/pickle.h"
#include "format/pickle/pickle_ops.h"
#include "format/snapshot/builder.h"
#include "format/snapshot/fast.h"

struct reader {
    struct window *w;
    struct builder b;
    struct pickle pickle;
    struct fast fast;
    struct ahead ahead;
};

static enum vrs_status plain(void *self, unsigned op, struct vrs_error *err)
{
    struct builder *b = self;
    switch (op) {
    case OP_MARK:
        return build_mark(b, err);
    case OP_EMPTY_DICT:
        return build_empty_dict(b, err);
    case OP_EMPTY_LIST:
        return build_empty_list(b, err);
    case OP_EMPTY_TUPLE:
        return build_tuple(b, 0, err);
    case OP_DICT:
        return build_marked_dict(b, err);
    case OP_LIST:
        return build_marked_list(b, err);
    case OP_TUPLE:
        return build_marked_tuple(b, err);
    case OP_TUPLE1:
    case OP_TUPLE2:
    case OP_TUPLE3:
        return build_tuple(b, op - OP_TUPLE1 + 1, err);
    case OP_SETITEM:
        return build_setitem(b, err);
    case OP_SETITEMS:
        return build_setitems(b, err);
    case OP_APPEND:
        return build_append(b, err);
    case OP_APPENDS:
        return build_appends(b, err);
    case OP_NONE:
        return build_none(b, err);
    case OP_NEWTRUE:
    case OP_NEWFALSE:
        return build_bool(b, op == OP_NEWTRUE, err);
    case OP_MEMOIZE:
        return build_memoize(b, err);
    case OP_POP:
        return build_pop(b, err);
    default:
        assert(op == OP_POP_MARK);
        return build_pop_mark(b, err);
    }
}

static enum vrs_status integer(void *self, uint64_t bits, bool negative, struct vrs_error *err)
{
    return build_int(self, bits, negative, err);
}

static enum vrs_status real(void *self, double number, struct vrs_error *err)
{
    return build_float(self, number, err);
}

static enum vrs_status string(void *self, str text, struct vrs_error *err)
{
    return build_string(self, text, err);
}

static enum vrs_status put(void *self, uint64_t entry, struct vrs_error *err)
{
    return build_put(self, entry, err);
}

static enum vrs_status get(void *self, uint64_t entry, struct vrs_error *err)
{
    return build_get(self, entry, err);
}

/* Where the reader has to stop for what was read ahead: a place in the window, or its end. */
static const uint8_t *place_due(const struct reader *p)
{
    const struct window *w = p->w;
    uint64_t here = window_offset(w), due = p->ahead.due;
    if (due <= here)
        return w->at;
    return due - here < (uint64_t)(w->end - w->at) ? w->at + (due - here) : w->end;
}

/* What stands here and can be read at once, as far as the window shows enough. */
static void read_fast(struct reader *p)
{
    struct window *w = p->w;
    if (!window_need(w, FAST_BYTES))
        return;
    if (*w->at == OP_EMPTY_DICT)
        w->at = fast_events(&p->fast, &p->b, w->at, w->end, place_due(p));
    if (*w->at == OP_MARK) {
        const uint8_t *behind = fast_frames(&p->fast, &p->b, w->at + 1, w->end);
        w->at = behind == NULL ? w->at : behind;
    }
}

static enum vrs_status read_ops(struct reader *p, enum pickle_step *ret, struct vrs_error *err)
{
    for (*ret = PICKLE_ON; *ret == PICKLE_ON;) {
        read_fast(p);
        if (window_offset(p->w) >= p->ahead.due) {
            TRY(ahead_arrive(&p->ahead, &p->fast, &p->b, p->w, err));
            continue;
        }
        p->b.offset = window_offset(p->w);
        TRY(pickle_step(&p->pickle, ret, err));
    }
    return VRS_OK;
}

static enum vrs_status read_all(struct reader *p, struct vrs_error *err)
{
    enum pickle_step end;
    builder_expect(&p->b, p->w->expected_bytes);
    TRY(pickle_protocol(&p->pickle, &p->b.r->origin.pickle_protocol, &end, err));
    if (end == PICKLE_ON)
        TRY(read_ops(p, &end, err));
    p->b.r->origin.read_bytes = window_offset(p->w);
    if (end == PICKLE_STOP)
        return build_finish(&p->b, err);
    p->b.offset = window_offset(p->w) + (uint64_t)(p->w->end - p->w->at);
    TRY(window_status(p->w, err));
    return build_cut(&p->b, err);
}

enum vrs_status snapshot_from_pickle(struct window *w, const struct limits *limits,
                                     const struct ahead_options *ahead, uint64_t *finished,
                                     struct recording *r, struct vrs_error *err)
{
    struct reader p = { .w = w };
    const struct pickle_sink sink = {
        .self = &p.b,
        .kind = "memory snapshot",
        .plain = plain,
        .integer = integer,
        .real = real,
        .string = string,
        .put = put,
        .get = get,
    };
    r->origin.encoding = ENCODING_PICKLE;
    enum vrs_status status = builder_init(&p.b, r, limits, finished, err);
    pickle_init(&p.pickle, w, limits, &sink);
    fast_init(&p.fast);
    ahead_init(&p.ahead, ahead, w);
    if (status == VRS_OK)
        status = read_all(&p, err);
    pickle_free(&p.pickle);
    ahead_free(&p.ahead);
    fast_free(&p.fast);
    builder_free(&p.b);
    return status;
}
