/* pattern.h - one POSIX extended regular expression, compiled.
 *
 * Expressions and texts are bytes of the C locale, whatever the locale of the process: the same
 * text matches everywhere.  Owned by whoever compiled it. */
#ifndef VRS_BASE_PATTERN_H
#define VRS_BASE_PATTERN_H

#include "base/automaton.h"
#include "base/fail.h"
#include "base/str.h"

enum { NEEDLES_MOST = 8, NEEDLE_BYTES = 24 };

struct pattern {
    struct automaton automaton;
    bool ignore_case;
    /* What matches has one of these in it, which is looked for first: the automaton takes fifty
     * times as long to say no.  In small letters where case is ignored; none: not known. */
    char needle[NEEDLES_MOST][NEEDLE_BYTES];
    uint32_t needles;
};

/* `expression` ends with a NUL.  VRS_USAGE says what is wrong with it. */
enum vrs_status pattern_compile(struct pattern *p, const char *expression, bool ignore_case,
                                struct vrs_error *err) MUST_CHECK;
void pattern_free(struct pattern *p);

/* Does it match somewhere in `text`, which ends with a NUL?  Takes time by the product of both
 * lengths, at most. */
bool pattern_matches(const struct pattern *p, const char *text);

#endif
