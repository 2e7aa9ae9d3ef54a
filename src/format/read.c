/* read.c - the way from an input to its recordings: unpack, find the entries, read each. */
#include "format/read.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/utf8.h"
#include "format/counted.h"
#include "format/detect.h"
#include "format/html.h"
#include "format/input/unpack.h"
#include "format/snapshot/from_json.h"
#include "format/snapshot/from_pickle.h"
#include "format/trace/timeline.h"
#include "model/ids.h"
#include "model/strings.h"

enum {
    ENTRIES_MAX = 4096,
    ARENA_BYTES_MAX = 1 << 28,
    /* How far unpacking goes on to find out whether damage is why a recording was unreadable. */
    SEARCH_BYTES = 256 << 20
};

/* What one call of read_recordings works with. */
struct reading {
    const struct limits *limits;
    const struct ahead_options *ahead;
    struct entries *entries;
    enum compression compression;
    enum wrapper wrapper;
    uint64_t finished_records;
};

#define UNPACKED " (offset in the unpacked bytes)"

static void add_words(struct vrs_error *err, const char *words)
{
    size_t len = err == NULL ? 0 : strlen(err->message), more = strlen(words);
    if (err != NULL && len + more < sizeof err->message)
        memcpy(err->message + len, words, more + 1);
}

/* Reads to the end of `w`; the number of bytes that are not zero, and not blank in JSON. */
static uint64_t drain(struct window *w, enum form form)
{
    uint64_t count = 0;
    while (window_need(w, 1))
        for (; w->at < w->end; w->at++)
            count += *w->at != 0 && !(form == FORM_JSON && is_blank(*w->at));
    return count;
}

/* One recording out of `w`, which is read to its end: what stands behind the recording is
 * counted, and the checksums of a compressed stream are behind it. */
static enum vrs_status read_form(struct reading *g, struct window *w, enum form form,
                                 struct recording *r, struct vrs_error *err)
{
    r->origin.compression = (uint8_t)g->compression;
    r->origin.wrapper = (uint8_t)g->wrapper;
    if (form == FORM_JSON)
        TRY(snapshot_from_json(w, g->limits, &g->finished_records, r, err));
    else
        TRY(snapshot_from_pickle(w, g->limits, g->ahead, &g->finished_records, r, err));
    r->origin.read_bytes = window_offset(w);
    r->origin.trailing_bytes = drain(w, form);
    return window_status(w, err);
}

/* Something that holds no recording, or holds it one layer too deep. */
static enum vrs_status refuse_form(const struct reading *g, struct window *w, enum form form,
                                   struct vrs_error *err)
{
    bool page = g->wrapper == WRAPPER_HTML;
    const char *inner = form == FORM_GZIP ? "gzip" : form == FORM_ZSTD ? "zstd" : "a page";
    if (form == FORM_OTHER || (form == FORM_HTML && !page))
        return detect_refuse(w, WANTED_SNAPSHOT, err);
    if (page)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "%s inside a page is not read; take the entry out of the page and open it "
                        "by itself",
                        inner);
    return vrs_fail(err, VRS_UNSUPPORTED, "compressed twice, %s inside %s; unpack it once", inner,
                    g->compression == COMPRESSION_GZIP ? "gzip" : "zstd");
}

/* Reads `w` into a recording of its own; `entry` then says what came of it. */
static void read_entry(struct reading *g, struct window *w, struct entry *entry)
{
    struct vrs_error *err = &entry->error;
    enum form form = detect_form(w);
    if (g->wrapper == WRAPPER_HTML && w->failed == VRS_OK && !window_need(w, 1)) {
        entry->status = vrs_fail_at(err, VRS_UNSUPPORTED, 0, "an entry without bytes");
        return;
    }
    if (form != FORM_PICKLE && form != FORM_JSON) {
        entry->status = refuse_form(g, w, form, err);
        return;
    }
    if (form == FORM_JSON && timeline_begins(w)) {
        entry->status = vrs_fail(err, VRS_UNSUPPORTED,
                                 "a memory timeline of torch.profiler, and no memory snapshot: "
                                 "vramscope trace reads it");
        return;
    }
    struct recording *r = arena_take(&g->entries->arena, sizeof *r);
    if (r == NULL) {
        entry->status = vrs_no_memory(err);
        return;
    }
    if (recording_init(r, g->limits->items, g->limits->strings_bytes))
        entry->status = read_form(g, w, form, r, err);
    else
        entry->status = vrs_no_memory(err);
    if (entry->status == VRS_OK)
        entry->recording = r;
    else
        recording_free(r);
}

static void say_what_offsets_count(const struct reading *g, struct entry *entry)
{
    if (entry->status == VRS_OK || entry->error.offset == VRS_NO_OFFSET)
        return;
    if (g->wrapper == WRAPPER_HTML)
        add_words(&entry->error, " (offset in the decoded entry)");
    else if (g->compression != COMPRESSION_NONE)
        add_words(&entry->error, UNPACKED);
}

/* Appends an entry, which is then the last of the list. */
static enum vrs_status add_entry(struct reading *g, struct vrs_error *err)
{
    struct entries *e = g->entries;
    if (vec_push(&e->list, (struct entry){ .status = VRS_OK }))
        return VRS_OK;
    return e->list.len < e->list.max
               ? vrs_no_memory(err)
               : vrs_fail(err, VRS_LIMIT, "a page with more than %u entries; split it",
                          e->list.max);
}

static struct entry *last_entry(struct reading *g)
{
    return &g->entries->list.at[g->entries->list.len - 1];
}

/* Anything but a page. */
static enum vrs_status read_single(struct reading *g, struct window *w, struct vrs_error *err)
{
    TRY(add_entry(g, err));
    struct entry *entry = last_entry(g);
    read_entry(g, w, entry);
    if (entry->status == VRS_OK)
        return VRS_OK;
    /* Where the stream around it is damaged, that is the failure to tell. */
    uint64_t search_end = window_offset(w) + SEARCH_BYTES;
    while (g->compression != COMPRESSION_NONE && window_offset(w) < search_end && window_need(w, 1))
        w->at = w->end;
    if (w->failed == VRS_CORRUPT || w->failed == entry->status)
        return window_status(w, err);
    say_what_offsets_count(g, entry);
    if (err != NULL)
        *err = entry->error;
    return entry->status;
}

/* The entry at hand of a page. */
static enum vrs_status read_page_entry(struct reading *g, struct html *h, struct vrs_error *err)
{
    TRY(add_entry(g, err));
    struct entry *entry = last_entry(g);
    struct window w;
    TRY(window_init(&w, source_of_html(h), err));
    read_entry(g, &w, entry);
    /* A failure of the string's own decoding speaks of the page, and says so. */
    if (w.failed == VRS_OK)
        say_what_offsets_count(g, entry);
    window_free(&w);
    html_skip(h);
    if (entry->recording != NULL && h->cut && entry->recording->origin.complete)
        entry->recording->origin.trailer_lost = true;
    if (entry->status == VRS_NOMEM) {
        if (err != NULL)
            *err = entry->error;
        return VRS_NOMEM;
    }
    return window_status(h->page, err);
}

static enum vrs_status keep_name(struct reading *g, const struct html *h, struct vrs_error *err)
{
    struct buf name;
    buf_init(&name, (size_t)HTML_NAME_BYTES * 3);
    utf8_repair(&name, html_name(h));
    str kept = { NULL, 0 };
    if (!name.failed)
        kept = arena_copy(&g->entries->arena, buf_slice(&name));
    buf_free(&name);
    g->entries->list.at[g->entries->list.len - 1].name = kept;
    return kept.ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

/* Makes names distinct: the k-th of equal ones gets "#k"; so does the k-th without one. */
static enum vrs_status number_names(struct entries *e, struct vrs_error *err)
{
    struct buf text;
    buf_init(&text, (size_t)HTML_NAME_BYTES * 3 + 16);
    VEC(str) numbered = { .max = ENTRIES_MAX };
    bool room = true;
    for (uint32_t i = 0; i < e->list.len && room; i++) {
        str name = e->list.at[i].name;
        uint32_t nth = 1, equal = 0;
        for (uint32_t k = 0; k < e->list.len; k++) {
            bool same = str_equal(e->list.at[k].name, name);
            equal += same;
            nth += same && k < i;
        }
        text.len = 0;
        buf_str(&text, name);
        if (equal > 1 || name.len == 0) {
            buf_char(&text, '#');
            buf_u64(&text, nth);
        }
        str kept = text.failed ? (str){ NULL, 0 } : arena_copy(&e->arena, buf_slice(&text));
        room = kept.ptr != NULL && vec_push(&numbered, kept);
    }
    for (uint32_t i = 0; i < e->list.len && room; i++)
        e->list.at[i].name = numbered.at[i];
    vec_free(&numbered);
    buf_free(&text);
    return room ? VRS_OK : vrs_no_memory(err);
}

static enum vrs_status read_page(struct reading *g, struct window *page, struct vrs_error *err)
{
    struct html h;
    if (detect_is_view(page))
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a page that vramscope wrote, which holds no recording: open it in a "
                        "browser, or name the recording that it was made from");
    html_init(&h, page);
    g->wrapper = WRAPPER_HTML;
    bool found = true;
    enum vrs_status status = VRS_OK;
    while (status == VRS_OK && found) {
        status = html_next(&h, &found, err);
        if (status == VRS_OK && g->entries->list.len > 0)
            status = keep_name(g, &h, err);
        if (status == VRS_OK && found)
            status = read_page_entry(g, &h, err);
    }
    html_free(&h);
    TRY(status);
    if (g->entries->list.len > 0)
        return number_names(g->entries, err);
    status = vrs_fail_at(err, VRS_UNSUPPORTED, window_offset(page),
                         "the page ends without a memory snapshot: it has no \"base64\" string; "
                         "pages of torch.cuda._memory_viz have one");
    if (g->compression != COMPRESSION_NONE)
        add_words(err, UNPACKED);
    return status;
}

static enum vrs_status read_plain(struct reading *g, struct window *w, enum form form,
                                  struct vrs_error *err)
{
    return form == FORM_HTML ? read_page(g, w, err) : read_single(g, w, err);
}

/* What is known only when all has been read. */
static enum vrs_status finish(struct entries *e, uint64_t size_bytes, const struct unpack *u,
                              struct vrs_error *err)
{
    for (uint32_t i = 0; i < e->list.len; i++) {
        const struct entry *entry = &e->list.at[i];
        if (entry->recording == NULL)
            continue;
        struct origin *o = &entry->recording->origin;
        o->size_bytes = size_bytes;
        if (u != NULL && u->cut && o->complete)
            o->trailer_lost = true;
        if (u != NULL && o->wrapper == WRAPPER_NONE)
            o->trailing_bytes += u->junk_bytes;
        if (entry->name.len > 0 &&
            !strings_intern(&entry->recording->code.strings, entry->name, &o->entry))
            return vrs_no_memory(err);
    }
    return VRS_OK;
}

static enum vrs_status read_packed(struct reading *g, struct window *packed, struct counted *stored,
                                   struct vrs_error *err)
{
    struct unpack u;
    struct window w;
    TRY(unpack_init(&u, packed, g->compression, g->limits, &g->finished_records, err));
    enum vrs_status status = window_init(&w, source_of_unpack(&u), err);
    if (status == VRS_OK) {
        if (!window_need(&w, 1) && w.failed == VRS_OK)
            status = u.cut ? unpack_fail_cut(&u, "its first byte of data", err)
                           : vrs_fail_at(err, VRS_CORRUPT, window_offset(packed),
                                         "an empty file, compressed; record it again");
        if (status == VRS_OK)
            status = read_plain(g, &w, detect_form(&w), err);
        if (status == VRS_OK)
            status = finish(g->entries, stored->done_bytes, &u, err);
        window_free(&w);
    }
    unpack_free(&u);
    return status;
}

enum vrs_status read_recordings(struct source input, const struct read_options *options,
                                struct entries *ret, struct vrs_error *err)
{
    struct entries entries = { .list.max = ENTRIES_MAX };
    arena_init(&entries.arena, ARENA_BYTES_MAX);
    struct counted stored = { .input = input,
                              .size_bytes = options->size_bytes,
                              .progress = options->progress,
                              .progress_arg = options->progress_arg };
    struct reading g = { .limits = options->limits != NULL ? options->limits : &default_limits,
                         .ahead = &options->ahead,
                         .entries = &entries };
    struct window w;
    TRY(window_init(&w, source_of_counted(&stored), err));

    enum form form = detect_form(&w);
    enum vrs_status status;
    if (form == FORM_GZIP || form == FORM_ZSTD) {
        g.compression = form == FORM_GZIP ? COMPRESSION_GZIP : COMPRESSION_ZSTD;
        status = read_packed(&g, &w, &stored, err);
    } else {
        w.expected_bytes = options->size_bytes == UNKNOWN_U64 ? 0 : options->size_bytes;
        status = read_plain(&g, &w, form, err);
        if (status == VRS_OK)
            status = finish(&entries, stored.done_bytes, NULL, err);
    }
    window_free(&w);
    if (status == VRS_OK)
        *ret = entries;
    else
        entries_free(&entries);
    return status;
}

void entries_free(struct entries *e)
{
    for (uint32_t i = 0; i < e->list.len; i++)
        if (e->list.at[i].recording != NULL)
            recording_free(e->list.at[i].recording);
    vec_free(&e->list);
    arena_free(&e->arena);
}
