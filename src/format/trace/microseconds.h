/* microseconds.h - decimal microseconds, as traces have them, into integer nanoseconds. */
#ifndef VRS_FORMAT_TRACE_MICROSECONDS_H
#define VRS_FORMAT_TRACE_MICROSECONDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* A number such as 12, -0.5 or 1.7e3, blanks around it or not: rounded to the nearest nanosecond,
 * half of one away from 0, by decimal arithmetic alone.  One beyond 64 bits becomes the nearest
 * that has them, and `*ret_beyond`.  False where `text` is no such number. */
bool microseconds_read(str text, int64_t *ret_ns, bool *ret_beyond);

/* The same of a number as nearly all are, which fits: up to 16 digits, a point with up to three
 * more or none (`*ret_whole`).  False: microseconds_read tells. */
bool microseconds_read_plain(str text, int64_t *ret_ns, bool *ret_whole);

/* What stands in front of a point, and what the `digits` behind it are, NS_DIGITS at most.  False: it
 * does not fit. */
enum { NS_DIGITS = 3 };
bool microseconds_join(uint64_t whole, uint64_t part, size_t digits, int64_t *ret_ns);

#endif
