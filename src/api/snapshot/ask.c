/* ask.c - asks one analysis of each device of a recording. */
#include "api/snapshot/ask.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/study/study.h"
#include "api/file.h"
#include "api/stack_texts.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/file_facts.h"
#include "model/ids.h"
#include "render/answer/answer.h"

enum vrs_status ask_reason(const struct study *s, struct device_answer *d,
                           enum answer_status status, const char *id, str text,
                           struct vrs_error *err)
{
    d->status = status;
    return answer_reason_add(s->keep, &d->reason, &d->reasons, id, text, err);
}

enum vrs_status ask_refuse_moment(const struct study *s, struct device_answer *d,
                                  const struct vrs_error *why, struct vrs_error *err)
{
    if (why->status == VRS_USAGE)
        return ask_reason(s, d, ANSWER_NOT_APPLICABLE, "no_such_moment", str_from(why->message),
                          err);
    if (err != NULL)
        *err = *why;
    return why->status;
}

enum vrs_status ask_tell_cut(const struct study *s, struct device_answer *d, struct vrs_error *err)
{
    if (s->curves.of[CURVE_REQUESTED].start_known)
        return VRS_OK;
    return ask_reason(
        s, d, ANSWER_PARTIAL, "incomplete",
        S("the file is cut: what was in use before the part read, and what came after it, "
          "are not known"),
        err);
}

struct studies studies_of(struct call *a, const struct category_rules *rules, struct naming *naming)
{
    return (struct studies){
        .a = a,
        .place = {
            .r = a->r,
            .naming = naming,
            .rules = rules,
            .keep = a->keep,
            .scratch = &a->scratch,
            .threads = a->threads,
        },
    };
}

/* All stacks that results show, in the order of their ids, so that an id is found again. */
static enum vrs_status write_stacks(struct call *a, const bool *shown, struct stack_texts *ret,
                                    struct vrs_error *err)
{
    struct stack_collector stacks = { 0 };
    uint32_t ignored;
    bool ok = stack_texts_begin(&stacks, a->r, &a->scratch);
    for (uint32_t i = 0; ok && i < a->r->code.stacks.rows.len; i++)
        ok = !shown[i] || stack_texts_ask(&stacks, (stack_id){ i }, &ignored);
    ok = ok && stack_texts_write(&stacks, 1, &a->scratch, a->keep, ret);
    ret->id = ok ? arena_array(a->keep, uint32_t, stacks.ids.len) : NULL;
    ok = ok && ret->id != NULL;
    for (uint32_t i = 0; ok && i < stacks.ids.len; i++)
        ret->id[i] = stacks.ids.at[i];
    stack_texts_end(&stacks);
    return ok ? VRS_OK : vrs_no_memory(err);
}

enum vrs_status studies_begin(void *arg, struct vrs_error *err)
{
    struct studies *all = arg;
    const struct call *a = all->a;
    all->of = arena_array(all->place.scratch, struct study, a->r->devices.rows.len);
    if (all->of == NULL)
        return vrs_no_memory(err);
    TRY(all->bare ? study_place_make_bare(&all->place, err) : study_place_make(&all->place, err));
    for (uint32_t d = 0; d < a->r->devices.rows.len; d++)
        if (call_wants(a, d) && all->bare)
            study_make_bare(&all->place, d, &all->of[d]);
        else if (call_wants(a, d))
            TRY(study_make(&all->place, d, &all->of[d], err));
    return VRS_OK;
}

/* What is asked of each device. */
struct asked {
    const struct answer_kind *kind;
    const struct category_rules *rules; /* NULL: the built-in ones */
    ask_needs *needs;                   /* NULL: each device's study is needed whole */
    ask_question *question;
    const void *read;
};

static enum vrs_status ask_proven(const struct call *a, const struct study *s,
                                  const struct asked *q, struct device_answer *ret,
                                  struct vrs_error *err)
{
    struct parts parts = { NULL };
    struct proven_study proven;
    TRY(proven_study_make(s, a->proof, call_basis(a, s->device), &proven, err));
    ret->trust = proven.trust;
    return q->question(&parts, &proven, q->read, ret, err);
}

static enum vrs_status ask_device(const struct call *a, const struct study *s,
                                  const struct asked *q, struct device_answer *ret,
                                  struct vrs_error *err)
{
    struct arena_mark mark = arena_mark(s->scratch);
    *ret = (struct device_answer){ .name = device_name_of(s->r, s->device) };
    enum vrs_status status = ask_proven(a, s, q, ret, err);
    arena_release(s->scratch, mark);
    return status;
}

static bool is_bare(const struct call *a, const struct asked *q)
{
    bool needed = q->needs == NULL;
    for (uint32_t d = 0; !needed && d < a->r->devices.rows.len; d++)
        needed = call_wants(a, d) && q->needs(a->r, d, q->read);
    return !needed;
}

static enum vrs_status ask_all(struct call *a, const char *path, const struct category_rules *rules,
                               const struct asked *q, struct vrs_error *err)
{
    struct devices_answer *answer = &a->result->set.study[0];
    struct studies all = studies_of(a, rules, a->naming);
    all.bare = is_bare(a, q);
    TRY(file_facts_of(a->recording, path, a->keep, &answer->file, err));
    naming_pass_over(a->naming, rules->plumbing.at, rules->plumbing.len);
    TRY(call_prepare(a, studies_begin, &all, err));
    answer->device = arena_array(a->keep, struct device_answer, a->r->devices.rows.len);
    if (answer->device == NULL)
        return vrs_no_memory(err);
    for (uint32_t d = 0; d < a->r->devices.rows.len; d++)
        if (call_wants(a, d))
            TRY(ask_device(a, &all.of[d], q, &answer->device[answer->devices++], err));
    return write_stacks(a, all.place.shown, &answer->stacks, err);
}

static enum vrs_status ask(const struct vrs_recording *recording, const struct ask_options *common,
                           const struct asked *q, struct vrs_result **ret, struct vrs_error *err)
{
    struct call a;
    struct category_rules builtin;
    const struct category_rules *rules = q->rules == NULL ? &builtin : q->rules;
    category_rules_init(&builtin);
    enum vrs_status status = call_begin_unproven(&a, recording, q->kind, common->user_root,
                                                 common->library, common->device, err);
    if (status == VRS_OK && q->rules == NULL)
        status = category_rules_read(&builtin, str_from(category_rules_builtin), "builtin", err);
    if (status == VRS_OK)
        status = ask_all(&a, common->path, rules, q, err);
    category_rules_free(&builtin);
    return call_end(&a, status, ret);
}

enum vrs_status ask_devices(const struct vrs_recording *recording, const struct answer_kind *kind,
                            const struct ask_options *common, ask_question *question,
                            const void *read, struct vrs_result **ret, struct vrs_error *err)
{
    struct asked q = { kind, NULL, NULL, question, read };
    return ask(recording, common, &q, ret, err);
}

enum vrs_status ask_devices_ruled(const struct vrs_recording *recording,
                                  const struct answer_kind *kind, const struct ask_options *common,
                                  const struct category_rules *rules, ask_question *question,
                                  const void *read, struct vrs_result **ret, struct vrs_error *err)
{
    struct asked q = { kind, rules, NULL, question, read };
    return ask(recording, common, &q, ret, err);
}

enum vrs_status ask_devices_needing(const struct vrs_recording *recording,
                                    const struct answer_kind *kind,
                                    const struct ask_options *common, ask_needs *needs,
                                    ask_question *question, const void *read,
                                    struct vrs_result **ret, struct vrs_error *err)
{
    struct asked q = { kind, NULL, needs, question, read };
    return ask(recording, common, &q, ret, err);
}
