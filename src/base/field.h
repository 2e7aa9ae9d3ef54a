/* field.h - the members of a row, described once for everybody who shows rows.
 *
 * A row is a C struct that an analysis fills.  An array of fields says what of it is shown: the
 * writer of JSON, tables for people, CSV and the columns of the public interface all read the same
 * array, which stands beside the struct; a test compares the schemas with it.
 *
 *     static const struct field phase_fields[] = {
 *         { "step", "step", UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct phase_row, step),
 *           .least = 1, .when = is_in_step },
 *         ...
 *     };
 *     const struct row_type phase_row_type = ROW_TYPE("phase", struct phase_row, phase_fields);
 *
 * A value that is not known is null, never 0: `null` says which value means that, or `when` decides
 * by the row. */
#ifndef VRS_BASE_FIELD_H
#define VRS_BASE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* What a number counts; it decides how people are shown it. */
enum field_unit {
    UNIT_NONE,
    UNIT_BYTES,
    UNIT_COUNT,
    UNIT_NUMBER, /* a name, such as that of a step: to be typed again */
    UNIT_EVENT,  /* a place in the trace */
    UNIT_RATIO,
    UNIT_US,
    UNIT_NS,
    UNIT_BYTE_EVENTS,
    UNIT_ADDRESS /* of memory; or a handle, such as that of a stream */
};

enum field_type {
    /* Plain ones, up to FIELD_STACK: see field_is_plain. */
    FIELD_BOOL,
    FIELD_UNSIGNED, /* of 1, 2, 4 or 8 bytes, as FIELD_SIGNED */
    FIELD_SIGNED,
    FIELD_REAL,     /* double */
    FIELD_TEXT,     /* str; ptr NULL is null */
    FIELD_WORD,     /* const char *, static; NULL is null */
    FIELD_NAME,     /* a number that is an index into `names`; null where there is no name */
    FIELD_STACK,    /* stack_id: the number of a stack among those of the answer, or null */
    FIELD_SENTENCE, /* words that the renderer of the answer makes of the row */
    FIELD_ROW,      /* an object: a row in place, or by a pointer (`pointer`); NULL is null */
    FIELD_INLINE,   /* the same, its members standing among those of this row; it has no name */
    FIELD_FREE,     /* an object of whatever type the row says: a struct field_free */
    FIELD_ROWS,     /* an array of objects: a pointer to rows and their number */
    FIELD_VALUES,   /* an array of plain values of the type `of`: likewise */
    FIELD_STACKS    /* an array of those that fields of FIELD_STACK name, each an array of frames */
};

/* Which values are null, besides what `when` says. */
enum field_null {
    NULL_NEVER,
    NULL_ALL_ONES, /* of unsigned numbers: UNKNOWN_U64 */
    NULL_NEGATIVE  /* of signed and real ones */
};

/* What a field is worth in one row. */
struct field_value {
    bool known; /* else null, and all below means nothing */
    uint64_t number;
    int64_t integer;
    double real;
    uint8_t decimals; /* of `real` */
    str text;
};

struct field;

/* Whether a row has a value here.  `above` is the row that holds this one; NULL at the top. */
typedef bool field_when(const void *row, const void *above);

/* A value that no member holds; of limited lists so many rows are shown. */
typedef void field_make(const void *row, const void *above, uint32_t limit,
                        struct field_value *ret);

struct row_type {
    const char *name; /* that of the schema's definition */
    const struct field *field;
    uint32_t fields;
    size_t size;
    bool line;  /* JSON keeps the object on one line */
    bool tuple; /* JSON shows the values alone, as an array */
    bool keyed; /* a list of them is an object in JSON: the first field is the name of a member, the
                 * next that is there its value */
};

struct field {
    const char *name;    /* the JSON member */
    const char *heading; /* above its column in a table for people; NULL: it stands in none */
    enum field_unit unit;
    enum field_type type;
    size_t offset;    /* of the value, the row or the pointer to rows */
    size_t bytes;     /* of the value in the struct; of FIELD_VALUES by a pointer: of one value */
    int64_t least;    /* no value is below; of signed and real numbers where `bounded` */
    field_when *when; /* NULL: always */
    const struct row_type *row; /* NULL: the type of the answer's own result */
    const char *const *names;
    uint32_t name_count;
    enum field_type of;  /* of FIELD_VALUES */
    uint8_t sentence;    /* of FIELD_SENTENCE: which, where a row has several */
    size_t count_offset; /* of the number of rows or values, a uint32_t */
    uint32_t fixed;      /* so many rows or values stand in place, all of them shown */
    bool in_place;       /* those that are counted stand in place; else behind a pointer */
    field_make *make;    /* NULL: `offset` has the value */
    uint8_t decimals;    /* of FIELD_REAL */
    enum field_null null;
    bool bounded;
    bool optional; /* where `when` says no the member is left out instead of null */
    bool pointer;
    bool limited; /* a list that -n cuts */
    bool table;   /* the list whose rows CSV shows, one of a kind of answer */
    /* The column of CSV that has the member in front of the rows below, whose they are; NULL: none.
     */
    const char *place;
    bool line; /* JSON keeps the array on one line */
};

/* The offset and the size of a member. */
#define FIELD_AT(type, member)                                                                     \
    .offset = offsetof(type, member), .bytes = sizeof(((type *)0)->member)
/* Rows or values behind a pointer, `count` of them. */
#define FIELD_LIST(type, member, count)                                                            \
    .offset = offsetof(type, member), .bytes = sizeof(*((type *)0)->member),                       \
    .count_offset = offsetof(type, count)
/* Rows or values in place, `count` of them. */
#define FIELD_PLACES(type, member, count)                                                          \
    .offset = offsetof(type, member), .bytes = sizeof(((type *)0)->member[0]),                     \
    .count_offset = offsetof(type, count), .in_place = true
/* Rows or values in place, as many as the array has. */
#define FIELD_ARRAY(type, member)                                                                  \
    .offset = offsetof(type, member), .bytes = sizeof(((type *)0)->member[0]),                     \
    .fixed = sizeof(((type *)0)->member) / sizeof(((type *)0)->member[0])
/* The names of an enumeration, an array. */
#define FIELD_NAMES(array) .names = (array), .name_count = sizeof(array) / sizeof(array)[0]

#define ROW_TYPE(title, type, array)                                                               \
    {                                                                                              \
        .name = (title), .field = (array), .fields = sizeof(array) / sizeof(array)[0],             \
        .size = sizeof(type)                                                                       \
    }
#define LINE_ROW_TYPE(title, type, array)                                                          \
    {                                                                                              \
        .name = (title), .field = (array), .fields = sizeof(array) / sizeof(array)[0],             \
        .size = sizeof(type), .line = true                                                         \
    }

/* An object whose type is not the same in every row; `type` NULL is null. */
struct field_free {
    const struct row_type *type;
    const void *row;
};

/* Whether it is one value, which field_value_of gives. */
bool field_is_plain(enum field_type type);

/* Of FIELD_ROW, FIELD_INLINE and FIELD_ROWS: the type of the rows; `result` is that of the answer.
 */
const struct row_type *field_row_type(const struct field *f, const struct row_type *result);

/* Whether the member stands in this row at all: one that is optional may not. */
bool field_is_there(const struct field *f, const void *row, const void *above);

/* The field of the type whose value is the member at this offset; there is one. */
const struct field *field_at(const struct row_type *type, size_t offset);

/* Of a plain type, which FIELD_SENTENCE is not: its value. */
struct field_value field_value_of(const struct field *f, const void *row, const void *above,
                                  uint32_t limit);

/* Of FIELD_ROW: the row; NULL: null. */
const void *field_row_of(const struct field *f, const void *row, const void *above);

/* Of FIELD_ROWS and FIELD_VALUES: the first, and how many; NULL: null. */
const void *field_list_of(const struct field *f, const void *row, const void *above,
                          uint32_t *ret_count);

/* The i-th of FIELD_VALUES. */
struct field_value field_element_of(const struct field *f, const void *list, uint32_t i);

#endif
