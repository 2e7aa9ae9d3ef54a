/* findings_sentences.c - what a report says beyond its figures, in words. */
#include "render/snapshot/report/findings_sentences.h"

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/report/findings.h"
#include "analysis/snapshot/report/report.h"
#include "base/buf.h"
#include "base/field.h"
#include "model/file_facts.h"
#include "render/answer/envelope.h"
#include "render/snapshot/advise/advise.h"
#include "render/write/human.h"

void finding_oom_text(struct buf *to, const struct oom_fact *oom)
{
    buf_format(to, "event %lld, a request for ", (long long)oom->event);
    human_known_bytes(to, oom->asked_bytes);
    buf_text(to, " with ");
    human_known_bytes(to, oom->device_free_bytes);
    buf_text(to, " free on the device; ");
    human_bytes(to, oom->requested_bytes);
    buf_text(to, " in use, ");
    human_bytes(to, oom->reserved_bytes);
    buf_text(to, " reserved");
}

void finding_old_text(struct buf *to, const struct report_device *device)
{
    human_known_bytes(to, device->old_bytes);
    buf_text(to, " of the peak (");
    human_share(to, share_ratio(device->old_bytes, device->live_bytes));
    buf_text(to, ") is older than the recording");
    if (device->old_unknown_bytes == 0)
        return;
    if (device->old_unknown_bytes < device->old_bytes) {
        buf_text(to, ", ");
        human_known_bytes(to, device->old_unknown_bytes);
        buf_text(to, " of it without a stack");
    }
    buf_text(to, "; record from the start to see which lines allocated it");
}

void finding_adjust_text(struct buf *to, const struct report_device *device)
{
    buf_text(to, "the file contradicts itself");
    /* The rows of a ring of one are of its end, the bytes of its start. */
    bool same_moment = device->traced || device->events == 0;
    buf_text(to, same_moment ? ": " : " by ");
    human_bytes(to, device->adjust_bytes);
    if (same_moment)
        buf_text(to, " must be added to the rows to give the peak");
}

static void loss_text(struct buf *to, const struct loss *loss, bool ascii)
{
    buf_text(to, loss->text);
    buf_text(to, ": ");
    human_count(to, loss->count, ascii);
}

void losses_text(struct buf *to, const struct style *style, const struct file_facts *file)
{
    struct loss loss[LOSSES];
    uint32_t losses = losses_of(file, loss);
    struct buf words;
    buf_init(&words, 1 << 12);
    for (uint32_t i = 0; i < losses; i++) {
        loss_text(&words, &loss[i], style->ascii);
        envelope_words(to, style, "note", &words);
    }
    buf_free(&words);
}

static void leak_text(struct buf *to, const struct leak_site *site)
{
    human_bytes(to, leak_rise_bytes(site));
    buf_text(to, " more in ");
    if (site->every_steps > 1)
        buf_format(to, "one step in %u at ", (unsigned)site->every_steps);
    else
        buf_text(to, "each step at ");
    buf_str(to, site->site.culprit);
}

static void stranded_text(struct buf *to, const struct fragments *fragments)
{
    human_known_bytes(to, fragments->total.stranded_bytes);
    buf_text(to, " of reserved memory is free, but can neither serve larger requests nor be "
                 "returned to the device");
}

bool finding_sentence(struct buf *to, const struct field *f, const void *row)
{
    const struct finding *finding = row;
    const void *evidence = finding->evidence.row;
    (void)f;
    switch (finding->kind) {
    case FINDING_OOM:
        finding_oom_text(to, evidence);
        break;
    case FINDING_LEAK:
        leak_text(to, evidence);
        break;
    case FINDING_ADVICE:
        advice_words(to, evidence);
        break;
    case FINDING_STRANDED:
        stranded_text(to, evidence);
        break;
    case FINDING_OLDER:
        finding_old_text(to, evidence);
        break;
    case FINDING_LOSS:
        loss_text(to, evidence, true);
        break;
    }
    return true;
}
