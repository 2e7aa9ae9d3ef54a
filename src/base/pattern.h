/* pattern.h - one regular expression of PCRE2, compiled.
 *
 * Expressions and texts are bytes in every locale: `.` takes any byte, `$` holds at the end of the
 * text alone, and only ASCII letters have a case.  An expression may be a stranger's, so everything
 * about it is bounded: its length, the memory that it takes, the steps and the memory of a match.
 * Back references, recursion, callouts, verbs and \C are refused; \< and \> are taken as \b. */
#ifndef VRS_BASE_PATTERN_H
#define VRS_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "base/literals.h"
#include "base/str.h"

enum {
    PATTERN_BYTES_MOST = 4096,
    PATTERN_STEPS_MOST = 10 * 1000 * 1000, /* for one text, as many from each place of it */
    PATTERN_STEPS_LEAST = 50 * 1000        /* from each place of a long one */
};

/* Owned by whoever compiled it; stays where it was compiled. */
struct pattern {
    void *code;         /* of PCRE2 */
    size_t memory_left; /* of what compiling it may take */
    bool ignore_case;
    bool any_text;            /* it is ".": a text with a byte matches, and PCRE2 is not asked */
    struct literals literals; /* of the expression: a text without them is not shown to PCRE2 */
};

/* VRS_USAGE says what is wrong with an expression, and at which byte of it. */
enum vrs_status pattern_compile(struct pattern *p, str expression, bool ignore_case,
                                struct vrs_error *err) MUST_CHECK;
void pattern_free(struct pattern *p);

/* False: the pattern does not match the text of these trigrams.  Cheaper than pattern_matches where
 * many patterns are asked about one text. */
bool pattern_may_match(const struct pattern *p, const struct trigrams *of_text);

/* What PCRE2 writes into during a match.  A pattern may be asked by many threads at once, each with
 * a room of its own, which serves all patterns. */
struct pattern_room {
    void *limits, *data; /* of PCRE2 */
};

enum vrs_status pattern_room_make(struct pattern_room *ret, struct vrs_error *err) MUST_CHECK;
void pattern_room_free(struct pattern_room *room);

/* Does the pattern match somewhere in `text`?  VRS_LIMIT where that takes too many steps or too
 * much memory to find out: who asks says which expression it is. */
enum vrs_status pattern_matches(const struct pattern *p, const struct pattern_room *room, str text,
                                bool *ret, struct vrs_error *err) MUST_CHECK;

#endif
