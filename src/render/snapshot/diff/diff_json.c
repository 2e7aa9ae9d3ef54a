/* diff_json.c - vramscope.diff/1. */
#include "render/answer/document.h"
#include "render/answer/envelope.h"
#include "render/snapshot/renderers.h"

/* Of an answer's stacks those that rows in sight name, numbered anew, A's and B's together. */
struct chosen {
    const struct stack_texts *stacks;
    uint32_t *number[2]; /* of each stack of a side, plus 1; 0: not in sight */
    struct {
        int side;
        uint32_t stack;
    } * shown; /* by number */
    uint32_t count;
};

static bool chosen_init(struct chosen *c, const struct diff_answer *answer, struct arena *arena)
{
    *c = (struct chosen){ .stacks = answer->stacks };
    size_t all = (size_t)answer->stacks[0].stacks + answer->stacks[1].stacks;
    c->shown = arena_take_array(arena, all, sizeof *c->shown);
    for (int s = 0; s < 2; s++)
        c->number[s] = arena_array(arena, uint32_t, answer->stacks[s].stacks);
    return c->shown != NULL && c->number[0] != NULL && c->number[1] != NULL;
}

/* The member `key`: a stack by its number. */
static void put_stack(struct json *j, const char *key, struct chosen *c, int side, uint32_t stack)
{
    if (stack == NO_ROW) {
        json_null(j, key);
        return;
    }
    uint32_t *number = &c->number[side][stack];
    if (*number == 0) {
        c->shown[c->count].side = side;
        c->shown[c->count].stack = stack;
        *number = ++c->count;
    }
    json_u64(j, key, *number - 1);
}

static int64_t less(uint64_t a, uint64_t b)
{
    return (int64_t)(b - a);
}

/* B's figure less A's, each divided by what its side is divided by. */
static void put_divided(struct json *j, const char *key, const struct diff *d,
                        const struct diff_amount *of)
{
    if (d->per == DIFF_PER_NOTHING)
        return;
    double a = (double)diff_figure(d->weight, &of[0]) / (double)d->end[0].per;
    double b = (double)diff_figure(d->weight, &of[1]) / (double)d->end[1].per;
    json_fixed(j, key, b - a, 6);
}

static void put_byte_events(struct json *j, const struct diff *d, const struct diff_amount *of)
{
    if (d->weight != DIFF_BYTE_EVENTS)
        return;
    json_u64(j, "a_byte_events", of[0].byte_events);
    json_u64(j, "b_byte_events", of[1].byte_events);
    json_i64(j, "delta_byte_events", less(of[0].byte_events, of[1].byte_events));
}

static void put_row(struct json *j, const struct diff_device *device, uint32_t i, struct chosen *c)
{
    static const char *const stages[] = {
        [DIFF_EXACT] = "M0", [DIFF_LINE] = "M1",      [DIFF_FUNCTION] = "M2",
        [DIFF_FUZZY] = "M3", [DIFF_UNMATCHED] = "M4",
    };
    const struct diff *d = &device->diff;
    const struct diff_row *row = &d->row[i];
    json_line_object(j, NULL);
    json_str(j, "name", row->name);
    json_str(j, "a_name", row->old_name);
    json_text(j, "stage", stages[row->stage]);
    if (row->stage == DIFF_FUZZY)
        json_fixed(j, "score_ratio", (double)row->score / 1e6, 6);
    else
        json_null(j, "score_ratio");
    json_u64(j, "a_bytes", row->of[0].bytes);
    json_u64(j, "b_bytes", row->of[1].bytes);
    json_i64(j, "delta_bytes", less(row->of[0].bytes, row->of[1].bytes));
    json_u64(j, "a_count", row->of[0].count);
    json_u64(j, "b_count", row->of[1].count);
    json_i64(j, "delta_count", less(row->of[0].count, row->of[1].count));
    put_byte_events(j, d, row->of);
    put_divided(j, "delta_per", d, row->of);
    json_text(j, "status", diff_change_names[row->change]);
    json_str(j, "caller", row->caller);
    put_stack(j, "a_stack", c, 0, device->row_stack[0][i]);
    if (row->same_stack)
        put_stack(j, "b_stack", c, 0, device->row_stack[0][i]);
    else
        put_stack(j, "b_stack", c, 1, device->row_stack[1][i]);
    json_close(j);
}

static void put_rows(struct json *j, struct out *out, const struct diff_device *device,
                     const struct render_options *options, struct chosen *c)
{
    const struct diff *d = &device->diff;
    uint32_t shown = document_rows(options, d->rows);
    struct diff_amount other[2] = { { 0 }, { 0 } };
    json_array(j, "rows");
    for (uint32_t i = 0; i < shown; i++) {
        put_row(j, device, i, c);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
    for (uint32_t i = shown; i < d->rows; i++)
        for (int s = 0; s < 2; s++) {
            other[s].bytes += d->row[i].of[s].bytes;
            other[s].count += d->row[i].of[s].count;
        }
    json_line_object(j, "other");
    json_u64(j, "rows", d->rows - shown);
    json_i64(j, "delta_bytes", less(other[0].bytes, other[1].bytes));
    json_i64(j, "delta_count", less(other[0].count, other[1].count));
    json_close(j);
}

static void put_table(struct json *j, struct out *out, const char *table, const char *key,
                      const struct diff *d, const struct diff_table *parts)
{
    json_array(j, table);
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct diff_part *part = &parts->at[i];
        json_line_object(j, NULL);
        if (part->name.len == 0)
            json_u64(j, key, part->number);
        else
            json_str(j, key, part->name);
        json_u64(j, "a_bytes", part->of[0].bytes);
        json_u64(j, "b_bytes", part->of[1].bytes);
        json_i64(j, "delta_bytes", less(part->of[0].bytes, part->of[1].bytes));
        json_u64(j, "a_count", part->of[0].count);
        json_u64(j, "b_count", part->of[1].count);
        json_i64(j, "delta_count", less(part->of[0].count, part->of[1].count));
        put_byte_events(j, d, part->of);
        json_close(j);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
}

static void put_end(struct json *j, const char *key, const struct diff *d, int side,
                    const struct file_facts *file)
{
    const struct diff_end *end = &d->end[side];
    json_line_object(j, key);
    json_str(j, "path", file->path);
    json_i64(j, "at_event", end->at_event);
    json_u64(j, "total_bytes", end->total.bytes);
    json_u64(j, "total_count", end->total.count);
    if (d->weight == DIFF_BYTE_EVENTS)
        json_u64(j, "total_byte_events", end->total.byte_events);
    json_i64(j, "adjust_bytes", end->adjust_bytes);
    if (d->per == DIFF_PER_NOTHING)
        json_null(j, "per_count");
    else
        json_u64(j, "per_count", end->per);
    json_close(j);
}

/* Null unless both sides are known. */
static void put_known_delta(struct json *j, const char *key, uint64_t a, uint64_t b)
{
    if (a == UNKNOWN_U64 || b == UNKNOWN_U64)
        json_null(j, key);
    else
        json_i64(j, key, less(a, b));
}

static void put_totals(struct json *j, const struct diff *d, const struct diff_answer *answer)
{
    const struct diff_end *a = &d->end[0], *b = &d->end[1];
    const struct diff_amount totals[2] = { a->total, b->total };
    put_end(j, "a", d, 0, &answer->file[0]);
    put_end(j, "b", d, 1, &answer->file[1]);
    json_text(j, "weight", diff_weight_names[d->weight]);
    json_str(j, "per",
             d->per == DIFF_PER_NOTHING ? (str){ NULL, 0 } : str_from(diff_per_names[d->per]));
    json_i64(j, "total_delta_bytes", less(a->total.bytes, b->total.bytes));
    json_i64(j, "total_delta_count", less(a->total.count, b->total.count));
    if (d->weight == DIFF_BYTE_EVENTS)
        json_i64(j, "total_delta_byte_events", less(a->total.byte_events, b->total.byte_events));
    put_divided(j, "total_delta_per", d, totals);
    json_known_fixed(j, "matched_a_ratio", d->matched_ratio[0], 6);
    json_known_fixed(j, "matched_b_ratio", d->matched_ratio[1], 6);
    json_line_object(j, "allocator");
    json_i64(j, "reserved_delta_bytes",
             less((uint64_t)a->reserved_bytes, (uint64_t)b->reserved_bytes));
    put_known_delta(j, "stranded_delta_bytes", a->stranded_bytes, b->stranded_bytes);
    put_known_delta(j, "slack_delta_bytes", a->slack_bytes, b->slack_bytes);
    json_close(j);
}

static void put_limit(struct json *j, const struct diff_device *device,
                      const struct diff_answer *answer)
{
    if (!answer->judged) {
        json_null(j, "limit");
        return;
    }
    json_line_object(j, "limit");
    if (answer->limit_is_ratio)
        json_fixed(j, "ratio", (double)answer->limit_bytes / 1e6, 6);
    else
        json_u64(j, "bytes", answer->limit_bytes);
    json_bool(j, "exceeded", device->exceeded);
    json_close(j);
}

static void put_side(struct json *j, const char *key, const struct diff_device *device, int side)
{
    if (device->there[side])
        json_u64(j, key, device->name[side].number);
    else
        json_null(j, key);
}

static void put_device(struct json *j, struct out *out, const struct diff_device *device,
                       const struct diff_answer *answer, const struct render_options *options,
                       struct chosen *c)
{
    const struct diff *d = &device->diff;
    json_object(j, NULL);
    put_side(j, "a_device", device, 0);
    put_side(j, "b_device", device, 1);
    if (device->name[device->there[0] ? 0 : 1].host)
        json_text(j, "kind", "host");
    envelope_status(j, device->status, device->reason, device->reasons);
    for (int s = 0; s < 2; s++) {
        const char *key = s == 0 ? "a_trust" : "b_trust";
        if (device->there[0] && device->there[1])
            envelope_named_trust(j, key, &device->trust[s]);
        else
            json_null(j, key);
    }
    if (!device->compared) {
        json_null(j, "result");
    } else {
        json_object(j, "result");
        put_totals(j, d, answer);
        put_limit(j, device, answer);
        put_rows(j, out, device, options, c);
        put_table(j, out, "by_category", "category", d, &d->by_category);
        put_table(j, out, "by_module", "module", d, &d->by_module);
        put_table(j, out, "by_phase", "phase", d, &d->by_phase);
        put_table(j, out, "by_size", "size_bytes", d, &d->by_size);
        json_close(j);
    }
    json_close(j);
}

static void put_stacks(struct json *j, struct out *out, const struct chosen *c)
{
    json_array(j, "stacks");
    for (uint32_t i = 0; i < c->count; i++) {
        json_frames(j, &c->stacks[c->shown[i].side], c->shown[i].stack);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
}

void diff_json(struct out *out, const struct answer_set *set, bool several,
               const struct render_options *options)
{
    (void)several; /* comparisons are not joined */
    const struct diff_answer *answer = &set->diff[0];
    struct arena arena;
    struct chosen chosen;
    struct json j;
    arena_init(&arena, SIZE_MAX / 2);
    if (!chosen_init(&chosen, answer, &arena)) {
        out->text.failed = true;
        arena_free(&arena);
        return;
    }
    document_begin(&j, out, "diff", false, options);
    envelope_named_file(&j, "a_file", &answer->file[0]);
    envelope_named_file(&j, "b_file", &answer->file[1]);
    json_array(&j, "devices");
    for (uint32_t i = 0; i < answer->devices; i++)
        put_device(&j, out, &answer->device[i], answer, options, &chosen);
    json_close(&j);
    put_stacks(&j, out, &chosen);
    document_end(&j);
    arena_free(&arena);
}
