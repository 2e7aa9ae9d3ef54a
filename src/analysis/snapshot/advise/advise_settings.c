/* advise_settings.c - settings of the allocator, by what a replay of the recording says.
 *
 * Where the model reproduces the recording, the saving is the larger of two: what is reserved less
 * at the most, and what less of a card suffices.  Few runs decide: a bound says where no setting
 * can save enough, one run on a card that is just small enough says whether a search is worth it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "allocator/replay/recorded.h"
#include "allocator/replay/replay.h"
#include "allocator/whatif/sound_model.h"
#include "allocator/whatif/whatif.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/oom/oom_what_if.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/timeline/timeline.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"

/* A setting, and the options of a replay that tells what it saves. */
struct setting {
    const char *name, *peak, *suffices;
};

#define SETTING(text)                                                                              \
    {                                                                                              \
        text, "--set " text, "--set " text " --smallest"                                           \
    }

static const struct setting expandable[] = { SETTING("expandable_segments:True") };
/* Of two that save as much the earlier is named. */
static const struct setting splits[] = {
    SETTING("max_split_size_mb:128"),
    SETTING("max_split_size_mb:512"),
};

/* What the replays say of the best setting. */
struct setting_answer {
    bool known; /* the model reproduces the recording */
    const struct setting *setting;
    struct advice_verification proof;
    uint64_t saving_bytes;
    uint64_t recorded_bytes, changed_bytes; /* reserved at the most, where that falls as well */
    const struct setting *peaks_of;         /* the setting whose peaks those are */
};

struct asking {
    struct advising *a;
    struct sound_model model;
    uint64_t recorded_bytes, least_bytes; /* reserved at the most, and a saving worth a line */
    bool failed;                          /* a request did: what was recorded ends there */
    uint64_t same_bytes;                  /* that suffice for the recorded settings; 0: not asked */
};

static enum vrs_status run_with(const struct asking *q, const struct allocator_config *config,
                                uint64_t capacity_bytes, struct whatif_answer *ret)
{
    struct whatif_question question = { .config = config,
                                        .capacity_bytes = capacity_bytes,
                                        .below_address = q->model.identities.below_address };
    return whatif_run(&q->model.program, &q->model.start, &question, ret, q->a->err);
}

static enum vrs_status suffices(const struct asking *q, const struct allocator_config *config,
                                const struct whatif_answer *free, uint64_t *ret)
{
    struct whatif_question question = { .config = config,
                                        .capacity_bytes = UNKNOWN_U64,
                                        .below_address = q->model.identities.below_address };
    struct capacity_answer found;
    TRY(whatif_smallest(&q->model.program, &q->model.start, &question, free, &found, q->a->err));
    *ret = found.completes ? found.bytes : 0;
    return VRS_OK;
}

static enum vrs_status suffices_as_recorded(struct asking *q)
{
    struct whatif_answer free;
    if (q->same_bytes != 0)
        return VRS_OK;
    TRY(run_with(q, &q->model.recorded, UNKNOWN_U64, &free));
    return suffices(q, &q->model.recorded, &free, &q->same_bytes);
}

static void take_better(struct setting_answer *best, const struct setting *setting,
                        const char *options, const char *figure, uint64_t before, uint64_t after)
{
    uint64_t saving = before > after ? before - after : 0;
    if (saving <= best->saving_bytes)
        return;
    best->setting = setting;
    best->saving_bytes = saving;
    /* The peaks that stand beside it are those of the same setting. */
    if (best->peaks_of != setting)
        best->recorded_bytes = best->changed_bytes = 0;
    best->proof = (struct advice_verification){ "replay", options, figure, before, after };
}

/* May the setting save enough?  One run, before the model is proven: what reserves less than a
 * capacity without one completes in it as well, and where it does not, the run ends early. */
static enum vrs_status is_promising(const struct asking *q, const struct allocator_config *config,
                                    bool *ret)
{
    struct whatif_answer at = { .ran_out = false };
    /* A memory fraction makes less of a capacity than it is. */
    if (!q->failed && config->memory_fraction >= 1)
        TRY(run_with(q, config, q->recorded_bytes - q->least_bytes, &at));
    *ret = !at.ran_out;
    return VRS_OK;
}

/* What less suffices than for the recorded settings, where that is more than what is saved already:
 * one run says so before a search. */
static enum vrs_status compare_smallest(struct asking *q, const struct setting *setting,
                                        const struct allocator_config *config,
                                        const struct whatif_answer *free,
                                        struct setting_answer *best)
{
    struct whatif_answer at;
    uint64_t enough = 0;
    uint64_t less = best->saving_bytes < q->least_bytes ? q->least_bytes : best->saving_bytes;
    TRY(suffices_as_recorded(q));
    if (q->same_bytes <= less || config->memory_fraction < 1)
        return VRS_OK;
    TRY(run_with(q, config, q->same_bytes - less, &at));
    if (at.ran_out)
        return VRS_OK;
    TRY(suffices(q, config, free, &enough));
    if (enough != 0)
        take_better(best, setting, setting->suffices, "capacity_needed_bytes", q->same_bytes,
                    enough);
    return VRS_OK;
}

/* Of one setting, into the best so far. */
static enum vrs_status ask_setting(struct asking *q, const struct setting *setting,
                                   struct setting_answer *best)
{
    struct allocator_config config = q->model.recorded;
    struct whatif_answer free;
    bool promising = false;
    int64_t peak_event = q->a->s->curves.of[CURVE_RESERVED].peak_event;
    if (config_set(&config, str_from(setting->name), NULL) != VRS_OK ||
        sound_model_same(&config, &q->model.recorded))
        return VRS_OK;
    if (!q->model.sound) {
        TRY(is_promising(q, &config, &promising));
        if (!promising)
            return VRS_OK;
        TRY(sound_model_prove(&q->model, q->a->err));
        best->known = q->model.sound;
        if (!best->known)
            return VRS_OK;
    }
    TRY(run_with(q, &config, UNKNOWN_U64, &free));
    /* A run ends where it serves a request that failed: what was reserved later is not compared. */
    if (free.served_oom_event < 0 || peak_event <= free.served_oom_event)
        take_better(best, setting, setting->peak, "peak_reserved_bytes", q->recorded_bytes,
                    free.reserved.bytes);
    if (best->setting == setting && best->saving_bytes >= q->least_bytes) {
        best->peaks_of = setting;
        best->recorded_bytes = best->proof.before_bytes;
        best->changed_bytes = best->proof.after_bytes;
    }
    return compare_smallest(q, setting, &config, &free, best);
}

static enum vrs_status ask_settings(struct asking *q, const struct setting *setting, uint32_t count,
                                    struct setting_answer *ret)
{
    const struct study *s = q->a->s;
    if (!grade_is_exact(q->a->proven->agreement->grade) || s->events > SETTING_EVENTS_MOST)
        return VRS_OK;
    TRY(sound_model_begin(s->r, s->device, s->scratch, &q->model, q->a->err));
    ret->known = q->model.exact;
    for (uint32_t i = 0; ret->known && i < count; i++)
        TRY(ask_setting(q, &setting[i], ret));
    return VRS_OK;
}

static struct asking asking_of(struct advising *a)
{
    int64_t most = a->s->curves.of[CURVE_RESERVED].peak_bytes;
    uint64_t recorded = most > 0 ? (uint64_t)most : 0;
    uint64_t least = percent_of(recorded, SETTING_PERCENT);
    return (struct asking){
        .a = a,
        .recorded_bytes = recorded,
        .least_bytes = least > a->floor_bytes ? least : a->floor_bytes,
        .failed = a->first_oom < (int64_t)a->s->events,
    };
}

/* Can no setting save enough?  It reserves what is requested, at the least. */
static bool is_close(const struct asking *q)
{
    uint64_t requested = q->a->peak_bytes > 0 ? (uint64_t)q->a->peak_bytes : 0;
    return !q->failed && q->recorded_bytes < requested + q->least_bytes;
}

static bool take_answer(struct advising *a, const struct setting_answer *answer)
{
    a->now.setting = answer->setting->name;
    a->now.verification = answer->proof;
    a->now.bytes = answer->proof.before_bytes;
    a->now.saving_bytes = answer->saving_bytes;
    a->now.source = SAVING_VERIFIED;
    a->now.confidence = CONFIDENCE_HIGH;
    a->now.text = answer->proof.options == answer->setting->peak
                      ? "set PYTORCH_CUDA_ALLOC_CONF={setting} in the environment: replayed with "
                        "it, this recording reserves {after} at the most, where {before} were "
                        "reserved."
                      : "set PYTORCH_CUDA_ALLOC_CONF={setting} in the environment: replayed with "
                        "it, this recording completes in {after} of device memory, where it now "
                        "needs {before}{peaks}.";
    a->now.recorded_peak_bytes = answer->recorded_bytes;
    a->now.changed_peak_bytes = answer->changed_bytes;
    advise_event(a, a->s->curves.of[CURVE_RESERVED].peak_event);
    return true;
}

/* Asks, and speaks where a setting saves enough; `*ret_known`: nothing is left to be estimated. */
static bool speak_by_replay(struct advising *a, const struct setting *setting, uint32_t count,
                            const char *clause, bool *ret_known)
{
    struct asking q = asking_of(a);
    struct setting_answer answer = { .known = false };
    *ret_known = true;
    if (is_close(&q))
        return advise_silent(a,
                             "less than 5 % of reserved memory, or less than 16 MiB, is not in use "
                             "at the peak: no setting can save more");
    struct arena_mark mark = arena_mark(a->s->scratch);
    enum vrs_status status = ask_settings(&q, setting, count, &answer);
    arena_release(a->s->scratch, mark);
    *ret_known = answer.known;
    if (status != VRS_OK)
        return false;
    if (!answer.known)
        return true;
    advise_condition(a, "saving_bytes", (double)answer.saving_bytes, (double)q.least_bytes);
    if (answer.saving_bytes < q.least_bytes)
        return advise_silent(a, clause);
    return take_answer(a, &answer);
}

/* Stacks of Windows, where expandable segments do not exist. */
static bool is_windows(const struct recording *r)
{
    for (uint32_t i = 1; i < r->code.frames.rows.len; i++) {
        str file = strings_text(&r->code.strings, (string_id){ r->code.frames.file[i] });
        if (file.len > 2 && file.ptr[1] == ':' && (file.ptr[2] == '\\' || file.ptr[2] == '/'))
            return true;
    }
    return false;
}

/* Expandable segments, where no replay tells. */

/* What is stranded where most is reserved, else at the end. */
static bool stranded(const struct advising *a, uint64_t *ret_bytes, uint64_t *ret_reserved)
{
    const struct timeline *t = a->in->timeline;
    if (t != NULL && t->gap.known) {
        *ret_bytes = t->gap.stranded_bytes;
        *ret_reserved = (uint64_t)t->gap.reserved_bytes;
        return true;
    }
    const struct fragments *f = a->in->fragments;
    if (f == NULL)
        return false;
    *ret_bytes = f->total.stranded_bytes;
    *ret_reserved = f->total.reserved_bytes;
    return true;
}

/* Is most of a known capacity reserved, where most is? */
static bool was_near(const struct advising *a)
{
    const struct timeline *t = a->in->timeline;
    uint64_t most = t == NULL || t->gap.reserved_bytes < 0 ? 0 : (uint64_t)t->gap.reserved_bytes;
    return a->in->capacity_bytes > 0 && most >= percent_of(a->in->capacity_bytes, NEAR_PERCENT);
}

/* Do workspaces of libraries keep most of it from being returned?  Every process has those. */
static bool is_expected(const struct advising *a)
{
    const struct fragments *f = a->in->fragments;
    uint64_t expected = 0, all = 0;
    for (uint32_t i = 0; f != NULL && i < f->pins; i++) {
        all += f->pin[i].stranded_bytes;
        expected += f->pin[i].by.expected ? f->pin[i].stranded_bytes : 0;
    }
    return all > 0 && expected > all / 2;
}

static bool estimate_expandable(struct advising *a)
{
    uint64_t bytes, reserved;
    if (!stranded(a, &bytes, &reserved))
        return advise_silent(a, "the layout of memory is not known");
    uint64_t least = percent_of(reserved, SETTING_PERCENT);
    least = least > STRANDED_LEAST ? least : STRANDED_LEAST;
    advise_condition(a, "stranded_bytes", (double)bytes, (double)least);
    if (bytes < least && !a->in->fragmented)
        return advise_silent(a,
                             "less than 5 % of reserved memory is stranded, or less than 256 MiB");
    if (!advise_was_short(a) && !was_near(a))
        return advise_silent(a, "memory was never short, and no replay tells what it would save");
    if (is_expected(a))
        return advise_silent(a, "workspaces of libraries pin most of it");
    const struct timeline *t = a->in->timeline;
    advise_event(a, t != NULL && t->gap.known ? t->gap.event : (int64_t)a->s->events - 1);
    a->now.setting = expandable[0].name;
    a->now.bytes = a->now.saving_bytes = bytes;
    a->now.source = SAVING_ESTIMATED;
    a->now.at_most = true;
    return true;
}

bool advise_expandable(struct advising *a)
{
    bool known = false;
    if (config_of_recording(a->s->r).expandable)
        return advise_silent(a, "expandable segments are in use");
    if (is_windows(a->s->r))
        return advise_silent(a, "expandable segments do not exist on Windows");
    if (a->in->what_if != NULL && a->in->what_if->expandable == EXPANDABLE_RUNS_OUT)
        return advise_silent(a,
                             "a replay with expandable segments runs out of memory all the same");
    if (!speak_by_replay(
            a, expandable, 1,
            "a replay with expandable segments saves less than 5 % of reserved memory, or "
            "less than 16 MiB",
            &known))
        return false;
    return known || estimate_expandable(a);
}

/* How many lives at a place were short, and how many not; what is alive counts once it is old. */
struct place_lives {
    uint32_t brief, lasting;
};

static struct place_lives *count_lives(const struct advising *a)
{
    const struct study *s = a->s;
    struct place_lives *of = arena_array(s->scratch, struct place_lives, a->sites.sites);
    for (uint32_t i = 0; of != NULL && i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        struct place_lives *place = &of[a->sites.of[i]];
        if (l->birth < 0 || l->freed - l->birth >= PIN_SHORT_EVENTS)
            place->lasting++;
        else if (l->freed < (int64_t)s->events)
            place->brief++;
    }
    return of;
}

/* Does the segment get whole again by itself?  Its oldest block is young, and no more at its place
 * grow old than die soon. */
static bool is_brief(const struct advising *a, const struct fragment_pin *pin,
                     const struct place_lives *lives)
{
    if (pin->oldest == NO_ROW)
        return false;
    const struct lifetime *l = &a->s->lifetimes.at[pin->oldest];
    const struct place_lives *place = &lives[a->sites.of[pin->oldest]];
    return l->birth >= 0 && a->in->fragments->at_event - l->birth < PIN_SHORT_EVENTS &&
           place->brief >= place->lasting;
}

static bool judge_pins(struct advising *a, const struct fragments *f)
{
    const struct fragment_pin *largest = NULL;
    const struct place_lives *lives = count_lives(a);
    bool brief = false;
    if (lives == NULL)
        return false;
    for (uint32_t i = 0; i < f->pins; i++) {
        const struct fragment_pin *pin = &f->pin[i];
        if (pin->total_bytes < PINNED_SEGMENT ||
            pin->active_bytes > percent_of(pin->total_bytes, PINNED_PERCENT))
            continue;
        if (is_brief(a, pin, lives)) {
            brief = true;
            continue;
        }
        a->now.bytes += pin->free_bytes;
        largest = largest == NULL || pin->free_bytes > largest->free_bytes ? pin : largest;
    }
    if (largest == NULL)
        return advise_silent(a, brief ? "the small blocks that pin large segments are short-lived"
                                      : "no large segment is pinned by small blocks");
    a->now.saving_bytes = a->now.bytes;
    a->now.source = SAVING_ESTIMATED;
    return advise_site(a, largest->by.site.stack);
}

/* Where expandable segments cannot be had: by the replay, else large segments that small blocks
 * pin. */
bool advise_max_split(struct advising *a)
{
    bool known = false;
    if (!is_windows(a->s->r))
        return advise_silent(a, "expandable_segments:True is available, and is the better setting");
    if (!speak_by_replay(
            a, splits, sizeof splits / sizeof *splits,
            "a replay with max_split_size_mb saves less than 5 % of reserved memory, or "
            "less than 16 MiB",
            &known))
        return false;
    if (known)
        return true;
    if (a->in->fragments == NULL)
        return advise_silent(a, "the layout of memory is not known");
    struct arena_mark mark = arena_mark(a->s->scratch);
    bool ok = judge_pins(a, a->in->fragments);
    arena_release(a->s->scratch, mark);
    return ok;
}
