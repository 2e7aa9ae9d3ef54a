/* field.c - the values of a row by the description of its members. */
#include "base/field.h"

#include <assert.h>
#include <string.h>

static uint64_t load_unsigned(const char *at, size_t bytes)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (bytes) {
    case 1:
        memcpy(&u8, at, 1);
        return u8;
    case 2:
        memcpy(&u16, at, 2);
        return u16;
    case 4:
        memcpy(&u32, at, 4);
        return u32;
    default:
        assert(bytes == 8);
        memcpy(&u64, at, 8);
        return u64;
    }
}

/* All bits of the number are set. */
static bool is_all_ones(uint64_t number, size_t bytes)
{
    return number == UINT64_MAX >> (8 - bytes) * 8;
}

static int64_t load_signed(const char *at, size_t bytes)
{
    uint64_t number = load_unsigned(at, bytes), sign = (uint64_t)1 << (bytes * 8 - 1);
    return (int64_t)((number ^ sign) - sign);
}

static void load_real(const struct field *f, const char *at, struct field_value *ret)
{
    memcpy(&ret->real, at, sizeof ret->real);
    ret->decimals = f->decimals;
    if (f->null == NULL_NEGATIVE)
        ret->known = ret->known && ret->real >= 0;
}

static void load_word(const char *at, struct field_value *ret)
{
    const char *word;
    memcpy(&word, at, sizeof word);
    ret->known = ret->known && word != NULL;
    ret->text = word == NULL ? (str){ NULL, 0 } : str_from(word);
}

static void load_name(const struct field *f, const char *at, struct field_value *ret)
{
    uint64_t index = load_unsigned(at, f->bytes);
    const char *name = index < f->name_count ? f->names[index] : NULL;
    ret->known = ret->known && name != NULL;
    ret->text = name == NULL ? (str){ NULL, 0 } : str_from(name);
}

static struct field_value load(const struct field *f, enum field_type type, const char *at)
{
    struct field_value v = { .known = true };
    switch (type) {
    case FIELD_BOOL:
    case FIELD_UNSIGNED:
    case FIELD_STACK:
        v.number = load_unsigned(at, f->bytes);
        if (f->null == NULL_ALL_ONES)
            v.known = !is_all_ones(v.number, f->bytes);
        break;
    case FIELD_SIGNED:
        v.integer = load_signed(at, f->bytes);
        v.known = f->null != NULL_NEGATIVE || v.integer >= 0;
        break;
    case FIELD_REAL:
        load_real(f, at, &v);
        break;
    case FIELD_TEXT:
        memcpy(&v.text, at, sizeof v.text);
        v.known = v.text.ptr != NULL;
        break;
    case FIELD_WORD:
        load_word(at, &v);
        break;
    case FIELD_NAME:
        load_name(f, at, &v);
        break;
    case FIELD_SENTENCE:
    case FIELD_ROW:
    case FIELD_INLINE:
    case FIELD_FREE:
    case FIELD_ROWS:
    case FIELD_VALUES:
    case FIELD_STACKS:
        assert(!"no plain value");
        break;
    }
    return v;
}

bool field_is_plain(enum field_type type)
{
    return type <= FIELD_STACK;
}

const struct row_type *field_row_type(const struct field *f, const struct row_type *result)
{
    return f->row == NULL ? result : f->row;
}

static bool has_value(const struct field *f, const void *row, const void *above)
{
    return f->when == NULL || f->when(row, above);
}

bool field_is_there(const struct field *f, const void *row, const void *above)
{
    return !f->optional || has_value(f, row, above);
}

const struct field *field_at(const struct row_type *type, size_t offset)
{
    uint32_t i = 0;
    while (i + 1 < type->fields && (type->field[i].make != NULL || type->field[i].offset != offset))
        i++;
    assert(type->field[i].make == NULL && type->field[i].offset == offset);
    return &type->field[i];
}

struct field_value field_value_of(const struct field *f, const void *row, const void *above,
                                  uint32_t limit)
{
    struct field_value none = { .known = false };
    if (!has_value(f, row, above))
        return none;
    if (f->make == NULL)
        return load(f, f->type, (const char *)row + f->offset);
    struct field_value made = { .known = true, .decimals = f->decimals };
    f->make(row, above, limit, &made);
    return made;
}

static const void *pointer_at(const char *at)
{
    const void *pointer;
    memcpy(&pointer, at, sizeof pointer);
    return pointer;
}

const void *field_row_of(const struct field *f, const void *row, const void *above)
{
    const char *at = (const char *)row + f->offset;
    if (!has_value(f, row, above))
        return NULL;
    return f->pointer ? pointer_at(at) : at;
}

const void *field_list_of(const struct field *f, const void *row, const void *above,
                          uint32_t *ret_count)
{
    static const char empty;
    const char *at = (const char *)row + f->offset;
    *ret_count = 0;
    if (!has_value(f, row, above))
        return NULL;
    if (f->fixed > 0) {
        *ret_count = f->fixed;
        return at;
    }
    memcpy(ret_count, (const char *)row + f->count_offset, sizeof *ret_count);
    if (f->in_place)
        return at;
    /* An empty list may have no rows to point to. */
    return *ret_count == 0 ? &empty : pointer_at(at);
}

struct field_value field_element_of(const struct field *f, const void *list, uint32_t i)
{
    return load(f, f->of, (const char *)list + i * f->bytes);
}
