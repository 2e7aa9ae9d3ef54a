/* from_json.c - tokens of JSON as what a pickle would do to the operand stack. */
#include "format/snapshot/from_json.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/number.h"
#include "base/str.h"
#include "format/json/reader.h"
#include "format/json/scan.h"
#include "format/snapshot/builder.h"

static enum vrs_status begin_object(void *self, uint64_t offset, struct vrs_error *err)
{
    struct builder *b = self;
    b->offset = offset;
    TRY(build_empty_dict(b, err));
    return build_mark(b, err);
}

static enum vrs_status end_object(void *self, uint64_t offset, struct vrs_error *err)
{
    struct builder *b = self;
    b->offset = offset;
    return build_setitems(b, err);
}

static enum vrs_status begin_array(void *self, uint64_t offset, struct vrs_error *err)
{
    struct builder *b = self;
    b->offset = offset;
    TRY(build_empty_list(b, err));
    return build_mark(b, err);
}

static enum vrs_status end_array(void *self, uint64_t offset, struct vrs_error *err)
{
    struct builder *b = self;
    b->offset = offset;
    TRY(build_appends(b, err));
    build_whole(b);
    return VRS_OK;
}

static enum vrs_status string(void *self, str text, uint64_t offset, struct vrs_error *err)
{
    struct builder *b = self;
    b->offset = offset;
    return build_string(b, text, err);
}

/* Every value is taken: what a dict is, and which of its keys count, is known when it closes. */
static enum vrs_status key(void *self, str text, uint64_t offset, bool *ret_take,
                           struct vrs_error *err)
{
    TRY(string(self, text, offset, err));
    *ret_take = true;
    return VRS_OK;
}

static enum vrs_status number(void *self, str text, uint64_t offset, struct vrs_error *err)
{
    struct builder *b = self;
    uint64_t bits;
    bool negative;
    double real;
    b->offset = offset;
    if (number_integer(text, &bits, &negative))
        return build_int(b, bits, negative, err);
    if (!number_real(text, &real))
        return vrs_fail_at(err, VRS_CORRUPT, offset, "not a number of JSON");
    return build_float(b, real, err);
}

static enum vrs_status literal(void *self, enum json_literal literal, uint64_t offset,
                               struct vrs_error *err)
{
    struct builder *b = self;
    b->offset = offset;
    return literal == JSON_NULL ? build_none(b, err) : build_bool(b, literal == JSON_TRUE, err);
}

static enum vrs_status read_value(struct window *w, struct builder *b, struct vrs_error *err)
{
    const struct json_sink sink = {
        .self = b,
        .kind = "memory snapshot",
        .begin_object = begin_object,
        .end_object = end_object,
        .begin_array = begin_array,
        .end_array = end_array,
        .key = key,
        .string = string,
        .number = number,
        .literal = literal,
    };
    struct json_end end;
    TRY(json_read(w, b->limits, &sink, &end, err));
    b->r->origin.bad_utf8 += end.lone_strings;
    if (!end.cut)
        return build_finish(b, err);
    b->offset = end.offset;
    return build_cut(b, err);
}

enum vrs_status snapshot_from_json(struct window *w, const struct limits *limits,
                                   uint64_t *finished_records, struct recording *r,
                                   struct vrs_error *err)
{
    struct builder b;
    r->origin.encoding = ENCODING_JSON;
    enum vrs_status status = builder_init(&b, r, limits, finished_records, err);
    if (status == VRS_OK)
        status = read_value(w, &b, err);
    builder_free(&b);
    return status;
}
