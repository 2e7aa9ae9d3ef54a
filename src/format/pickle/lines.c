/* lines.c - a line is collected, whether the window shows it whole or not, then looked at. */
#include "format/pickle/lines.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/number.h"
#include "base/str.h"
#include "base/utf8.h"
#include "format/input/window.h"
#include "format/pickle/pickle_ops.h"

enum { LINE_MAX_BYTES = 64 * 1024 };

static enum vrs_status line_too_long(const struct pickle *p, size_t max, struct vrs_error *err)
{
    if (max != LINE_MAX_BYTES)
        return vrs_fail_at(err, VRS_LIMIT, p->offset,
                           "a line of more than %zu bytes; see --limit string", max);
    return vrs_fail_at(err, VRS_LIMIT, p->offset, "a line of more than %zu bytes; is this a %s?",
                       max, p->sink.kind);
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
            return line_too_long(p, max, err);
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

enum vrs_status pickle_bad_number(const struct pickle *p, struct vrs_error *err)
{
    return vrs_fail_at(err, VRS_CORRUPT, p->offset,
                       "not a number of at most 64 bits; is this a %s?", p->sink.kind);
}

static enum vrs_status op_int_line(struct pickle *p, bool is_long, enum pickle_step *ret,
                                   struct vrs_error *err)
{
    bool cut, negative;
    uint64_t bits;
    TRY(read_line(p, LINE_MAX_BYTES, &cut, err));
    if (cut) {
        *ret = PICKLE_CUT;
        return VRS_OK;
    }
    str text = buf_slice(&p->text);
    if (!is_long && (str_equal(text, S("00")) || str_equal(text, S("01"))))
        return p->sink.plain(p->sink.self, text.ptr[1] == '1' ? OP_NEWTRUE : OP_NEWFALSE, err);
    if (is_long && text.len != 0 && text.ptr[text.len - 1] == 'L')
        text.len--;
    if (!number_integer(text, &bits, &negative))
        return pickle_bad_number(p, err);
    return p->sink.integer(p->sink.self, bits, negative, err);
}

static enum vrs_status op_float_line(struct pickle *p, enum pickle_step *ret, struct vrs_error *err)
{
    bool cut = false;
    double real;
    TRY(read_line(p, LINE_MAX_BYTES, &cut, err));
    if (cut) {
        *ret = PICKLE_CUT;
        return VRS_OK;
    }
    if (!number_real(buf_slice(&p->text), &real))
        return pickle_bad_number(p, err);
    return p->sink.real(p->sink.self, real, err);
}

/* Protocol 0 strings: bytes are Latin-1, \uXXXX and \UXXXXXXXX are escapes. */
static enum vrs_status op_unicode_line(struct pickle *p, enum pickle_step *ret,
                                       struct vrs_error *err)
{
    bool cut = false;
    TRY(read_line(p, p->limits->string_bytes, &cut, err));
    if (cut) {
        *ret = PICKLE_CUT;
        return VRS_OK;
    }
    str raw = buf_slice(&p->text);
    struct buf text;
    buf_init(&text, (size_t)p->limits->string_bytes * 2);
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
        text.failed ? vrs_no_memory(err) : p->sink.string(p->sink.self, buf_slice(&text), err);
    buf_free(&text);
    return status;
}

static enum vrs_status op_slot_line(struct pickle *p, bool put, enum pickle_step *ret,
                                    struct vrs_error *err)
{
    bool cut, negative;
    uint64_t slot;
    TRY(read_line(p, LINE_MAX_BYTES, &cut, err));
    if (cut) {
        *ret = PICKLE_CUT;
        return VRS_OK;
    }
    if (!number_integer(buf_slice(&p->text), &slot, &negative) || negative)
        return pickle_bad_number(p, err);
    return put ? p->sink.put(p->sink.self, slot, err) : p->sink.get(p->sink.self, slot, err);
}

enum vrs_status pickle_line(struct pickle *p, unsigned op, enum pickle_step *ret,
                            struct vrs_error *err)
{
    if (op == OP_UNICODE)
        return op_unicode_line(p, ret, err);
    if (op == OP_FLOAT)
        return op_float_line(p, ret, err);
    if (op == OP_PUT || op == OP_GET)
        return op_slot_line(p, op == OP_PUT, ret, err);
    return op_int_line(p, op == OP_LONG, ret, err);
}

enum vrs_status pickle_global(struct pickle *p, struct vrs_error *err)
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
    const char *shown = name.failed ? "" : name.at;
    int len = name.failed ? 0 : name.len < 80 ? (int)name.len : 80;
    enum vrs_status status =
        tags ? vrs_fail_at(err, VRS_UNSUPPORTED, p->offset,
                           "pickle opcode GLOBAL (0x63) names the object %.*s; a fork of PyTorch "
                           "left type tags on, which are not read; nothing was executed",
                           len, shown)
             : vrs_fail_at(err, VRS_UNSUPPORTED, p->offset,
                           "pickle opcode GLOBAL (0x63) names the object %.*s; this is not a %s, "
                           "and nothing was executed",
                           len, shown, p->sink.kind);
    buf_free(&name);
    return status;
}
