/* fit.c - columns that are left out, and the search for the window that a page can hold. */
#include "render/page/fit.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/task_list.h"
#include "render/page/column.h"
#include "render/page/window.h"
#include "render/write/base64.h"
#include "render/write/human.h"

const char *const page_spare_words[PAGE_SPARES] = {
    [PAGE_SPARE_FREES] = "stacks of frees",  [PAGE_SPARE_RULES] = "category rules",
    [PAGE_SPARE_BLOCKS] = "sizes of blocks", [PAGE_SPARE_TIMES] = "times",
    [PAGE_SPARE_ADDRESSES] = "addresses",
};

struct fitting {
    struct page *page;
    const struct page_limits *limits;
    uint64_t bytes; /* of the page with what is packed */
    struct vrs_error *err;
};

/* The devices of all files, one after the other; NULL behind the last. */
static struct page_device *device_at(const struct fitting *f, uint32_t i)
{
    for (uint32_t k = 0; k < f->page->files; k++) {
        if (i < f->page->file[k].devices)
            return &f->page->file[k].device[i];
        i -= f->page->file[k].devices;
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

static bool is_left_out(const struct page_work *work)
{
    return work->table->column[work->place].left_out;
}

/* How large the page is, and what it goes without, with what is packed now. */
static enum vrs_status measure(struct fitting *f)
{
    const struct page_chunks *chunks = f->page->chunks;
    TRY(page_place(f->page->chunks, f->err));
    memset(f->page->left_out, 0, sizeof f->page->left_out);
    for (uint32_t i = 0; i < chunks->work.len; i++)
        if (is_left_out(&chunks->work.at[i]))
            f->page->left_out[chunks->work.at[i].column->spare] = true;
    return page_bytes(f->page, &f->bytes, f->err);
}

static enum vrs_status pack(struct fitting *f, enum page_share share)
{
    TRY(page_pack(f->page->chunks, share, f->limits->threads, f->err));
    return measure(f);
}

static void leave_out(const struct fitting *f, enum page_spare spare)
{
    struct page_chunks *chunks = f->page->chunks;
    for (uint32_t i = 0; i < chunks->work.len; i++)
        if (chunks->work.at[i].column->spare == spare)
            page_leave_out(&chunks->work.at[i]);
}

/* Choosing a window. */

/* A page whose windows have at most so many states. */
struct size {
    uint32_t states;
    uint64_t bytes; /* of the page, as far as samples tell */
};

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

/* Without the columns that go before events do. */
static enum vrs_status sample_columns(const struct fitting *f, uint64_t *ret)
{
    const struct page_chunks *chunks = f->page->chunks;
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    struct sampling s = { chunks, arena_array(&arena, uint64_t, chunks->work.len) };
    struct task_list list = { chunks->work.len, sample_column, &s };
    enum vrs_status status =
        s.bytes == NULL ? vrs_no_memory(f->err) : task_list_run(f->limits->threads, &list, f->err);
    *ret = 0;
    for (uint32_t i = 0; i < chunks->work.len && status == VRS_OK; i++)
        *ret += s.bytes[i];
    arena_free(&arena);
    return status;
}

/* What is in the page beside the columns of windows, whether or not these are packed. */
static uint64_t rest_bytes(const struct fitting *f)
{
    enum { HEAD = 32 }; /* of a column: what the head does not say of it yet */
    const struct page_chunks *chunks = f->page->chunks;
    uint64_t packed = 0, columns = 0;
    for (uint32_t i = 0; i < chunks->work.len; i++)
        if (chunks->work.at[i].share == PAGE_WINDOWED) {
            packed += chunks->work.at[i].packed.len;
            columns++;
        }
    return f->bytes - base64_length((size_t)packed) + (packed == 0 ? columns * HEAD : 0);
}

/* How large the page would be with the windows that the devices have now. */
static enum vrs_status sample(struct fitting *f, struct size *size)
{
    uint64_t bytes = 0;
    TRY(sample_columns(f, &bytes));
    TRY(page_bytes(f->page, &f->bytes, f->err));
    size->bytes = rest_bytes(f) + base64_length((size_t)bytes);
    return VRS_OK;
}

static enum vrs_status take_windows(const struct fitting *f, uint32_t states)
{
    struct page_device *d;
    for (uint32_t i = 0; (d = device_at(f, i)) != NULL; i++)
        TRY(page_window_take(d, page_window_around(d, states), f->err));
    return VRS_OK;
}

/* The number of states that has so many bytes on the line through two sizes; between two bounds,
 * which lie apart. */
static uint32_t states_on_line(struct size a, struct size b, uint64_t bytes, uint32_t above,
                               uint32_t below)
{
    double states = (double)b.states - (double)a.states, more = (double)b.bytes - (double)a.bytes;
    double step = more == 0 ? 0 : ((double)bytes - (double)b.bytes) * states / more;
    double at = (double)b.states + step;
    if (at <= (double)above)
        return above + 1;
    return at >= (double)below ? above + (below - above) / 2 : (uint32_t)at;
}

/* The most states whose page is no larger than `most`, as far as samples tell; that of `large` is
 * known to be larger.  Bytes grow with states nearly as a line does. */
static enum vrs_status choose(struct fitting *f, struct size large, uint64_t most, struct size *ret)
{
    /* Parts of what windows may have: what samples err by, what is aimed below, what may be unused.
     */
    enum { TURNS = 6, ERROR = 128, AIM = 50, NEAR = 25 };
    uint64_t rest = rest_bytes(f), windows = most > rest ? most - rest : 0;
    struct size fits = { PAGE_WINDOW_LEAST, 0 }, before = { 0, rest }, last = large;
    *ret = fits;
    if (windows == 0)
        return VRS_OK;
    for (int i = 0; i < TURNS && fits.states + 1 < large.states; i++) {
        struct size now = { .states = states_on_line(before, last, most - windows / AIM,
                                                     fits.states, large.states) };
        TRY(take_windows(f, now.states));
        TRY(sample(f, &now));
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

/* Holds fewer events around the peak than those of `large`, which are too many.  What a sample
 * erred by is corrected once; where that is not enough the page has as few as it may have. */
static enum vrs_status narrow(struct fitting *f, struct size large)
{
    uint64_t most = f->limits->most_bytes;
    for (int turn = 0; turn < 3; turn++) {
        struct size chosen = { PAGE_WINDOW_LEAST, 0 };
        if (turn < 2)
            TRY(choose(f, large, most, &chosen));
        TRY(take_windows(f, chosen.states));
        TRY(pack(f, PAGE_WINDOWED));
        if (f->bytes <= f->limits->most_bytes || chosen.states == PAGE_WINDOW_LEAST)
            break;
        uint64_t erred = 2 * (f->bytes - chosen.bytes);
        most = most > erred ? most - erred : 0;
        large = chosen;
    }
    return VRS_OK;
}

/* Whether all of the recordings may be too large, so that it is worth asking samples first. */
static bool is_doubtful(const struct fitting *f)
{
    enum { DENSE = 3 }; /* columns are packed to less than a third of their numbers */
    const struct page_chunks *chunks = f->page->chunks;
    uint64_t unpacked = 0;
    for (uint32_t i = 0; i < chunks->work.len; i++)
        unpacked += page_unpacked(&chunks->work.at[i]);
    return !f->limits->asked && most_states(f) > PAGE_WINDOW_LEAST &&
           unpacked / DENSE > f->limits->most_bytes / 4 * 3;
}

/* Packs all of the recordings, unless samples say that it would be in vain: `in_vain` has then what
 * they say of it, else no states. */
static enum vrs_status pack_whole(struct fitting *f, struct size *in_vain)
{
    enum { ERR_PERCENT = 112 }; /* of a sample */
    struct size whole = { most_states(f), 0 };
    *in_vain = (struct size){ 0, 0 };
    if (f->limits->most_bytes == 0 || !is_doubtful(f))
        return pack(f, PAGE_ALL);
    TRY(pack(f, PAGE_FIXED));
    TRY(sample(f, &whole));
    if (whole.bytes <= percent_of(f->limits->most_bytes, ERR_PERCENT))
        return pack(f, PAGE_WINDOWED);
    *in_vain = whole;
    return VRS_OK;
}

/* Leaves out what is needed least until the page is small enough. */
static enum vrs_status make_small(struct fitting *f, struct size in_vain)
{
    uint64_t most = f->limits->most_bytes;
    int spare = PAGE_NEEDED + 1;
    bool packed = in_vain.states == 0;
    for (; spare < PAGE_SPARES_BEFORE_EVENTS && (!packed || f->bytes > most); spare++) {
        leave_out(f, (enum page_spare)spare);
        if (packed)
            TRY(measure(f));
    }
    if (!packed)
        TRY(narrow(f, in_vain));
    else if (f->bytes > most && !f->limits->asked && most_states(f) > PAGE_WINDOW_LEAST)
        TRY(narrow(f, (struct size){ most_states(f), f->bytes }));
    for (; spare < PAGE_SPARES && f->bytes > most; spare++) {
        leave_out(f, (enum page_spare)spare);
        TRY(measure(f));
    }
    return VRS_OK;
}

/* Words. */

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
static enum vrs_status say_left_out(const struct fitting *f)
{
    const struct page_limits *limits = f->limits;
    struct buf text, window;
    bool any = false;
    buf_init(&text, SIZE_MAX / 2);
    buf_init(&window, SIZE_MAX / 2);
    put_window(&window, f);
    buf_text(&text, "the page ");
    for (int i = PAGE_NEEDED + 1; i < PAGE_SPARES; i++) {
        if (!f->page->left_out[i])
            continue;
        buf_format(&text, "%s%s", any ? ", " : "goes without ", page_spare_words[i]);
        any = true;
    }
    if (any)
        buf_text(&text, window.len > 0 ? ", and " : ", ");
    buf_str(&text, buf_slice(&window));
    buf_text(&text, any || window.len > 0 ? "to stay under " : "is larger than ");
    human_known_bytes(&text, limits->most_bytes);
    if (f->bytes > limits->most_bytes) {
        buf_text(&text, "; it has ");
        human_known_bytes(&text, f->bytes);
        buf_text(&text, ", since no allocation of these events is left out");
    }
    buf_char(&text, '\0');
    enum vrs_status status = text.failed || window.failed ? vrs_no_memory(f->err) : VRS_OK;
    if (status == VRS_OK)
        limits->note(limits->note_arg, text.at);
    buf_free(&text);
    buf_free(&window);
    return status;
}

static enum vrs_status refuse_size(const struct fitting *f)
{
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    human_known_bytes(&text, f->bytes);
    enum vrs_status status =
        text.failed ? vrs_no_memory(f->err)
                    : vrs_fail(f->err, VRS_USAGE,
                               "no page of these events is smaller than %.*s; say --max-size %llu, "
                               "or more",
                               (int)text.len, text.at, (unsigned long long)f->bytes);
    buf_free(&text);
    return status;
}

enum vrs_status page_fit(struct page *page, const struct page_limits *limits, struct vrs_error *err)
{
    struct fitting f = { .page = page, .limits = limits, .err = err };
    struct size in_vain;
    TRY(pack_whole(&f, &in_vain));
    if (in_vain.states == 0 && (limits->most_bytes == 0 || f.bytes <= limits->most_bytes))
        return VRS_OK;
    TRY(make_small(&f, in_vain));
    if (f.bytes > limits->most_bytes && !limits->may_be_larger)
        return refuse_size(&f);
    return limits->note != NULL ? say_left_out(&f) : VRS_OK;
}
