#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/str.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "format/read.h"
#include "format/snapshot/ahead.h"
#include "made/fault.h"
#include "made/identical.h"

/* Writes a pickle of events as CPython does: keys from the memo, items in batches, FRAMEs between
 * any two opcodes. */
enum { KEYS_MAX = 64, FRAMES_MAX = 40 };

struct writer {
    struct buf b;
    size_t frame;       /* place of the open FRAME's length */
    size_t frame_bytes; /* after which the next opcode begins a new one */
    uint32_t memo;      /* entries written */
    struct {
        const char *text;
        uint32_t entry;
    } key[KEYS_MAX];
    uint32_t keys;
    uint32_t frame_entry[FRAMES_MAX]; /* memo entries of frames; 0: not yet written */
    uint32_t list_entry;              /* of the newest list of frames */
    uint32_t odd;                     /* one event in so many has a key of its own; 0: none */
    bool numbered;                    /* memo writes have numbers */
    bool no_stacks;                   /* lists of frames are empty */
    bool backwards;                   /* labels stand in the order opposite to the usual one */
    uint64_t random;
};

static uint32_t random_below(struct writer *w, uint32_t n)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(w->random >> 33) % n;
}

static void end_frame(struct writer *w)
{
    if (w->frame == 0)
        return;
    uint64_t len = w->b.len - w->frame - 8;
    for (size_t i = 0; i < 8; i++)
        w->b.at[w->frame + i] = (char)(len >> (8 * i));
    w->frame = 0;
}

/* One opcode with its argument. */
static void put(struct writer *w, const void *bytes, size_t len)
{
    if (w->frame != 0 && w->b.len - w->frame - 8 >= w->frame_bytes)
        end_frame(w);
    if (w->frame == 0 && w->frame_bytes != 0) {
        buf_char(&w->b, (char)0x95);
        w->frame = w->b.len;
        buf_bytes(&w->b, "\0\0\0\0\0\0\0", 8);
    }
    buf_bytes(&w->b, bytes, len);
}

static void put_op(struct writer *w, unsigned op)
{
    uint8_t byte = (uint8_t)op;
    put(w, &byte, 1);
}

static void memoize(struct writer *w)
{
    uint8_t numbered[5] = { 0x72 };
    store_le32(numbered + 1, w->memo++);
    put(w, w->numbered ? numbered : (const uint8_t *)"\x94", w->numbered ? sizeof numbered : 1);
}

static void put_get(struct writer *w, uint32_t entry)
{
    uint8_t bytes[5] = { entry < 256 ? 'h' : 'j', (uint8_t)entry };
    if (entry >= 256)
        store_le32(bytes + 1, entry);
    put(w, bytes, entry < 256 ? 2 : 5);
}

static void put_fresh(struct writer *w, const char *text)
{
    uint8_t bytes[300] = { 0x8c, (uint8_t)strlen(text) };
    memcpy(bytes + 2, text, strlen(text));
    put(w, bytes, 2 + strlen(text));
    memoize(w);
}

/* From the memo where it was written before. */
static void put_text(struct writer *w, const char *text)
{
    for (uint32_t i = 0; i < w->keys; i++)
        if (strcmp(w->key[i].text, text) == 0) {
            put_get(w, w->key[i].entry);
            return;
        }
    assert_true(w->keys < KEYS_MAX);
    w->key[w->keys].text = text;
    w->key[w->keys++].entry = w->memo;
    put_fresh(w, text);
}

static void put_number(struct writer *w, uint64_t n)
{
    uint8_t bytes[10] = { 'K', (uint8_t)n };
    size_t len = 2;
    if (n >= 256 && n < 65536) {
        bytes[0] = 'M';
        bytes[2] = (uint8_t)(n >> 8);
        len = 3;
    } else if (n >= 65536) {
        bytes[0] = 0x8a;
        bytes[1] = 7;
        for (int i = 0; i < 7; i++)
            bytes[2 + i] = (uint8_t)(n >> (8 * i));
        len = 9;
    }
    put(w, bytes, len);
}

static void put_frame(struct writer *w, uint32_t i)
{
    if (w->frame_entry[i] != 0) {
        put_get(w, w->frame_entry[i]);
        return;
    }
    put_op(w, '}');
    w->frame_entry[i] = w->memo;
    memoize(w);
    put_op(w, '(');
    put_text(w, "filename");
    put_text(w, "train.py");
    put_text(w, "name");
    put_text(w, "step");
    put_text(w, "line");
    put_number(w, 10 + i);
    put_op(w, 'u');
}

/* A list of frames of its own, most often one of a few; now and then that of the event before. */
static void put_stack(struct writer *w)
{
    uint32_t kind = random_below(w, 10);
    put_text(w, "frames");
    if (kind == 0 && w->list_entry != 0) {
        put_get(w, w->list_entry);
        return;
    }
    put_op(w, ']');
    w->list_entry = w->memo;
    memoize(w);
    if (kind == 1 || w->no_stacks)
        return;
    uint32_t from = random_below(w, kind == 2 ? FRAMES_MAX - 10 : 6);
    put_op(w, '(');
    for (uint32_t i = 0; i < 3 + from % 7; i++)
        put_frame(w, from + i);
    put_op(w, 'e');
}

/* Labels that are new in most events. */
static void put_names(struct writer *w)
{
    static const char *const keys[] = { "internal_metadata", "user_metadata" };
    for (uint32_t i = 0; i < 2; i++) {
        char name[32];
        snprintf(name, sizeof name, "%u of %u", i, random_below(w, 1000));
        put_text(w, keys[i]);
        put_fresh(w, name);
    }
}

/* The last events of a file may be such that no reader takes them. */
static void put_event(struct writer *w, bool last)
{
    static const char *const actions[] = { "alloc", "free_requested", "free_completed" };
    static const char *const regions[] = { "N/A", "N/A", "region 1/0", "region \xc3\xa4", "" };
    uint32_t action = random_below(w, 3);
    bool is_odd = w->odd != 0 && random_below(w, w->odd) == 0;
    enum { KEY, BYTES, BATCH, NONE } odd = !is_odd ? NONE : last ? BATCH : random_below(w, BATCH);
    put_op(w, '}');
    memoize(w);
    put_op(w, '(');
    put_text(w, "action");
    put_text(w, actions[action]);
    put_text(w, "addr");
    put_number(w, 0x7f0000000000u + (uint64_t)random_below(w, 500) * 512);
    put_text(w, "size");
    put_number(w, random_below(w, 4) == 0 ? random_below(w, 70000) : 512);
    put_text(w, "stream");
    put_number(w, random_below(w, 20) == 0 ? 77 : 0);
    put_text(w, "time_us");
    put_number(w, 1700000000000000u + w->memo);
    if (w->backwards)
        put_names(w);
    put_text(w, "compile_context");
    put_fresh(w, odd == BYTES ? "no \xff UTF-8"
                              : regions[random_below(w, sizeof regions / sizeof *regions)]);
    put_stack(w);
    if (odd == BATCH) { /* a record does not go on after its SETITEMS */
        put_op(w, 'u');
        put_op(w, '(');
    }
    if (odd == BATCH || odd == KEY) { /* a key that no shape has */
        put_text(w, "colour");
        put_number(w, 3);
    }
    put_op(w, 'u');
}

struct plan {
    uint32_t events, batch;
    size_t frame_bytes; /* 0: no FRAMEs */
    uint32_t odd;
    bool numbered, wrong, no_stacks, backwards;
    bool known_frames; /* all frames stand before the events, less deep */
    uint32_t deeper;   /* where not 0: all events a second time, in so many more lists */
};

static void put_frames_first(struct writer *w)
{
    put_text(w, "frames of all");
    put_op(w, ']');
    memoize(w);
    put_op(w, '(');
    for (uint32_t i = 0; i < FRAMES_MAX; i++)
        put_frame(w, i);
    put_op(w, 'e');
}

/* A list of lists of events, each in `deeper` further ones. */
static void put_traces(struct writer *w, const struct plan *plan, uint32_t deeper)
{
    for (uint32_t i = 0; i < 2 + deeper; i++) {
        if (i != 0)
            put_op(w, '(');
        put_op(w, ']');
        memoize(w);
    }
    for (uint32_t i = 0; i < plan->events; i++) {
        if (i % plan->batch == 0)
            put_op(w, '(');
        put_event(w, plan->wrong && i > plan->events / 10 * 9);
        if ((i + 1) % plan->batch == 0 || i + 1 == plan->events)
            put_op(w, 'e');
    }
    for (uint32_t i = 0; i < 1 + deeper; i++)
        put_op(w, 'e');
}

/* The caller frees it. */
static struct buf pickle_of(const struct plan *plan)
{
    struct writer w = {
        .frame_bytes = plan->frame_bytes,
        .odd = plan->odd,
        .numbered = plan->numbered,
        .no_stacks = plan->no_stacks,
        .backwards = plan->backwards,
        .random = plan->events,
    };
    buf_init(&w.b, 1 << 28);
    buf_bytes(&w.b, "\x80\x04", 2);
    put_op(&w, '}');
    memoize(&w);
    put_op(&w, '(');
    put_text(&w, "segments");
    put_op(&w, ']');
    memoize(&w);
    if (plan->known_frames)
        put_frames_first(&w);
    put_text(&w, "device_traces");
    put_traces(&w, plan, 0);
    if (plan->deeper != 0) {
        put_text(&w, "more traces");
        put_traces(&w, plan, plan->deeper);
    }
    put_op(&w, 'u');
    put_op(&w, '.');
    end_frame(&w);
    assert_false(w.b.failed);
    return w.b;
}

/* A source in memory that counts what was skipped, because it was read ahead. */
struct counted {
    str bytes;
    uint64_t at, skipped;
};

static enum vrs_status counted_read_at(void *self, uint64_t offset, uint8_t *to, size_t len,
                                       size_t *ret, struct vrs_error *err)
{
    (void)err;
    const struct counted *c = self;
    uint64_t left = offset < c->bytes.len ? c->bytes.len - offset : 0;
    *ret = left < len ? (size_t)left : len;
    if (*ret != 0)
        memcpy(to, c->bytes.ptr + offset, *ret);
    return VRS_OK;
}

static enum vrs_status counted_read(void *self, uint8_t *to, size_t len, size_t *ret,
                                    struct vrs_error *err)
{
    struct counted *c = self;
    enum vrs_status status = counted_read_at(self, c->at, to, len, ret, err);
    c->at += *ret;
    return status;
}

static enum vrs_status counted_skip(void *self, uint64_t len, struct vrs_error *err)
{
    (void)err;
    struct counted *c = self;
    c->at += len;
    c->skipped += len;
    return VRS_OK;
}

static enum vrs_status read_counted(struct counted *c, const struct ahead_options *ahead,
                                    const struct limits *limits, struct entries *ret,
                                    struct vrs_error *err)
{
    struct source source = { counted_read, c, counted_read_at, counted_skip };
    const struct read_options options = {
        .limits = limits,
        .size_bytes = c->bytes.len,
        .ahead = *ahead,
    };
    c->at = c->skipped = 0;
    return read_recordings(source, &options, ret, err);
}

/* Reads it alone and with a scout, which must make no difference; bytes that were skipped. */
static uint64_t check_same(str bytes, const struct ahead_options *ahead,
                           const struct limits *limits)
{
    struct counted c = { .bytes = bytes };
    struct vrs_error err = { .message = "" }, ahead_err = { .message = "" };
    struct entries alone, entries;
    const struct ahead_options nobody = { .stretch_bytes = 0 };
    enum vrs_status status = read_counted(&c, &nobody, limits, &alone, &err);
    assert_int_equal(c.skipped, 0);
    assert_int_equal(read_counted(&c, ahead, limits, &entries, &ahead_err), status);
    assert_string_equal(ahead_err.message, err.message);
    if (status != VRS_OK) {
        assert_int_equal(ahead_err.offset, err.offset);
        return c.skipped;
    }
    const char *differs = not_identical(alone.list.at[0].recording, entries.list.at[0].recording);
    if (differs != NULL)
        fail_msg("%s differ", differs);
    entries_free(&alone);
    entries_free(&entries);
    return c.skipped;
}

static void whatever_is_read_ahead_is_the_same(void **state)
{
    (void)state;
    static const struct plan plans[] = {
        { .events = 20000, .batch = 1000, .frame_bytes = 65536 },
        { .events = 20000, .batch = 1000 },
        { .events = 4000, .batch = 3, .frame_bytes = 65536, .odd = 20 },
        { .events = 4000, .batch = 1000, .frame_bytes = 700, .odd = 20 },
        { .events = 2000, .batch = 1000, .frame_bytes = 50 },
        { .events = 9, .batch = 4, .frame_bytes = 64 },
        { .events = 2000, .batch = 1000, .frame_bytes = 65536, .no_stacks = true },
        { .events = 2000, .batch = 1000, .frame_bytes = 65536, .odd = 20, .wrong = true },
        { .events = 4000, .batch = 1000, .odd = 300, .numbered = true },
        { .events = 4000, .batch = 1000, .frame_bytes = 65536, .backwards = true },
    };
    static const uint32_t stretches[] = { 1, 700, 5000, 60000, 400000 };
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
        struct buf pickle = pickle_of(&plans[p]);
        for (size_t s = 0; s < 2 * sizeof stretches / sizeof *stretches; s++) {
            const struct ahead_options ahead = { stretches[s / 2], s % 2 == 1 };
            uint64_t skipped = check_same(buf_slice(&pickle), &ahead, NULL);
            /* What the window holds already is not skipped: only long stretches show. */
            if (p < 2 && ahead.stretch_bytes == 400000)
                assert_true(skipped > 100000);
        }
        buf_free(&pickle);
    }
}

/* Ends at every kind of place, whatever was read ahead of it. */
static void a_cut_file_ends_the_same(void **state)
{
    (void)state;
    const struct plan plan = { .events = 300, .batch = 50, .frame_bytes = 2000, .odd = 100 };
    struct buf pickle = pickle_of(&plan);
    for (size_t len = 0; len < pickle.len; len += 37) {
        const struct ahead_options ahead = { 2000, false };
        check_same((str){ pickle.at, len }, &ahead, NULL);
    }
    buf_free(&pickle);
}

/* Bytes that are altered after the shapes were learned: what does not fit them is left to the
 * reader, and what fits them still means what it says. */
static void altered_bytes_are_read_the_same(void **state)
{
    (void)state;
    const struct plan plan = { .events = 120, .batch = 50, .frame_bytes = 1500, .odd = 100 };
    struct buf pickle = pickle_of(&plan);
    uint8_t *bytes = (uint8_t *)pickle.at;
    static const uint8_t others[] = { 0, '}', 'e', 'h', 'j', '(', 0x94, 0x95, 'u', ']', 0xff };
    for (size_t at = 2000; at < pickle.len; at += 3) {
        uint8_t was = bytes[at];
        bytes[at] = others[at % sizeof others];
        const struct ahead_options ahead = { 1000 + (uint32_t)at % 3000, false };
        check_same(buf_slice(&pickle), &ahead, NULL);
        bytes[at] = was;
    }
    buf_free(&pickle);
}

static void limits_are_worded_the_same(void **state)
{
    (void)state;
    const struct plan plan = { .events = 2000, .batch = 1000, .frame_bytes = 65536, .odd = 300 };
    struct buf pickle = pickle_of(&plan);
    const struct ahead_options ahead = { 20000, false };
    for (uint32_t items = 100; items < 12000; items += 211) {
        struct limits limits = default_limits;
        limits.items = items;
        check_same(buf_slice(&pickle), &ahead, &limits);
    }
    for (uint32_t frames = 1; frames < 12; frames++) {
        struct limits limits = default_limits;
        limits.frames = frames;
        limits.string_bytes = frames;
        check_same(buf_slice(&pickle), &ahead, &limits);
        limits.string_bytes = default_limits.string_bytes;
        check_same(buf_slice(&pickle), &ahead, &limits);
    }
    buf_free(&pickle);
}

/* Events are no deeper by their shapes than one by one: with lists of frames at five, without at
 * four, in a second list one deeper. */
static void nesting_has_a_limit(void **state)
{
    (void)state;
    static const struct {
        struct plan plan;
        uint32_t least;
    } deep[] = {
        { { .events = 3000, .batch = 1000, .known_frames = true }, 5 },
        { { .events = 3000, .batch = 1000, .no_stacks = true }, 4 },
        { { .events = 3000, .batch = 1000, .known_frames = true, .deeper = 1 }, 6 },
        { { .events = 3000, .batch = 1000, .no_stacks = true, .deeper = 2 }, 6 },
    };
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        struct buf pickle = pickle_of(&deep[i].plan);
        struct counted c = { .bytes = buf_slice(&pickle) };
        for (uint32_t nesting = 3; nesting < 8; nesting++) {
            const struct ahead_options ahead = { 20000, false }, nobody = { .stretch_bytes = 0 };
            struct limits limits = default_limits;
            struct entries entries;
            struct vrs_error err;
            limits.nesting = nesting;
            check_same(c.bytes, &ahead, &limits);
            enum vrs_status status = read_counted(&c, &nobody, &limits, &entries, &err);
            assert_int_equal(status, nesting < deep[i].least ? VRS_LIMIT : VRS_OK);
            if (status == VRS_OK)
                entries_free(&entries);
            else
                assert_non_null(strstr(err.message, "--limit nesting"));
        }
        buf_free(&pickle);
    }
}

struct attempt {
    struct counted counted;
    struct entries alone, entries;
};

static enum vrs_status read_again(void *arg)
{
    struct attempt *a = arg;
    const struct ahead_options ahead = { 3000, false };
    struct vrs_error err;
    return read_counted(&a->counted, &ahead, NULL, &a->entries, &err);
}

static void compare(void *arg)
{
    struct attempt *a = arg;
    assert_null(not_identical(a->alone.list.at[0].recording, a->entries.list.at[0].recording));
    entries_free(&a->entries);
}

/* Without memory for a scout the reader reads on alone. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    const struct plan plan = { .events = 150, .batch = 40, .frame_bytes = 1000 };
    struct buf pickle = pickle_of(&plan);
    struct attempt a = { .counted.bytes = buf_slice(&pickle) };
    const struct ahead_options nobody = { .stretch_bytes = 0 };
    assert_int_equal(read_counted(&a.counted, &nobody, NULL, &a.alone, NULL), VRS_OK);
    fault_each(read_again, compare, &a);
    entries_free(&a.alone);
    buf_free(&pickle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_is_read_ahead_is_the_same),
        cmocka_unit_test(a_cut_file_ends_the_same),
        cmocka_unit_test(altered_bytes_are_read_the_same),
        cmocka_unit_test(limits_are_worded_the_same),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
