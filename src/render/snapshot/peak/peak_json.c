/* peak_json.c - vramscope.peak/1 and vramscope.peak-set/1. */
#include "render/answer/document.h"
#include "render/answer/envelope.h"
#include "render/snapshot/renderers.h"

static void put_row(struct json *j, const struct peak_row *row, uint32_t stack,
                    struct stack_numbers *numbers)
{
    json_line_object(j, NULL);
    json_str(j, "name", row->name);
    json_u64(j, "bytes", row->bytes);
    json_u64(j, "count", row->count);
    json_fixed(j, "share_ratio", row->share_ratio, 6);
    json_u64(j, "largest_bytes", row->largest_bytes);
    json_i64(j, "oldest_event", row->oldest_event);
    json_known_fixed(j, "median_age_events", row->median_age_events, 1);
    json_known(j, "slack_bytes", row->slack_bytes);
    json_str(j, "culprit", row->culprit);
    json_str(j, "owner", row->owner);
    json_str(j, "category", row->category);
    json_str(j, "confidence", row->confidence);
    json_str(j, "rule", row->rule);
    json_stack_number(j, "stack", stack, numbers);
    if (row->sizes > 0) {
        json_array(j, "sizes");
        for (uint32_t i = 0; i < row->sizes; i++) {
            json_object(j, NULL);
            json_u64(j, "bytes", row->size[i].bytes);
            json_u64(j, "count", row->size[i].count);
            json_close(j);
        }
        json_close(j);
    }
    json_close(j);
}

static void put_result(struct json *j, struct out *out, const struct peak_device *d,
                       const struct render_options *options, struct stack_numbers *numbers)
{
    const struct peak *peak = &d->peak;
    uint32_t shown = document_rows(options, peak->rows);
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
        put_row(j, &peak->row[i], d->row_stack[i], numbers);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
    json_close(j);
}

static void put_device(struct json *j, struct out *out, const struct peak_device *d,
                       const struct render_options *options, struct stack_numbers *numbers)
{
    json_object(j, NULL);
    envelope_device(j, d->name);
    envelope_status(j, d->status, d->reason, d->reasons);
    envelope_trust(j, &d->trust);
    if (d->status == ANSWER_NOT_APPLICABLE)
        json_null(j, "result");
    else
        put_result(j, out, d, options, numbers);
    json_close(j);
}

static void put_members(struct json *j, struct out *out, const struct answer_set *set, uint32_t i,
                        const void *arg)
{
    const struct peak_answer *answer = &set->peak[i];
    struct stack_numbers numbers;
    if (!stack_numbers_init(&numbers, &answer->stacks, j->out))
        return;
    envelope_file(j, &answer->file);
    json_array(j, "devices");
    for (uint32_t k = 0; k < answer->devices; k++)
        put_device(j, out, &answer->device[k], arg, &numbers);
    json_close(j);
    json_stacks(j, out, &numbers);
    stack_numbers_free(&numbers);
}

void peak_json(struct out *out, const struct answer_set *set, bool several,
               const struct render_options *options)
{
    struct json j;
    document_begin(&j, out, "peak", several, options);
    document_files(&j, out, set, several, put_members, options);
    document_end(&j);
}
