/* advise.c - runs the rules, works out what each saves, and what they save together. */
#include "analysis/snapshot/advise/advise.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot/advise/advise_join.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/study/counterfactual.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/site_table.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/study/study_jobs.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/pool.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/recording.h"

const char *const severity_names[SEVERITIES] = { "problem", "advice", "note" };

enum { RATIO_DECIMALS = 6 };

bool advise_silent(struct advising *a, const char *clause)
{
    a->clause = clause;
    return true;
}

static bool is_ratio(const char *name)
{
    static const char end[] = "_ratio";
    size_t len = strlen(name), end_len = sizeof end - 1;
    return len > end_len && strcmp(name + len - end_len, end) == 0;
}

void advise_condition(struct advising *a, const char *name, double value, double threshold)
{
    if (a->now.conditions < ADVICE_CONDITIONS)
        a->now.condition[a->now.conditions++] = (struct advice_condition){
            .name = name,
            .value = value,
            .threshold = threshold,
            .decimals = is_ratio(name) ? RATIO_DECIMALS : 0,
        };
}

void advise_event(struct advising *a, int64_t event)
{
    if (a->now.at_events < ADVICE_EVENTS)
        a->now.at_event[a->now.at_events++] = event;
}

bool advise_site(struct advising *a, stack_id stack)
{
    a->now.has_site = true;
    return study_site(a->s, stack, &a->now.site, a->err) == VRS_OK;
}

bool advise_remove(struct advising *a, uint32_t allocation, int64_t from, int64_t to,
                   uint64_t bytes)
{
    return to <= from || bytes == 0 ||
           vec_push(&a->removals, (struct removal){ from, to, bytes, allocation });
}

/* Saved bytes of what the rule would remove: by the counterfactual, never more than was there. */
static void derive_saving(struct advising *a)
{
    lock_take(a->lock);
    struct counterfactual_peak without =
        counterfactual_without(a->c, a->removals.at, a->removals.len);
    lock_give(a->lock);
    int64_t saved = (int64_t)((uint64_t)a->peak_bytes - (uint64_t)without.bytes);
    a->now.saving_bytes = saved > 0 ? (uint64_t)saved : 0;
    if (a->most_saving_bytes != 0 && a->now.saving_bytes > a->most_saving_bytes)
        a->now.saving_bytes = a->most_saving_bytes;
    if (a->now.source == SAVING_NONE)
        a->now.source = SAVING_DERIVED;
}

/* A fix frees enough to be worth a line; what frees nothing is a note. */
static void weigh(struct advising *a, const struct advice_entry *entry)
{
    uint64_t saving = a->now.saving_bytes;
    bool small = saving == UNKNOWN_U64 || saving < a->floor_bytes;
    a->now.of_peak = a->removals.len > 0 && !small;
    if (!small)
        return;
    if (entry->needs_saving) {
        a->clause = "it would free less than 1 % of the peak, or less than 16 MiB";
        return;
    }
    a->now.severity = SEVERITY_NOTE;
    a->removals.len = 0;
    if (saving != 0) {
        a->now.saving_bytes = UNKNOWN_U64;
        a->now.source = SAVING_NONE;
    }
}

/* Runs one rule; what it found is in `now`, or its silence in `clause`. */
static bool run_rule(struct advising *a, const struct advice_entry *entry)
{
    a->now = (struct advice){
        .id = entry->id,
        .text = entry->text,
        .cost = entry->cost,
        .severity = entry->severity,
        .confidence = entry->confidence,
        .saving_bytes = UNKNOWN_U64,
    };
    if (a->proven->trust.grade == 'D')
        return advise_silent(a, "trust grade D");
    if (!a->s->traced && !entry->untraced)
        return advise_silent(a, a->s->events == 0 ? "the recording has no trace of events"
                                                  : "the trace has one event");
    if (!entry->rule(a))
        return false;
    if (a->clause != NULL)
        return true;
    if (a->removals.len > 0)
        derive_saving(a);
    weigh(a, entry);
    return true;
}

struct running {
    const struct advising *shared;
    struct rule_answer answer[ADVICE_RULES_MOST];
};

static enum vrs_status ask_rule(void *arg, uint32_t i, const struct proven_study *proven,
                                struct vrs_error *err)
{
    struct running *running = arg;
    struct advising a = *running->shared;
    a.proven = proven;
    a.s = proven->study;
    a.err = err;
    bool ok = run_rule(&a, &advice_entries[i]);
    if (!ok || a.clause != NULL)
        vec_free(&a.removals);
    running->answer[i] = (struct rule_answer){ a.now, a.clause, a.removals };
    return ok ? VRS_OK : vrs_no_memory(err);
}

/* Most saved bytes first; what saves none behind, problems first. */
static int by_saving(const void *a, const void *b)
{
    const struct advice *x = a, *y = b;
    uint64_t left = known_or_0(x->saving_bytes), right = known_or_0(y->saving_bytes);
    if (left != right)
        return left > right ? -1 : 1;
    if (x->severity != y->severity)
        return x->severity < y->severity ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    const char *m = x->id, *n = y->id;
    for (; *m != '\0' && *m == *n; m++)
        n++;
    return *m < *n ? -1 : *m > *n;
}

static bool look_at_phases(struct advising *a)
{
    const struct phases *p = &a->s->phases;
    size_t places = (size_t)p->intervals + 1;
    a->next_forward = arena_array(a->s->scratch, uint32_t, places);
    a->next_backward = arena_array(a->s->scratch, uint32_t, places);
    a->optimizer_before = arena_array(a->s->scratch, uint32_t, places);
    if (a->next_forward == NULL || a->next_backward == NULL || a->optimizer_before == NULL)
        return false;
    a->optimizer_before[0] = NO_ROW;
    a->next_forward[p->intervals] = a->next_backward[p->intervals] = NO_ROW;
    for (uint32_t i = p->intervals; i-- > 0;) {
        uint8_t phase = p->interval[i].phase;
        a->next_forward[i] = phase == PHASE_FORWARD ? i : a->next_forward[i + 1];
        a->next_backward[i] = phase == PHASE_BACKWARD ? i : a->next_backward[i + 1];
    }
    for (uint32_t i = 0; i < p->intervals; i++) {
        a->optimizer_seen = a->optimizer_seen || p->interval[i].phase == PHASE_OPTIMIZER;
        a->backwards += p->interval[i].phase == PHASE_BACKWARD;
        a->optimizer_before[i + 1] =
            p->interval[i].phase == PHASE_OPTIMIZER ? i : a->optimizer_before[i];
    }
    a->backward_seen = a->backwards > 0;
    return true;
}

static bool find_alive(struct advising *a)
{
    const struct lifetimes *l = &a->s->lifetimes;
    for (uint32_t i = 0; i < l->count; i++)
        if (lifetime_alive(&l->at[i], a->peak_event) && !vec_push(&a->alive, i))
            return false;
    return true;
}

static int64_t first_oom(const struct study *s)
{
    uint32_t first = s->r->devices.first_event[s->device];
    uint32_t i = s->curves.oom_events == 0 ? s->events : 0;
    while (i < s->events && s->r->events.action[first + i] != ACTION_OOM)
        i++;
    return i;
}

/* Asks all rules, and joins what they say. */
static enum vrs_status run_rules(const struct advising *a, struct advise *ret,
                                 struct vrs_error *err)
{
    struct running running = { .shared = a };
    enum vrs_status status = study_jobs_run(a->proven, advice_entry_count, ask_rule, &running, err);
    if (status == VRS_OK)
        status = advise_join(a, running.answer, ret, err);
    for (uint32_t i = 0; i < advice_entry_count; i++)
        vec_free(&running.answer[i].removals);
    return status;
}

static enum vrs_status advise(struct parts *parts, const struct proven_study *proven,
                              const struct advise_inputs *in, struct counterfactual *c,
                              struct advise *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    const struct curve *requested = &s->curves.of[CURVE_REQUESTED];
    const struct site_table *sites = NULL;
    /* Without a trace all is told of the final state. */
    *ret = (struct advise){
        .peak_bytes = s->traced ? requested->peak_bytes : requested->end_bytes,
        .peak_event = s->traced ? requested->peak_event : (int64_t)s->events - 1,
        .of_end = !s->traced,
    };
    struct advising a = {
        .proven = proven,
        .s = s,
        .in = in,
        .c = c,
        .peak_bytes = ret->peak_bytes,
        .peak_event = ret->peak_event,
        .first_oom = first_oom(s),
        .alive.max = UINT32_MAX,
        .removals.max = UINT32_MAX,
        .lock = lock_make(s->scratch),
    };
    if (a.lock == NULL)
        return vrs_no_memory(err);
    a.floor_bytes = a.peak_bytes > 0 ? percent_of((uint64_t)a.peak_bytes, FLOOR_PERCENT) : 0;
    a.floor_bytes = a.floor_bytes > FLOOR_BYTES ? a.floor_bytes : FLOOR_BYTES;
    enum vrs_status status =
        look_at_phases(&a) ? parts_sites(parts, s, &sites, err) : vrs_no_memory(err);
    if (status == VRS_OK) {
        a.sites = *sites;
        status = find_alive(&a) ? run_rules(&a, ret, err) : vrs_no_memory(err);
    }
    vec_free(&a.alive);
    lock_end(a.lock);
    if (status == VRS_OK && ret->advices > 1)
        qsort(ret->advice, ret->advices, sizeof *ret->advice, by_saving);
    return status;
}

enum vrs_status advise_compute(struct parts *parts, const struct proven_study *proven,
                               const struct oom *oom, uint64_t capacity_bytes, struct advise *ret,
                               struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct counterfactual *c = NULL;
    struct advise_inputs in = {
        .capacity_bytes = capacity_bytes,
    };
    if (oom != NULL) {
        in.fragmented = oom->basis != OOM_NOTHING && oom->tests.verdict == OOM_FRAGMENTATION;
        in.what_if = oom->basis == OOM_EVENT ? &oom->what_if : NULL;
    }
    TRY(parts_fragments(parts, proven, &in.fragments, err));
    if (!s->traced)
        return advise(parts, proven, &in, NULL, ret, err);
    TRY(parts_timeline(parts, proven, &in.timeline, err));
    TRY(parts_training_need(parts, s, &in.training_need, err));
    TRY(parts_leaks(parts, s, &in.leaks, err));
    TRY(parts_counterfactual(parts, s, &c, err));
    return advise(parts, proven, &in, c, ret, err);
}
