/* literals.h - substrings of which a text must have one for an expression to match it.
 *
 * Of each alternative its longest run of plain bytes: looking for these takes a fraction of asking
 * PCRE2, and most texts have none.  Where an alternative has no such run, or the expression is not
 * as plainly read, there are none, and any text may match. */
#ifndef VRS_BASE_LITERALS_H
#define VRS_BASE_LITERALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum {
    LITERALS_MOST = 16,
    LITERAL_BYTES_LEAST = 3,
    LITERAL_BYTES_MOST = 256, /* of all */
    TRIGRAM_BITS = 2048
};

struct literals {
    uint32_t count; /* 0: any text may match */
    bool ignore_case;
    bool exact;                     /* a text that has one matches: the expression says no more */
    char bytes[LITERAL_BYTES_MOST]; /* in small letters, with ignore_case */
    uint16_t from[LITERALS_MOST], len[LITERALS_MOST];
    uint16_t first[256], second[256]; /* of each byte a bit for each that has it there */
    uint16_t head[LITERALS_MOST], tail[LITERALS_MOST]; /* the bits of its first and last trigram */
};

/* Which runs of three bytes a text has, capital or small: each is one bit, which others share. */
struct trigrams {
    uint64_t bits[TRIGRAM_BITS / 64];
};

/* Of an expression that PCRE2 takes. */
void literals_find(struct literals *ret, str expression, bool ignore_case);

/* False: no expression that these are of matches the text. */
bool literals_may_match(const struct literals *l, str text);

/* For a text of which many expressions are asked: its trigrams are found once.  They may hold what
 * the text does not match, never the reverse. */
void trigrams_find(struct trigrams *ret, str text);
bool literals_may_be_among(const struct literals *l, const struct trigrams *of_text);

#endif
