/* reader.h - JSON text (RFC 8259) as tokens, each handed to a sink as soon as it is read.
 *
 *     {"a": [1.5, null]}     begin_object, key "a", begin_array, number "1.5", literal null,
 *                            end_array, end_object
 *
 * The reader knows the grammar and keeps only what is open.  What a token means, and what becomes
 * of it, is the sink's business; so is the value of a number (base/number.h). */
#ifndef VRS_FORMAT_JSON_READER_H
#define VRS_FORMAT_JSON_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/str.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "format/json/scan.h"

/* Who takes the tokens.  `offset` is where a token begins in the input.  Text is only there until
 * the function returns.  What a function fails with ends the reading.  A function that is NULL:
 * such tokens are checked and dropped, and without `key` every value is taken. */
struct json_sink {
    void *self;
    const char *kind; /* what the text should hold, for messages: "memory snapshot" */
    enum vrs_status (*begin_object)(void *self, uint64_t offset, struct vrs_error *err);
    enum vrs_status (*end_object)(void *self, uint64_t offset, struct vrs_error *err);
    /* At the "{" of an element of a list, which `w` shows.  May read it itself, and those behind it:
     * `w` then stands behind the last that it read, all of which is well formed and inside the
     * limits; else where it stood. */
    enum vrs_status (*elements)(void *self, struct window *w, struct vrs_error *err);
    enum vrs_status (*begin_array)(void *self, uint64_t offset, struct vrs_error *err);
    enum vrs_status (*end_array)(void *self, uint64_t offset, struct vrs_error *err);
    /* `*ret_take`: whether the value behind the key is handed on.  What is not is still checked. */
    enum vrs_status (*key)(void *self, str key, uint64_t offset, bool *ret_take,
                           struct vrs_error *err);
    enum vrs_status (*string)(void *self, str text, uint64_t offset, struct vrs_error *err);
    /* A number of JSON as it is written, shorter than 400 bytes. */
    enum vrs_status (*number)(void *self, str text, uint64_t offset, struct vrs_error *err);
    /* A key or a string follows whose escapes have half of a surrogate pair: U+FFFD stands there. */
    void (*lone)(void *self, uint64_t offset);
    enum vrs_status (*literal)(void *self, enum json_literal literal, uint64_t offset,
                               struct vrs_error *err);
};

/* How the reading ended. */
struct json_end {
    bool cut;              /* the input ends inside the value; all of its whole tokens came */
    bool at_value;         /* and between two tokens, behind a comma or a colon */
    uint64_t offset;       /* behind the value, or the end of the input */
    uint64_t lone_strings; /* handed on with U+FFFD for half of a surrogate pair */
};

/* Hands one JSON value to `sink`.  `w` stands at its first byte, or at white space before it, and
 * then behind its last.  Containers inside each other and bytes of a string have limits. */
enum vrs_status json_read(struct window *w, const struct limits *limits,
                          const struct json_sink *sink, struct json_end *ret,
                          struct vrs_error *err) MUST_CHECK;

/* The same inside containers that an earlier call began: "{[", the outermost first, is a list in an
 * object.  `w` stands behind a value of the innermost, or where one may begin or the container end;
 * afterwards behind the end of the outermost. */
enum json_at { JSON_BEHIND_VALUE, JSON_AT_VALUE_OR_END };
enum vrs_status json_read_inside(struct window *w, const struct limits *limits,
                                 const struct json_sink *sink, str open, enum json_at at,
                                 struct json_end *ret, struct vrs_error *err) MUST_CHECK;

#endif
