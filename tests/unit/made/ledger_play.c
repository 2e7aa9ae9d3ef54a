/* ledger_play.c - a program is an array of steps, so that it can be played without some users. */
#include "made/ledger_play.h"

#include <stddef.h>
#include <string.h>

#include "base/hash.h"
#include "made/known_device.h"
#include "vramscope/profiler.h"

const struct play_scenario play_scenarios[] = {
    { .name = "resets", .resets = KNOWN_RESETS, .users = PLAY_USERS },
    { .name = "swaps", .resets = KNOWN_SWAPS, .users = PLAY_USERS },
    { .name = "crowd", .resets = KNOWN_RESETS, .users = PLAY_USERS, .stays = true },
    { .name = "few users", .resets = KNOWN_RESETS, .users = 3 },
    { .name = "no reset", .users = 8 },
    { .name = "grows", .resets = KNOWN_RESETS, .users = 16, .grows = true },
    { .name = "foreign", .resets = KNOWN_RESETS, .users = 12, .foreign = true },
    { .name = "foreign, swaps", .resets = KNOWN_SWAPS, .users = 3, .foreign = true },
    { .name = "keepers", .resets = KNOWN_RESETS, .users = 6, .keepers = true },
    { .name = "keepers, foreign",
      .resets = KNOWN_SWAPS,
      .users = 6,
      .keepers = true,
      .foreign = true },
    { .name = "from reset", .resets = KNOWN_RESETS, .users = 16, .from_reset = true },
    { .name = "failures", .resets = KNOWN_RESETS, .users = 8, .failures = true, .keepers = true },
    { .name = "failures, swaps", .resets = KNOWN_SWAPS, .users = 8, .failures = true },
    { .name = "hides", .resets = KNOWN_RESETS, .users = 8, .hides = true },
    { .name = "hides, foreign", .resets = KNOWN_SWAPS, .users = 8, .hides = true, .foreign = true },
    { .name = "spikes", .resets = KNOWN_RESETS, .users = 16, .spikes = true },
    { .name = "spikes, strict",
      .resets = KNOWN_RESETS,
      .users = 16,
      .spikes = true,
      .strict = true },
    { .name = "refused", .resets = KNOWN_RESETS, .users = PLAY_USERS, .slots = 5 },
    { .name = "all",
      .resets = KNOWN_RESETS,
      .users = 24,
      .slots = 20,
      .foreign = true,
      .keepers = true,
      .from_reset = true,
      .failures = true,
      .hides = true,
      .spikes = true,
      .strict = true },
};
const uint32_t play_scenarios_count = sizeof play_scenarios / sizeof *play_scenarios;

enum what { CHANGE, SPIKE, OPEN, MARK, CLOSE, DROP, READ, RESET_PEAK, RESET_TOTALS, FAIL, HIDE };

struct step {
    enum what what;
    uint32_t user;
    uint32_t flags; /* of a slot; of FAIL and HIDE the bits */
    enum vrs_curve curve;
    int64_t bytes; /* of CHANGE; of OPEN and MARK the spike before their reset */
};

/* What is known of a slot without asking the ledger. */
struct user {
    struct vrs_slot slot;
    bool holds;    /* it has opened, and not closed */
    bool open;     /* and the ledger has a slot for it */
    bool has_from; /* and there was a reading */
    bool strict, keeps;
    uint32_t from;    /* moment of that reading */
    uint32_t since;   /* moment from which on the peak counts: `from`, or that of a reset */
    uint32_t inexact; /* bits of the curves that stood below a peak that was not reset */
    uint64_t open_peak[VRS_CURVES];
    uint32_t gone; /* bits of the curves that were not known when they had to be */
    bool foreign;  /* somebody else has reset the peaks, which no reading has shown */
    bool lost, raced;
    bool blurred; /* what the ledger cannot see happened: a peak may be too low */
    bool totals_lost, totals_blurred;
    struct known_totals ever; /* at `from` */
};

struct result {
    uint32_t user, since, to;
    struct vrs_peaks peaks;
};

struct play {
    const struct ledger_calls *calls;
    const struct play_scenario *scenario;
    struct known_device device;
    struct vrs_backend backend;
    struct ledger ledger;
    struct user users[PLAY_USERS];
    struct result results[PLAY_STEPS + PLAY_USERS];
    uint32_t results_len;
    uint32_t states[VRS_STATE_UNKNOWN + 1];
    uint32_t open, most_open, openings;
    const char *breach;

    /* As the ledger is to remember it: what was seen since the last reset, and the last reading. */
    uint64_t seen[VRS_CURVES];
    struct vrs_stats last;
    bool has_last;
    bool totals_since;               /* somebody else has reset the totals since they were read */
    uint8_t was_read[KNOWN_MOMENTS]; /* bits of the curves */

    /* Of the step under way. */
    struct user *marked;
    bool has_read, reset_done, spiked;
    uint32_t read_at;         /* moment of the reading with which an interval begins or ends */
    struct vrs_stats reading; /* that one */
    struct known_totals ever; /* at it */
    uint32_t readings;
};

static void breach(struct play *p, bool holds, const char *words)
{
    if (!holds && p->breach == NULL)
        p->breach = words;
}

static bool shown(const struct vrs_stats *r, uint32_t k)
{
    return r->now[k] != VRS_UNKNOWN;
}

/* Whether the ledger can see that somebody has reset the peaks. */
static bool peaks_fell(const struct play *p, const struct vrs_stats *r)
{
    for (uint32_t k = 0; k < VRS_CURVES; k++)
        if (shown(r, k) && r->peak[k] < p->seen[k])
            return true;
    return false;
}

static bool totals_fell(const struct play *p, const struct vrs_stats *r)
{
    const struct vrs_stats *l = &p->last;
    return r->allocated_bytes < l->allocated_bytes || r->freed_bytes < l->freed_bytes ||
           r->allocations < l->allocations || r->frees < l->frees;
}

/* For who is open, what a reading shows of the resets of others. */
static void hear_foreign(struct play *p, const struct vrs_stats *r)
{
    bool fell = peaks_fell(p, r);
    bool has_totals = r->allocations != VRS_UNKNOWN, had = p->last.allocations != VRS_UNKNOWN;
    bool totals_gone = p->has_last && has_totals && (!had || totals_fell(p, r));
    for (uint32_t i = 0; i < PLAY_USERS; i++) {
        struct user *u = &p->users[i];
        /* Where a curve was not known, who opened since may be younger than the reset. */
        breach(p, !u->has_from || !fell || u->foreign || p->scenario->hides,
               "the model: a peak fell by itself");
        u->lost |= fell;
        u->blurred |= u->foreign && !fell;
        u->foreign = u->foreign && !fell;
        u->totals_lost |= totals_gone;
        u->totals_blurred |= p->totals_since;
    }
    if (fell)
        memset(p->seen, 0, sizeof p->seen);
    p->totals_since = p->totals_since && !has_totals;
}

static void hear_reading(void *arg, const struct vrs_stats *r, uint32_t moment, bool swaps)
{
    struct play *p = arg;
    hear_foreign(p, r);
    for (uint32_t k = 0; k < VRS_CURVES; k++)
        if (shown(r, k)) {
            p->seen[k] = r->peak[k];
            p->was_read[moment] |= (uint8_t)(1u << k);
        }
    p->last = *r;
    p->has_last = true;
    p->readings++;
    /* The first reading of a step counts, or the one that was a reset too. */
    if (p->has_read && !swaps)
        return;
    p->has_read = true;
    p->read_at = moment;
    p->reading = *r;
    p->ever = p->device.ever;
}

static void hear_reset(void *arg, bool spiked)
{
    struct play *p = arg;
    p->reset_done = true;
    p->spiked = spiked;
    memset(p->seen, 0, sizeof p->seen);
    for (uint32_t i = 0; i < PLAY_USERS; i++) {
        struct user *u = &p->users[i];
        breach(p, !u->open || !u->keeps, "a reset while a slot is open that forbids it");
        u->gone |= p->device.hidden;
        u->blurred |= spiked && u != p->marked; /* whose interval ended before */
    }
}

/* Where a strict slot is open, and the reading after a reset cannot say that nothing was missed,
 * whoever is open is raced. */
static void expect_race(struct play *p)
{
    if (!p->reset_done || p->backend.swap_peak != NULL)
        return;
    bool sure = p->readings == 2 && !p->spiked && !(p->device.hidden & TOTALS_UNKNOWN);
    bool strict = false;
    for (uint32_t i = 0; i < PLAY_USERS; i++)
        strict |= p->users[i].open && p->users[i].strict;
    for (uint32_t i = 0; i < PLAY_USERS; i++)
        p->users[i].raced |= strict && !sure;
}

/* ---- What a result must be. ---- */

static void judge_curve(struct play *p, const struct user *u, const struct vrs_peaks *r, uint32_t k,
                        uint32_t to)
{
    const struct known_device *d = &p->device;
    if (u->gone & 1u << k || !shown(&p->reading, k)) {
        breach(p, r->peak[k] == VRS_UNKNOWN, "a peak is told that was not known all the time");
        return;
    }
    uint64_t truth = known_device_highest(d, (enum vrs_curve)k, u->since, to);
    uint64_t after = known_device_highest(d, (enum vrs_curve)k, u->from, to);
    breach(p, r->peak[k] != VRS_UNKNOWN, "a peak that was known is not told");
    if (r->peak[k] == VRS_UNKNOWN)
        return;
    breach(p, r->peak[k] <= truth, "(5) a peak is above the truth");
    breach(p, r->start[k] == d->at[u->from][k], "a start is not what was read");
    for (uint32_t i = u->from; i <= to; i++)
        if (p->was_read[i] & 1u << k)
            breach(p, r->peak[k] >= d->at[i][k], "(3) a peak is below a reading inside");
    if (r->state >= VRS_LOST || u->blurred)
        return;
    breach(p, truth <= r->at_most[k], "(6) the truth is above the bound");
    bool climbed = !(u->inexact & 1u << k) || after > u->open_peak[k];
    breach(p, !climbed || r->peak[k] == truth, "(1) a peak is not the maximum");
    breach(p, !climbed || r->at_most[k] == truth, "(1) the bound of an exact peak is not the peak");
    breach(p, r->state != VRS_EXACT || r->peak[k] == truth, "a peak is told as exact and is not");
}

static bool sampled_rightly(const struct vrs_peaks *r)
{
    bool wide = false;
    for (uint32_t k = 0; k < VRS_CURVES; k++)
        wide |= r->peak[k] != VRS_UNKNOWN && r->peak[k] < r->at_most[k];
    return wide == (r->state == VRS_SAMPLED);
}

static void judge_totals(struct play *p, const struct user *u, const struct vrs_peaks *r)
{
    if (u->totals_lost || p->reading.allocations == VRS_UNKNOWN) {
        breach(p, r->allocations == VRS_UNKNOWN && r->allocated_bytes == VRS_UNKNOWN,
               "gross figures are told over a reset of the counters");
        return;
    }
    if (u->totals_blurred || r->allocations == VRS_UNKNOWN)
        return;
    const struct known_totals *to = &p->ever, *from = &u->ever;
    breach(p, r->allocated_bytes == to->allocated - from->allocated, "bytes allocated are wrong");
    breach(p, r->freed_bytes == to->freed - from->freed, "bytes freed are wrong");
    breach(p, r->allocations == to->allocations - from->allocations, "allocations are wrong");
    breach(p, r->frees == to->frees - from->frees, "frees are wrong");
}

static void judge(struct play *p, const struct user *u, const struct vrs_peaks *r)
{
    p->states[r->state]++;
    if (!p->has_read || !u->has_from) {
        breach(p, r->state == VRS_STATE_UNKNOWN && r->peak[0] == VRS_UNKNOWN,
               "a result without a reading");
        return;
    }
    uint32_t to = p->read_at;
    enum vrs_state least = u->raced ? VRS_RACED : u->lost ? VRS_LOST : VRS_EXACT;
    if (least != VRS_EXACT)
        breach(p, r->state == least, "(5) what was lost or raced is not marked so");
    else
        breach(p, r->state <= VRS_SAMPLED, "(5) marked as lost or raced, and was not");
    if (least == VRS_EXACT)
        breach(p, sampled_rightly(r), "sampled, and the bounds are one, or the other way");
    for (uint32_t k = 0; k < VRS_CURVES; k++)
        judge_curve(p, u, r, k, to);
    judge_totals(p, u, r);
    p->results[p->results_len++] = (struct result){ (uint32_t)(u - p->users), u->since, to, *r };
}

/* (4) */
static void judge_enclosing(struct play *p)
{
    for (uint32_t i = 0; i < p->results_len; i++)
        for (uint32_t j = 0; j < p->results_len; j++) {
            const struct result *outer = &p->results[i], *inner = &p->results[j];
            if (outer->since > inner->since || outer->to < inner->to)
                continue;
            for (uint32_t k = 0; k < VRS_CURVES; k++)
                breach(p,
                       outer->peaks.peak[k] >= inner->peaks.peak[k] ||
                           inner->peaks.peak[k] == VRS_UNKNOWN,
                       "(4) an enclosed slot has the higher peak");
        }
}

/* ---- Steps. ---- */

static void step_begins(struct play *p)
{
    p->has_read = p->reset_done = p->spiked = false;
    p->readings = 0;
    p->marked = NULL;
}

/* An interval of the user begins with the reading of this step. */
static void interval_begins(struct play *p, struct user *u)
{
    *u = (struct user){ .slot = u->slot,
                        .holds = true,
                        .open = u->slot.place != 0,
                        .strict = u->strict,
                        .keeps = u->keeps,
                        .from = p->read_at,
                        .since = p->read_at,
                        .blurred = p->spiked,
                        .ever = p->ever };
    u->has_from = p->has_read && u->open;
    if (!p->has_read)
        return;
    u->totals_lost = p->reading.allocations == VRS_UNKNOWN;
    for (uint32_t k = 0; k < VRS_CURVES; k++) {
        bool known = shown(&p->reading, k);
        u->gone |= known ? 0 : 1u << k;
        u->open_peak[k] = p->reading.peak[k];
        if (known && p->reading.peak[k] > p->reading.now[k] && !p->reset_done)
            u->inexact |= 1u << k;
    }
}

static void user_opens(struct play *p, struct user *u, uint32_t flags)
{
    uint32_t reset_at = p->device.reset_at;
    u->strict = (flags & VRS_STRICT) != 0;
    u->keeps = (flags & VRS_KEEP_PEAK) != 0;
    p->calls->open(&p->ledger, &p->backend, 0, flags, &u->slot);
    interval_begins(p, u);
    if (flags & VRS_FROM_RESET) {
        breach(p, !p->reset_done, "a slot that looks back to a reset made one");
        u->since = reset_at;
        u->inexact = 0;
    }
    if (flags & VRS_KEEP_PEAK)
        breach(p, !p->reset_done, "a slot that keeps the peak reset it");
    p->openings++;
    p->open += u->open;
    if (p->open > p->most_open)
        p->most_open = p->open;
    bool room = p->scenario->slots == 0 || p->open < p->scenario->slots;
    breach(p, u->open || !room, "a slot was refused that there was room for");
    expect_race(p);
}

static void user_marks(struct play *p, struct user *u)
{
    struct vrs_peaks r;
    p->marked = u;
    p->openings++;
    p->calls->mark(&p->ledger, &p->backend, 0, &u->slot, &r);
    judge(p, u, &r);
    if (p->has_read)
        interval_begins(p, u);
    expect_race(p);
}

static void user_closes(struct play *p, struct user *u, bool wants)
{
    struct vrs_peaks r;
    if (wants) {
        p->calls->close(&p->ledger, &p->backend, 0, &u->slot, &r);
        judge(p, u, &r);
    } else {
        p->calls->drop(&p->ledger, &u->slot);
    }
    breach(p, u->slot.place == 0, "a closed slot has a place");
    p->open -= u->open;
    *u = (struct user){ .holds = false };
}

static void user_steps(struct play *p, const struct step *s)
{
    struct user *u = &p->users[s->user];
    struct vrs_stats ignored;
    p->device.spike = (uint64_t)s->bytes;
    if (s->what == READ)
        (void)p->calls->read(&p->ledger, &p->backend, 0, &ignored);
    else if (s->what == OPEN && !u->holds)
        user_opens(p, u, s->flags);
    else if (s->what == MARK && u->holds)
        user_marks(p, u);
    else if (s->what == CLOSE && u->holds)
        user_closes(p, u, true);
    else if (s->what == DROP && u->holds)
        user_closes(p, u, false);
    p->device.spike = 0;
}

static void device_steps(struct play *p, const struct step *s)
{
    struct known_device *d = &p->device;
    if (s->what == CHANGE) {
        known_device_change(d, s->curve, s->bytes);
    } else if (s->what == SPIKE) {
        known_device_spike(d, (uint64_t)s->bytes);
    } else if (s->what == RESET_PEAK) {
        known_device_reset_peak(d);
        for (uint32_t i = 0; i < PLAY_USERS; i++)
            p->users[i].foreign = true;
    } else if (s->what == RESET_TOTALS) {
        known_device_reset_totals(d);
        p->totals_since = true;
    } else if (s->what == FAIL) {
        d->fail_readings = s->flags & 3;
        d->fail_resets = (s->flags & 4) != 0;
    } else if (s->what == HIDE) {
        d->hidden = s->flags;
    }
}

/* ---- Programs. ---- */

static uint32_t draw(uint64_t *random, uint32_t below)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 33) % below;
}

static uint32_t slot_flags(const struct play_scenario *s, uint64_t *random)
{
    uint32_t one_of = draw(random, 12), flags = s->strict ? VRS_STRICT : 0;
    if (s->keepers && one_of < 2)
        flags |= VRS_KEEP_PEAK;
    if (s->from_reset && one_of >= 2 && one_of < 5)
        flags |= VRS_FROM_RESET;
    if (s->strict && one_of >= 9)
        flags = 0;
    return flags;
}

/* What a scenario has besides, once in a while. */
static struct step rare_step(const struct play_scenario *s, uint64_t *random)
{
    uint32_t one_of = draw(random, 4);
    if (one_of == 0 && s->foreign)
        return (struct step){ .what = draw(random, 3) != 0 ? RESET_PEAK : RESET_TOTALS };
    if (one_of == 1 && s->failures)
        return (struct step){ .what = FAIL, .flags = draw(random, 8) & draw(random, 8) };
    if (one_of == 2 && s->hides)
        return (struct step){ .what = HIDE, .flags = draw(random, 32) & draw(random, 32) };
    if (!s->grows)
        return (struct step){ .what = SPIKE, .bytes = 1 + draw(random, 40) };
    return (struct step){ .what = READ };
}

static struct step random_step(const struct play_scenario *s, uint64_t *random)
{
    static const enum what of_users[] = { OPEN, OPEN, OPEN, MARK, MARK, CLOSE, CLOSE, CLOSE, DROP };
    uint32_t one_of = draw(random, 20);
    if (one_of == 0)
        return rare_step(s, random);
    if (one_of == 1)
        return (struct step){ .what = READ };
    if (one_of < 12) {
        int64_t bytes = 1 + draw(random, 12); /* few, so that equal values are common */
        return (struct step){ .what = CHANGE,
                              .curve = (enum vrs_curve)draw(random, VRS_CURVES),
                              .bytes = s->grows || draw(random, 2) != 0 ? bytes : -bytes };
    }
    struct step step = { .what = of_users[draw(random, 9)], .user = draw(random, s->users) };
    step.flags = slot_flags(s, random);
    if (s->stays && (step.what == CLOSE || step.what == DROP))
        step.what = OPEN;
    if (s->spikes && draw(random, 4) == 0)
        step.bytes = 1 + draw(random, 60);
    return step;
}

/* Plays the program with the users whose bits are set. */
static void play(struct play *p, const struct ledger_calls *calls, const struct play_scenario *s,
                 const struct step *program, uint64_t users)
{
    memset(p, 0, sizeof *p);
    p->calls = calls;
    p->scenario = s;
    known_device_begin(&p->device);
    p->device.read = hear_reading;
    p->device.was_reset = hear_reset;
    p->device.arg = p;
    p->backend = known_device_backend(&p->device, s->resets);
    calls->init(&p->ledger, s->slots != 0 ? s->slots : PLAY_USERS);
    for (uint32_t i = 0; i < PLAY_STEPS; i++) {
        step_begins(p);
        if (users & (uint64_t)1 << program[i].user)
            user_steps(p, &program[i]);
        device_steps(p, &program[i]);
    }
    for (uint32_t i = 0; i < PLAY_USERS; i++) {
        step_begins(p);
        if (p->users[i].holds)
            user_closes(p, &p->users[i], true);
    }
    judge_enclosing(p);
    breach(p, p->device.resets <= p->openings, "(7) more resets than openings");
    breach(p, !s->grows || p->device.resets == 0, "(7) a reset though memory only grew");
    breach(p, p->ledger.open.len == 0 && p->ledger.open_slots == 0, "(8) a slot is open");
    breach(p, p->ledger.keepers == 0 && p->ledger.strict == 0, "(8) what a slot wanted is left");
    breach(p, p->ledger.slots.len <= p->most_open, "(8) places are not used again");
    calls->free(&p->ledger);
}

static bool same_result(const struct vrs_peaks *a, const struct vrs_peaks *b)
{
    return memcmp(a->start, b->start, sizeof a->start) == 0 &&
           memcmp(a->peak, b->peak, sizeof a->peak) == 0 &&
           memcmp(a->at_most, b->at_most, sizeof a->at_most) == 0 &&
           memcmp(a->now.now, b->now.now, sizeof a->now.now) == 0 && a->state == b->state &&
           a->allocated_bytes == b->allocated_bytes && a->freed_bytes == b->freed_bytes &&
           a->allocations == b->allocations && a->frees == b->frees;
}

/* (2) */
static void judge_alone(struct play *whole, const struct play *part, uint64_t users)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < whole->results_len; i++) {
        const struct result *r = &whole->results[i];
        if (!(users & (uint64_t)1 << r->user))
            continue;
        bool there = at < part->results_len && part->results[at].user == r->user;
        breach(whole, there && same_result(&r->peaks, &part->results[at].peaks),
               "(2) a result is another one without other users");
        at++;
    }
    breach(whole, at == part->results_len, "(2) another number of results without other users");
}

static void tell(const struct play *p, struct play_tally *tally)
{
    for (uint32_t i = 0; i <= VRS_STATE_UNKNOWN; i++)
        tally->states[i] += p->states[i];
    if (tally->most_open < p->most_open)
        tally->most_open = p->most_open;
    tally->refused += (uint32_t)p->ledger.slots_refused;
    tally->resets += p->device.resets;
}

const char *ledger_play(const struct ledger_calls *calls, const struct play_scenario *s,
                        uint64_t seed, struct play_tally *tally)
{
    static struct play whole, part;
    static struct step program[PLAY_STEPS];
    uint64_t random = seed;
    for (uint32_t i = 0; i < PLAY_STEPS; i++)
        program[i] = random_step(s, &random);
    play(&whole, calls, s, program, UINT64_MAX);
    tell(&whole, tally);
    bool apart = !s->foreign && !s->keepers && !s->from_reset && !s->failures && !s->hides &&
                 !s->spikes && s->slots == 0 && s->resets != 0;
    if (apart) {
        uint64_t users = hash_u64(seed + 1);
        play(&part, calls, s, program, users);
        judge_alone(&whole, &part, users);
    }
    return whole.breach;
}
