/* fit.c - packs a page, and leaves out what is needed least until it is small enough. */
#include "render/page/fit.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "render/page/column.h"
#include "render/page/fit_sentences.h"
#include "render/page/fit_window.h"
#include "render/page/window.h"

struct fitting {
    struct page *page;
    const struct page_limits *limits;
    uint64_t bytes; /* of the page with what is packed */
    struct vrs_error *err;
};

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

/* Holds fewer events around the peak than those of `large`, which are too many.  What a sample
 * erred by is corrected once; where that is not enough the page has as few as it may have. */
static enum vrs_status narrow(struct fitting *f, struct fit_size large)
{
    uint64_t most = f->limits->most_bytes;
    for (int turn = 0; turn < 3; turn++) {
        struct fit_size chosen = { PAGE_WINDOW_LEAST, 0 };
        if (turn < 2)
            TRY(fit_window_choose(f->page, f->limits->threads, large, most, &chosen, f->err));
        TRY(fit_window_take(f->page, chosen.states, f->err));
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
    return !f->limits->asked && fit_window_states(f->page) > PAGE_WINDOW_LEAST &&
           unpacked / DENSE > f->limits->most_bytes / 4 * 3;
}

/* Packs all of the recordings, unless samples say that it would be in vain: `in_vain` has then what
 * they say of it, else no states. */
static enum vrs_status pack_whole(struct fitting *f, struct fit_size *in_vain)
{
    enum { ERR_PERCENT = 112 }; /* of a sample */
    struct fit_size whole = { fit_window_states(f->page), 0 };
    *in_vain = (struct fit_size){ 0, 0 };
    if (f->limits->most_bytes == 0 || !is_doubtful(f))
        return pack(f, PAGE_ALL);
    TRY(pack(f, PAGE_FIXED));
    TRY(fit_window_sample(f->page, f->limits->threads, &whole.bytes, f->err));
    if (whole.bytes <= percent_of(f->limits->most_bytes, ERR_PERCENT))
        return pack(f, PAGE_WINDOWED);
    *in_vain = whole;
    return VRS_OK;
}

/* Leaves out what is needed least until the page is small enough. */
static enum vrs_status make_small(struct fitting *f, struct fit_size in_vain)
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
    else if (f->bytes > most && !f->limits->asked && fit_window_states(f->page) > PAGE_WINDOW_LEAST)
        TRY(narrow(f, (struct fit_size){ fit_window_states(f->page), f->bytes }));
    for (; spare < PAGE_SPARES && f->bytes > most; spare++) {
        leave_out(f, (enum page_spare)spare);
        TRY(measure(f));
    }
    return VRS_OK;
}

enum vrs_status page_fit(struct page *page, const struct page_limits *limits, struct vrs_error *err)
{
    struct fitting f = { .page = page, .limits = limits, .err = err };
    struct fit_size in_vain;
    TRY(pack_whole(&f, &in_vain));
    if (in_vain.states == 0 && (limits->most_bytes == 0 || f.bytes <= limits->most_bytes))
        return VRS_OK;
    TRY(make_small(&f, in_vain));
    if (f.bytes > limits->most_bytes && !limits->may_be_larger)
        return fit_refuse(f.bytes, err);
    return limits->note != NULL ? fit_say_left_out(page, limits, f.bytes, err) : VRS_OK;
}
