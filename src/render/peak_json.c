/* peak_json.c - vramscope.peak/1 and vramscope.peak-set/1. */
#include "render/envelope.h"
#include "render/render.h"

static void put_row(struct json *j, const struct peak_row *row, uint32_t stack)
{
    json_line_object(j, NULL);
    json_str(j, "name", row->name);
    json_u64(j, "bytes", row->bytes);
    json_u64(j, "count", row->count);
    json_fixed(j, "share_ratio", row->share_ratio, 6);
    json_u64(j, "largest_bytes", row->largest_bytes);
    json_i64(j, "oldest_event", row->oldest_event);
    if (row->median_age_events < 0)
        json_null(j, "median_age_events");
    else
        json_fixed(j, "median_age_events", row->median_age_events, 1);
    json_known(j, "slack_bytes", row->slack_bytes);
    json_str(j, "culprit", row->culprit);
    json_str(j, "owner", row->owner);
    json_str(j, "category", row->category);
    json_str(j, "confidence", row->confidence);
    json_str(j, "rule", row->rule);
    json_u64(j, "stack", stack);
    json_close(j);
}

/* Of an answer's stacks those that rows in sight name, numbered anew. */
struct chosen {
    const struct stack_texts *stacks;
    uint32_t *number; /* of each stack, plus 1; 0: not in sight */
    uint32_t *stack;  /* by number */
    uint32_t count;
};

static uint32_t choose(struct chosen *c, uint32_t stack)
{
    if (c->number[stack] == 0) {
        c->stack[c->count++] = stack;
        c->number[stack] = c->count;
    }
    return c->number[stack] - 1;
}

static void put_result(struct json *j, struct out *out, const struct peak_device *d,
                       uint32_t most_rows, struct chosen *chosen)
{
    const struct peak *peak = &d->peak;
    uint32_t shown = most_rows == 0 || most_rows > peak->rows ? peak->rows : most_rows;
    uint64_t other = 0;
    for (uint32_t i = shown; i < peak->rows; i++)
        other += peak->row[i].bytes;
    json_object(j, "result");
    json_text(j, "by", peak_by_names[peak->by]);
    json_i64(j, "at_event", peak->at_event);
    json_i64(j, "total_bytes", peak->total_bytes);
    json_i64(j, "adjust_bytes", peak->adjust_bytes);
    json_u64(j, "other_bytes", other);
    json_known(j, "active_bytes", d->blocks.active);
    json_known(j, "allocated_bytes", d->blocks.allocated);
    json_bool(j, "block_bytes_exact", d->blocks_exact);
    json_array(j, "rows");
    for (uint32_t i = 0; i < shown; i++) {
        put_row(j, &peak->row[i], choose(chosen, d->row_stack[i]));
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
    json_close(j);
}

static void put_device(struct json *j, struct out *out, const struct peak_device *d,
                       uint32_t most_rows, struct chosen *chosen)
{
    json_object(j, NULL);
    envelope_device(j, d->name);
    envelope_status(j, d->status, d->reason, d->reasons);
    envelope_trust(j, &d->trust);
    if (d->status == ANSWER_NOT_APPLICABLE)
        json_null(j, "result");
    else
        put_result(j, out, d, most_rows, chosen);
    json_close(j);
}

static void put_stacks(struct json *j, struct out *out, const struct chosen *chosen)
{
    const struct stack_texts *stacks = chosen->stacks;
    json_array(j, "stacks");
    for (uint32_t i = 0; i < chosen->count; i++) {
        uint32_t stack = chosen->stack[i];
        json_line_array(j, NULL);
        for (uint32_t k = stacks->first[stack]; k < stacks->first[stack + 1]; k++)
            json_str(j, NULL, stacks->frame[stacks->line[k]]);
        json_close(j);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
}

static void put_members(struct json *j, struct out *out, const struct peak_answer *answer,
                        uint32_t most_rows)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    struct chosen chosen = { .stacks = &answer->stacks };
    chosen.number = arena_array(&arena, uint32_t, answer->stacks.stacks);
    chosen.stack = arena_array(&arena, uint32_t, answer->stacks.stacks);
    if (chosen.number == NULL || chosen.stack == NULL) {
        j->out->failed = true;
        arena_free(&arena);
        return;
    }
    envelope_file(j, &answer->file);
    json_array(j, "devices");
    for (uint32_t i = 0; i < answer->devices; i++)
        put_device(j, out, &answer->device[i], most_rows, &chosen);
    json_close(j);
    put_stacks(j, out, &chosen);
    arena_free(&arena);
}

void peak_json(struct out *out, const struct answer_set *set, bool several,
               const struct render_options *options)
{
    struct json j;
    json_start(&j, &out->text);
    json_object(&j, NULL);
    json_text(&j, "schema", several ? "vramscope.peak-set/1" : "vramscope.peak/1");
    json_text(&j, "tool", options->tool);
    if (several) {
        json_array(&j, "files");
        for (uint32_t i = 0; i < set->count; i++) {
            json_object(&j, NULL);
            put_members(&j, out, &set->peak[i], options->rows);
            json_close(&j);
        }
        json_close(&j);
    } else {
        put_members(&j, out, &set->peak[0], options->rows);
    }
    json_close(&j);
    json_finish(&j);
}
