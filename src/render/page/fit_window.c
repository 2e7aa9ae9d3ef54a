/* fit_window.c - samples windows of a page on a line between what fits and what does not. */
#include "render/page/fit_window.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/task_list.h"
#include "render/page/column.h"
#include "render/page/page.h"
#include "render/page/window.h"
#include "render/write/base64.h"

uint32_t fit_window_states(const struct page *page)
{
    const struct page_device *d;
    uint32_t most = 0;
    for (uint32_t i = 0; (d = page_device_at(page, i)) != NULL; i++) {
        uint32_t states = d->last_state - d->first_state + 1;
        most = states > most ? states : most;
    }
    return most;
}

enum vrs_status fit_window_take(const struct page *page, uint32_t states, struct vrs_error *err)
{
    struct page_device *d;
    for (uint32_t i = 0; (d = page_device_at(page, i)) != NULL; i++)
        TRY(page_window_take(d, page_window_around(d, states), err));
    return VRS_OK;
}

struct sampling {
    const struct page_chunks *chunks;
    uint64_t *bytes; /* of each column in the queue */
};

static bool goes_before_events(const struct page_work *work)
{
    return work->column->spare > PAGE_NEEDED && work->column->spare < PAGE_SPARES_BEFORE_EVENTS;
}

static enum vrs_status sample_column(void *arg, uint32_t i, uint32_t thread, struct vrs_error *err)
{
    const struct sampling *s = arg;
    const struct page_work *work = &s->chunks->work.at[i];
    (void)thread;
    if (work->share != PAGE_WINDOWED || goes_before_events(work))
        return VRS_OK;
    return page_sample(work, &s->bytes[i], err);
}

static enum vrs_status sample_columns(const struct page_chunks *chunks, uint32_t threads,
                                      uint64_t *ret, struct vrs_error *err)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    struct sampling s = { chunks, arena_array(&arena, uint64_t, chunks->work.len) };
    struct task_list list = { chunks->work.len, sample_column, &s };
    enum vrs_status status =
        s.bytes == NULL ? vrs_no_memory(err) : task_list_run(threads, &list, err);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < chunks->work.len && status == VRS_OK; i++)
        bytes += s.bytes[i];
    arena_free(&arena);
    TRY(status);
    *ret = bytes;
    return VRS_OK;
}

/* What is in the page beside the columns of windows, whether or not these are packed. */
static enum vrs_status measure_rest(const struct page *page, uint64_t *ret, struct vrs_error *err)
{
    enum { HEAD = 32 }; /* of a column: what the head does not say of it yet */
    uint64_t bytes, packed = 0, columns = 0;
    TRY(page_bytes(page, &bytes, err));
    for (uint32_t i = 0; i < page->chunks->work.len; i++)
        if (page->chunks->work.at[i].share == PAGE_WINDOWED) {
            packed += page->chunks->work.at[i].packed.len;
            columns++;
        }
    *ret = bytes - base64_length((size_t)packed) + (packed == 0 ? columns * HEAD : 0);
    return VRS_OK;
}

enum vrs_status fit_window_sample(const struct page *page, uint32_t threads, uint64_t *ret,
                                  struct vrs_error *err)
{
    uint64_t bytes, rest;
    TRY(sample_columns(page->chunks, threads, &bytes, err));
    TRY(measure_rest(page, &rest, err));
    *ret = rest + base64_length((size_t)bytes);
    return VRS_OK;
}

uint32_t fit_window_on_line(struct fit_size a, struct fit_size b, uint64_t bytes, uint32_t above,
                            uint32_t below)
{
    double states = (double)b.states - (double)a.states, more = (double)b.bytes - (double)a.bytes;
    double step = more == 0 ? 0 : ((double)bytes - (double)b.bytes) * states / more;
    double at = (double)b.states + step;
    if (at < (double)above + 1)
        return above + 1;
    return at >= (double)below ? above + (below - above) / 2 : (uint32_t)at;
}

enum vrs_status fit_window_choose(const struct page *page, uint32_t threads, struct fit_size large,
                                  uint64_t most, struct fit_size *ret, struct vrs_error *err)
{
    /* Parts of what windows may have: what samples err by, what is aimed below, what may be unused.
     */
    enum { TURNS = 6, ERROR = 128, AIM = 50, NEAR = 25 };
    uint64_t rest;
    TRY(measure_rest(page, &rest, err));
    uint64_t windows = most > rest ? most - rest : 0;
    struct fit_size fits = { PAGE_WINDOW_LEAST, 0 }, before = { 0, rest }, last = large;
    for (int i = 0; windows > 0 && i < TURNS && fits.states + 1 < large.states; i++) {
        struct fit_size now = { .states = fit_window_on_line(before, last, most - windows / AIM,
                                                             fits.states, large.states) };
        TRY(fit_window_take(page, now.states, err));
        TRY(fit_window_sample(page, threads, &now.bytes, err));
        before = last;
        last = now;
        if (now.bytes <= most - windows / ERROR)
            fits = now;
        else
            large = now;
        if (fits.bytes >= most - windows / NEAR)
            break;
    }
    *ret = fits;
    return VRS_OK;
}
