/* study_json.c - the JSON of answers of the common form. */
#include "render/study.h"

/* The place of a stack among an answer's; NO_ROW where it is not. */
static uint32_t place_of(const struct stack_texts *stacks, stack_id stack)
{
    uint32_t low = 0, high = stacks->stacks;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (stacks->id[middle] < stack.n)
            low = middle + 1;
        else
            high = middle;
    }
    return low < stacks->stacks && stacks->id[low] == stack.n ? low : NO_ROW;
}

void json_stack(struct json *j, const char *key, stack_id stack, struct stack_numbers *numbers)
{
    uint32_t place = place_of(numbers->stacks, stack);
    if (place == NO_ROW) {
        json_null(j, key);
        return;
    }
    if (numbers->number[place] == 0) {
        numbers->shown[numbers->count++] = place;
        numbers->number[place] = numbers->count;
    }
    json_u64(j, key, numbers->number[place] - 1);
}

void json_site(struct json *j, const char *key, const struct site_ref *site,
               struct stack_numbers *numbers)
{
    json_line_object(j, key);
    json_str(j, "culprit", site->culprit);
    json_str(j, "owner", site->owner);
    json_stack(j, "stack", site->stack, numbers);
    json_close(j);
}

static void put_stacks(struct json *j, struct out *out, const struct stack_numbers *numbers)
{
    const struct stack_texts *stacks = numbers->stacks;
    json_array(j, "stacks");
    for (uint32_t i = 0; i < numbers->count; i++) {
        uint32_t place = numbers->shown[i];
        json_line_array(j, NULL);
        for (uint32_t k = stacks->first[place]; k < stacks->first[place + 1]; k++)
            json_str(j, NULL, stacks->frame[stacks->line[k]]);
        json_close(j);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
}

static void put_device(struct json *j, struct out *out, const struct study_device *d,
                       struct stack_numbers *numbers, const struct render_options *options,
                       study_json_result *write)
{
    json_object(j, NULL);
    envelope_device(j, d->name);
    envelope_status(j, d->status, d->reason, d->reasons);
    envelope_trust(j, &d->trust);
    if (d->result == NULL) {
        json_null(j, "result");
    } else {
        json_object(j, "result");
        write(j, out, d->result, numbers, options);
        json_close(j);
    }
    json_close(j);
}

static void put_members(struct json *j, struct out *out, const struct study_answer *answer,
                        const struct render_options *options, study_json_result *write)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    struct stack_numbers numbers = { .stacks = &answer->stacks };
    numbers.number = arena_array(&arena, uint32_t, answer->stacks.stacks);
    numbers.shown = arena_array(&arena, uint32_t, answer->stacks.stacks);
    if (numbers.number == NULL || numbers.shown == NULL) {
        j->out->failed = true;
        arena_free(&arena);
        return;
    }
    envelope_file(j, &answer->file);
    json_array(j, "devices");
    for (uint32_t i = 0; i < answer->devices; i++)
        put_device(j, out, &answer->device[i], &numbers, options, write);
    json_close(j);
    put_stacks(j, out, &numbers);
    arena_free(&arena);
}

static void put_schema(struct json *j, const char *verb, bool several)
{
    struct buf name;
    buf_init(&name, 256);
    buf_format(&name, several ? "vramscope.%s-set/1" : "vramscope.%s/1", verb);
    json_str(j, "schema", buf_slice(&name));
    j->out->failed = j->out->failed || name.failed;
    buf_free(&name);
}

void study_json(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options, const char *verb, study_json_result *write)
{
    struct json j;
    json_start(&j, &out->text);
    json_object(&j, NULL);
    put_schema(&j, verb, several);
    json_text(&j, "tool", options->tool);
    if (several) {
        json_array(&j, "files");
        for (uint32_t i = 0; i < set->count; i++) {
            json_object(&j, NULL);
            put_members(&j, out, &set->study[i], options, write);
            json_close(&j);
        }
        json_close(&j);
    } else {
        put_members(&j, out, &set->study[0], options, write);
    }
    json_close(&j);
    json_finish(&j);
}
