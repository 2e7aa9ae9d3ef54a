#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/fail.h"
#include "base/table.h"
#include "made/fault.h"
#include "made/sample.h"
#include "model/recording.h"
#include "model/verify.h"

/* Two devices; allocations 0 to 3 are: alive, freed, pending, only a block. */
static void make(struct recording *r)
{
    sample_init(r);
    sample_setting(r, "max_split_size", -1);
    for (uint32_t d = 0; d < 2; d++) {
        sample_device(r, d);
        sample_segment(r, 0x1000, 2 << 20);
        sample_block(r, 1024, 600, BLOCK_ALLOCATED); /* 1000 */
        sample_block(r, 1024, 600, BLOCK_PENDING);   /* 1400 */
        sample_block(r, 1024, 600, BLOCK_INACTIVE);
        sample_block(r, 1024, 600, BLOCK_ALLOCATED);
        sample_events(r, "a 1000 600; a 9000 5; r 9000 5; c 9000 5; a 1400 600; r 1400 600; n 0 0");
    }
    static const struct line line[] = { { "f", "a.py", 1 }, { "g", "b.py", 2 } };
    r->events.stack[0] = sample_stack(r, line, 2).n;
    sample_finish(r);
}

static struct recording broken;

static void invalid_text(void)
{
    broken.code.strings.bytes.at[broken.code.strings.offset[1]] = (char)0x80;
}

static void caller_above(void)
{
    broken.code.stacks.caller[1] = 2;
}

static void half_anchored(void)
{
    broken.devices.parts[1] = PART_ANCHOR;
}

static void cut_and_whole(void)
{
    broken.origin.cut_part = CUT_TRACES;
}

/* Each wrong value of one column, and how the verifier calls it. */
static void wrong_values_are_named(void **state)
{
    (void)state;
    struct recording *const r = &broken;
    make(r);
    const struct {
        uint32_t *at;
        uint32_t value;
        const char *message;
    } cases[] = {
        { &r->code.strings.rows.len, UINT32_MAX, "strings: " },
        { &r->code.strings.length[1], 1000, "strings, row 1: ends past" },
        { &r->code.strings.length[0], 1, "strings, row 0: not empty" },
        { &r->code.frames.name[1], 99, "frames.name, row 1" },
        { &r->code.frames.fx[1], 1, "frames.fx, row 1" },
        { &r->code.frames.file[0], 1, "frames, row 0" },
        { &r->code.stacks.frame[2], 9, "stacks.frame, row 2" },
        { &r->code.stacks.frame[2], 0, "stacks, row 2: no frame" },
        { &r->devices.number[1], 0, "devices, row 1: out of order" },
        { &r->devices.first_event[1], 6, "devices.events, row 1" },
        { &r->devices.events[1], 6, "devices.events: the runs" },
        { &r->devices.segments[0], 2, "devices.segments, row 1" },
        { &r->devices.first_allocation[1], 0, "devices.allocations, row 1" },
        { &r->segments.stream[0], 1, "segments.stream, row 0" },
        { &r->segments.pool[0], 2, "segments.pool, row 0" },
        { &r->segments.device[1], 0, "segments, row 1: device 0" },
        { &r->segments.first_block[1], 3, "segments.blocks, row 1" },
        { &r->blocks.segment[5], 0, "blocks, row 5: segment 0" },
        { &r->blocks.stack[5], 3, "blocks.stack, row 5" },
        { &r->blocks.context[5], 1, "blocks.context, row 5" },
        { &r->blocks.histories[5], 1, "blocks.histories, row 5" },
        { &r->events.stack[3], 3, "events.stack, row 3" },
        { &r->events.context[3], 1, "events.context, row 3" },
        { &r->settings.name[0], 99, "settings.name, row 0" },
        { &r->allocations.alloc_event[0], 1, "allocations, row 0: its size is" },
        { &r->allocations.free_requested_event[0], 2, "allocations, row 0: its events are" },
        { &r->allocations.alloc_event[0], 2, "allocations, row 0: born of" },
        { &r->allocations.alloc_event[0], 7, "allocations, row 0: an event of another" },
        { &r->allocations.free_requested_event[1], NO_ROW, "allocations, row 1: freed before" },
        { &r->allocations.free_requested_event[1], 6, "allocations, row 1: its free was asked" },
        { &r->allocations.free_completed_event[1], 2, "allocations, row 1: freed by an event" },
        { &r->allocations.free_completed_event[2], 3, "allocations, row 2: freed before" },
        { &r->allocations.block[0], 1, "allocations, row 0: its block is at" },
        { &r->allocations.block[0], 2, "allocations, row 0: survives in a free" },
        { &r->allocations.block[0], 4, "allocations, row 0: a block of another" },
        { &r->allocations.block[1], 0, "allocations, row 1: freed, and survives" },
        { &r->allocations.block[3], NO_ROW, "allocations, row 3: neither" },
        { &r->allocations.block[3], 0, "allocations, row 3: its block is another's" },
        { &r->origin.entry.n, 99, "origin: " },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vrs_error err = { .message = "" };
        uint32_t right = *cases[i].at;
        *cases[i].at = cases[i].value;
        enum vrs_status status = verify_recording(r, &err);
        *cases[i].at = right;
        assert_int_equal(status, VRS_CORRUPT);
        err.message[strlen(cases[i].message)] = '\0';
        assert_string_equal(err.message, cases[i].message);
    }
    assert_int_equal(verify_recording(r, NULL), VRS_OK);
    recording_free(r);
}

static void wrong_bytes_are_named(void **state)
{
    (void)state;
    struct recording *const r = &broken;
    make(r);
    const struct {
        uint8_t *at;
        uint8_t value;
        const char *message;
    } cases[] = {
        { &r->devices.kind[0], 2, "devices.kind, row 0" },
        { &r->devices.kind[0], 1, "devices, row 1: out of order" },
        { &r->devices.parts[0], 8, "devices.parts, row 0" },
        { &r->segments.size_class[0], 3, "segments.size_class, row 0" },
        { &r->segments.expandable[0], 2, "segments.expandable, row 0" },
        { &r->blocks.state[0], 4, "blocks.state, row 0" },
        { &r->events.action[6], ACTIONS, "events.action, row 6" },
        { &r->settings.type[0], 4, "settings.type, row 0" },
        { &r->settings.type[0], SETTING_BOOL, "settings, row 0: neither" },
        { &r->origin.compression, 3, "origin: " },
        { &r->origin.encoding, 2, "origin: " },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vrs_error err = { .message = "" };
        uint8_t right = *cases[i].at;
        *cases[i].at = cases[i].value;
        assert_int_equal(verify_recording(r, &err), VRS_CORRUPT);
        *cases[i].at = right;
        err.message[strlen(cases[i].message)] = '\0';
        assert_string_equal(err.message, cases[i].message);
    }
    recording_free(r);
}

static void other_faults_are_named(void **state)
{
    (void)state;
    static const struct {
        void (*harm)(void);
        const char *message;
    } cases[] = {
        { invalid_text, "strings, row 1: not UTF-8" },
        { caller_above, "stacks, row 1: its caller is 2" },
        { half_anchored, "devices, row 1: parts 4" },
        { cut_and_whole, "origin: complete, and cut in part 3" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vrs_error err = { .message = "" };
        make(&broken);
        cases[i].harm();
        assert_int_equal(verify_recording(&broken, &err), VRS_CORRUPT);
        assert_string_equal(err.message, cases[i].message);
        recording_free(&broken);
    }
}

static void text_is_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool valid;
    } cases[] = {
        { "plain", true },
        { "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf", true },
        { "\xc0\x80", false },
        { "\xc3", false },
        { "\xe0\x9f\xbf", false },
        { "\xed\xa0\x80", false },
        { "\xf0\x8f\xbf\xbf", false },
        { "\xf4\x90\x80\x80", false },
        { "\xff", false },
        { "a\x80", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recording r;
        sample_init(&r);
        sample_string(&r, cases[i].text);
        assert_int_equal(verify_recording(&r, NULL), cases[i].valid ? VRS_OK : VRS_CORRUPT);
        recording_free(&r);
    }
}

static void memory_may_run_out(void **state)
{
    (void)state;
    make(&broken);
    fault_left = 0;
    assert_int_equal(verify_recording(&broken, NULL), VRS_NOMEM);
    assert_int_equal(fault_left, -1);
    recording_free(&broken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_values_are_named), cmocka_unit_test(wrong_bytes_are_named),
        cmocka_unit_test(other_faults_are_named), cmocka_unit_test(text_is_utf8),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
