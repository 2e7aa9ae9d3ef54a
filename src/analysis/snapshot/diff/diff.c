/* diff.c - rows, tables and totals of a comparison. */
#include "analysis/snapshot/diff/diff.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/naming.h"
#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/diff/diff_groups.h"
#include "analysis/snapshot/diff/diff_keys.h"
#include "analysis/snapshot/diff/diff_match.h"
#include "analysis/snapshot/diff/diff_sums.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/steps/steps.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/stacks.h"
#include "model/strings.h"

const char *const diff_by_names[DIFF_BYS] = { "stack", "culprit", "line", "owner", "category" };
const char *const diff_weight_names[DIFF_WEIGHTS] = { "live", "alloc_bytes", "allocs",
                                                      "byte_events" };
const char *const diff_per_names[DIFF_PERS] = { "nothing", "step", "parameter_byte" };
const char *const diff_change_names[DIFF_CHANGES] = { "grown", "shrunk", "same",
                                                      "new",   "gone",   "moved" };
const char *const diff_stage_names[DIFF_STAGES] = { "M0", "M1", "M2", "M3", "M4" };

uint64_t diff_figure(enum diff_weight weight, const struct diff_amount *amount)
{
    if (weight == DIFF_ALLOCS)
        return amount->count;
    return weight == DIFF_BYTE_EVENTS ? amount->byte_events : amount->bytes;
}

enum vrs_status diff_range_at(const struct study *s, enum diff_weight weight,
                              const struct moment *moment, struct diff_range *ret,
                              struct vrs_error *err)
{
    struct diff_range range = { -1, (int64_t)s->events - 1 };
    struct moment asked = { .kind = AT_PEAK };
    if (moment != NULL)
        asked = *moment;
    if (moment != NULL || weight == DIFF_LIVE)
        TRY(moment_in_study(s, asked, &range.last, err));
    if (asked.kind == AT_STEP) {
        const struct step_boundary *step = &s->steps.boundary[asked.nth - 1];
        range.first = step->event;
        if (weight != DIFF_LIVE)
            range.last = step->end_event;
    }
    *ret = range;
    return VRS_OK;
}

uint64_t diff_per_of(const struct study *s, enum diff_per per, int64_t event)
{
    uint64_t sum = 0;
    if (per == DIFF_PER_NOTHING)
        return 1;
    if (per == DIFF_PER_STEP)
        return s->steps.count;
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        if (s->categories.of[i] == CATEGORY_PARAMETER && lifetime_alive(&s->lifetimes.at[i], event))
            sum += s->lifetimes.at[i].bytes;
    return sum;
}

/* UNKNOWN_U64 where the layout of memory there is not known for sure. */
static enum vrs_status stranded_bytes(const struct proven_study *proven, int64_t event,
                                      uint64_t *ret, struct vrs_error *err)
{
    struct study copy = *proven->study;
    struct proven_study again = *proven;
    struct fragments *fragments = NULL;
    struct arena rows; /* only their sum is kept */
    arena_init(&rows, SIZE_MAX / 2);
    copy.keep = &rows;
    again.study = &copy;
    enum vrs_status status = fragments_compute(&again, event, &fragments, err);
    bool known = status == VRS_OK && fragments != NULL && fragments->exact;
    *ret = known ? fragments->total.stranded_bytes : UNKNOWN_U64;
    arena_free(&rows);
    return status;
}

static enum vrs_status find_end(const struct proven_study *proven, const struct diff_options *o,
                                uint32_t side, struct diff_amount total, struct diff_end *ret,
                                struct vrs_error *err)
{
    const struct study *s = proven->study;
    int64_t event = o->range[side].last;
    struct diff_end end = {
        .at_event = event,
        .at_peak = event == s->curves.of[CURVE_REQUESTED].peak_event,
        .traced = s->traced,
        .total = total,
        .per = diff_per_of(s, o->per, event),
        .reserved_bytes = curve_at(s->r, s->device, CURVE_RESERVED, event),
        .slack_bytes = UNKNOWN_U64,
    };
    uint64_t live = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        if (lifetime_alive(&s->lifetimes.at[i], event))
            live += s->lifetimes.at[i].bytes;
    struct block_bytes blocks = proven_blocks_at(proven, event);
    if (proven->curves.of[CURVE_ACTIVE].exact && blocks.active != UNKNOWN_U64 &&
        blocks.active >= live)
        end.slack_bytes = blocks.active - live;
    if (o->weight == DIFF_LIVE)
        end.adjust_bytes =
            (int64_t)((uint64_t)curve_at(s->r, s->device, CURVE_REQUESTED, event) - total.bytes);
    TRY(stranded_bytes(proven, event, &end.stranded_bytes, err));
    *ret = end;
    return VRS_OK;
}

typedef unsigned u128 __attribute__((mode(TI)));

/* B's figure against A's, each divided by what its side is divided by: both times the other's
 * divisor, so that nothing is rounded. */
struct delta {
    u128 size;
    int sign;
};

static struct delta delta_of(const struct diff *d, const struct diff_amount *of)
{
    u128 a = (u128)diff_figure(d->weight, &of[0]) * d->end[1].per;
    u128 b = (u128)diff_figure(d->weight, &of[1]) * d->end[0].per;
    return b >= a ? (struct delta){ b - a, b > a } : (struct delta){ a - b, -1 };
}

bool diff_above(const struct diff *d, uint64_t a, uint64_t b, uint64_t millionths)
{
    u128 before = (u128)a * d->end[1].per, after = (u128)b * d->end[0].per;
    if (after <= before)
        return false;
    /* Halved until the products fit: what is lost is far below a millionth. */
    while (before >> 64 != 0 || after >> 64 != 0) {
        before >>= 1;
        after >>= 1;
    }
    return (after - before) * 1000000 > before * millionths;
}

void diff_judge(struct diff *d, const struct diff_limit *limit)
{
    uint64_t a = d->end[0].total.bytes, b = d->end[1].total.bytes;
    d->limit = *limit;
    d->limit.ratio = (double)limit->millionths / 1e6;
    if (!limit->set)
        return;
    if (limit->is_ratio)
        d->limit.exceeded = diff_above(d, diff_figure(d->weight, &d->end[0].total),
                                       diff_figure(d->weight, &d->end[1].total), limit->millionths);
    else
        d->limit.exceeded = b > a && b - a > limit->bytes;
}

static int64_t less(uint64_t a, uint64_t b)
{
    return (int64_t)(b - a);
}

static struct diff_delta amounts_less(const struct diff *d, const struct diff_amount *a,
                                      const struct diff_amount *b)
{
    return (struct diff_delta){
        .bytes = less(a->bytes, b->bytes),
        .count = less(a->count, b->count),
        .byte_events = less(a->byte_events, b->byte_events),
        .per = (double)diff_figure(d->weight, b) / (double)d->end[1].per -
               (double)diff_figure(d->weight, a) / (double)d->end[0].per,
    };
}

/* What the sides as a whole differ in. */
static void compare_ends(struct diff *d)
{
    const struct diff_end *a = &d->end[0], *b = &d->end[1];
    d->total = amounts_less(d, &a->total, &b->total);
    d->allocator = (struct diff_allocator){
        .reserved_bytes = less((uint64_t)a->reserved_bytes, (uint64_t)b->reserved_bytes),
        .stranded_bytes = less(a->stranded_bytes, b->stranded_bytes),
        .slack_bytes = less(a->slack_bytes, b->slack_bytes),
        .stranded_known = a->stranded_bytes != UNKNOWN_U64 && b->stranded_bytes != UNKNOWN_U64,
        .slack_known = a->slack_bytes != UNKNOWN_U64 && b->slack_bytes != UNKNOWN_U64,
    };
}

struct sortable {
    struct delta delta;
    uint64_t both; /* figures of both sides */
    str name;
    uint64_t number; /* of a size, larger ones first */
    uint32_t index;
};

static int by_change(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    if (x->delta.size != y->delta.size)
        return x->delta.size > y->delta.size ? -1 : 1;
    if (x->both != y->both)
        return x->both > y->both ? -1 : 1;
    int name = str_compare(x->name, y->name);
    if (name != 0)
        return name;
    if (x->number != y->number)
        return x->number > y->number ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static struct sortable sortable_of(const struct diff *d, const struct diff_amount of[2], str name,
                                   uint32_t index)
{
    uint64_t both = diff_figure(d->weight, &of[0]) + diff_figure(d->weight, &of[1]);
    return (struct sortable){ delta_of(d, of), both, name, 0, index };
}

/* An order of `count` things that `order` describes. */
static void sort(struct sortable *order, uint32_t count)
{
    if (count > 1)
        qsort(order, count, sizeof *order, by_change);
}

static enum vrs_status keep_table(struct sums *s, const struct diff *d, const struct tally *tally,
                                  struct diff_table *ret, struct vrs_error *err)
{
    uint32_t count = tally->parts.len - 1;
    struct arena_mark mark = arena_mark(s->scratch);
    struct diff_part *part = arena_array(s->keep, struct diff_part, count);
    struct sortable *order = arena_array(s->scratch, struct sortable, count);
    if (part == NULL || order == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        const struct diff_part *from = &tally->parts.at[i + 1];
        order[i] = sortable_of(d, from->of, from->name, i);
        order[i].number = from->number;
    }
    sort(order, count);
    for (uint32_t i = 0; i < count; i++) {
        part[i] = tally->parts.at[order[i].index + 1];
        part[i].delta = amounts_less(d, &part[i].of[0], &part[i].of[1]);
    }
    arena_release(s->scratch, mark);
    *ret = (struct diff_table){ part, count };
    return VRS_OK;
}

/* Rows ---------------------------------------------------------------------------------------- */

/* What is put together for one row before it has a name. */
struct make_context {
    struct sums *sums;
    struct diff *d;
    struct diff_row *row;  /* of each match */
    uint32_t *piece;       /* of each match: its first */
    uint64_t (*figure)[2]; /* of the largest piece of each side */
    bool *used[2];         /* of each stack under the last key: a caller on that side */
};

static void add_piece(struct make_context *m, const struct diff_piece *piece, uint32_t id)
{
    struct diff_row *row = &m->row[piece->match];
    if (m->piece[piece->match] == 0)
        m->piece[piece->match] = id;
    for (int side = 0; side < 2; side++) {
        row->of[side].bytes += piece->of[side].bytes;
        row->of[side].count += piece->of[side].count;
        row->of[side].byte_events += piece->of[side].byte_events;
        uint64_t *figure = &m->figure[piece->match][side];
        bool first = !row->has_stack[side];
        if (piece->largest[side].there && (first || piece->largest[side].figure > *figure)) {
            *figure = piece->largest[side].figure;
            row->stack[side] = piece->largest[side].stack;
            row->has_stack[side] = true;
        }
    }
}

static enum diff_change change_of(const struct diff *d, const struct diff_row *row)
{
    if (row->stage == DIFF_FUZZY && !row->stages_differ)
        return DIFF_MOVED;
    if (row->of[0].count == 0 || row->of[1].count == 0)
        return row->of[0].count == 0 ? DIFF_NEW : DIFF_GONE;
    int sign = delta_of(d, row->of).sign;
    if (sign == 0 && d->per == DIFF_PER_NOTHING) {
        /* Sums may agree where what they are made of does not. */
        const struct diff_amount *a = &row->of[0], *b = &row->of[1];
        sign = (b->bytes > a->bytes) - (b->bytes < a->bytes);
        if (sign == 0)
            sign = (b->count > a->count) - (b->count < a->count);
    }
    return sign == 0 ? DIFF_SAME : sign > 0 ? DIFF_GROWN : DIFF_SHRUNK;
}

static enum vrs_status join_text(struct sums *s, str a, const char *between, str b, str *ret,
                                 struct vrs_error *err)
{
    s->text.len = 0;
    buf_str(&s->text, a);
    buf_text(&s->text, between);
    buf_str(&s->text, b);
    *ret = s->text.failed ? (str){ NULL, 0 } : arena_copy(s->keep, buf_slice(&s->text));
    return ret->ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

/* Copies a text; an empty one is none. */
static enum vrs_status keep_text(struct sums *s, str text, str *ret, struct vrs_error *err)
{
    *ret = (str){ NULL, 0 };
    if (text.len == 0)
        return VRS_OK;
    *ret = arena_copy(s->keep, text);
    return ret->ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

/* What stands for a stack in rows of a kind, and under it. */
static enum vrs_status name_stack(struct sums *s, uint32_t side, stack_id stack, str *ret,
                                  struct diff_row *row, struct vrs_error *err)
{
    struct naming *naming = s->side[side]->naming;
    struct stack_names names;
    str called_from, innermost;
    TRY(naming_of(naming, stack, &names, err));
    TRY(naming_innermost(naming, stack, &innermost, err));
    TRY(keep_text(s, innermost, &row->innermost, err));
    TRY(naming_called_from(naming, stack, &called_from, err));
    TRY(keep_text(s, called_from, &row->called_from, err));
    TRY(keep_text(s, names.owner, &row->owner, err));
    TRY(keep_text(s, naming_operator(naming, stack), &row->operator_name, err));
    return keep_text(s, s->options->by == DIFF_OWNERS ? names.owner : names.culprit, ret, err);
}

static enum vrs_status name_site(struct sums *s, struct diff_row *row, struct vrs_error *err)
{
    str name[2] = { { NULL, 0 }, { NULL, 0 } };
    for (uint32_t side = 0; side < 2; side++)
        if (row->has_stack[side])
            TRY(name_stack(s, side, row->stack[side], &name[side], row, err));
    row->name = name[1].ptr != NULL ? name[1] : name[0];
    if (name[0].ptr != NULL && name[1].ptr != NULL && !str_equal(name[0], name[1]))
        row->old_name = name[0];
    if (!row->has_stack[0] || !row->has_stack[1])
        return VRS_OK;
    stack_id exact[2];
    for (uint32_t side = 0; side < 2; side++)
        TRY(diff_keys_of(s->keys, side, row->stack[side], SITE_EXACT, &exact[side], err));
    row->same_stack = exact[0].n == exact[1].n;
    return VRS_OK;
}

static enum vrs_status name_row(struct make_context *m, const struct diff_matched *match,
                                const struct diff_piece *piece, struct diff_row *row,
                                struct vrs_error *err)
{
    struct sums *s = m->sums;
    if (piece->kind == PIECE_SITE && !match->small)
        return name_site(s, row, err);
    row->has_stack[0] = row->has_stack[1] = false;
    if (match->small) {
        row->name = S("small");
    } else if (piece->kind == PIECE_CATEGORY) {
        return join_text(s, S("(no stack)"), " ", str_from(category_names[piece->number]),
                         &row->name, err);
    } else if (piece->kind == PIECE_SIZE) {
        struct buf size;
        buf_init(&size, 32);
        buf_u64(&size, piece->number);
        enum vrs_status status =
            size.failed ? vrs_no_memory(err)
                        : join_text(s, S("size"), ":", buf_slice(&size), &row->name, err);
        buf_free(&size);
        return status;
    } else {
        row->name = S("unattributed");
    }
    return VRS_OK;
}

/* Which stacks under the last key are callers on a side: those of its pieces, and theirs. */
static enum vrs_status mark_callers(struct make_context *m, struct vrs_error *err)
{
    const struct stacks *stacks = &m->sums->keys->stacks;
    for (int side = 0; side < 2; side++) {
        m->used[side] = arena_array(m->sums->scratch, bool, stacks->rows.len);
        if (m->used[side] == NULL)
            return vrs_no_memory(err);
        for (uint32_t i = 1; i < m->sums->pieces.len; i++) {
            const struct diff_piece *piece = &m->sums->pieces.at[i];
            if (piece->largest[side].there)
                m->used[side][piece->key[SITE_FUNCTION_IN_FILE].n] = true;
        }
        for (uint32_t i = stacks->rows.len; i-- > 1;)
            if (m->used[side][i])
                m->used[side][stacks->caller[i]] = true;
    }
    return VRS_OK;
}

/* "model.py forward" of the deepest caller that the other side has as well. */
static enum vrs_status find_caller(struct make_context *m, const struct diff_piece *piece,
                                   struct diff_row *row, struct vrs_error *err)
{
    const struct diff_keys *k = m->sums->keys;
    const bool *other = m->used[piece->largest[0].there ? 1 : 0];
    stack_id at = piece->key[SITE_FUNCTION_IN_FILE];
    while (at.n != 0 && !other[at.n])
        at = stacks_caller(&k->stacks, at);
    if (at.n == 0)
        return VRS_OK;
    struct frame frame = frames_get(&k->frames, stacks_frame(&k->stacks, at));
    return join_text(m->sums, strings_text(&k->strings, frame.file), " ",
                     strings_text(&k->strings, frame.name), &row->caller, err);
}

static enum vrs_status finish_rows(struct make_context *m, const struct diff_matches *matches,
                                   struct vrs_error *err)
{
    for (uint32_t i = 0; i < matches->count; i++) {
        const struct diff_matched *match = &matches->at[i];
        const struct diff_piece *piece = &m->sums->pieces.at[m->piece[i]];
        struct diff_row *row = &m->row[i];
        row->stage = match->stage;
        row->score = match->score;
        row->score_ratio = (double)match->score / 1e6;
        TRY(name_row(m, match, piece, row, err));
        if (match->stage == DIFF_UNMATCHED && !match->small && piece->kind == PIECE_SITE)
            TRY(find_caller(m, piece, row, err));
    }
    return VRS_OK;
}

/* The share of each side's figure that is in matched rows. */
static void find_matched(struct diff *d, const struct diff_row *row, uint32_t rows)
{
    for (int side = 0; side < 2; side++) {
        uint64_t matched = 0, all = diff_figure(d->weight, &d->end[side].total);
        for (uint32_t i = 0; i < rows; i++)
            if (row[i].stage != DIFF_UNMATCHED)
                matched += diff_figure(d->weight, &row[i].of[side]);
        d->matched_ratio[side] = all == 0 ? -1 : (double)matched / (double)all;
    }
}

/* A row of each kind of memory. */
static enum vrs_status rows_of_categories(struct sums *s, const struct diff *d,
                                          struct diff_row *row, uint32_t *rows,
                                          struct vrs_error *err)
{
    struct diff_table table;
    TRY(keep_table(s, d, &s->category, &table, err));
    for (uint32_t i = 0; i < table.count; i++) {
        const struct diff_part *part = &table.at[i];
        row[i] = (struct diff_row){ .name = part->name, .stages_differ = true };
        row[i].of[0] = part->of[0];
        row[i].of[1] = part->of[1];
    }
    *rows = table.count;
    return VRS_OK;
}

/* Rows as they are asked for, of those of the matches. */
static enum vrs_status group_rows(struct sums *s, struct diff *d, struct diff_row *row,
                                  uint32_t *rows, struct vrs_error *err)
{
    if (d->by == DIFF_CATEGORIES)
        TRY(rows_of_categories(s, d, row, rows, err));
    else if (d->by != DIFF_STACKS)
        TRY(diff_groups_join(row, rows, d->weight, s->scratch, err));
    TRY(diff_groups_mark(row, *rows, s->scratch, err));
    struct diff_delta sum = { .bytes = 0 };
    for (uint32_t i = 0; i < *rows; i++) {
        row[i].delta = amounts_less(d, &row[i].of[0], &row[i].of[1]);
        row[i].change = change_of(d, &row[i]);
        sum.bytes = (int64_t)((uint64_t)sum.bytes + (uint64_t)row[i].delta.bytes);
        sum.count = (int64_t)((uint64_t)sum.count + (uint64_t)row[i].delta.count);
    }
    assert(sum.bytes == d->total.bytes && sum.count == d->total.count);
    (void)sum;
    return VRS_OK;
}

static enum vrs_status make_rows(struct sums *s, const struct diff_matches *matches, struct diff *d,
                                 struct vrs_error *err)
{
    /* There are no more kinds than categories, and no more groups than matches. */
    uint32_t count = matches->count, most = count > CATEGORIES ? count : CATEGORIES;
    struct make_context m = { .sums = s, .d = d };
    struct sortable *order = arena_array(s->scratch, struct sortable, most);
    m.row = arena_array(s->scratch, struct diff_row, most);
    m.piece = arena_array(s->scratch, uint32_t, count);
    m.figure = arena_take_array(s->scratch, count, sizeof *m.figure);
    d->row = arena_array(s->keep, struct diff_row, most);
    if (order == NULL || m.row == NULL || m.piece == NULL || m.figure == NULL || d->row == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 1; i < s->pieces.len; i++)
        add_piece(&m, &s->pieces.at[i], i);
    TRY(mark_callers(&m, err));
    TRY(finish_rows(&m, matches, err));
    find_matched(d, m.row, count);
    TRY(group_rows(s, d, m.row, &count, err));
    for (uint32_t i = 0; i < count; i++)
        order[i] = sortable_of(d, m.row[i].of, m.row[i].name, i);
    sort(order, count);
    for (uint32_t i = 0; i < count; i++)
        d->row[i] = m.row[order[i].index];
    d->rows = count;
    return VRS_OK;
}

static enum diff_stage first_stage(const struct diff_options *o)
{
    static const enum diff_stage first[DIFF_KEYS] = { DIFF_EXACT, DIFF_LINE, DIFF_FUNCTION };
    return first[o->key];
}

static enum vrs_status compare(struct sums *s, const struct proven_study *const proven[2],
                               struct diff *d, struct vrs_error *err)
{
    const struct diff_options *o = s->options;
    struct diff_matches matches;
    TRY(sums_make(s, err));
    for (uint32_t side = 0; side < 2; side++) {
        TRY(find_end(proven[side], o, side, s->total[side], &d->end[side], err));
        if (d->end[side].per == 0)
            return vrs_fail(err, VRS_USAGE, "%s has no %s to divide by", side == 0 ? "A" : "B",
                            o->per == DIFF_PER_STEP ? "complete steps" : "known parameters");
    }
    compare_ends(d);
    TRY(diff_match(s->keys, s->pieces.at + 1, s->pieces.len - 1, first_stage(o), o->weight,
                   s->scratch, &matches, err));
    TRY(make_rows(s, &matches, d, err));
    TRY(keep_table(s, d, &s->category, &d->by_category, err));
    TRY(keep_table(s, d, &s->module, &d->by_module, err));
    TRY(keep_table(s, d, &s->phase, &d->by_phase, err));
    TRY(keep_table(s, d, &s->size, &d->by_size, err));
    return VRS_OK;
}

/* Whether some stack of a recording has native frames, so that a recording beside it whose stacks
 * have none was made in another way. */
static bool has_native(const struct study *s)
{
    for (uint32_t i = 1; i < s->r->code.stacks.rows.len; i++)
        if (s->tokens->of_stack[i] & TOKEN_NATIVE)
            return true;
    return false;
}

/* What of both sides is to be matched.  Ends with end_sums, also after a failure. */
static enum vrs_status begin_sums(struct sums *s, struct diff_options *o, struct diff_keys *keys,
                                  struct vrs_error *err)
{
    const struct study *a = s->side[0], *b = s->side[1];
    bool python_only = a->stacked && b->stacked && has_native(a) != has_native(b);
    if (python_only && o->key == SITE_EXACT)
        o->key = SITE_LINE;
    if (!diff_keys_init(keys, a, b, a->scratch))
        return vrs_no_memory(err);
    keys->python_only = python_only;
    s->options = o;
    s->keys = keys;
    s->scratch = a->scratch;
    s->split = a->categories.copies > 0 && b->categories.copies > 0;
    s->no_stacks = !a->stacked && !b->stacked;
    return VRS_OK;
}

static void end_sums(struct sums *s)
{
    if (s->keys == NULL)
        return;
    sums_free(s);
    diff_keys_free(s->keys);
}

enum vrs_status diff_compute(const struct proven_study *a, const struct proven_study *b,
                             const struct diff_options *options, struct diff *ret,
                             struct vrs_error *err)
{
    struct diff_options o = *options;
    struct diff d = { .by = o.by, .weight = o.weight, .per = o.per };
    struct diff_keys keys;
    struct sums sums = { .side = { a->study, b->study }, .keep = a->study->keep };
    enum vrs_status status = begin_sums(&sums, &o, &keys, err);
    if (status == VRS_OK) {
        d.python_only = keys.python_only;
        d.split = sums.split;
        status = compare(&sums, (const struct proven_study *const[]){ a, b }, &d, err);
    }
    end_sums(&sums);
    if (status == VRS_OK)
        *ret = d;
    return status;
}

static enum vrs_status pair_stacks(struct sums *s, struct diff_pairing *ret, struct vrs_error *err)
{
    struct diff_matches matches;
    for (int side = 0; side < 2; side++) {
        uint32_t stacks = s->side[side]->r->code.stacks.rows.len;
        s->piece_of[side] = arena_array(s->scratch, uint32_t, stacks);
        ret->of_stack[side] = arena_array(s->keep, uint32_t, stacks);
        if (s->piece_of[side] == NULL || ret->of_stack[side] == NULL)
            return vrs_no_memory(err);
    }
    TRY(sums_make(s, err));
    TRY(diff_match(s->keys, s->pieces.at + 1, s->pieces.len - 1, first_stage(s->options),
                   s->options->weight, s->scratch, &matches, err));
    ret->at = arena_array(s->keep, struct diff_paired, matches.count);
    if (ret->at == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < matches.count; i++)
        ret->at[i] =
            (struct diff_paired){ matches.at[i].stage, matches.at[i].score, matches.at[i].small };
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < s->side[side]->r->code.stacks.rows.len; i++)
            if (s->piece_of[side][i] != 0)
                ret->of_stack[side][i] = s->pieces.at[s->piece_of[side][i]].match + 1;
    ret->count = matches.count;
    ret->first = first_stage(s->options);
    ret->keyless = s->split ? DIFF_BY_CATEGORY : s->no_stacks ? DIFF_BY_SIZE : DIFF_AS_ONE;
    return VRS_OK;
}

enum vrs_status diff_pair_stacks(const struct study *a, const struct study *b,
                                 const struct diff_options *options, struct arena *keep,
                                 struct diff_pairing *ret, struct vrs_error *err)
{
    struct diff_options o = *options;
    struct diff_keys keys;
    struct sums sums = { .side = { a, b }, .keep = keep };
    struct diff_pairing made = { .count = 0 };
    struct arena_mark mark = arena_mark(a->scratch);
    enum vrs_status status = begin_sums(&sums, &o, &keys, err);
    if (status == VRS_OK)
        status = pair_stacks(&sums, &made, err);
    end_sums(&sums);
    arena_release(a->scratch, mark);
    if (status == VRS_OK)
        *ret = made;
    return status;
}
