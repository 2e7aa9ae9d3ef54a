/* automaton.c - one pass over an expression, and one over a text for all ways at once. */
#include "base/automaton.h"

#include <string.h>

enum { NONE = -1, COUNT_MOST = 1 << 15 };

/* A group that is open; the outermost is the whole expression. */
struct group {
    int32_t start;  /* its first op */
    int32_t branch; /* the first op of the branch that is read */
    int32_t last;   /* the jump at the end of the branch before, each in `a` of the next; or NONE */
};

struct maker {
    struct automaton *a;
    struct group group[AUTOMATON_DEEPEST + 1];
    uint32_t depth;
    int32_t atom; /* the first op of what a repeat would repeat, or NONE */
};

/* In the C locale, whatever that of the process is. */
static uint8_t large(uint8_t c)
{
    return c >= 'a' && c <= 'z' ? (uint8_t)(c - 'a' + 'A') : c;
}

static bool is_letter(uint8_t c)
{
    return large(c) >= 'A' && large(c) <= 'Z';
}

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_word(uint8_t c)
{
    return is_letter(c) || is_digit((char)c) || c == '_';
}

/* Making an automaton. */

static int32_t here(const struct maker *m)
{
    return (int32_t)m->a->op.len;
}

static enum vrs_status too_long(struct vrs_error *err)
{
    return vrs_fail(err, VRS_USAGE, "more than %d parts with all repeats written out",
                    AUTOMATON_OPS_MOST);
}

/* Puts an op before the op at `at`; what leads past that place must be set later. */
static enum vrs_status insert(struct maker *m, int32_t at, struct automaton_op op,
                              struct vrs_error *err)
{
    if (m->a->op.len == AUTOMATON_OPS_MOST)
        return too_long(err);
    if (!vec_push(&m->a->op, op))
        return vrs_no_memory(err);
    struct automaton_op *from = &m->a->op.at[at];
    memmove(from + 1, from, (size_t)(here(m) - 1 - at) * sizeof *from);
    *from = op;
    return VRS_OK;
}

static enum vrs_status append(struct maker *m, enum automaton_op_kind kind, int32_t a, int32_t b,
                              struct vrs_error *err)
{
    return insert(m, here(m), (struct automaton_op){ kind, a, b }, err);
}

/* What takes one byte can be repeated next. */
static enum vrs_status append_atom(struct maker *m, enum automaton_op_kind kind, int32_t a,
                                   struct vrs_error *err)
{
    m->atom = here(m);
    return append(m, kind, a, 0, err);
}

static enum vrs_status append_set(struct maker *m, struct byte_set set, struct vrs_error *err)
{
    if (!vec_push(&m->a->set, set))
        return vrs_no_memory(err);
    return append_atom(m, AUTOMATON_SET, (int32_t)m->a->set.len - 1, err);
}

static uint8_t folded(const struct maker *m, char c)
{
    return m->a->ignore_case ? large((uint8_t)c) : (uint8_t)c;
}

static void add_byte(struct byte_set *s, uint8_t c)
{
    s->of[c / 64] |= (uint64_t)1 << c % 64;
}

static bool is_class(str name)
{
    static const char *const names[] = { "alpha", "upper", "lower", "digit", "alnum", "xdigit",
                                         "space", "blank", "cntrl", "print", "graph", "punct" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal(name, str_from(names[i])))
            return true;
    return false;
}

static bool class_has(str name, bool ignore_case, uint8_t c)
{
    bool print = c >= ' ' && c <= '~', letter = is_letter(c);
    if (str_equal(name, S("alpha")))
        return letter;
    if (str_equal(name, S("upper")))
        return letter && (ignore_case || c == large(c));
    if (str_equal(name, S("lower")))
        return letter && (ignore_case || c != large(c));
    if (str_equal(name, S("digit")))
        return is_digit((char)c);
    if (str_equal(name, S("alnum")))
        return letter || is_digit((char)c);
    if (str_equal(name, S("xdigit")))
        return is_digit((char)c) || (large(c) >= 'A' && large(c) <= 'F');
    if (str_equal(name, S("space")))
        return is_space(c);
    if (str_equal(name, S("blank")))
        return c == ' ' || c == '\t';
    if (str_equal(name, S("cntrl")))
        return c < ' ' || c == 127;
    if (str_equal(name, S("print")))
        return print;
    if (str_equal(name, S("graph")))
        return print && c != ' ';
    return str_equal(name, S("punct")) && print && c != ' ' && !letter && !is_digit((char)c);
}

static enum vrs_status unmatched(struct vrs_error *err)
{
    return vrs_fail(err, VRS_USAGE, "a [ without its ]");
}

/* "[:alpha:]" at `*at`, which moves behind it. */
static enum vrs_status read_class(const struct maker *m, const char **at, struct byte_set *to,
                                  struct vrs_error *err)
{
    const char *end = strstr(*at + 2, ":]");
    if (end == NULL)
        return unmatched(err);
    str name = { *at + 2, (size_t)(end - *at - 2) };
    if (!is_class(name))
        return vrs_fail(err, VRS_USAGE, "there is no class [:%.*s:]",
                        name.len > 20 ? 20 : (int)name.len, name.ptr);
    for (uint32_t c = 0; c < 256; c++)
        if (class_has(name, m->a->ignore_case, (uint8_t)c))
            add_byte(to, folded(m, (char)c));
    *at = end + 2;
    return VRS_OK;
}

/* One byte of a bracket expression, "[.x.]" and "[=x=]" among them; *at moves behind it. */
static enum vrs_status read_byte(const struct maker *m, const char **at, uint32_t *ret,
                                 struct vrs_error *err)
{
    const char *c = *at;
    bool named = c[0] == '[' && (c[1] == '.' || c[1] == '=');
    if (c[0] == '\0' || (named && c[2] == '\0'))
        return unmatched(err);
    if (named && (c[3] != c[1] || c[4] != ']'))
        return vrs_fail(err, VRS_USAGE, "[%c %c] takes one character", c[1], c[1]);
    *at += named ? 5 : 1;
    *ret = folded(m, c[named ? 2 : 0]);
    return VRS_OK;
}

static bool opens(const char *at, char kind)
{
    return at[0] == '[' && at[1] == kind;
}

/* A byte or a range; a "-" of its own stands first or last. */
static enum vrs_status read_range(const struct maker *m, const char **at, bool first,
                                  struct byte_set *to, struct vrs_error *err)
{
    const char *begin = *at;
    uint32_t low = 0, high = 0;
    TRY(read_byte(m, at, &low, err));
    bool stray = *begin == '-' && !first && **at != ']';
    bool range = **at == '-' && (*at)[1] != ']';
    high = low;
    if (range && !stray) {
        ++*at;
        stray = opens(begin, '=') || opens(*at, '=') || opens(*at, ':');
        TRY(read_byte(m, at, &high, err));
    }
    if (stray || low > high)
        return vrs_fail(err, VRS_USAGE, "a range in [ ] that leads nowhere");
    for (uint32_t c = low; c <= high; c++)
        add_byte(to, (uint8_t)c);
    return VRS_OK;
}

/* The bracket expression at `*at`, which moves behind it. */
static enum vrs_status read_bracket(const struct maker *m, const char **at, struct byte_set *ret,
                                    struct vrs_error *err)
{
    struct byte_set s = { { 0 } };
    bool not = (*at)[1] == '^';
    *at += not ? 2 : 1;
    for (bool first = true; first || **at != ']'; first = false) {
        if (!opens(*at, ':')) {
            TRY(read_range(m, at, first, &s, err));
            continue;
        }
        TRY(read_class(m, at, &s, err));
        if (**at == '-' && (*at)[1] != ']')
            return vrs_fail(err, VRS_USAGE, "a range in [ ] that leads nowhere");
    }
    for (int i = 0; i < 4; i++)
        s.of[i] = not ? ~s.of[i] : s.of[i];
    ++*at;
    *ret = s;
    return VRS_OK;
}

/* What holds between two bytes is not to be repeated. */
static enum vrs_status append_place(struct maker *m, enum automaton_op_kind kind,
                                    struct vrs_error *err)
{
    m->atom = NONE;
    return append(m, kind, 0, 0, err);
}

/* What stands behind a backslash. */
static enum vrs_status read_escape(struct maker *m, char c, struct vrs_error *err)
{
    static const struct {
        char letter;
        enum automaton_op_kind kind;
    } places[] = { { 'b', AUTOMATON_WORD_EDGE },  { 'B', AUTOMATON_NO_WORD_EDGE },
                   { '<', AUTOMATON_WORD_BEGIN }, { '>', AUTOMATON_WORD_END },
                   { '`', AUTOMATON_BEGIN },      { '\'', AUTOMATON_END } };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].letter == c)
            return append_place(m, places[i].kind, err);
    if (c == '\0')
        return vrs_fail(err, VRS_USAGE, "a \\ at the end");
    if (c >= '1' && c <= '9')
        return vrs_fail(err, VRS_USAGE, "what a group matched cannot stand again, as \\%c", c);
    if (c != 'w' && c != 'W' && c != 's' && c != 'S')
        return append_atom(m, AUTOMATON_BYTE, folded(m, c), err);
    struct byte_set s = { { 0 } };
    for (uint32_t i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i;
        bool in = large((uint8_t)c) == 'W' ? is_word(byte) : is_space(byte);
        if (in == (c == 'w' || c == 's'))
            add_byte(&s, folded(m, (char)byte));
    }
    return append_set(m, s, err);
}

/* Another copy of the ops [from, from + len); an optional one may be passed over. */
static enum vrs_status copy(struct maker *m, int32_t from, int32_t len, bool optional,
                            struct vrs_error *err)
{
    if (optional)
        TRY(append(m, AUTOMATON_SPLIT, 1, len + 1, err));
    for (int32_t i = 0; i < len; i++) {
        struct automaton_op op = m->a->op.at[from + i];
        TRY(append(m, op.kind, op.a, op.b, err));
    }
    return VRS_OK;
}

/* Lets the last atom stand `least` to `most` times; `most` NONE: without an end. */
static enum vrs_status repeat(struct maker *m, int32_t least, int32_t most, struct vrs_error *err)
{
    int32_t first = m->atom, len = here(m) - first;
    if (first == NONE)
        return vrs_fail(err, VRS_USAGE, "nothing that could be repeated before a * + ? or {");
    if (most == 0) {
        m->a->op.len = (uint32_t)first;
        return VRS_OK;
    }
    if (least == 0 && most == NONE) {
        TRY(insert(m, first, (struct automaton_op){ AUTOMATON_SPLIT, 1, len + 2 }, err));
        return append(m, AUTOMATON_JUMP, -len - 1, 0, err);
    }
    int32_t from = first;
    if (least == 0) {
        TRY(insert(m, first, (struct automaton_op){ AUTOMATON_SPLIT, 1, len + 1 }, err));
        from++;
    }
    for (int32_t i = 1; i < least; i++)
        TRY(copy(m, from, len, false, err));
    if (most == NONE)
        return append(m, AUTOMATON_SPLIT, -len, 1, err);
    for (int32_t i = least > 1 ? least : 1; i < most; i++)
        TRY(copy(m, from, len, true, err));
    return VRS_OK;
}

/* A number at `at`; NONE where there is none. */
static const char *read_count(const char *at, int32_t *ret)
{
    *ret = NONE;
    for (; is_digit(*at); at++)
        *ret = *ret == NONE ? *at - '0' : *ret > COUNT_MOST ? *ret : *ret * 10 + (*at - '0');
    return at;
}

/* "{2}", "{2,}", "{,3}", "{2,3}"; *at moves behind it. */
static enum vrs_status read_interval(struct maker *m, const char **at, struct vrs_error *err)
{
    int32_t least, most;
    const char *c = read_count(*at + 1, &least);
    bool comma = *c == ',', none = least == NONE;
    c = read_count(c + comma, &most);
    most = comma ? most : least;
    least = none ? 0 : least;
    if (*c != '}' || (none && !comma) || (most != NONE && most < least))
        return vrs_fail(err, VRS_USAGE, "{ } takes one number or two, as {2} {2,} {2,5}");
    if (least >= COUNT_MOST || most >= COUNT_MOST)
        return too_long(err);
    *at = c + 1;
    return repeat(m, least, most, err);
}

/* The branch ends here: another may be taken in its place. */
static enum vrs_status end_branch(struct maker *m, struct vrs_error *err)
{
    struct group *g = &m->group[m->depth];
    int32_t len = here(m) - g->branch;
    TRY(insert(m, g->branch, (struct automaton_op){ AUTOMATON_SPLIT, 1, len + 2 }, err));
    TRY(append(m, AUTOMATON_JUMP, g->last, 0, err));
    g->last = here(m) - 1;
    g->branch = here(m);
    m->atom = NONE;
    return VRS_OK;
}

static void end_group(struct maker *m)
{
    for (int32_t jump = m->group[m->depth].last; jump != NONE;) {
        struct automaton_op *op = &m->a->op.at[jump];
        int32_t before = op->a;
        op->a = here(m) - jump;
        jump = before;
    }
}

/* The next part of an expression; *at moves behind it. */
static enum vrs_status read_part(struct maker *m, const char **at, struct vrs_error *err)
{
    struct byte_set set;
    char c = *(*at)++;
    switch (c) {
    case '(':
        if (m->depth == AUTOMATON_DEEPEST)
            return vrs_fail(err, VRS_USAGE, "more than %d groups in each other", AUTOMATON_DEEPEST);
        m->group[++m->depth] = (struct group){ here(m), here(m), NONE };
        m->atom = NONE;
        return VRS_OK;
    case '|':
        return end_branch(m, err);
    case '*':
        return repeat(m, 0, NONE, err);
    case '+':
        return repeat(m, 1, NONE, err);
    case '?':
        return repeat(m, 0, 1, err);
    case '{':
        --*at;
        return read_interval(m, at, err);
    case '[':
        --*at;
        TRY(read_bracket(m, at, &set, err));
        return append_set(m, set, err);
    case '.':
        return append_set(m, (struct byte_set){ { ~1ull, ~0ull, ~0ull, ~0ull } }, err);
    case '^':
        return append_place(m, AUTOMATON_BEGIN, err);
    case '$':
        return append_place(m, AUTOMATON_END, err);
    case '\\':
        return read_escape(m, *(*at)++, err);
    default:
        break;
    }
    if (c != ')' || m->depth == 0)
        return append_atom(m, AUTOMATON_BYTE, folded(m, c), err);
    end_group(m);
    m->atom = m->group[m->depth--].start;
    return VRS_OK;
}

static enum vrs_status make(struct maker *m, const char *expression, struct vrs_error *err)
{
    for (const char *at = expression; *at != '\0';)
        TRY(read_part(m, &at, err));
    if (m->depth > 0)
        return vrs_fail(err, VRS_USAGE, "a ( without its )");
    end_group(m);
    return append(m, AUTOMATON_DONE, 0, 0, err);
}

enum vrs_status automaton_make(const char *expression, bool ignore_case, struct automaton *ret,
                               struct vrs_error *err)
{
    struct automaton a = { .ignore_case = ignore_case };
    struct maker m = { .a = &a, .group = { { 0, 0, NONE } }, .atom = NONE };
    a.op.max = a.set.max = AUTOMATON_OPS_MOST;
    enum vrs_status status = make(&m, expression, err);
    if (status != VRS_OK)
        automaton_free(&a);
    else
        *ret = a;
    return status;
}

void automaton_free(struct automaton *a)
{
    vec_free(&a->op);
    vec_free(&a->set);
}

/* Running it. */

/* The ops that wait for the byte at `at`. */
struct places {
    uint16_t at[AUTOMATON_OPS_MOST];
    uint32_t len;
};

struct run {
    const struct automaton *a;
    const char *text;
    size_t at;
    uint64_t seen[AUTOMATON_OPS_MOST / 64]; /* ops, at this byte */
    uint16_t due[AUTOMATON_OPS_MOST];       /* those still to be looked at */
    uint32_t dues;
};

static void push(struct run *r, int32_t op)
{
    uint64_t bit = (uint64_t)1 << op % 64;
    if ((r->seen[op / 64] & bit) != 0)
        return;
    r->seen[op / 64] |= bit;
    r->due[r->dues++] = (uint16_t)op;
}

static bool holds(const struct run *r, enum automaton_op_kind kind)
{
    bool before = r->at > 0 && is_word((uint8_t)r->text[r->at - 1]);
    bool behind = is_word((uint8_t)r->text[r->at]);
    switch (kind) {
    case AUTOMATON_BEGIN:
        return r->at == 0;
    case AUTOMATON_END:
        return r->text[r->at] == '\0';
    case AUTOMATON_WORD_BEGIN:
        return !before && behind;
    case AUTOMATON_WORD_END:
        return before && !behind;
    case AUTOMATON_WORD_EDGE:
        return before != behind;
    case AUTOMATON_NO_WORD_EDGE:
        return before == behind;
    case AUTOMATON_BYTE:
    case AUTOMATON_SET:
    case AUTOMATON_SPLIT:
    case AUTOMATON_JUMP:
    case AUTOMATON_DONE:
        break;
    }
    return false;
}

/* Goes on from `op` without taking a byte; true where that is the end. */
static bool follow(struct run *r, int32_t op, struct places *to)
{
    push(r, op);
    while (r->dues > 0) {
        int32_t i = r->due[--r->dues];
        const struct automaton_op *now = &r->a->op.at[i];
        if (now->kind == AUTOMATON_DONE)
            return true;
        if (now->kind == AUTOMATON_BYTE || now->kind == AUTOMATON_SET)
            to->at[to->len++] = (uint16_t)i;
        else if (now->kind == AUTOMATON_SPLIT || now->kind == AUTOMATON_JUMP)
            push(r, i + now->a);
        else if (holds(r, now->kind))
            push(r, i + 1);
        if (now->kind == AUTOMATON_SPLIT)
            push(r, i + now->b);
    }
    return false;
}

static bool takes(const struct automaton *a, const struct automaton_op *op, uint8_t c)
{
    if (op->kind == AUTOMATON_BYTE)
        return op->a == c;
    return (a->set.at[op->a].of[c / 64] >> c % 64 & 1) != 0;
}

bool automaton_matches(const struct automaton *a, const char *text)
{
    struct places both[2], *now = &both[0], *next = &both[1];
    struct run r = { .a = a, .text = text };
    size_t seen_bytes = (a->op.len + 63) / 64 * sizeof r.seen[0];
    now->len = 0;
    for (;;) {
        /* It may begin here, too. */
        if (follow(&r, 0, now))
            return true;
        if (text[r.at] == '\0')
            return false;
        uint8_t c = (uint8_t)text[r.at++];
        c = a->ignore_case ? large(c) : c;
        memset(r.seen, 0, seen_bytes);
        next->len = 0;
        for (uint32_t i = 0; i < now->len; i++) {
            const struct automaton_op *op = &a->op.at[now->at[i]];
            if (takes(a, op, c) && follow(&r, now->at[i] + 1, next))
                return true;
        }
        struct places *old = now;
        now = next;
        next = old;
    }
}
