/* held_names.h - the names that the recorded process gave to memory, as rows of answers show them.
 */
#ifndef VRS_ANALYSIS_SNAPSHOT_STUDY_HELD_NAMES_H
#define VRS_ANALYSIS_SNAPSHOT_STUDY_HELD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"
#include "model/recording.h"

/* As many are shown of a row, the largest, and so much of each text: a file may have any. */
enum { HELD_NAMES = 5, HELD_NAME_BYTES_MAX = 1024 };

extern const char *const named_kind_names[NAMED_KINDS];

/* Texts have no ptr where they are not known. */
struct held_name {
    str name, dtype, shape;
    const char *kind;
    uint64_t bytes;           /* of the tensor, which its allocation may exceed, and a block more */
    uint64_t requested_bytes; /* of its allocation; UNKNOWN_U64 */
};

/* What of some memory has a name. */
struct held_names {
    struct held_name *at; /* larger first, then as allocated */
    uint32_t shown;
    bool alike;            /* all have one dtype and one shape */
    uint64_t count, bytes; /* of all that have one; see held_name_bytes */
};

/* What a name counts with, in sums and in text: the request, as rows of answers do, else the tensor.
 */
uint64_t held_name_bytes(const struct held_name *name);

/* Of a struct held_name. */
extern const struct row_type held_name_row_type;

/* Members of a row that has a struct held_names called `member`; left out where nothing has a name.
 * `when` asks just that. */
#define HELD_NAMES_FIELDS(type, member, has)                                                         \
    {                                                                                                \
        "named_bytes",                                                                               \
        NULL,                                                                                        \
        UNIT_BYTES,                                                                                  \
        FIELD_UNSIGNED,                                                                              \
        FIELD_AT(type, member.bytes),                                                                \
        .when = has,                                                                                 \
        .optional = true                                                                             \
    },                                                                                               \
        { "named_count", NULL,        UNIT_COUNT,      FIELD_UNSIGNED, FIELD_AT(type, member.count), \
          .least = 1,    .when = has, .optional = true },                                            \
    {                                                                                                \
        "tensors", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(type, member.at, member.shown),           \
            .row = &held_name_row_type, .when = has, .optional = true                                \
    }

/* Adds up what has a name, one allocation after the other. */
struct names_sum {
    const struct recording *r;
    uint32_t row[HELD_NAMES]; /* of named, the largest */
    uint32_t shown;
    bool differ; /* in dtype or shape */
    uint64_t count, bytes;
};

void names_sum_add(struct names_sum *sum, uint32_t allocation);

/* A copy that lives in another arena. */
enum vrs_status held_names_keep(const struct held_names *from, struct arena *arena,
                                struct held_names *ret, struct vrs_error *err) MUST_CHECK;

/* In `arena`. */
enum vrs_status names_sum_end(const struct names_sum *sum, struct arena *arena,
                              struct held_names *ret, struct vrs_error *err) MUST_CHECK;

#endif
