/* run_cache.c - the look-up of runs of memo reads by a hash of their bytes. */
#include "format/snapshot/run_cache.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/hash.h"
#include "format/pickle/pickle_ops.h"
#include "format/snapshot/build.h"
#include "model/ids.h"
#include "model/recording.h"

enum {
    RUN_FRAMES_MAX = 4096,     /* a longer one is read the ordinary way */
    CACHE_BYTES_MAX = 8 << 20, /* of all runs */
    CACHE_TRIAL = 4096,        /* look-ups before the cache may be given up … */
    CACHE_USEFUL = 8,          /* … because fewer than one in this many were found */
    RUN_ENDS_MAX = 4,          /* bytes that look like a run's end and are looked up */
    PROBES_MAX = 8             /* slots of the table seen in one look-up */
};

void run_cache_init(struct run_cache *c)
{
    *c = (struct run_cache){ .runs.max = 1 << 20, .bytes.max = CACHE_BYTES_MAX };
}

void run_cache_free(struct run_cache *c)
{
    vec_free(&c->runs);
    vec_free(&c->bytes);
    idtab_free(&c->index);
}

/* Runs are told apart by a sample of their bytes: hashing all of them takes longer than everything
 * else that is done with one.  A look-up sees PROBES_MAX slots at most. */
static uint64_t run_hash(const uint8_t *at, size_t len)
{
    if (len < 64)
        return hash_bytes(at, len);
    uint64_t hash = len, step = len / 8;
    for (size_t place = step; place + 8 <= len; place += step)
        hash = (hash ^ load_le64(at + place)) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static bool run_is(const struct run_cache *c, const struct run *run, const uint8_t *at, size_t len)
{
    return run->len == len && memcmp(c->bytes.at + run->offset, at, len) == 0;
}

/* The run that followed the last one before, if it stands here again: its number plus 1. */
static uint32_t guess_run(const struct run_cache *c, uint32_t last, const uint8_t *at,
                          const uint8_t *end)
{
    uint32_t guess = last == 0 ? 0 : c->runs.at[last - 1].next;
    if (guess == 0)
        return 0;
    const struct run *run = &c->runs.at[guess - 1];
    bool here = (size_t)(end - at) > run->len && at[run->len] == OP_APPENDS;
    return here && run_is(c, run, at, run->len) ? guess : 0;
}

/* The cached run of these bytes (plus 1), or 0.  Walks the table itself: what a file can make of a
 * hash of samples must not make a look-up long. */
static uint32_t find_run(const struct run_cache *c, const uint8_t *at, size_t len)
{
    if (c->index.slot == NULL)
        return 0;
    uint32_t hash = (uint32_t)(run_hash(at, len) >> 32);
    for (uint32_t probe = 0; probe < PROBES_MAX; probe++) {
        const struct idtab_slot *slot = &c->index.slot[(hash + probe) & c->index.mask];
        if (slot->id == 0)
            return 0;
        if (slot->hash == hash && run_is(c, &c->runs.at[slot->id - 1], at, len))
            return slot->id;
    }
    return 0;
}

/* The cached run that stands at `at`, without stepping through it: every byte that looks like
 * APPENDS may be its end.  Where the bytes before it are a whole run of the cache, it is. */
static uint32_t match_run(const struct run_cache *c, const uint8_t *at, const uint8_t *end)
{
    size_t left = (size_t)(end - at) < RUN_BYTES_MAX ? (size_t)(end - at) : RUN_BYTES_MAX;
    const uint8_t *stop = at;
    for (int i = 0; i < RUN_ENDS_MAX; i++) {
        stop = memchr(stop, OP_APPENDS, left - (size_t)(stop - at));
        if (stop == NULL)
            return 0;
        uint32_t run = find_run(c, at, (size_t)(stop - at));
        if (run != 0)
            return run;
        stop++;
    }
    return 0;
}

/* Asks for the first bytes of the run that will be guessed next time: the cache of runs is larger
 * than the nearest cache of the processor, and an event or two lie between now and then. */
static void fetch_ahead(const struct run_cache *c, uint32_t run)
{
    uint32_t guess = c->runs.at[run - 1].next;
    if (guess == 0)
        return;
    const uint8_t *bytes = c->bytes.at + c->runs.at[guess - 1].offset;
    __builtin_prefetch(bytes);
    __builtin_prefetch(bytes + 64);
    __builtin_prefetch(bytes + 128);
}

/* Follows on: what came after the last run is now known to be `run` (plus 1). */
static void follow(struct run_cache *c, uint32_t *last, uint32_t run)
{
    if (*last != 0)
        c->runs.at[*last - 1].next = run;
    *last = run;
    fetch_ahead(c, run);
}

void run_cache_add(struct run_cache *c, enum event_action action, const uint8_t *at, uint32_t len,
                   uint32_t stack)
{
    if (!vec_reserve(&c->runs, 1) || !vec_reserve(&c->bytes, len) || !idtab_reserve(&c->index))
        return;
    memcpy(c->bytes.at + c->bytes.len, at, len);
    c->runs.at[c->runs.len++] = (struct run){ c->bytes.len, len, stack, 0 };
    c->bytes.len += len;
    idtab_put(&c->index, run_hash(at, len), c->runs.len);
    follow(c, &c->last[action], c->runs.len);
}

/* Steps through the memo reads at `at`, collecting the frames they name; where they end, or NULL
 * where one names no frame. */
static const uint8_t *decode_run(struct builder *b, const uint8_t *at, const uint8_t *end)
{
    /* As many as a run of the shortest reads has room for. */
    size_t most = (size_t)(end - at) / 2;
    if (most > RUN_FRAMES_MAX)
        most = RUN_FRAMES_MAX;
    if (most > b->frames.max)
        most = b->frames.max;
    b->frames.len = 0;
    if (most == 0 || !vec_reserve(&b->frames, (uint32_t)most))
        return NULL;
    const uint32_t *memo = b->memo.at;
    uint32_t memo_len = b->memo.len, *frame = b->frames.at, *frames_end = frame + most;
    while (end - at > 5 && (*at == OP_BINGET || *at == OP_LONG_BINGET)) {
        bool is_long = *at == OP_LONG_BINGET;
        uint32_t slot = is_long ? load_le32(at + 1) : at[1];
        uint32_t handle = slot < memo_len ? memo[slot] : 0;
        if (handle_tag(handle) != TAG_FRAME || frame == frames_end)
            return NULL;
        *frame++ = handle_row(handle);
        at += is_long ? 5 : 2;
    }
    b->frames.len = (uint32_t)(frame - b->frames.at);
    return at;
}

static bool useful(const struct run_cache *c)
{
    return c->looked_up < CACHE_TRIAL || c->found >= c->looked_up / CACHE_USEFUL;
}

bool run_decode(struct builder *b, const uint8_t *at, const uint8_t *end, uint32_t *ret_stack,
                const uint8_t **ret_stop)
{
    const uint8_t *stop = decode_run(b, at, end);
    stack_id stack;
    if (stop == NULL || stop == at || *stop != OP_APPENDS ||
        build_stack_of(b, b->frames.at, b->frames.len, &stack, NULL) != VRS_OK)
        return false;
    *ret_stack = stack.n;
    *ret_stop = stop;
    return true;
}

uint32_t run_cache_find(struct run_cache *c, enum event_action action, const uint8_t *at,
                        const uint8_t *end, bool *ret_useful)
{
    uint32_t *last = &c->last[action];
    uint32_t run = guess_run(c, *last, at, end);
    *ret_useful = run == 0 && useful(c);
    if (*ret_useful) {
        run = match_run(c, at, end);
        c->looked_up++;
        c->found += run != 0;
    }
    if (run != 0)
        follow(c, last, run);
    return run;
}

bool run_cache_take(struct run_cache *c, struct builder *b, enum event_action action,
                    const uint8_t *at, const uint8_t *end, uint32_t *ret_stack,
                    const uint8_t **ret_at)
{
    bool add;
    uint32_t run = run_cache_find(c, action, at, end, &add);
    if (run != 0) {
        *ret_stack = c->runs.at[run - 1].stack;
        *ret_at = at + c->runs.at[run - 1].len + 1;
        return true;
    }
    const uint8_t *stop;
    if (!run_decode(b, at, end, ret_stack, &stop))
        return false;
    if (add && stop - at <= RUN_BYTES_MAX)
        run_cache_add(c, action, at, (uint32_t)(stop - at), *ret_stack);
    *ret_at = stop + 1;
    return true;
}
