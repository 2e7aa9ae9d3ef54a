/* test_machine_random.c - random programs through the machine and the naive model, step by step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/machine_sound.h"
#include "models/naive_allocator.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { HELD_MAX = 70, STEPS = 2500 };

/* What is asked of both, and how full the device is. */
struct scenario {
    const char *settings;
    uint64_t capacity_mib, limit_mib; /* 0: no end */
    uint32_t streams, pools;
    bool ascend;
    uint64_t largest_mib;
};

static const struct scenario scenarios[] = {
    { "", 0, 0, 1, 1, false, 30 },
    { "", 0, 0, 3, 2, true, 30 },
    { "", 300, 0, 2, 1, false, 40 },
    { "roundup_power2_divisions:4", 400, 0, 1, 2, true, 60 },
    { "max_split_size_mb:24", 500, 0, 2, 1, false, 90 },
    { "max_split_size_mb:20,max_non_split_rounding_mb:24", 300, 0, 1, 2, true, 60 },
    { "garbage_collection_threshold:0.5", 0, 300, 3, 1, false, 40 },
    { "garbage_collection_threshold:0.8,max_split_size_mb:30", 420, 400, 2, 2, false, 60 },
    { "expandable_segments:True", 0, 0, 2, 2, false, 30 },
    { "expandable_segments:True", 300, 0, 2, 1, false, 60 },
    { "expandable_segments:True", 200, 0, 1, 2, true, 90 },
    { "expandable_segments:True,max_split_size_mb:24", 300, 0, 2, 1, false, 60 },
    { "expandable_segments:True,garbage_collection_threshold:0.6", 400, 380, 2, 1, false, 60 },
    { "large_segment_size_mb:32,roundup_power2_divisions:[1:2,8:16]", 300, 0, 2, 1, false, 30 },
    { "expandable_segments:True,large_segment_size_mb:16", 300, 0, 2, 2, false, 30 },
};

struct held {
    uint32_t block;
    uint64_t address;
    bool waiting;
};

struct both {
    struct machine m;
    struct naive n;
    struct held held[HELD_MAX];
    uint32_t len;
    uint32_t heard;
    uint64_t random;
};

static uint64_t draw(struct both *b, uint64_t below)
{
    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    return (b->random >> 33) % below;
}

/* The naive model ran first: what the machine asks for now must be the next of its calls. */
static void hear(void *arg, const struct machine_call *c)
{
    static const char letters[] = "AFMU";
    struct both *b = arg;
    assert_true(b->heard < b->n.calls);
    const struct naive_call *call = &b->n.call[b->heard++];
    assert_int_equal(call->what, letters[c->call]);
    assert_int_equal(call->address, c->address);
    assert_int_equal(call->bytes, c->bytes);
}

static void begin(struct both *b, const struct scenario *s, uint64_t seed)
{
    struct allocator_config c = config_default();
    assert_int_equal(config_set(&c, str_from(s->settings), NULL), VRS_OK);
    assert_true(machine_init(&b->m, &c));
    b->m.capacity = s->capacity_mib == 0 ? UINT64_MAX : s->capacity_mib * MIB;
    b->m.limit = s->limit_mib == 0 ? UINT64_MAX : s->limit_mib * MIB;
    b->m.ascend = s->ascend;
    b->m.listen = hear;
    b->m.listen_arg = b;
    b->n = (struct naive){
        .config = c,
        .capacity = b->m.capacity,
        .limit = b->m.limit,
        .ascend = s->ascend,
        .next_low = b->m.next_low,
        .next_high = b->m.next_high,
        .next_reservation = b->m.next_reservation,
        .reservation_step = (uint64_t)1 << 44,
    };
    b->len = 0;
    b->random = seed;
}

static void compare(struct both *b)
{
    const uint32_t used = 1u << NAIVE_IN_USE, waiting = 1u << NAIVE_WAITING;
    const char *fault = machine_fault(&b->m);
    assert_string_equal(fault == NULL ? "" : fault, "");
    assert_int_equal(b->heard, b->n.calls);
    assert_int_equal(b->m.reserved, naive_bytes(&b->n, used | waiting | 1u << NAIVE_FREE));
    assert_int_equal(b->m.active, naive_bytes(&b->n, used | waiting));
    assert_int_equal(b->m.allocated, naive_bytes(&b->n, used));
    assert_int_equal(b->m.new_memory, b->n.new_memory);
    assert_int_equal(b->m.retries, b->n.retries);
    if (b->m.capacity != UINT64_MAX)
        assert_in_range(b->m.reserved, 0, b->m.capacity);
    uint32_t blocks = 0;
    for (uint32_t s = 0; s < b->m.segments.len; s++)
        for (uint32_t i = b->m.segments.at[s].first; i != 0; i = b->m.blocks.at[i].next)
            blocks++;
    assert_int_equal(blocks, b->n.blocks);
}

static uint64_t draw_size(struct both *b, const struct scenario *s)
{
    switch (draw(b, 6)) {
    case 0:
        return 1 + draw(b, 2048);
    case 1:
        return 1 + draw(b, MIB);
    case 2:
        return MIB + draw(b, 10 * MIB);
    case 3:
        return (1 + draw(b, s->largest_mib)) * MIB;
    case 4:
        return (1 + draw(b, 8)) * 2560 * 1024; /* equal sizes, for ties */
    default:
        return 1 + draw(b, s->largest_mib * MIB);
    }
}

static void request(struct both *b, const struct scenario *s)
{
    uint32_t pool = (uint32_t)draw(b, s->pools);
    uint64_t stream = draw(b, s->streams) * ((uint64_t)1 << 63) / 2 * 3;
    uint64_t bytes = draw_size(b, s);
    uint64_t address = naive_request(&b->n, pool, stream, bytes);
    uint32_t block = machine_request(&b->m, machine_lane(&b->m, pool, stream), bytes);
    assert_int_equal(block != 0, address != 0);
    if (block == 0)
        return;
    assert_int_equal(b->m.blocks.at[block].address, address);
    assert_int_equal(b->m.blocks.at[block].size, naive_at(&b->n, address)->size);
    b->held[b->len++] = (struct held){ block, address, false };
}

static void complete(struct both *b, uint32_t i)
{
    naive_complete(&b->n, b->held[i].address);
    machine_complete(&b->m, b->held[i].block);
    b->held[i] = b->held[--b->len];
}

/* A release, by a call or a retry, has completed what waited. */
static void forget_completed(struct both *b)
{
    if (b->m.waiting.len > 0)
        return;
    for (uint32_t i = b->len; i-- > 0;)
        if (b->held[i].waiting)
            b->held[i] = b->held[--b->len];
}

static void step(struct both *b, const struct scenario *s)
{
    uint64_t what = draw(b, 100);
    b->n.calls = b->heard = 0;
    if (what < 2) {
        naive_release_all(&b->n);
        machine_release_all(&b->m);
    } else if (b->len == HELD_MAX || (what < 45 && b->len > 0)) {
        uint32_t i = (uint32_t)draw(b, b->len);
        if (what % 4 == 0 && !b->held[i].waiting) {
            naive_wait(&b->n, b->held[i].address);
            machine_wait(&b->m, b->held[i].block);
            b->held[i].waiting = true;
        } else {
            complete(b, i);
        }
    } else {
        request(b, s);
    }
    compare(b);
    forget_completed(b);
}

/* With everything freed, a segment is one block. */
static void finish(struct both *b)
{
    b->n.calls = b->heard = 0;
    while (b->len > 0)
        complete(b, b->len - 1);
    compare(b);
    assert_int_equal(b->m.active, 0);
    assert_int_equal(b->m.requested, 0);
    for (uint32_t s = 0; s < b->m.segments.len; s++) {
        const struct machine_segment *segment = &b->m.segments.at[s];
        if (segment->first != 0 && !segment->expandable)
            assert_int_equal(b->m.blocks.at[segment->first].next, 0);
    }
    b->n.calls = b->heard = 0;
    naive_release_all(&b->n);
    machine_release_all(&b->m);
    compare(b);
    machine_free(&b->m);
}

static void the_machine_is_the_naive_model(void **state)
{
    static struct both b;
    (void)state;
    for (uint32_t i = 0; i < 2 * COUNT(scenarios); i++) {
        const struct scenario *s = &scenarios[i / 2];
        begin(&b, s, 1000 + i);
        for (uint32_t k = 0; k < STEPS; k++) {
            b.m.event = k;
            step(&b, s);
        }
        finish(&b);
    }
}

/* The setting of expandable segments may change under way, as a what-if over a start state does. */
static void also_when_the_setting_changes(void **state)
{
    static struct both b;
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const struct scenario *s = &scenarios[i % 2 == 0 ? 2 : 4];
        begin(&b, s, 77 + i);
        for (uint32_t k = 0; k < STEPS; k++) {
            b.m.event = k;
            if (k % 97 == 0)
                b.m.config.expandable = b.n.config.expandable = !b.m.config.expandable;
            step(&b, s);
        }
        finish(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machine_is_the_naive_model),
        cmocka_unit_test(also_when_the_setting_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
