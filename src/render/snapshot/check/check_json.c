/* check_json.c - vramscope.check/1 and vramscope.check-set/1. */
#include "analysis/snapshot/check/check.h"
#include "render/answer/device_answer.h"
#include "render/snapshot/renderers.h"

enum { RATIO_DECIMALS = 6, SCORE_DECIMALS = 2 };

static void put_figure(struct json *j, const char *key, bool known, int64_t value)
{
    if (known)
        json_i64(j, key, value);
    else
        json_null(j, key);
}

static void put_figures(struct json *j, const struct check_row *row)
{
    bool bytes = row->measure == CHECK_BYTES, ratio = row->measure == CHECK_RATIO;
    put_figure(j, "limit_bytes", bytes && row->limit_known, row->limit);
    put_figure(j, "value_bytes", bytes && row->value_known, row->value);
    put_figure(j, "upper_bytes", bytes && row->upper_known, row->upper);
    if (ratio)
        json_fixed(j, "limit_ratio", row->limit_ratio, RATIO_DECIMALS);
    else
        json_null(j, "limit_ratio");
    if (ratio && row->value_known)
        json_fixed(j, "value_ratio", row->value_ratio, RATIO_DECIMALS);
    else
        json_null(j, "value_ratio");
    put_figure(j, "value_count", row->measure == CHECK_COUNT && row->value_known, row->value);
}

static void put_evidence(struct json *j, const struct check_row *row)
{
    json_object(j, "evidence");
    json_array(j, "sites");
    for (uint32_t i = 0; i < row->sites; i++) {
        json_line_object(j, NULL);
        /* A stack has the paths of the machine that recorded it. */
        json_line_object(j, "site");
        json_str(j, "culprit", row->site[i].site.culprit);
        json_str(j, "owner", row->site[i].site.owner);
        json_null(j, "stack");
        json_close(j);
        json_u64(j, "bytes", row->site[i].bytes);
        json_close(j);
    }
    json_close(j);
    json_array(j, "diff_rows");
    for (uint32_t i = 0; i < row->diffs; i++) {
        const struct check_diff_row *diff = &row->diff[i];
        json_line_object(j, NULL);
        json_str(j, "name", diff->name);
        json_text(j, "stage", diff->stage);
        json_text(j, "status", diff->status);
        json_known_fixed(j, "score_ratio", diff->score, SCORE_DECIMALS);
        json_i64(j, "a_bytes", diff->a_bytes);
        json_i64(j, "b_bytes", diff->b_bytes);
        json_i64(j, "delta_bytes", diff->delta_bytes);
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

static void put_row(struct json *j, const struct check_row *row)
{
    json_object(j, NULL);
    json_str(j, "name", row->name);
    json_text(j, "result", check_outcome_names[row->outcome]);
    put_figures(j, row);
    json_text(j, "source", row->value_known ? check_source_names[row->source] : NULL);
    put_figure(j, "event", row->event != CHECK_NO_EVENT, row->event);
    if (row->reason == NULL) {
        json_null(j, "reason");
    } else {
        json_line_object(j, "reason");
        json_text(j, "id", row->reason);
        json_str(j, "text", row->reason_text);
        json_close(j);
    }
    put_evidence(j, row);
    json_close(j);
}

static void put_result(struct json *j, struct out *out, const void *result,
                       struct stack_numbers *numbers, const struct render_options *options)
{
    const struct check *check = result;
    (void)options;
    (void)numbers;
    json_array(j, "limits");
    for (uint32_t i = 0; i < check->rows; i++) {
        put_row(j, &check->row[i]);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
    json_i64(j, "exit_code", check->exit_code);
}

void check_json(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options)
{
    device_answer_json(out, set, several, options, "check", put_result);
}
