/* waste_json.c - the member "waste" of advice. */
#include "render/snapshot/advise/advise.h"

static void put_histogram(struct json *j, const char *key, const struct waste_histogram *h)
{
    json_array(j, key);
    for (uint32_t i = 0; i < h->bins; i++) {
        if (h->bin[i].count == 0)
            continue;
        json_line_object(j, NULL);
        json_u64(j, "from", h->bin[i].from);
        json_u64(j, "bytes", h->bin[i].bytes);
        json_u64(j, "count", h->bin[i].count);
        json_close(j);
    }
    json_close(j);
}

static void put_histograms(struct json *j, const struct waste *w)
{
    json_object(j, "histogram");
    put_histogram(j, "events", &w->events);
    put_histogram(j, "us", &w->us);
    put_histogram(j, "steps", &w->steps);
    json_line_object(j, "life_events");
    for (int k = 0; k < LIFE_POINTS; k++) {
        char key[] = "p00";
        key[1] = (char)('0' + life_percent[k] / 10);
        key[2] = (char)('0' + life_percent[k] % 10);
        json_known(j, key, w->life_events[k]);
    }
    json_close(j);
    json_u64(j, "censored_bytes", w->censored_bytes);
    json_u64(j, "censored_count", w->censored_count);
    json_close(j);
}

static void put_byte_time(struct json *j, struct out *out, const struct waste *w,
                          struct stack_numbers *numbers)
{
    json_array(j, "byte_time");
    for (uint32_t i = 0; i < w->byte_times; i++) {
        const struct byte_time *row = &w->byte_time[i];
        json_line_object(j, NULL);
        json_site(j, "site", &row->site, numbers);
        json_u64(j, "byte_events", row->byte_events);
        json_fixed(j, "share_ratio", row->share_ratio, 6);
        json_fixed(j, "peak_share_ratio", row->peak_share_ratio, 6);
        json_close(j);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
}

static void put_long(struct json *j, const struct waste *w, struct stack_numbers *numbers)
{
    json_array(j, "long_temporaries");
    for (uint32_t i = 0; i < w->long_temporaries; i++) {
        const struct long_temporary *row = &w->long_temporary[i];
        json_line_object(j, NULL);
        json_site(j, "site", &row->site, numbers);
        json_u64(j, "bytes", row->bytes);
        json_i64(j, "first_event", row->first_event);
        json_i64(j, "last_event", row->last_event);
        json_u64(j, "median_life_events", row->median_life_events);
        json_close(j);
    }
    json_close(j);
}

static void put_held(struct json *j, const struct waste *w, struct stack_numbers *numbers)
{
    json_array(j, "held_over_phase");
    for (uint32_t i = 0; i < w->held_overs; i++) {
        const struct held_over *row = &w->held_over[i];
        json_line_object(j, NULL);
        json_site(j, "site", &row->site, numbers);
        json_text(j, "phase", phase_names[row->phase]);
        if (row->step < 0)
            json_null(j, "step");
        else
            json_i64(j, "step", row->step + 1);
        json_u64(j, "bytes", row->bytes);
        json_close(j);
    }
    json_close(j);
}

static void put_churn(struct json *j, const struct waste *w, struct stack_numbers *numbers)
{
    json_array(j, "churn");
    for (uint32_t i = 0; i < w->churns; i++) {
        const struct churn *row = &w->churn[i];
        json_line_object(j, NULL);
        json_site(j, "site", &row->site, numbers);
        json_u64(j, "bytes", row->bytes);
        json_u64(j, "size_bytes", row->size_bytes);
        json_u64(j, "count", row->count);
        json_known(j, "per_step", row->per_step);
        json_line_array(j, "example_events");
        for (int k = 0; k < 2; k++)
            if (row->example_event[k] >= 0)
                json_i64(j, NULL, row->example_event[k]);
        json_close(j);
        json_close(j);
    }
    json_close(j);
    json_known_fixed(j, "churn_ratio", w->churn_ratio, 6);
}

static void put_rounding(struct json *j, const struct waste *w, struct stack_numbers *numbers)
{
    json_object(j, "rounding");
    json_u64(j, "slack_bytes", w->slack_bytes);
    json_bool(j, "exact", w->slack_exact);
    json_array(j, "sites");
    for (uint32_t i = 0; i < w->slacks; i++) {
        json_line_object(j, NULL);
        json_site(j, "site", &w->slack[i].site, numbers);
        json_u64(j, "slack_bytes", w->slack[i].slack_bytes);
        json_u64(j, "count", w->slack[i].count);
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

static void put_device(struct json *j, const struct waste *w, struct stack_numbers *numbers)
{
    json_line_object(j, "device_churn");
    json_u64(j, "mapped_bytes", w->mapped_bytes);
    json_u64(j, "mapped", w->mapped);
    json_u64(j, "returned_bytes", w->returned_bytes);
    json_u64(j, "returned", w->returned);
    json_close(j);
    json_object(j, "pending");
    json_u64(j, "byte_events", w->pending_byte_events);
    json_array(j, "sites");
    for (uint32_t i = 0; i < w->pendings; i++) {
        json_line_object(j, NULL);
        json_site(j, "site", &w->pending[i].site, numbers);
        json_u64(j, "byte_events", w->pending[i].byte_events);
        json_u64(j, "longest_events", w->pending[i].longest_events);
        json_close(j);
    }
    json_close(j);
    json_close(j);
    json_line_object(j, "early_free");
    json_i64(j, "peak_bytes", w->early_free.bytes);
    json_i64(j, "peak_event", w->early_free.event);
    json_i64(j, "saving_bytes", w->early_free_saving_bytes);
    json_close(j);
}

void waste_json(struct json *j, struct out *out, const struct waste *w,
                struct stack_numbers *numbers)
{
    json_object(j, "waste");
    put_histograms(j, w);
    put_byte_time(j, out, w, numbers);
    put_long(j, w, numbers);
    put_held(j, w, numbers);
    put_churn(j, w, numbers);
    put_rounding(j, w, numbers);
    put_device(j, w, numbers);
    json_close(j);
}
