/* fragments_json.c - vramscope.fragments/1 and vramscope.fragments-set/1. */
#include "analysis/snapshot/layout/fragments.h"
#include "render/answer/device_answer.h"
#include "render/snapshot/oom/oom_json.h"
#include "render/snapshot/renderers.h"

static void json_pool(struct json *j, const uint64_t pool[2])
{
    json_line_array(j, "pool");
    json_u64(j, NULL, pool[0]);
    json_u64(j, NULL, pool[1]);
    json_close(j);
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

void fragment_group_json(struct json *j, const struct fragment_group *g, bool all_metrics)
{
    json_line_object(j, NULL);
    json_pool(j, g->pool_ids);
    json_u64(j, "stream", g->stream);
    json_text(j, "class", g->small ? "small" : "large");
    json_u64(j, "reserved_bytes", g->reserved_bytes);
    json_u64(j, "active_bytes", g->active_bytes);
    json_u64(j, "pending_bytes", g->pending_bytes);
    json_u64(j, "slack_bytes", g->slack_bytes);
    json_u64(j, "free_bytes", g->free_bytes);
    json_u64(j, "returnable_bytes", g->returnable_bytes);
    json_u64(j, "stranded_bytes", g->stranded_bytes);
    json_fixed(j, "stranded_ratio", ratio(g->stranded_bytes, g->reserved_bytes), 6);
    json_u64(j, "largest_free_bytes", g->largest_free_bytes);
    json_u64(j, "servable_bytes", g->servable_bytes);
    if (all_metrics && g->free_bytes == 0)
        json_null(j, "naive_ratio");
    else if (all_metrics)
        json_fixed(j, "naive_ratio", 1 - ratio(g->largest_free_bytes, g->free_bytes), 6);
    json_close(j);
}

static void put_culprit(struct json *j, const struct fragment_culprit *by,
                        struct stack_numbers *numbers)
{
    json_site(j, "site", &by->site, numbers);
    json_text(j, "category", category_names[by->category]);
    json_bool(j, "expected", by->expected);
}

static void put_pin(struct json *j, const struct fragment_pin *p, struct stack_numbers *numbers)
{
    json_line_object(j, NULL);
    json_u64(j, "address", p->address);
    json_u64(j, "total_bytes", p->total_bytes);
    json_u64(j, "free_bytes", p->free_bytes);
    json_u64(j, "active_bytes", p->active_bytes);
    json_u64(j, "blocks", p->blocks);
    json_fixed(j, "leverage_ratio", ratio(p->free_bytes, p->active_bytes), 6);
    json_u64(j, "stranded_bytes", p->stranded_bytes);
    json_u64(j, "returned_bytes", p->returned_bytes);
    put_culprit(j, &p->by, numbers);
    json_close(j);
}

static void put_move(struct json *j, const struct fragment_move *m, struct stack_numbers *numbers)
{
    json_line_object(j, NULL);
    json_u64(j, "address", m->address);
    json_u64(j, "bytes", m->bytes);
    json_u64(j, "returned_bytes", m->returned_bytes);
    json_known_i64(j, "age_events", m->age_events);
    put_culprit(j, &m->by, numbers);
    json_close(j);
}

void fragment_pool_json(struct json *j, const struct fragment_group *g)
{
    json_line_object(j, NULL);
    json_pool(j, g->pool_ids);
    json_u64(j, "reserved_bytes", g->reserved_bytes);
    json_u64(j, "active_bytes", g->active_bytes);
    json_u64(j, "pending_bytes", g->pending_bytes);
    json_u64(j, "slack_bytes", g->slack_bytes);
    json_u64(j, "held_for_graph_bytes", g->free_bytes);
    json_close(j);
}

static void put_streams(struct json *j, const struct fragments *f)
{
    json_array(j, "stream_stranded");
    for (uint32_t i = 0; i < f->streams; i++) {
        json_line_object(j, NULL);
        json_u64(j, "stream", f->stream[i].stream);
        json_u64(j, "bytes", f->stream[i].bytes);
        json_known_i64(j, "last_event", f->stream[i].last_event);
        json_close(j);
    }
    json_close(j);
}

static void put_result(struct json *j, struct out *out, const void *result,
                       struct stack_numbers *numbers, const struct render_options *options)
{
    const struct fragments *f = result;
    uint32_t pins = document_rows(options, f->pins);
    json_i64(j, "at_event", f->at_event);
    json_array(j, "groups");
    for (uint32_t i = 0; i < f->groups; i++) {
        fragment_group_json(j, &f->group[i], f->all_metrics);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
    json_array(j, "pins");
    for (uint32_t i = 0; i < pins; i++) {
        put_pin(j, &f->pin[i], numbers);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
    json_array(j, "moves");
    for (uint32_t i = 0; i < f->moves; i++)
        put_move(j, &f->move[i], numbers);
    json_close(j);
    json_array(j, "private_pools");
    for (uint32_t i = 0; i < f->pools; i++) {
        fragment_pool_json(j, &f->pool[i]);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
    put_streams(j, f);
}

void fragments_json(struct out *out, const struct answer_set *set, bool several,
                    const struct render_options *options)
{
    device_answer_json(out, set, several, options, "fragments", put_result);
}
