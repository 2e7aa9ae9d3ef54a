/* leaks_json.c - vramscope.leaks/1 and vramscope.leaks-set/1. */
#include "analysis/snapshot/leaks/leaks.h"
#include "render/snapshot/renderers.h"
#include "render/snapshot/steps/step_parts.h"

static void put_first_step(struct json *j, const struct leaks *g)
{
    if (g->moments == 0)
        json_null(j, "first_step_bytes");
    else
        json_i64(j, "first_step_bytes", g->first_step_bytes);
    json_array(j, "first_step");
    for (int i = 0; i < CATEGORIES; i++) {
        if (g->first_step[i] == 0)
            continue;
        json_line_object(j, NULL);
        json_text(j, "category", category_names[i]);
        json_i64(j, "bytes", g->first_step[i]);
        json_close(j);
    }
    json_close(j);
}

static void put_survivors(struct json *j, const struct leak_site *site,
                          struct stack_numbers *numbers)
{
    json_array(j, "survivors");
    for (uint32_t i = 0; i < site->survivors; i++) {
        json_object(j, NULL);
        json_i64(j, "event", site->survivor[i].event);
        json_u64(j, "bytes", site->survivor[i].bytes);
        json_stack(j, "stack", site->survivor[i].stack, numbers);
        json_close(j);
    }
    json_close(j);
}

static void put_site(struct json *j, const struct leak_site *site, uint32_t moments,
                     struct stack_numbers *numbers)
{
    bool grows = site->class == LEAK_CLASS_LEAK || site->class == LEAK_CLASS_SUSPECT;
    json_line_object(j, NULL);
    json_site(j, "site", &site->site, numbers);
    json_text(j, "category", category_names[site->category]);
    json_text(j, "class", leak_class_names[site->class]);
    if (grows)
        json_text(j, "kind", leak_kind_names[site->kind]);
    else
        json_null(j, "kind");
    json_i64(j, "slope_bytes", site->slope_bytes);
    json_u64(j, "generations", site->generations);
    json_array(j, "boundary_bytes");
    for (uint32_t t = 0; t < moments; t++)
        json_u64(j, NULL, site->bytes[t]);
    json_close(j);
    json_array(j, "boundary_counts");
    for (uint32_t t = 0; t < moments; t++)
        json_u64(j, NULL, site->counts[t]);
    json_close(j);
    put_survivors(j, site, numbers);
    json_close(j);
}

static void put_hint(struct json *j, const struct gc_hint *hint)
{
    if (hint->kind == NULL) {
        json_null(j, "gc_hint");
        return;
    }
    json_line_object(j, "gc_hint");
    json_text(j, "kind", hint->kind);
    json_u64(j, "first_event", hint->first_event);
    json_u64(j, "last_event", hint->last_event);
    json_u64(j, "bytes", hint->bytes);
    json_u64(j, "count", hint->count);
    json_text(j, "confidence", confidence_names[hint->confidence]);
    json_close(j);
}

static void put_result(struct json *j, struct out *out, const void *result,
                       struct stack_numbers *numbers, const struct render_options *options)
{
    const struct leaks *g = result;
    uint32_t shown = document_rows(options, g->sites);
    json_steps(j, &g->steps, numbers);
    put_first_step(j, g);
    json_array(j, "sites");
    for (uint32_t i = 0; i < shown; i++) {
        put_site(j, &g->site[i], g->moments, numbers);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
    json_u64(j, "sites_folded", g->sites_folded);
    if (g->moments == 0)
        json_null(j, "slope_total_bytes");
    else
        json_i64(j, "slope_total_bytes", g->slope_total_bytes);
    json_known_i64(j, "steps_to_full", g->steps_to_full);
    put_hint(j, &g->gc_hint);
}

void leaks_json(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options)
{
    device_answer_json(out, set, several, options, "leaks", put_result);
}
