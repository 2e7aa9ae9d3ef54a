/* pattern.h - one POSIX extended regular expression, compiled.
 *
 * Expressions and texts are bytes of the C locale, whatever the locale of the process: the same
 * text matches everywhere.  Owned by whoever compiled it. */
#ifndef VRS_BASE_PATTERN_H
#define VRS_BASE_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/str.h"

enum { NEEDLES_MOST = 8, NEEDLE_BYTES = 24, ELEMENTS_MOST = 2000, GROUPS_DEEPEST = 50 };

struct pattern {
    regex_t compiled;
    bool ignore_case;
    /* What matches has one of these in it, which is looked for first: the matcher takes fifty times
     * as long to say no.  In small letters where case is ignored; none: not known. */
    char needle[NEEDLES_MOST][NEEDLE_BYTES];
    uint32_t needles;
};

/* The C library's compiler writes repeats out and descends into groups, without an end: an
 * expression of fifty characters can take all memory, one of a megabyte the stack.  VRS_USAGE where
 * that is near. */
enum vrs_status pattern_admit(const char *expression, struct vrs_error *err) MUST_CHECK;

/* `expression` ends with a NUL.  VRS_USAGE says what is wrong with it. */
enum vrs_status pattern_compile(struct pattern *p, const char *expression, bool ignore_case,
                                struct vrs_error *err) MUST_CHECK;
void pattern_free(struct pattern *p);

/* Does it match somewhere in `text`, which ends with a NUL?  A failure of the matcher is no match.
 */
bool pattern_matches(const struct pattern *p, const char *text);

#endif
