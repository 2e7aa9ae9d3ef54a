/* category_rules.c - reads the language of rules; a message names the line. */
#include "analysis/snapshot/categories/category_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/snapshot/categories/makers.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "base/number.h"
#include "base/size.h"
#include "base/str.h"
#include "base/utf8.h"

const char *const category_names[CATEGORIES] = {
    [CATEGORY_UNKNOWN] = "unknown",
    [CATEGORY_PARAMETER] = "parameter",
    [CATEGORY_BUFFER] = "buffer",
    [CATEGORY_PARAMETER_COPY] = "parameter_copy",
    [CATEGORY_GRADIENT] = "gradient",
    [CATEGORY_OPTIMIZER_STATE] = "optimizer_state",
    [CATEGORY_OPTIMIZER_TEMP] = "optimizer_temp",
    [CATEGORY_ACTIVATION] = "activation",
    [CATEGORY_INPUT] = "input",
    [CATEGORY_TEMPORARY] = "temporary",
    [CATEGORY_AUTOGRAD_DETAIL] = "autograd_detail",
    [CATEGORY_COMMUNICATION] = "communication",
    [CATEGORY_KV_CACHE] = "kv_cache",
    [CATEGORY_WORKSPACE] = "workspace",
    [CATEGORY_PERSISTENT] = "persistent",
};

const char *const confidence_names[CONFIDENCES] = { "low", "medium", "high", "none" };

enum key_kind { KIND_TEXT, KIND_PHASES, KIND_ORIGINS, KIND_LINES, KIND_YES_NO, KIND_NUMBER };

static const struct {
    const char *name;
    enum key_kind kind;
} keys[RULE_KEYS] = {
    [RULE_KEY_ALLOC_ANY] = { "alloc.any", KIND_TEXT },
    [RULE_KEY_ALLOC_NATIVE] = { "alloc.native", KIND_TEXT },
    [RULE_KEY_ALLOC_OWNER] = { "alloc.owner", KIND_TEXT },
    [RULE_KEY_ALLOC_CULPRIT] = { "alloc.culprit", KIND_TEXT },
    [RULE_KEY_FREE_ANY] = { "free.any", KIND_TEXT },
    [RULE_KEY_FREE_NATIVE] = { "free.native", KIND_TEXT },
    [RULE_KEY_BORN] = { "born", KIND_PHASES },
    [RULE_KEY_DIES] = { "dies", KIND_PHASES },
    [RULE_KEY_BEFORE] = { "before", KIND_PHASES },
    [RULE_KEY_FOLLOWS] = { "follows", KIND_PHASES },
    [RULE_KEY_MEETS] = { "meets", KIND_PHASES },
    [RULE_KEY_MISSES] = { "misses", KIND_PHASES },
    [RULE_KEY_AWAITS] = { "awaits", KIND_PHASES },
    [RULE_KEY_SURVIVES] = { "survives", KIND_PHASES },
    [RULE_KEY_ORIGIN] = { "origin", KIND_ORIGINS },
    [RULE_KEY_ALIVE_AT_END] = { "alive_at_end", KIND_YES_NO },
    [RULE_KEY_REPLACES] = { "replaces", KIND_YES_NO },
    [RULE_KEY_REPLACED] = { "replaced", KIND_YES_NO },
    [RULE_KEY_KEEPS_GRAPH] = { "keeps_graph", KIND_YES_NO },
    [RULE_KEY_BEFORE_GRAPH] = { "freed_before_graph", KIND_YES_NO },
    [RULE_KEY_SIZE_OF_OLDER] = { "size_of_older", KIND_YES_NO },
    [RULE_KEY_WEIGHTS_KNOWN] = { "weights_known", KIND_YES_NO },
    [RULE_KEY_GROWS] = { "grows", KIND_YES_NO },
    [RULE_KEY_RECURS] = { "recurs", KIND_YES_NO },
    [RULE_KEY_MAKER_LINE] = { "maker_line", KIND_LINES },
    [RULE_KEY_FIRST_OF_SIZE] = { "first_of_size", KIND_YES_NO },
    [RULE_KEY_SIZE] = { "size", KIND_NUMBER },
    [RULE_KEY_LIFE_EVENTS] = { "life_events", KIND_NUMBER },
    [RULE_KEY_LIFE_STEPS] = { "life_steps", KIND_NUMBER },
    [RULE_KEY_STREAM] = { "stream", KIND_NUMBER },
    [RULE_KEY_POOL] = { "pool", KIND_NUMBER },
};

static const char *const origin_names[] = {
    [ORIGIN_TRACED] = "traced",
    [ORIGIN_PRE_FREED] = "pre_freed",
    [ORIGIN_PRE_LIVE] = "pre_live",
};

static const char *const line_names[] = {
    [MAKER_NONE] = "none", [MAKER_FIRST] = "first", [MAKER_MIDDLE] = "middle",
    [MAKER_LAST] = "last", [MAKER_ONLY] = "only",
};

static const struct {
    const char *name;
    enum rule_op op;
    bool folded;
    bool text, number, word; /* what it may stand behind */
} operators[] = {
    { "~", OP_MATCHES, false, true, false, false },
    { "~*", OP_MATCHES, true, true, false, false },
    { "!~", OP_MATCHES_NOT, false, true, false, false },
    { "=", OP_EQUAL, false, true, true, true },
    { "<", OP_LESS, false, false, true, false },
    { ">=", OP_AT_LEAST, false, false, true, false },
};

struct parser {
    struct category_rules *to;
    const char *name;
    unsigned line, rule_line; /* now read; of the latest header */
    bool in_rule;
    struct vrs_error *err;
};

enum { SHOWN_MOST = 60 };

#define FAIL(p, ...) vrs_fail((p)->err, VRS_USAGE, __VA_ARGS__)

static int shown(str word)
{
    return word.len > SHOWN_MOST ? SHOWN_MOST : (int)word.len;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static str trimmed(str s)
{
    while (s.len != 0 && is_blank(s.ptr[0]))
        s = (str){ s.ptr + 1, s.len - 1 };
    while (s.len != 0 && is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* Takes the first word off a trimmed line. */
static str next_word(str *line)
{
    size_t len = 0;
    while (len < line->len && !is_blank(line->ptr[len]))
        len++;
    str word = { line->ptr, len };
    *line = trimmed((str){ line->ptr + len, line->len - len });
    return word;
}

/* The place of a word among names; `count` where it is none of them. */
static uint32_t place_of(str word, const char *const *names, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && (names[i] == NULL || !str_equal(word, str_from(names[i]))))
        i++;
    return i;
}

static enum vrs_status keep(struct parser *p, str text, str *ret)
{
    *ret = arena_copy(&p->to->arena, text);
    return ret->ptr == NULL ? vrs_no_memory(p->err) : VRS_OK;
}

static bool is_id(str word)
{
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '_' && c != '-' && c != '.')
            return false;
    }
    return word.len != 0 && word.len <= SHOWN_MOST;
}

/* A rule without a condition would decide everything. */
static enum vrs_status end_rule(struct parser *p)
{
    bool empty = p->in_rule && p->to->rule.at[p->to->rule.len - 1].conditions == 0;
    p->in_rule = false;
    return empty ? FAIL(p, "%s:%u: the rule has no condition", p->name, p->rule_line) : VRS_OK;
}

static enum vrs_status read_header(struct parser *p, str line)
{
    str id = next_word(&line), category = next_word(&line), confidence = next_word(&line);
    if (!is_id(id))
        return FAIL(p, "%s:%u: a rule is named by at most %d letters, digits, _, - and .", p->name,
                    p->line, SHOWN_MOST);
    struct category_rule rule = { .first = p->to->condition.len };
    uint32_t place = place_of(category, category_names, CATEGORIES);
    if (str_equal(category, S("inherited")))
        place = CATEGORY_INHERITED;
    else if (str_equal(category, S("split")))
        place = CATEGORY_SPLIT;
    else if (str_equal(category, S("alike")))
        place = CATEGORY_ALIKE;
    else if (str_equal(category, S("list")))
        place = CATEGORY_LIST;
    else if (place == CATEGORIES)
        return FAIL(p, "%s:%u: unknown category \"%.*s\"", p->name, p->line, shown(category),
                    category.ptr);
    rule.category = (enum category)place;
    place = place_of(confidence, confidence_names, CONFIDENCE_NONE);
    if (place == CONFIDENCE_NONE || line.len != 0)
        return FAIL(p, "%s:%u: a header ends with low, medium or high", p->name, p->line);
    rule.confidence = (enum confidence)place;
    TRY(keep(p, id, &rule.id));
    if (p->to->rule.len == RULES_MOST)
        return FAIL(p, "%s:%u: more than %d rules", p->name, p->line, RULES_MOST);
    if (!vec_push(&p->to->rule, rule))
        return vrs_no_memory(p->err);
    p->in_rule = true;
    p->rule_line = p->line;
    return VRS_OK;
}

static enum vrs_status compile(struct parser *p, struct rule_text *text, bool folded)
{
    struct vrs_error why;
    text->pattern = arena_array(&p->to->arena, struct pattern, 1);
    if (text->pattern == NULL)
        return vrs_no_memory(p->err);
    enum vrs_status status = pattern_compile(text->pattern, text->text, folded, &why);
    if (status == VRS_USAGE)
        return FAIL(p, "%s:%u: bad expression: %s", p->name, p->line, why.message);
    return status == VRS_OK ? VRS_OK : vrs_no_memory(p->err);
}

/* A text that several conditions ask for is answered once; the number of texts where it is new. */
static uint32_t find_text(const struct category_rules *r, const struct rule_condition *c,
                          bool folded, str value)
{
    uint32_t i = 0;
    for (; i < r->text.len; i++) {
        const struct rule_text *t = &r->text.at[i];
        bool exact = t->pattern == NULL;
        if (t->key == c->key && str_equal(t->text, value) && exact == (c->op == OP_EQUAL) &&
            (exact || t->pattern->ignore_case == folded))
            break;
    }
    return i;
}

static enum vrs_status read_text(struct parser *p, struct rule_condition *c, bool folded, str value)
{
    struct rule_text text = { .key = c->key };
    if (value.len == 0)
        return FAIL(p, "%s:%u: %s needs a text", p->name, p->line, keys[c->key].name);
    if (memchr(value.ptr, '\0', value.len) != NULL)
        return FAIL(p, "%s:%u: a text has no byte of value 0", p->name, p->line);
    c->number = find_text(p->to, c, folded, value);
    if (c->number < p->to->text.len)
        return VRS_OK;
    if (p->to->text.len == RULE_TEXTS_MOST)
        return FAIL(p, "%s:%u: more than %d conditions on frames", p->name, p->line,
                    RULE_TEXTS_MOST);
    TRY(keep(p, value, &text.text));
    if (!vec_reserve(&p->to->text, 1))
        return vrs_no_memory(p->err);
    if (c->op != OP_EQUAL)
        TRY(compile(p, &text, folded));
    if (!vec_push(&p->to->text, text))
        return vrs_no_memory(p->err);
    return VRS_OK;
}

/* One or more words, any of which may hold. */
static enum vrs_status read_words(struct parser *p, struct rule_condition *c, str value)
{
    static const char *const yes_no[] = { "no", "yes" };
    enum key_kind kind = keys[c->key].kind;
    do {
        str word = next_word(&value);
        uint32_t place = 0, count = 0;
        if (c->key == RULE_KEY_DIES && str_equal(word, S("same_interval"))) {
            c->number |= RULE_SAME_INTERVAL;
            continue;
        }
        if (kind == KIND_PHASES)
            place = place_of(word, phase_names, count = PHASES);
        else if (kind == KIND_ORIGINS)
            place = place_of(word, origin_names, count = ORIGIN_PRE_LIVE + 1);
        else if (kind == KIND_LINES)
            place = place_of(word, line_names, count = MAKER_LINES);
        else
            place = place_of(word, yes_no, count = 2);
        if (place == count)
            return FAIL(p, "%s:%u: %s does not take \"%.*s\"", p->name, p->line, keys[c->key].name,
                        shown(word), word.ptr);
        c->number |= (uint64_t)1 << place;
    } while (value.len != 0);
    return VRS_OK;
}

static enum vrs_status read_number(struct parser *p, struct rule_condition *c, str value)
{
    bool negative = false;
    if (c->key == RULE_KEY_SIZE)
        return size_read(value, &c->number)
                   ? VRS_OK
                   : FAIL(p, "%s:%u: size needs a number of bytes, such as 2MiB", p->name, p->line);
    if (!number_integer(value, &c->number, &negative) || negative)
        return FAIL(p, "%s:%u: %s needs a whole number", p->name, p->line, keys[c->key].name);
    return VRS_OK;
}

/* "in_multiset gradient", "not_in_multiset gradient" */
static bool read_multiset(struct rule_condition *c, str op, str value)
{
    bool in = str_equal(op, S("in_multiset"));
    bool line = c->key == RULE_KEY_MAKER_LINE && in;
    if ((c->key != RULE_KEY_SIZE && !line) || (!in && !str_equal(op, S("not_in_multiset"))) ||
        !str_equal(value, S("gradient")))
        return false;
    c->op = in ? OP_IN_MULTISET : OP_NOT_IN_MULTISET;
    return true;
}

static enum vrs_status read_value(struct parser *p, struct rule_condition *c, str op, str value)
{
    if (read_multiset(c, op, value))
        return VRS_OK;
    enum key_kind kind = keys[c->key].kind;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        bool fits = kind == KIND_TEXT     ? operators[i].text
                    : kind == KIND_NUMBER ? operators[i].number
                                          : operators[i].word;
        if (!fits || !str_equal(op, str_from(operators[i].name)))
            continue;
        c->op = operators[i].op;
        if (kind == KIND_TEXT)
            return read_text(p, c, operators[i].folded, value);
        return kind == KIND_NUMBER ? read_number(p, c, value) : read_words(p, c, value);
    }
    return FAIL(p, "%s:%u: %s does not go with \"%.*s\"", p->name, p->line, keys[c->key].name,
                shown(op), op.ptr);
}

static enum vrs_status read_condition(struct parser *p, str line)
{
    if (!p->in_rule)
        return FAIL(p, "%s:%u: a condition needs a rule above it", p->name, p->line);
    str key = next_word(&line), op = next_word(&line);
    struct rule_condition c = { .key = RULE_KEY_ALLOC_ANY };
    uint32_t i = 0;
    while (i < RULE_KEYS && !str_equal(key, str_from(keys[i].name)))
        i++;
    if (i == RULE_KEYS)
        return FAIL(p, "%s:%u: unknown key \"%.*s\"", p->name, p->line, shown(key), key.ptr);
    c.key = (enum rule_key)i;
    TRY(read_value(p, &c, op, line));
    if (!vec_push(&p->to->condition, c))
        return vrs_no_memory(p->err);
    p->to->rule.at[p->to->rule.len - 1].conditions++;
    return VRS_OK;
}

/* "set user_root = src/", "plumbing = my_pkg/wrappers": what stands behind `name =`. */
static enum vrs_status read_setting(struct parser *p, str name, str line)
{
    bool root = str_equal(name, S("set"));
    if (root)
        name = next_word(&line);
    str equal = next_word(&line);
    if (!str_equal(name, root ? S("user_root") : S("plumbing")))
        return FAIL(p,
                    "%s:%u: unknown word \"%.*s\"; a line begins with rule, set user_root or "
                    "plumbing, or is indented",
                    p->name, p->line, shown(name), name.ptr);
    if (!str_equal(equal, S("=")) || line.len == 0)
        return FAIL(p, "%s:%u: %.*s = needs a path", p->name, p->line, shown(name), name.ptr);
    str kept;
    TRY(keep(p, line, &kept));
    if (!root)
        return vec_push(&p->to->plumbing, kept) ? VRS_OK : vrs_no_memory(p->err);
    p->to->user_root = kept;
    return VRS_OK;
}

static enum vrs_status read_line(struct parser *p, str line)
{
    bool indented = line.len != 0 && is_blank(line.ptr[0]);
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] == '#' && (i == 0 || is_blank(line.ptr[i - 1])))
            line.len = i;
    line = trimmed(line);
    if (line.len == 0)
        return VRS_OK;
    if (indented)
        return read_condition(p, line);
    TRY(end_rule(p));
    str word = next_word(&line);
    return str_equal(word, S("rule")) ? read_header(p, line) : read_setting(p, word, line);
}

void category_rules_init(struct category_rules *r)
{
    *r = (struct category_rules){ .user_root = S("") };
    r->rule.max = r->condition.max = r->text.max = r->plumbing.max = 1u << 16;
    arena_init(&r->arena, SIZE_MAX / 2);
}

void category_rules_free(struct category_rules *r)
{
    for (uint32_t i = 0; i < r->text.len; i++)
        if (r->text.at[i].pattern != NULL)
            pattern_free(r->text.at[i].pattern);
    vec_free(&r->rule);
    vec_free(&r->condition);
    vec_free(&r->text);
    vec_free(&r->plumbing);
    arena_free(&r->arena);
}

enum vrs_status category_rules_read(struct category_rules *r, str text, const char *name,
                                    struct vrs_error *err)
{
    struct parser p = { .to = r, .name = str_path_end(str_from(name)).ptr, .err = err };
    text = utf8_without_mark(text);
    while (text.len != 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t len = end == NULL ? text.len : (size_t)(end - text.ptr);
        p.line++;
        TRY(read_line(&p, (str){ text.ptr, len }));
        len += end != NULL;
        text = (str){ text.ptr + len, text.len - len };
    }
    return end_rule(&p);
}
