/* machine.c - what an event costs the model of the allocator alone, with nothing read.
 *
 * A stream of requests and frees is made beforehand: parameters that stay, then training steps of
 * a forward half that leaves an activation a layer and a backward half that frees them, last made
 * first, with temporaries in both.  Each layer asks for the same sizes in every step, a quarter of
 * the steps has sequences of another length.  Only the loop over the stream is timed.
 *
 * With --print the stream goes to standard output instead, for another model to be timed on it. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "allocator/machine/block_set.h"
#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"

#define STREAMS_MAX 32u
#define LENGTHS 8u
#define BACKLOG_MAX 12u
#define LARGEST_REQUEST ((uint32_t)64 << 20)

enum what { TAKE, WAIT, COMPLETE };

struct op {
    uint32_t slot;
    uint32_t bytes : 28; /* of TAKE */
    uint32_t what : 4;
};

struct options {
    uint64_t events, seed;
    uint32_t live, streams;
    bool expandable, print;
};

/* The stream as it is made. */
struct maker {
    const struct options *options;
    struct op *op;
    uint64_t len;
    uint32_t *unused; /* slots */
    uint32_t unused_len, slots;
    uint32_t waiting[BACKLOG_MAX]; /* freed for another stream, not completed */
    uint32_t waiting_len;
    uint64_t random;
};

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint32_t below(struct maker *m, uint32_t limit)
{
    return (uint32_t)(random_next(&m->random) >> 32) % limit;
}

static void *room_for(uint64_t count, size_t size)
{
    void *at = count < SIZE_MAX / size ? malloc((size_t)count * size) : NULL;
    if (!at) {
        fputs("machine: out of memory\n", stderr);
        exit(3);
    }
    return at;
}

/* Every eighth slot belongs to one of the other streams. */
static uint32_t lane_of(uint32_t slot, uint32_t streams)
{
    return streams == 1 || slot % 8 != 0 ? 0 : 1 + slot / 8 % (streams - 1);
}

/* Making the stream. */

/* The size that a place of the program asks for: small vectors, matrices of a few widths, now and
 * then something long.  `part` tells a layer's requests apart. */
static uint32_t size_at(uint32_t layer, uint32_t part, uint32_t length)
{
    uint64_t hash = ((uint64_t)layer % 24 << 8 | part) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t kind = (uint32_t)(hash >> 60), width = 1u << (hash >> 52 & 3);
    uint64_t bytes = kind < 6    ? 256 + (hash >> 40 & 1023) * 4
                     : kind < 10 ? UINT64_C(24576) * width
                     : kind < 14 ? UINT64_C(3) << 18
                                 : (UINT64_C(5) << 20) + (hash >> 40 & 7) * 786432;
    bytes = kind < 10 ? bytes : bytes * width * (LENGTHS + length) / LENGTHS;
    return bytes < LARGEST_REQUEST ? (uint32_t)bytes : LARGEST_REQUEST;
}

static void push(struct maker *m, uint32_t slot, enum what what, uint32_t bytes)
{
    if (m->len < m->options->events)
        m->op[m->len++] = (struct op){ slot, bytes & 0xfffffff, what };
}

static uint32_t take(struct maker *m, uint32_t bytes)
{
    uint32_t slot = m->unused_len > 0 ? m->unused[--m->unused_len] : m->slots++;
    push(m, slot, TAKE, bytes);
    return slot;
}

static void complete(struct maker *m, uint32_t slot)
{
    push(m, slot, COMPLETE, 0);
    m->unused[m->unused_len++] = slot;
}

/* With several streams one free in 32 waits for another stream, and some later one ends the wait.
 */
static void drop(struct maker *m, uint32_t slot)
{
    if (m->waiting_len == BACKLOG_MAX || (m->waiting_len > 0 && below(m, 32) == 0)) {
        complete(m, m->waiting[0]);
        m->waiting_len--;
        memmove(m->waiting, m->waiting + 1, m->waiting_len * sizeof *m->waiting);
    }
    if (m->options->streams == 1 || below(m, 32) != 0) {
        complete(m, slot);
        return;
    }
    push(m, slot, WAIT, 0);
    m->waiting[m->waiting_len++] = slot;
}

/* A few blocks of which the last made are dropped first, mostly. */
static void temporaries(struct maker *m, uint32_t layer, uint32_t length)
{
    uint32_t held[6], count = 1 + below(m, 6);
    for (uint32_t i = 0; i < count; i++)
        held[i] = take(m, size_at(layer, 1 + i, length));
    while (count > 0) {
        uint32_t at = below(m, 4) == 0 ? below(m, count) : count - 1;
        drop(m, held[at]);
        memmove(held + at, held + at + 1, (--count - at) * sizeof *held);
    }
}

/* One step: up to `layers` activations live at once beside what stays. */
static void step(struct maker *m, uint32_t *activation, uint32_t layers)
{
    uint32_t length = below(m, 4) == 0 ? below(m, LENGTHS) : 4, gradient = 0;
    for (uint32_t i = 0; i < layers; i++) {
        temporaries(m, i, length);
        activation[i] = take(m, size_at(i, 0, length));
    }
    for (uint32_t i = layers; i-- > 0;) {
        uint32_t next = take(m, size_at(i, 16, length));
        temporaries(m, i, length);
        /* Now and then an activation outlives the one before it. */
        if (i > 0 && below(m, 8) == 0) {
            uint32_t later = activation[i];
            activation[i] = activation[i - 1];
            activation[i - 1] = later;
        }
        drop(m, activation[i]);
        if (i + 1 < layers)
            drop(m, gradient);
        gradient = next;
    }
    drop(m, gradient);
}

static void make(struct maker *m)
{
    const struct options *o = m->options;
    uint32_t stay = o->live * 2 / 5, layers = o->live - stay;
    uint32_t *activation = room_for(layers, sizeof *activation);
    m->op = room_for(o->events, sizeof *m->op);
    m->unused = room_for((uint64_t)o->live + 64, sizeof *m->unused);
    m->random = o->seed;
    for (uint32_t i = 0; i < stay; i++)
        take(m, size_at(i, 32 + i % 3, 0));
    while (m->len < o->events)
        step(m, activation, layers);
    free(activation);
}

/* Running it. */

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t peak_rss(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

/* False where a request was not served. */
static bool run(struct machine *m, const struct maker *made, uint32_t *block_of)
{
    uint32_t streams = made->options->streams;
    for (uint64_t i = 0; i < made->len; i++) {
        const struct op *op = &made->op[i];
        m->event = (int64_t)i;
        if (op->what == TAKE) {
            block_of[op->slot] = machine_request(m, lane_of(op->slot, streams), op->bytes);
            if (block_of[op->slot] == 0)
                return false;
        } else if (op->what == WAIT) {
            machine_wait(m, block_of[op->slot]);
        } else {
            machine_complete(m, block_of[op->slot]);
        }
    }
    return true;
}

static void print_run(const struct machine *m, const struct maker *made, double wall, double cpu)
{
    uint64_t bytes = (uint64_t)m->blocks.cap * sizeof *m->blocks.at +
                     (uint64_t)m->segments.cap * sizeof *m->segments.at +
                     (uint64_t)m->waiting.cap * sizeof *m->waiting.at;
    for (uint32_t i = 0; i < m->sides.len; i++)
        bytes += set_bytes(&m->sides.at[i].free) + set_bytes(&m->sides.at[i].unmapped);
    printf("{ \"events\": %" PRIu64 ", \"seconds\": %.6f, \"cpu_seconds\": %.6f,\n", made->len,
           wall, cpu);
    printf("  \"slots\": %" PRIu32 ", \"blocks\": %" PRIu32 ", \"machine_bytes\": %" PRIu64
           ", \"peak_rss\": %" PRIu64 ",\n",
           made->slots, m->blocks.len - 1, bytes, peak_rss());
    printf("  \"retries\": %" PRIu64 ", \"new_memory\": %" PRIu64 ", \"reserved_peak\": %" PRIu64
           ", \"active_peak\": %" PRIu64 ",\n",
           m->retries, m->new_memory, m->peak_reserved.bytes, m->peak_active.bytes);
    printf("  \"reserved\": %" PRIu64 ", \"active\": %" PRIu64 " }\n", m->reserved, m->active);
}

static int time_machine(const struct maker *made)
{
    struct allocator_config config = config_default();
    struct machine m;
    uint32_t *block_of = room_for(made->slots, sizeof *block_of);
    config.expandable = made->options->expandable;
    bool good = machine_init(&m, &config);
    for (uint32_t i = 0; good && i < made->options->streams; i++)
        good = machine_lane(&m, 0, i) == i;
    double wall = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    good = good && run(&m, made, block_of);
    wall = seconds_of(CLOCK_MONOTONIC) - wall;
    cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    if (good)
        print_run(&m, made, wall, cpu);
    else
        fputs("machine: a request was not served\n", stderr);
    machine_free(&m);
    free(block_of);
    return good ? 0 : 3;
}

static void print_stream(const struct maker *made)
{
    static const char *const name[] = { [TAKE] = "take", [WAIT] = "wait", [COMPLETE] = "complete" };
    for (uint64_t i = 0; i < made->len; i++) {
        const struct op *op = &made->op[i];
        printf("%s %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", name[op->what], op->slot,
               lane_of(op->slot, made->options->streams), (uint32_t)op->bytes);
    }
}

static const char usage_text[] =
    "usage: machine [options]\n"
    "  --events N     requests and frees (default 10000000)\n"
    "  --live N       blocks in use at once (default 2000)\n"
    "  --streams N    of which all but one are used now and then (default 1)\n"
    "  --expandable   in expandable segments\n"
    "  --print        the stream itself, not what it costs\n"
    "  --seed N       another run of the same kind (default 1)\n";

static bool parse_number(const char *chars, uint64_t min, uint64_t max, uint64_t *ret)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(chars, &end, 10);
    if (errno || end == chars || *end || *chars == '-' || value < min || value > max)
        return false;
    *ret = value;
    return true;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i], *chars = i + 1 < argc ? argv[i + 1] : "";
        uint64_t value = 0;
        if (strcmp(arg, "--expandable") == 0) {
            o->expandable = true;
        } else if (strcmp(arg, "--print") == 0) {
            o->print = true;
        } else {
            bool good = false;
            if (strcmp(arg, "--events") == 0) {
                good = parse_number(chars, 1, UINT64_C(1) << 32, &o->events);
            } else if (strcmp(arg, "--seed") == 0) {
                good = parse_number(chars, 0, UINT64_MAX, &o->seed);
            } else if (strcmp(arg, "--live") == 0) {
                good = parse_number(chars, 10, 10000000, &value);
                o->live = (uint32_t)value;
            } else if (strcmp(arg, "--streams") == 0) {
                good = parse_number(chars, 1, STREAMS_MAX, &value);
                o->streams = (uint32_t)value;
            }
            if (!good)
                return false;
            i++;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct options options = { .events = 10000000, .seed = 1, .live = 2000, .streams = 1 };
    struct maker maker = { .options = &options };
    if (!parse_options(argc, argv, &options)) {
        fputs(usage_text, stderr);
        return 2;
    }
    make(&maker);
    int code = 0;
    if (options.print)
        print_stream(&maker);
    else
        code = time_machine(&maker);
    free(maker.op);
    free(maker.unused);
    return fflush(stdout) == 0 ? code : 3;
}
