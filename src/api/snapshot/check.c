/* check.c - does a recording keep a budget. */
#include "analysis/snapshot/check/check_baseline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/frame_class.h"
#include "analysis/attribution/naming.h"
#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/check/budget.h"
#include "analysis/snapshot/check/check.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "api/file.h"
#include "api/result.h"
#include "api/snapshot/ask.h"
#include "api/snapshot/check_paths.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/recording.h"
#include "render/answer/answer.h"
#include "render/snapshot/answers.h"
#include "render/snapshot/check/check_sentences.h"
#include "vramscope/snapshot.h"

/* The caller's words, read, and the baseline, which all devices share. */
struct check_options_read {
    struct vrs_check_options o;
    struct budget budget;
    struct category_rules rules;
    bool path_cut;        /* the name of the file is shown without its folder */
    struct arena arena;   /* of the budget, and of the baseline's names */
    struct arena scratch; /* of the baseline's study */
    struct check_baseline base;
};

static enum vrs_status read_words(const struct vrs_check_options *o, bool has_baseline,
                                  struct budget *b, struct vrs_error *err)
{
    str name = o->budget_name == NULL ? S("budget") : str_from(o->budget_name);
    if (o->budget != NULL)
        TRY(budget_read(b, name, str_from(o->budget), err));
    for (uint32_t i = 0; i < o->limits; i++)
        TRY(budget_set(b, str_from(o->limit[i].name), text_or_empty(o->limit[i].value), err));
    return budget_check(b, has_baseline, err);
}

static enum vrs_status read_rules(const struct vrs_check_options *o, struct category_rules *rules,
                                  struct vrs_error *err)
{
    const char *name = o->rules_name == NULL ? "rules" : o->rules_name;
    if (o->rules != NULL)
        TRY(category_rules_read(rules, str_from(o->rules), name, err));
    return category_rules_read(rules, str_from(category_rules_builtin), "builtin", err);
}

enum vrs_status vrs_check_check(const struct vrs_check_options *options, bool has_baseline,
                                struct vrs_error *err)
{
    struct vrs_check_options o = { 0 };
    struct arena arena;
    struct budget budget = { 0 };
    struct category_rules rules;
    options_take(&o, sizeof o, options);
    arena_init(&arena, SIZE_MAX / 2);
    category_rules_init(&rules);
    enum vrs_status status = budget_make(&arena, &budget, err);
    if (status == VRS_OK)
        status = read_words(&o, has_baseline || o.baseline != NULL, &budget, err);
    if (status == VRS_OK)
        status = read_rules(&o, &rules, err);
    category_rules_free(&rules);
    budget_free(&budget);
    arena_free(&arena);
    return status;
}

static enum vrs_status place_baseline(struct check_options_read *read, struct vrs_error *err)
{
    const struct vrs_recording *baseline = read->o.baseline;
    struct frame_class_options options = { text_or_empty(read->o.about.user_root),
                                           text_or_empty(read->o.about.library) };
    if (baseline == NULL)
        return VRS_OK;
    struct study_place *place = &read->base.place;
    read->base.proof = &baseline->proving->proof;
    *place = (struct study_place){
        .r = baseline->model,
        .threads = 1,
        .rules = &read->rules,
        .keep = &read->arena,
        .scratch = &read->scratch,
    };
    TRY(naming_make(&baseline->model->code, &options, &read->arena, &place->naming, err));
    TRY(recording_prove(baseline, err));
    naming_pass_over(place->naming, read->rules.plumbing.at, read->rules.plumbing.len);
    return study_place_make(place, err);
}

static enum vrs_status ask(struct parts *parts, const struct proven_study *proven,
                           const void *read_of, struct device_answer *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    /* The read is this call's own; what is made of the baseline goes with each device. */
    struct check_options_read *read = *(struct check_options_read *const *)read_of;
    const struct check *check = NULL;
    const struct check_question question = {
        .budget = &read->budget,
        .parts = parts,
        .strict = read->o.strict,
        .allow_estimates = read->o.allow_estimates,
        .path_cut = read->path_cut,
        .device = read->o.about.device.plus_one,
        .user_root = text_or_empty(read->o.about.user_root),
    };
    if (s->r->devices.kind[s->device] == DEVICE_HOST)
        return ask_reason(s, ret, ANSWER_NOT_APPLICABLE, "host_memory",
                          S("limits apply to the memory of GPUs only"), err);
    if (read->o.strict && proven->trust.grade == 'D')
        TRY(ask_reason(s, ret, ANSWER_REFUSED, "grade_d",
                       S("the file contradicts itself, so no limit is judged with --strict"), err));
    TRY(check_beside(proven, &question, read->o.baseline == NULL ? NULL : &read->base, &check,
                     err));
    ret->result = check;
    return VRS_OK;
}

/* The worst of all files that were read counts; a file without any device keeps no budget. */
static enum vrs_verdict verdict_of(const struct answer_set *set)
{
    struct check_tally tally = check_tally_of(set);
    if (tally.fails > 0)
        return VRS_NO;
    if (tally.unread == tally.recordings)
        return VRS_NO_VERDICT;
    return tally.inconclusive > 0 || tally.unjudged > 0 ? VRS_UNDECIDED : VRS_YES;
}

static enum vrs_status check_with(const struct vrs_recording *recording,
                                  struct check_options_read *read, struct vrs_result **ret,
                                  struct vrs_error *err)
{
    struct vrs_check_options *o = &read->o;
    TRY(budget_make(&read->arena, &read->budget, err));
    TRY(read_words(o, o->baseline != NULL, &read->budget, err));
    TRY(budget_check_own(&read->budget, err));
    TRY(read_rules(o, &read->rules, err));
    /* A file of rules may have the root, too. */
    if (o->about.user_root == NULL && read->rules.user_root.len > 0)
        o->about.user_root = read->rules.user_root.ptr;
    str path = o->about.path == NULL ? recording->path : str_from(o->about.path);
    struct ask_options common = { o->about.path, o->about.user_root, o->about.library,
                                  o->about.device.plus_one };
    read->path_cut = check_path_is_cut(path);
    TRY(place_baseline(read, err));
    TRY(ask_devices_ruled(recording, &check_answer, &common, &read->rules, ask, &read, ret, err));
    (*ret)->verdict = verdict_of;
    check_path_cut(*ret);
    return VRS_OK;
}

enum vrs_status vrs_check_unread(const char *path, const struct vrs_error *why,
                                 struct vrs_result **ret, struct vrs_error *err)
{
    struct vrs_result *result = result_make(&check_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    struct devices_answer *answer = &result->set.study[0];
    answer->file.path = result_text(result->arena, str_from(path));
    answer->unread = result_text(result->arena, str_from(why->message));
    if (answer->file.path.ptr == NULL || answer->unread.ptr == NULL) {
        vrs_result_free(result);
        return vrs_no_memory(err);
    }
    result->verdict = verdict_of;
    check_path_cut(result);
    *ret = result;
    return VRS_OK;
}

enum vrs_status vrs_check(const struct vrs_recording *recording,
                          const struct vrs_check_options *options, struct vrs_result **ret,
                          struct vrs_error *err)
{
    struct check_options_read read = { 0 };
    options_take(&read.o, sizeof read.o, options);
    category_rules_init(&read.rules);
    arena_init(&read.arena, SIZE_MAX / 2);
    arena_init(&read.scratch, SIZE_MAX / 2);
    enum vrs_status status = check_with(recording, &read, ret, err);
    category_rules_free(&read.rules);
    budget_free(&read.budget);
    arena_free(&read.arena);
    arena_free(&read.scratch);
    return status;
}
