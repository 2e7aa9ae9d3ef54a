/* merge.c - several results become one, by copying: each keeps its own life. */
#include <string.h>

#include "api/result.h"

/* Copies into an arena; sticky. */
struct copier {
    struct arena *keep;
    bool failed;
};

static void *copy_bytes(struct copier *c, const void *from, size_t size)
{
    void *to = c->failed ? NULL : arena_take(c->keep, size);
    if (to == NULL)
        c->failed = true;
    else if (size > 0)
        memcpy(to, from, size);
    return to;
}

#define COPY_ARRAY(c, pointer, count)                                                              \
    ((pointer) = copy_bytes((c), (pointer), (size_t)(count) * sizeof *(pointer)))

static void copy_text(struct copier *c, str *text)
{
    if (text->ptr == NULL || c->failed)
        return;
    *text = arena_copy(c->keep, *text);
    c->failed = text->ptr == NULL;
}

static void copy_file(struct copier *c, struct file_facts *file)
{
    copy_text(c, &file->path);
    copy_text(c, &file->entry);
}

static void copy_trust(struct copier *c, struct trust *trust)
{
    COPY_ARRAY(c, trust->item, trust->items);
    for (uint32_t i = 0; !c->failed && i < trust->items; i++)
        copy_text(c, &trust->item[i].text);
}

static void copy_report_device(struct copier *c, struct report_device *d)
{
    copy_trust(c, &d->trust);
    COPY_ARRAY(c, d->requested, d->spans);
    COPY_ARRAY(c, d->reserved, d->spans);
    COPY_ARRAY(c, d->oom, d->ooms);
    COPY_ARRAY(c, d->row, d->rows);
    for (uint32_t i = 0; !c->failed && i < d->rows; i++)
        copy_text(c, &d->row[i].name);
    copy_text(c, &d->hidden_culprit);
}

/* `*report` is the original's members on entry, our own on return. */
static void copy_report(struct copier *c, struct report *report)
{
    copy_file(c, &report->file);
    COPY_ARRAY(c, report->device, report->devices);
    for (uint32_t i = 0; !c->failed && i < report->devices; i++)
        copy_report_device(c, &report->device[i]);
}

static void copy_reasons(struct copier *c, struct answer_reason **reason, uint32_t reasons)
{
    COPY_ARRAY(c, *reason, reasons);
    for (uint32_t i = 0; !c->failed && i < reasons; i++)
        copy_text(c, &(*reason)[i].text);
}

static void copy_peak_device(struct copier *c, struct peak_device *d)
{
    copy_trust(c, &d->trust);
    copy_reasons(c, &d->reason, d->reasons);
    COPY_ARRAY(c, d->row_stack, d->peak.rows);
    COPY_ARRAY(c, d->peak.row, d->peak.rows);
    for (uint32_t i = 0; !c->failed && i < d->peak.rows; i++) {
        copy_text(c, &d->peak.row[i].name);
        copy_text(c, &d->peak.row[i].culprit);
        copy_text(c, &d->peak.row[i].owner);
    }
}

static void copy_peak(struct copier *c, struct peak_answer *answer)
{
    struct stack_texts *s = &answer->stacks;
    copy_file(c, &answer->file);
    COPY_ARRAY(c, answer->device, answer->devices);
    for (uint32_t i = 0; !c->failed && i < answer->devices; i++)
        copy_peak_device(c, &answer->device[i]);
    uint32_t lines = s->stacks == 0 ? 0 : s->first[s->stacks];
    COPY_ARRAY(c, s->first, s->stacks + 1u);
    COPY_ARRAY(c, s->line, lines);
    COPY_ARRAY(c, s->frame, s->frames);
    for (uint32_t i = 0; !c->failed && i < s->frames; i++)
        copy_text(c, &s->frame[i]);
}

static void copy_replay_device(struct copier *c, struct replay_device *d)
{
    copy_trust(c, &d->trust);
    copy_reasons(c, &d->reason, d->reasons);
    COPY_ARRAY(c, d->row, d->rows);
    for (uint32_t i = 0; !c->failed && i < d->rows; i++) {
        copy_text(c, &d->row[i].question);
        copy_text(c, &d->row[i].oom_culprit);
    }
}

static void copy_replay(struct copier *c, struct replay_answer *answer)
{
    copy_file(c, &answer->file);
    COPY_ARRAY(c, answer->device, answer->devices);
    for (uint32_t i = 0; !c->failed && i < answer->devices; i++)
        copy_replay_device(c, &answer->device[i]);
}

static void copy_set(struct copier *c, const struct answer_set *from, struct answer_set *to,
                     uint32_t at)
{
    for (uint32_t i = 0; !c->failed && i < from->count; i++) {
        switch (from->kind) {
        case RESULT_REPORT:
            to->report[at + i] = from->report[i];
            copy_report(c, &to->report[at + i]);
            break;
        case RESULT_PEAK:
            to->peak[at + i] = from->peak[i];
            copy_peak(c, &to->peak[at + i]);
            break;
        case RESULT_REPLAY:
            to->replay[at + i] = from->replay[i];
            copy_replay(c, &to->replay[at + i]);
            break;
        }
    }
}

enum vrs_status vrs_merge(const struct vrs_result *const *results, uint32_t count,
                          struct vrs_result **ret, struct vrs_error *err)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += results[i]->set.count;
        if (results[i]->set.kind != results[0]->set.kind)
            return vrs_fail(err, VRS_USAGE,
                            "results of different kinds cannot be joined; ask for one kind");
    }
    if (sum == 0 || sum > UINT32_MAX)
        return vrs_fail(err, VRS_USAGE, "there is nothing to join");
    struct vrs_result *joined = result_make(results[0]->set.kind, (uint32_t)sum);
    if (joined == NULL)
        return vrs_no_memory(err);
    joined->several = true;
    struct copier c = { .keep = &joined->arena };
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        copy_set(&c, &results[i]->set, &joined->set, at);
        at += results[i]->set.count;
    }
    if (c.failed) {
        vrs_result_free(joined);
        return vrs_no_memory(err);
    }
    *ret = joined;
    return VRS_OK;
}
