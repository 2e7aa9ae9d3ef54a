/* categories.c - parameters, gradients, optimizer state, activations and the rest. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/breakdown/category_table.h"
#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/study/moment.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "api/file.h"
#include "api/result.h"
#include "api/snapshot/ask.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/recording.h"
#include "render/answer/answer.h"
#include "render/snapshot/answers.h"
#include "vramscope/snapshot.h"

/* The caller's words, read; rules last as long as the call. */
struct options_read {
    struct moment moment;
    struct category_rules rules;
};

static enum vrs_status read_options(const struct vrs_categories_options *o,
                                    struct options_read *ret, struct vrs_error *err)
{
    const char *name = o->rules_name == NULL ? "rules" : o->rules_name;
    ret->moment = (struct moment){ .kind = AT_PEAK };
    category_rules_init(&ret->rules);
    if (o->at != NULL)
        TRY(moment_parse(str_from(o->at), &ret->moment, err));
    if (o->rules != NULL)
        TRY(category_rules_read(&ret->rules, str_from(o->rules), name, err));
    return category_rules_read(&ret->rules, str_from(category_rules_builtin), "builtin", err);
}

/* Whether much of what is alive, more surely than by chance, waits for a backward. */
static bool keeps_activations(const struct category_table *t)
{
    for (uint32_t i = 0; i < t->rows; i++) {
        const struct category_row *row = &t->row[i];
        if (row->category == CATEGORY_ACTIVATION)
            return row->sure_bytes[CONFIDENCE_HIGH] > 0;
    }
    return false;
}

/* Whether nothing dates what is in use: one event over older memory, or a failed request alone. */
static bool has_one_event(const struct study *s)
{
    uint32_t first = s->r->devices.first_event[s->device];
    return s->events == 1 && (!s->traced || s->r->events.action[first] == ACTION_OOM);
}

/* What the reader should know about the figures. */
static enum vrs_status add_reasons(const struct study *s, const struct category_table *t,
                                   struct device_answer *d, struct vrs_error *err)
{
    if (s->events == 0)
        TRY(ask_reason(s, d, ANSWER_PARTIAL, "no_trace",
                       S("the recording has no trace: this is its final state"), err));
    else if (has_one_event(s))
        TRY(ask_reason(s, d, ANSWER_PARTIAL, "one_event", S("the trace is one event long"), err));
    TRY(ask_tell_cut(s, d, err));
    if (t->has_training_need && t->training_need.inference)
        TRY(ask_reason(s, d, d->status, "no_backward",
                       keeps_activations(t) ? S("no backward was recorded, though activations are "
                                                "kept for one: the need is estimated without "
                                                "gradients, a lower bound where this is training")
                                            : S("nothing is trained in the recording: the need is "
                                                "estimated as for inference, and older memory of "
                                                "unknown kind belongs to no term"),
                       err));
    else if (t->has_training_need && t->training_need.bound)
        TRY(ask_reason(s, d, d->status, "no_state",
                       S("parameters or optimizer state were not seen: the formula is a lower "
                         "bound"),
                       err));
    for (uint32_t i = 0; t->has_training_need && i < t->rows; i++)
        if (t->row[i].category == CATEGORY_COMMUNICATION)
            return ask_reason(s, d, d->status, "sharded",
                              S("collectives hold memory: if training is sharded, each term is "
                                "this rank's share"),
                              err);
    return VRS_OK;
}

static enum vrs_status ask(struct parts *parts, const struct proven_study *proven, const void *read,
                           struct device_answer *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    const struct options_read *w = read;
    struct category_table_options options = { 0 };
    struct vrs_error why = { .status = VRS_OK };
    if (moment_in_study(s, w->moment, &options.at_event, &why) != VRS_OK)
        return ask_refuse_moment(s, ret, &why, err);
    bool traced = s->traced && !has_one_event(s);
    if (!traced)
        options.at_event = (int64_t)s->events - 1;
    if (traced && !s->phases.known)
        return ask_reason(s, ret, ANSWER_NEEDS_STACKS, "no_stacks",
                          S("no alloc has a stack; record with stacks=\"all\""), err);
    if (traced)
        TRY(parts_training_need(parts, s, &options.training_need, err));
    struct category_table *table = arena_array(s->keep, struct category_table, 1);
    if (table == NULL)
        return vrs_no_memory(err);
    TRY(category_table_compute(s, &options, table, err));
    ret->result = table;
    return add_reasons(s, table, ret, err);
}

enum vrs_status vrs_categories_check(const struct vrs_categories_options *options,
                                     struct vrs_error *err)
{
    struct vrs_categories_options o = { 0 };
    struct options_read ignored;
    options_take(&o, sizeof o, options);
    enum vrs_status status = read_options(&o, &ignored, err);
    category_rules_free(&ignored.rules);
    return status;
}

enum vrs_status vrs_categories(const struct vrs_recording *recording,
                               const struct vrs_categories_options *options,
                               struct vrs_result **ret, struct vrs_error *err)
{
    struct vrs_categories_options o = { 0 };
    struct options_read read;
    options_take(&o, sizeof o, options);
    enum vrs_status status = read_options(&o, &read, err);
    const char *root = o.about.user_root != NULL || read.rules.user_root.len == 0
                           ? o.about.user_root
                           : read.rules.user_root.ptr;
    struct ask_options common = { o.about.path, root, o.about.library, o.about.device.plus_one };
    if (status == VRS_OK)
        status = ask_devices_ruled(recording, &categories_answer, &common, &read.rules, ask, &read,
                                   ret, err);
    category_rules_free(&read.rules);
    return status;
}

const char *vrs_category_rules(void)
{
    return category_rules_builtin;
}
