/* pattern.c - PCRE2, without what could make an expression do more than match.
 *
 * PCRE2 has no option that refuses recursion, callouts or verbs, so an expression is read through
 * for them first, by the rules by which PCRE2 itself tells code from text. */
#include "base/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/vec.h"

enum {
    COMPILE_BYTES_MOST = 1 << 20, /* of the result, and of what is needed for a while */
    MATCH_KIBIBYTES_MOST = 16 * 1024,
    GROUPS_DEEPEST = 100,
    ERROR_BYTES = 120
};

/* Reading an expression through. */

struct scan {
    char *at;
    size_t len, i;
    size_t reference; /* where the first thing stands that may be a back reference */
};

static bool stands(const struct scan *s, size_t i, str word)
{
    return i <= s->len && str_starts((str){ s->at + i, s->len - i }, word);
}

static bool stands_one_of(const struct scan *s, size_t i, const char *chars)
{
    return i < s->len && s->at[i] != '\0' && strchr(chars, s->at[i]) != NULL;
}

/* Moves behind `end`; to the end of the expression where it does not stand. */
static void skip_behind(struct scan *s, str end)
{
    while (s->i < s->len && !stands(s, s->i, end))
        s->i++;
    s->i += s->i < s->len ? end.len : 0;
}

/* Behind a name as "[:alpha:]" in a class, which begins at `i`; `i` where none does. */
static size_t behind_name(const struct scan *s, size_t i)
{
    if (!stands(s, i, S("[")) || !stands_one_of(s, i + 1, ":.="))
        return i;
    char kind = s->at[i + 1];
    for (size_t k = i + 2; k + 1 < s->len && s->at[k] != ']'; k++) {
        if (s->at[k] == kind && s->at[k + 1] == ']')
            return k + 2;
        if (s->at[k] == '[' && s->at[k + 1] == kind)
            break;
        k += s->at[k] == '\\' && stands_one_of(s, k + 1, "]\\");
    }
    return i;
}

/* Moves to the first byte of a class.  A ] there does not end it. */
static void skip_class_begin(struct scan *s)
{
    bool negated = false;
    for (s->i++;; s->i++) {
        if (stands(s, s->i, S("\\E")))
            s->i++;
        else if (stands(s, s->i, S("\\Q\\E")))
            s->i += 3;
        else if (!negated && stands(s, s->i, S("^")))
            negated = true;
        else
            break;
    }
}

/* Moves behind the class in [ ] that begins here. */
static void skip_class(struct scan *s)
{
    skip_class_begin(s);
    s->i += stands(s, s->i, S("]"));
    while (s->i < s->len && s->at[s->i] != ']') {
        size_t behind = behind_name(s, s->i);
        if (stands(s, s->i, S("\\Q")))
            skip_behind(s, S("\\E"));
        else if (s->at[s->i] == '\\')
            s->i += stands(s, s->i, S("\\c")) ? 3 : 2;
        else
            s->i = behind > s->i ? behind : s->i + 1;
    }
    s->i++;
}

static enum vrs_status refuse(size_t at, const char *what, const char *remedy,
                              struct vrs_error *err)
{
    return vrs_fail(err, VRS_USAGE, "%s at byte %zu is not allowed; %s", what, at, remedy);
}

static enum vrs_status refuse_recursion(size_t at, struct vrs_error *err)
{
    return refuse(at, "recursion", "write the group again in place of its call", err);
}

/* "(?xx)": blanks in a class mean nothing then, and where a class ends depends on it. */
static bool sets_xx(const struct scan *s, size_t i)
{
    while (stands_one_of(s, i, "^-imnrsxaDJPSTUW") && !stands(s, i, S("xx")))
        i++;
    return stands(s, i, S("xx"));
}

static enum vrs_status look_at_group(struct scan *s, struct vrs_error *err)
{
    if (stands(s, s->i, S("(*")))
        return refuse(s->i, "a verb (*", "\\( is a parenthesis", err);
    size_t i = s->i + 2;
    if (!stands(s, s->i, S("(?")))
        return VRS_OK;
    bool relative = stands_one_of(s, i, "+-") && i + 1 < s->len && is_digit(s->at[i + 1]);
    if (relative || stands_one_of(s, i, "R&0123456789") || stands(s, i, S("P>")))
        return refuse_recursion(s->i, err);
    if (stands(s, i, S("C")))
        return refuse(s->i, "a callout (?C", "leave it out", err);
    if (sets_xx(s, i))
        return refuse(s->i, "the option xx", "x alone is", err);
    if ((stands(s, i, S("P=")) || stands(s, i, S("("))) && s->i < s->reference)
        s->reference = s->i;
    return VRS_OK;
}

/* A backslash that quotes nothing longer.  GNU's words for the edges of a word become PCRE2's. */
static enum vrs_status look_at_escape(struct scan *s, struct vrs_error *err)
{
    if (stands(s, s->i, S("\\g<")) || stands(s, s->i, S("\\g'")))
        return refuse_recursion(s->i, err);
    if (stands(s, s->i, S("\\C")))
        return refuse(s->i, "\\C", ". takes any byte", err);
    if (stands_one_of(s, s->i + 1, "<>"))
        s->at[s->i + 1] = 'b';
    else if (stands_one_of(s, s->i + 1, "123456789gk") && s->i < s->reference)
        s->reference = s->i;
    s->i += stands(s, s->i, S("\\c")) ? 3 : 2;
    return VRS_OK;
}

static enum vrs_status look_at_part(struct scan *s, struct vrs_error *err)
{
    if (stands(s, s->i, S("\\Q"))) {
        skip_behind(s, S("\\E"));
    } else if (stands(s, s->i, S("(?#"))) {
        skip_behind(s, S(")"));
    } else if (stands(s, s->i, S("\\"))) {
        TRY(look_at_escape(s, err));
    } else if (stands(s, s->i, S("["))) {
        skip_class(s);
    } else {
        if (stands(s, s->i, S("(")))
            TRY(look_at_group(s, err));
        s->i++;
    }
    return VRS_OK;
}

/* Changes what has another name in PCRE2, and refuses what is not taken. */
static enum vrs_status scan(struct scan *s, struct vrs_error *err)
{
    const char *line_break = memchr(s->at, '\n', s->len);
    if (line_break != NULL)
        return refuse((size_t)(line_break - s->at), "a line break", "\\n stands for one", err);
    while (s->i < s->len)
        TRY(look_at_part(s, err));
    return VRS_OK;
}

/* PCRE2, with memory of ours. */

static void *lend(size_t size, void *data)
{
    struct pattern *p = data;
    void *lent = NULL;
    if (p != NULL && size > p->memory_left) {
        p->memory_left = 0;
        return NULL;
    }
    if (p != NULL)
        p->memory_left -= size;
    return vec_resize(&lent, size, 1) ? lent : NULL;
}

static void give_back(void *lent, void *data)
{
    (void)data;
    vec_resize(&lent, 0, 0);
}

/* What one would rather have written; PCRE2 says what is wrong. */
static const char *remedy_of(int error)
{
    switch (error) {
    case PCRE2_ERROR_END_BACKSLASH:
        return "; \\\\ is a backslash";
    case PCRE2_ERROR_UNKNOWN_ESCAPE:
        return "; leave the backslash out for the character";
    case PCRE2_ERROR_MISSING_SQUARE_BRACKET:
        return "; \\[ is a bracket";
    case PCRE2_ERROR_QUANTIFIER_INVALID:
        return "; \\* \\+ \\? are the characters";
    case PCRE2_ERROR_MISSING_CLOSING_PARENTHESIS:
    case PCRE2_ERROR_UNMATCHED_CLOSING_PARENTHESIS:
        return "; \\( and \\) are parentheses";
    case PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP:
        return "; write fewer groups in each other";
    default:
        return "";
    }
}

static enum vrs_status compile_failed(const struct pattern *p, int error, size_t at,
                                      struct vrs_error *err)
{
    char what[ERROR_BYTES];
    if (p->memory_left == 0 || error == PCRE2_ERROR_PATTERN_TOO_LARGE)
        return vrs_fail(err, VRS_USAGE,
                        "it is too large with all repeats written out; let it repeat less");
    if (error == PCRE2_ERROR_HEAP_FAILED)
        return vrs_no_memory(err);
    pcre2_get_error_message(error, (PCRE2_UCHAR *)what, sizeof what);
    return vrs_fail(err, VRS_USAGE, "%s at byte %zu%s", what, at, remedy_of(error));
}

static uint32_t info(const pcre2_code *code, uint32_t what)
{
    uint32_t number = 0;
    (void)pcre2_pattern_info(code, what, &number);
    return number;
}

static enum vrs_status compile(struct pattern *p, const struct scan *s, pcre2_compile_context *with,
                               struct vrs_error *err)
{
    uint32_t options = PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP |
                       PCRE2_NEVER_BACKSLASH_C | (p->ignore_case ? PCRE2_CASELESS : 0);
    int error = 0;
    PCRE2_SIZE at = 0;
    /* Otherwise these are as whoever built PCRE2 chose. */
    pcre2_set_newline(with, PCRE2_NEWLINE_LF);
    pcre2_set_bsr(with, PCRE2_BSR_ANYCRLF);
    pcre2_set_parens_nest_limit(with, GROUPS_DEEPEST);
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)s->at, s->len, options, &error, &at, with);
    if (code == NULL)
        return compile_failed(p, error, at, err);
    if (info(code, PCRE2_INFO_BACKREFMAX) > 0) {
        pcre2_code_free(code);
        return refuse(s->reference, "a back reference", "write out what may stand there", err);
    }
    p->code = code;
    return VRS_OK;
}

enum vrs_status pattern_compile(struct pattern *p, str expression, bool ignore_case,
                                struct vrs_error *err)
{
    char room[PATTERN_BYTES_MOST];
    struct scan s = { .at = room, .len = expression.len, .reference = expression.len };
    if (expression.len > sizeof room)
        return vrs_fail(err, VRS_USAGE, "it has more than %d bytes; part it into several",
                        PATTERN_BYTES_MOST);
    if (expression.len != 0)
        memcpy(room, expression.ptr, expression.len);
    TRY(scan(&s, err));
    *p = (struct pattern){ .memory_left = COMPILE_BYTES_MOST, .ignore_case = ignore_case };
    p->any_text = str_equal(expression, S("."));
    literals_find(&p->literals, (str){ room, expression.len }, ignore_case);
    pcre2_general_context *own = pcre2_general_context_create(lend, give_back, p);
    pcre2_compile_context *with = own == NULL ? NULL : pcre2_compile_context_create(own);
    enum vrs_status status = with == NULL ? vrs_no_memory(err) : compile(p, &s, with, err);
    pcre2_compile_context_free(with);
    pcre2_general_context_free(own);
    return status;
}

void pattern_free(struct pattern *p)
{
    pcre2_code_free(p->code);
    p->code = NULL;
}

void pattern_room_free(struct pattern_room *room)
{
    pcre2_match_data_free(room->data);
    pcre2_match_context_free(room->limits);
    *room = (struct pattern_room){ NULL, NULL };
}

enum vrs_status pattern_room_make(struct pattern_room *ret, struct vrs_error *err)
{
    struct pattern_room room = { NULL, NULL };
    pcre2_general_context *own = pcre2_general_context_create(lend, give_back, NULL);
    if (own != NULL) {
        room.limits = pcre2_match_context_create(own);
        room.data = pcre2_match_data_create(1, own);
    }
    pcre2_general_context_free(own);
    if (room.limits == NULL || room.data == NULL) {
        pattern_room_free(&room);
        return vrs_no_memory(err);
    }
    pcre2_set_heap_limit(room.limits, MATCH_KIBIBYTES_MOST);
    *ret = room;
    return VRS_OK;
}

bool pattern_may_match(const struct pattern *p, const struct trigrams *of_text)
{
    return literals_may_be_among(&p->literals, of_text);
}

enum vrs_status pattern_matches(const struct pattern *p, const struct pattern_room *room, str text,
                                bool *ret, struct vrs_error *err)
{
    bool may = literals_may_match(&p->literals, text);
    if (p->any_text || p->literals.exact || !may) {
        *ret = p->any_text ? text.len > 0 : may;
        return VRS_OK;
    }
    PCRE2_SPTR at = (PCRE2_SPTR)(text.len == 0 ? "" : text.ptr);
    size_t steps = PATTERN_STEPS_MOST / (text.len + 1);
    steps = steps < PATTERN_STEPS_LEAST ? PATTERN_STEPS_LEAST : steps;
    /* PCRE2 counts anew at each place where a match may begin. */
    pcre2_set_match_limit(room->limits, (uint32_t)steps);
    int found = pcre2_match(p->code, at, text.len, 0, 0, room->data, room->limits);
    if (found == PCRE2_ERROR_NOMEMORY)
        return vrs_no_memory(err);
    if (found < 0 && found != PCRE2_ERROR_NOMATCH)
        return vrs_fail(err, VRS_LIMIT,
                        "more than %zu steps or %d MiB at one place of a text of %zu bytes; nest "
                        "repeats less, as a+ for (a+)+",
                        steps, MATCH_KIBIBYTES_MOST / 1024, text.len);
    *ret = found >= 0;
    return VRS_OK;
}
