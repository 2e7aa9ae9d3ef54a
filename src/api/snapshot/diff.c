/* diff.c - what changed between two recordings, or two moments of one. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/attribution/frame_class.h"
#include "analysis/attribution/naming.h"
#include "analysis/attribution/site.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/diff/device_pairs.h"
#include "analysis/snapshot/diff/diff.h"
#include "analysis/snapshot/diff/diff_obstacles.h"
#include "analysis/snapshot/study/moment.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/trust/trust.h"
#include "api/file.h"
#include "api/result.h"
#include "api/stack_texts.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "base/task_list.h"
#include "model/file_facts.h"
#include "model/recording.h"
#include "render/answer/answer.h"
#include "render/snapshot/answers.h"
#include "render/snapshot/diff/diff_answer.h"
#include "vramscope/snapshot.h"

/* What one call works with; side 0 is A. */
struct comparing {
    const struct vrs_recording *recording[2];
    const struct vrs_diff_options *o;
    struct diff_question question;
    struct diff_limit limit;
    struct vrs_result *result;
    /* Of each side, so that both can be worked on at once: names live as long as the call, scratch
     * as a pair of devices. */
    struct arena names[2], scratch[2];
    struct category_rules rules;
    struct study_place place[2];
    struct stack_collector stacks[2];
};

/* The number of `word` among `names`; `count` where it is none of them. */
static uint32_t find_word(const char *word, const char *const *names, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && strcmp(word, names[i]) != 0)
        i++;
    return i;
}

static enum vrs_status read_options(const struct vrs_diff_options *o, struct diff_question *ret,
                                    struct vrs_error *err)
{
    static const char *const keys[] = { "K0", "K1", "K2" };
    struct diff_question w = { .weight = DIFF_LIVE };
    const char *moment[2] = { o->at, o->to == NULL ? o->at : o->to };
    for (int s = 0; s < 2; s++) {
        w.moment[s] = (struct moment){ .kind = AT_PEAK };
        w.has_moment[s] = moment[s] != NULL;
        if (moment[s] != NULL)
            TRY(moment_parse(str_from(moment[s]), &w.moment[s], err));
    }
    uint32_t weight = o->weight == NULL ? 0 : find_word(o->weight, diff_weight_names, DIFF_WEIGHTS);
    uint32_t key = o->key == NULL ? 0 : find_word(o->key, keys, 3);
    uint32_t by = o->by == NULL ? 0 : find_word(o->by, diff_by_names, DIFF_BYS);
    uint32_t per = o->per == NULL ? 0 : find_word(o->per, diff_per_names, DIFF_PERS);
    if (weight == DIFF_WEIGHTS)
        return vrs_fail(err, VRS_USAGE,
                        "cannot weigh by \"%.40s\"; live, alloc_bytes, allocs and "
                        "byte_events are accepted",
                        o->weight);
    if (key == 3)
        return vrs_fail(err, VRS_USAGE, "matching begins at K0, K1 or K2, not at \"%.40s\"",
                        o->key);
    if (by == DIFF_BYS)
        return vrs_fail(err, VRS_USAGE,
                        "cannot group by \"%.40s\"; stack, line, culprit, owner and category are "
                        "accepted",
                        o->by);
    if (per == DIFF_PERS)
        return vrs_fail(err, VRS_USAGE,
                        "cannot divide by \"%.40s\"; step and parameter_byte are "
                        "accepted",
                        o->per);
    w.by = (enum diff_by)by;
    w.weight = (enum diff_weight)weight;
    w.key = (enum site_key)key;
    w.per = (enum diff_per)per;
    *ret = w;
    return VRS_OK;
}

/* Both of the options are 1 more than the limit, so that 0 is none. */
static struct diff_limit limit_of(const struct vrs_diff_options *o)
{
    return (struct diff_limit){
        .set = o->fail_over_bytes != 0 || o->fail_over_millionths != 0,
        .is_ratio = o->fail_over_bytes == 0,
        .bytes = o->fail_over_bytes - 1,
        .millionths = o->fail_over_millionths - 1,
    };
}

/* Reasons ------------------------------------------------------------------------------------- */

/* A sentence with the letter of the side that it is about between `before` and `after`. */
static const struct {
    const char *id, *before, *after;
    enum answer_status status;
} obstacle_reasons[OBSTACLES] = {
    [OBSTACLE_NEEDS_TRACE] = { "needs_trace", "",
                               " has no trace, only a final state; --weight live compares that",
                               ANSWER_NEEDS_TRACE },
    [OBSTACLE_NO_STEPS] = { "nothing_to_divide_by", "", " has no complete steps to divide by",
                            ANSWER_NOT_APPLICABLE },
    [OBSTACLE_NO_PARAMETERS] = { "nothing_to_divide_by", "",
                                 " has no known parameters to divide by", ANSWER_NOT_APPLICABLE },
    [OBSTACLE_FINAL_STATES] = { "no_trace",
                                "the recordings have no trace: final states are compared", "",
                                ANSWER_PARTIAL },
    [OBSTACLE_FINAL_STATE] = { "no_trace", "",
                               " has no trace: its final state is compared with a moment of the "
                               "other; --at end compares two final states",
                               ANSWER_PARTIAL },
    [OBSTACLE_BEGINS_LATE] = { "window_mismatch", "only ",
                               " begins after its program had allocated memory: that older memory "
                               "has no stack",
                               ANSWER_PARTIAL },
    [OBSTACLE_PER_STEP] = { "window_mismatch", "only ",
                            " begins late: figures are compared per step", ANSWER_PARTIAL },
    [OBSTACLE_UNLIKE_PARTS] = { "window_mismatch", "only ",
                                " begins late and no steps are known: the sums cover different "
                                "parts of a run",
                                ANSWER_PARTIAL },
    [OBSTACLE_NO_STACKS] = { "no_stacks",
                             "neither recording has stacks: rows are categories or sizes", "",
                             ANSWER_PARTIAL },
    [OBSTACLE_NO_STACKS_OF_A] = { "no_stacks", "",
                                  " has no stacks: a row that is new need not be new code",
                                  ANSWER_PARTIAL },
    [OBSTACLE_NO_STACKS_OF_B] = { "no_stacks", "",
                                  " has no stacks: a row that is gone need not be gone from the "
                                  "code",
                                  ANSWER_PARTIAL },
    [OBSTACLE_CUT] = { "incomplete", "the file of ",
                       " is cut: what was in use before the part read, and what came "
                       "after it, are not known",
                       ANSWER_PARTIAL },
};

/* Adds a reason, whose sentence is of three parts, and sets the status. */
static enum vrs_status add_reason(struct comparing *c, struct diff_device *d,
                                  enum answer_status status, const char *id, const char *before,
                                  int side, const char *after, struct vrs_error *err)
{
    struct buf text;
    buf_init(&text, 512);
    buf_text(&text, before);
    buf_text(&text, side < 0 ? "" : side == 0 ? "A" : "B");
    buf_text(&text, after);
    d->status = status;
    enum vrs_status result = text.failed
                                 ? vrs_no_memory(err)
                                 : answer_reason_add(c->result->arena, &d->reason, &d->reasons, id,
                                                     buf_slice(&text), err);
    buf_free(&text);
    return result;
}

/* One pair ------------------------------------------------------------------------------------ */

/* The moments of both sides; a device without such a moment is no failure of the call. */
static enum vrs_status find_ranges(struct comparing *c, const struct study *const side[2],
                                   struct diff_options *options, struct diff_device *d,
                                   struct vrs_error *err)
{
    static const char *const sides[2] = { "A: ", "B: " };
    const struct diff_question *q = &c->question;
    for (int s = 0; s < 2; s++) {
        struct vrs_error none = { .message = "" };
        enum vrs_status status = diff_range_at(
            side[s], q->weight, q->has_moment[s] ? &q->moment[s] : NULL, &options->range[s], &none);
        if (status == VRS_USAGE)
            return add_reason(c, d, ANSWER_NOT_APPLICABLE, "no_such_moment", sides[s], -1,
                              none.message, err);
        if (status != VRS_OK) {
            if (err != NULL)
                *err = none;
            return status;
        }
    }
    return VRS_OK;
}

/* What the two do not have in common, as reasons. */
static enum vrs_status add_obstacles(struct comparing *c, const struct diff_obstacles *o,
                                     struct diff_device *d, struct vrs_error *err)
{
    for (uint32_t i = 0; i < o->count; i++) {
        enum diff_obstacle_kind kind = o->at[i].kind;
        TRY(add_reason(c, d, obstacle_reasons[kind].status, obstacle_reasons[kind].id,
                       obstacle_reasons[kind].before, o->at[i].side, obstacle_reasons[kind].after,
                       err));
    }
    return VRS_OK;
}

/* Rows name stacks by their place among those of their side. */
static enum vrs_status ask_stacks(struct comparing *c, struct diff *diff, struct vrs_error *err)
{
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < diff->rows; i++) {
            struct diff_row *row = &diff->row[i];
            /* The text of B's is A's where both are the same. */
            if (row->has_stack[s] && !(s == 1 && row->same_stack) &&
                !stack_texts_ask(&c->stacks[s], row->stack[s], &row->stack[s].n))
                return vrs_no_memory(err);
        }
    return VRS_OK;
}

/* The same by their place among all: B's stand behind A's. */
static void number_stacks(const struct comparing *c, struct diff *diff)
{
    for (uint32_t i = 0; i < diff->rows; i++) {
        struct diff_row *row = &diff->row[i];
        if (row->same_stack)
            row->stack[1] = row->stack[0];
        else
            row->stack[1].n += c->stacks[0].ids.len;
    }
}

static enum vrs_status compare(struct comparing *c, const struct proven_study *const proven[2],
                               struct diff_device *d, struct diff *diff, struct vrs_error *err)
{
    const struct diff_question *q = &c->question;
    struct diff_options options = {
        .by = q->by, .weight = q->weight, .per = q->per, .key = q->key
    };
    const struct study *const side[2] = { proven[0]->study, proven[1]->study };
    struct diff_obstacles obstacles;
    for (int s = 0; s < 2; s++)
        TRY(trust_copy(&proven[s]->trust, c->result->arena, &d->trust[s], err));
    TRY(find_ranges(c, side, &options, d, err));
    if (d->status != ANSWER_OK)
        return VRS_OK;
    diff_obstacles_find(proven, q, &options, &obstacles);
    TRY(add_obstacles(c, &obstacles, d, err));
    if (!diff_can_be(&obstacles))
        return VRS_OK;
    TRY(diff_compute(proven[0], proven[1], &options, diff, err));
    diff_judge(diff, &c->limit);
    for (int s = 0; s < 2; s++)
        diff->end[s].path = c->result->set.diff[0].file[s].path;
    d->result = diff;
    return ask_stacks(c, diff, err);
}

/* A device that is compared; its proof points to its study, so that it stays where it is. */
struct side {
    struct study study;
    struct proven_study proven;
};

struct two_studies {
    struct comparing *c;
    struct device_pair devices;
    struct side side[2];
    uint32_t sides; /* 1: a device beside itself is studied once */
};

static enum vrs_status make_study(void *arg, uint32_t side, uint32_t thread, struct vrs_error *err)
{
    struct two_studies *two = arg;
    (void)thread;
    const struct vrs_recording *recording = two->c->recording[side];
    struct side *ret = &two->side[side];
    TRY(recording_prove(recording, err));
    TRY(study_make(&two->c->place[side], two->devices.device[side], &ret->study, err));
    return proven_study_make(&ret->study, &recording->proving->proof, NULL, &ret->proven, err);
}

/* Both at once. */
static enum vrs_status make_studies(struct two_studies *two, struct vrs_error *err)
{
    struct task_list list = { two->sides, make_study, two };
    return task_list_run(two->c->o->threads, &list, err);
}

static enum vrs_status compare_devices(struct comparing *c, struct device_pair devices,
                                       struct diff_device *d, struct diff *diff,
                                       struct vrs_error *err)
{
    bool one = c->recording[0] == c->recording[1] && devices.device[0] == devices.device[1];
    struct two_studies two = { .c = c, .devices = devices, .sides = one ? 1 : 2 };
    const struct proven_study *const proven[2] = { &two.side[0].proven,
                                                   &two.side[two.sides - 1].proven };
    *d = (struct diff_device){ .status = ANSWER_OK };
    for (int s = 0; s < 2; s++)
        d->there[s] = devices.device[s] != NO_ROW;
    for (int s = 0; s < 2; s++) {
        int of = d->there[s] ? s : 1 - s;
        d->name[s] = device_name_of(c->recording[of]->model, devices.device[of]);
    }
    for (int s = 0; s < 2; s++)
        if (!d->there[s])
            return add_reason(c, d, ANSWER_NOT_APPLICABLE, "no_counterpart", "", s,
                              " has no such device", err);
    TRY(make_studies(&two, err));
    return compare(c, proven, d, diff, err);
}

/* The whole ----------------------------------------------------------------------------------- */

/* A question that no pair of devices can answer. */
static enum vrs_status check_any(const struct diff_answer *answer, struct vrs_error *err)
{
    static const char *const ids[] = { "no_such_moment", "nothing_to_divide_by" };
    for (uint32_t i = 0; i < answer->devices; i++)
        if (answer->device[i].status != ANSWER_NOT_APPLICABLE)
            return VRS_OK;
    if (answer->devices == 0)
        return VRS_OK;
    const struct answer_reason *last = &answer->device[0].reason[answer->device[0].reasons - 1];
    if (find_word(last->id, ids, 2) == 2)
        return VRS_OK;
    return vrs_fail(err, VRS_USAGE, "%s", last->text.ptr);
}

static enum vrs_status begin_side(struct comparing *c, int side, const char *path,
                                  struct vrs_error *err)
{
    const struct vrs_recording *v = c->recording[side];
    struct frame_class_options names = { text_or_empty(c->o->about.user_root),
                                         text_or_empty(c->o->about.library) };
    struct naming *naming;
    TRY(file_facts_of(v, path, c->result->arena, &c->result->set.diff[0].file[side], err));
    TRY(naming_make(&v->model->code, &names, &c->names[side], &naming, err));
    c->place[side] = (struct study_place){
        .r = v->model,
        .threads = 1, /* two studies at a time */
        .naming = naming,
        .rules = &c->rules,
        .keep = side == 0 ? c->result->arena : &c->names[side],
        .scratch = &c->names[side],
    };
    naming_pass_over(naming, c->rules.plumbing.at, c->rules.plumbing.len);
    TRY(study_place_make(&c->place[side], err));
    c->place[side].scratch = &c->scratch[side];
    return stack_texts_begin(&c->stacks[side], v->model, &c->names[side]) ? VRS_OK
                                                                          : vrs_no_memory(err);
}

static enum vrs_status compare_pairs(struct comparing *c, const struct device_pair *pair,
                                     struct vrs_error *err)
{
    struct diff_answer *answer = &c->result->set.diff[0];
    struct diff *diff = arena_array(c->result->arena, struct diff, answer->devices);
    if (diff == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < answer->devices; i++) {
        struct arena_mark mark[2] = { arena_mark(&c->scratch[0]), arena_mark(&c->scratch[1]) };
        enum vrs_status status = compare_devices(c, pair[i], &answer->device[i], &diff[i], err);
        for (int s = 0; s < 2; s++)
            arena_release(&c->scratch[s], mark[s]);
        TRY(status);
    }
    TRY(check_any(answer, err));
    for (uint32_t i = 0; i < answer->devices; i++)
        number_stacks(c, &diff[i]);
    return stack_texts_write(c->stacks, 2, &c->names[0], c->result->arena, &answer->stacks)
               ? VRS_OK
               : vrs_no_memory(err);
}

static enum vrs_status compare_all(struct comparing *c, struct vrs_error *err)
{
    struct diff_answer *answer = &c->result->set.diff[0];
    const struct vrs_diff_options *o = c->o;
    const struct recording *const r[2] = { c->recording[0]->model, c->recording[1]->model };
    const int64_t number[2] = { o->about.device.plus_one, o->b_device.plus_one == 0
                                                              ? o->about.device.plus_one
                                                              : o->b_device.plus_one };
    uint32_t most = r[0]->devices.rows.len + r[1]->devices.rows.len + 1;
    struct device_pair *pair = arena_array(&c->names[0], struct device_pair, most);
    answer->device = arena_array(c->result->arena, struct diff_device, most);
    answer->judged = c->limit.set;
    if (pair == NULL || answer->device == NULL)
        return vrs_no_memory(err);
    TRY(category_rules_read(&c->rules, str_from(category_rules_builtin), "builtin", err));
    TRY(begin_side(c, 0, o->about.path, err));
    TRY(begin_side(
        c, 1, o->b_path == NULL && c->recording[0] == c->recording[1] ? o->about.path : o->b_path,
        err));
    TRY(device_pairs_find(r, number, pair, &answer->devices, err));
    return compare_pairs(c, pair, err);
}

enum vrs_status vrs_diff_check(const struct vrs_diff_options *options, struct vrs_error *err)
{
    struct vrs_diff_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct diff_question ignored;
    return read_options(&o, &ignored, err);
}

/* A limit that could not be looked at is not kept. */
static enum vrs_verdict verdict_of(const struct answer_set *set)
{
    const struct diff_answer *answer = &set->diff[0];
    if (!answer->judged)
        return VRS_NO_VERDICT;
    for (uint32_t i = 0; i < answer->devices; i++)
        if (answer->device[i].result == NULL || answer->device[i].result->limit.exceeded)
            return VRS_NO;
    return VRS_YES;
}

enum vrs_status vrs_diff(const struct vrs_recording *a, const struct vrs_recording *b,
                         const struct vrs_diff_options *options, struct vrs_result **ret,
                         struct vrs_error *err)
{
    struct vrs_diff_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct comparing c = { .recording = { a, b }, .o = &o };
    TRY(read_options(&o, &c.question, err));
    c.limit = limit_of(&o);
    c.result = result_make(&diff_answer, 1);
    if (c.result == NULL)
        return vrs_no_memory(err);
    c.result->verdict = verdict_of;
    c.result->alone = "comparisons cannot be joined; each is of two files";
    for (int s = 0; s < 2; s++) {
        arena_init(&c.names[s], SIZE_MAX / 2);
        arena_init(&c.scratch[s], SIZE_MAX / 2);
    }
    category_rules_init(&c.rules);
    enum vrs_status status = compare_all(&c, err);
    category_rules_free(&c.rules);
    for (int s = 0; s < 2; s++) {
        stack_texts_end(&c.stacks[s]);
        arena_free(&c.names[s]);
        arena_free(&c.scratch[s]);
    }
    if (status == VRS_OK)
        *ret = c.result;
    else
        vrs_result_free(c.result);
    return status;
}
