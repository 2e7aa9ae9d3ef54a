/* result_column.c - the rows of an answer as columns, found by the names that JSON has.
 *
 * A name is a path of members, as "devices.result.sites.slope_bytes": all rows of that list in all
 * files and devices stand behind each other, and the column of the list itself says by offsets
 * which of them belong to which row above.  Columns are made when they are first asked for. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "api/result.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/strings.h"
#include "render/answer/answer.h"
#include "render/answer/document.h"
#include "render/answer/fields.h"
#include "render/write/json.h"
#include "render/write/out.h"
#include "vramscope/vramscope.h"

enum { PATH_MOST = 12 };

/* What stands at a path: a member, or a part of one that has no field of its own. */
enum part {
    PART_FIELD,
    PART_VALUE,      /* the elements of FIELD_VALUES */
    PART_FRAMES,     /* the lists of FIELD_STACKS */
    PART_FRAME_VALUE /* the frames in them */
};

struct result_column {
    const char *name; /* in the arena of the result */
    struct vrs_span span;
    struct result_column *next;
};

/* The walk to one column. */
struct walk {
    const struct vrs_result *result;
    const struct field *step[PATH_MOST];
    uint32_t steps;
    enum part part;
    enum vrs_type type;
    size_t width;
    bool of_set; /* the members are those of the set, not of a file */
    uint64_t count;
    /* NULL while the rows are counted. */
    char *data;
    uint8_t *valid;    /* NULL where null has a value of its own */
    uint64_t children; /* rows of the list so far */
    struct strings *strings;
    struct buf text;
    bool failed;
};

/* The member of a row, or of one whose members stand among its own, which is then a step too. */
static const struct field *member(struct walk *w, const struct row_type *type, str name)
{
    for (uint32_t i = 0; type != NULL && i < type->fields; i++) {
        const struct field *f = &type->field[i];
        if (f->type != FIELD_INLINE && str_equal(str_from(f->name), name))
            return f;
        if (f->type != FIELD_INLINE || w->steps == PATH_MOST)
            continue;
        uint32_t steps = w->steps;
        w->step[w->steps++] = f;
        const struct field *inner = member(w, f->row, name);
        if (inner != NULL)
            return inner;
        w->steps = steps;
    }
    return NULL;
}

/* The part that a name means inside a field without a row type. */
static bool part_of(struct walk *w, const struct field *f, str name, str rest)
{
    bool last = rest.len == 0;
    if (f->type == FIELD_VALUES && last && str_equal(name, S("value")))
        w->part = PART_VALUE;
    else if (f->type == FIELD_STACKS && last && str_equal(name, S("frames")))
        w->part = PART_FRAMES;
    else if (f->type == FIELD_STACKS && str_equal(name, S("frames")) && str_equal(rest, S("value")))
        w->part = PART_FRAME_VALUE;
    else
        return false;
    return true;
}

/* Splits the first word off. */
static str first_word(str *rest)
{
    size_t dot = str_find(*rest, S("."));
    str word = { rest->ptr, dot };
    size_t next = dot < rest->len ? dot + 1 : dot;
    *rest = (str){ rest->ptr + next, rest->len - next };
    return word;
}

static bool find_path(struct walk *w, str name)
{
    const struct answer_kind *kind = w->result->set.kind;
    str rest = name, word = first_word(&rest);
    w->steps = 0;
    const struct field *f = w->result->set.more == NULL ? NULL : member(w, kind->set, word);
    w->of_set = f != NULL;
    if (f == NULL)
        f = member(w, kind->document, word);
    while (f != NULL && w->steps < PATH_MOST) {
        w->step[w->steps++] = f;
        if (rest.len == 0)
            return true;
        word = first_word(&rest);
        if (f->type != FIELD_ROW && f->type != FIELD_ROWS)
            return part_of(w, f, word, rest);
        f = member(w, field_row_type(f, w->result->set.kind->result), word);
    }
    return false;
}

static enum vrs_type unsigned_type(size_t bytes)
{
    return bytes == 1 ? VRS_U8 : bytes == 2 ? VRS_U16 : bytes == 4 ? VRS_U32 : VRS_U64;
}

static enum vrs_type plain_type(enum field_type type, size_t bytes)
{
    switch (type) {
    case FIELD_BOOL:
        return VRS_U8;
    case FIELD_UNSIGNED:
        return bytes == 0 ? VRS_U64 : unsigned_type(bytes);
    case FIELD_SIGNED:
        return VRS_I64;
    case FIELD_REAL:
        return VRS_F64;
    case FIELD_STACK:
        return VRS_U32;
    case FIELD_ROW:
    case FIELD_INLINE:
        return VRS_U8;
    case FIELD_ROWS:
    case FIELD_VALUES:
    case FIELD_STACKS:
        return VRS_LIST;
    case FIELD_TEXT:
    case FIELD_WORD:
    case FIELD_NAME:
    case FIELD_SENTENCE:
    case FIELD_FREE:
        break;
    }
    return VRS_STRINGS;
}

static void choose_type(struct walk *w)
{
    static const size_t widths[] = {
        [VRS_U8] = 1,  [VRS_U16] = 2, [VRS_U32] = 4,     [VRS_U64] = 8,
        [VRS_I64] = 8, [VRS_F64] = 8, [VRS_STRINGS] = 4, [VRS_LIST] = 8,
    };
    const struct field *f = w->step[w->steps - 1];
    switch (w->part) {
    case PART_FIELD:
        w->type = plain_type(f->type, f->make == NULL ? f->bytes : 0);
        break;
    case PART_VALUE:
        w->type = plain_type(f->of, f->bytes);
        break;
    case PART_FRAMES:
        w->type = VRS_LIST;
        break;
    case PART_FRAME_VALUE:
        w->type = VRS_STRINGS;
        break;
    }
    w->width = widths[w->type];
}

/* Appends a value of at most 8 bytes. */
static void put(struct walk *w, const void *value, bool known)
{
    if (w->data != NULL) {
        memcpy(w->data + w->count * w->width, value, w->width);
        if (w->valid != NULL)
            w->valid[w->count] = known;
    }
    w->count++;
}

static void put_text(struct walk *w, str text, bool known)
{
    string_id id = { UINT32_MAX };
    if (w->data != NULL && known && !strings_intern(w->strings, text, &id))
        w->failed = true;
    put(w, &id.n, known);
}

static void put_number(struct walk *w, uint64_t number, bool known)
{
    if (!known)
        number = UINT64_MAX;
    uint8_t u8 = (uint8_t)number;
    uint16_t u16 = (uint16_t)number;
    uint32_t u32 = (uint32_t)number;
    put(w,
        w->width == 1   ? (const void *)&u8
        : w->width == 2 ? (const void *)&u16
        : w->width == 4 ? (const void *)&u32
                        : (const void *)&number,
        known);
}

static void put_value(struct walk *w, const struct field_value *v)
{
    if (w->type == VRS_STRINGS)
        put_text(w, v->text, v->known);
    else if (w->type == VRS_I64)
        put(w, &(int64_t){ v->known ? v->integer : 0 }, v->known);
    else if (w->type == VRS_F64)
        put(w, &(double){ v->known ? v->real : 0 }, v->known);
    else
        put_number(w, v->number, v->known);
}

/* Where a list begins among the rows of all; the last one's end follows at the end. */
static void put_list(struct walk *w, uint32_t count, bool known)
{
    put(w, &w->children, known);
    w->children += count;
}

/* The place of a stack among the texts of its answer. */
static void put_stack(struct walk *w, const struct field_value *v, const struct stack_texts *texts)
{
    uint32_t place = v->known && texts != NULL
                         ? stack_texts_place(texts, (stack_id){ (uint32_t)v->number })
                         : UINT32_MAX;
    put_number(w, place, place != UINT32_MAX);
}

static void put_sentence(struct walk *w, const struct field *f, const void *row)
{
    w->text.len = 0;
    bool any = row != NULL && w->result->set.kind->sentence(&w->text, f, row);
    w->failed = w->failed || w->text.failed;
    put_text(w, buf_slice(&w->text), any);
}

static void put_values(struct walk *w, const struct field *f, const void *row, const void *above)
{
    uint32_t count = 0;
    const void *list = row == NULL ? NULL : field_list_of(f, row, above, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct field_value v = field_element_of(f, list, i);
        put_value(w, &v);
    }
}

static void put_frames(struct walk *w, const struct stack_texts *texts)
{
    for (uint32_t i = 0; i < texts->stacks; i++) {
        uint32_t from = texts->first[i], to = texts->first[i + 1];
        if (w->part == PART_FRAMES)
            put_list(w, to - from, true);
        for (uint32_t k = from; w->part == PART_FRAME_VALUE && k < to; k++)
            put_text(w, texts->frame[texts->line[k]], true);
    }
}

/* As the text of its JSON. */
static void put_free(struct walk *w, const struct field *f, const void *row, const void *above)
{
    const struct field_free *free = row == NULL ? NULL : field_row_of(f, row, above);
    bool known = free != NULL && free->type != NULL;
    struct out out = out_into(&w->text);
    struct json j;
    w->text.len = 0;
    if (known) {
        json_start(&j, &out.text);
        const struct fields_json as = { &j, &out, w->result->set.kind, NULL, UINT32_MAX };
        fields_object(&as, NULL, free->type, free->row, row);
    }
    out_into_end(&out);
    w->failed = w->failed || w->text.failed;
    put_text(w, buf_slice(&w->text), known);
}

/* The member itself, of a row that may be null. */
static void put_field(struct walk *w, const struct field *f, const void *row, const void *above,
                      const struct stack_texts *texts)
{
    struct field_value none = { .known = false };
    uint32_t count = 0;
    const void *list;
    switch (f->type) {
    case FIELD_FREE:
        put_free(w, f, row, above);
        break;
    case FIELD_ROW:
    case FIELD_INLINE:
        put_number(w, row != NULL && field_row_of(f, row, above) != NULL, true);
        break;
    case FIELD_ROWS:
    case FIELD_VALUES:
        list = row == NULL ? NULL : field_list_of(f, row, above, &count);
        put_list(w, count, list != NULL);
        break;
    case FIELD_STACKS:
        put_list(w, row == NULL ? 0 : texts->stacks, row != NULL);
        break;
    case FIELD_SENTENCE:
        put_sentence(w, f, row);
        break;
    case FIELD_BOOL:
    case FIELD_UNSIGNED:
    case FIELD_SIGNED:
    case FIELD_REAL:
    case FIELD_TEXT:
    case FIELD_WORD:
    case FIELD_NAME:
    case FIELD_STACK:
        if (row != NULL)
            none = field_value_of(f, row, above, UINT32_MAX);
        if (f->type == FIELD_STACK)
            put_stack(w, &none, texts);
        else
            put_value(w, &none);
        break;
    }
}

static void visit_end(struct walk *w, const void *row, const void *above,
                      const struct stack_texts *texts)
{
    const struct field *f = w->step[w->steps - 1];
    switch (w->part) {
    case PART_FIELD:
        put_field(w, f, row, above, texts);
        break;
    case PART_VALUE:
        put_values(w, f, row, above);
        break;
    case PART_FRAMES:
    case PART_FRAME_VALUE:
        if (row != NULL && texts != NULL)
            put_frames(w, texts);
        break;
    }
}

/* From a row down to the end of the path; the path is short, and so is the recursion. */
static void visit(struct walk *w, uint32_t at, const void *row, const void *above,
                  const struct stack_texts *texts)
{
    const struct field *f = w->step[at];
    if (at + 1 == w->steps) {
        visit_end(w, row, above, texts);
        return;
    }
    if (f->type == FIELD_ROW || f->type == FIELD_INLINE) {
        visit(w, at + 1, row == NULL ? NULL : field_row_of(f, row, above), row, texts);
        return;
    }
    uint32_t count = 0;
    const char *list = row == NULL ? NULL : field_list_of(f, row, above, &count);
    for (uint32_t i = 0; i < count; i++)
        visit(w, at + 1, list + i * field_row_type(f, w->result->set.kind->result)->size, row,
              texts);
}

static void visit_all(struct walk *w)
{
    const struct answer_set *set = &w->result->set;
    w->count = w->children = 0;
    if (w->of_set) {
        visit(w, 0, set->more, NULL, NULL);
    } else {
        for (uint32_t i = 0; i < set->count; i++) {
            const char *answer = (const char *)set->answers + i * set->kind->document->size;
            visit(w, 0, answer, NULL, document_stacks(set->kind->document, answer));
        }
    }
    if (w->type == VRS_LIST)
        put(w, &w->children, true);
}

static enum vrs_status fill(struct walk *w, struct arena *arena, struct vrs_span *ret,
                            struct vrs_error *err)
{
    visit_all(w);
    uint64_t count = w->count;
    bool own_null = w->type != VRS_I64 && w->type != VRS_F64 && w->type != VRS_LIST;
    w->data = arena_take_array(arena, count, w->width);
    w->valid = own_null ? NULL : arena_take_array(arena, count, 1);
    if (w->data == NULL || (!own_null && w->valid == NULL))
        return vrs_no_memory(err);
    visit_all(w);
    if (w->failed)
        return vrs_no_memory(err);
    *ret = (struct vrs_span){ w->data, count, w->type, w->valid };
    return VRS_OK;
}

static enum vrs_status make_column(struct vrs_result *result, const char *name,
                                   struct vrs_span *ret, struct vrs_error *err)
{
    struct walk w = { .result = result, .strings = &result->strings };
    if (result->set.kind->document == NULL || !find_path(&w, str_from(name)))
        return vrs_fail(err, VRS_USAGE,
                        "this answer has no column \"%.80s\"; vrs_result_column_name lists all",
                        name);
    choose_type(&w);
    if (!result->has_strings && !strings_init(&result->strings, UINT32_MAX)) {
        strings_free(&result->strings);
        return vrs_no_memory(err);
    }
    result->has_strings = true;
    buf_init(&w.text, SIZE_MAX / 2);
    enum vrs_status status = fill(&w, result->arena, ret, err);
    buf_free(&w.text);
    return status;
}

enum vrs_status vrs_result_column(struct vrs_result *result, const char *name, struct vrs_span *ret,
                                  struct vrs_error *err)
{
    for (const struct result_column *c = result->column; c != NULL; c = c->next)
        if (str_equal(str_from(c->name), str_from(name))) {
            *ret = c->span;
            return VRS_OK;
        }
    struct result_column *made = arena_take(result->arena, sizeof *made);
    str kept = arena_copy(result->arena, str_from(name));
    if (made == NULL || kept.ptr == NULL)
        return vrs_no_memory(err);
    TRY(make_column(result, name, &made->span, err));
    made->name = kept.ptr;
    made->next = result->column;
    result->column = made;
    *ret = made->span;
    return VRS_OK;
}

const char *vrs_result_string(const struct vrs_result *result, uint32_t id, size_t *ret_len)
{
    *ret_len = 0;
    if (!result->has_strings || id >= result->strings.rows.len)
        return NULL;
    str text = strings_text(&result->strings, (string_id){ id });
    *ret_len = text.len;
    return text.ptr;
}

/* The names of all columns in the order of the document, until the wanted one is reached. */
struct naming_walk {
    const struct vrs_result *result;
    const struct row_type *shadow; /* the set's members, whose names mean those; or NULL */
    uint32_t left;
    struct buf name;
    bool found;
};

static bool reached(struct naming_walk *n, const char *part)
{
    size_t len = n->name.len;
    if (part != NULL)
        buf_format(&n->name, ".%s", part);
    n->found = n->left == 0;
    n->left--;
    if (!n->found)
        n->name.len = len;
    return n->found;
}

static bool name_parts(struct naming_walk *n, const struct field *f)
{
    if (f->type == FIELD_VALUES)
        return reached(n, "value");
    if (f->type == FIELD_STACKS)
        return reached(n, "frames") || reached(n, "frames.value");
    return false;
}

static bool has_member(const struct row_type *type, const char *name)
{
    for (uint32_t i = 0; i < type->fields; i++)
        if (str_equal(str_from(type->field[i].name), str_from(name)))
            return true;
    return false;
}

static void name_fields(struct naming_walk *n, const struct row_type *type, uint32_t depth)
{
    size_t len = n->name.len;
    for (uint32_t i = 0; type != NULL && depth < PATH_MOST && !n->found && i < type->fields; i++) {
        const struct field *f = &type->field[i];
        n->name.len = len;
        if (f->type == FIELD_INLINE) {
            name_fields(n, f->row, depth);
            continue;
        }
        if (depth == 0 && n->shadow != NULL && has_member(n->shadow, f->name))
            continue;
        buf_format(&n->name, "%s%s", len == 0 ? "" : ".", f->name);
        if (reached(n, NULL) || name_parts(n, f))
            return;
        if (f->type == FIELD_ROW || f->type == FIELD_ROWS)
            name_fields(n, field_row_type(f, n->result->set.kind->result), depth + 1);
    }
}

const char *vrs_result_column_name(struct vrs_result *result, uint32_t i)
{
    struct naming_walk n = { .result = result, .left = i };
    const char *kept = NULL;
    buf_init(&n.name, 1 << 16);
    if (result->set.more != NULL) {
        name_fields(&n, result->set.kind->set, 0);
        n.shadow = result->set.kind->set;
    }
    if (!n.found) {
        n.name.len = 0;
        name_fields(&n, result->set.kind->document, 0);
    }
    if (n.found && !n.name.failed)
        kept = arena_copy(result->arena, buf_slice(&n.name)).ptr;
    buf_free(&n.name);
    return kept;
}
