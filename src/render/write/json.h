/* json.h - writes JSON, one member or element at a time.
 *
 * Objects and arrays stand on lines of their own, unless opened as a line: then they and all in
 * them share one, which is what rows of tables want.  Output is plain to read in a terminal:
 * control characters and the marks that turn the direction of text are always escaped. */
#ifndef VRS_RENDER_WRITE_JSON_H
#define VRS_RENDER_WRITE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum { JSON_DEPTH = 16 };

struct json {
    struct buf *out;
    uint32_t depth;
    str name; /* see json_name */
    struct {
        char close;
        bool line, empty;
    } level[JSON_DEPTH + 1];
};

void json_start(struct json *j, struct buf *out);
void json_finish(struct json *j); /* the newline at the end; all levels must be closed */

/* `key` is NULL for elements of arrays and for the top value. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_line_object(struct json *j, const char *key);
void json_line_array(struct json *j, const char *key);
void json_close(struct json *j);

/* The next member, given with a `key` of NULL, is called so; the text lives until then. */
void json_name(struct json *j, str name);

void json_str(struct json *j, const char *key, str value); /* ptr NULL: null */
void json_text(struct json *j, const char *key, const char *value);
void json_raw(struct json *j, const char *key, str json); /* a value that is JSON already */
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

/* Fixed decimals (at most 9), half to even, with a point in every locale; null when not finite or
 * too large to be worth a number. */
void json_fixed(struct json *j, const char *key, double value, uint32_t decimals);

/* UINT64_MAX, "not known", as null; the same of what is below 0 where it is signed. */
void json_known(struct json *j, const char *key, uint64_t value);
void json_known_i64(struct json *j, const char *key, int64_t value);
void json_known_fixed(struct json *j, const char *key, double value, uint32_t decimals);

#endif
