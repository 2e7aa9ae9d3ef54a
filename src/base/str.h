/* str.h - a slice of bytes that are text; not ended by a NUL and owned by somebody else. */
#ifndef VRS_BASE_STR_H
#define VRS_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct {
    const char *ptr;
    size_t len;
} str;

/* A text of the program itself, ended by a NUL: it lives as long as the program, and nobody frees
 * it. */
typedef const char *static_text;

#define S(literal) ((str){ (literal), sizeof(literal) - 1 })

static inline str str_from(const char *text)
{
    return (str){ text, strlen(text) };
}

static inline bool str_equal(str a, str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool str_starts(str s, str prefix)
{
    return s.len >= prefix.len && memcmp(s.ptr, prefix.ptr, prefix.len) == 0;
}

static inline bool str_ends(str s, str suffix)
{
    return s.len >= suffix.len && memcmp(s.ptr + s.len - suffix.len, suffix.ptr, suffix.len) == 0;
}

/* In every locale. */
static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Likewise: ASCII alone. */
static inline char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Byte order, the shorter first where one begins the other. */
int str_compare(str a, str b);

bool str_is_one_of(str s, const str *of, size_t count);
bool str_is_one_of_texts(str s, const static_text *of, size_t count);

/* Where `needle` first stands in `s`, or s.len. */
size_t str_find(str s, str needle);

/* What stands behind the last slash of a path; all of it where nothing does.  Ends where it ends.
 */
str str_base_name(str path);

/* A path for a message, which has room for PATH_SHOWN bytes of it: its last folders where it
 * is longer, the end of its name where that is.  Ends where it ends. */
enum { PATH_SHOWN = 100 };
str str_path_end(str path);

#endif
