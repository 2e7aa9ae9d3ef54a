/* json.c - a machine over JSON text (RFC 8259) that feeds the builder as it goes.
 *
 * Python's json module also writes NaN, Infinity and -Infinity: they are taken as null. */
#include "format/json/json.h"

#include <string.h>

#include "base/number.h"
#include "base/vec.h"
#include "format/json/json_string.h"
#include "format/snapshot/builder.h"

enum { NUMBER_BYTES = 400 };

enum expect {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END, /* behind "[" */
    EXPECT_KEY,
    EXPECT_KEY_OR_END, /* behind "{" */
    EXPECT_COLON,
    EXPECT_COMMA_OR_END,
    EXPECT_NOTHING
};

struct json {
    struct window *w;
    struct builder b;
    const struct limits *limits;
    VEC(uint8_t) open; /* '{' or '[' */
    enum expect expect;
    struct buf text;
    bool cut;
};

static enum vrs_status refuse(struct json *j, struct vrs_error *err)
{
    static const char *const wanted[] = { "a value",         "a value or ]",
                                          "a key in quotes", "a key in quotes or }",
                                          "a colon",         "a comma or the end of what is open",
                                          "nothing" };
    uint8_t c = *j->w->at;
    uint64_t offset = window_offset(j->w);
    if (c > ' ' && c < 0x7f)
        return vrs_fail_at(err, VRS_CORRUPT, offset, "JSON with %c where %s should stand", c,
                           wanted[j->expect]);
    return vrs_fail_at(err, VRS_CORRUPT, offset, "JSON with byte 0x%02x where %s should stand", c,
                       wanted[j->expect]);
}

/* Behind a value. */
static void value_done(struct json *j)
{
    j->expect = j->open.len == 0 ? EXPECT_NOTHING : EXPECT_COMMA_OR_END;
}

static enum vrs_status string_refuse(struct json *j, enum json_string end, uint64_t offset,
                                     struct vrs_error *err)
{
    switch (end) {
    case JSON_STRING_WHOLE:
    case JSON_STRING_CUT:
        break;
    case JSON_STRING_ESCAPE:
        return vrs_fail_at(err, VRS_CORRUPT, window_offset(j->w),
                           "a JSON string with an escape that there is not");
    case JSON_STRING_CONTROL:
        return vrs_fail_at(err, VRS_CORRUPT, window_offset(j->w),
                           "a JSON string with a control character");
    case JSON_STRING_LONG:
        return vrs_fail_at(err, VRS_LIMIT, offset, "a string longer than %u; see --limit string",
                           j->limits->string_bytes);
    case JSON_STRING_MEMORY:
        return vrs_no_memory(err);
    }
    j->cut = true;
    return VRS_OK;
}

/* At the opening quote. */
static enum vrs_status read_string(struct json *j, struct vrs_error *err)
{
    struct window *w = j->w;
    const uint8_t *at = ++w->at;
    while (at < w->end && *at != '"' && *at != '\\' && *at >= ' ')
        at++;
    str text = { (const char *)w->at, (size_t)(at - w->at) };
    if (at < w->end && *at == '"') {
        w->at = at + 1;
    } else {
        /* Escapes, or more than the window shows: gathered. */
        uint64_t lone_surrogates = 0;
        enum json_string end =
            json_string_read(w, &j->text, j->limits->string_bytes, &lone_surrogates);
        if (end != JSON_STRING_WHOLE)
            return string_refuse(j, end, j->b.offset, err);
        j->b.r->origin.bad_utf8 += lone_surrogates != 0;
        text = buf_slice(&j->text);
    }
    return build_string(&j->b, text, err);
}

static bool in_number(uint8_t c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* JSON's own rules, which number_real does not keep: digits on both sides of a point, no leading
 * zero, no plus. */
static bool well_formed(str text)
{
    size_t first = text.ptr[0] == '-' ? 1 : 0;
    if (text.len == first || text.ptr[first] < '0' || text.ptr[first] > '9')
        return false;
    if (text.ptr[first] == '0' && text.len > first + 1 && text.ptr[first + 1] >= '0' &&
        text.ptr[first + 1] <= '9')
        return false;
    size_t point = str_find(text, S("."));
    return point == text.len ||
           (point + 1 < text.len && text.ptr[point + 1] >= '0' && text.ptr[point + 1] <= '9');
}

static enum vrs_status read_number(struct json *j, struct vrs_error *err)
{
    struct window *w = j->w;
    bool more = window_need(w, NUMBER_BYTES);
    size_t len = 0, left = (size_t)(w->end - w->at);
    while (len < left && len < NUMBER_BYTES && in_number(w->at[len]))
        len++;
    /* A number that the end of the input touches may lack its last digits. */
    if (!more && len == left) {
        w->at = w->end;
        j->cut = true;
        return VRS_OK;
    }
    str text = { (const char *)w->at, len };
    uint64_t bits;
    bool negative;
    double real;
    if (len == NUMBER_BYTES || !well_formed(text) || !number_real(text, &real))
        return vrs_fail_at(err, VRS_CORRUPT, window_offset(w), "not a number of JSON");
    w->at += len;
    if (number_integer(text, &bits, &negative))
        return build_int(&j->b, bits, negative, err);
    return build_float(&j->b, real, err);
}

/* A word without quotes. */
static enum vrs_status read_word(struct json *j, struct vrs_error *err)
{
    static const struct {
        str word;
        int truth; /* -1: null */
    } words[] = {
        { { "true", 4 }, 1 }, { { "false", 5 }, 0 },     { { "null", 4 }, -1 },
        { { "NaN", 3 }, -1 }, { { "Infinity", 8 }, -1 }, { { "-Infinity", 9 }, -1 },
    };
    struct window *w = j->w;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        str word = words[i].word;
        bool whole = window_need(w, word.len);
        size_t left = (size_t)(w->end - w->at), len = whole ? word.len : left;
        if (memcmp(w->at, word.ptr, len) != 0)
            continue;
        w->at += len;
        if (!whole) {
            j->cut = true;
            return VRS_OK;
        }
        return words[i].truth < 0 ? build_none(&j->b, err)
                                  : build_bool(&j->b, words[i].truth == 1, err);
    }
    return refuse(j, err);
}

static enum vrs_status open_container(struct json *j, uint8_t c, struct vrs_error *err)
{
    j->w->at++;
    TRY(c == '{' ? build_empty_dict(&j->b, err) : build_empty_list(&j->b, err));
    TRY(build_mark(&j->b, err));
    if (!vec_push(&j->open, c))
        return vrs_no_memory(err);
    j->expect = c == '{' ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    return VRS_OK;
}

static enum vrs_status close_container(struct json *j, struct vrs_error *err)
{
    j->w->at++;
    if (j->open.at[--j->open.len] == '{') {
        TRY(build_setitems(&j->b, err));
    } else {
        TRY(build_appends(&j->b, err));
        build_whole(&j->b);
    }
    value_done(j);
    return VRS_OK;
}

static enum vrs_status read_value(struct json *j, uint8_t c, struct vrs_error *err)
{
    if (c == '{' || c == '[')
        return open_container(j, c, err);
    bool infinity = c == '-' && window_need(j->w, 2) && j->w->at[1] == 'I';
    if (c == '"')
        TRY(read_string(j, err));
    else if (!infinity && (c == '-' || (c >= '0' && c <= '9')))
        TRY(read_number(j, err));
    else
        TRY(read_word(j, err));
    value_done(j);
    return VRS_OK;
}

/* One token, which begins with `c`. */
static enum vrs_status read_token(struct json *j, uint8_t c, struct vrs_error *err)
{
    bool dict = j->open.len > 0 && j->open.at[j->open.len - 1] == '{';
    bool closes = j->open.len > 0 && c == (dict ? '}' : ']');
    switch (j->expect) {
    case EXPECT_VALUE_OR_END:
        if (closes)
            return close_container(j, err);
        return read_value(j, c, err);
    case EXPECT_VALUE:
        return read_value(j, c, err);
    case EXPECT_KEY_OR_END:
        if (closes)
            return close_container(j, err);
        break;
    case EXPECT_COMMA_OR_END:
        if (closes)
            return close_container(j, err);
        if (c != ',')
            return refuse(j, err);
        j->w->at++;
        j->expect = dict ? EXPECT_KEY : EXPECT_VALUE;
        return VRS_OK;
    case EXPECT_COLON:
        if (c != ':')
            return refuse(j, err);
        j->w->at++;
        j->expect = EXPECT_VALUE;
        return VRS_OK;
    case EXPECT_KEY:
    case EXPECT_NOTHING:
        break;
    }
    if (c != '"')
        return refuse(j, err);
    TRY(read_string(j, err));
    j->expect = EXPECT_COLON;
    return VRS_OK;
}

static enum vrs_status read_text(struct json *j, struct vrs_error *err)
{
    struct window *w = j->w;
    while (j->expect != EXPECT_NOTHING && !j->cut && window_need(w, 1)) {
        uint8_t c = *w->at;
        if (is_blank(c)) {
            w->at++;
            continue;
        }
        j->b.offset = window_offset(w);
        TRY(read_token(j, c, err));
    }
    if (j->expect == EXPECT_NOTHING && !j->cut)
        return build_finish(&j->b, err);
    TRY(window_status(w, err));
    j->b.offset = window_offset(w) + (uint64_t)(w->end - w->at);
    return build_cut(&j->b, err);
}

enum vrs_status read_json(struct window *w, const struct limits *limits, uint64_t *finished_records,
                          struct recording *r, struct vrs_error *err)
{
    struct json j = { .w = w, .limits = limits, .open.max = limits->nesting };
    r->origin.encoding = ENCODING_JSON;
    buf_init(&j.text, (size_t)limits->string_bytes + 8);
    enum vrs_status status = builder_init(&j.b, r, limits, finished_records, err);
    if (status == VRS_OK)
        status = read_text(&j, err);
    builder_free(&j.b);
    buf_free(&j.text);
    vec_free(&j.open);
    return status;
}
