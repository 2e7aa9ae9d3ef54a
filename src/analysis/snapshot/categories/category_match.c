/* category_match.c - conditions on stacks as bits, the others one by one. */
#include "analysis/snapshot/categories/category_match.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/attribution/frame_class.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/literals.h"
#include "base/pattern.h"
#include "base/radix_sort.h"
#include "base/sorted.h"
#include "base/str.h"
#include "base/table.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/stacks.h"
#include "model/strings.h"

/* Long names may be shared by many frames: the end of a path and the head of a name are looked at,
 * where what tells them apart stands. */
enum { PATH_BYTES = 160, FUNCTION_BYTES = 512, EXPRESSION_SHOWN = 40 };

static bool asks_stack(enum rule_key key)
{
    return key <= RULE_KEY_FREE_NATIVE;
}

static bool asks_free(enum rule_key key)
{
    return key == RULE_KEY_FREE_ANY || key == RULE_KEY_FREE_NATIVE;
}

static bool asks_multiset(const struct rule_condition *c)
{
    return c->op == OP_IN_MULTISET || c->op == OP_NOT_IN_MULTISET ||
           c->key == RULE_KEY_WEIGHTS_KNOWN;
}

/* The first rule that asks for a text. */
static str asking_rule(const struct category_rules *rules, uint32_t text)
{
    uint32_t rule = 0, c = 0;
    while (!asks_stack(rules->condition.at[c].key) || rules->condition.at[c].number != text)
        c++;
    while (rules->rule.at[rule].first + rules->rule.at[rule].conditions <= c)
        rule++;
    return rules->rule.at[rule].id;
}

static enum vrs_status text_holds(const struct matcher *m, uint32_t text, str of, bool *ret,
                                  struct vrs_error *err)
{
    const struct rule_text *t = &m->rules->text.at[text];
    struct vrs_error why;
    if (t->pattern == NULL) {
        *ret = str_equal(of, t->text);
        return VRS_OK;
    }
    enum vrs_status status = pattern_matches(t->pattern, m->room, of, ret, &why);
    if (status != VRS_LIMIT)
        return status == VRS_OK ? VRS_OK : vrs_no_memory(err);
    str rule = asking_rule(m->rules, text);
    return vrs_fail(err, VRS_LIMIT, "rule %.*s: the expression \"%.*s\" needs %s", (int)rule.len,
                    rule.ptr, t->text.len > EXPRESSION_SHOWN ? EXPRESSION_SHOWN : (int)t->text.len,
                    t->text.ptr, why.message);
}

/* "path/file.py:function", or the function of a native frame. */
static str frame_text(struct matcher *m, struct buf *to, frame_id id, bool native)
{
    struct frame frame = frames_get(&m->r->code.frames, id);
    str file = strings_text(&m->r->code.strings, frame.file);
    str name = strings_text(&m->r->code.strings, frame.name);
    to->len = 0;
    if (!native) {
        size_t from = file.len > PATH_BYTES ? file.len - PATH_BYTES : 0;
        buf_bytes(to, file.ptr + from, file.len - from);
        for (size_t i = 0; i < to->len; i++)
            if (to->at[i] == '\\')
                to->at[i] = '/';
        buf_char(to, ':');
    }
    buf_bytes(to, name.ptr, name.len > FUNCTION_BYTES ? FUNCTION_BYTES : name.len);
    return buf_slice(to);
}

/* The texts that a frame matches. */
static enum vrs_status match_frame(const struct matcher *m, str words, bool native, uint64_t *to,
                                   struct vrs_error *err)
{
    struct trigrams trigrams;
    trigrams_find(&trigrams, words);
    for (uint32_t k = 0; k < m->rules->text.len; k++) {
        const struct rule_text *t = &m->rules->text.at[k];
        bool may = t->pattern == NULL || pattern_may_match(t->pattern, &trigrams);
        bool any = t->key == RULE_KEY_ALLOC_ANY || t->key == RULE_KEY_FREE_ANY;
        bool asked =
            any || (native && (t->key == RULE_KEY_ALLOC_NATIVE || t->key == RULE_KEY_FREE_NATIVE));
        bool holds = false;
        if (asked && may)
            TRY(text_holds(m, k, words, &holds, err));
        to[k / 64] |= (uint64_t)holds << k % 64;
    }
    return VRS_OK;
}

static enum vrs_status match_frames(struct matcher *m, uint32_t *latest, struct buf *text,
                                    uint64_t *of_frame, struct vrs_error *err)
{
    for (uint32_t i = 1; i < m->r->code.frames.rows.len; i++) {
        uint64_t *to = of_frame + (size_t)i * m->text_words;
        uint32_t twin = frames_twin(&m->r->code.frames, i, latest);
        if (twin != 0) {
            memcpy(to, of_frame + (size_t)twin * m->text_words, m->text_words * sizeof *to);
            continue;
        }
        bool native = naming_class(m->naming, (frame_id){ i }) == FRAME_NATIVE;
        str words = frame_text(m, text, (frame_id){ i }, native);
        if (text->failed)
            return vrs_no_memory(err);
        TRY(match_frame(m, words, native, to, err));
    }
    return VRS_OK;
}

static enum vrs_status look_at_frames(struct matcher *m, struct arena *arena, uint64_t *of_frame,
                                      struct vrs_error *err)
{
    struct buf text;
    uint32_t *latest = arena_array(arena, uint32_t, m->r->code.strings.rows.len);
    if (latest == NULL)
        return vrs_no_memory(err);
    buf_init(&text, SIZE_MAX / 2);
    enum vrs_status status = match_frames(m, latest, &text, of_frame, err);
    buf_free(&text);
    return status;
}

static enum vrs_status look_at_stacks(struct matcher *m, struct arena *arena, struct vrs_error *err)
{
    const struct stacks *s = &m->r->code.stacks;
    size_t words = m->text_words;
    uint64_t *of_frame = arena_array(arena, uint64_t, m->r->code.frames.rows.len * words);
    m->texts_of = arena_array(arena, uint64_t, s->rows.len * words);
    if (of_frame == NULL || m->texts_of == NULL)
        return vrs_no_memory(err);
    TRY(look_at_frames(m, arena, of_frame, err));
    for (uint32_t i = 1; i < s->rows.len; i++)
        for (uint32_t w = 0; w < words; w++)
            m->texts_of[i * words + w] =
                m->texts_of[s->caller[i] * words + w] | of_frame[s->frame[i] * words + w];
    return VRS_OK;
}

static uint64_t *excluded_by(const struct matcher *m, uint32_t text, bool matched)
{
    return m->excluded + ((size_t)text * 2 + matched) * m->words;
}

static void fill_excluded(const struct matcher *m)
{
    for (uint32_t rule = 0; rule < m->rules->rule.len; rule++) {
        const struct category_rule *r = &m->rules->rule.at[rule];
        for (uint32_t c = 0; c < r->conditions; c++) {
            const struct rule_condition *condition = &m->rules->condition.at[r->first + c];
            if (asks_stack(condition->key))
                excluded_by(m, (uint32_t)condition->number,
                            condition->op == OP_MATCHES_NOT)[rule / 64] |= (uint64_t)1 << rule % 64;
        }
    }
}

/* For each value of a word key the rules that it leaves. */
static void fill_words(const struct matcher *m, enum rule_key key, uint64_t *to, uint32_t values)
{
    for (uint32_t rule = 0; rule < m->rules->rule.len; rule++)
        for (uint32_t v = 0; v < values; v++)
            to[v * m->words + rule / 64] |= (uint64_t)1 << rule % 64;
    for (uint32_t rule = 0; rule < m->rules->rule.len; rule++) {
        const struct category_rule *r = &m->rules->rule.at[rule];
        for (uint32_t c = 0; c < r->conditions; c++) {
            const struct rule_condition *condition = &m->rules->condition.at[r->first + c];
            for (uint32_t v = 0; condition->key == key && v < values; v++)
                if ((condition->number >> v & 1) == 0)
                    to[v * m->words + rule / 64] &= ~((uint64_t)1 << rule % 64);
        }
    }
}

static void fill_open(struct matcher *m)
{
    uint32_t len = 0;
    for (uint32_t rule = 0; rule < m->rules->rule.len; rule++) {
        const struct category_rule *r = &m->rules->rule.at[rule];
        m->first_open[rule] = len;
        for (uint32_t c = 0; c < r->conditions; c++) {
            struct rule_condition condition = m->rules->condition.at[r->first + c];
            bool settled = asks_stack(condition.key) || condition.key == RULE_KEY_BORN ||
                           condition.key == RULE_KEY_ORIGIN;
            if (!settled)
                m->open[len++] = condition;
        }
    }
    m->first_open[m->rules->rule.len] = len;
}

static bool asks_gradients(const struct category_rules *rules, const struct category_rule *rule)
{
    if (rule->category >= CATEGORIES)
        return true; /* what others of known category make of it */
    for (uint32_t c = 0; c < rule->conditions; c++)
        if (asks_multiset(&rules->condition.at[rule->first + c]))
            return true;
    return false;
}

int64_t interval_end(const struct phases *p, uint32_t interval, int64_t events)
{
    return interval + 1 < p->intervals ? (int64_t)p->interval[interval + 1].first_event : events;
}

/* Smaller ones share their size with too many others to say what a line makes. */
enum { GRADIENT_BYTES = 4096 };

/* What a graph keeps at the least: tensors, and the part of those that an interval bears. */
enum { GRAPH_TENSORS = 4, GRAPH_PART = 4 };

static bool in_backward(uint8_t born)
{
    return born == PHASE_BACKWARD || born == PHASE_RECOMPUTE;
}

/* The built-in rules ask of one size which request is its first: what is found of it is kept. Where
 * others ask, too, it is found of all sizes at once. */
static enum vrs_status find_firsts(struct matcher *m, struct arena *arena, struct vrs_error *err)
{
    const struct lifetimes *l = m->lifetimes;
    uint32_t asking = 0, rows = 0;
    for (uint32_t i = 0; i < m->rules->condition.len; i++)
        asking += m->rules->condition.at[i].key == RULE_KEY_FIRST_OF_SIZE;
    if (asking < 2)
        return VRS_OK;
    m->is_first = arena_array(arena, bool, l->count);
    struct arena_mark mark = arena_mark(arena);
    struct radix_row *row = arena_array(arena, struct radix_row, l->count);
    struct radix_room room;
    if (m->is_first == NULL || row == NULL || !radix_room_make(&room, l->count, arena))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < l->count; i++)
        if (l->at[i].birth >= 0)
            row[rows++] = (struct radix_row){ .key = l->at[i].bytes,
                                              .id = i,
                                              .first = in_backward(m->born[i]) };
    row = radix_sort(row, rows, &room);
    for (uint32_t i = 0; i < rows; i++)
        m->is_first[row[i].id] =
            i == 0 || row[i].key != row[i - 1].key || row[i].first != row[i - 1].first;
    arena_release(arena, mark);
    return VRS_OK;
}

/* Is so much of an interval kept that it is a graph? */
static bool is_graph(uint32_t kept, uint32_t made)
{
    return kept >= GRAPH_TENSORS && kept >= made / GRAPH_PART;
}

/* Which intervals bear a graph, and whether it outlives the interval after them. */
static enum vrs_status know_graphs(struct matcher *m, const uint32_t *interval, struct arena *arena,
                                   struct vrs_error *err)
{
    uint32_t intervals = m->phases->intervals;
    uint32_t *made = arena_array(arena, uint32_t, intervals);
    uint32_t *kept = arena_array(arena, uint32_t, intervals);
    uint32_t *beyond = arena_array(arena, uint32_t, intervals);
    m->keeps_graph = arena_array(arena, bool, intervals);
    m->keeps_beyond = arena_array(arena, bool, intervals);
    if (made == NULL || kept == NULL || beyond == NULL || m->keeps_graph == NULL ||
        m->keeps_beyond == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < m->lifetimes->count; i++) {
        uint32_t in = interval[i];
        if (in == NO_ROW)
            continue;
        int64_t freed = m->lifetimes->at[i].requested;
        made[in]++;
        kept[in] += freed >= interval_end(m->phases, in, m->events);
        beyond[in] += in + 1 < intervals && freed >= interval_end(m->phases, in + 1, m->events);
    }
    for (uint32_t i = 0; i < intervals; i++) {
        m->keeps_graph[i] = is_graph(kept[i], made[i]);
        m->keeps_beyond[i] = is_graph(beyond[i], made[i]);
    }
    return VRS_OK;
}

static int by_bytes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The sizes that parameters may have: a gradient has that of its parameter. */
static enum vrs_status know_older(struct matcher *m, struct arena *arena, struct vrs_error *err)
{
    m->older = arena_array(arena, uint64_t, m->lifetimes->count);
    if (m->older == NULL)
        return vrs_no_memory(err);
    m->olders = 0;
    bool passed = false; /* has a forward begun? */
    for (uint32_t i = 0; i < m->lifetimes->count; i++) {
        const struct lifetime *l = &m->lifetimes->at[i];
        passed = passed || m->born[i] == PHASE_FORWARD;
        bool before =
            l->birth < 0 || m->born[i] == PHASE_INIT || (m->born[i] == PHASE_OTHER && !passed);
        if (before && l->requested >= m->events)
            m->older[m->olders++] = l->bytes;
    }
    if (m->olders > 1)
        qsort(m->older, m->olders, sizeof *m->older, by_bytes);
    return VRS_OK;
}

enum vrs_status matcher_know(struct matcher *m, const struct lifetimes *lifetimes,
                             const struct tokens *tokens, const uint8_t *born,
                             const uint32_t *interval, const stack_id *freed_by,
                             struct arena *arena, struct vrs_error *err)
{
    m->lifetimes = lifetimes;
    m->born = born;
    TRY(know_graphs(m, interval, arena, err));
    TRY(know_older(m, arena, err));
    TRY(makers_make(&m->r->code, tokens, lifetimes, born, arena, &m->makers, err));
    TRY(find_firsts(m, arena, err));
    return growing_find(lifetimes, m->steps, freed_by, m->r->code.stacks.rows.len, m->events, arena,
                        &m->growing, err);
}

static void fill_latest(const struct matcher *m)
{
    for (uint32_t i = 0; i < m->phases->intervals; i++) {
        for (int phase = 0; phase < PHASES; phase++)
            m->latest[i][phase] = i == 0 ? 0 : m->latest[i - 1][phase];
        m->latest[i][m->phases->interval[i].phase] = i + 1;
    }
}

/* Copying, making a model and what is no phase's are no work of their own. */
static void fill_work(const struct matcher *m)
{
    uint8_t last = PHASE_OTHER;
    for (uint32_t i = 0; i < m->phases->intervals; i++) {
        uint8_t phase = m->phases->interval[i].phase;
        if (phase != PHASE_OTHER && phase != PHASE_INIT && phase != PHASE_DATA)
            last = phase;
        m->work[i] = last;
    }
}

static void fill_after(struct matcher *m)
{
    for (int phase = 0; phase < PHASES; phase++)
        m->after[m->phases->intervals][phase] = -1;
    for (uint32_t i = m->phases->intervals; i-- > 0;) {
        const struct phase_interval *interval = &m->phases->interval[i];
        for (int phase = 0; phase < PHASES; phase++)
            m->after[i][phase] = m->after[i + 1][phase];
        m->after[i][interval->phase] = interval->last_event;
    }
}

enum vrs_status matcher_make(const struct recording *r, uint32_t device,
                             const struct category_rules *rules, const struct phases *phases,
                             const struct steps *steps, struct naming *naming,
                             const struct pattern_room *room, struct arena *arena,
                             struct matcher *ret, struct vrs_error *err)
{
    struct matcher m = {
        .r = r,
        .rules = rules,
        .phases = phases,
        .steps = steps,
        .naming = naming,
        .room = room,
        .events = r->devices.events[device],
        .words = (rules->rule.len + 63) / 64,
        .text_words = (rules->text.len + 63) / 64,
    };
    size_t stacks = r->code.stacks.rows.len, frames = r->code.frames.rows.len;
    m.open = arena_array(arena, struct rule_condition, rules->condition.len);
    m.first_open = arena_array(arena, uint32_t, rules->rule.len + 1);
    m.excluded = arena_array(arena, uint64_t, (size_t)rules->text.len * 2 * m.words);
    m.by_alloc = arena_array(arena, uint64_t, stacks * m.words);
    m.by_free = arena_array(arena, uint64_t, stacks * m.words);
    m.alloc_known = arena_array(arena, bool, stacks);
    m.free_known = arena_array(arena, bool, stacks);
    m.by_born = arena_array(arena, uint64_t, (size_t)(PHASES + 1) * m.words);
    m.line_asked = arena_array(arena, uint64_t, frames * m.text_words);
    m.line_matches = arena_array(arena, uint64_t, frames * m.text_words);
    m.by_origin = arena_array(arena, uint64_t, (size_t)(ORIGIN_PRE_LIVE + 1) * m.words);
    m.by_gradients = arena_array(arena, uint64_t, m.words);
    m.after = arena_take_array(arena, (size_t)phases->intervals + 1, sizeof *m.after);
    m.latest = arena_take_array(arena, phases->intervals, sizeof *m.latest);
    m.work = arena_array(arena, uint8_t, phases->intervals);
    m.first_of_size = arena_array(arena, struct first_of_size, 1);
    if (m.open == NULL || m.first_open == NULL || m.excluded == NULL || m.by_gradients == NULL ||
        m.by_alloc == NULL || m.by_free == NULL || m.alloc_known == NULL || m.free_known == NULL ||
        m.line_asked == NULL || m.line_matches == NULL || m.by_born == NULL ||
        m.by_origin == NULL || m.after == NULL || m.latest == NULL || m.work == NULL ||
        m.first_of_size == NULL)
        return vrs_no_memory(err);
    fill_open(&m);
    fill_excluded(&m);
    fill_words(&m, RULE_KEY_BORN, m.by_born, PHASES + 1);
    fill_words(&m, RULE_KEY_ORIGIN, m.by_origin, ORIGIN_PRE_LIVE + 1);
    for (uint32_t i = 0; i < rules->rule.len; i++)
        if (asks_gradients(rules, &rules->rule.at[i]))
            m.by_gradients[i / 64] |= (uint64_t)1 << i % 64;
    fill_after(&m);
    fill_work(&m);
    fill_latest(&m);
    TRY(segment_index_make(r, device, arena, &m.segments, err));
    TRY(look_at_stacks(&m, arena, err));
    *ret = m;
    return VRS_OK;
}

static bool in_multiset(const struct matcher *m, uint64_t bytes)
{
    uint32_t at;
    SORTED_FIND(at, m->sizes, m->multiset[at].bytes < bytes);
    return at < m->sizes && m->multiset[at].bytes == bytes;
}

/* The line that made a tensor, where it was made with a model; 0: none. */
static uint32_t maker_of(const struct matcher *m, const struct lifetime *l)
{
    return m->makers.of_stack[l->alloc_stack.n];
}

/* Does what is older have nine tenths of the gradients' bytes, in their sizes? */
static bool weights_known(const struct matcher *m)
{
    uint64_t all = 0, found = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < m->sizes; i++) {
        uint32_t there = 0;
        while (at < m->olders && m->older[at] < m->multiset[i].bytes)
            at++;
        for (; at < m->olders && m->older[at] == m->multiset[i].bytes; at++)
            there++;
        there = there < m->multiset[i].count ? there : m->multiset[i].count;
        all += m->multiset[i].bytes * m->multiset[i].count;
        found += m->multiset[i].bytes * there;
    }
    return found != 0 && found / 9 >= (all - found);
}

void matcher_know_gradients(struct matcher *m, struct size_count *multiset, uint32_t sizes)
{
    m->multiset = multiset;
    m->sizes = sizes;
    m->weights_known = weights_known(m);
    for (uint32_t i = 0; i < m->lifetimes->count; i++) {
        const struct lifetime *l = &m->lifetimes->at[i];
        if (m->born[i] == PHASE_INIT && l->bytes >= GRADIENT_BYTES && l->requested >= m->events &&
            in_multiset(m, l->bytes))
            m->makers.gradient[maker_of(m, l)] = true;
    }
}

/* Does the line of a frame match a text?  `frame` is 0 where the line is none. */
static enum vrs_status line_matches(const struct matcher *m, frame_id frame, str line,
                                    uint32_t text, bool *ret, struct vrs_error *err)
{
    size_t word = (size_t)frame.n * m->text_words + text / 64;
    uint64_t bit = (uint64_t)1 << text % 64;
    if (frame.n == 0 || (m->line_asked[word] & bit) == 0)
        TRY(text_holds(m, text, line, ret, err));
    else
        *ret = (m->line_matches[word] & bit) != 0;
    m->line_asked[word] |= bit;
    m->line_matches[word] |= *ret ? bit : 0;
    return VRS_OK;
}

/* Does the stack match a text: some frame of it, or the line that naming chooses? */
static enum vrs_status stack_matches(struct matcher *m, stack_id stack, uint32_t text, bool *ret,
                                     struct vrs_error *err)
{
    const struct rule_text *t = &m->rules->text.at[text];
    struct stack_names names;
    *ret = m->texts_of[(size_t)stack.n * m->text_words + text / 64] >> text % 64 & 1;
    if (t->key != RULE_KEY_ALLOC_OWNER && t->key != RULE_KEY_ALLOC_CULPRIT)
        return VRS_OK;
    TRY(naming_of(m->naming, stack, &names, err));
    if (t->key == RULE_KEY_ALLOC_OWNER)
        return line_matches(m, names.owner_frame, names.owner, text, ret, err);
    return line_matches(m, names.culprit_frame, names.culprit, text, ret, err);
}

/* The rules that a stack leaves, of the conditions on allocs or those on frees. */
static enum vrs_status settle(struct matcher *m, stack_id stack, bool alloc, uint64_t *to,
                              struct vrs_error *err)
{
    for (uint32_t w = 0; w < m->words; w++)
        to[w] = UINT64_MAX;
    for (uint32_t text = 0; text < m->rules->text.len; text++) {
        bool matched;
        if (alloc == asks_free(m->rules->text.at[text].key))
            continue;
        TRY(stack_matches(m, stack, text, &matched, err));
        for (uint32_t w = 0; w < m->words; w++)
            to[w] &= ~excluded_by(m, text, matched)[w];
    }
    return VRS_OK;
}

uint64_t matcher_steps_lived(const struct matcher *m, const struct lifetime *l)
{
    const struct steps *s = m->steps;
    uint32_t born, freed;
    SORTED_FIND(born, s->count, (int64_t)s->boundary[born].event <= l->birth);
    SORTED_FIND(freed, s->count, (int64_t)s->boundary[freed].event < l->freed);
    bool last =
        s->count != 0 && l->birth <= (int64_t)s->end_event && l->freed > (int64_t)s->end_event + 1;
    return (freed > born ? freed - born : 0) + (uint64_t)last;
}

static bool compare(uint64_t value, const struct rule_condition *c)
{
    switch (c->op) {
    case OP_LESS:
        return value < c->number;
    case OP_AT_LEAST:
        return value >= c->number;
    case OP_EQUAL:
        return value == c->number;
    case OP_MATCHES:
    case OP_MATCHES_NOT:
    case OP_IN_MULTISET:
    case OP_NOT_IN_MULTISET:
        break;
    }
    return false;
}

static bool says(uint64_t wanted, bool yes)
{
    return (wanted & (yes ? RULE_YES : RULE_NO)) != 0;
}

static bool size_holds(const struct matcher *m, const struct rule_condition *c,
                       const struct lifetime *l)
{
    uint64_t bytes = l->bytes;
    if (c->key == RULE_KEY_WEIGHTS_KNOWN)
        return says(c->number, m->weights_known);
    if (c->key == RULE_KEY_MAKER_LINE)
        return maker_of(m, l) != 0 && m->makers.gradient[maker_of(m, l)];
    if (c->op == OP_IN_MULTISET)
        return in_multiset(m, bytes);
    if (c->op == OP_NOT_IN_MULTISET)
        return m->sizes != 0 && !in_multiset(m, bytes);
    return compare(bytes, c);
}

/* Where the free has no stack that says more, the interval around it does. */
static bool dies_in(const struct matcher *m, const struct subject *s, uint64_t wanted)
{
    const struct lifetime *l = s->life;
    int64_t dies = l->requested < l->freed ? l->requested : l->freed;
    if (dies >= m->events)
        return false;
    if ((wanted & RULE_SAME_INTERVAL) != 0 && s->interval != NO_ROW &&
        dies < interval_end(m->phases, s->interval, m->events))
        return true;
    if (s->freed_by.n != 0)
        return wanted >> m->phases->of_stack[s->freed_by.n] & 1;
    uint32_t interval = phases_at(m->phases, dies);
    return interval != NO_ROW && (wanted >> m->phases->interval[interval].phase & 1) != 0;
}

/* The first interval that begins after its birth; all that there are is one more. */
static uint32_t next_interval(const struct subject *s)
{
    return s->interval == NO_ROW ? 0 : s->interval + 1;
}

/* The last work before its own interval; a short run of what is no phase's lies in that interval.
 */
static uint8_t follows(const struct matcher *m, const struct subject *s)
{
    if (s->interval == NO_ROW)
        return PHASE_OTHER;
    if (m->phases->interval[s->interval].phase != s->born)
        return m->work[s->interval];
    return s->interval == 0 ? (uint8_t)PHASE_OTHER : m->work[s->interval - 1];
}

/* Does such an interval follow the one it is born in?  A short run of what is no phase's stands
 * before the rest of the interval that it lies in. */
static bool before(const struct matcher *m, const struct subject *s, uint64_t wanted)
{
    uint32_t next = next_interval(s);
    if (s->interval != NO_ROW) {
        const struct phase_interval *own = &m->phases->interval[s->interval];
        if (own->phase != s->born && s->life->birth < (int64_t)own->last_event)
            next = s->interval;
    }
    return next < m->phases->intervals && (wanted >> m->phases->interval[next].phase & 1) != 0;
}

/* Does an interval of such a phase begin in its life? */
static bool meets(const struct matcher *m, const struct subject *s, uint64_t wanted)
{
    uint32_t dies = phases_at(m->phases, s->life->requested), next = next_interval(s);
    for (int phase = 0; dies != NO_ROW && phase < PHASES; phase++)
        if ((wanted >> phase & 1) != 0 && m->latest[dies][phase] > next)
            return true;
    return false;
}

static bool awaits(const struct matcher *m, const struct subject *s, uint64_t wanted, bool survives)
{
    const int64_t *after = m->after[next_interval(s)];
    for (int phase = 0; phase < PHASES; phase++) {
        if ((wanted >> phase & 1) == 0)
            continue;
        if (survives && after[phase] >= 0 && s->life->requested > after[phase])
            return true;
        if (!survives && after[phase] >= 0)
            return false;
    }
    return !survives;
}

static bool pool_is(const struct matcher *m, const struct subject *s,
                    const struct rule_condition *c)
{
    pool_id pool = allocation_pool(m->r, &m->segments, s->allocation);
    uint64_t first = m->r->pools.first[pool.n], second = m->r->pools.second[pool.n];
    return pool.n != 0 && compare(second != 0 ? second : first, c);
}

static bool first_of_size(const struct matcher *m, const struct subject *s)
{
    struct first_of_size *first = m->first_of_size;
    const struct lifetimes *l = m->lifetimes;
    if (s->life->birth < 0)
        return false;
    if (m->is_first != NULL)
        return m->is_first[s->life - l->at];
    if (first->bytes != s->life->bytes) {
        *first = (struct first_of_size){ s->life->bytes, { NO_ROW, NO_ROW } };
        for (uint32_t i = 0; i < l->count; i++) {
            uint32_t *to = &first->allocation[in_backward(m->born[i])];
            if (*to == NO_ROW && l->at[i].birth >= 0 && l->at[i].bytes == first->bytes)
                *to = i;
        }
    }
    uint32_t i = first->allocation[in_backward(s->born)];
    return i != NO_ROW && &l->at[i] == s->life;
}

/* A loss outside of modules ends the graph of the forward before it. */
static bool bears_graph(const struct matcher *m, const struct subject *s)
{
    if (s->interval == NO_ROW)
        return false;
    bool follows = s->interval > 0 && s->born == PHASE_OTHER &&
                   m->phases->interval[s->interval - 1].phase == PHASE_FORWARD;
    return m->keeps_graph[s->interval] || (follows && m->keeps_beyond[s->interval - 1]);
}

/* A graph lets go of all that it saved at once: what is freed sooner was not saved. */
static bool freed_before_graph(const struct matcher *m, const struct subject *s)
{
    uint32_t next = next_interval(s);
    if (s->interval == NO_ROW || next >= m->phases->intervals || !m->keeps_beyond[s->interval])
        return false;
    return m->phases->interval[next].phase == PHASE_OTHER &&
           s->life->requested >= interval_end(m->phases, s->interval, m->events) &&
           s->life->requested < interval_end(m->phases, next, m->events);
}

static bool size_of_older(const struct matcher *m, uint64_t bytes)
{
    uint32_t at;
    SORTED_FIND(at, m->olders, m->older[at] < bytes);
    return at < m->olders && m->older[at] == bytes;
}

static bool condition_holds(const struct matcher *m, const struct subject *s,
                            const struct rule_condition *c)
{
    const struct lifetime *l = s->life;
    switch (c->key) {
    case RULE_KEY_DIES:
        return dies_in(m, s, c->number);
    case RULE_KEY_BEFORE:
        return before(m, s, c->number);
    case RULE_KEY_FOLLOWS:
        return (c->number >> follows(m, s) & 1) != 0;
    case RULE_KEY_MEETS:
        return meets(m, s, c->number);
    case RULE_KEY_MISSES:
        return !meets(m, s, c->number);
    case RULE_KEY_AWAITS:
        return awaits(m, s, c->number, false);
    case RULE_KEY_SURVIVES:
        return awaits(m, s, c->number, true);
    case RULE_KEY_ALIVE_AT_END:
        return says(c->number, l->freed >= m->events);
    case RULE_KEY_REPLACES:
        return says(c->number, s->replaces);
    case RULE_KEY_REPLACED:
        return says(c->number, s->replaced);
    case RULE_KEY_KEEPS_GRAPH:
        return says(c->number, bears_graph(m, s));
    case RULE_KEY_BEFORE_GRAPH:
        return says(c->number, freed_before_graph(m, s));
    case RULE_KEY_SIZE_OF_OLDER:
        return says(c->number, size_of_older(m, l->bytes));
    case RULE_KEY_GROWS:
        return says(c->number, m->growing.caches != NULL &&
                                   m->growing.caches[s->allocation - m->lifetimes->first]);
    case RULE_KEY_RECURS:
        return says(c->number, m->growing.recurs[s->allocation - m->lifetimes->first]);
    case RULE_KEY_MAKER_LINE:
        return (c->number >> m->makers.line[maker_of(m, l)] & 1) != 0;
    case RULE_KEY_FIRST_OF_SIZE:
        return says(c->number, first_of_size(m, s));
    case RULE_KEY_WEIGHTS_KNOWN:
    case RULE_KEY_SIZE:
        return size_holds(m, c, l);
    case RULE_KEY_LIFE_EVENTS: {
        /* A life not seen to its ends is at least so long. */
        bool whole = l->birth >= 0 && l->freed < m->events;
        return (whole || c->op == OP_AT_LEAST) && compare((uint64_t)(l->freed - l->birth), c);
    }
    case RULE_KEY_LIFE_STEPS:
        return compare(matcher_steps_lived(m, l), c);
    case RULE_KEY_STREAM:
        return compare(m->r->streams.handle[allocation_stream(m->r, s->allocation)], c);
    case RULE_KEY_POOL:
        return pool_is(m, s, c);
    case RULE_KEY_ALLOC_ANY:
    case RULE_KEY_ALLOC_NATIVE:
    case RULE_KEY_ALLOC_OWNER:
    case RULE_KEY_ALLOC_CULPRIT:
    case RULE_KEY_FREE_ANY:
    case RULE_KEY_FREE_NATIVE:
    case RULE_KEY_BORN:
    case RULE_KEY_ORIGIN:
    case RULE_KEYS:
        break;
    }
    return true; /* settled by the bits */
}

/* The conditions of a rule that the gradients have no part in. */
static bool holds_by_itself(const struct matcher *m, const struct subject *s, uint32_t rule)
{
    for (uint32_t c = m->first_open[rule]; c < m->first_open[rule + 1]; c++)
        if (!asks_multiset(&m->open[c]) && !condition_holds(m, s, &m->open[c]))
            return false;
    return true;
}

/* The others, and whether there is a category to inherit or one of the split. */
static bool holds_by_gradients(const struct matcher *m, const struct subject *s, uint32_t rule)
{
    enum category category = m->rules->rule.at[rule].category;
    if (category == CATEGORY_INHERITED && s->inherited == CATEGORY_UNKNOWN)
        return false;
    if (category == CATEGORY_SPLIT && s->split == CATEGORY_UNKNOWN)
        return false;
    if (category == CATEGORY_ALIKE && s->alike == CATEGORY_UNKNOWN)
        return false;
    if (category == CATEGORY_LIST && s->list == CATEGORY_UNKNOWN)
        return false;
    for (uint32_t c = m->first_open[rule]; c < m->first_open[rule + 1]; c++)
        if (asks_multiset(&m->open[c]) && !size_holds(m, &m->open[c], s->life))
            return false;
    return true;
}

enum vrs_status matcher_ask(struct matcher *m, const struct subject *subject, uint32_t *ret,
                            bool *ret_final, struct vrs_error *err)
{
    stack_id alloc = subject->life->alloc_stack, freed = subject->freed_by;
    uint64_t *by_alloc = m->by_alloc + (size_t)alloc.n * m->words;
    uint64_t *by_free = m->by_free + (size_t)freed.n * m->words;
    if (!m->alloc_known[alloc.n])
        TRY(settle(m, alloc, true, by_alloc, err));
    m->alloc_known[alloc.n] = true;
    if (!m->free_known[freed.n])
        TRY(settle(m, freed, false, by_free, err));
    m->free_known[freed.n] = true;
    const uint64_t *by_born = m->by_born + (size_t)subject->born * m->words;
    const uint64_t *by_origin = m->by_origin + (size_t)subject->life->origin * m->words;
    *ret_final = true;
    for (uint32_t w = 0; w < m->words; w++) {
        uint64_t left = by_alloc[w] & by_free[w] & by_born[w] & by_origin[w];
        for (; left != 0; left &= left - 1) {
            uint32_t rule = w * 64 + (uint32_t)__builtin_ctzll(left);
            if (!holds_by_itself(m, subject, rule))
                continue;
            bool open = (left & -left & m->by_gradients[w]) != 0;
            *ret_final = *ret_final && !open;
            if (!open || holds_by_gradients(m, subject, rule)) {
                *ret = rule;
                return VRS_OK;
            }
        }
    }
    *ret = NO_ROW;
    return VRS_OK;
}
