/* test_copy_interned.c - names under the same ids in another recording. */
#include "model/copy_interned.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "made/fault.h"
#include "made/sample.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/stacks.h"
#include "model/strings.h"
#include "model/verify.h"

/* One row at least of everything that has a name. */
static void make(struct recording *r)
{
    static const struct line line[] = { { "f", "a.py", 1 },
                                        { "g", "b.py", 2 },
                                        { "h", "c.py", 3 } };
    sample_init(r);
    sample_setting(r, "max_split_size", -1);
    sample_setting(r, "expandable_segments", 1);
    stack_id stack = sample_stack(r, line, 3);
    sample_stack(r, line + 1, 2);
    struct fx_node node = { .op = sample_string(r, "call_module"),
                            .name = sample_string(r, "relu") };
    struct frame frame = { .name = sample_string(r, "i"),
                           .file = sample_string(r, "d.py"),
                           .line = 4 };
    assert_true(fx_nodes_intern(&r->code.fx_nodes, node, &frame.fx));
    frame_id frame_row;
    assert_true(frames_intern(&r->code.frames, frame, &frame_row));
    assert_true(stacks_push(&r->code.stacks, stack, frame_row, &stack));
    pool_id pool;
    assert_true(pools_intern(&r->pools, 0, 7, &pool));
    assert_true(pools_intern(&r->pools, 3, 0, &pool));
    uint16_t stream;
    assert_true(streams_intern(&r->streams, 0x5000, &stream));
    struct context context = { .category = sample_string(r, "weights"),
                               .action = sample_string(r, "frobnicate"),
                               .pool = pool,
                               .forward_stack = stack };
    context_id id;
    assert_true(contexts_intern(&r->contexts, context, &id));
    assert_true(table_reserve(&r->marks, &marks_kind, 1));
    uint32_t mark = r->marks.rows.len++;
    r->marks.name[mark] = sample_string(r, "step").n;
    r->marks.stage[mark] = STAGE_END;
    r->marks.device[mark] = 1;
    r->marks.time_us[mark] = 12;
    sample_device(r, 0);
    sample_segment(r, 0x1000, 2 << 20);
    sample_block(r, 2 << 20, 600, BLOCK_ALLOCATED);
    sample_events(r, "a 1000 600");
    sample_finish(r);
}

static bool has_names(const struct table_kind *kind)
{
    static const char *const names[] = { "strings", "frames",  "fx_nodes", "stacks",  "contexts",
                                         "pools",   "streams", "marks",    "settings" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(kind->name, names[i]) == 0)
            return true;
    return false;
}

/* Rows of names are equal, number by number; of all else there is nothing. */
static void check_tables(const struct recording *a, const struct recording *b)
{
    for (uint32_t t = 0; t < recording_table_count; t++) {
        const struct table_place *place = &recording_tables[t];
        const char *left = (const char *)a + place->offset,
                   *right = (const char *)b + place->offset;
        uint32_t rows = ((const struct table *)(const void *)left)->len;
        assert_int_equal(((const struct table *)(const void *)right)->len,
                         has_names(place->kind) ? rows : 0);
        for (uint32_t c = 0; has_names(place->kind) && c < place->kind->columns; c++) {
            const struct column *column = &place->kind->column[c];
            const void *const *x = (const void *)(left + column->offset);
            const void *const *y = (const void *)(right + column->offset);
            assert_memory_equal(*x, *y, rows * column_width(column->type));
        }
    }
    for (uint32_t i = 0; i < a->code.strings.rows.len; i++)
        assert_true(str_equal(strings_text(&a->code.strings, (string_id){ i }),
                              strings_text(&b->code.strings, (string_id){ i })));
}

static void ids_stay_the_same(void **state)
{
    struct recording from, to;
    string_id id;
    (void)state;
    make(&from);
    assert_true(recording_init(&to, 1000, 10000));
    assert_true(recording_copy_interned(&to, &from));
    check_tables(&from, &to);
    assert_int_equal(verify_recording(&to, NULL), VRS_OK);
    /* The copy is whole: it finds what it has, and grows. */
    assert_true(strings_intern(&to.code.strings, S("frobnicate"), &id));
    assert_true(id.n < from.code.strings.rows.len);
    assert_true(strings_intern(&to.code.strings, S("new"), &id));
    assert_int_equal(id.n, from.code.strings.rows.len);
    recording_free(&from);
    assert_true(str_equal(strings_text(&to.code.strings, id), S("new")));
    recording_free(&to);
}

static void an_empty_recording_has_no_names(void **state)
{
    struct recording from, to;
    (void)state;
    assert_true(recording_init(&from, 1000, 10000));
    assert_true(recording_init(&to, 1000, 10000));
    assert_true(recording_copy_interned(&to, &from));
    check_tables(&from, &to);
    recording_free(&from);
    recording_free(&to);
}

static void rows_and_text_may_not_suffice(void **state)
{
    struct recording from, to;
    (void)state;
    make(&from);
    assert_true(recording_init(&to, 3, 10000));
    assert_false(recording_copy_interned(&to, &from));
    recording_free(&to);
    assert_true(recording_init(&to, 1000, 12));
    assert_false(recording_copy_interned(&to, &from));
    recording_free(&to);
    recording_free(&from);
}

static void every_allocation_may_fail(void **state)
{
    struct recording from;
    (void)state;
    make(&from);
    for (long n = 0;; n++) {
        struct recording to;
        assert_true(recording_init(&to, 1000, 10000));
        fault_left = n;
        bool copied = recording_copy_interned(&to, &from);
        bool fired = fault_left < 0;
        fault_left = -1;
        recording_free(&to);
        assert_int_equal(copied, !fired);
        if (!fired)
            break;
    }
    recording_free(&from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_stay_the_same),
        cmocka_unit_test(an_empty_recording_has_no_names),
        cmocka_unit_test(rows_and_text_may_not_suffice),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
