/* pickle.c - a recogniser of the pickle opcodes that data without code is written with.
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
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "format/pickle/lines.h"
#include "format/pickle/pickle_ops.h"

/* The argument is cut off: the file ends here. */
#define NEED(p, len)                                                                               \
    do {                                                                                           \
        if (!window_need((p)->w, (len))) {                                                         \
            *ret = PICKLE_CUT;                                                                     \
            return VRS_OK;                                                                         \
        }                                                                                          \
    } while (0)

static enum vrs_status refuse(const struct pickle *p, unsigned op, struct vrs_error *err)
{
    const char *name = pickle_op_name(op);
    if (name == NULL)
        return vrs_fail_at(err, VRS_CORRUPT, p->offset,
                           "unknown pickle opcode 0x%02x; is this a %s?", op, p->sink.kind);
    return vrs_fail_at(err, VRS_UNSUPPORTED, p->offset,
                       "pickle opcode %s (0x%02x) is refused: no %s needs it, and nothing was "
                       "executed",
                       name, op, p->sink.kind);
}

/* Collects `len` bytes of a string that the window cannot hold at once, or fewer in a file that is
 * cut. */
static enum vrs_status gather(struct pickle *p, size_t len, struct vrs_error *err)
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
    return VRS_OK;
}

static enum vrs_status op_string(struct pickle *p, size_t prefix, enum pickle_step *ret,
                                 struct vrs_error *err)
{
    NEED(p, 1 + prefix);
    const uint8_t *at = p->w->at + 1;
    uint64_t len = prefix == 1 ? at[0] : prefix == 4 ? load_le32(at) : load_le64(at);
    if (len > p->limits->string_bytes)
        return vrs_fail_at(err, VRS_LIMIT, p->offset,
                           "a string of %llu bytes, longer than %u; see --limit string",
                           (unsigned long long)len, p->limits->string_bytes);
    if (1 + prefix + len <= WINDOW_BYTES) {
        NEED(p, 1 + prefix + (size_t)len);
        str text = { (const char *)p->w->at + 1 + prefix, (size_t)len };
        p->w->at += 1 + prefix + (size_t)len;
        return p->sink.string(p->sink.self, text, err);
    }
    p->w->at += 1 + prefix;
    TRY(gather(p, (size_t)len, err));
    if (p->text.len == len)
        return p->sink.string(p->sink.self, buf_slice(&p->text), err);
    *ret = PICKLE_CUT;
    return VRS_OK;
}

/* LONG1 and LONG4: two's complement, at most nine bytes. */
static enum vrs_status op_long(struct pickle *p, size_t prefix, enum pickle_step *ret,
                               struct vrs_error *err)
{
    NEED(p, 1 + prefix);
    uint32_t len = prefix == 1 ? p->w->at[1] : load_le32(p->w->at + 1);
    if (len > 9)
        return vrs_fail_at(err, VRS_CORRUPT, p->offset, "an integer of %u bytes; is this a %s?",
                           len, p->sink.kind);
    NEED(p, 1 + prefix + len);
    const uint8_t *at = p->w->at + 1 + prefix;
    bool negative = len != 0 && (at[len - 1] & 0x80) != 0;
    uint64_t bits = negative && len < 8 ? UINT64_MAX << (8 * len) : 0;
    for (uint32_t i = 0; i < len && i < 8; i++)
        bits |= (uint64_t)at[i] << (8 * i);
    /* A ninth byte may only be the sign of what 64 bits hold. */
    if (len == 9 && at[8] != 0 && !(at[8] == 0xff && bits >> 63 == 1))
        return pickle_bad_number(p, err);
    p->w->at += 1 + prefix + len;
    return p->sink.integer(p->sink.self, bits, negative, err);
}

/* FRAME is a promise about reading ahead; a cut file breaks it, so only nonsense is refused. */
static enum vrs_status op_frame(struct pickle *p, enum pickle_step *ret, struct vrs_error *err)
{
    NEED(p, 9);
    if (load_le64(p->w->at + 1) > INT64_MAX)
        return vrs_fail_at(err, VRS_CORRUPT, p->offset,
                           "a frame of 2^63 bytes or more; is this a %s?", p->sink.kind);
    p->w->at += 9;
    return VRS_OK;
}

static enum vrs_status op_fixed(struct pickle *p, unsigned op, enum pickle_step *ret,
                                struct vrs_error *err)
{
    size_t len = pickle_op_bytes(op);
    NEED(p, len);
    const uint8_t *at = p->w->at + 1;
    p->w->at += len;
    switch (op) {
    case OP_BININT:
        return p->sink.integer(p->sink.self, (uint64_t)(int64_t)(int32_t)load_le32(at),
                               (at[3] & 0x80) != 0, err);
    case OP_BININT1:
        return p->sink.integer(p->sink.self, at[0], false, err);
    case OP_BININT2:
        return p->sink.integer(p->sink.self, load_le16(at), false, err);
    case OP_BINFLOAT: {
        uint64_t bits = load_be64(at);
        double real;
        memcpy(&real, &bits, sizeof real);
        return p->sink.real(p->sink.self, real, err);
    }
    case OP_BINPUT:
        return p->sink.put(p->sink.self, at[0], err);
    case OP_LONG_BINPUT:
        return p->sink.put(p->sink.self, load_le32(at), err);
    case OP_BINGET:
        return p->sink.get(p->sink.self, at[0], err);
    default:
        assert(op == OP_LONG_BINGET);
        return p->sink.get(p->sink.self, load_le32(at), err);
    }
}

/* Opcodes of one byte. */
static enum vrs_status op_bare(struct pickle *p, unsigned op, enum pickle_step *ret,
                               struct vrs_error *err)
{
    p->w->at++;
    if (op != OP_STOP)
        return p->sink.plain(p->sink.self, op, err);
    *ret = PICKLE_STOP;
    return VRS_OK;
}

void pickle_init(struct pickle *p, struct window *w, const struct limits *limits,
                 const struct pickle_sink *sink)
{
    *p = (struct pickle){ .w = w, .limits = limits, .sink = *sink };
    buf_init(&p->text, limits->string_bytes);
}

void pickle_free(struct pickle *p)
{
    buf_free(&p->text);
}

enum vrs_status pickle_protocol(struct pickle *p, int *ret_protocol, enum pickle_step *ret,
                                struct vrs_error *err)
{
    struct window *w = p->w;
    *ret = PICKLE_CUT;
    if (!window_need(w, 1))
        return VRS_OK;
    if (w->at[0] != OP_PROTO) {
        *ret_protocol = w->at[0] == OP_MARK ? 0 : 1;
        *ret = PICKLE_ON;
        return VRS_OK;
    }
    if (!window_need(w, 2))
        return VRS_OK;
    if (w->at[1] > 5)
        return vrs_fail_at(err, VRS_UNSUPPORTED, window_offset(w) + 1,
                           "pickle protocol %u; 0 to 5 are read", w->at[1]);
    *ret_protocol = w->at[1];
    w->at += 2;
    *ret = PICKLE_ON;
    return VRS_OK;
}

enum vrs_status pickle_step(struct pickle *p, enum pickle_step *ret, struct vrs_error *err)
{
    p->offset = window_offset(p->w);
    NEED(p, 1);
    *ret = PICKLE_ON;
    unsigned op = p->w->at[0];
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
        return pickle_line(p, op, ret, err);
    case OP_FORM_GLOBAL:
        return pickle_global(p, err);
    case OP_FORM_REFUSED:
        break;
    }
    return refuse(p, op, err);
}
