/* pickle.c - a recogniser of the pickle opcodes that snapshots are written with.
 *
 *     bytes of an opcode                             arguments, little endian but for BINFLOAT
 *     80 n            PROTO                          4b u8, 4d u16, 4a i32     BININT1, 2, BININT
 *     95 u64          FRAME (ignored)                8a n u8[n], 8b i32 u8[n]  LONG1, LONG4
 *     8c u8, 58 u32, 8d u64 + bytes  strings         47 f64 big endian         BINFLOAT
 *     71 u8, 72 u32, 94              memo writes     68 u8, 6a u32             memo reads
 *     49 4c 46 56 70 67 + line       text forms of protocol 0
 *
 * Everything that could name or call code is refused by name and never interpreted. */
#include "format/pickle/pickle.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/number.h"
#include "base/utf8.h"
#include "format/pickle/pickle_ops.h"
#include "format/snapshot/builder.h"

enum { LINE_MAX_BYTES = 64 * 1024 };

struct pickle {
    struct window *w;
    struct builder b;
    struct fast fast;
    struct ahead ahead;
    struct buf text; /* a string longer than the window, or a line */
};

/* What one opcode did. */
enum step { STEP_ON, STEP_STOP, STEP_CUT };

/* The argument is cut off: the file ends here. */
#define NEED(p, len)                                                                               \
    do {                                                                                           \
        if (!window_need((p)->w, (len))) {                                                         \
            *ret = STEP_CUT;                                                                       \
            return VRS_OK;                                                                         \
        }                                                                                          \
    } while (0)

static enum vrs_status refuse(const struct pickle *p, unsigned op, struct vrs_error *err)
{
    const char *name = pickle_op_name(op);
    if (name == NULL)
        return vrs_fail_at(err, VRS_CORRUPT, p->b.offset,
                           "unknown pickle opcode 0x%02x; is this a memory snapshot?", op);
    return vrs_fail_at(err, VRS_UNSUPPORTED, p->b.offset,
                       "pickle opcode %s (0x%02x) is refused: no memory snapshot needs it, and "
                       "nothing was executed",
                       name, op);
}

/* Collects `len` bytes of a string that the window cannot hold at once. */
static enum vrs_status gather(struct pickle *p, size_t len, bool *ret_cut, struct vrs_error *err)
{
    p->text.len = 0;
    while (p->text.len < len && window_need(p->w, 1)) {
        size_t here = (size_t)(p->w->end - p->w->at), left = len - p->text.len;
        size_t taken = here < left ? here : left;
        buf_bytes(&p->text, p->w->at, taken);
        if (p->text.failed)
            return vrs_no_memory(err);
        p->w->at += taken;
    }
    *ret_cut = p->text.len < len;
    return VRS_OK;
}

static enum vrs_status op_string(struct pickle *p, size_t prefix, enum step *ret,
                                 struct vrs_error *err)
{
    NEED(p, 1 + prefix);
    const uint8_t *at = p->w->at + 1;
    uint64_t len = prefix == 1 ? at[0] : prefix == 4 ? load_le32(at) : load_le64(at);
    if (len > p->b.limits->string_bytes)
        return vrs_fail_at(err, VRS_LIMIT, p->b.offset,
                           "a string of %llu bytes, longer than %u; see --limit string",
                           (unsigned long long)len, p->b.limits->string_bytes);
    if (1 + prefix + len <= WINDOW_BYTES) {
        NEED(p, 1 + prefix + (size_t)len);
        str text = { (const char *)p->w->at + 1 + prefix, (size_t)len };
        p->w->at += 1 + prefix + (size_t)len;
        return build_string(&p->b, text, err);
    }
    p->w->at += 1 + prefix;
    bool cut = false;
    TRY(gather(p, (size_t)len, &cut, err));
    if (!cut)
        return build_string(&p->b, buf_slice(&p->text), err);
    *ret = STEP_CUT;
    return VRS_OK;
}

/* The rest of the line behind the opcode, without its end, into p->text. */
static enum vrs_status read_line(struct pickle *p, size_t max, bool *ret_cut, struct vrs_error *err)
{
    p->text.len = 0;
    p->w->at++;
    for (;;) {
        if (!window_need(p->w, 1)) {
            *ret_cut = true;
            return VRS_OK;
        }
        size_t here = (size_t)(p->w->end - p->w->at);
        const uint8_t *end = memchr(p->w->at, '\n', here);
        size_t taken = end == NULL ? here : (size_t)(end - p->w->at);
        if (taken > max - p->text.len)
            return vrs_fail_at(
                err, VRS_LIMIT, p->b.offset, "a line of more than %zu bytes; %s", max,
                max != LINE_MAX_BYTES ? "see --limit string" : "is this a memory snapshot?");
        buf_bytes(&p->text, p->w->at, taken);
        if (p->text.failed)
            return vrs_no_memory(err);
        p->w->at += taken;
        if (end != NULL) {
            p->w->at++;
            if (p->text.len != 0 && p->text.at[p->text.len - 1] == '\r')
                p->text.len--;
            *ret_cut = false;
            return VRS_OK;
        }
    }
}

static enum vrs_status bad_number(const struct pickle *p, struct vrs_error *err)
{
    return vrs_fail_at(err, VRS_CORRUPT, p->b.offset,
                       "not a number of at most 64 bits; is this a memory snapshot?");
}

static enum vrs_status op_int_line(struct pickle *p, bool is_long, enum step *ret,
                                   struct vrs_error *err)
{
    bool cut, negative;
    uint64_t bits;
    TRY(read_line(p, LINE_MAX_BYTES, &cut, err));
    if (cut) {
        *ret = STEP_CUT;
        return VRS_OK;
    }
    str text = buf_slice(&p->text);
    if (!is_long && (str_equal(text, S("00")) || str_equal(text, S("01"))))
        return build_bool(&p->b, text.ptr[1] == '1', err);
    if (is_long && text.len != 0 && text.ptr[text.len - 1] == 'L')
        text.len--;
    if (!number_integer(text, &bits, &negative))
        return bad_number(p, err);
    return build_int(&p->b, bits, negative, err);
}

static enum vrs_status op_float_line(struct pickle *p, enum step *ret, struct vrs_error *err)
{
    bool cut = false;
    double real;
    TRY(read_line(p, LINE_MAX_BYTES, &cut, err));
    if (cut) {
        *ret = STEP_CUT;
        return VRS_OK;
    }
    if (!number_real(buf_slice(&p->text), &real))
        return bad_number(p, err);
    return build_float(&p->b, real, err);
}

/* Protocol 0 strings: bytes are Latin-1, \uXXXX and \UXXXXXXXX are escapes. */
static enum vrs_status op_unicode_line(struct pickle *p, enum step *ret, struct vrs_error *err)
{
    bool cut = false;
    TRY(read_line(p, p->b.limits->string_bytes, &cut, err));
    if (cut) {
        *ret = STEP_CUT;
        return VRS_OK;
    }
    str raw = buf_slice(&p->text);
    struct buf text;
    buf_init(&text, (size_t)p->b.limits->string_bytes * 2);
    for (size_t i = 0; i < raw.len; i++) {
        size_t digits = 0;
        if (raw.ptr[i] == '\\' && i + 1 < raw.len)
            digits = raw.ptr[i + 1] == 'u' ? 4 : raw.ptr[i + 1] == 'U' ? 8 : 0;
        uint32_t point = (unsigned char)raw.ptr[i];
        if (digits != 0 && digits <= raw.len - i - 2 &&
            number_hex((str){ raw.ptr + i + 2, digits }, &point))
            i += 1 + digits;
        utf8_encode(&text, point);
    }
    enum vrs_status status =
        text.failed ? vrs_no_memory(err) : build_string(&p->b, buf_slice(&text), err);
    buf_free(&text);
    return status;
}

/* LONG1 and LONG4: two's complement, at most nine bytes. */
static enum vrs_status op_long(struct pickle *p, size_t prefix, enum step *ret,
                               struct vrs_error *err)
{
    NEED(p, 1 + prefix);
    uint32_t len = prefix == 1 ? p->w->at[1] : load_le32(p->w->at + 1);
    if (len > 9)
        return vrs_fail_at(err, VRS_CORRUPT, p->b.offset,
                           "an integer of %u bytes; is this a memory snapshot?", len);
    NEED(p, 1 + prefix + len);
    const uint8_t *at = p->w->at + 1 + prefix;
    bool negative = len != 0 && (at[len - 1] & 0x80) != 0;
    uint64_t bits = negative && len < 8 ? UINT64_MAX << (8 * len) : 0;
    for (uint32_t i = 0; i < len && i < 8; i++)
        bits |= (uint64_t)at[i] << (8 * i);
    /* A ninth byte may only be the sign of what 64 bits hold. */
    if (len == 9 && at[8] != 0 && !(at[8] == 0xff && bits >> 63 == 1))
        return bad_number(p, err);
    p->w->at += 1 + prefix + len;
    return build_int(&p->b, bits, negative, err);
}

static enum vrs_status op_slot_line(struct pickle *p, bool put, enum step *ret,
                                    struct vrs_error *err)
{
    bool cut, negative;
    uint64_t slot;
    TRY(read_line(p, LINE_MAX_BYTES, &cut, err));
    if (cut) {
        *ret = STEP_CUT;
        return VRS_OK;
    }
    if (!number_integer(buf_slice(&p->text), &slot, &negative) || negative)
        return bad_number(p, err);
    return put ? build_put(&p->b, slot, err) : build_get(&p->b, slot, err);
}

/* FRAME is a promise about reading ahead; a cut file breaks it, so only nonsense is refused. */
static enum vrs_status op_frame(struct pickle *p, enum step *ret, struct vrs_error *err)
{
    NEED(p, 9);
    if (load_le64(p->w->at + 1) > INT64_MAX)
        return vrs_fail_at(err, VRS_CORRUPT, p->b.offset,
                           "a frame of 2^63 bytes or more; is this a memory snapshot?");
    p->w->at += 9;
    return VRS_OK;
}

/* A GLOBAL names a Python object: says which, escaped. */
static enum vrs_status op_global(struct pickle *p, struct vrs_error *err)
{
    struct buf name;
    buf_init(&name, 1024);
    window_need(p->w, 200);
    uint32_t lines = 0;
    for (const uint8_t *at = p->w->at + 1; at < p->w->end && lines < 2 && name.len < 80; at++) {
        lines += *at == '\n';
        if (*at == '\n')
            buf_text(&name, lines == 1 ? "." : "");
        else if (*at >= 0x20 && *at < 0x7f && *at != '\\')
            buf_char(&name, (char)*at);
        else
            buf_format(&name, "\\x%02x", *at);
    }
    bool tags = name.len >= 16 && memcmp(name.at, "torch.jit._pickl", 16) == 0;
    enum vrs_status status = vrs_fail_at(
        err, VRS_UNSUPPORTED, p->b.offset, "pickle opcode GLOBAL (0x63) names the object %.*s; %s",
        (int)(name.failed     ? 0
              : name.len < 80 ? name.len
                              : 80),
        name.failed ? "" : name.at,
        tags ? "a fork of PyTorch left type tags on, which are not read; nothing was executed"
             : "this is not a memory snapshot, and nothing was executed");
    buf_free(&name);
    return status;
}

static enum vrs_status op_fixed(struct pickle *p, unsigned op, enum step *ret,
                                struct vrs_error *err)
{
    size_t len = pickle_op_bytes(op);
    NEED(p, len);
    const uint8_t *at = p->w->at + 1;
    p->w->at += len;
    switch (op) {
    case OP_BININT:
        return build_int(&p->b, (uint64_t)(int64_t)(int32_t)load_le32(at), (at[3] & 0x80) != 0,
                         err);
    case OP_BININT1:
        return build_int(&p->b, at[0], false, err);
    case OP_BININT2:
        return build_int(&p->b, load_le16(at), false, err);
    case OP_BINFLOAT: {
        uint64_t bits = load_be64(at);
        double real;
        memcpy(&real, &bits, sizeof real);
        return build_float(&p->b, real, err);
    }
    case OP_BINPUT:
        return build_put(&p->b, at[0], err);
    case OP_LONG_BINPUT:
        return build_put(&p->b, load_le32(at), err);
    case OP_BINGET:
        return build_get(&p->b, at[0], err);
    default:
        assert(op == OP_LONG_BINGET);
        return build_get(&p->b, load_le32(at), err);
    }
}

/* Opcodes of one byte. */
static enum vrs_status op_bare(struct pickle *p, unsigned op, enum step *ret, struct vrs_error *err)
{
    struct builder *b = &p->b;
    p->w->at++;
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
    case OP_POP_MARK:
        return build_pop_mark(b, err);
    default:
        assert(op == OP_STOP);
        *ret = STEP_STOP;
        return VRS_OK;
    }
}

static enum vrs_status step(struct pickle *p, unsigned op, enum step *ret, struct vrs_error *err)
{
    switch (pickle_op_form(op)) {
    case OP_FORM_BARE:
        return op_bare(p, op, ret, err);
    case OP_FORM_FIXED:
        return op_fixed(p, op, ret, err);
    case OP_FORM_STRING:
        return op_string(p, op == OP_SHORT_BINUNICODE ? 1 : op == OP_BINUNICODE ? 4 : 8, ret, err);
    case OP_FORM_LONG:
        return op_long(p, op == OP_LONG1 ? 1 : 4, ret, err);
    case OP_FORM_FRAME:
        return op_frame(p, ret, err);
    case OP_FORM_LINE:
        if (op == OP_UNICODE)
            return op_unicode_line(p, ret, err);
        if (op == OP_FLOAT)
            return op_float_line(p, ret, err);
        if (op == OP_PUT || op == OP_GET)
            return op_slot_line(p, op == OP_PUT, ret, err);
        return op_int_line(p, op == OP_LONG, ret, err);
    case OP_FORM_GLOBAL:
        return op_global(p, err);
    case OP_FORM_REFUSED:
        break;
    }
    return refuse(p, op, err);
}

/* Where the reader has to stop for what was read ahead: a place in the window, or its end. */
static const uint8_t *place_due(const struct pickle *p)
{
    const struct window *w = p->w;
    uint64_t here = window_offset(w), due = p->ahead.due;
    if (due <= here)
        return w->at;
    return due - here < (uint64_t)(w->end - w->at) ? w->at + (due - here) : w->end;
}

/* What stands here and can be read at once, as far as the window shows enough. */
static void read_fast(struct pickle *p)
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

static enum vrs_status read_ops(struct pickle *p, enum step *ret, struct vrs_error *err)
{
    for (*ret = STEP_ON; *ret == STEP_ON;) {
        read_fast(p);
        if (window_offset(p->w) >= p->ahead.due) {
            TRY(ahead_arrive(&p->ahead, &p->fast, &p->b, p->w, err));
            continue;
        }
        p->b.offset = window_offset(p->w);
        if (!window_need(p->w, 1))
            *ret = STEP_CUT;
        else
            TRY(step(p, p->w->at[0], ret, err));
    }
    return VRS_OK;
}

/* PROTO may only stand first; protocols 0 and 1 have none and begin with a container. */
static enum vrs_status read_protocol(struct pickle *p, bool *ret_cut, struct vrs_error *err)
{
    int *protocol = &p->b.r->origin.pickle_protocol;
    *ret_cut = !window_need(p->w, 1);
    if (*ret_cut)
        return VRS_OK;
    if (p->w->at[0] != OP_PROTO) {
        *protocol = p->w->at[0] == OP_MARK ? 0 : 1;
        return VRS_OK;
    }
    *ret_cut = !window_need(p->w, 2);
    if (*ret_cut)
        return VRS_OK;
    if (p->w->at[1] > 5)
        return vrs_fail_at(err, VRS_UNSUPPORTED, window_offset(p->w) + 1,
                           "pickle protocol %u; 0 to 5 are read", p->w->at[1]);
    *protocol = p->w->at[1];
    p->w->at += 2;
    return VRS_OK;
}

static enum vrs_status read_all(struct pickle *p, struct vrs_error *err)
{
    bool cut = false;
    enum step end = STEP_CUT;
    builder_expect(&p->b, p->w->expected_bytes);
    TRY(read_protocol(p, &cut, err));
    if (!cut)
        TRY(read_ops(p, &end, err));
    p->b.r->origin.read_bytes = window_offset(p->w);
    if (end == STEP_STOP)
        return build_finish(&p->b, err);
    p->b.offset = window_offset(p->w) + (uint64_t)(p->w->end - p->w->at);
    TRY(window_status(p->w, err));
    return build_cut(&p->b, err);
}

enum vrs_status read_pickle(struct window *w, const struct limits *limits,
                            const struct ahead_options *ahead, uint64_t *finished,
                            struct recording *r, struct vrs_error *err)
{
    struct pickle p = { .w = w };
    r->origin.encoding = ENCODING_PICKLE;
    enum vrs_status status = builder_init(&p.b, r, limits, finished, err);
    buf_init(&p.text, limits->string_bytes);
    fast_init(&p.fast);
    ahead_init(&p.ahead, ahead, w);
    if (status == VRS_OK)
        status = read_all(&p, err);
    buf_free(&p.text);
    ahead_free(&p.ahead);
    fast_free(&p.fast);
    builder_free(&p.b);
    return status;
}
