/* oom_tests.c - nine remedies in their order; the first that helps is the verdict. */
#include "analysis/snapshot/oom/oom_tests.h"

#include "model/ids.h"

const char *const oom_verdict_names[OOM_VERDICTS] = {
    [OOM_CAPACITY_LIMIT] = "capacity_limit",
    [OOM_SINGLE_REQUEST_TOO_LARGE] = "single_request_too_large",
    [OOM_CACHED_NOT_RELEASABLE] = "cached_not_releasable",
    [OOM_FRAGMENTATION] = "fragmentation",
    [OOM_PENDING_FREE] = "pending_free",
    [OOM_OTHER_STREAM] = "other_stream",
    [OOM_PRIVATE_POOLS] = "private_pools",
    [OOM_OUTSIDE_PYTORCH] = "outside_pytorch",
    [OOM_LIVE_EXCEEDS_CAPACITY] = "live_exceeds_capacity",
};

/* Known sizes add up without wrapping; an unknown one makes the sum unknown. */
static uint64_t plus(uint64_t a, uint64_t b)
{
    if (a == UNKNOWN_U64 || b == UNKNOWN_U64)
        return UNKNOWN_U64;
    return a > UNKNOWN_U64 - 1 - b ? UNKNOWN_U64 - 1 : a + b;
}

/* Not below 0: rounded figures of a text may cross. */
static uint64_t minus(uint64_t a, uint64_t b)
{
    if (a == UNKNOWN_U64 || b == UNKNOWN_U64)
        return UNKNOWN_U64;
    return a > b ? a - b : 0;
}

static enum oom_holds at_least(uint64_t have, uint64_t want)
{
    if (have == UNKNOWN_U64 || want == UNKNOWN_U64)
        return OOM_UNKNOWN;
    return have >= want ? OOM_YES : OOM_NO;
}

static enum oom_holds both(enum oom_holds a, enum oom_holds b)
{
    if (a == OOM_NO || b == OOM_NO)
        return OOM_NO;
    return a == OOM_UNKNOWN || b == OOM_UNKNOWN ? OOM_UNKNOWN : OOM_YES;
}

uint64_t oom_capacity_seen(const struct oom_figures *f)
{
    return plus(f->reserved, f->device_free);
}

uint64_t oom_outside_process(const struct oom_figures *f)
{
    return minus(f->process, f->reserved);
}

uint64_t oom_other_processes(const struct oom_figures *f)
{
    return minus(f->total, plus(f->device_free, f->process));
}

uint64_t oom_outside(const struct oom_figures *f)
{
    return minus(f->total, oom_capacity_seen(f));
}

bool oom_short_by(const struct oom_figures *f, int64_t *ret)
{
    uint64_t seen = oom_capacity_seen(f);
    if (seen == UNKNOWN_U64 || f->active == UNKNOWN_U64 || f->request == UNKNOWN_U64)
        return false;
    *ret = (int64_t)(f->active + f->request - seen);
    return true;
}

/* Is this tenth part of the whole there? */
static enum oom_holds is_part(uint64_t bytes, uint64_t whole)
{
    return both(at_least(bytes, 1),
                whole == UNKNOWN_U64 ? OOM_UNKNOWN
                                     : at_least(bytes, whole / OOM_PART + (whole % OOM_PART != 0)));
}

static struct oom_test answer(enum oom_holds holds, uint64_t bytes)
{
    bool known = bytes != UNKNOWN_U64;
    return (struct oom_test){ .holds = holds, .known = known, .bytes = known ? (int64_t)bytes : 0 };
}

static struct oom_test test_limit(const struct oom_figures *f)
{
    uint64_t need = plus(f->reserved, f->segment);
    enum oom_holds over = at_least(need, plus(f->allowed, 1)), holds = OOM_NO;
    if (f->allowed != UNKNOWN_U64)
        holds = over;
    else if (f->preemptive)
        holds = OOM_YES;
    else if (!f->has_text)
        holds = at_least(f->device_free, plus(f->segment, OOM_LIMIT_MARGIN));
    return answer(holds, f->device_free);
}

/* No freeing helps: what is outside PyTorch counts as if it could all be freed. */
static struct oom_test test_too_large(const struct oom_figures *f)
{
    uint64_t outside = oom_outside(f), most = oom_capacity_seen(f);
    most = outside == UNKNOWN_U64 ? most : plus(most, outside);
    bool over_card = f->total != UNKNOWN_U64 && f->request > f->total;
    enum oom_holds holds = over_card ? OOM_YES : at_least(f->request, plus(most, 1));
    return answer(holds, most);
}

static struct oom_test test_cached(const struct oom_figures *f)
{
    uint64_t have = plus(f->device_free, f->returnable);
    return answer(both(at_least(f->returnable, 1), at_least(have, f->segment)), have);
}

static struct oom_test test_fragmentation(const struct oom_figures *f)
{
    uint64_t have = plus(f->device_free, f->internal_free);
    enum oom_holds in_pieces = at_least(f->request, plus(f->largest_growable, 1));
    enum oom_holds bytes = both(at_least(f->internal_free, 1), at_least(have, f->request));
    return answer(both(bytes, in_pieces), have);
}

/* Memory of its own beside what is free for the request. */
static struct oom_test test_sum(const struct oom_figures *f, uint64_t own, enum oom_holds counts)
{
    uint64_t have = plus(plus(f->device_free, f->internal_free), own);
    return answer(both(counts, at_least(have, f->request)), have);
}

static struct oom_test test_private(const struct oom_figures *f)
{
    uint64_t missing = minus(f->request, plus(f->device_free, f->internal_free));
    struct oom_test test =
        test_sum(f, plus(f->other_stream_free, f->private_free), at_least(f->private_free, 1));
    if (f->said_private != UNKNOWN_U64 && f->said_private > 0 &&
        at_least(f->said_private, missing) == OOM_YES)
        test.holds = OOM_YES;
    return test;
}

/* What could be had from outside, less what others cannot do without. */
static uint64_t outside_gain(const struct oom_figures *f)
{
    return minus(oom_outside(f), OOM_OUTSIDE_RESERVE);
}

static struct oom_test test_outside(const struct oom_figures *f)
{
    return test_sum(f, outside_gain(f), is_part(oom_outside(f), f->total));
}

/* Would what a remedy brings of its own have done, alone?  Where the bytes for the request were
 * there and lay in pieces, it must bring all of them. */
static bool alone(const struct oom_figures *f, uint64_t own)
{
    uint64_t have = plus(f->device_free, f->internal_free);
    if (at_least(have, f->request) == OOM_YES)
        have = f->device_free;
    return own != 0 && at_least(plus(have, own), f->request) == OOM_YES;
}

static void find_also_true(const struct oom_figures *f, struct oom_answer_of_tests *a)
{
    const uint64_t own[OOM_VERDICTS] = {
        [OOM_PENDING_FREE] = f->pending,
        [OOM_OTHER_STREAM] = f->other_stream_free,
        [OOM_PRIVATE_POOLS] = f->said_private != UNKNOWN_U64 ? f->said_private : f->private_free,
        [OOM_OUTSIDE_PYTORCH] = outside_gain(f),
    };
    if (a->verdict < OOM_CACHED_NOT_RELEASABLE || a->verdict >= OOM_LIVE_EXCEEDS_CAPACITY)
        return;
    for (uint32_t v = a->verdict + 1; v < OOM_LIVE_EXCEEDS_CAPACITY; v++)
        if (a->test[v].holds == OOM_YES && (v == OOM_FRAGMENTATION || alone(f, own[v])))
            a->also_true[a->also_trues++] = (enum oom_verdict)v;
}

/* Where all free memory together does not do, neither does any part of it, known or not. */
static void decide_by_sum(const struct oom_figures *f, struct oom_answer_of_tests *a)
{
    uint64_t all = plus(f->device_free, minus(f->reserved, f->active));
    for (uint32_t v = OOM_CACHED_NOT_RELEASABLE; v <= OOM_PRIVATE_POOLS; v++) {
        uint64_t most = v == OOM_PENDING_FREE ? plus(all, f->pending) : all;
        if (a->test[v].holds == OOM_UNKNOWN && at_least(most, f->request) == OOM_NO)
            a->test[v].holds = OOM_NO;
    }
}

void oom_test_all(const struct oom_figures *f, struct oom_answer_of_tests *ret)
{
    struct oom_answer_of_tests a = { .verdict = OOM_UNDECIDED };
    int64_t short_by = 0;
    bool known = oom_short_by(f, &short_by);
    a.test[OOM_CAPACITY_LIMIT] = test_limit(f);
    a.test[OOM_SINGLE_REQUEST_TOO_LARGE] = test_too_large(f);
    a.test[OOM_CACHED_NOT_RELEASABLE] = test_cached(f);
    a.test[OOM_FRAGMENTATION] = test_fragmentation(f);
    a.test[OOM_PENDING_FREE] = test_sum(f, f->pending, is_part(f->pending, f->request));
    a.test[OOM_OTHER_STREAM] = test_sum(f, f->other_stream_free, at_least(f->other_stream_free, 1));
    a.test[OOM_PRIVATE_POOLS] = test_private(f);
    a.test[OOM_OUTSIDE_PYTORCH] = test_outside(f);
    decide_by_sum(f, &a);
    for (uint32_t v = 0; v < OOM_LIVE_EXCEEDS_CAPACITY && a.verdict == OOM_UNDECIDED; v++)
        if (a.test[v].holds == OOM_YES)
            a.verdict = (enum oom_verdict)v;
    /* "Otherwise": unless too little is known to say so. */
    bool otherwise = a.verdict == OOM_UNDECIDED;
    for (uint32_t v = 0; v <= OOM_PRIVATE_POOLS; v++)
        known = known && a.test[v].holds != OOM_UNKNOWN;
    a.test[OOM_LIVE_EXCEEDS_CAPACITY] = (struct oom_test){
        .holds = !otherwise ? OOM_NO
                 : known    ? OOM_YES
                            : OOM_UNKNOWN,
        .known = known,
        .bytes = short_by,
    };
    for (uint32_t v = 0; v < OOM_VERDICTS; v++)
        a.test[v].id = (enum oom_verdict)v;
    if (otherwise && known)
        a.verdict = OOM_LIVE_EXCEEDS_CAPACITY;
    find_also_true(f, &a);
    *ret = a;
}
