/* window.c - unpacks the columns of allocations, keeps rows, and packs them again. */
#include "render/page/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/task_list.h"
#include "render/page/unpack.h"

struct windowing {
    struct page_parts *parts;
    struct page_device *device;
    struct page_window window;
    struct arena *arena;
    struct vrs_error *err;
    uint64_t *born, *until; /* of each allocation before any is taken out */
    uint32_t *row;          /* those that stay */
    uint32_t rows;
};

/* A column on its way, by a thread of its own. */
struct repacking {
    struct windowing *w;
    struct page_packed made[PAGE_COLUMNS_MOST];
    struct buf bytes[PAGE_COLUMNS_MOST];
};

bool page_is_windowed(const struct page_device *device)
{
    return device->first_state > 0 || device->last_state < device->states - 1;
}

struct page_window page_window_around(const struct page_device *d, uint32_t states)
{
    uint32_t peak = d->peak_state, first = peak < states / 2 ? 0 : peak - states / 2;
    if (states >= d->states)
        return (struct page_window){ 0, d->states - 1 };
    if (first > d->states - states)
        first = d->states - states;
    return (struct page_window){ first, first + states - 1 };
}

uint64_t page_window_bytes(const struct page_device *device)
{
    static const enum page_table_name tables[] = { PAGE_ALLOC, PAGE_TIME };
    uint64_t bytes = 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (uint32_t c = 0; c < device->table[tables[t]].columns; c++)
            bytes += device->table[tables[t]].column[c].len;
    return bytes;
}

static const struct page_packed *column_named(const struct page_table *table, const char *name)
{
    for (uint32_t c = 0; c < table->columns; c++)
        if (strcmp(table->column[c].column->name, name) == 0)
            return &table->column[c];
    return NULL;
}

/* A column that is not there, as of a table without rows, is zeros.  False when out of memory. */
static bool unpack_named(struct windowing *w, enum page_table_name name, const char *column_name,
                         uint64_t **ret)
{
    const struct page_table *table = &w->device->table[name];
    const struct page_packed *column = column_named(table, column_name);
    if (column != NULL)
        return page_unpack(column, w->parts->blocks, w->arena, ret, w->err) == VRS_OK;
    *ret = arena_array(w->arena, uint64_t, table->rows);
    return *ret != NULL;
}

static bool is_alive(const struct windowing *w, uint32_t row, uint64_t first, uint64_t last)
{
    return w->born[row] <= last && (w->until[row] == 0 || w->born[row] + w->until[row] > first);
}

/* Which allocations are alive in a state of the window. */
static enum vrs_status find_rows(struct windowing *w)
{
    uint32_t count = w->device->table[PAGE_ALLOC].rows;
    if (!unpack_named(w, PAGE_ALLOC, "born", &w->born))
        return vrs_no_memory(w->err);
    if (!unpack_named(w, PAGE_ALLOC, "until", &w->until))
        return vrs_no_memory(w->err);
    w->row = arena_array(w->arena, uint32_t, count);
    if (w->row == NULL)
        return vrs_no_memory(w->err);
    for (uint32_t i = 0; i < count; i++)
        if (is_alive(w, i, w->window.first, w->window.last))
            w->row[w->rows++] = i;
    return VRS_OK;
}

static enum vrs_status repack_rows(struct repacking *p, uint32_t c)
{
    const struct windowing *w = p->w;
    uint64_t *numbers = NULL;
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    enum vrs_status status = page_unpack(&w->device->table[PAGE_ALLOC].column[c], w->parts->blocks,
                                         &arena, &numbers, NULL);
    for (uint32_t i = 0; status == VRS_OK && i < w->rows; i++)
        numbers[i] = numbers[w->row[i]];
    if (status == VRS_OK)
        status = page_repack(&w->device->table[PAGE_ALLOC].column[c], numbers, w->rows, &p->made[c],
                             &p->bytes[c], NULL);
    arena_free(&arena);
    return status;
}

static enum vrs_status repack_column(void *arg, uint32_t c, uint32_t thread, struct vrs_error *err)
{
    (void)thread;
    return repack_rows(arg, c) == VRS_OK ? VRS_OK : vrs_no_memory(err);
}

static enum vrs_status take_allocations(struct windowing *w, uint32_t threads)
{
    struct page_table *table = &w->device->table[PAGE_ALLOC];
    struct repacking *p = arena_array(w->arena, struct repacking, 1);
    if (p == NULL)
        return vrs_no_memory(w->err);
    p->w = w;
    for (uint32_t c = 0; c < table->columns; c++)
        buf_init(&p->bytes[c], SIZE_MAX / 2);
    struct task_list list = { table->columns, repack_column, p };
    enum vrs_status status = task_list_run(threads, &list, w->err);
    for (uint32_t c = 0; c < table->columns; c++) {
        if (status == VRS_OK)
            status = page_replace(w->parts, &table->column[c], &p->made[c], &p->bytes[c], w->err);
        buf_free(&p->bytes[c]);
    }
    table->rows = w->rows;
    return status;
}

/* Steps between events outside the window become one at the next state of the cover.  The first
 * is 0, so that a column with one value has no more of them afterwards. */
static void join_steps(const struct windowing *w, const uint64_t *cover, uint32_t columns,
                       uint64_t *dt)
{
    enum { UNKNOWN = UINT32_MAX };
    uint64_t waiting = 0;
    uint32_t at = 0;
    for (uint32_t state = 1; state < w->device->states; state++) {
        uint64_t *step = &dt[state - 1];
        if (state > w->window.first && state <= w->window.last)
            continue;
        while (at < columns && cover[at] < state)
            at++;
        bool shown = (at < columns && cover[at] == state) || state == w->window.first;
        uint64_t more = *step == UNKNOWN ? 0 : *step;
        /* More than one row holds: the row before is shown nowhere, and takes what waited. */
        if (waiting + more >= UNKNOWN) {
            step[-1] = waiting;
            waiting = 0;
        }
        waiting += more;
        *step = shown ? waiting : 0;
        waiting -= *step;
    }
}

static enum vrs_status take_times(struct windowing *w, const uint64_t *cover)
{
    struct page_table *table = &w->device->table[PAGE_TIME];
    struct page_packed made;
    struct buf bytes;
    uint64_t *dt = NULL;
    if (table->columns == 0)
        return VRS_OK;
    if (!unpack_named(w, PAGE_TIME, "dt", &dt))
        return vrs_no_memory(w->err);
    join_steps(w, cover, w->device->table[PAGE_COVER_TABLE].rows, dt);
    buf_init(&bytes, SIZE_MAX / 2);
    enum vrs_status status = page_repack(&table->column[0], dt, table->rows, &made, &bytes, w->err);
    if (status == VRS_OK)
        status = page_replace(w->parts, &table->column[0], &made, &bytes, w->err);
    buf_free(&bytes);
    return status;
}

static uint64_t live_in(const struct windowing *w, uint64_t state)
{
    uint64_t live = 0;
    for (uint32_t i = 0; i < w->rows; i++)
        live += is_alive(w, w->row[i], state, state);
    return live;
}

static bool has_check(const struct page_device *d, uint64_t state)
{
    for (uint32_t i = 0; i < d->checks; i++)
        if (d->check[i].state == state)
            return true;
    return false;
}

static int by_state(const void *a, const void *b)
{
    const struct page_check *x = a, *y = b;
    return (x->state > y->state) - (x->state < y->state);
}

/* Those inside stay; the cover knows the curves at others.  It has no numbers below zero. */
static enum vrs_status take_checks(struct windowing *w, const uint64_t *cover)
{
    struct page_device *d = w->device;
    uint32_t columns = d->table[PAGE_COVER_TABLE].rows, kept = 0, first = 0, last = 0;
    uint64_t *requested = NULL, *reserved = NULL;
    for (uint32_t i = 0; i < d->checks; i++)
        if (d->check[i].state >= w->window.first && d->check[i].state <= w->window.last)
            d->check[kept++] = d->check[i];
    d->checks = kept;
    if (!unpack_named(w, PAGE_COVER_TABLE, "requested", &requested))
        return vrs_no_memory(w->err);
    if (!unpack_named(w, PAGE_COVER_TABLE, "reserved", &reserved))
        return vrs_no_memory(w->err);
    while (first < columns && cover[first] < w->window.first)
        first++;
    for (last = first; last < columns && cover[last] <= w->window.last;)
        last++;
    uint32_t wanted = PAGE_CHECKS - kept;
    for (uint32_t k = 0; k < wanted && last > first && d->checks < PAGE_CHECKS; k++) {
        uint32_t c = first + (uint32_t)((uint64_t)k * (last - first) / wanted);
        if (has_check(d, cover[c]) || requested[c] == 0 || reserved[c] == 0)
            continue;
        d->check[d->checks++] = (struct page_check){
            .state = (uint32_t)cover[c],
            .requested_bytes = (int64_t)requested[c],
            .live = live_in(w, cover[c]),
            .reserved_bytes = (int64_t)reserved[c],
            .reserved_known = d->start_known,
        };
    }
    qsort(d->check, d->checks, sizeof *d->check, by_state);
    return VRS_OK;
}

static enum vrs_status take(struct windowing *w, uint32_t threads)
{
    uint64_t *cover = NULL;
    if (!unpack_named(w, PAGE_COVER_TABLE, "state", &cover))
        return vrs_no_memory(w->err);
    TRY(find_rows(w));
    TRY(take_checks(w, cover));
    TRY(take_allocations(w, threads));
    TRY(take_times(w, cover));
    w->device->first_state = w->window.first;
    w->device->last_state = w->window.last;
    return VRS_OK;
}

enum vrs_status page_window_take(struct page_parts *parts, struct page_device *device,
                                 struct page_window window, uint32_t threads, struct vrs_error *err)
{
    struct arena arena;
    struct windowing w = {
        .parts = parts, .device = device, .window = window, .arena = &arena, .err = err
    };
    if (window.first <= device->first_state && window.last >= device->last_state)
        return VRS_OK;
    arena_init(&arena, SIZE_MAX / 2);
    enum vrs_status status = take(&w, threads);
    arena_free(&arena);
    return status;
}
