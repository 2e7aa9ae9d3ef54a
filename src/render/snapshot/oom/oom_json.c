/* oom_json.c - vramscope.oom/1 and vramscope.oom-set/1. */
#include "render/snapshot/oom/oom_json.h"
#include "analysis/snapshot/oom/oom.h"
#include "render/answer/device_answer.h"
#include "render/snapshot/renderers.h"

static void put_verdict(struct json *j, const char *key, enum oom_verdict verdict)
{
    json_text(j, key, verdict == OOM_UNDECIDED ? NULL : oom_verdict_names[verdict]);
}

static void put_figures(struct json *j, const struct oom *oom)
{
    const struct oom_figures *f = &oom->measured.figures;
    /* Of a text alone it is not known what of the rest was waiting. */
    uint64_t pending = oom->basis == OOM_TEXT_ALONE ? UNKNOWN_U64 : f->pending;
    json_known_i64(j, "event", oom->event);
    json_known(j, "time_us", oom->time_us);
    json_known(j, "request_bytes", f->request);
    json_known(j, "segment_bytes", f->segment);
    json_known(j, "device_free_bytes", f->device_free);
    json_known(j, "active_bytes", f->active);
    json_known(j, "pending_bytes", pending);
    json_known(j, "reserved_bytes", f->reserved);
    json_known(j, "internal_free_bytes", f->internal_free);
    json_known(j, "free_runs", oom->measured.free_runs);
    json_known(j, "largest_usable_bytes", f->largest_usable);
    json_known(j, "returnable_bytes", f->returnable);
    json_known(j, "private_free_bytes", f->private_free);
    json_known(j, "other_stream_free_bytes", f->other_stream_free);
    json_known(j, "capacity_seen_bytes", oom_capacity_seen(f));
    json_known(j, "outside_process_bytes", oom_outside_process(f));
    json_known(j, "other_processes_bytes", oom_other_processes(f));
    if (oom->has_short_by)
        json_i64(j, "short_by_bytes", oom->short_by_bytes);
    else
        json_null(j, "short_by_bytes");
}

static void put_tests(struct json *j, const struct oom *oom)
{
    json_array(j, "tests");
    for (uint32_t v = 0; v < OOM_VERDICTS; v++) {
        const struct oom_test *test = &oom->tests.test[v];
        json_line_object(j, NULL);
        json_text(j, "id", oom_verdict_names[v]);
        if (test->holds == OOM_UNKNOWN)
            json_null(j, "holds");
        else
            json_bool(j, "holds", test->holds == OOM_YES);
        if (test->known)
            json_i64(j, "bytes", test->bytes);
        else
            json_null(j, "bytes");
        json_close(j);
    }
    json_close(j);
    json_line_array(j, "also_true");
    for (uint32_t v = 0; v < OOM_VERDICTS; v++)
        if (oom->tests.also_true[v])
            json_text(j, NULL, oom_verdict_names[v]);
    json_close(j);
}

void oom_facts_json(struct json *j, const struct oom *oom)
{
    put_figures(j, oom);
    put_verdict(j, "verdict", oom->tests.verdict);
    json_text(j, "confidence", confidence_names[oom->confidence]);
    json_bool(j, "exact", oom->basis != OOM_TEXT_ALONE && oom->exact);
    put_tests(j, oom);
}

static void put_sites(struct json *j, struct out *out, const char *key,
                      const struct oom_sites *sites, struct stack_numbers *numbers, uint32_t rows)
{
    json_array(j, key);
    for (uint32_t i = 0; i < sites->count && i < rows; i++) {
        json_line_object(j, NULL);
        json_site(j, "site", &sites->at[i].site, numbers);
        json_u64(j, "bytes", sites->at[i].bytes);
        json_u64(j, "count", sites->at[i].count);
        json_close(j);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
}

static void put_must_go(struct json *j, struct out *out, const struct oom *oom,
                        struct stack_numbers *numbers, uint32_t rows)
{
    put_sites(j, out, "must_go", &oom->must_go, numbers, rows);
    if (!oom->has_category) {
        json_null(j, "must_go_category");
        return;
    }
    json_object(j, "must_go_category");
    json_text(j, "category", category_names[oom->category]);
    put_sites(j, out, "sites", &oom->must_go_category, numbers, rows);
    json_close(j);
}

static void put_said(struct json *j, const char *key, struct said said)
{
    json_known(j, key, said.bytes);
}

static void put_text(struct json *j, const struct oom_message *m)
{
    if (!m->any) {
        json_null(j, "text");
        return;
    }
    json_object(j, "text");
    put_said(j, "try_bytes", m->tried);
    json_known_i64(j, "device", m->device);
    put_said(j, "capacity_bytes", m->capacity);
    put_said(j, "free_bytes", m->free);
    put_said(j, "process_bytes", m->process);
    put_said(j, "allowed_bytes", m->allowed);
    put_said(j, "allocated_bytes", m->allocated);
    put_said(j, "private_bytes", m->private_pools);
    put_said(j, "unallocated_bytes", m->unallocated);
    put_said(j, "reserved_bytes", m->reserved);
    json_bool(j, "preemptive", m->preemptive);
    json_close(j);
}

static void put_earlier(struct json *j, struct out *out, const struct oom *oom, uint32_t rows)
{
    json_array(j, "earlier");
    for (uint32_t i = 0; i < oom->earliers && i < rows; i++) {
        const struct oom_earlier *earlier = &oom->earlier[i];
        json_line_object(j, NULL);
        json_i64(j, "event", earlier->event);
        json_known(j, "request_bytes", earlier->request_bytes);
        json_u64(j, "retries", earlier->retries);
        put_verdict(j, "verdict", earlier->verdict);
        json_close(j);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
}

static void put_places(struct json *j, struct out *out, const struct oom_evidence *e, uint32_t rows)
{
    json_array(j, "places");
    for (uint32_t i = 0; i < e->places && i < rows; i++) {
        const struct oom_place *place = &e->place[i];
        json_line_object(j, NULL);
        json_line_array(j, "pool");
        json_u64(j, NULL, place->pool_ids[0]);
        json_u64(j, NULL, place->pool_ids[1]);
        json_close(j);
        json_u64(j, "stream", place->stream);
        json_text(j, "class", place->small ? "small" : "large");
        json_u64(j, "reserved_bytes", place->reserved_bytes);
        json_u64(j, "active_bytes", place->active_bytes);
        json_u64(j, "free_bytes", place->free_bytes);
        json_u64(j, "returnable_bytes", place->returnable_bytes);
        json_u64(j, "largest_free_bytes", place->largest_free_bytes);
        json_close(j);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
}

static void put_evidence(struct json *j, struct out *out, const struct oom_evidence *e,
                         struct stack_numbers *numbers, uint32_t rows)
{
    put_places(j, out, e, rows);
    json_array(j, "pins");
    for (uint32_t i = 0; i < e->pins && i < rows; i++) {
        const struct oom_pin *pin = &e->pin[i];
        json_line_object(j, NULL);
        json_u64(j, "address", pin->address);
        json_u64(j, "total_bytes", pin->total_bytes);
        json_u64(j, "free_bytes", pin->free_bytes);
        json_u64(j, "active_bytes", pin->active_bytes);
        json_u64(j, "blocks", pin->blocks);
        json_site(j, "site", &pin->site, numbers);
        json_close(j);
    }
    json_close(j);
    json_array(j, "pending");
    for (uint32_t i = 0; i < e->pendings && i < rows; i++) {
        json_line_object(j, NULL);
        json_site(j, "site", &e->pending[i].site, numbers);
        json_u64(j, "bytes", e->pending[i].bytes);
        json_u64(j, "count", e->pending[i].count);
        json_i64(j, "oldest_event", e->pending[i].oldest_event);
        json_close(j);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
}

static void put_what_if(struct json *j, const struct oom_what_if *w)
{
    bool served = w->setting != NULL;
    if (w->tried == 0) {
        json_null(j, "what_if");
        return;
    }
    json_line_object(j, "what_if");
    json_u64(j, "tried", w->tried);
    json_text(j, "setting", w->setting);
    json_known(j, "reserved_peak_bytes", served ? w->reserved_peak_bytes : UNKNOWN_U64);
    json_bool(j, "runs_out", !served);
    json_text(j, "agreement", replay_grade_names[w->agreement]);
    json_close(j);
}

static void put_result(struct json *j, struct out *out, const void *result,
                       struct stack_numbers *numbers, const struct render_options *options)
{
    const struct oom *oom = result;
    uint32_t rows = options->rows == 0 ? UINT32_MAX : options->rows;
    oom_facts_json(j, oom);
    put_must_go(j, out, oom, numbers, rows);
    json_known(j, "live_bytes", oom->live_bytes);
    json_known(j, "previous_step_bytes", oom->previous_step_bytes);
    json_known_fixed(j, "steps_of_growth", oom->steps_of_growth, 2);
    put_text(j, &oom->text);
    json_stack(j, "request_stack", oom->request_stack, numbers);
    json_u64(j, "retries", oom->retries);
    put_earlier(j, out, oom, rows);
    put_evidence(j, out, &oom->evidence, numbers, rows);
    put_what_if(j, &oom->what_if);
}

void oom_json(struct out *out, const struct answer_set *set, bool several,
              const struct render_options *options)
{
    device_answer_json(out, set, several, options, "oom", put_result);
}
