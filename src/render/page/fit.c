/* fit.c - takes columns out of tables and their bytes out of blocks, and says what is left. */
#include "render/page/fit.h"

#include <assert.h>
#include <string.h>

#include "render/page/window.h"
#include "render/write/base64.h"
#include "render/write/human.h"

const char *const page_spare_words[PAGE_SPARES] = {
    [PAGE_SPARE_FREES] = "stacks of frees",  [PAGE_SPARE_RULES] = "category rules",
    [PAGE_SPARE_BLOCKS] = "sizes of blocks", [PAGE_SPARE_TIMES] = "times",
    [PAGE_SPARE_ADDRESSES] = "addresses",
};

static const struct {
    enum page_spare spare;
    enum page_table_name table;
    const char *column;
} spares[] = {
    { PAGE_SPARE_FREES, PAGE_ALLOC, "free_stack" }, { PAGE_SPARE_RULES, PAGE_ALLOC, "rule" },
    { PAGE_SPARE_BLOCKS, PAGE_ALLOC, "pad" },       { PAGE_SPARE_BLOCKS, PAGE_ALLOC, "source" },
    { PAGE_SPARE_TIMES, PAGE_TIME, "dt" },          { PAGE_SPARE_ADDRESSES, PAGE_ALLOC, "lane" },
};

/* What stands behind `end` of a block moves by `by`, which is modulo 2^64. */
static void move_behind(struct page_table *table, uint32_t tables, uint32_t block, uint64_t end,
                        uint64_t by)
{
    for (uint32_t t = 0; t < tables; t++)
        for (uint32_t c = 0; c < table[t].columns; c++) {
            struct page_packed *column = &table[t].column[c];
            if (column->len > 0 && column->block == block && column->at >= end)
                column->at += by;
        }
}

/* Puts `len` bytes in the place of a column's, and all that stands behind them moves. */
static bool put_in_place(struct page_parts *parts, const struct page_packed *old, const char *bytes,
                         size_t len)
{
    struct buf *block = &parts->blocks->block.at[old->block];
    size_t end = (size_t)(old->at + old->len), more = len > old->len ? len - (size_t)old->len : 0;
    size_t behind = block->len - end;
    buf_bytes(block, bytes, more); /* room */
    if (block->failed)
        return false;
    memmove(block->at + old->at + len, block->at + end, behind);
    if (len > 0)
        memcpy(block->at + old->at, bytes, len);
    block->len = (size_t)old->at + len + behind;
    uint64_t by = (uint64_t)len - old->len;
    for (uint32_t f = 0; f < parts->files; f++)
        for (uint32_t d = 0; d < parts->file[f].devices; d++)
            move_behind(parts->file[f].device[d].table, PAGE_TABLES, old->block, end, by);
    for (uint32_t p = 0; p < parts->pairs; p++)
        move_behind(parts->pair[p].table, PAGE_PAIR_TABLES, old->block, end, by);
    return true;
}

enum vrs_status page_replace(struct page_parts *parts, struct page_packed *column,
                             const struct page_packed *made, const struct buf *bytes,
                             struct vrs_error *err)
{
    struct page_packed old = *column;
    assert(old.len > 0 || bytes->len == 0);
    if (old.len > 0 && !put_in_place(parts, &old, bytes->at, bytes->len))
        return vrs_no_memory(err);
    *column = *made;
    column->at = old.at;
    return VRS_OK;
}

static bool take_column(struct page_parts *parts, struct page_table *table, const char *name)
{
    uint32_t c = 0;
    while (c < table->columns && strcmp(table->column[c].column->name, name) != 0)
        c++;
    if (c == table->columns || table->column[c].len == 0)
        return false;
    struct page_packed gap = table->column[c];
    table->columns--;
    memmove(&table->column[c], &table->column[c + 1], (table->columns - c) * sizeof *table->column);
    return put_in_place(parts, &gap, NULL, 0);
}

static bool leave_out(struct page_parts *parts, enum page_spare spare)
{
    bool any = false;
    for (uint32_t f = 0; f < parts->files; f++)
        for (uint32_t d = 0; d < parts->file[f].devices; d++) {
            struct page_device *device = &parts->file[f].device[d];
            /* Of a final state alone they are what there is to see. */
            if (spare == PAGE_SPARE_ADDRESSES && device->states < 2)
                continue;
            for (size_t i = 0; i < sizeof spares / sizeof *spares; i++)
                if (spares[i].spare == spare)
                    any = take_column(parts, &device->table[spares[i].table], spares[i].column) ||
                          any;
            if (device->table[PAGE_TIME].columns == 0)
                device->base_us = UNKNOWN_U64;
        }
    return any;
}

/* A page on its way. */
struct fitting {
    struct page *page;
    struct page_parts *parts;
    const struct page_limits *limits;
};

/* The devices of all files, one after the other; NULL behind the last. */
static struct page_device *device_at(const struct fitting *f, uint32_t i)
{
    for (uint32_t k = 0; k < f->parts->files; k++) {
        if (i < f->parts->file[k].devices)
            return &f->parts->file[k].device[i];
        i -= f->parts->file[k].devices;
    }
    return NULL;
}

/* How many states the page has of the device that it has most of. */
static uint32_t most_states(const struct fitting *f)
{
    const struct page_device *d;
    uint32_t most = 0;
    for (uint32_t i = 0; (d = device_at(f, i)) != NULL; i++) {
        uint32_t states = d->last_state - d->first_state + 1;
        most = states > most ? states : most;
    }
    return most;
}

/* A device that the page has a part of; `windows` counts them. */
static const struct page_device *first_window(const struct fitting *f, uint32_t *windows)
{
    const struct page_device *first = NULL, *d;
    *windows = 0;
    for (uint32_t i = 0; (d = device_at(f, i)) != NULL; i++) {
        if (!page_is_windowed(d))
            continue;
        first = first == NULL ? d : first;
        ++*windows;
    }
    return first;
}

/* State p is that after event p - 1. */
static void put_window(struct buf *text, const struct fitting *f)
{
    uint32_t windows = 0;
    const struct page_device *d = first_window(f, &windows);
    if (d == NULL)
        return;
    buf_text(text, "holds only the allocations that live in ");
    if (windows > 1)
        buf_format(text, "at most %u events of each device", (unsigned)most_states(f));
    else if (d->first_state == 0)
        buf_format(text, "the first %u of %u events", (unsigned)d->last_state,
                   (unsigned)(d->states - 1));
    else
        buf_format(text, "events %u to %u of %u", (unsigned)(d->first_state - 1),
                   (unsigned)(d->last_state - 1), (unsigned)(d->states - 1));
    buf_text(text, f->limits->asked ? ", as requested, " : ", around the peak, ");
}

/* What the page has to be called for what it lacks. */
static enum vrs_status say_left_out(const struct fitting *f, uint64_t bytes, struct vrs_error *err)
{
    struct buf text, window;
    bool any = false;
    buf_init(&text, SIZE_MAX / 2);
    buf_init(&window, SIZE_MAX / 2);
    put_window(&window, f);
    buf_text(&text, "the page ");
    for (uint32_t i = 0; i < PAGE_SPARES; i++) {
        if (!f->page->left_out[i])
            continue;
        buf_format(&text, "%s%s", any ? ", " : "goes without ", page_spare_words[i]);
        any = true;
    }
    if (any)
        buf_text(&text, window.len > 0 ? ", and " : ", ");
    buf_str(&text, buf_slice(&window));
    buf_text(&text, any || window.len > 0 ? "to stay under " : "is larger than ");
    human_known_bytes(&text, f->limits->most_bytes);
    if (bytes > f->limits->most_bytes) {
        buf_text(&text, "; it has ");
        human_known_bytes(&text, bytes);
        buf_text(&text, ", since no allocation of these events is left out");
    }
    buf_char(&text, '\0');
    enum vrs_status status = text.failed || window.failed ? vrs_no_memory(err) : VRS_OK;
    if (status == VRS_OK)
        f->limits->note(f->limits->note_arg, text.at);
    buf_free(&text);
    buf_free(&window);
    return status;
}

static enum vrs_status refuse_size(uint64_t least, struct vrs_error *err)
{
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    human_known_bytes(&text, least);
    enum vrs_status status =
        text.failed ? vrs_no_memory(err)
                    : vrs_fail(err, VRS_USAGE,
                               "no page of these events is smaller than %.*s; say --max-size %llu, "
                               "or more",
                               (int)text.len, text.at, (unsigned long long)least);
    buf_free(&text);
    return status;
}

/* Holds fewer and fewer events around the peak, until the page is small enough or shows too few.
 * What `bytes` are too many is taken to lie evenly over the events. */
static enum vrs_status narrow(const struct fitting *f, uint64_t *bytes, struct vrs_error *err)
{
    uint32_t states = most_states(f);
    while (*bytes > f->limits->most_bytes && states > PAGE_WINDOW_LEAST) {
        uint64_t spare = 0, excess = *bytes - f->limits->most_bytes;
        struct page_device *d;
        for (uint32_t i = 0; (d = device_at(f, i)) != NULL; i++)
            spare += base64_length((size_t)page_window_bytes(d));
        double share = excess < spare ? 0.98 * (double)(spare - excess) / (double)spare : 0;
        states = (uint32_t)(share * states);
        if (states < PAGE_WINDOW_LEAST)
            states = PAGE_WINDOW_LEAST;
        for (uint32_t i = 0; (d = device_at(f, i)) != NULL; i++)
            TRY(page_window_take(f->parts, d, page_window_around(d, states), f->limits->threads,
                                 err));
        TRY(page_bytes(f->page, bytes, err));
    }
    return VRS_OK;
}

enum vrs_status page_fit(struct page *page, struct page_parts *parts,
                         const struct page_limits *limits, struct vrs_error *err)
{
    const struct fitting f = { page, parts, limits };
    uint64_t most = limits->most_bytes, bytes = 0;
    bool any = false;
    if (most == 0)
        return VRS_OK;
    TRY(page_bytes(page, &bytes, err));
    for (uint32_t next = 0; next < PAGE_SPARES && bytes > most; next++) {
        any = true;
        if (next == PAGE_SPARES_BEFORE_EVENTS && !limits->asked)
            TRY(narrow(&f, &bytes, err));
        if (bytes <= most)
            break;
        page->left_out[next] = leave_out(parts, (enum page_spare)next);
        if (page->left_out[next])
            TRY(page_bytes(page, &bytes, err));
    }
    if (bytes > most && !limits->may_be_larger)
        return refuse_size(bytes, err);
    return any && limits->note != NULL ? say_left_out(&f, bytes, err) : VRS_OK;
}
