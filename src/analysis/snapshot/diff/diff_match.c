/* diff_match.c - matches sites by equal keys, then greedily by similarity. */
#include "analysis/snapshot/diff/diff_match.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/site.h"
#include "analysis/snapshot/diff/diff_fuzzy.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"

#define NOT_MATCHED UINT32_MAX

struct matching {
    const struct diff_keys *keys;
    struct diff_piece *piece;
    uint32_t pieces;
    enum diff_weight weight;
    struct arena *scratch;
    struct diff_matched *match; /* room for one of each piece, and one more */
    uint32_t matches;
};

/* A piece in an order by one of its keys. */
struct ordered {
    uint64_t key;
    uint32_t piece;
};

static int by_key(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->piece > y->piece) - (x->piece < y->piece);
}

static bool is_open(const struct diff_piece *piece)
{
    return piece->match == NOT_MATCHED && piece->kind == PIECE_SITE;
}

/* Sites not yet matched, in the order of a key and, with `phases`, of their phase. */
static uint32_t order_open(const struct matching *m, enum site_key key, bool phases,
                           struct ordered *ret)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->pieces; i++) {
        const struct diff_piece *piece = &m->piece[i];
        if (is_open(piece))
            ret[count++] =
                (struct ordered){ ((uint64_t)piece->key[key].n << 8) | (phases ? piece->phase : 0),
                                  i };
    }
    if (count > 1)
        qsort(ret, count, sizeof *ret, by_key);
    return count;
}

static uint32_t end_of_run(const struct ordered *order, uint32_t count, uint32_t from)
{
    uint32_t to = from + 1;
    while (to < count && order[to].key == order[from].key)
        to++;
    return to;
}

static void take_run(struct matching *m, const struct ordered *order, uint32_t from, uint32_t to,
                     uint32_t match)
{
    for (uint32_t i = from; i < to; i++)
        m->piece[order[i].piece].match = match;
}

static uint32_t new_match(struct matching *m, enum diff_stage stage, uint32_t score)
{
    m->match[m->matches] = (struct diff_matched){ .stage = stage, .score = score };
    return m->matches++;
}

/* Matches sites that both sides have under a key; with `alone` also those of one side, each key
 * for itself. */
static void match_by_key(struct matching *m, enum site_key key, enum diff_stage stage, bool alone,
                         struct ordered *order)
{
    uint32_t count = order_open(m, key, false, order);
    for (uint32_t from = 0, to; from < count; from = to) {
        to = end_of_run(order, count, from);
        bool there[2] = { false, false };
        for (uint32_t i = from; i < to; i++)
            for (int side = 0; side < 2; side++)
                there[side] = there[side] || m->piece[order[i].piece].largest[side].there;
        if (alone || (there[0] && there[1]))
            take_run(m, order, from, to, new_match(m, stage, 0));
    }
}

static void match_pieces(struct matching *m, enum diff_stage first)
{
    for (uint32_t i = 0; i < m->pieces; i++) {
        struct diff_piece *piece = &m->piece[i];
        bool both = piece->largest[0].there && piece->largest[1].there;
        piece->match = NOT_MATCHED;
        if (both || piece->kind != PIECE_SITE)
            piece->match = new_match(m, both ? first : DIFF_UNMATCHED, 0);
    }
}

/* Sites of one side that likeness is asked of: those of one function-in-file key and phase. */
struct candidate {
    const struct diff_keys *keys; /* for comparisons */
    stack_id key;
    uint8_t phase;
    uint64_t figure;
    uint64_t mean_bytes; /* of an allocation */
    uint32_t from, to;   /* in the order of pieces */
    uint32_t rank;       /* among the candidates of both sides, by text */
    bool taken;
    struct fuzzy_stack *frames;
};

/* Orders by text, then by phase, alike for both sides. */
static int by_text(const struct candidate *a, const struct candidate *b)
{
    int text = diff_keys_compare(a->keys, a->key, b->key);
    return text != 0 ? text : (a->phase > b->phase) - (a->phase < b->phase);
}

struct weighed {
    const struct candidate *candidate;
    uint32_t index;
};

static int by_figure(const void *a, const void *b)
{
    const struct candidate *x = ((const struct weighed *)a)->candidate;
    const struct candidate *y = ((const struct weighed *)b)->candidate;
    if (x->figure != y->figure)
        return x->figure > y->figure ? -1 : 1;
    return by_text(x, y);
}

static int by_rank(const void *a, const void *b)
{
    const struct candidate *const *x = a, *const *y = b;
    return by_text(*x, *y);
}

struct candidates {
    struct candidate *at;
    uint32_t count;
};

/* What one run of pieces is to a side. */
static struct candidate candidate_of(const struct matching *m, const struct ordered *order,
                                     uint32_t from, uint32_t to, uint32_t *ret_side)
{
    const struct diff_piece *piece = &m->piece[order[from].piece];
    *ret_side = piece->largest[0].there ? 0 : 1;
    struct candidate c = {
        .keys = m->keys,
        .key = piece->key[SITE_FUNCTION_IN_FILE],
        .phase = piece->phase,
        .from = from,
        .to = to,
    };
    uint64_t bytes = 0, count = 0;
    for (uint32_t i = from; i < to; i++) {
        const struct diff_amount *amount = &m->piece[order[i].piece].of[*ret_side];
        c.figure += diff_figure(m->weight, amount);
        bytes += amount->bytes;
        count += amount->count;
    }
    c.mean_bytes = count == 0 ? 0 : bytes / count;
    return c;
}

/* The heaviest sites of each side; all others go to one match of their own.  A key is no longer on
 * both sides here, so a run belongs to one. */
static enum vrs_status choose(struct matching *m, const struct ordered *order, uint32_t count,
                              struct candidates side[2], struct vrs_error *err)
{
    struct candidate *all = arena_array(m->scratch, struct candidate, count);
    struct weighed *weighed[2] = { arena_array(m->scratch, struct weighed, count),
                                   arena_array(m->scratch, struct weighed, count) };
    uint32_t runs = 0, of_side[2] = { 0, 0 }, small = NOT_MATCHED;
    if (all == NULL || weighed[0] == NULL || weighed[1] == NULL)
        return vrs_no_memory(err);
    for (uint32_t from = 0, to; from < count; from = to, runs++) {
        uint32_t owner;
        to = end_of_run(order, count, from);
        all[runs] = candidate_of(m, order, from, to, &owner);
        weighed[owner][of_side[owner]++] = (struct weighed){ &all[runs], runs };
    }
    for (int s = 0; s < 2; s++) {
        if (of_side[s] > 1)
            qsort(weighed[s], of_side[s], sizeof *weighed[s], by_figure);
        side[s].count = of_side[s] > MATCH_SITES ? MATCH_SITES : of_side[s];
        side[s].at = arena_array(m->scratch, struct candidate, side[s].count);
        if (side[s].at == NULL)
            return vrs_no_memory(err);
        for (uint32_t i = 0; i < side[s].count; i++)
            side[s].at[i] = *weighed[s][i].candidate;
        for (uint32_t i = side[s].count; i < of_side[s]; i++) {
            const struct candidate *c = weighed[s][i].candidate;
            if (small == NOT_MATCHED) {
                small = new_match(m, DIFF_UNMATCHED, 0);
                m->match[small].small = true;
            }
            take_run(m, order, c->from, c->to, small);
        }
    }
    return VRS_OK;
}

static enum vrs_status rank(struct matching *m, struct candidates side[2], struct vrs_error *err)
{
    uint32_t count = side[0].count + side[1].count;
    struct candidate **all = arena_array(m->scratch, struct candidate *, count);
    if (all == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++)
        all[i] = i < side[0].count ? &side[0].at[i] : &side[1].at[i - side[0].count];
    if (count > 1)
        qsort(all, count, sizeof(*all), by_rank);
    for (uint32_t i = 0; i < count; i++)
        all[i]->rank = i;
    return VRS_OK;
}

struct pair {
    uint32_t score;
    uint32_t low, high; /* ranks: the pair is the same whichever side comes first */
    uint64_t figure;
    struct candidate *a, *b;
};

static int by_score(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->figure != y->figure)
        return x->figure > y->figure ? -1 : 1;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return (x->high > y->high) - (x->high < y->high);
}

static struct pair pair_of(struct candidate *a, struct candidate *b, uint32_t score)
{
    return (struct pair){
        .score = score,
        .low = a->rank < b->rank ? a->rank : b->rank,
        .high = a->rank < b->rank ? b->rank : a->rank,
        .figure = a->figure + b->figure,
        .a = a,
        .b = b,
    };
}

/* The best pair first, then the best of what is left. */
static void take_pairs(struct matching *m, const struct ordered *order, struct pair *pair,
                       uint32_t pairs)
{
    if (pairs > 1)
        qsort(pair, pairs, sizeof *pair, by_score);
    for (uint32_t i = 0; i < pairs; i++) {
        struct candidate *a = pair[i].a, *b = pair[i].b;
        if (a->taken || b->taken)
            continue;
        a->taken = b->taken = true;
        uint32_t match = new_match(m, DIFF_FUZZY, pair[i].score);
        take_run(m, order, a->from, a->to, match);
        take_run(m, order, b->from, b->to, match);
    }
}

static enum vrs_status match_fuzzy(struct matching *m, struct ordered *order, struct vrs_error *err)
{
    struct candidates side[2];
    struct fuzzy fuzzy;
    uint32_t count = order_open(m, SITE_FUNCTION_IN_FILE, true, order), pairs = 0;
    TRY(choose(m, order, count, side, err));
    TRY(rank(m, side, err));
    struct pair *pair = arena_array(m->scratch, struct pair, (size_t)side[0].count * side[1].count);
    if (pair == NULL || !fuzzy_init(&fuzzy, m->keys, m->scratch))
        return vrs_no_memory(err);
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < side[s].count; i++) {
            struct fuzzy_stack *frames = arena_array(m->scratch, struct fuzzy_stack, 1);
            if (frames == NULL)
                return vrs_no_memory(err);
            fuzzy_read(&fuzzy, side[s].at[i].key, frames);
            side[s].at[i].frames = frames;
        }
    for (uint32_t i = 0; i < side[0].count; i++)
        for (uint32_t k = 0; k < side[1].count; k++) {
            struct candidate *a = &side[0].at[i], *b = &side[1].at[k];
            bool alike = a->phase == b->phase && fuzzy_sizes_fit(a->mean_bytes, b->mean_bytes);
            uint32_t score = alike ? fuzzy_score(&fuzzy, a->frames, b->frames) : 0;
            if (score >= FUZZY_ENOUGH)
                pair[pairs++] = pair_of(a, b, score);
        }
    take_pairs(m, order, pair, pairs);
    return VRS_OK;
}

enum vrs_status diff_match(const struct diff_keys *keys, struct diff_piece *piece, uint32_t pieces,
                           enum diff_stage first, enum diff_weight weight, struct arena *scratch,
                           struct diff_matches *ret, struct vrs_error *err)
{
    struct matching m = { keys, piece, pieces, weight, scratch, NULL, 0 };
    struct ordered *order = arena_array(scratch, struct ordered, pieces);
    m.match = arena_array(scratch, struct diff_matched, (size_t)pieces + 1);
    if (order == NULL || m.match == NULL)
        return vrs_no_memory(err);
    match_pieces(&m, first);
    if (first < DIFF_LINE)
        match_by_key(&m, SITE_LINE, DIFF_LINE, false, order);
    if (first < DIFF_FUNCTION)
        match_by_key(&m, SITE_FUNCTION_IN_FILE, DIFF_FUNCTION, false, order);
    TRY(match_fuzzy(&m, order, err));
    enum site_key alone = first < DIFF_FUNCTION ? SITE_LINE : SITE_FUNCTION_IN_FILE;
    match_by_key(&m, alone, DIFF_UNMATCHED, true, order);
    *ret = (struct diff_matches){ m.match, m.matches };
    return VRS_OK;
}
