/* literals.c - tells texts that an expression cannot match, by plain bytes that each alternative
 * needs. */
#include "base/literals.h"

#include <stddef.h>
#include <string.h>

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter(char c)
{
    return small(c) >= 'a' && small(c) <= 'z';
}

/* An expression as it is read; `at` in it, `run` and `best` of the alternative at hand. */
struct reading {
    str expression;
    size_t at;
    struct literals *ret;
    char run[LITERAL_BYTES_MOST], best[LITERAL_BYTES_MOST];
    size_t run_len, best_len;
    uint32_t bytes; /* of all alternatives before */
};

static void end_run(struct reading *r)
{
    if (r->run_len > r->best_len) {
        memcpy(r->best, r->run, r->run_len);
        r->best_len = r->run_len;
    }
    r->run_len = 0;
}

/* What is no plain byte ends a run. */
static void interrupt(struct reading *r)
{
    end_run(r);
    r->ret->exact = false;
}

static void take_byte(struct reading *r, char c)
{
    if (r->run_len < sizeof r->run)
        r->run[r->run_len++] = r->ret->ignore_case ? small(c) : c;
    else
        r->ret->exact = false;
}

/* The longest run becomes one that texts must have; false: there is none, or no room. */
static bool end_alternative(struct reading *r)
{
    struct literals *l = r->ret;
    end_run(r);
    if (r->best_len < LITERAL_BYTES_LEAST || l->count == LITERALS_MOST ||
        r->best_len > LITERAL_BYTES_MOST - r->bytes)
        return false;
    memcpy(l->bytes + r->bytes, r->best, r->best_len);
    l->from[l->count] = (uint16_t)r->bytes;
    l->len[l->count++] = (uint16_t)r->best_len;
    r->bytes += (uint32_t)r->best_len;
    r->best_len = 0;
    return true;
}

/* Moves behind a class; false: what is in it is not plain. */
static bool skip_class(struct reading *r)
{
    str e = r->expression;
    size_t i = r->at + 1;
    i += i < e.len && e.ptr[i] == '^';
    i += i < e.len && e.ptr[i] == ']';
    while (i < e.len && e.ptr[i] != ']') {
        if (e.ptr[i] == '[' || e.ptr[i] == '\\')
            return false;
        i++;
    }
    r->at = i + 1;
    return i < e.len;
}

/* Moves behind a group, whatever is in it. */
static bool skip_group(struct reading *r)
{
    int depth = 0;
    do {
        char c = r->expression.ptr[r->at];
        if (c == '[') {
            if (!skip_class(r))
                return false;
            continue;
        }
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        r->at += c == '\\' ? 2 : 1;
    } while (depth > 0 && r->at < r->expression.len);
    return depth == 0;
}

/* A backslash: a plain byte, or what stands for none. */
static bool take_escape(struct reading *r)
{
    char c = r->at + 1 < r->expression.len ? r->expression.ptr[r->at + 1] : '0';
    if (is_letter(c) && strchr("bBdDsSwWAzZ", c) == NULL)
        return false;
    if (c >= '0' && c <= '9')
        return false;
    if (is_letter(c))
        interrupt(r);
    else
        take_byte(r, c);
    r->at += 2;
    return true;
}

static bool take_one(struct reading *r)
{
    char c = r->expression.ptr[r->at];
    switch (c) {
    case '\\':
        return take_escape(r);
    case '[':
        interrupt(r);
        return skip_class(r);
    case '(':
        interrupt(r);
        return skip_group(r);
    case '{': /* a number of times, or a brace */
        return false;
    case '|':
        r->at++;
        return end_alternative(r);
    case '*':
    case '?':
        /* The byte before it may be missing.  A run that has ended has none of its own. */
        r->run_len -= r->run_len > 0;
        interrupt(r);
        break;
    case '.':
    case '^':
    case '$':
    case '+':
        interrupt(r);
        break;
    default:
        take_byte(r, c);
    }
    r->at++;
    return true;
}

static bool has(str text, str word)
{
    return str_find(text, word) < text.len;
}

/* Whether each "(?" begins a group or an assertion, which may be passed over as a plain group is.
 */
static bool only_groups(str expression)
{
    static const str taken[] = { { "(?:", 3 }, { "(?=", 3 },  { "(?!", 3 },
                                 { "(?>", 3 }, { "(?<=", 4 }, { "(?<!", 4 } };
    for (size_t i = 0; i < expression.len; i++) {
        str rest = { expression.ptr + i, expression.len - i };
        bool found = !str_starts(rest, S("(?"));
        for (size_t k = 0; k < sizeof taken / sizeof *taken; k++)
            found = found || str_starts(rest, taken[k]);
        if (!found)
            return false;
    }
    return true;
}

static bool read_all(struct reading *r)
{
    /* Options, names and quotes change how the rest is read. */
    if (!only_groups(r->expression) || has(r->expression, S("\\Q")) ||
        has(r->expression, S("\\E")) || has(r->expression, S("(*")))
        return false;
    while (r->at < r->expression.len)
        if (!take_one(r))
            return false;
    return end_alternative(r);
}

/* The low five bits of a letter are those of its other case. */
static uint32_t trigram_next(uint32_t last, char c)
{
    return (last << 5 ^ ((unsigned char)c & 31)) & 0x7fff;
}

/* Multiplicative hashing: the upper bits of a product with 2^32 divided by the golden ratio. */
#define SPREAD 2654435761u
enum { SPREAD_SHIFT = 21 };
_Static_assert(TRIGRAM_BITS == 1u << (32 - SPREAD_SHIFT), "a hash is a bit of a set of trigrams");

static uint16_t trigram_bit(uint32_t trigram)
{
    return (uint16_t)(trigram * SPREAD >> SPREAD_SHIFT);
}

static uint16_t trigram_at(const char *at)
{
    return trigram_bit(trigram_next(trigram_next(trigram_next(0, at[0]), at[1]), at[2]));
}

static void mark(uint16_t of_byte[256], char c, uint32_t literal, bool ignore_case)
{
    of_byte[(unsigned char)c] |= (uint16_t)(1u << literal);
    if (ignore_case && is_letter(c))
        of_byte[(unsigned char)(c - 'a' + 'A')] |= (uint16_t)(1u << literal);
}

void literals_find(struct literals *ret, str expression, bool ignore_case)
{
    /* Where it stands first, it holds for all of the expression. */
    str option = S("(?i)");
    if (str_starts(expression, option)) {
        expression = (str){ expression.ptr + option.len, expression.len - option.len };
        ignore_case = true;
    }
    struct reading r = { .expression = expression, .ret = ret };
    *ret = (struct literals){ .ignore_case = ignore_case, .exact = true };
    if (!read_all(&r))
        ret->count = 0;
    ret->exact = ret->exact && ret->count != 0;
    for (uint32_t i = 0; i < ret->count; i++) {
        const char *word = ret->bytes + ret->from[i];
        mark(ret->first, word[0], i, ignore_case);
        mark(ret->second, word[1], i, ignore_case);
        ret->head[i] = trigram_at(word);
        ret->tail[i] = trigram_at(word + ret->len[i] - LITERAL_BYTES_LEAST);
    }
}

static bool stands_here(const struct literals *l, uint32_t i, str text)
{
    const char *word = l->bytes + l->from[i];
    if (text.len < l->len[i])
        return false;
    if (!l->ignore_case)
        return memcmp(text.ptr, word, l->len[i]) == 0;
    size_t k = 0;
    while (k < l->len[i] && small(text.ptr[k]) == word[k])
        k++;
    return k == l->len[i];
}

bool literals_may_match(const struct literals *l, str text)
{
    if (l->count == 0)
        return true;
    if (text.len < LITERAL_BYTES_LEAST)
        return false;
    const char *end = text.ptr + text.len, *last = end - LITERAL_BYTES_LEAST;
    for (const char *at = text.ptr; at <= last; at++) {
        uint32_t here = l->first[(unsigned char)at[0]];
        if (here == 0)
            continue;
        here &= l->second[(unsigned char)at[1]];
        for (uint32_t i = 0; here >> i != 0; i++)
            if ((here >> i & 1) != 0 && stands_here(l, i, (str){ at, (size_t)(end - at) }))
                return true;
    }
    return false;
}

void trigrams_find(struct trigrams *ret, str text)
{
    uint32_t trigram = 0;
    *ret = (struct trigrams){ { 0 } };
    for (size_t i = 0; i < text.len; i++) {
        trigram = trigram_next(trigram, text.ptr[i]);
        uint16_t bit = trigram_bit(trigram);
        if (i + 1 >= LITERAL_BYTES_LEAST)
            ret->bits[bit / 64] |= (uint64_t)1 << bit % 64;
    }
}

bool literals_may_be_among(const struct literals *l, const struct trigrams *of_text)
{
    const uint64_t *bits = of_text->bits;
    bool may = l->count == 0;
    for (uint32_t i = 0; i < l->count; i++)
        may = may || (bits[l->head[i] / 64] >> l->head[i] % 64 &
                      bits[l->tail[i] / 64] >> l->tail[i] % 64 & 1) != 0;
    return may;
}
