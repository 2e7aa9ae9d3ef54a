/* steps_json.c - vramscope.steps/1 and vramscope.steps-set/1. */
#include "render/snapshot/renderers.h"
#include "render/snapshot/steps/step_parts.h"

static void put_row(struct json *j, const struct phase_row *row, struct stack_numbers *numbers)
{
    json_line_object(j, NULL);
    if (row->step == 0)
        json_null(j, "step");
    else
        json_u64(j, "step", row->step);
    json_text(j, "phase", phase_names[row->phase]);
    json_u64(j, "first_event", row->first_event);
    json_u64(j, "last_event", row->last_event);
    json_u64(j, "allocs", row->allocs);
    json_u64(j, "alloc_bytes", row->alloc_bytes);
    json_u64(j, "freed_bytes", row->freed_bytes);
    json_i64(j, "entry_bytes", row->entry_bytes);
    json_i64(j, "exit_bytes", row->exit_bytes);
    json_i64(j, "peak_bytes", row->peak_bytes);
    json_i64(j, "peak_event", row->peak_event);
    if (row->step == 0)
        json_null(j, "contribution_bytes");
    else
        json_i64(j, "contribution_bytes", row->contribution_bytes);
    json_stack(j, "first_stack", row->first_stack, numbers);
    json_stack(j, "largest_stack", row->largest.stack, numbers);
    json_close(j);
}

static void put_result(struct json *j, struct out *out, const void *result,
                       struct stack_numbers *numbers, const struct render_options *options)
{
    const struct phase_rows *rows = result;
    uint32_t shown = document_rows(options, rows->rows);
    json_array(j, "phases");
    for (uint32_t i = 0; i < shown; i++) {
        put_row(j, &rows->row[i], numbers);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
    if (rows->peak_phase == PHASES)
        json_null(j, "peak_phase");
    else
        json_text(j, "peak_phase", phase_names[rows->peak_phase]);
    json_line_object(j, "sources");
    json_u64(j, "stacks", rows->by_stack);
    json_u64(j, "annotations", rows->by_annotation);
    json_close(j);
    json_steps(j, &rows->steps, numbers);
}

void steps_json(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options)
{
    device_answer_json(out, set, several, options, "steps", put_result);
}
