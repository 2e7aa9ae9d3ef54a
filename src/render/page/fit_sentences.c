/* fit_sentences.c - words for what a page lacks. */
#include "render/page/fit_sentences.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "render/page/fit_window.h"
#include "render/page/page.h"
#include "render/page/window.h"
#include "render/write/human.h"

const char *const page_spare_words[PAGE_SPARES] = {
    [PAGE_SPARE_FREES] = "stacks of frees",    [PAGE_SPARE_RULES] = "category rules",
    [PAGE_SPARE_BLOCKS] = "sizes of blocks",   [PAGE_SPARE_TIMES] = "times",
    [PAGE_SPARE_TENSORS] = "names of tensors", [PAGE_SPARE_ADDRESSES] = "addresses",
};

/* A device that the page has a part of; `windows` counts them. */
static const struct page_device *first_window(const struct page *page, uint32_t *windows)
{
    const struct page_device *first = NULL, *d;
    *windows = 0;
    for (uint32_t i = 0; (d = page_device_at(page, i)) != NULL; i++) {
        if (!page_is_windowed(d))
            continue;
        first = first == NULL ? d : first;
        ++*windows;
    }
    return first;
}

/* State p is that after event p - 1. */
static void put_window(struct buf *text, const struct page *page, bool asked)
{
    uint32_t windows = 0;
    const struct page_device *d = first_window(page, &windows);
    if (d == NULL)
        return;
    buf_text(text, "holds only the allocations that live in ");
    if (windows > 1)
        buf_format(text, "at most %u events of each device", (unsigned)fit_window_states(page));
    else if (d->first_state == 0)
        buf_format(text, "the first %u of %u events", (unsigned)d->last_state,
                   (unsigned)(d->states - 1));
    else
        buf_format(text, "events %u to %u of %u", (unsigned)(d->first_state - 1),
                   (unsigned)(d->last_state - 1), (unsigned)(d->states - 1));
    buf_text(text, asked ? ", as requested, " : ", around the peak, ");
}

enum vrs_status fit_say_left_out(const struct page *page, const struct page_limits *limits,
                                 uint64_t bytes, struct vrs_error *err)
{
    struct buf text, window;
    bool any = false;
    buf_init(&text, SIZE_MAX / 2);
    buf_init(&window, SIZE_MAX / 2);
    put_window(&window, page, limits->asked);
    buf_text(&text, "the page ");
    for (int i = PAGE_NEEDED + 1; i < PAGE_SPARES; i++) {
        if (!page->left_out[i])
            continue;
        buf_format(&text, "%s%s", any ? ", " : "goes without ", page_spare_words[i]);
        any = true;
    }
    if (any)
        buf_text(&text, window.len > 0 ? ", and " : ", ");
    buf_str(&text, buf_slice(&window));
    buf_text(&text, any || window.len > 0 ? "to stay under " : "is larger than ");
    human_known_bytes(&text, limits->most_bytes);
    if (bytes > limits->most_bytes) {
        buf_text(&text, "; it has ");
        human_known_bytes(&text, bytes);
        buf_text(&text, ", since no allocation of these events is left out");
    }
    buf_char(&text, '\0');
    enum vrs_status status = text.failed || window.failed ? vrs_no_memory(err) : VRS_OK;
    if (status == VRS_OK)
        limits->note(limits->note_arg, text.at);
    buf_free(&text);
    buf_free(&window);
    return status;
}

enum vrs_status fit_refuse(uint64_t bytes, struct vrs_error *err)
{
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    human_known_bytes(&text, bytes);
    enum vrs_status status =
        text.failed ? vrs_no_memory(err)
                    : vrs_fail(err, VRS_USAGE,
                               "no page of these events is smaller than %.*s; say --max-size %llu, "
                               "or more",
                               (int)text.len, text.at, (unsigned long long)bytes);
    buf_free(&text);
    return status;
}
