/* categories_json.c - vramscope.categories/1 and vramscope.categories-set/1. */
#include "analysis/snapshot/breakdown/category_table.h"
#include "render/answer/device_answer.h"
#include "render/snapshot/renderers.h"

static void put_row(struct json *j, const struct category_row *row)
{
    json_object(j, NULL);
    json_text(j, "category", category_names[row->category]);
    json_u64(j, "bytes", row->bytes);
    json_u64(j, "count", row->count);
    json_u64(j, "high_bytes", row->sure_bytes[CONFIDENCE_HIGH]);
    json_u64(j, "medium_bytes", row->sure_bytes[CONFIDENCE_MEDIUM]);
    json_u64(j, "low_bytes", row->sure_bytes[CONFIDENCE_LOW]);
    json_array(j, "rules");
    for (uint32_t i = 0; i < row->rules; i++) {
        json_line_object(j, NULL);
        json_text(j, "rule", row->rule[i].rule);
        json_u64(j, "bytes", row->rule[i].bytes);
        json_u64(j, "count", row->rule[i].count);
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

static void put_copies(struct json *j, struct out *out, const struct category_table *t)
{
    json_object(j, "copies");
    json_u64(j, "count", t->copies);
    json_u64(j, "parameter_bytes", t->parameter_bytes);
    json_u64(j, "gradient_bytes", t->gradient_bytes);
    json_u64(j, "optimizer_state_bytes", t->optimizer_state_bytes);
    json_known_fixed(j, "state_factor_ratio", t->state_factor_ratio, 6);
    json_array(j, "multiset");
    for (uint32_t i = 0; i < t->multiset_sizes; i++) {
        json_line_object(j, NULL);
        json_u64(j, "bytes", t->multiset[i].bytes);
        json_u64(j, "count", t->multiset[i].count);
        json_close(j);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
    json_close(j);
}

static void put_remainder(struct json *j, const struct category_table *t)
{
    json_array(j, "remainder");
    for (uint32_t i = 0; i < t->remainders; i++) {
        json_line_object(j, NULL);
        json_text(j, "category", category_names[t->remainder[i].category]);
        json_text(j, "rule", t->remainder[i].rule);
        json_u64(j, "bytes", t->remainder[i].bytes);
        json_u64(j, "count", t->remainder[i].count);
        json_close(j);
    }
    json_close(j);
}

static void put_term(struct json *j, const char *id, const struct need_term *term,
                     struct stack_numbers *numbers)
{
    json_object(j, NULL);
    json_text(j, "id", id);
    if (term->known) {
        json_i64(j, "bytes", term->bytes);
        json_i64(j, "event", term->event);
    } else {
        json_null(j, "bytes");
        json_null(j, "event");
    }
    json_text(j, "source", term->known && !term->estimated ? "derived" : "estimated");
    if (!term->known || term->confidence == CONFIDENCE_NONE)
        json_null(j, "confidence");
    else
        json_text(j, "confidence", confidence_names[term->confidence]);
    json_array(j, "sites");
    for (uint32_t i = 0; i < term->sites; i++)
        json_site(j, NULL, &term->site[i], numbers);
    json_close(j);
    json_close(j);
}

static void put_estimate(struct json *j, const struct training_need *e,
                         struct stack_numbers *numbers)
{
    json_object(j, "estimate");
    json_array(j, "terms");
    for (int i = 0; i < TERMS; i++)
        put_term(j, term_names[i], &e->term[i], numbers);
    json_close(j);
    if (e->inference) {
        json_null(j, "winner");
        json_null(j, "margin_bytes");
    } else {
        json_text(j, "winner", e->optimizer_side ? "optimizer_side" : "activation_side");
        json_i64(j, "margin_bytes", e->margin_bytes);
    }
    json_i64(j, "formula_bytes", e->formula_bytes);
    json_i64(j, "measured_bytes", e->measured_bytes);
    json_i64(j, "measured_event", e->measured_event);
    json_i64(j, "residual_bytes", e->residual_bytes);
    json_fixed(j, "residual_ratio", e->residual_ratio, 6);
    json_array(j, "residual_items");
    for (int i = 0; i < RESIDUALS; i++) {
        if (e->item_bytes[i] == 0)
            continue;
        json_line_object(j, NULL);
        json_text(j, "id", residual_names[i]);
        json_i64(j, "bytes", e->item_bytes[i]);
        json_close(j);
    }
    json_close(j);
    json_i64(j, "unexplained_bytes", e->unexplained_bytes);
    json_known_fixed(j, "crossing_ratio", e->crossing_ratio, 6);
    json_close(j);
}

static void put_result(struct json *j, struct out *out, const void *result,
                       struct stack_numbers *numbers, const struct render_options *options)
{
    const struct category_table *t = result;
    (void)options;
    json_i64(j, "at_event", t->at_event);
    json_u64(j, "total_bytes", t->total_bytes);
    json_array(j, "by_category");
    for (uint32_t i = 0; i < t->rows; i++)
        put_row(j, &t->row[i]);
    json_close(j);
    put_copies(j, out, t);
    put_remainder(j, t);
    if (t->has_estimate)
        put_estimate(j, &t->estimate, numbers);
    else
        json_null(j, "estimate");
}

void categories_json(struct out *out, const struct answer_set *set, bool several,
                     const struct render_options *options)
{
    device_answer_json(out, set, several, options, "categories", put_result);
}
