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
    RUN_ENDS_MAX = 4,          /* bytes that look like a run's end and are looked up */
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
    if (!vec_reserve(&c->runs, 1) || !vec_reserve(&c->bytes, len) ||
        !idtab_reserve(&c->index, run_hash_of, c))
        return;
    memcpy(c->bytes.at + c->bytes.len, at, len);
    c->runs.at[c->runs.len++] = (struct run){ c->bytes.len, len, stack, 0 };
    c->bytes.len += len;
    idtab_put(&c->index, hash, c->runs.len);
    follow(c, c->runs.len);
}

/* The cached run of these bytes (plus 1), or 0. */
static uint32_t find_run(const struct run_cache *c, uint64_t hash, const uint8_t *at, size_t len)
{
    if (c->index.slot == NULL)
        return 0;
    for (uint32_t i = idtab_first(&c->index, hash); c->index.slot[i] != 0;
         i = idtab_next(&c->index, i))
        if (run_is(c, &c->runs.at[c->index.slot[i] - 1], at, len))
            return c->index.slot[i];
    return 0;
}

/* The cached run that stands at a->at, without stepping through it: every byte that looks like
 * APPENDS may be its end.  Where the bytes before it are a whole run of the cache, it is. */
static uint32_t match_run(const struct attempt *a)
{
    const struct run_cache *c = &a->f->cache;
    const uint8_t *end = a->at;
    size_t left = (size_t)(a->end - a->at);
    left = left < RUN_BYTES_MAX ? left : RUN_BYTES_MAX;
    for (int i = 0; i < RUN_ENDS_MAX; i++) {
        size_t skip = (size_t)(end - a->at);
        end = memchr(end, OP_APPENDS, left - skip);
        if (end == NULL)
            return 0;
        size_t len = (size_t)(end - a->at);
        uint32_t run = find_run(c, hash_bytes(a->at, len), a->at, len);
        if (run != 0)
            return run;
        end++;
    }
    return 0;
}

static bool cache_useful(const struct run_cache *c)
{
    return c->looked_up < CACHE_TRIAL || c->found >= c->looked_up / CACHE_USEFUL;
}

/* The memo reads at a->at, up to the APPENDS behind them, as a stack. */
static bool take_run(struct attempt *a, uint32_t *ret_stack)
{
    struct run_cache *c = &a->f->cache;
    uint32_t run = guess_run(a);
    bool useful = cache_useful(c);
    if (run == 0 && useful) {
        c->looked_up++;
        run = match_run(a);
        c->found += run != 0;
    }
    if (run != 0) {
        follow(c, run);
        *ret_stack = c->runs.at[run - 1].stack;
        a->at += c->runs.at[run - 1].len + 1;
        return true;
    }
    const uint8_t *end = run_end(a->at, a->end);
    size_t len = (size_t)(end - a->at);
    if (end == a->end || *end != OP_APPENDS || len == 0 || !decode_run(a, end, ret_stack))
        return false;
    if (useful && len <= RUN_BYTES_MAX)
        remember_run(c, hash_bytes(a->at, len), a->at, (uint32_t)len, *ret_stack);
    a->at = end + 1;
    return true;
}

/* Values. */

/* EMPTY_LIST and what follows: a list of known frames, or an empty one. */
static bool take_frames(struct attempt *a, uint32_t *ret_stack)
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
    *ret_stack = stack;
    if (put)
        a->put[mine] = memo_handle(TAG_STACK, stack);
    return put || take_put(a, memo_handle(TAG_STACK, stack), &put);
}

/* A string that is written out, most often the same as last time. */
static bool take_fresh_string(struct attempt *a, uint32_t key, uint32_t *ret)
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
    *ret = id.n;
    return take_put(a, memo_handle(TAG_STRING, id.n), &put);
}

/* A memo read of a value of this kind: its row or id. */
static bool take_get(struct attempt *a, enum tag tag, uint32_t *ret)
{
    size_t len;
    uint32_t handle = handle_at(a->b, a->at, &len);
    *ret = handle_row(handle);
    a->at += len;
    return handle_tag(handle) == tag;
}

static bool take_string(struct attempt *a, uint32_t key, uint32_t *ret)
{
    if (*a->at == OP_SHORT_BINUNICODE || *a->at == OP_BINUNICODE)
        return take_fresh_string(a, key, ret);
    return take_get(a, TAG_STRING, ret);
}

/* A whole number of up to 64 bits; `*ret_negative` where they are two's complement. */
static bool take_int(struct attempt *a, uint64_t *ret, bool *ret_negative)
{
    const uint8_t *at = a->at;
    *ret_negative = false;
    if (*at == OP_LONG1) {
        uint32_t len = at[1];
        if (len == 0 || len > 8)
            return false;
        uint32_t unused = 64 - 8 * len;
        *ret_negative = (at[1 + len] & 0x80) != 0;
        /* Shifted up and down again, the sign fills what the argument does not reach. */
        uint64_t high = load_le64(at + 2) << unused;
        *ret = *ret_negative ? ~(~high >> unused) : high >> unused;
        a->at += 2 + len;
    } else if (*at == OP_BININT1) {
        *ret = at[1];
        a->at += 2;
    } else if (*at == OP_BININT2) {
        *ret = load_le16(at + 1);
        a->at += 3;
    } else if (*at == OP_BININT) {
        *ret_negative = (at[4] & 0x80) != 0;
        *ret = (uint64_t)(int64_t)(int32_t)load_le32(at + 1);
        a->at += 5;
    } else {
        return false;
    }
    return true;
}

/* Two numbers and TUPLE2, or a memo read of such a pair. */
static bool take_pool(struct attempt *a, pool_id *ret)
{
    uint64_t first, second;
    bool negative, put;
    if (*a->at == OP_BINGET || *a->at == OP_LONG_BINGET)
        return take_get(a, TAG_PAIR, &ret->n);
    if (!take_int(a, &first, &negative) || !take_int(a, &second, &negative) ||
        *a->at != OP_TUPLE2 || !pools_intern(&a->b->r->pools, first, second, ret))
        return false;
    a->at++;
    return take_put(a, memo_handle(TAG_PAIR, ret->n), &put);
}

static bool take_action(struct attempt *a, struct event *e)
{
    uint32_t word;
    if (!take_string(a, KEY_ACTION, &word))
        return false;
    e->action = (uint8_t)action_of(word);
    return e->action != ACTION_OTHER;
}

static bool take_value(struct attempt *a, uint32_t key, struct event *e)
{
    bool negative;
    switch (key) {
    case KEY_ACTION:
        return take_action(a, e);
    case KEY_ADDR:
        return take_int(a, &e->address, &negative);
    case KEY_SIZE:
        return take_int(a, &e->size, &negative) && !negative && e->size <= (uint64_t)1 << 62;
    case KEY_STREAM:
        return take_int(a, &e->stream, &negative);
    case KEY_TIME_US:
        return take_int(a, &e->time_us, &negative);
    case KEY_FRAMES:
        return *a->at == OP_EMPTY_LIST ? take_frames(a, &e->stack.n)
                                       : take_get(a, TAG_STACK, &e->stack.n);
    case KEY_COMPILE_CONTEXT:
        if (!take_string(a, key, &e->context.compile_context.n))
            return false;
        if (e->context.compile_context.n == WORD_N_A)
            e->context.compile_context.n = 0;
        return true;
    case KEY_USER_METADATA:
        return take_string(a, key, &e->context.user_metadata.n);
    case KEY_INTERNAL_METADATA:
        return take_string(a, key, &e->context.internal_metadata.n);
    case KEY_POOL_ID:
        return take_pool(a, &e->context.pool);
    default:
        return false;
    }
}

/* The key that stands here (0: the dict's end instead); UINT32_MAX where neither does. */
static uint32_t take_key(struct attempt *a, uint32_t after)
{
    struct next_key *next = &a->f->next[after];
    uint64_t here = load_le64(a->at);
    if ((here & next->mask) == next->bytes && next->len != 0) {
        a->at += next->len;
        return next->key;
    }
    size_t len = 1;
    uint32_t key = 0;
    if (*a->at != OP_SETITEMS) {
        uint32_t handle = handle_at(a->b, a->at, &len);
        key = handle_row(handle);
        if (handle_tag(handle) != TAG_STRING || key == 0 || key >= KEYS)
            return UINT32_MAX;
    }
    uint64_t mask = UINT64_MAX >> (64 - 8 * len);
    *next = (struct next_key){ here & mask, mask, (uint8_t)len, (uint8_t)key };
    a->at += len;
    return key;
}

/* The pairs of an event, up to and with its SETITEMS. */
static bool take_pairs(struct attempt *a, struct event *e)
{
    uint64_t present = 0;
    for (uint32_t key = 0;;) {
        if (!room(a, ARGUMENT_BYTES * 2))
            return false;
        key = take_key(a, key);
        if (key == 0)
            return (present & (uint64_t)1 << KEY_ACTION) != 0;
        if (key == UINT32_MAX || (present & (uint64_t)1 << key) != 0 || !take_value(a, key, e))
            return false;
        present |= (uint64_t)1 << key;
    }
}

/* Only in a list can the event be known to be at its end: its next item or its end stands here. */
static bool ends_event(const struct attempt *a)
{
    return *a->at == OP_EMPTY_DICT || *a->at == OP_APPENDS;
}

/* An event from its EMPTY_DICT on, with its own memo write where the one or the other writer puts
 * it; `*ret_own` is its place among the writes, or PUTS_MAX. */
static bool take_event(struct attempt *a, struct event *e, uint32_t *ret_own)
{
    bool put;
    a->at++;
    if (!take_put(a, 0, &put))
        return false;
    *ret_own = put ? a->puts - 1 : PUTS_MAX;
    if (*a->at != OP_MARK)
        return false;
    a->at++;
    if (!take_pairs(a, e))
        return false;
    if (!put) {
        if (!take_put(a, 0, &put))
            return false;
        *ret_own = put ? a->puts - 1 : PUTS_MAX;
    }
    return ends_event(a);
}

/* Writes the memo entries of an event whose row is now known. */
static void write_puts(struct attempt *a, uint32_t own, uint32_t row)
{
    struct builder *b = a->b;
    if (own != PUTS_MAX)
        a->put[own] = memo_handle(TAG_EVENT, row);
    for (uint32_t i = 0; i < a->puts; i++)
        b->memo.at[b->memo.len++] = a->put[i];
    b->memo_puts += a->puts;
}

/* Leaves the event's row on the operand stack. */
static void push_event(struct builder *b, uint32_t row)
{
    uint32_t floor = b->marks.len == 0 ? 0 : b->marks.at[b->marks.len - 1];
    if (b->stack.len > floor) {
        struct value *top = &b->stack.at[b->stack.len - 1];
        if (top->tag == TAG_EVENT && top->row + top->count == row) {
            top->count++;
            return;
        }
    }
    b->stack.at[b->stack.len++] = row_value(TAG_EVENT, row);
}

const uint8_t *fast_events(struct fast *f, struct builder *b, const uint8_t *at,
                           const uint8_t *end)
{
    /* Entries beyond those written would be at other places than `memo_puts` says. */
    if (b->memo.len != b->memo_puts)
        return at;
    while (*at == OP_EMPTY_DICT && end - at >= 4 * ARGUMENT_BYTES) {
        struct attempt a = { .f = f, .b = b, .at = at, .end = end };
        struct event e = { .address = UNKNOWN_U64, .size = UNKNOWN_U64, .time_us = UNKNOWN_U64 };
        uint32_t own, row;
        if (!vec_reserve(&b->memo, PUTS_MAX) || !vec_reserve(&b->stack, 1) ||
            !take_event(&a, &e, &own) || event_push(b, &e, &row, NULL) != VRS_OK)
            return at;
        write_puts(&a, own, row);
        push_event(b, row);
        (*b->finished)++;
        at = a.at;
    }
    return at;
}
