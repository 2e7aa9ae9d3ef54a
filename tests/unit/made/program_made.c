/* program_made.c - operations, their recording, their repetition. */
#include "made/program_made.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "allocator/machine/config.h"
#include "allocator/machine/rounding.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "made/sample.h"
#include "model/ids.h"
#include "models/naive_allocator.h"

struct allocator_config config_from(const char *settings)
{
    struct allocator_config c = config_default();
    assert_int_equal(config_set(&c, str_from(settings), NULL), VRS_OK);
    return c;
}

/* Drawing. */

static uint64_t draw(uint64_t *random, uint64_t below)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (*random >> 33) % below;
}

static uint64_t draw_size(uint64_t *random, uint64_t largest_mib)
{
    switch (draw(random, 4)) {
    case 0:
        return 1 + draw(random, 200000);
    case 1:
        return (1 + draw(random, 8)) * 2560 * 1024;
    case 2:
        return MIB + draw(random, 10 * MIB);
    default:
        return 1 + draw(random, largest_mib * MIB);
    }
}

void program_draw(struct program_made *p, uint64_t seed, const struct program_options *o)
{
    uint32_t live[64], waiting[8], lives = 0, waits = 0;
    uint64_t random = seed;
    *p = (struct program_made){ .ops = o->ops };
    assert_true(o->ops <= OPS_MAX);
    for (uint32_t i = 0; i < o->ops; i++) {
        struct op *op = &p->op[i];
        uint64_t what = draw(&random, 100);
        *op = (struct op){ .kind = OP_ALLOC, .event = -1 };
        if (o->empties && what < 3) {
            op->kind = OP_EMPTY_CACHE;
        } else if (waits > 0 && (waits == 8 || what < 10)) {
            op->kind = OP_COMPLETE;
            op->of = waiting[0];
            memmove(waiting, waiting + 1, --waits * sizeof *waiting);
        } else if (lives == 64 || (lives > 0 && what < 45)) {
            uint32_t k = (uint32_t)draw(&random, lives);
            op->kind = o->deferred && what % 5 == 0 && waits < 8 ? OP_FREE_LATER : OP_FREE;
            op->of = live[k];
            live[k] = live[--lives];
            if (op->kind == OP_FREE_LATER)
                waiting[waits++] = op->of;
        } else {
            op->site = 1 + (uint32_t)draw(&random, SITES);
            op->pool = (uint32_t)draw(&random, o->pools);
            op->stream = draw(&random, o->streams) * 0x5000;
            op->bytes = draw_size(&random, o->largest_mib);
            live[lives++] = i;
        }
    }
}

/* Running. */

/* One run of a program; `r` is NULL where nothing is written down. */
struct running {
    const struct program_made *p;
    const struct way *w;
    struct naive n;
    uint64_t address[OPS_MAX]; /* of what an operation allocated; 0: nothing, or freed */
    bool waits[OPS_MAX];
    struct expected e;
    uint64_t reserved;
    struct recording *r;
    uint32_t events; /* also those left out */
    uint32_t stack, pool;
    uint64_t stream;
};

static void begin(struct running *x, const struct program_made *p, const struct way *w)
{
    *x = (struct running){ .p = p, .w = w };
    x->n.config = config_from(w->settings);
    x->n.capacity = w->capacity;
    x->n.limit = UINT64_MAX;
    x->n.ascend = w->ascend;
    x->n.next_low = (uint64_t)1 << 49;
    x->n.next_high = (uint64_t)1 << 50;
    x->n.next_reservation = (uint64_t)1 << 54;
    x->n.reservation_step = (uint64_t)1 << 44;
    x->n.tells_completions = true;
    x->e.event = -2;
}

static void push(struct running *x, enum event_action action, uint64_t address, uint64_t size)
{
    x->events++;
    if (x->r == NULL || x->events <= x->w->first_event)
        return;
    struct events *e = &x->r->events;
    pool_id pool = { 0 };
    context_id context = { 0 };
    uint16_t stream = 0;
    assert_true(table_reserve(e, &events_kind, 1));
    assert_true(streams_intern(&x->r->streams, x->stream, &stream));
    assert_true(pools_intern(&x->r->pools, x->pool, 0, &pool));
    assert_true(contexts_intern(&x->r->contexts, (struct context){ .pool = pool }, &context));
    uint32_t i = e->rows.len++;
    x->r->devices.events[0]++;
    e->action[i] = (uint8_t)action;
    e->stream[i] = stream;
    e->stack[i] = x->stack;
    e->context[i] = context.n;
    e->address[i] = address;
    e->size[i] = size;
    e->time_us[i] = x->events;
}

/* What the allocator did since the last time: to the sums, to the recording. */
static void take_calls(struct running *x)
{
    static const char letters[] = "AFMUc";
    static const enum event_action action[] = { ACTION_SEGMENT_ALLOC, ACTION_SEGMENT_FREE,
                                                ACTION_SEGMENT_MAP, ACTION_SEGMENT_UNMAP,
                                                ACTION_FREE_COMPLETED };
    for (uint32_t i = 0; i < x->n.calls; i++) {
        const struct naive_call *call = &x->n.call[i];
        uint64_t bytes = strchr("AM", call->what)   ? call->bytes
                         : strchr("FU", call->what) ? -call->bytes
                                                    : 0;
        x->reserved += bytes;
        if (x->reserved > x->e.reserved)
            x->e.reserved = x->reserved;
        uint64_t stream = x->stream;
        uint32_t pool = x->pool;
        x->stream = call->stream;
        x->pool = call->pool;
        push(x, action[strchr(letters, call->what) - letters], call->address, call->bytes);
        x->stream = stream;
        x->pool = pool;
        for (uint32_t k = 0; call->what == 'c' && k < x->p->ops; k++)
            if (x->waits[k] && x->address[k] == call->address)
                x->address[k] = x->waits[k] = 0;
    }
    x->n.calls = 0;
}

static void note_peaks(struct running *x)
{
    const uint32_t used = 1u << NAIVE_IN_USE | 1u << NAIVE_WAITING;
    uint64_t active = naive_bytes(&x->n, used), requested = 0;
    for (uint32_t i = 0; i < x->n.blocks; i++)
        if (used & 1u << x->n.block[i].use)
            requested += x->n.block[i].requested;
    x->e.active = active > x->e.active ? active : x->e.active;
    x->e.requested = requested > x->e.requested ? requested : x->e.requested;
    x->e.new_memory = x->n.new_memory;
    x->e.retries = x->n.retries;
}

static void set_place(struct running *x, const struct op *op)
{
    x->pool = op->pool;
    x->stream = op->stream;
    x->stack = x->r == NULL ? 0 : site_stack(x->r, op->site);
}

/* False: it ran out. */
static bool allocate(struct running *x, uint32_t i)
{
    const struct op *op = &x->p->op[i];
    uint64_t bytes = op->bytes;
    bool changed = op->site == 1;
    set_place(x, op);
    if (changed && x->w->drop)
        return true;
    if (changed && x->w->scale > 0)
        bytes = (double)bytes * x->w->scale < 1 ? 1 : (uint64_t)((double)bytes * x->w->scale);
    uint64_t address = naive_request(&x->n, op->pool, op->stream, bytes);
    take_calls(x);
    note_peaks(x);
    if (address == 0) {
        x->e.ran_out = true;
        x->e.event = op->event;
        push(x, ACTION_OOM, x->n.capacity - x->reserved,
             rounding_apply(&x->n.config.rounding, bytes));
        return false;
    }
    push(x, ACTION_ALLOC, address, bytes);
    x->address[i] = address;
    return true;
}

static void complete(struct running *x, uint32_t of)
{
    uint64_t address = x->address[of];
    if (address == 0)
        return;
    uint64_t requested = naive_at(&x->n, address)->requested;
    set_place(x, &x->p->op[of]);
    if (!x->waits[of])
        push(x, ACTION_FREE_REQUESTED, address, requested);
    push(x, ACTION_FREE_COMPLETED, address, requested);
    naive_complete(&x->n, address);
    x->address[of] = x->waits[of] = 0;
}

static void free_later(struct running *x, uint32_t of)
{
    if (x->address[of] == 0)
        return;
    set_place(x, &x->p->op[of]);
    push(x, ACTION_FREE_REQUESTED, x->address[of], naive_at(&x->n, x->address[of])->requested);
    naive_wait(&x->n, x->address[of]);
    x->waits[of] = true;
}

static void complete_waiting(struct running *x)
{
    for (uint32_t k = 0; k < x->p->ops; k++)
        if (x->waits[k])
            complete(x, k);
}

/* Site 1 is freed before the first event at or behind the end of its scope. */
static void end_scope(struct running *x, uint32_t i)
{
    const struct way *w = x->w;
    if (w->end == 0 || x->p->op[i].event < w->end)
        return;
    for (uint32_t k = 0; k < i; k++)
        if (x->p->op[k].site == 1 && x->p->op[k].event >= w->begin && x->p->op[k].event < w->end)
            complete(x, k);
}

static bool operate(struct running *x, uint32_t i)
{
    const struct op *op = &x->p->op[i];
    switch (op->kind) {
    case OP_ALLOC:
        return allocate(x, i);
    case OP_FREE:
    case OP_COMPLETE:
        complete(x, op->of);
        break;
    case OP_FREE_LATER:
        free_later(x, op->of);
        break;
    case OP_EMPTY_CACHE:
        x->stack = x->r == NULL ? 0 : site_stack(x->r, 0);
        x->pool = 0;
        x->stream = 0;
        if (x->r == NULL && !op->releases) {
            complete_waiting(x);
            break;
        }
        naive_release_all(&x->n);
        take_calls(x);
        break;
    }
    return true;
}

void program_expect(const struct program_made *p, const struct way *w, struct expected *ret)
{
    static struct running x;
    begin(&x, p, w);
    for (uint32_t i = 0; i < p->ops; i++) {
        if (p->op[i].event < 0)
            continue;
        end_scope(&x, i);
        if (!operate(&x, i))
            break;
    }
    *ret = x.e;
}

/* The recording. */

static const char *const site_names[SITES + 1] = { "emptyCache", "one", "two", "three", "four" };

uint32_t site_stack(const struct recording *r, uint32_t site)
{
    return r->code.stacks.rows.len - 2 * (SITES + 1) + 2 * site + 1;
}

static void make_sites(struct recording *r)
{
    for (uint32_t i = 0; i <= SITES; i++) {
        struct line lines[] = {
            { i == 0 ? "c10::emptyCache()" : "c10::CachingAllocator::malloc(long)", "??", i },
            { site_names[i], "/a/train.py", i },
        };
        sample_stack(r, lines, 2);
    }
}

static uint32_t stack_of(const struct running *x, uint64_t address)
{
    for (uint32_t i = 0; i < x->p->ops; i++)
        if (x->address[i] == address)
            return site_stack(x->r, x->p->op[i].site);
    return 0;
}

static void write_state(struct running *x)
{
    static const enum block_state state[] = {
        [NAIVE_FREE] = BLOCK_INACTIVE,
        [NAIVE_IN_USE] = BLOCK_ALLOCATED,
        [NAIVE_WAITING] = BLOCK_PENDING,
    };
    const struct naive_block *last = NULL;
    struct recording *r = x->r;
    for (uint32_t i = 0; i < x->n.blocks; i++) {
        const struct naive_block *b = &x->n.block[i];
        if (b->use != NAIVE_HOLE &&
            (last == NULL || last->use == NAIVE_HOLE || last->segment != b->segment)) {
            uint32_t s = sample_segment(r, b->address, 0);
            pool_id pool = { 0 };
            uint16_t stream = 0;
            assert_true(pools_intern(&r->pools, b->pool, 0, &pool));
            assert_true(streams_intern(&r->streams, b->stream, &stream));
            r->segments.pool[s] = pool.n;
            r->segments.stream[s] = stream;
            r->segments.size_class[s] = b->small ? CLASS_SMALL : CLASS_LARGE;
            r->segments.expandable[s] = b->expandable;
        }
        last = b;
        if (b->use == NAIVE_HOLE)
            continue;
        uint32_t row = sample_block(r, b->size, b->requested, state[b->use]);
        r->blocks.stack[row] = b->use == NAIVE_FREE ? 0 : stack_of(x, b->address);
        r->segments.total_size[r->segments.rows.len - 1] += b->size;
    }
}

void program_record(struct program_made *p, const struct way *w, struct recording *ret)
{
    static struct running x;
    sample_init(ret);
    make_sites(ret);
    sample_device(ret, 0);
    begin(&x, p, w);
    x.r = ret;
    p->ran_out = false;
    for (uint32_t i = 0; i < p->ops && !p->ran_out; i++) {
        uint32_t before = x.events;
        uint64_t reserved = x.reserved;
        p->ran_out = !operate(&x, i);
        p->op[i].event = x.events == before ? -1 : (int64_t)before;
        p->op[i].releases = x.reserved < reserved;
        /* What an alloc obtained stands before it; of a free the last event is what completes. */
        if (x.events != before && p->op[i].kind != OP_EMPTY_CACHE)
            p->op[i].event = (int64_t)x.events - 1;
        if (p->ran_out)
            p->ops = i + 1;
    }
    write_state(&x);
    sample_finish(ret);
}
