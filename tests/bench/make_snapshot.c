/* make_snapshot.c - writes a large memory snapshot of an imaginary training run, with its truth.
 *
 * The run is simulated twice from one seed: the first time to learn how it ends, because real
 * files begin with the segments as they stand at the end, the second time to write its events.
 * Nothing grows with the number of events, so a file of any size needs a few megabytes.
 *
 * The truth goes to standard output as JSON, in the names and the shape of one device of
 * `vramscope report --json`. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caching.h"
#include "pickle_writer.h"
#include "program.h"

#define KEYS(X)                                                                                    \
    X(segments), X(device_traces), X(allocator_settings), X(external_annotations), X(device),      \
        X(address), X(total_size), X(allocated_size), X(active_size), X(requested_size),           \
        X(stream), X(segment_type), X(segment_pool_id), X(is_expandable), X(blocks), X(frames),    \
        X(size), X(state), X(small), X(large), X(inactive), X(active_allocated),                   \
        X(active_pending_free), X(name), X(filename), X(line), X(action), X(addr), X(time_us),     \
        X(compile_context), X(alloc), X(free_requested), X(free_completed), X(segment_alloc),      \
        X(segment_free), X(stage), X(START), X(END), X(PYTORCH_CUDA_ALLOC_CONF),                   \
        X(max_split_size), X(garbage_collection_threshold), X(expandable_segments),                \
        X(pinned_num_register_threads), X(release_lock_on_cudamalloc),                             \
        X(pinned_use_cuda_host_register), X(graph_capture_record_stream_reuse),                    \
        X(roundup_power2_divisions)

#define ENUM(name) KEY_##name
enum key { KEYS(ENUM), KEY_NOTHING, KEY_NO_REGION, KEY_COUNT };

#define CHARS(name) #name
static const char *const key_chars[KEY_COUNT] = { KEYS(CHARS), "", "N/A" };

#define SIZES_LEN 96u
#define REGIONS_LEN 8u
#define EVENTS_PER_STEP 25000u
#define ACTIONS_PER_WAVE 16384u
#define START_US INT64_C(1783874667000000)

struct options {
    const char *path;
    uint64_t bytes, events; /* events 0: as many as make `bytes` */
    uint64_t seed;
    uint32_t live, stacks;
    enum dialect dialect;
    bool distinct, traces_first;
};

/* A frames list that a block or a segment still holds at the end. */
struct pin {
    uint32_t capture, stack;
    uint32_t memo; /* NO_MEMO until written */
};

struct truth {
    uint64_t events, orphan_frees;
    int64_t start, peak, end; /* requested bytes in use */
    int64_t peak_event, peak_last_event;
    int64_t reserved_peak;
    int64_t reserved_end, active_end, allocated_end, pending; /* from the segments */
    uint64_t segments, blocks;
};

struct maker {
    const struct options *options;
    struct program program;
    uint64_t small_size[SIZES_LEN], large_size[SIZES_LEN];

    /* the run */
    struct caching caching;
    uint64_t random;
    uint32_t *live, *pending; /* blocks; `pending` in the order of their frees */
    uint32_t live_len, live_cap, pending_len, pending_cap;
    uint32_t alloc_stack, free_stack; /* where the program stands */
    uint32_t capture;                 /* tracebacks taken so far */
    uint32_t first_capture;           /* of the recorded part */
    uint64_t actions;
    int64_t now_us, in_use, reserved;
    bool recording;
    struct truth truth;
    int64_t *step_us; /* beginnings of steps */
    uint32_t step_len, step_cap;

    /* what is written */
    struct writer *writer; /* NULL while learning how the run ends */
    struct caching last;   /* the allocator at the end */
    struct pin *pin;       /* ascending by capture */
    uint32_t pin_len, pin_cap, pin_at;
    uint32_t event_capture, event_memo; /* the list of the event before */
    uint32_t no_stack_memo;
    struct text key[KEY_COUNT];
    struct text region[REGIONS_LEN];
    char region_chars[REGIONS_LEN][40];
};

static uint32_t below(struct maker *m, uint32_t limit)
{
    return (uint32_t)(random_next(&m->random) >> 32) % limit;
}

static void push(uint32_t **list, uint32_t *len, uint32_t *cap, uint32_t value)
{
    if (*len == *cap)
        *list = grown(*list, cap, sizeof **list);
    (*list)[(*len)++] = value;
}

static void key(struct maker *m, enum key which)
{
    writer_text(m->writer, &m->key[which]);
}

static void key_int(struct maker *m, enum key which, int64_t value)
{
    key(m, which);
    writer_int(m->writer, value);
}

static void write_frame(struct maker *m, struct frame *f)
{
    struct writer *w = m->writer;
    if (f->memo != NO_MEMO) {
        writer_get(w, f->memo);
        return;
    }
    uint32_t memo = writer_dict_open(w);
    key(m, KEY_name);
    writer_fresh(w, &m->program.text[f->name]);
    key(m, KEY_filename);
    writer_fresh(w, &m->program.text[f->file]);
    key_int(m, KEY_line, f->line);
    f->memo = writer_dict_close(w, memo, f->uses > 1);
}

static uint32_t write_stack(struct maker *m, uint32_t stack, uint32_t capture)
{
    uint32_t frames[STACK_MAX];
    uint32_t len = program_stack(&m->program, stack, capture, frames);
    uint32_t memo = writer_list_open(m->writer, len);
    for (uint32_t i = 0; i < len; i++)
        write_frame(m, &m->program.frame[frames[i]]);
    return writer_list_close(m->writer, len, memo, true);
}

static void count_uses(struct maker *m, uint32_t stack, uint32_t capture)
{
    uint32_t frames[STACK_MAX];
    uint32_t len = program_stack(&m->program, stack, capture, frames);
    for (uint32_t i = 0; i < len; i++)
        m->program.frame[frames[i]].uses++;
}

/* The list of an event: that of the event before, one that a segment or block holds, or a new
 * one.  Events never go back to an older capture, so the pins are walked along. */
static void write_event_stack(struct maker *m, uint32_t stack, uint32_t capture)
{
    if (capture == m->event_capture) {
        writer_get(m->writer, m->event_memo);
        return;
    }
    while (m->pin_at < m->pin_len && m->pin[m->pin_at].capture < capture)
        m->pin_at++;
    struct pin *pin = m->pin_at < m->pin_len ? &m->pin[m->pin_at] : NULL;
    if (pin && pin->capture != capture)
        pin = NULL;
    m->event_capture = capture;
    if (pin && pin->memo != NO_MEMO) {
        m->event_memo = pin->memo;
        writer_get(m->writer, pin->memo);
        return;
    }
    m->event_memo = write_stack(m, stack, capture);
    if (pin)
        pin->memo = m->event_memo;
}

static void write_pinned_stack(struct maker *m, uint32_t capture)
{
    uint32_t low = 0, high = m->pin_len;
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->pin[middle].capture <= capture)
            low = middle;
        else
            high = middle;
    }
    struct pin *pin = &m->pin[low];
    if (pin->memo == NO_MEMO)
        pin->memo = write_stack(m, pin->stack, pin->capture);
    else
        writer_get(m->writer, pin->memo);
}

static void write_event(struct maker *m, enum key action, uint64_t addr, uint64_t size,
                        uint32_t stack, uint32_t capture)
{
    struct writer *w = m->writer;
    writer_list_item(w, m->truth.events);
    uint32_t memo = writer_dict_open(w);
    key(m, KEY_action);
    key(m, action);
    key_int(m, KEY_addr, (int64_t)addr);
    key_int(m, KEY_size, (int64_t)size);
    key_int(m, KEY_stream, 0);
    if (w->dialect != DIALECT_CPP)
        key_int(m, KEY_time_us, m->now_us);
    key(m, KEY_compile_context);
    /* Both producers make this string anew for every event. */
    if (capture % 64 == 0)
        writer_fresh(w, &m->region[capture / 64 % REGIONS_LEN]);
    else
        writer_fresh(w, &m->key[KEY_NO_REGION]);
    if (w->dialect == DIALECT_CPP)
        key_int(m, KEY_time_us, m->now_us);
    key(m, KEY_frames);
    write_event_stack(m, stack, capture);
    writer_dict_close(w, memo, true);
}

static void write_block(struct maker *m, const struct block *b)
{
    struct writer *w = m->writer;
    uint32_t memo = writer_dict_open(w);
    key_int(m, KEY_address, (int64_t)b->addr);
    key_int(m, KEY_size, (int64_t)b->size);
    key_int(m, KEY_requested_size, (int64_t)b->requested);
    key(m, KEY_state);
    key(m, b->state == BLOCK_INACTIVE    ? KEY_inactive
           : b->state == BLOCK_ALLOCATED ? KEY_active_allocated
                                         : KEY_active_pending_free);
    key(m, KEY_frames);
    if (b->state != BLOCK_INACTIVE) {
        write_pinned_stack(m, b->capture);
    } else if (m->no_stack_memo != NO_MEMO) {
        writer_get(w, m->no_stack_memo);
    } else {
        uint32_t list = writer_list_open(w, 0);
        m->no_stack_memo = writer_list_close(w, 0, list, true);
    }
    writer_dict_close(w, memo, b->state != BLOCK_INACTIVE);
}

static void write_blocks(struct maker *m, uint32_t first, uint64_t len)
{
    const struct block *block = m->last.block;
    key(m, KEY_blocks);
    uint32_t memo = writer_list_open(m->writer, len);
    uint64_t i = 0;
    for (uint32_t at = first; at != NONE; at = block[at].after) {
        writer_list_item(m->writer, i++);
        write_block(m, &block[at]);
    }
    writer_list_close(m->writer, len, memo, false);
}

static void write_segment(struct maker *m, const struct segment *s)
{
    struct writer *w = m->writer;
    uint64_t allocated = 0, active = 0, requested = 0, blocks = 0;
    for (uint32_t at = s->first; at != NONE; at = m->last.block[at].after) {
        const struct block *b = &m->last.block[at];
        blocks++;
        if (b->state == BLOCK_ALLOCATED)
            allocated += b->size;
        if (b->state != BLOCK_INACTIVE) {
            active += b->size;
            requested += b->requested;
        }
    }
    uint32_t memo = writer_dict_open(w);
    key_int(m, KEY_device, 0);
    key_int(m, KEY_address, (int64_t)s->addr);
    key_int(m, KEY_total_size, (int64_t)s->size);
    key_int(m, KEY_allocated_size, (int64_t)allocated);
    key_int(m, KEY_active_size, (int64_t)active);
    key_int(m, KEY_requested_size, (int64_t)requested);
    key_int(m, KEY_stream, 0);
    key(m, KEY_segment_type);
    key(m, s->small ? KEY_small : KEY_large);
    key(m, KEY_segment_pool_id);
    writer_pair(w, 0, 0);
    key(m, KEY_is_expandable);
    writer_bool(w, false);
    if (w->dialect == DIALECT_CPP)
        write_blocks(m, s->first, blocks);
    key(m, KEY_frames);
    write_pinned_stack(m, s->capture);
    if (w->dialect != DIALECT_CPP)
        write_blocks(m, s->first, blocks);
    writer_dict_close(w, memo, true);
}

static int by_addr(const void *a, const void *b)
{
    const struct segment *x = a, *y = b;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Sorts the rows of `last.segment` away from their ids, which nothing needs any more. */
static void write_segments(struct maker *m)
{
    struct segment *s = m->last.segment;
    uint32_t len = 0;
    for (uint32_t i = 0; i < m->last.segment_len; i++) {
        if (s[i].first != NONE)
            s[len++] = s[i];
    }
    m->last.segment_len = len;
    qsort(s, len, sizeof *s, by_addr);

    key(m, KEY_segments);
    uint32_t memo = writer_list_open(m->writer, len);
    for (uint32_t i = 0; i < len; i++) {
        writer_list_item(m->writer, i);
        write_segment(m, &s[i]);
    }
    writer_list_close(m->writer, len, memo, true);
}

static void write_settings(struct maker *m)
{
    struct writer *w = m->writer;
    key(m, KEY_allocator_settings);
    uint32_t memo = writer_dict_open(w);
    key(m, KEY_PYTORCH_CUDA_ALLOC_CONF);
    key(m, KEY_NOTHING);
    key_int(m, KEY_max_split_size, -1);
    key(m, KEY_garbage_collection_threshold);
    writer_float(w, 0.0);
    key(m, KEY_expandable_segments);
    writer_bool(w, false);
    key_int(m, KEY_pinned_num_register_threads, 1);
    key(m, KEY_release_lock_on_cudamalloc);
    writer_bool(w, false);
    key(m, KEY_pinned_use_cuda_host_register);
    writer_bool(w, false);
    key(m, KEY_graph_capture_record_stream_reuse);
    writer_bool(w, false);
    key(m, KEY_roundup_power2_divisions);
    uint32_t inner = writer_dict_open(w);
    for (unsigned mib = 1; mib <= 32768; mib *= 2) {
        char chars[12];
        int len = snprintf(chars, sizeof chars, "%u", mib);
        writer_fresh(w, &(struct text){ chars, (uint32_t)len, NO_MEMO });
        writer_int(w, 0);
    }
    writer_dict_close(w, inner, true);
    writer_dict_close(w, memo, true);
}

static void write_annotation(struct maker *m, struct text *name, enum key stage, int64_t time_us)
{
    struct writer *w = m->writer;
    uint32_t memo = writer_dict_open(w);
    if (w->dialect == DIALECT_CPP) {
        key(m, KEY_name);
        writer_text(w, name);
    }
    writer_fresh(w, &m->key[KEY_stage]);
    writer_fresh(w, &m->key[stage]);
    if (w->dialect != DIALECT_CPP) {
        writer_fresh(w, &m->key[KEY_name]);
        writer_fresh(w, name);
    }
    key_int(m, KEY_device, 0);
    key_int(m, KEY_time_us, time_us);
    writer_dict_close(w, memo, false);
}

static void write_annotations(struct maker *m)
{
    struct writer *w = m->writer;
    uint64_t len = 2 * (uint64_t)m->step_len;
    key(m, KEY_external_annotations);
    uint32_t memo = writer_list_open(w, len);
    for (uint32_t i = 0; i < m->step_len; i++) {
        char chars[32];
        int chars_len = snprintf(chars, sizeof chars, "ProfilerStep#%" PRIu32, i);
        struct text name = { chars, (uint32_t)chars_len, NO_MEMO };
        writer_list_item(w, 2 * (uint64_t)i);
        write_annotation(m, &name, KEY_START, m->step_us[i]);
        writer_list_item(w, 2 * (uint64_t)i + 1);
        write_annotation(m, &name, KEY_END, i + 1 < m->step_len ? m->step_us[i + 1] : m->now_us);
    }
    writer_list_close(w, len, memo, true);
}

/* One event of the trace: the truth first, then the bytes. */
static void event(struct maker *m, enum key action, uint64_t addr, uint64_t size, uint32_t stack,
                  uint32_t capture)
{
    if (action == KEY_alloc)
        m->in_use += (int64_t)size;
    else if (action == KEY_free_completed)
        m->in_use -= (int64_t)size;
    else if (action == KEY_segment_alloc)
        m->reserved += (int64_t)size;
    else if (action == KEY_segment_free)
        m->reserved -= (int64_t)size;
    if (!m->recording)
        return;

    struct truth *t = &m->truth;
    int64_t index = (int64_t)t->events;
    if (m->writer) {
        write_event(m, action, addr, size, stack, capture);
    } else if (m->options->dialect == DIALECT_CPP && capture != m->event_capture) {
        m->event_capture = capture;
        count_uses(m, stack, capture);
    }
    t->events++;
    if (m->in_use > t->peak) {
        t->peak = m->in_use;
        t->peak_event = index;
    }
    if (m->in_use == t->peak)
        t->peak_last_event = index;
    if (m->reserved > t->reserved_peak)
        t->reserved_peak = m->reserved;
    if (index % EVENTS_PER_STEP == 0) {
        if (m->step_len == m->step_cap)
            m->step_us = grown(m->step_us, &m->step_cap, sizeof *m->step_us);
        m->step_us[m->step_len++] = m->now_us;
    }
}

/* A training program comes by the same places in the same order, step after step, with a
 * detour now and then. */
static uint32_t next_stack(struct maker *m, uint32_t *at, uint32_t first, uint32_t count)
{
    *at = below(m, 8) == 0 ? below(m, count) : (*at + 1) % count;
    return first + *at;
}

static void complete(struct maker *m, uint32_t block, uint32_t stack, uint32_t capture)
{
    const struct block *b = &m->caching.block[block];
    event(m, KEY_free_completed, b->addr, b->requested, stack, capture);
    caching_release(&m->caching, block);
}

/* Frees that waited for another stream complete inside a later allocation, with its stack. */
static void complete_oldest(struct maker *m, uint32_t stack, uint32_t capture)
{
    complete(m, m->pending[0], stack, capture);
    m->pending_len--;
    memmove(m->pending, m->pending + 1, m->pending_len * sizeof *m->pending);
}

static uint64_t next_size(struct maker *m)
{
    /* Large blocks become rarer as more live at once, so that the device stays of this world. */
    uint32_t live = m->options->live;
    uint32_t large_permille = live <= 4000 ? 400 : 400 * 4000 / live;
    bool large = below(m, 1000) < large_permille;
    return (large ? m->large_size : m->small_size)[below(m, SIZES_LEN)];
}

static void allocate(struct maker *m)
{
    uint32_t stacks = m->options->stacks;
    uint32_t alloc_stacks = stacks - stacks / 3;
    uint32_t stack = next_stack(m, &m->alloc_stack, 0, alloc_stacks);
    uint32_t capture = m->capture++;
    if (m->pending_len > 0 && below(m, 2) == 0)
        complete_oldest(m, stack, capture);

    uint64_t size = next_size(m);
    uint32_t segment;
    uint32_t block = caching_take(&m->caching, size, &segment);
    if (segment != NONE) {
        struct segment *s = &m->caching.segment[segment];
        s->stack = stack;
        s->capture = capture;
        event(m, KEY_segment_alloc, s->addr, s->size, stack, capture);
    }
    struct block *b = &m->caching.block[block];
    b->stack = stack;
    b->capture = capture;
    event(m, KEY_alloc, b->addr, size, stack, capture);
    push(&m->live, &m->live_len, &m->live_cap, block);
}

static void release(struct maker *m)
{
    uint32_t stacks = m->options->stacks;
    uint32_t free_stacks = stacks / 3 ? stacks / 3 : 1;
    uint32_t stack = next_stack(m, &m->free_stack, stacks - free_stacks, free_stacks);
    uint32_t capture = m->capture++;

    /* Most blocks die young. */
    uint32_t young = m->live_len < 32 ? m->live_len : 32;
    uint32_t at = below(m, 5) < 3 ? m->live_len - 1 - below(m, young) : below(m, m->live_len);
    uint32_t block = m->live[at];
    m->live[at] = m->live[--m->live_len];

    struct block *b = &m->caching.block[block];
    if (m->recording && b->capture < m->first_capture)
        m->truth.orphan_frees++;
    event(m, KEY_free_requested, b->addr, b->requested, stack, capture);
    if (below(m, 50) == 0) {
        b->state = BLOCK_PENDING;
        push(&m->pending, &m->pending_len, &m->pending_cap, block);
    } else {
        complete(m, block, stack, capture);
    }
}

/* Waits for other streams, then gives back what no block uses. */
static void empty_cache(struct maker *m)
{
    uint32_t stack = m->options->stacks;
    uint32_t capture = m->capture++;
    while (m->pending_len > 0)
        complete_oldest(m, stack, capture);
    for (uint32_t s = caching_unused(&m->caching); s != NONE; s = caching_unused(&m->caching)) {
        uint64_t addr = m->caching.segment[s].addr, size = m->caching.segment[s].size;
        event(m, KEY_segment_free, addr, size, stack, capture);
        caching_return(&m->caching, s);
    }
}

/* One step of the program.  The live set swings between 60 % and 100 % of its size. */
static void act(struct maker *m)
{
    uint64_t phase = m->actions++ % ACTIONS_PER_WAVE;
    uint64_t rise = phase < ACTIONS_PER_WAVE / 2 ? phase : ACTIONS_PER_WAVE - phase;
    uint64_t goal =
        m->options->live * (ACTIONS_PER_WAVE * 6 / 10 + rise * 8 / 10) / ACTIONS_PER_WAVE;
    m->now_us += 1 + below(m, 60);
    if (below(m, 30000) == 0)
        empty_cache(m);
    if (m->live_len == 0 || below(m, 100) < (m->live_len < goal ? 62 : 38))
        allocate(m);
    else
        release(m);
}

/* The whole run, from its seed: the part nobody recorded, then `events` events or a few more.  The
 * first part frees nothing, so that the size of each block that it leaves can be told. */
static void simulate(struct maker *m, uint64_t events)
{
    caching_open(&m->caching);
    m->random = m->options->seed;
    m->live_len = m->pending_len = 0;
    m->alloc_stack = m->free_stack = 0;
    m->capture = 0;
    m->actions = 0;
    m->now_us = START_US;
    m->in_use = m->reserved = 0;
    m->step_len = 0;
    m->event_capture = NONE;
    m->recording = false;
    while (m->live_len < m->options->live * UINT64_C(6) / 10)
        allocate(m);

    m->recording = true;
    m->first_capture = m->capture;
    m->truth = (struct truth){ .start = m->in_use,
                               .peak = m->in_use,
                               .peak_event = -1,
                               .peak_last_event = -1,
                               .reserved_peak = m->reserved };
    while (m->truth.events < events)
        act(m);
    m->truth.end = m->in_use;
}

static int by_capture(const void *a, const void *b)
{
    const struct pin *x = a, *y = b;
    return (x->capture > y->capture) - (x->capture < y->capture);
}

static void add_pin(struct maker *m, uint32_t capture, uint32_t stack)
{
    if (m->pin_len == m->pin_cap)
        m->pin = grown(m->pin, &m->pin_cap, sizeof *m->pin);
    m->pin[m->pin_len++] = (struct pin){ capture, stack, NO_MEMO };
}

/* Learns from the allocator at the end what the segments say and which lists they hold. */
static void learn_end(struct maker *m)
{
    struct truth *t = &m->truth;
    m->pin_len = 0;
    for (uint32_t i = 0; i < m->last.segment_len; i++) {
        const struct segment *s = &m->last.segment[i];
        if (s->first == NONE)
            continue;
        t->segments++;
        t->reserved_end += (int64_t)s->size;
        add_pin(m, s->capture, s->stack);
        for (uint32_t at = s->first; at != NONE; at = m->last.block[at].after) {
            const struct block *b = &m->last.block[at];
            t->blocks++;
            if (b->state == BLOCK_INACTIVE)
                continue;
            add_pin(m, b->capture, b->stack);
            t->active_end += (int64_t)b->size;
            if (b->state == BLOCK_ALLOCATED)
                t->allocated_end += (int64_t)b->size;
            else
                t->pending += (int64_t)b->requested;
        }
    }
    qsort(m->pin, m->pin_len, sizeof *m->pin, by_capture);
    uint32_t len = 0;
    for (uint32_t i = 0; i < m->pin_len; i++) {
        if (len > 0 && m->pin[len - 1].capture == m->pin[i].capture)
            continue;
        m->pin[len++] = m->pin[i];
        if (m->pin[i].capture < m->first_capture)
            count_uses(m, m->pin[i].stack, m->pin[i].capture);
    }
    m->pin_len = len;
}

static void write_traces(struct maker *m, const struct truth *learned)
{
    struct writer *w = m->writer;
    key(m, KEY_device_traces);
    uint32_t traces = writer_list_open(w, 1);
    uint32_t trace = writer_list_open(w, learned->events);
    m->pin_at = 0;
    simulate(m, learned->events);
    writer_list_close(w, learned->events, trace, false);
    writer_list_close(w, 1, traces, true);
}

/* Makes a whole snapshot of `events` events; returns its bytes.  `*ret_written` is false when
 * the file did not take them.  `file` may be NULL. */
static uint64_t make(struct maker *m, uint64_t events, FILE *file, bool *ret_written)
{
    static struct writer writer;
    for (uint32_t i = 0; i < KEY_COUNT; i++)
        m->key[i] = (struct text){ key_chars[i], (uint32_t)strlen(key_chars[i]), NO_MEMO };
    for (uint32_t i = 0; i < REGIONS_LEN; i++) {
        int len = snprintf(m->region_chars[i], sizeof m->region_chars[i],
                           "Torch-Compiled Region: %" PRIu32 "/0", i);
        m->region[i] = (struct text){ m->region_chars[i], (uint32_t)len, NO_MEMO };
    }
    m->no_stack_memo = NO_MEMO;
    program_reset(&m->program);
    m->writer = NULL;
    simulate(m, events);
    m->last = m->caching;
    learn_end(m);
    struct truth learned = m->truth;

    writer_open(&writer, file, m->options->dialect);
    m->writer = &writer;
    uint32_t top = writer_dict_open(&writer);
    if (!m->options->traces_first)
        write_segments(m);
    write_traces(m, &learned);
    if (m->options->traces_first)
        write_segments(m);
    write_settings(m);
    write_annotations(m);
    writer_dict_close(&writer, top, true);
    *ret_written = writer_close(&writer);
    m->truth = learned;
    caching_close(&m->caching);
    caching_close(&m->last);
    return writer.flushed_bytes;
}

/* Two small snapshots tell what an event costs, and what the rest does. */
static uint64_t events_for(struct maker *m, uint64_t bytes)
{
    const uint64_t probe = 20000;
    bool written;
    uint64_t one = make(m, probe, NULL, &written);
    uint64_t two = make(m, 2 * probe, NULL, &written);
    uint64_t event_bytes = (two - one) / probe;
    uint64_t fixed = one - event_bytes * probe;
    uint64_t events = bytes > fixed ? (bytes - fixed) * probe / (two - one) : 0;
    return events > 100 ? events : 100;
}

static void choose_sizes(struct maker *m)
{
    uint64_t random = m->options->seed ^ 0x5eed;
    for (uint32_t i = 0; i < SIZES_LEN; i++) {
        uint64_t a = random_next(&random), b = random_next(&random);
        /* A power of two, then anything above it; a third of the sizes are round. */
        uint64_t small = UINT64_C(1) << (2 + a % 18);
        m->small_size[i] = b % 3 ? small + b / 3 % small : small;
        uint64_t large = UINT64_C(1) << (20 + a / 64 % 6);
        m->large_size[i] = b % 3 ? large + b / 3 % large / 4 * 4 : large + 4;
    }
}

static void print_truth(const struct maker *m, uint64_t bytes)
{
    const struct truth *t = &m->truth;
    printf("{ \"bytes\": %" PRIu64 ", \"events\": %" PRIu64 ", \"segments\": %" PRIu64
           ", \"blocks\": %" PRIu64 ",\n",
           bytes, t->events, t->segments, t->blocks);
    printf("  \"requested\": { \"start_bytes\": %" PRId64 ", \"peak_bytes\": %" PRId64
           ", \"peak_event\": %" PRId64 ", \"peak_last_event\": %" PRId64
           ", \"end_bytes\": %" PRId64 " },\n",
           t->start, t->peak, t->peak_event, t->peak_last_event, t->end);
    printf("  \"allocated\": { \"end_bytes\": %" PRId64 " }, \"active\": { \"end_bytes\": %" PRId64
           " },\n",
           t->allocated_end, t->active_end);
    printf("  \"reserved\": { \"peak_bytes\": %" PRId64 ", \"end_bytes\": %" PRId64 " },\n",
           t->reserved_peak, t->reserved_end);
    printf("  \"pending_bytes\": %" PRId64 ", \"orphan_frees\": %" PRIu64
           ", \"double_allocs\": 0, \"oom_events\": 0 }\n",
           t->pending, t->orphan_frees);
}

static const char usage_text[] =
    "usage: make_snapshot [options] FILE\n"
    "  --bytes N      about this many bytes (default 580000000)\n"
    "  --events N     this many events, or a few more, whatever their bytes\n"
    "  --dialect D    cpython (default), protocol3 or cpp\n"
    "  --live N       blocks in use at once (default 2000)\n"
    "  --stacks N     different call stacks (default 3000)\n"
    "  --distinct     no two tracebacks alike\n"
    "  --traces-first device_traces before segments\n"
    "  --seed N       another run of the same kind (default 1)\n";

static int usage_error(const char *message, const char *what)
{
    fprintf(stderr, "make_snapshot: %s%s\n%s", message, what, usage_text);
    return 2;
}

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

static bool parse_dialect(const char *chars, enum dialect *ret)
{
    static const char *const name[] = {
        [DIALECT_CPYTHON] = "cpython", [DIALECT_PROTOCOL3] = "protocol3", [DIALECT_CPP] = "cpp"
    };
    for (unsigned i = 0; i < sizeof name / sizeof *name; i++) {
        if (strcmp(chars, name[i]) == 0) {
            *ret = (enum dialect)i;
            return true;
        }
    }
    return false;
}

/* 0: go on; else the exit code. */
static int parse_options(int argc, char **argv, struct options *o)
{
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (strcmp(arg, "--distinct") == 0) {
            o->distinct = true;
            continue;
        }
        if (strcmp(arg, "--traces-first") == 0) {
            o->traces_first = true;
            continue;
        }
        if (strncmp(arg, "--", 2) != 0) {
            if (o->path)
                return usage_error("more than one file: ", arg);
            o->path = arg;
            continue;
        }
        if (i + 1 == argc)
            return usage_error("unknown option, or one without its value: ", arg);
        const char *chars = argv[++i];
        uint64_t value = 0;
        bool good;
        if (strcmp(arg, "--bytes") == 0) {
            good = parse_number(chars, 1, UINT64_C(1) << 40, &o->bytes);
        } else if (strcmp(arg, "--events") == 0) {
            good = parse_number(chars, 1, UINT64_C(1) << 30, &o->events);
        } else if (strcmp(arg, "--seed") == 0) {
            good = parse_number(chars, 0, UINT64_MAX, &o->seed);
        } else if (strcmp(arg, "--live") == 0) {
            good = parse_number(chars, 2, 10000000, &value);
            o->live = (uint32_t)value;
        } else if (strcmp(arg, "--stacks") == 0) {
            good = parse_number(chars, 1, 10000000, &value);
            o->stacks = (uint32_t)value;
        } else if (strcmp(arg, "--dialect") == 0) {
            good = parse_dialect(chars, &o->dialect);
        } else {
            return usage_error("unknown option: ", arg);
        }
        if (!good)
            return usage_error("not a value that this option takes: ", chars);
    }
    return o->path ? 0 : usage_error("which file?", "");
}

int main(int argc, char **argv)
{
    static struct maker maker;
    struct options options = { .bytes = 580000000, .seed = 1, .live = 2000, .stacks = 3000 };
    int code = parse_options(argc, argv, &options);
    if (code)
        return code;
    struct maker *m = &maker;
    m->options = &options;
    choose_sizes(m);
    program_open(&m->program, options.stacks, options.distinct, options.seed);
    uint64_t events = options.events ? options.events : events_for(m, options.bytes);

    FILE *file = fopen(options.path, "wb");
    if (!file) {
        fprintf(stderr, "make_snapshot: %s: %s\n", options.path, strerror(errno));
        return 3;
    }
    bool written;
    uint64_t bytes = make(m, events, file, &written);
    if (fclose(file) != 0 || !written) {
        fprintf(stderr, "make_snapshot: %s: could not write it all\n", options.path);
        return 3;
    }
    print_truth(m, bytes);
    program_close(&m->program);
    free(m->live);
    free(m->pending);
    free(m->pin);
    free(m->step_us);
    return fflush(stdout) == 0 ? 0 : 3;
}
