/* split.c - numbers each distinct key of a call, and adds operators up by these. */
#include "analysis/trace/splits/split.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trace/modules/modules.h"
#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/report/steps.h"
#include "analysis/trace/splits/split_stacks.h"
#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/operators.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/strings.h"

/* What calls of one row have in common.  It has no padding. */
struct split_key {
    uint32_t name; /* string_id; of the steps, which are one name, the number of strings */
    uint32_t shapes, stack; /* among the texts; 0: none, or not asked for */
    uint32_t module, step;  /* NO_ROW: likewise */
    uint32_t phase;         /* TRACE_PHASES: not asked for */
};

struct splitting {
    const struct trace_study *study;
    const struct trace_report *report;
    struct trace_split by;
    struct strings texts;
    uint32_t *shapes; /* of each string: itself among the texts, plus 1; 0: not yet */
    uint32_t *stack;  /* of each span; NULL where not asked for, as the next two */
    uint8_t *phase;
    struct span_modules module;
    VEC(struct split_key) keys;
    struct idtab index; /* keys plus 1 */
};

/* Parts. */

/* The list without blanks but one behind each comma, as Python writes it. */
static bool shapes_text(struct splitting *x, uint32_t string, uint32_t *ret)
{
    str json = trace_text(x->study->trace, string);
    string_id id = { 0 };
    if (string == 0 || x->shapes[string] != 0) {
        *ret = string == 0 ? 0 : x->shapes[string] - 1;
        return true;
    }
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    for (size_t i = 0; i < json.len; i++) {
        char c = json.ptr[i];
        if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
            buf_char(&text, c);
        if (c == ',')
            buf_char(&text, ' ');
    }
    bool ok = !text.failed && strings_intern(&x->texts, buf_slice(&text), &id);
    buf_free(&text);
    x->shapes[string] = id.n + 1;
    *ret = id.n;
    return ok;
}

static bool key_of(struct splitting *x, uint32_t span, struct split_key *ret)
{
    const struct trace *t = x->study->trace;
    const struct spans *spans = &t->spans;
    bool is_step = (x->study->names.traits[spans->name[span]] & NAME_STEP) != 0;
    *ret = (struct split_key){
        .name = is_step ? t->strings.rows.len : spans->name[span],
        .stack = x->stack != NULL ? x->stack[span] : 0,
        .module = x->module.of != NULL ? x->module.of[span] : NO_ROW,
        .step = NO_ROW,
        .phase = x->phase != NULL ? x->phase[span] : TRACE_PHASES,
    };
    if ((x->by.parts & SPLIT_STEP) != 0)
        ret->step = trace_step_of(x->report, spans->start[span]);
    return (x->by.parts & SPLIT_SHAPES) == 0 ||
           shapes_text(x, spans->shapes[span], &ret->shapes);
}

static bool number_of(struct splitting *x, const struct split_key *key, uint32_t *ret)
{
    uint64_t hash = hash_bytes(key, sizeof *key);
    if (!idtab_reserve(&x->index))
        return false;
    for (uint32_t at = idtab_first(&x->index, hash); x->index.slot[at].id != 0;
         at = idtab_next(&x->index, hash, at)) {
        *ret = x->index.slot[at].id - 1;
        if (memcmp(&x->keys.at[*ret], key, sizeof *key) == 0)
            return true;
    }
    *ret = x->keys.len;
    if (!vec_push(&x->keys, *key))
        return false;
    idtab_put(&x->index, hash, *ret + 1);
    return true;
}

static bool number_all(struct splitting *x, const struct forest *trees, uint32_t *of)
{
    for (uint32_t i = 0; i < trees->first[trees->threads]; i++) {
        struct split_key key;
        uint32_t row = trees->row[i];
        if (x->study->trace->spans.kind[row] != SPAN_PYTHON &&
            (!key_of(x, row, &key) || !number_of(x, &key, &of[row])))
            return false;
    }
    return true;
}

/* What a key says. */

static bool keep_text(const struct splitting *x, uint32_t id, struct arena *arena, str *ret)
{
    if (id != 0)
        *ret = arena_copy(arena, strings_text(&x->texts, (string_id){ id }));
    return id == 0 || ret->ptr != NULL;
}

static bool row_make(const struct splitting *x, const struct split_key *key, struct arena *arena,
                     struct split_row *ret)
{
    const struct trace *t = x->study->trace;
    const str none = { NULL, 0 };
    *ret = (struct split_row){ { .calls = 0 }, none, none, none, none, (uint8_t)key->phase };
    if (key->module != NO_ROW)
        ret->module = x->module.path[key->module];
    if (key->step != NO_ROW)
        ret->step = x->report->step[key->step].name;
    ret->op.name = key->name == t->strings.rows.len ? S("ProfilerStep*")
                                                    : arena_copy(arena, trace_text(t, key->name));
    return ret->op.name.ptr != NULL && keep_text(x, key->shapes, arena, &ret->shapes) &&
           keep_text(x, key->stack, arena, &ret->stack);
}

static enum vrs_status parts_make(struct splitting *x, struct arena *scratch, struct arena *kept,
                                  struct arena *arena, struct vrs_error *err)
{
    struct forest with_frames;
    uint32_t parts = x->by.parts;
    x->shapes = arena_array(kept, uint32_t, x->study->trace->strings.rows.len);
    bool ok = x->shapes != NULL &&
              ((parts & SPLIT_PHASE) == 0 ||
               trace_phases_of_spans(x->study, x->report, kept, &x->phase)) &&
              ((parts & SPLIT_STACK) == 0 ||
               (framework_trees(x->study, kept, &with_frames) &&
                split_stacks_make(x->study, &with_frames, x->by.frames, &x->texts, kept,
                                  &x->stack)));
    if (!ok)
        return vrs_no_memory(err);
    return (parts & SPLIT_MODULE) == 0
               ? VRS_OK
               : trace_modules_of_spans(x->study, scratch, arena, &x->module, err);
}

static bool keys_make(struct splitting *x, const struct forest *trees, struct arena *scratch,
                      struct arena *arena, struct split_keys *ret)
{
    ret->of = arena_array(scratch, uint32_t, x->study->trace->spans.rows.len);
    if (ret->of == NULL || !number_all(x, trees, ret->of))
        return false;
    ret->keys = x->keys.len;
    ret->key = arena_array(scratch, struct split_row, ret->keys);
    for (uint32_t i = 0; ret->key != NULL && i < ret->keys; i++)
        if (!row_make(x, &x->keys.at[i], arena, &ret->key[i]))
            return false;
    return ret->key != NULL;
}

enum vrs_status split_keys_make(const struct trace_study *study, const struct trace_report *report,
                                struct trace_split by, const struct forest *trees,
                                struct arena *scratch, struct arena *arena,
                                struct split_keys *ret, struct vrs_error *err)
{
    struct arena kept;
    struct splitting x = { .study = study, .report = report, .by = by,
                           .keys.max = UINT32_MAX - 1 };
    arena_init(&kept, SIZE_MAX / 2);
    enum vrs_status status = strings_init(&x.texts, UINT32_MAX) ? VRS_OK : vrs_no_memory(err);
    if (status == VRS_OK)
        status = parts_make(&x, scratch, &kept, arena, err);
    if (status == VRS_OK && !keys_make(&x, trees, scratch, arena, ret))
        status = vrs_no_memory(err);
    vec_free(&x.keys);
    idtab_free(&x.index);
    strings_free(&x.texts);
    arena_free(&kept);
    return status;
}

/* Rows. */

static int by_self_cpu(const void *a, const void *b)
{
    const struct split_row *x = a, *y = b;
    if (x->op.self_cpu_ns != y->op.self_cpu_ns)
        return x->op.self_cpu_ns > y->op.self_cpu_ns ? -1 : 1;
    const str ties[][2] = { { x->op.name, y->op.name }, { x->shapes, y->shapes },
                            { x->module, y->module },   { x->step, y->step },
                            { x->stack, y->stack } };
    for (size_t i = 0; i < sizeof ties / sizeof *ties; i++) {
        int order = str_compare(ties[i][0], ties[i][1]);
        if (order != 0)
            return order;
    }
    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    return x->op.key < y->op.key ? -1 : x->op.key > y->op.key;
}

static bool rows_make(const struct split_keys *keys, const struct tables *from,
                      struct arena *arena, struct split_table *ret)
{
    const str none = { NULL, 0 };
    ret->row = arena_array(arena, struct split_row, (size_t)from->ops + 1);
    if (ret->row == NULL)
        return false;
    for (uint32_t i = 0; i < from->ops; i++) {
        struct split_row *row = &ret->row[ret->rows++];
        *row = keys->key[from->op[i].key];
        str name = row->op.name;
        row->op = from->op[i];
        row->op.name = name; /* which lives longer */
    }
    if (from->loose.calls > 0)
        ret->row[ret->rows++] =
            (struct split_row){ from->loose, none, none, none, none, TRACE_PHASES };
    qsort(ret->row, ret->rows, sizeof *ret->row, by_self_cpu);
    return true;
}

static enum vrs_status table_make(const struct trace_study *study, bool as_framework,
                                  struct arena *scratch, struct arena *arena,
                                  struct trace_report *ret, struct vrs_error *err)
{
    struct forest with_frames;
    struct split_keys keys;
    struct tables tables = { .ops = 0 };
    const struct forest *trees = as_framework ? &with_frames : &study->host;
    if (as_framework && !framework_trees(study, scratch, &with_frames))
        return vrs_no_memory(err);
    TRY(split_keys_make(study, ret, ret->split.by, trees, scratch, arena, &keys, err));
    bool ok = operators_make(study, trees, &(struct operator_keys){ keys.of, keys.keys }, scratch,
                             &tables) &&
              rows_make(&keys, &tables, arena, &ret->split);
    return ok ? VRS_OK : vrs_no_memory(err);
}

enum vrs_status trace_split_make(const struct trace *t, struct trace_split by, bool as_framework,
                                 struct arena *arena, struct trace_report *ret,
                                 struct vrs_error *err)
{
    struct trace_study study;
    struct arena scratch;
    arena_init(&scratch, SIZE_MAX / 2);
    ret->split = (struct split_table){ .by = by };
    enum vrs_status status = trace_study_make(t, &scratch, &study, err);
    if (status == VRS_OK)
        status = table_make(&study, as_framework, &scratch, arena, ret, err);
    arena_free(&scratch);
    return status;
}
