/* diff.c - what changed between two recordings, or two moments of one. */
#include "api/snapshot/diff.h"

#include <string.h>

#include "api/stack_texts.h"
#include "base/buf.h"
#include "base/task_list.h"
#include "render/snapshot/answers.h"
#include "vramscope/snapshot.h"

/* What one call works with; side 0 is A. */
struct comparing {
    const struct vrs_recording *recording[2];
    const struct vrs_diff_options *o;
    struct diff_options_read read;
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

static enum vrs_status read_options(const struct vrs_diff_options *o, struct diff_options_read *ret,
                                    struct vrs_error *err)
{
    static const char *const keys[] = { "K0", "K1", "K2" };
    struct diff_options_read w = { .weight = DIFF_LIVE };
    const char *moment[2] = { o->at, o->to == NULL ? o->at : o->to };
    for (int s = 0; s < 2; s++) {
        w.moment[s] = (struct moment){ .kind = AT_PEAK };
        w.has_moment[s] = moment[s] != NULL;
        if (moment[s] != NULL)
            TRY(moment_parse(str_from(moment[s]), &w.moment[s], err));
    }
    uint32_t weight = o->weight == NULL ? 0 : find_word(o->weight, diff_weight_names, DIFF_WEIGHTS);
    uint32_t key = o->key == NULL ? 0 : find_word(o->key, keys, 3);
    uint32_t per = o->per == NULL ? 0 : find_word(o->per, diff_per_names, DIFF_PERS);
    if (weight == DIFF_WEIGHTS)
        return vrs_fail(err, VRS_USAGE,
                        "cannot weigh by \"%.40s\"; live, alloc_bytes, allocs and "
                        "byte_events are accepted",
                        o->weight);
    if (key == 3)
        return vrs_fail(err, VRS_USAGE, "matching begins at K0, K1 or K2, not at \"%.40s\"",
                        o->key);
    if (per == DIFF_PERS)
        return vrs_fail(err, VRS_USAGE,
                        "cannot divide by \"%.40s\"; step and parameter_byte are "
                        "accepted",
                        o->per);
    w.weight = (enum diff_weight)weight;
    w.key = (enum site_key)key;
    w.per = (enum diff_per)per;
    *ret = w;
    return VRS_OK;
}

/* Pairs --------------------------------------------------------------------------------------- */

static bool has_memory(const struct recording *r, uint32_t device)
{
    return r->devices.events[device] > 0 || r->devices.segments[device] > 0;
}

static uint32_t find_device(const struct recording *r, uint8_t kind, uint32_t number)
{
    for (uint32_t d = 0; d < r->devices.rows.len; d++)
        if (r->devices.kind[d] == kind && r->devices.number[d] == number)
            return d;
    return NO_ROW;
}

/* The only GPU of a recording that holds memory; NO_ROW: there are none or several. */
static uint32_t only_device(const struct recording *r)
{
    uint32_t found = NO_ROW;
    for (uint32_t d = 0; d < r->devices.rows.len; d++) {
        if (r->devices.kind[d] != DEVICE_CUDA || !has_memory(r, d))
            continue;
        if (found != NO_ROW)
            return NO_ROW;
        found = d;
    }
    return found;
}

struct device_pair {
    uint32_t device[2]; /* rows of devices, or NO_ROW */
};

/* A device that only one side has, or that holds nothing on either, says nothing. */
static bool is_worth(const struct recording *const r[2], struct device_pair pair)
{
    for (int s = 0; s < 2; s++)
        if (pair.device[s] != NO_ROW && has_memory(r[s], pair.device[s]))
            return true;
    return false;
}

static enum vrs_status named_device(const struct recording *r, int64_t number, uint32_t *ret,
                                    struct vrs_error *err)
{
    *ret = number > UINT32_MAX ? NO_ROW : find_device(r, DEVICE_CUDA, (uint32_t)(number - 1));
    if (*ret == NO_ROW)
        return vrs_fail(err, VRS_USAGE, "no device %lld in one of the recordings",
                        (long long)number - 1);
    return VRS_OK;
}

/* Pairs devices by number.  Where each recording used one GPU, that is the pair: the number of a
 * GPU is where a program ran, not what it did. */
static enum vrs_status pair_devices(struct comparing *c, struct device_pair *ret,
                                    uint32_t *ret_count, struct vrs_error *err)
{
    const struct recording *r[2] = { c->recording[0]->model, c->recording[1]->model };
    int64_t number[2] = { c->o->device, c->o->b_device == 0 ? c->o->device : c->o->b_device };
    struct device_pair only = { { only_device(r[0]), only_device(r[1]) } };
    uint32_t count = 0;
    if (number[0] != 0 || number[1] != 0) {
        struct device_pair named = only;
        for (int s = 0; s < 2; s++)
            if (number[s] != 0 || named.device[s] == NO_ROW)
                TRY(named_device(r[s], number[s] == 0 ? 1 : number[s], &named.device[s], err));
        ret[count++] = named;
    } else if (only.device[0] != NO_ROW && only.device[1] != NO_ROW) {
        ret[count++] = only;
    } else {
        for (uint32_t d = 0; d < r[0]->devices.rows.len; d++) {
            struct device_pair pair = { { d, find_device(r[1], r[0]->devices.kind[d],
                                                         r[0]->devices.number[d]) } };
            if (is_worth(r, pair))
                ret[count++] = pair;
        }
        for (uint32_t d = 0; d < r[1]->devices.rows.len; d++) {
            struct device_pair pair = { { NO_ROW, d } };
            bool known =
                find_device(r[0], r[1]->devices.kind[d], r[1]->devices.number[d]) != NO_ROW;
            if (!known && is_worth(r, pair))
                ret[count++] = pair;
        }
    }
    *ret_count = count;
    return VRS_OK;
}

/* One pair ------------------------------------------------------------------------------------ */

/* A moment that a device does not have. */
static enum vrs_status refuse_moment(struct comparing *c, struct diff_device *d, int side,
                                     const struct vrs_error *why, struct vrs_error *err)
{
    struct buf text;
    buf_init(&text, 512);
    buf_format(&text, "%s: %s", side == 0 ? "A" : "B", why->message);
    enum vrs_status status = text.failed ? vrs_no_memory(err)
                                         : diff_reason(c->result->arena, d, ANSWER_NOT_APPLICABLE,
                                                       "no_such_moment", buf_slice(&text), err);
    buf_free(&text);
    return status;
}

/* The moments of both sides; a device without such a moment is no failure of the call. */
static enum vrs_status find_ranges(struct comparing *c, struct diff_pair *pair,
                                   struct diff_device *d, struct vrs_error *err)
{
    for (int s = 0; s < 2; s++) {
        struct vrs_error none = { .message = "" };
        const struct diff_options_read *w = &c->read;
        enum vrs_status status =
            diff_range_at(pair->side[s], w->weight, w->has_moment[s] ? &w->moment[s] : NULL,
                          &pair->options.range[s], &none);
        if (status == VRS_USAGE)
            return refuse_moment(c, d, s, &none, err);
        if (status != VRS_OK) {
            if (err != NULL)
                *err = none;
            return status;
        }
    }
    return VRS_OK;
}

static enum vrs_status ask_stacks(struct comparing *c, struct diff_device *d, struct vrs_error *err)
{
    for (int s = 0; s < 2; s++) {
        d->row_stack[s] = arena_array(c->result->arena, uint32_t, d->diff.rows);
        if (d->row_stack[s] == NULL)
            return vrs_no_memory(err);
        for (uint32_t i = 0; i < d->diff.rows; i++) {
            const struct diff_row *row = &d->diff.row[i];
            d->row_stack[s][i] = NO_ROW;
            /* The text of B's is A's where both are the same. */
            if (row->has_stack[s] && !(s == 1 && row->same_stack) &&
                !stack_texts_ask(&c->stacks[s], row->stack[s], &d->row_stack[s][i]))
                return vrs_no_memory(err);
        }
    }
    return VRS_OK;
}

static bool is_exceeded(const struct diff_answer *answer, const struct diff *d)
{
    if (!answer->judged)
        return false;
    uint64_t a = d->end[0].total.bytes, b = d->end[1].total.bytes;
    if (!answer->limit_is_ratio)
        return b > a && b - a > answer->limit_bytes;
    a = diff_figure(d->weight, &d->end[0].total);
    b = diff_figure(d->weight, &d->end[1].total);
    return diff_above(d, a, b, answer->limit_bytes);
}

/* A copy that the result owns. */
static enum vrs_status keep_trust(struct comparing *c, const struct trust *from, struct trust *ret,
                                  struct vrs_error *err)
{
    *ret = *from;
    ret->item = arena_array(c->result->arena, struct trust_item, from->items);
    if (ret->item == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < from->items; i++) {
        ret->item[i] = from->item[i];
        ret->item[i].text = arena_copy(c->result->arena, from->item[i].text);
        if (ret->item[i].text.ptr == NULL)
            return vrs_no_memory(err);
    }
    return VRS_OK;
}

static enum vrs_status compare(struct comparing *c, struct diff_pair *pair, struct diff_device *d,
                               struct vrs_error *err)
{
    for (int s = 0; s < 2; s++)
        TRY(keep_trust(c, &pair->side[s]->trust, &d->trust[s], err));
    d->traced = pair->side[0]->traced && pair->side[1]->traced;
    TRY(find_ranges(c, pair, d, err));
    if (diff_can_be(d))
        TRY(diff_reasons(pair, &c->read, d, err));
    if (!diff_can_be(d))
        return VRS_OK;
    TRY(diff_compute(pair->side[0], pair->side[1], &pair->options, &d->diff, err));
    d->compared = true;
    for (int s = 0; s < 2; s++)
        d->at_peak[s] =
            pair->side[s]->curves.of[CURVE_REQUESTED].peak_event == d->diff.end[s].at_event;
    d->exceeded = is_exceeded(&c->result->set.diff[0], &d->diff);
    return ask_stacks(c, d, err);
}

struct two_studies {
    struct comparing *c;
    struct device_pair devices;
    struct study *study;
};

static enum vrs_status make_study(void *arg, uint32_t side, uint32_t thread, struct vrs_error *err)
{
    const struct two_studies *two = arg;
    (void)thread;
    TRY(recording_prove(two->c->recording[side], err));
    return study_make(&two->c->place[side], two->devices.device[side], &two->study[side], err);
}

/* Both at once; a device beside itself is studied once. */
static enum vrs_status make_studies(struct comparing *c, struct device_pair devices,
                                    struct study study[2], struct vrs_error *err)
{
    bool one = c->recording[0] == c->recording[1] && devices.device[0] == devices.device[1];
    struct two_studies two = { .c = c, .devices = devices, .study = study };
    struct task_list list = { one ? 1 : 2, make_study, &two };
    TRY(task_list_run(c->o->threads, &list, err));
    if (one)
        study[1] = study[0];
    return VRS_OK;
}

static enum vrs_status compare_devices(struct comparing *c, struct device_pair devices,
                                       struct diff_device *d, struct vrs_error *err)
{
    static const char *const lacking[2] = { "A has no such device", "B has no such device" };
    struct diff_pair pair = {
        .options = { .weight = c->read.weight, .per = c->read.per, .key = c->read.key },
        .keep = c->result->arena,
    };
    struct study study[2];
    *d = (struct diff_device){ .status = ANSWER_OK };
    for (int s = 0; s < 2; s++) {
        d->there[s] = devices.device[s] != NO_ROW;
        if (d->there[s])
            d->name[s] = device_name_of(c->recording[s]->model, devices.device[s]);
    }
    for (int s = 0; s < 2; s++)
        if (!d->there[s])
            return diff_reason(c->result->arena, d, ANSWER_NOT_APPLICABLE, "no_counterpart",
                               str_from(lacking[s]), err);
    TRY(make_studies(c, devices, study, err));
    for (int s = 0; s < 2; s++)
        pair.side[s] = &study[s];
    return compare(c, &pair, d, err);
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
    struct frame_class_options names = { text_or_empty(c->o->user_root),
                                         text_or_empty(c->o->library) };
    struct naming *naming;
    TRY(file_facts_of(v, path, c->result->arena, &c->result->set.diff[0].file[side], err));
    TRY(naming_make(&v->model->code, &names, &c->names[side], &naming, err));
    c->place[side] = (struct study_place){
        .r = v->model,
        .agreement = v->proof->agreement,
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

static enum vrs_status compare_all(struct comparing *c, struct vrs_error *err)
{
    struct diff_answer *answer = &c->result->set.diff[0];
    const struct vrs_diff_options *o = c->o;
    uint32_t most =
        c->recording[0]->model->devices.rows.len + c->recording[1]->model->devices.rows.len + 1;
    struct device_pair *pair = arena_array(&c->names[0], struct device_pair, most);
    answer->device = arena_array(c->result->arena, struct diff_device, most);
    answer->limit_is_ratio = o->fail_over_bytes == 0;
    answer->limit_bytes =
        (answer->limit_is_ratio ? o->fail_over_millionths : o->fail_over_bytes) - 1;
    answer->judged = o->fail_over_bytes != 0 || o->fail_over_millionths != 0;
    if (pair == NULL || answer->device == NULL)
        return vrs_no_memory(err);
    TRY(category_rules_read(&c->rules, str_from(category_rules_builtin), "builtin", err));
    TRY(begin_side(c, 0, o->path, err));
    TRY(begin_side(
        c, 1, o->b_path == NULL && c->recording[0] == c->recording[1] ? o->path : o->b_path, err));
    TRY(pair_devices(c, pair, &answer->devices, err));
    for (uint32_t i = 0; i < answer->devices; i++) {
        struct arena_mark mark[2] = { arena_mark(&c->scratch[0]), arena_mark(&c->scratch[1]) };
        enum vrs_status status = compare_devices(c, pair[i], &answer->device[i], err);
        for (int s = 0; s < 2; s++)
            arena_release(&c->scratch[s], mark[s]);
        TRY(status);
    }
    TRY(check_any(answer, err));
    for (int s = 0; s < 2; s++)
        if (!stack_texts_write(&c->stacks[s], &c->names[s], c->result->arena, &answer->stacks[s]))
            return vrs_no_memory(err);
    return VRS_OK;
}

enum vrs_status vrs_diff_check(const struct vrs_diff_options *options, struct vrs_error *err)
{
    struct vrs_diff_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct diff_options_read ignored;
    return read_options(&o, &ignored, err);
}

/* A limit that could not be looked at is not kept. */
static enum vrs_verdict verdict_of(const struct answer_set *set)
{
    const struct diff_answer *answer = &set->diff[0];
    if (!answer->judged)
        return VRS_NO_VERDICT;
    for (uint32_t i = 0; i < answer->devices; i++)
        if (!answer->device[i].compared || answer->device[i].exceeded)
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
    TRY(read_options(&o, &c.read, err));
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
