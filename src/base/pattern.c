/* pattern.c - an automaton, and words that are looked for before it is asked. */
#include "base/pattern.h"

#include <string.h>

/* A needle of one character is met everywhere. */
enum { NEEDLE_LEAST = 3, FOLDED_BYTES = 1024 };

/* The longest run of plain characters of one branch, and the run that is being read. */
struct runs {
    char run[NEEDLE_BYTES], best[NEEDLE_BYTES];
    uint32_t len, best_len;
};

static void end_run(struct runs *r)
{
    if (r->len > r->best_len) {
        memcpy(r->best, r->run, r->len);
        r->best_len = r->len;
    }
    r->len = 0;
}

static char small(char c)
{
    if (c >= 'A' && c <= 'Z')
        c = (char)(c | 0x20);
    return c;
}

static void add_plain(struct runs *r, char c, bool ignore_case)
{
    if (r->len == NEEDLE_BYTES - 1)
        end_run(r);
    if (ignore_case)
        c = small(c);
    r->run[r->len++] = c;
}

/* What follows may leave the last character out. */
static void drop_last(struct runs *r)
{
    r->len -= r->len > 0;
    end_run(r);
}

/* Behind the bracket expression that begins at `at`. */
static const char *skip_bracket(const char *at)
{
    at += 1 + (at[1] == '^');
    at += *at == ']';
    while (*at != '\0' && *at != ']') {
        bool class = *at == '[' && at[1] != '\0' && strchr(":.=", at[1]) != NULL;
        char kind = at[1];
        at += class ? 2 : 1;
        while (class && *at != '\0' && !(at[0] == kind && at[1] == ']'))
            at++;
        at += class && *at != '\0' ? 2 : 0;
    }
    return *at == '\0' ? at : at + 1;
}

/* Behind the group that begins at `at`. */
static const char *skip_group(const char *at)
{
    uint32_t depth = 0;
    while (*at != '\0') {
        if (*at == '[') {
            at = skip_bracket(at);
            continue;
        }
        depth += *at == '(';
        depth -= *at == ')';
        at += *at == '\\' && at[1] != '\0' ? 2 : 1;
        if (depth == 0)
            break;
    }
    return at;
}

/* Reads one branch up to its end or the `|` behind it; NULL where a brace is not what it seems. */
static const char *read_branch(const char *at, bool ignore_case, struct runs *r)
{
    *r = (struct runs){ .len = 0 };
    while (*at != '\0' && *at != '|') {
        char c = *at;
        if (strchr("*?{", c) != NULL)
            drop_last(r);
        if (strchr(".^$+*?{}()[]", c) != NULL)
            end_run(r);
        if (c == '(') {
            at = skip_group(at);
        } else if (c == '[') {
            at = skip_bracket(at);
        } else if (c == '{') {
            at += 1 + strspn(at + 1, "0123456789,");
            if (*at != '}')
                return NULL;
        } else if (c == '\\') {
            bool plain = at[1] != '\0' && strchr(".^$+*?{}()[]|\\/", at[1]) != NULL;
            if (plain)
                add_plain(r, at[1], ignore_case);
            else
                end_run(r);
            at += at[1] == '\0' ? 1 : 2;
        } else {
            if (strchr(".^$+*?}])", c) == NULL)
                add_plain(r, c, ignore_case);
            at++;
        }
    }
    end_run(r);
    return at;
}

/* One needle of each branch; none at all where a branch has none. */
static void find_needles(struct pattern *p, const char *expression)
{
    for (const char *at = expression;; at++) {
        struct runs r;
        at = read_branch(at, p->ignore_case, &r);
        if (at == NULL || p->needles == NEEDLES_MOST || r.best_len < NEEDLE_LEAST) {
            p->needles = 0;
            return;
        }
        memcpy(p->needle[p->needles], r.best, r.best_len);
        p->needle[p->needles++][r.best_len] = '\0';
        if (*at == '\0')
            return;
    }
}

static bool has_needle(const struct pattern *p, const char *text)
{
    char folded[FOLDED_BYTES];
    if (p->ignore_case) {
        size_t len = strlen(text);
        if (len >= sizeof folded)
            return true; /* perhaps */
        for (size_t i = 0; i <= len; i++)
            folded[i] = small(text[i]);
        text = folded;
    }
    for (uint32_t i = 0; i < p->needles; i++)
        if (strstr(text, p->needle[i]) != NULL)
            return true;
    return false;
}

enum vrs_status pattern_compile(struct pattern *p, const char *expression, bool ignore_case,
                                struct vrs_error *err)
{
    TRY(automaton_make(expression, ignore_case, &p->automaton, err));
    p->ignore_case = ignore_case;
    p->needles = 0;
    find_needles(p, expression);
    return VRS_OK;
}

void pattern_free(struct pattern *p)
{
    automaton_free(&p->automaton);
}

bool pattern_matches(const struct pattern *p, const char *text)
{
    if (p->needles != 0 && !has_needle(p, text))
        return false;
    return automaton_matches(&p->automaton, text);
}
