/* steps_period.c - steps as the period of a sequence of allocs, and loops that only look so.
 *
 * A signature is what an alloc is told by: its stack and size, or its stack alone.  Signatures
 * whose allocs come at regular distances are candidates; those of one distance are a bucket, and
 * the trace is cut at its anchor, the one with the least alive before it. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/step_body.h"
#include "analysis/snapshot/steps/step_loop.h"
#include "analysis/snapshot/steps/step_sources.h"
#include "analysis/snapshot/steps/steps.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/table.h"

enum {
    PERIODS_TRIED_MAX = 32,
    ALLOCS_MIN = 8,
    SIGNATURES_MIN = 2,
    GAP_MIN = 2,
};

/* Where few signatures come once a period, since all else comes several times in each, the pieces
 * must be the more alike, and more. */
enum { PIECES_OF_FEW_MIN = 3 };
#define SIMILARITY_OF_FEW 0.95

/* Candidates are tried by stack and size first, then by stack alone. */
struct demand {
    bool by_size;
    double similarity_ratio;
};
static const struct demand demands[] = { { true, 0.90 }, { false, 0.80 } };

struct candidate {
    uint32_t gap; /* the median one */
    uint32_t signature;
};

/* Allocs by stack, so that what one stack is told by stays in the processor's cache. */
struct by_stack {
    uint32_t *position; /* ascending within a stack */
    uint64_t *size;     /* of the alloc at each */
    uint32_t *first;    /* of each stack_id, into both; one more at the end */
};

struct search {
    const struct step_trace *t;
    const struct demand *demand;
    const struct by_stack *by_stack;
    uint32_t *signature; /* of each position */
    uint32_t signatures;
    uint32_t *first;    /* of each signature, into `position`; one more at the end */
    uint32_t *position; /* ascending within a signature */
    struct idtab index; /* of the sizes of one stack */
    uint32_t *gap;      /* room for the gaps of one; zero between buckets */
    uint32_t *tally;    /* of each signature; zero between uses */
    struct candidate *candidate;
    uint32_t candidates;
};

static bool by_stack_make(const struct step_trace *t, struct by_stack *ret)
{
    uint32_t stacks = t->r->code.stacks.rows.len;
    const uint64_t *size = t->r->events.size + t->first;
    struct by_stack made = {
        .position = arena_array(t->scratch, uint32_t, t->allocs),
        .size = arena_array(t->scratch, uint64_t, t->allocs),
        .first = arena_array(t->scratch, uint32_t, (size_t)stacks + 1),
    };
    if (made.position == NULL || made.size == NULL || made.first == NULL)
        return false;
    for (uint32_t i = 0; i < t->allocs; i++)
        made.first[t->stack[i]]++;
    for (uint32_t i = 0; i < stacks; i++)
        made.first[i + 1] += made.first[i];
    /* Filled from its end, so that where a stack's begin is where they end up. */
    for (uint32_t i = t->allocs; i-- > 0;) {
        uint32_t at = --made.first[t->stack[i]];
        made.position[at] = i;
        made.size[at] = size[t->alloc_event[i]];
    }
    *ret = made;
    return true;
}

/* Gives each size of one stack a signature.  The index has the first alloc of each, plus 1. */
static bool number_sizes(struct search *s, const uint32_t *position, const uint64_t *size,
                         uint32_t count)
{
    struct idtab *index = &s->index;
    if (!idtab_restart(index, count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t hash = hash_u64(size[i]);
        uint32_t at = idtab_first(index, hash);
        while (index->slot[at].id != 0 && size[index->slot[at].id - 1] != size[i])
            at = idtab_next(index, hash, at);
        uint32_t first = index->slot[at].id;
        if (first == 0)
            idtab_put(index, hash, i + 1);
        s->signature[position[i]] =
            first == 0 ? s->signatures++ : s->signature[position[first - 1]];
    }
    return true;
}

static void number_stack(struct search *s, const uint32_t *position, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        s->signature[position[i]] = s->signatures;
    s->signatures++;
}

/* Groups the positions of one stack by signature, behind those of the stacks before it. */
static bool group_positions(struct search *s, uint32_t stack)
{
    uint32_t begin = s->by_stack->first[stack], count = s->by_stack->first[stack + 1] - begin;
    const uint32_t *position = s->by_stack->position + begin;
    uint32_t first_signature = s->signatures;
    if (count == 0)
        return true;
    if (!s->demand->by_size)
        number_stack(s, position, count);
    else if (!number_sizes(s, position, s->by_stack->size + begin, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        s->first[s->signature[position[i]] + 1]++;
    for (uint32_t i = first_signature; i < s->signatures; i++)
        s->first[i + 1] += s->first[i];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t signature = s->signature[position[i]];
        s->position[s->first[signature] + s->tally[signature]++] = position[i];
    }
    for (uint32_t i = first_signature; i < s->signatures; i++)
        s->tally[i] = 0;
    return true;
}

/* The median gap of a signature that comes regularly over enough of the trace, or 0. */
static uint32_t regular_gap(struct search *s, uint32_t signature)
{
    const uint32_t *at = s->position + s->first[signature];
    uint32_t count = s->first[signature + 1] - s->first[signature], n = s->t->allocs;
    /* Gaps cover no more than what lies between the first and the last. */
    if (count < 2 || ((uint64_t)at[count - 1] - at[0]) * 10 < (uint64_t)n * (count == 2 ? 3 : 5))
        return 0;
    for (uint32_t i = 0; i + 1 < count; i++)
        s->gap[i] = at[i + 1] - at[i];
    uint64_t median = step_median(s->gap, count - 1), covered = 0;
    for (uint32_t i = 0; i + 1 < count; i++) {
        uint64_t gap = s->gap[i];
        covered += gap * 4 >= median * 3 && gap * 4 <= median * 5 ? gap : 0;
    }
    bool enough = covered * 2 >= n || (count == 2 && median * 10 >= (uint64_t)n * 3);
    return median >= GAP_MIN && enough ? (uint32_t)median : 0;
}

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->gap != y->gap)
        return x->gap > y->gap ? -1 : 1;
    return (x->signature > y->signature) - (x->signature < y->signature);
}

static void find_candidates(struct search *s)
{
    for (uint32_t i = 0; i < s->signatures; i++) {
        uint32_t gap = regular_gap(s, i);
        if (gap != 0)
            s->candidate[s->candidates++] = (struct candidate){ gap, i };
    }
    if (s->candidates != 0)
        qsort(s->candidate, s->candidates, sizeof *s->candidate, compare_candidates);
}

static bool search_make(struct search *s)
{
    const struct step_trace *t = s->t;
    uint32_t n = t->allocs;
    s->signature = arena_array(t->scratch, uint32_t, n);
    s->first = arena_array(t->scratch, uint32_t, (size_t)n + 1);
    s->position = arena_array(t->scratch, uint32_t, n);
    s->gap = arena_array(t->scratch, uint32_t, n);
    s->tally = arena_array(t->scratch, uint32_t, n);
    s->candidate = arena_array(t->scratch, struct candidate, n);
    if (s->signature == NULL || s->first == NULL || s->position == NULL || s->gap == NULL ||
        s->tally == NULL || s->candidate == NULL)
        return false;
    for (uint32_t i = 0; i < t->r->code.stacks.rows.len; i++)
        if (!group_positions(s, i))
            return false;
    find_candidates(s);
    return true;
}

static uint32_t count_of(const struct search *s, uint32_t signature)
{
    return s->first[signature + 1] - s->first[signature];
}

/* The count that most signatures of a bucket have; of equals the larger. */
static uint32_t modal_count(struct search *s, const struct candidate *bucket, uint32_t len)
{
    uint32_t best = 0;
    for (uint32_t i = 0; i < len; i++) {
        uint32_t count = count_of(s, bucket[i].signature);
        /* A count is at most the number of allocs, so it can stand for a signature here. */
        uint32_t times = ++s->gap[count - 1];
        if (best == 0 || times > s->gap[best - 1] || (times == s->gap[best - 1] && count > best))
            best = count;
    }
    for (uint32_t i = 0; i < len; i++)
        s->gap[count_of(s, bucket[i].signature) - 1] = 0;
    return best;
}

/* The signature of a bucket's modal count with the least alive before its allocs. */
static uint32_t find_anchor(struct search *s, const struct candidate *bucket, uint32_t len)
{
    uint32_t anchor = NO_ROW, count = modal_count(s, bucket, len);
    int64_t least = 0;
    for (uint32_t i = 0; i < len; i++) {
        uint32_t signature = bucket[i].signature;
        const uint32_t *at = s->position + s->first[signature];
        uint64_t sum = 0;
        if (count_of(s, signature) != count)
            continue;
        for (uint32_t k = 0; k < count; k++)
            sum += (uint64_t)s->t->live_before[at[k]];
        bool earlier =
            anchor != NO_ROW && (int64_t)sum == least && at[0] < s->position[s->first[anchor]];
        if (anchor == NO_ROW || (int64_t)sum < least || earlier) {
            anchor = signature;
            least = (int64_t)sum;
        }
    }
    return anchor;
}

static uint32_t shared_allocs(struct search *s, uint32_t a, uint32_t a_end, uint32_t b,
                              uint32_t b_end)
{
    uint32_t shared = 0;
    for (uint32_t i = a; i < a_end; i++)
        s->tally[s->signature[i]]++;
    for (uint32_t i = b; i < b_end; i++)
        if (s->tally[s->signature[i]] != 0) {
            s->tally[s->signature[i]]--;
            shared++;
        }
    for (uint32_t i = a; i < a_end; i++)
        s->tally[s->signature[i]] = 0;
    return shared;
}

static int compare_ratios(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_ratio(double *ratio, uint32_t count)
{
    qsort(ratio, count, sizeof *ratio, compare_ratios);
    return ratio[count / 2];
}

/* The pieces that an anchor cuts; the last is no longer than the one before it, and left out
 * where it is much shorter and others remain. */
struct pieces {
    const uint32_t *begin;
    uint32_t count;
    uint32_t end; /* of the last */
};

static struct pieces cut_at(const struct search *s, uint32_t anchor)
{
    const uint32_t *at = s->position + s->first[anchor];
    uint32_t count = count_of(s, anchor), last = at[count - 1], rest = s->t->allocs - last;
    uint32_t before = last - at[count - 2];
    if (rest >= before)
        return (struct pieces){ at, count, last + before };
    if (count >= 3 && (uint64_t)rest * 10 < (uint64_t)before * 9)
        return (struct pieces){ at, count - 1, last };
    return (struct pieces){ at, count, s->t->allocs };
}

/* How much a piece and the next have in common at the most: what the shorter one has. */
static double length_ratio(const struct pieces *g, uint32_t i)
{
    uint32_t a = g->begin[i + 1] - g->begin[i];
    uint32_t b = (i + 2 < g->count ? g->begin[i + 2] : g->end) - g->begin[i + 1];
    return a < b ? (double)a / b : (double)b / a;
}

/* The median, or, where the lengths alone say that it is less than `least`, one of theirs. */
static enum vrs_status median_similarity(struct search *s, const struct pieces *g, double least,
                                         double *ret, struct vrs_error *err)
{
    double *ratio = arena_array(s->t->scratch, double, g->count);
    if (ratio == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i + 1 < g->count; i++)
        ratio[i] = length_ratio(g, i);
    *ret = median_ratio(ratio, g->count - 1);
    if (*ret < least)
        return VRS_OK;
    for (uint32_t i = 0; i + 1 < g->count; i++) {
        uint32_t a = g->begin[i], b = g->begin[i + 1];
        uint32_t end = i + 2 < g->count ? g->begin[i + 2] : g->end;
        uint32_t larger = b - a > end - b ? b - a : end - b;
        ratio[i] = (double)shared_allocs(s, a, b, b, end) / larger;
    }
    *ret = median_ratio(ratio, g->count - 1);
    return VRS_OK;
}

/* A last segment that is nearly as long as the others is a complete step. */
static enum vrs_status accept(struct search *s, uint32_t anchor, double similarity,
                              struct step_cuts *ret, struct vrs_error *err)
{
    const struct step_trace *t = s->t;
    struct step_rounds rounds = { s->position + s->first[anchor], count_of(s, anchor) };
    if (!step_loop_begins(t, &rounds))
        return vrs_no_memory(err);
    const uint32_t *at = rounds.at;
    uint32_t count = rounds.count, rest = t->allocs - at[count - 1];
    struct step_cuts cuts = { .begin = arena_array(t->scratch, uint32_t, count),
                              .similarity_ratio = similarity,
                              .low_confidence = !s->demand->by_size };
    if (cuts.begin == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i + 1 < count; i++)
        s->gap[i] = at[i + 1] - at[i];
    s->gap[count - 1] = rest;
    uint32_t median = step_median(s->gap, count);
    for (uint32_t i = 0; i < count; i++)
        cuts.begin[i] = t->alloc_event[at[i]];
    cuts.count = count;
    if (!step_is_whole(rest, median)) {
        cuts.count--;
        cuts.open_event = cuts.begin[cuts.count];
        cuts.end_event = cuts.open_event - 1;
        cuts.end_is_boundary = true;
    } else if (rest > median) {
        cuts.end_event = t->alloc_event[at[count - 1] + median] - 1;
    } else {
        cuts.end_event = t->events - 1;
    }
    *ret = cuts;
    return VRS_OK;
}

static void note_inner(const struct search *s, const struct candidate *bucket, uint32_t anchor,
                       double similarity, const char *refused_by, struct inner_loops *inner)
{
    uint32_t repeats = count_of(s, anchor);
    for (uint32_t i = 0; i < inner->count; i++)
        if (inner->at[i].period_allocs == bucket->gap && inner->at[i].repeats == repeats)
            return;
    if (inner->count < INNER_LOOPS_MAX)
        inner->at[inner->count++] = (struct inner_loop){
            .period_allocs = bucket->gap,
            .repeats = repeats,
            .similarity_ratio = similarity,
            .refused_by = refused_by,
            .stack = { s->t->stack[s->position[s->first[anchor]]] },
        };
}

/* A loop's body is as long each time, until what is around the loop comes between two of them; and
 * no step begins in the backward of another. */
static const char *refused_by_anchor(struct search *s, uint32_t anchor)
{
    const uint32_t *at = s->position + s->first[anchor];
    uint32_t count = count_of(s, anchor);
    uint8_t phase = s->t->phases->of_stack[s->t->stack[at[0]]];
    if (phase == PHASE_RECOMPUTE || phase == PHASE_BACKWARD)
        return "autograd_threads";
    for (uint32_t i = 0; i + 1 < count; i++)
        s->gap[i] = at[i + 1] - at[i];
    uint64_t median = step_median(s->gap, count - 1);
    for (uint32_t i = 0; i + 1 < count; i++)
        s->gap[i] = 0;
    for (uint32_t i = 0; i + 1 < count; i++)
        if ((uint64_t)(at[i + 1] - at[i]) * 2 > median * 3)
            return "uneven";
    return NULL;
}

static enum vrs_status try_bucket(struct search *s, const struct candidate *bucket, uint32_t len,
                                  struct step_body *body, struct step_cuts *ret,
                                  struct inner_loops *inner, struct vrs_error *err)
{
    double similarity = 0;
    const char *refused_by = NULL;
    uint32_t anchor = find_anchor(s, bucket, len);
    struct pieces g = cut_at(s, anchor);
    if (g.count < 2)
        return VRS_OK;
    bool several = len >= SIGNATURES_MIN && (uint64_t)len * 100 >= bucket->gap;
    double least = several ? s->demand->similarity_ratio : SIMILARITY_OF_FEW;
    if (!several && g.count < PIECES_OF_FEW_MIN)
        return VRS_OK;
    TRY(median_similarity(s, &g, least, &similarity, err));
    if (similarity < least)
        return VRS_OK;
    /* The last piece may go on beyond the loop. */
    struct step_pieces pieces = { g.begin, g.begin + 1, g.count - 1 };
    TRY(step_body_judge(body, &pieces, &refused_by, err));
    if (refused_by == NULL)
        refused_by = refused_by_anchor(s, anchor);
    if (refused_by == NULL)
        return accept(s, anchor, similarity, ret, err);
    note_inner(s, bucket, anchor, similarity, refused_by, inner);
    return VRS_OK;
}

static enum vrs_status try_buckets(struct search *s, struct step_body *body, struct step_cuts *ret,
                                   struct inner_loops *inner, struct vrs_error *err)
{
    uint32_t begin = 0;
    if (!search_make(s))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < s->t->allocs; i++)
        s->gap[i] = 0;
    for (int tried = 0; tried < PERIODS_TRIED_MAX && begin < s->candidates; tried++) {
        uint32_t gap = s->candidate[begin].gap, near = gap / 50 > 1 ? gap / 50 : 1;
        uint32_t end = begin;
        while (end < s->candidates && s->candidate[end].gap + near >= gap)
            end++;
        TRY(try_bucket(s, s->candidate + begin, end - begin, body, ret, inner, err));
        if (ret->count != 0)
            break;
        begin = end;
    }
    return VRS_OK;
}

enum vrs_status steps_by_period(const struct step_trace *t, bool exact, struct step_cuts *ret,
                                struct inner_loops *inner, struct vrs_error *err)
{
    struct step_cuts cuts = { .similarity_ratio = -1 };
    struct step_body body = { .t = t };
    enum vrs_status status = VRS_OK;
    struct by_stack by_stack = { .position = NULL };
    size_t tries = exact ? 1 : sizeof demands / sizeof *demands;
    if (t->allocs < ALLOCS_MIN)
        tries = 0;
    else if (!by_stack_make(t, &by_stack))
        return vrs_no_memory(err);
    for (size_t i = 0; cuts.count == 0 && status == VRS_OK && i < tries; i++) {
        struct search s = { .t = t, .demand = &demands[i], .by_stack = &by_stack };
        struct arena_mark mark = arena_mark(t->scratch);
        status = try_buckets(&s, &body, &cuts, inner, err);
        idtab_free(&s.index);
        if (status == VRS_OK && cuts.count == 0 && !step_body_made(&body))
            arena_release(t->scratch, mark);
    }
    step_body_free(&body);
    *ret = cuts;
    return status;
}
