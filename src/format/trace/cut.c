/* cut.c - finds where an event begins; what was taken behind it waits for the next cut. */
#include "format/trace/cut.h"

#include <string.h>

#include "base/fail.h"
#include "format/trace/look.h"

/* What is taken behind the bytes of a cut to find an event in; most are shorter than that. */
enum { AHEAD_BYTES = 4 * LOOK_BYTES };

void cutter_init(struct cutter *c, const struct source *input, struct window *in_order,
                 uint64_t offset)
{
    *c = (struct cutter){ .input = input, .in_order = in_order, .at = offset };
    c->ahead.max = CUT_MOST;
}

void cutter_free(struct cutter *c)
{
    vec_free(&c->ahead);
}

void cut_init(struct cut *cut)
{
    *cut = (struct cut){ .at = 0 };
    cut->bytes.max = CUT_MOST + WINDOW_PAD_BYTES;
}

void cut_free(struct cut *cut)
{
    vec_free(&cut->bytes);
}

/* Where from the window's front on an event seems to begin behind a comma; UINT64_MAX: nowhere. */
static uint64_t find_event(struct window *w)
{
    uint8_t before = 0;
    for (; window_need(w, 1); w->at++) {
        uint8_t c = *w->at;
        if (c == '{' && before == ',' && look_event(w))
            return window_offset(w);
        if (!is_blank(c))
            before = c;
    }
    return UINT64_MAX;
}

static bool next_by_offset(struct cutter *c, size_t least, struct cut *cut)
{
    struct section behind = { c->input, c->at + least, UINT64_MAX };
    struct window w;
    if (window_init(&w, source_of_section(&behind), NULL) != VRS_OK)
        return false;
    w.base = c->at + least;
    cut->at = c->at;
    cut->end = find_event(&w);
    cut->section = (struct section){ c->input, cut->at, cut->end };
    window_free(&w);
    return true;
}

size_t cutter_take(struct cutter *c, uint8_t *to, size_t len)
{
    size_t ahead = c->ahead.len < len ? c->ahead.len : len;
    if (ahead == 0)
        return window_take(c->in_order, to, len);
    memcpy(to, c->ahead.at, ahead);
    c->ahead.len -= (uint32_t)ahead;
    memmove(c->ahead.at, c->ahead.at + ahead, c->ahead.len);
    return ahead;
}

/* Until the cut has `len` bytes, or all there are. */
static bool fill(struct cutter *c, struct cut *cut, size_t len)
{
    size_t got;
    if (!vec_reserve(&cut->bytes, (uint32_t)(len - cut->bytes.len) + WINDOW_PAD_BYTES))
        return false;
    while (cut->bytes.len < len &&
           (got = cutter_take(c, cut->bytes.at + cut->bytes.len, len - cut->bytes.len)) > 0)
        cut->bytes.len += (uint32_t)got;
    memset(cut->bytes.at + cut->bytes.len, 0, WINDOW_PAD_BYTES);
    return window_status(c->in_order, NULL) == VRS_OK;
}

/* Where an event begins, behind `least` of the bytes that the cut has. */
static uint64_t find_in_bytes(const struct cut *cut, size_t least)
{
    size_t len = cut->bytes.len;
    if (len <= least)
        return UINT64_MAX;
    struct window w = window_of_bytes(cut->bytes.at + least, len - least, cut->at + least);
    return find_event(&w);
}

/* Gives back what is behind the cut's end. */
static bool give_back(struct cutter *c, struct cut *cut)
{
    uint32_t kept = (uint32_t)(cut->end - cut->at), left = cut->bytes.len - kept;
    if (!vec_reserve(&c->ahead, left))
        return false;
    memcpy(c->ahead.at, cut->bytes.at + kept, left);
    c->ahead.len = left;
    cut->bytes.len = kept;
    memset(cut->bytes.at + kept, 0, WINDOW_PAD_BYTES);
    return true;
}

static bool next_in_order(struct cutter *c, size_t least, struct cut *cut)
{
    size_t wanted = least + AHEAD_BYTES;
    if (wanted < c->ahead.len)
        wanted = c->ahead.len;
    cut->at = c->at;
    cut->bytes.len = 0;
    for (; fill(c, cut, wanted); wanted *= 2) {
        cut->end = find_in_bytes(cut, least);
        if (cut->end != UINT64_MAX)
            return give_back(c, cut);
        if (cut->bytes.len < wanted)
            return true;
        if (wanted == CUT_MOST)
            return false;
        if (wanted > CUT_MOST / 2)
            wanted = CUT_MOST / 2;
    }
    return false;
}

bool cutter_next(struct cutter *c, size_t least, struct cut *cut)
{
    bool ok = c->input != NULL ? next_by_offset(c, least, cut) : next_in_order(c, least, cut);
    c->at = cut->end;
    c->failed = !ok;
    c->ended = !ok || cut->end == UINT64_MAX;
    return ok;
}

bool cut_open(struct cut *cut, struct window *ret)
{
    if (cut->bytes.at != NULL) {
        *ret = window_of_bytes(cut->bytes.at, cut->bytes.len, cut->at);
        return true;
    }
    if (window_init(ret, source_of_section(&cut->section), NULL) != VRS_OK)
        return false;
    ret->base = cut->at;
    return true;
}

void cut_close(const struct cut *cut, struct window *w)
{
    if (cut->bytes.at == NULL)
        window_free(w);
}
