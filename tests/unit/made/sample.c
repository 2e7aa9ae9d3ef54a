#include "made/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/pairing.h"
#include "model/stacks.h"
#include "model/strings.h"
#include "model/verify.h"

void sample_init(struct recording *r)
{
    uint16_t stream = 0;
    pool_id pool = { 0 };
    assert_true(recording_init(r, 1 << 20, 1 << 24));
    assert_true(streams_intern(&r->streams, 0, &stream));
    assert_true(pools_intern(&r->pools, 0, 0, &pool));
    r->origin.complete = true;
}

uint32_t sample_device(struct recording *r, uint32_t number)
{
    struct devices *d = &r->devices;
    assert_true(table_reserve(d, &devices_kind, 1));
    uint32_t i = d->rows.len++;
    d->kind[i] = DEVICE_CUDA;
    d->number[i] = number;
    d->parts[i] = PART_SEGMENTS | PART_TRACE | PART_ANCHOR;
    d->first_segment[i] = r->segments.rows.len;
    d->first_block[i] = r->blocks.rows.len;
    d->first_event[i] = r->events.rows.len;
    d->first_allocation[i] = 0;
    d->segments[i] = d->blocks[i] = d->events[i] = d->allocations[i] = 0;
    d->orphan_frees[i] = d->double_allocs[i] = d->returned_unobtained_bytes[i] = 0;
    return i;
}

uint32_t sample_segment(struct recording *r, uint64_t address, uint64_t size)
{
    struct segments *s = &r->segments;
    assert_true(table_reserve(s, &segments_kind, 1));
    uint32_t i = s->rows.len++;
    s->device[i] = r->devices.rows.len - 1;
    r->devices.segments[s->device[i]]++;
    s->address[i] = address;
    s->total_size[i] = size;
    s->allocated_size[i] = s->active_size[i] = s->requested_size[i] = 0;
    s->stream[i] = 0;
    s->pool[i] = 1;
    s->stack[i] = s->forward_stack[i] = 0;
    s->size_class[i] = CLASS_LARGE;
    s->expandable[i] = 0;
    s->first_block[i] = r->blocks.rows.len;
    s->blocks[i] = 0;
    return i;
}

uint32_t sample_block(struct recording *r, uint64_t size, uint64_t requested,
                      enum block_state state)
{
    struct blocks *b = &r->blocks;
    struct segments *s = &r->segments;
    uint32_t segment = s->rows.len - 1;
    assert_true(table_reserve(b, &blocks_kind, 1));
    uint32_t i = b->rows.len++;
    b->segment[i] = segment;
    b->address[i] =
        s->blocks[segment] == 0 ? s->address[segment] : b->address[i - 1] + b->size[i - 1];
    b->size[i] = size;
    b->requested_size[i] = requested;
    b->state[i] = (uint8_t)state;
    b->stack[i] = b->context[i] = b->first_history[i] = b->histories[i] = 0;
    s->blocks[segment]++;
    r->devices.blocks[s->device[segment]]++;
    if (block_live(r, i)) {
        s->active_size[segment] += size;
        s->requested_size[segment] += requested;
        s->allocated_size[segment] += state == BLOCK_ALLOCATED ? size : 0;
    }
    return i;
}

static uint64_t number(char **at, int base)
{
    *at += strspn(*at, " ");
    if (**at == '?') {
        ++*at;
        return UNKNOWN_U64;
    }
    return strtoull(*at, at, base);
}

static void push_event(struct recording *r, enum event_action action, uint64_t address,
                       uint64_t size)
{
    struct events *e = &r->events;
    uint32_t device = r->devices.rows.len - 1;
    assert_true(table_reserve(e, &events_kind, 1));
    uint32_t i = e->rows.len++;
    e->action[i] = (uint8_t)action;
    e->stream[i] = 0;
    e->stack[i] = e->context[i] = 0;
    e->address[i] = address;
    e->size[i] = size;
    e->time_us[i] = r->devices.events[device]++;
}

void sample_events(struct recording *r, const char *text)
{
    static const char letters[] = "xarcfAFMUno";
    char copy[1024];
    assert_true(strlen(text) < sizeof copy);
    memcpy(copy, text, strlen(text) + 1);
    for (char *at = copy; *at != '\0';) {
        const char *letter = strchr(letters, *at++);
        assert_non_null(letter);
        uint64_t address = number(&at, 16), size = number(&at, 10);
        push_event(r, (enum event_action)(letter - letters), address, size);
        at += strspn(at, "; ");
    }
}

string_id sample_string(struct recording *r, const char *text)
{
    string_id id = { 0 };
    assert_true(strings_intern(&r->code.strings, str_from(text), &id));
    return id;
}

stack_id sample_stack(struct recording *r, const struct line *line, uint32_t lines)
{
    stack_id stack = { 0 };
    for (uint32_t i = lines; i-- > 0;) {
        struct frame frame = { sample_string(r, line[i].function), sample_string(r, line[i].file),
                               line[i].line, 0 };
        frame_id id = { 0 };
        assert_true(frames_intern(&r->code.frames, frame, &id));
        assert_true(stacks_push(&r->code.stacks, stack, id, &stack));
    }
    return stack;
}

void sample_letters(struct recording *r, const struct stack_letter *of, size_t count,
                    const char *letters)
{
    stack_id stack[128] = { { 0 } };
    bool known[128] = { ['-'] = true };
    for (size_t i = 0; i < count; i++) {
        int letter = of[i].letter;
        uint32_t lines = 0;
        while (lines < 4 && of[i].line[lines].function != NULL)
            lines++;
        stack[letter] = sample_stack(r, of[i].line, lines);
        known[letter] = true;
    }
    assert_int_equal(strlen(letters), r->events.rows.len);
    for (uint32_t i = 0; letters[i] != '\0'; i++) {
        assert_true(known[letters[i] & 127]);
        r->events.stack[i] = stack[letters[i] & 127].n;
    }
}

void sample_mark(struct recording *r, uint32_t device, const char *name, enum stage stage,
                 uint64_t time_us)
{
    struct marks *m = &r->marks;
    assert_true(table_reserve(m, &marks_kind, 1));
    uint32_t row = m->rows.len++;
    m->name[row] = sample_string(r, name).n;
    m->stage[row] = (uint8_t)stage;
    m->device[row] = device;
    m->time_us[row] = time_us;
}

void sample_setting(struct recording *r, const char *name, int64_t value)
{
    struct settings *s = &r->settings;
    assert_true(table_reserve(s, &settings_kind, 1));
    uint32_t i = s->rows.len++;
    s->name[i] = sample_string(r, name).n;
    s->type[i] = SETTING_INT;
    s->integer[i] = value;
    s->real[i] = 0;
    s->text[i] = 0;
}

void sample_finish(struct recording *r)
{
    struct vrs_error err = { .message = "" };
    enum vrs_status paired = pair_allocations(r, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(paired, VRS_OK);
    enum vrs_status verified = verify_recording(r, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(verified, VRS_OK);
}
