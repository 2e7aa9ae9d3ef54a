/* replay_json.c - vramscope.replay/1 and vramscope.replay-set/1. */
#include "render/answer/document.h"
#include "render/answer/envelope.h"
#include "render/snapshot/renderers.h"
#include "render/snapshot/replay/replay_sentences.h"

static void put_event(struct json *j, const char *key, int64_t event, int64_t least)
{
    if (event < least)
        json_null(j, key);
    else
        json_i64(j, key, event);
}

static void put_text_or_null(struct json *j, const char *key, const char *text)
{
    if (text == NULL)
        json_null(j, key);
    else
        json_text(j, key, text);
}

static void put_first(struct json *j, const struct replay_device *d)
{
    const struct first_disagreement *f = &d->agreement.first;
    if (f->kind == AGREES) {
        json_null(j, "first_disagreement");
        return;
    }
    json_object(j, "first_disagreement");
    json_i64(j, "event", f->event);
    json_text(j, "kind", disagreement_names[f->kind]);
    json_known(j, "expected_address", f->expected_address);
    json_known(j, "recorded_address", f->recorded_address);
    json_known(j, "expected_bytes", f->expected_bytes);
    json_known(j, "recorded_bytes", f->recorded_bytes);
    put_text_or_null(j, "likely", replay_likely(d));
    json_close(j);
}

static void put_runs(struct json *j, const char *key, const uint64_t runs[RUN_CAUSES])
{
    json_line_object(j, key);
    json_u64(j, "empty_cache", runs[RUN_EMPTY_CACHE]);
    json_u64(j, "retry", runs[RUN_RETRY]);
    json_close(j);
}

static void put_curve(struct json *j, const char *key, const struct exact_curve *curve, bool exact)
{
    if (!exact) {
        json_null(j, key);
        return;
    }
    json_line_object(j, key);
    json_i64(j, "start_bytes", curve->start_bytes);
    json_i64(j, "peak_bytes", curve->peak_bytes);
    json_i64(j, "peak_event", curve->peak_event);
    json_i64(j, "peak_last_event", curve->peak_last_event);
    json_i64(j, "end_bytes", curve->end_bytes);
    json_close(j);
}

static void put_agreement(struct json *j, const struct replay_device *d)
{
    const struct agreement *a = &d->agreement;
    json_object(j, "agreement");
    json_text(j, "grade", replay_grade_names[a->grade]);
    put_text_or_null(j, "refusal", replay_refusal_names[a->refusal]);
    json_u64(j, "addresses_equal", a->addresses_equal);
    json_u64(j, "addresses", a->addresses);
    json_u64(j, "new_memory_equal", a->new_memory_equal);
    json_u64(j, "new_memory", a->new_memory);
    json_u64(j, "release_runs_equal", a->release_runs_equal);
    json_u64(j, "release_runs", a->release_runs);
    json_u64(j, "final_blocks_equal", a->final_blocks_equal);
    json_u64(j, "final_blocks", a->final_blocks);
    json_u64(j, "snapshots_equal", a->snapshots_equal);
    json_u64(j, "snapshots", a->snapshots);
    put_first(j, d);
    json_u64(j, "unexpected_segments", a->unexpected_segments);
    json_u64(j, "unknown_frees", a->unknown_frees);
    json_u64(j, "size_clashes", a->size_clashes);
    json_u64(j, "impossible_releases", a->impossible_releases);
    put_runs(j, "runs_by_stack", a->runs_by_stack);
    put_runs(j, "runs_by_sequence", a->runs_by_sequence);
    json_u64(j, "preexisting", a->preexisting);
    json_u64(j, "inferred", a->inferred);
    json_u64(j, "corrected", a->corrected);
    json_u64(j, "ambiguous", a->ambiguous);
    put_curve(j, "active", &a->active, grade_is_exact(a->grade));
    put_curve(j, "allocated", &a->allocated, grade_is_exact(a->grade));
    json_close(j);
}

static void put_identities(struct json *j, const struct replay_device *d)
{
    const struct identities *i = &d->identities;
    if (!d->has_identities) {
        json_null(j, "identities");
        return;
    }
    json_object(j, "identities");
    json_bool(j, "reproduces", i->reproduces);
    json_bool(j, "reproduces_ascending", i->reproduces_ascending);
    put_event(j, "parted_event", i->reproduces ? -1 : i->parted_event, 0);
    json_bool(j, "reproduces_at_capacity", i->reproduces_at_capacity);
    json_known(j, "recorded_capacity_bytes", i->recorded_capacity_bytes);
    json_u64(j, "retries_at_capacity", i->retries_at_capacity);
    put_event(j, "first_oom_at_capacity_event", i->first_oom_at_capacity, -1);
    put_event(j, "parted_at_capacity_event",
              i->reproduces_at_capacity ? -1 : i->parted_at_capacity_event, 0);
    json_close(j);
}

static void put_oom(struct json *j, const struct replay_row *row)
{
    const struct oom_answer *o = &row->answer.oom;
    if (!row->answer.ran_out) {
        json_null(j, "first_oom");
        return;
    }
    json_line_object(j, "first_oom");
    json_i64(j, "event", o->event);
    json_known(j, "want_bytes", o->want_bytes);
    json_known(j, "segment_bytes", o->segment_bytes);
    json_known(j, "reserved_bytes", o->reserved_bytes);
    json_known(j, "active_bytes", o->active_bytes);
    json_known(j, "largest_free_bytes", o->largest_free_bytes);
    json_known(j, "returnable_bytes", o->returnable_bytes);
    json_known(j, "stranded_bytes", o->stranded_bytes);
    json_str(j, "culprit", row->oom_culprit.len > 0 ? row->oom_culprit : (str){ NULL, 0 });
    json_close(j);
}

static void put_peak(struct json *j, const char *bytes_key, const char *event_key,
                     struct peak_bytes peak)
{
    json_known(j, bytes_key, peak.bytes);
    json_i64(j, event_key, peak.event);
}

static void put_smallest(struct json *j, const struct replay_row *row)
{
    if (!row->has_smallest) {
        json_null(j, "capacity_needed_bytes");
        json_null(j, "capacity_retries");
        json_null(j, "capacity_checked");
        return;
    }
    json_known(j, "capacity_needed_bytes", row->smallest.bytes);
    json_u64(j, "capacity_retries", row->smallest.retries);
    json_bool(j, "capacity_checked", row->smallest.checked);
}

static void put_deltas(struct json *j, const struct replay_row *row, const struct replay_row *same)
{
    json_i64(j, "delta_reserved_bytes",
             (int64_t)(row->answer.reserved.bytes - same->answer.reserved.bytes));
    json_i64(j, "delta_active_bytes",
             (int64_t)(row->answer.active.bytes - same->answer.active.bytes));
    if (row->has_smallest && same->has_smallest)
        json_i64(j, "delta_capacity_needed_bytes",
                 (int64_t)(row->smallest.bytes - same->smallest.bytes));
    else
        json_null(j, "delta_capacity_needed_bytes");
}

static void put_row(struct json *j, const struct replay_row *row, const struct replay_row *same)
{
    const struct whatif_answer *a = &row->answer;
    json_object(j, NULL);
    json_str(j, "question", row->question);
    put_peak(j, "peak_reserved_bytes", "peak_reserved_event", a->reserved);
    json_known(j, "peak_reserved_ascending_bytes", row->reserved_ascending_bytes);
    put_peak(j, "peak_active_bytes", "peak_active_event", a->active);
    json_known(j, "peak_active_start_bytes", a->active_start_bytes);
    put_peak(j, "peak_requested_bytes", "peak_requested_event", a->requested);
    json_u64(j, "new_memory", a->new_memory);
    json_u64(j, "changed_allocations", a->changed);
    json_u64(j, "changed_bytes", a->changed_bytes);
    json_u64(j, "retries", a->retries);
    json_known(j, "lower_bound_bytes", a->lower_bound_bytes);
    json_bool(j, "same_curve", a->same_curve);
    put_event(j, "parted_event", a->same_curve ? -1 : a->parted_event, 0);
    put_oom(j, row);
    put_event(j, "served_oom_event", a->served_oom_event, 0);
    json_known(j, "capacity_bytes", row->capacity_bytes);
    put_smallest(j, row);
    put_deltas(j, row, same);
    json_close(j);
}

static bool has_result(const struct replay_device *d)
{
    return d->status != ANSWER_NOT_APPLICABLE && d->status != ANSWER_NEEDS_TRACE;
}

static void put_device(struct json *j, struct out *out, const struct replay_device *d)
{
    json_object(j, NULL);
    envelope_device(j, d->name);
    envelope_status(j, d->status, d->reason, d->reasons);
    envelope_trust(j, &d->trust);
    if (has_result(d)) {
        json_object(j, "result");
        json_u64(j, "events", d->events);
        json_known(j, "recorded_peak_reserved_bytes", d->recorded_peak_bytes);
        put_agreement(j, d);
        put_identities(j, d);
        json_bool(j, "certain", replay_is_certain(d));
        json_array(j, "what_if");
        for (uint32_t i = 0; i < d->rows; i++) {
            put_row(j, &d->row[i], &d->row[0]);
            out_flush(out, OUT_ENOUGH);
        }
        json_close(j);
        json_close(j);
    } else {
        json_null(j, "result");
    }
    json_close(j);
}

static void put_members(struct json *j, struct out *out, const struct answer_set *set, uint32_t i,
                        const void *arg)
{
    const struct replay_answer *answer = &set->replay[i];
    (void)arg;
    envelope_file(j, &answer->file);
    json_array(j, "devices");
    for (uint32_t k = 0; k < answer->devices; k++)
        put_device(j, out, &answer->device[k]);
    json_close(j);
    json_line_array(j, "stacks"); /* every answer has them; this one names none */
    json_close(j);
}

void replay_json(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options)
{
    struct json j;
    document_begin(&j, out, "replay", several, options);
    document_files(&j, out, set, several, put_members, NULL);
    document_end(&j);
}
