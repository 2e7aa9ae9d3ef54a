/* findings.c - what a report says beyond its figures. */
#include "render/snapshot/report/findings.h"

#include "render/answer/envelope.h"
#include "render/snapshot/report/report_sections.h"

void finding_oom_text(struct buf *to, const struct oom_fact *oom)
{
    buf_format(to, "event %lld asked for ", (long long)oom->event);
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
    buf_text(to, ") is older than the recording; record from the start to see which lines made it");
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

/* One kind of what reading a file left out or repaired. */
enum { LOSSES = 6 };
struct loss {
    const char *id; /* static, as the text */
    uint64_t count;
    const char *text; /* the count follows */
};

/* Those that a file has; their number. */
static uint32_t losses_of(const struct file_facts *file, struct loss ret[LOSSES])
{
    const struct origin *o = &file->origin;
    /* Pages pad their strings with a few bytes; more than that is somebody else's. */
    const uint64_t padding = 8;
    const struct loss all[LOSSES] = {
        { "wrong_types", file->wrong_types, "values of a wrong type, taken as absent" },
        { "cut_stacks", o->cut_stacks,
          "stacks longer than --limit frames, outermost frames left out" },
        { "repeated_keys", o->repeated_keys,
          "keys given twice in one record, the last one counts" },
        { "bad_utf8", o->bad_utf8, "strings that are not UTF-8, bad bytes shown as U+FFFD" },
        { "trailing_bytes", o->trailing_bytes > padding ? o->trailing_bytes : 0,
          "bytes behind the end of the recording, not read" },
        { "trailer_lost", o->trailer_lost,
          "packed streams that end before their own end, checksum not seen" },
    };
    uint32_t losses = 0;
    for (uint32_t i = 0; i < LOSSES; i++)
        if (all[i].count > 0)
            ret[losses++] = all[i];
    return losses;
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

void finding_open(struct json *j, const char *id, const char *severity,
                  const struct device_name *name, const struct buf *text)
{
    json_object(j, NULL);
    json_text(j, "id", id);
    json_text(j, "severity", severity);
    if (name == NULL)
        json_null(j, "device");
    else
        envelope_device(j, *name);
    json_str(j, "text", buf_slice(text));
    json_line_object(j, "evidence");
}

void finding_close(struct json *j, uint64_t saving_bytes)
{
    json_close(j);
    json_known(j, "saving_bytes", saving_bytes);
    json_close(j);
}

static void device_findings(struct json *j, const struct report_device *d, struct buf *text)
{
    if (d->ooms > 0) {
        const struct oom_fact *oom = &d->oom[d->ooms - 1];
        text->len = 0;
        finding_oom_text(text, oom);
        finding_open(j, "oom", "problem", &d->name, text);
        if (d->sections != NULL && d->sections->has_oom) {
            enum oom_verdict verdict = d->sections->oom.tests.verdict;
            json_text(j, "verdict", verdict == OOM_UNDECIDED ? NULL : oom_verdict_names[verdict]);
        }
        json_i64(j, "event", oom->event);
        json_known(j, "asked_bytes", oom->asked_bytes);
        json_known(j, "device_free_bytes", oom->device_free_bytes);
        json_i64(j, "requested_bytes", oom->requested_bytes);
        json_i64(j, "reserved_bytes", oom->reserved_bytes);
        finding_close(j, UNKNOWN_U64);
    }
    if (d->sections != NULL)
        section_findings_json(j, d->sections, d->name);
    if (d->old_bytes > 0 && d->events > 1) {
        text->len = 0;
        finding_old_text(text, d);
        finding_open(j, "older_than_recording", "note", &d->name, text);
        json_i64(j, "event", d->curves.of[CURVE_REQUESTED].peak_event);
        json_u64(j, "old_bytes", d->old_bytes);
        json_u64(j, "live_bytes", d->live_bytes);
        finding_close(j, UNKNOWN_U64);
    }
}

static void file_findings(struct json *j, const struct file_facts *file, struct buf *text)
{
    struct loss loss[LOSSES];
    uint32_t losses = losses_of(file, loss);
    for (uint32_t i = 0; i < losses; i++) {
        text->len = 0;
        loss_text(text, &loss[i], true);
        finding_open(j, loss[i].id, "note", NULL, text);
        json_u64(j, "count", loss[i].count);
        finding_close(j, UNKNOWN_U64);
    }
}

void findings_json(struct json *j, const struct report *report)
{
    struct buf text;
    buf_init(&text, 1 << 16);
    json_array(j, "findings");
    for (uint32_t i = 0; i < report->devices; i++)
        device_findings(j, &report->device[i], &text);
    file_findings(j, &report->file, &text);
    json_close(j);
    buf_end(&text, j->out);
}
