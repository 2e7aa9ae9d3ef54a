/* fuzz_allocator.c - bytes as settings and a stream of operations on a machine.
 *
 * The first 8 bytes are settings; then each operation is one byte, its low three bits what it is,
 * its high ones an operand, with more bytes behind it where it needs them. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "allocator/machine/rounding.h"
#include "made/machine_sound.h"

enum { LANES = 6, HELD_MAX = 256 };

/* Less than what lies between two reservations. */
#define ENDLESS_CAPACITY ((uint64_t)1 << 42)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *at, *end;
};

struct state {
    struct machine m;
    struct input in;
    uint32_t held[HELD_MAX]; /* blocks in use or waiting */
    uint32_t len;
    uint32_t lane;
};

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static uint64_t take(struct input *in, uint32_t bytes)
{
    uint64_t value = 0;
    for (; bytes > 0; bytes--)
        value = value << 8 | (in->at < in->end ? *in->at++ : 0);
    return value;
}

static struct allocator_config take_settings(struct input *in)
{
    struct allocator_config c = config_default();
    uint64_t flags = take(in, 1), divisions = take(in, 1) % 11, split = take(in, 1);
    uint64_t rounding = take(in, 1), segment = take(in, 1), threshold = take(in, 1);
    c.expandable = flags & 1;
    if (flags & 2)
        c.large_segment_bytes = (11 + segment % 64) * MIB;
    if (flags & 4)
        c.max_split_bytes = c.large_segment_bytes + split * MIB;
    if (flags & 8)
        c.non_split_rounding_bytes = (20 + rounding) * MIB;
    if (flags & 16)
        c.gc_threshold = (double)threshold / 256;
    for (uint32_t i = 0; (flags & 32) && i < ROUNDING_DIVISIONS; i++) {
        c.rounding.divisions[i] = (uint64_t)1 << divisions;
        c.rounding.divides = divisions > 0;
    }
    return c;
}

/* Retries complete what waits, so a held block may be free when its turn comes. */
static void forget_completed(struct state *s)
{
    for (uint32_t i = s->len; i-- > 0;)
        if (s->held[i] == 0)
            s->held[i] = s->held[--s->len];
}

static void completed(void *arg, uint32_t block)
{
    struct state *s = arg;
    for (uint32_t i = 0; i < s->len; i++)
        if (s->held[i] == block)
            s->held[i] = 0;
}

static void request(struct state *s, uint64_t bytes)
{
    uint64_t retries = s->m.retries;
    uint32_t block = machine_request(&s->m, s->lane, bytes);
    forget_completed(s);
    if (block == 0) {
        require(s->m.retries == retries + 1, "gave up without a retry");
        require(s->m.waiting.len == 0, "gave up while something waited");
        return;
    }
    const struct machine_block *b = &s->m.blocks.at[block];
    require(b->use == BLOCK_IN_USE && b->requested == bytes, "handed out as something else");
    require(b->size >= machine_round(&s->m, bytes), "handed out too little");
    require(s->m.reserved <= s->m.capacity || s->m.retries == retries, "passed its capacity");
    if (s->len == HELD_MAX)
        machine_complete(&s->m, block);
    else
        s->held[s->len++] = block;
}

static uint64_t take_size(struct state *s, uint32_t operand)
{
    uint64_t value = take(&s->in, 2);
    switch (operand % 4) {
    case 0:
        return value;
    case 1:
        return value * 512;
    case 2:
        return value * 32 * 1024;
    default:
        return value << operand;
    }
}

static void operate(struct state *s, uint8_t byte)
{
    uint32_t operand = byte >> 3, place = s->len == 0 ? 0 : (uint32_t)take(&s->in, 1) % s->len;
    switch (byte & 7) {
    case 0:
    case 1:
        request(s, take_size(s, operand));
        break;
    case 2:
        if (s->len == 0)
            break;
        machine_complete(&s->m, s->held[place]);
        s->held[place] = s->held[--s->len];
        break;
    case 3:
        if (s->len > 0)
            machine_wait(&s->m, s->held[place]);
        break;
    case 4:
        machine_release_all(&s->m);
        forget_completed(s);
        break;
    case 5:
        s->lane = machine_lane(&s->m, operand % LANES / 4, operand % LANES % 4);
        break;
    case 6:
        s->m.capacity = operand == 0 ? ENDLESS_CAPACITY : s->m.reserved + operand * 5 * MIB;
        s->m.limit = operand % 3 == 1 ? operand * 32 * MIB : UINT64_MAX;
        break;
    default:
        request(s, operand * 64 + 1);
        break;
    }
    require(!s->m.no_memory, "out of memory");
}

static void require_sound(const struct state *s)
{
    const char *fault = machine_fault(&s->m);
    if (fault != NULL)
        require(false, fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct state s;
    s = (struct state){ .in = { data, data + size } };
    struct allocator_config c = take_settings(&s.in);
    require(machine_init(&s.m, &c), "out of memory");
    s.m.capacity = ENDLESS_CAPACITY;
    s.m.ascend = take(&s.in, 1) & 1;
    s.m.completed = completed;
    s.m.completed_arg = &s;
    s.lane = machine_lane(&s.m, 0, 0);
    for (uint32_t i = 1; s.in.at < s.in.end; i++) {
        operate(&s, (uint8_t)take(&s.in, 1));
        if (i % 64 == 0)
            require_sound(&s);
    }
    require_sound(&s);
    while (s.len > 0)
        machine_complete(&s.m, s.held[--s.len]);
    require_sound(&s);
    require(s.m.active == 0 && s.m.allocated == 0 && s.m.requested == 0, "something is left");
    machine_free(&s.m);
    return 0;
}
