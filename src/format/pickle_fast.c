/* pickle_fast.c - events as PyTorch writes them, without the operand stack. */
#include "format/pickle_fast.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "format/build.h"
#include "format/pickle_ops.h"

enum {
    RUN_BYTES_MAX = 4096,      /* a longer run is decoded each time */
    CACHE_BYTES_MAX = 8 << 20, /* of all runs */
    CACHE_TRIAL = 4096,        /* look-ups before the cache may be given up … */
    CACHE_USEFUL = 8,          /* … because fewer than one in this many were found */
    PUTS_MAX = 8,              /* memo writes of one event */
    ARGUMENT_BYTES = 16        /* no opcode with its fixed argument is longer */
};

void fast_init(struct fast *f)
{
    *f = (struct fast){ .cache.runs.max = 1 << 20, .cache.bytes.max = CACHE_BYTES_MAX };
}

void fast_free(struct fast *f)
{
    vec_free(&f->cache.runs);
    vec_free(&f->cache.bytes);
    idtab_free(&f->cache.index);
}

/* One event being tried. */
struct attempt {
    struct fast *f;
    struct builder *b;
    const uint8_t *at, *end;
    uint32_t put[PUTS_MAX]; /* handles to be written to the memo, in order */
    uint32_t puts;
};

static bool room(const struct attempt *a, size_t len)
{
    return (size_t)(a->end - a->at) >= len;
}

/* A memo write of the value whose handle is `handle`, if one stands here.  Both writers number
 * their entries one after the other; any other number is for the ordinary reader. */
static bool take_put(struct attempt *a, uint32_t handle, bool *ret_put)
{
    uint32_t next = a->b->memo_puts + a->puts;
    *ret_put = true;
    if (*a->at == OP_MEMOIZE) {
        a->at += 1;
    } else if (*a->at == OP_BINPUT) {
        if (a->at[1] != next)
            return false;
        a->at += 2;
    } else if (*a->at == OP_LONG_BINPUT) {
        if (load_le32(a->at + 1) != next)
            return false;
        a->at += 5;
    } else {
        *ret_put = false;
        return true;
    }
    if (a->puts == PUTS_MAX)
        return false;
    a->put[a->puts++] = handle;
    return true;
}

/* The memo entry that the get at `at` names, or an unset one where none stands there. */
static uint32_t handle_at(const struct builder *b, const uint8_t *at, size_t *ret_len)
{
    uint32_t slot = *at == OP_BINGET ? at[1] : load_le32(at + 1);
    *ret_len = *at == OP_BINGET ? 2 : 5;
    bool get = *at == OP_BINGET || *at == OP_LONG_BINGET;
    return get && slot < b->memo.len ? b->memo.at[slot] : 0;
}

static enum tag handle_tag(uint32_t handle)
{
    return (enum tag)(handle >> 28);
}

static uint32_t handle_row(uint32_t handle)
{
    return handle & 0x0fffffff;
}

/* Runs. */

static uint64_t run_hash_of(uint32_t id, const void *arg)
{
    const struct run_cache *c = arg;
    const struct run *run = &c->runs.at[id - 1];
    return hash_bytes(c->bytes.at + run->offset, run->len);
}

static bool run_is(const struct run_cache *c, const struct run *run, const uint8_t *at, size_t len)
{
    return run->len == len && memcmp(c->bytes.at + run->offset, at, len) == 0;
}

/* The run that followed the last one before, if it stands here again: its number plus 1. */
static uint32_t guess_run(const struct attempt *a)
{
    const struct run_cache *c = &a->f->cache;
    uint32_t guess = c->last == 0 ? 0 : c->runs.at[c->last - 1].next;
    if (guess == 0)
        return 0;
    const struct run *run = &c->runs.at[guess - 1];
    bool here = room(a, run->len + 1) && a->at[run->len] == OP_APPENDS;
    return here && run_is(c, run, a->at, run->len) ? guess : 0;
}

/* Where the memo reads that begin at `at` end. */
static const uint8_t *run_end(const uint8_t *at, const uint8_t *end)
{
    for (;;) {
        if (end - at < 5)
            return at;
        if (*at == OP_BINGET)
            at += 2;
        else if (*at == OP_LONG_BINGET)
            at += 5;
        else
            return at;
    }
}

/* The stack of a run that is not in the cache: frame by frame. */
static bool decode_run(struct attempt *a, const uint8_t *end, uint32_t *ret_stack)
{
    struct builder *b = a->b;
    b->frames.len = 0;
    for (const uint8_t *at = a->at; at < end;) {
        size_t len;
        uint32_t handle = handle_at(b, at, &len);
        if (handle_tag(handle) != TAG_FRAME || b->frames.len == b->frames.max ||
            !vec_push(&b->frames, handle_row(handle)))
            return false;
        at += len;
    }
    stack_id stack;
    if (build_stack_of(b, b->frames.at, b->frames.len, &stack, NULL) != VRS_OK)
        return false;
    *ret_stack = stack.n;
    return true;
}

/* Follows on in the cache: what came after the last run is now known to be `run` (plus 1). */
static void follow(struct run_cache *c, uint32_t run)
{
    if (c->last != 0)
        c->runs.at[c->last - 1].next = run;
    c->last = run;
}

static void remember_run(struct run_cache *c, uint64_t hash, const uint8_t *at, uint32_t len,
                         uint32_t stack)
{
    bool useful = c->looked_up < CACHE_TRIAL || c->found >= c->looked_up / CACHE_USEFUL;
    if (!useful || !vec_reserve(&c->runs, 1) || !vec_reserve(&c->bytes, len) ||
        !idtab_reserve(&c->index, run_hash_of, c))
        return;
    memcpy(c->bytes.at + c->bytes.len, at, len);
    c->runs.at[c->runs.len++] = (struct run){ c->bytes.len, len, stack, 0 };
    c->bytes.len += len;
    idtab_put(&c->index, hash, c->runs.len);
    follow(c, c->runs.len);
}

/* The memo reads at a->at, up to the APPENDS behind them, as a stack. */
static bool take_run(struct attempt *a, uint32_t *ret_stack)
{
    struct run_cache *c = &a->f->cache;
    uint32_t guess = guess_run(a);
    if (guess != 0) {
        c->last = guess;
        *ret_stack = c->runs.at[guess - 1].stack;
        a->at += c->runs.at[guess - 1].len + 1;
        return true;
    }
    const uint8_t *end = run_end(a->at, a->end);
    size_t len = (size_t)(end - a->at);
    if (end == a->end || *end != OP_APPENDS || len == 0)
        return false;
    bool cached = len <= RUN_BYTES_MAX &&
                  (c->looked_up < CACHE_TRIAL || c->found >= c->looked_up / CACHE_USEFUL);
    uint64_t hash = cached ? hash_bytes(a->at, len) : 0;
    if (cached) {
        c->looked_up++;
        for (uint32_t i = idtab_first(&c->index, hash); c->index.slot && c->index.slot[i] != 0;
             i = idtab_next(&c->index, i)) {
            uint32_t run = c->index.slot[i];
            if (!run_is(c, &c->runs.at[run - 1], a->at, len))
                continue;
            c->found++;
            follow(c, run);
            *ret_stack = c->runs.at[run - 1].stack;
            a->at = end + 1;
            return true;
        }
    }
    if (!decode_run(a, end, ret_stack))
        return false;
    if (cached)
        remember_run(c, hash, a->at, (uint32_t)len, *ret_stack);
    a->at = end + 1;
    return true;
}

/* Values. */

/* EMPTY_LIST and what follows: a list of known frames, or an empty one. */
static bool take_frames(struct attempt *a, struct value *ret)
{
    a->at++;
    uint32_t stack = 0, mine = a->puts;
    bool put;
    if (!take_put(a, memo_handle(TAG_STACK, 0), &put))
        return false;
    if (*a->at == OP_MARK) {
        a->at++;
        /* The C++ writer closes an empty list too. */
        if (*a->at == OP_APPENDS)
            a->at++;
        else if (!take_run(a, &stack))
            return false;
    }
    if (!room(a, ARGUMENT_BYTES))
        return false;
    *ret = row_value(TAG_STACK, stack);
    if (put)
        a->put[mine] = memo_handle(TAG_STACK, stack);
    else if (!take_put(a, memo_handle(TAG_STACK, stack), &put))
        return false;
    return true;
}

static bool take_string(struct attempt *a, uint32_t key, struct value *ret)
{
    struct builder *b = a->b;
    size_t prefix = *a->at == OP_SHORT_BINUNICODE ? 1 : 4;
    size_t len = prefix == 1 ? a->at[1] : load_le32(a->at + 1);
    if (!room(a, 1 + prefix + ARGUMENT_BYTES) ||
        len > (size_t)(a->end - a->at) - 1 - prefix - ARGUMENT_BYTES)
        return false;
    str text = { (const char *)a->at + 1 + prefix, len };
    string_id id = { a->f->last_string[key] };
    if (id.n == 0 || !str_equal(strings_text(&b->r->strings, id), text)) {
        /* Text that must be repaired is counted, once: by the ordinary reader. */
        if (!utf8_valid(text) || build_intern(b, text, &id, NULL) != VRS_OK)
            return false;
        a->f->last_string[key] = id.n;
    }
    a->at += 1 + prefix + len;
    bool put;
    *ret = row_value(TAG_STRING, id.n);
    return take_put(a, memo_handle(TAG_STRING, id.n), &put);
}

static struct value int_value(uint64_t bits, bool negative)
{
    return (struct value){
        .tag = TAG_INT,
        .flags = negative ? VALUE_NEGATIVE : 0,
        .bits = bits,
    };
}

/* A whole number; false where none stands here. */
static bool take_int(struct attempt *a, struct value *ret)
{
    const uint8_t *at = a->at;
    uint32_t len = at[1];
    switch (*at) {
    case OP_BININT1:
        *ret = int_value(at[1], false);
        a->at += 2;
        return true;
    case OP_BININT2:
        *ret = int_value(load_le16(at + 1), false);
        a->at += 3;
        return true;
    case OP_BININT:
        *ret = int_value((uint64_t)(int64_t)(int32_t)load_le32(at + 1), (at[4] & 0x80) != 0);
        a->at += 5;
        return true;
    case OP_LONG1: {
        if (len == 0 || len > 8)
            return false;
        bool negative = (at[1 + len] & 0x80) != 0;
        uint64_t bits = load_le64(at + 2);
        if (len < 8)
            bits = negative ? bits | UINT64_MAX << (8 * len) : bits & ~(UINT64_MAX << (8 * len));
        *ret = int_value(bits, negative);
        a->at += 2 + len;
        return true;
    }
    default:
        return false;
    }
}

/* Two numbers and TUPLE2: a pool. */
static bool take_pool(struct attempt *a, struct value first, struct value *ret)
{
    struct value second;
    pool_id pool;
    bool put;
    if (!take_int(a, &second) || *a->at != OP_TUPLE2 ||
        !pools_intern(&a->b->r->pools, first.bits, second.bits, &pool))
        return false;
    a->at++;
    *ret = row_value(TAG_PAIR, pool.n);
    return take_put(a, memo_handle(TAG_PAIR, pool.n), &put);
}

static bool take_value(struct attempt *a, uint32_t key, struct value *ret)
{
    switch (*a->at) {
    case OP_BINGET:
    case OP_LONG_BINGET: {
        size_t len;
        uint32_t handle = handle_at(a->b, a->at, &len);
        enum tag tag = handle_tag(handle);
        if (tag != TAG_STRING && tag != TAG_STACK && tag != TAG_PAIR)
            return false;
        *ret = row_value(tag, handle_row(handle));
        a->at += len;
        return true;
    }
    case OP_EMPTY_LIST:
        return key == KEY_FRAMES && take_frames(a, ret);
    case OP_SHORT_BINUNICODE:
    case OP_BINUNICODE:
        return take_string(a, key, ret);
    default:
        if (!take_int(a, ret))
            return false;
        return key != KEY_POOL_ID || take_pool(a, *ret, ret);
    }
}

/* The pairs of an event into b->fields, up to and with its SETITEMS. */
static bool take_pairs(struct attempt *a)
{
    struct fields *f = &a->b->fields;
    f->present = 0;
    for (;;) {
        if (!room(a, ARGUMENT_BYTES * 2))
            return false;
        if (*a->at == OP_SETITEMS) {
            a->at++;
            return (f->present & (uint64_t)1 << KEY_ACTION) != 0;
        }
        size_t len;
        uint32_t handle = handle_at(a->b, a->at, &len), key = handle_row(handle);
        if (handle_tag(handle) != TAG_STRING || key == 0 || key >= KEYS ||
            (f->present & (uint64_t)1 << key) != 0)
            return false;
        a->at += len;
        if (!take_value(a, key, &f->value[key]))
            return false;
        f->present |= (uint64_t)1 << key;
    }
}

/* Only in a list can the event be known to be at its end: a list's next item, its end, or
 * (the C++ writer) the event's own memo write stands here. */
static bool ends_event(const struct attempt *a)
{
    return *a->at == OP_EMPTY_DICT || *a->at == OP_APPENDS;
}

/* Writes the memo entries of an event whose row is now known. */
static void write_puts(struct attempt *a, uint32_t own, uint32_t row)
{
    struct builder *b = a->b;
    if (own != PUTS_MAX)
        a->put[own] = memo_handle(TAG_EVENT, row);
    memcpy(b->memo.at + b->memo.len, a->put, a->puts * sizeof *a->put);
    b->memo.len += a->puts;
    b->memo_puts += a->puts;
}

/* Leaves the event's row on the operand stack. */
static void push_event(struct builder *b, struct value event)
{
    uint32_t floor = b->marks.len == 0 ? 0 : b->marks.at[b->marks.len - 1];
    if (b->stack.len > floor) {
        struct value *top = &b->stack.at[b->stack.len - 1];
        if (top->tag == TAG_EVENT && top->row + top->count == event.row) {
            top->count++;
            return;
        }
    }
    b->stack.at[b->stack.len++] = event;
}

/* Whether the event's own memo write, if it has one, and its end are as both writers put them;
 * `*ret_own` is its place among the writes, or PUTS_MAX. */
static bool take_event(struct attempt *a, uint32_t *ret_own)
{
    bool put;
    a->at++;
    *ret_own = PUTS_MAX;
    if (!take_put(a, 0, &put))
        return false;
    if (put)
        *ret_own = a->puts - 1;
    if (*a->at != OP_MARK)
        return false;
    a->at++;
    if (!take_pairs(a))
        return false;
    if (!put) {
        if (!take_put(a, 0, &put))
            return false;
        if (put)
            *ret_own = a->puts - 1;
    }
    return ends_event(a);
}

const uint8_t *fast_events(struct fast *f, struct builder *b, const uint8_t *at,
                           const uint8_t *end)
{
    /* Entries beyond those written would be at other places than `memo_puts` says. */
    if (b->memo.len != b->memo_puts)
        return at;
    while (*at == OP_EMPTY_DICT && end - at >= 4 * ARGUMENT_BYTES) {
        struct attempt a = { .f = f, .b = b, .at = at, .end = end };
        uint32_t own;
        struct value event;
        if (!vec_reserve(&b->memo, PUTS_MAX) || !vec_reserve(&b->stack, 1) ||
            !take_event(&a, &own) || record_event(b, &event) != VRS_OK)
            return at;
        write_puts(&a, own, event.row);
        push_event(b, event);
        at = a.at;
    }
    return at;
}
