/* advise_json.c - vramscope.advise/1 and vramscope.advise-set/1. */
#include <string.h>

#include "render/snapshot/advise/advise.h"
#include "render/snapshot/renderers.h"

static const char *const source_names[] = {
    [SAVING_NONE] = NULL,
    [SAVING_DERIVED] = "derived",
    [SAVING_VERIFIED] = "verified",
    [SAVING_ESTIMATED] = "estimated",
};

static void put_text(struct json *j, const struct advice *a)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    advice_words(&words, a);
    json_str(j, "text", buf_slice(&words));
    buf_end(&words, j->out);
}

static void put_cost(struct json *j, const struct advice *a)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    if (advice_cost(&words, a))
        json_str(j, "cost", buf_slice(&words));
    else
        json_null(j, "cost");
    j->out->failed = j->out->failed || words.failed;
    buf_free(&words);
}

/* A number as whole bytes or counts where it is one. */
static void put_number(struct json *j, const char *key, const char *name, double value)
{
    size_t len = strlen(name);
    if (len > 6 && strcmp(name + len - 6, "_ratio") == 0)
        json_fixed(j, key, value, 6);
    else
        json_fixed(j, key, value, 0);
}

static void put_conditions(struct json *j, const struct advice *a)
{
    json_array(j, "conditions");
    for (uint32_t i = 0; i < a->conditions; i++) {
        json_line_object(j, NULL);
        json_text(j, "name", a->condition[i].name);
        put_number(j, "value", a->condition[i].name, a->condition[i].value);
        put_number(j, "threshold", a->condition[i].name, a->condition[i].threshold);
        json_close(j);
    }
    json_close(j);
}

static void put_optional(struct json *j, const char *key, const char *text)
{
    if (text == NULL)
        json_null(j, key);
    else
        json_text(j, key, text);
}

void advice_json(struct json *j, const struct advice *a, struct stack_numbers *numbers)
{
    json_object(j, NULL);
    json_text(j, "id", a->id);
    json_text(j, "severity", severity_names[a->severity]);
    put_text(j, a);
    if (a->has_site)
        json_site(j, "site", &a->site, numbers);
    else
        json_null(j, "site");
    json_line_array(j, "at_events");
    for (uint32_t i = 0; i < a->at_events; i++)
        json_i64(j, NULL, a->at_event[i]);
    json_close(j);
    json_u64(j, "bytes", a->bytes);
    json_known(j, "saving_bytes", a->saving_bytes);
    put_optional(j, "saving_source", source_names[a->source]);
    json_text(j, "confidence", confidence_names[a->confidence]);
    put_cost(j, a);
    put_conditions(j, a);
    json_close(j);
}

static void put_result(struct json *j, struct out *out, const void *result,
                       struct stack_numbers *numbers, const struct render_options *options)
{
    const struct advise_answer *answer = result;
    const struct advise *a = &answer->advise;
    uint32_t shown = document_rows(options, a->advices);
    json_array(j, "advice");
    for (uint32_t i = 0; i < shown; i++)
        advice_json(j, &a->advice[i], numbers);
    json_close(j);
    json_i64(j, "joint_saving_bytes", a->joint_saving_bytes);
    json_i64(j, "joint_peak_bytes", a->joint_peak_bytes);
    json_i64(j, "joint_peak_event", a->joint_peak_event);
    json_array(j, "silent");
    for (uint32_t i = 0; i < a->silents; i++) {
        json_line_object(j, NULL);
        json_text(j, "id", a->silent[i].id);
        json_text(j, "clause", a->silent[i].clause);
        json_close(j);
    }
    json_close(j);
    if (answer->has_waste)
        waste_json(j, out, &answer->waste, numbers);
    else
        json_null(j, "waste");
}

void advise_json(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options)
{
    device_answer_json(out, set, several, options, "advise", put_result);
}
