/* peek.c - unpacks the first bytes of an input and looks for the keys that stand there. */
#include "format/peek.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "format/detect.h"
#include "format/input/limits.h"
#include "format/input/source.h"
#include "format/input/unpack.h"
#include "format/measurement/from_json.h"
#include "format/trace/timeline.h"
#include "model/recording.h"

enum { PEEK_BYTES = 1 << 16 };

/* Where the key stands first, in quotes and with a colon behind it; `text.len` where it does not. */
static size_t find_key(str text, str key)
{
    size_t from = 0;
    for (;;) {
        str rest = { text.ptr + from, text.len - from };
        size_t at = from + str_find(rest, key);
        size_t end = at + key.len;
        if (end > text.len)
            return text.len;
        while (end < text.len && is_blank((uint8_t)text.ptr[end]))
            end++;
        if (end < text.len && text.ptr[end] == ':')
            return at;
        from = at + key.len;
    }
}

static size_t first_of(str text, const str *keys, size_t count)
{
    size_t first = text.len;
    for (size_t i = 0; i < count; i++) {
        size_t at = find_key(text, keys[i]);
        if (at < first)
            first = at;
    }
    return first;
}

#define KEY(name) { "\"" name "\"", sizeof name + 1 }

static bool begins_as_trace(str text)
{
    static const str of_trace[] = {
        KEY("traceEvents"),         KEY("schemaVersion"),   KEY("deviceProperties"),
        KEY("displayTimeUnit"),     KEY("distributedInfo"), KEY("ph"),
        KEY("baseTimeNanoseconds"),
    };
    static const str of_snapshot[] = { KEY("segments"), KEY("device_traces") };
    return first_of(text, of_trace, sizeof of_trace / sizeof *of_trace) <
           first_of(text, of_snapshot, sizeof of_snapshot / sizeof *of_snapshot);
}

static enum peeked_kind kind_of_window(struct window *w)
{
    if (detect_form(w) != FORM_JSON)
        return PEEKED_OTHER;
    if (measurement_begins(w))
        return PEEKED_MEASUREMENT;
    if (timeline_begins(w))
        return PEEKED_TRACE;
    size_t len = window_need(w, PEEK_BYTES) ? PEEK_BYTES : (size_t)(w->end - w->at);
    str text = { (const char *)w->at, len };
    return begins_as_trace(text) ? PEEKED_TRACE : PEEKED_OTHER;
}

/* Of bytes that were packed the first ones; damage is for the reader to tell. */
static enum vrs_status kind_of_packed(struct window *packed, enum compression compression,
                                      enum peeked_kind *ret, struct vrs_error *err)
{
    struct unpack u;
    struct window w;
    uint64_t finished = 0;
    TRY(unpack_init(&u, packed, compression, &default_limits, &finished, err));
    enum vrs_status status = window_init(&w, source_of_unpack(&u), err);
    if (status == VRS_OK) {
        *ret = kind_of_window(&w);
        window_free(&w);
    }
    unpack_free(&u);
    return status;
}

static enum vrs_status look(const uint8_t *bytes, size_t len, enum peeked_kind *ret,
                            struct vrs_error *err)
{
    struct memory_bytes memory = { .start = bytes, .end = bytes + len };
    struct window w;
    TRY(window_init(&w, source_of_memory(&memory), err));
    enum form form = detect_form(&w);
    enum vrs_status status = VRS_OK;
    if (form == FORM_GZIP || form == FORM_ZSTD)
        status = kind_of_packed(&w, form == FORM_GZIP ? COMPRESSION_GZIP : COMPRESSION_ZSTD, ret,
                                err);
    else
        *ret = kind_of_window(&w);
    window_free(&w);
    return status;
}

/* The first bytes, without taking them where that can be. */
static enum vrs_status take(struct source input, uint8_t *bytes, size_t *ret_len,
                            struct vrs_error *err)
{
    size_t len = 0, got = 1;
    while (len < PEEK_BYTES && got > 0) {
        if (input.read_at != NULL)
            TRY(input.read_at(input.self, len, bytes + len, PEEK_BYTES - len, &got, err));
        else
            TRY(input.read(input.self, bytes + len, PEEK_BYTES - len, &got, err));
        len += got;
    }
    *ret_len = len;
    return VRS_OK;
}

enum vrs_status peek_kind(struct source input, struct peeked *ret, enum peeked_kind *ret_kind,
                          struct vrs_error *err)
{
    *ret = (struct peeked){ .input = input };
    *ret_kind = PEEKED_OTHER;
    if (!vec_resize(&ret->bytes, PEEK_BYTES, 1))
        return vrs_no_memory(err);
    TRY(take(input, ret->bytes, &ret->len, err));
    TRY(look(ret->bytes, ret->len, ret_kind, err));
    if (input.read_at != NULL)
        ret->len = 0;
    return VRS_OK;
}

void peeked_free(struct peeked *p)
{
    vec_resize(&p->bytes, 0, 0);
}

static enum vrs_status read_peeked(void *self, uint8_t *to, size_t len, size_t *ret,
                                   struct vrs_error *err)
{
    struct peeked *p = self;
    size_t left = p->len - p->at;
    /* An end is an end, though a stream may give more when it is asked again. */
    if (left == 0 && p->len < PEEK_BYTES) {
        *ret = 0;
        return VRS_OK;
    }
    if (left == 0)
        return p->input.read(p->input.self, to, len, ret, err);
    *ret = len < left ? len : left;
    memcpy(to, (const uint8_t *)p->bytes + p->at, *ret);
    p->at += *ret;
    return VRS_OK;
}

struct source source_of_peeked(struct peeked *p)
{
    if (p->len == 0)
        return p->input;
    return (struct source){ .read = read_peeked, .self = p };
}
