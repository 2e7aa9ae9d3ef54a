/* lines.c - takes in the text of the user's lines that hold most at the peaks of a page. */
#include "render/page/lines.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analysis/attribution/frame_class.h"
#include "analysis/attribution/naming.h"
#include "analysis/snapshot/study/study.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/strings.h"
#include "render/page/page.h"
#include "render/page/source.h"
#include "render/page/source_names.h"
#include "render/write/json.h"

/* What each shown stack holds at the peak. */
static uint64_t *held_at_peak(const struct page_device *d)
{
    const struct page_source *from = &d->draft->source;
    uint64_t *held = arena_array(from->s->scratch, uint64_t, from->names.stacks);
    for (uint32_t i = 0; held != NULL && i < d->allocations; i++) {
        uint64_t born = page_alloc_born(from, i), until = page_alloc_until(from, i);
        if (born <= d->peak_state && (until == 0 || d->peak_state - born < until))
            held[page_alloc_stack(from, i)] += page_alloc_bytes(from, i);
    }
    return held;
}

static enum vrs_status add(const struct study *s, stack_id stack, uint64_t bytes,
                           struct page_lines *lines, struct vrs_error *err)
{
    struct stack_names names;
    TRY(naming_of(s->naming, stack, &names, err));
    if (names.culprit_frame.n == 0 || naming_class(s->naming, names.culprit_frame) != FRAME_USER)
        return VRS_OK;
    struct frame frame = frames_get(&s->r->code.frames, names.culprit_frame);
    if (frame.line == NO_LINE)
        return VRS_OK;
    str file = strings_text(&s->r->code.strings, frame.file);
    if (!vec_push(&lines->of, (struct page_line){ names.culprit, file, frame.line, bytes, S("") }))
        return vrs_no_memory(err);
    return VRS_OK;
}

enum vrs_status page_lines_add(const struct page_device *d, struct page_lines *lines,
                               struct vrs_error *err)
{
    const struct page_source *from = &d->draft->source;
    const struct page_names *names = &from->names;
    const uint64_t *held = held_at_peak(d);
    if (held == NULL)
        return vrs_no_memory(err);
    /* A stack that only calls another has no culprit. */
    for (uint32_t i = 1; i < names->stacks; i++)
        if (names->culprit[i] != 0)
            TRY(add(from->s, (stack_id){ names->stack_row[i] }, held[i], lines, err));
    return VRS_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct page_line *x = a, *y = b;
    int order = str_compare(x->file, y->file);
    if (order == 0 && x->line != y->line)
        order = x->line < y->line ? -1 : 1;
    return order != 0 ? order : str_compare(x->site, y->site);
}

static int by_bytes(const void *a, const void *b)
{
    const struct page_line *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return by_place(a, b);
}

/* Many stacks come through one line. */
static void join(struct page_lines *lines)
{
    uint32_t kept = 0;
    if (lines->of.len > 0)
        qsort(lines->of.at, lines->of.len, sizeof *lines->of.at, by_place);
    for (uint32_t i = 0; i < lines->of.len; i++) {
        if (kept > 0 && by_place(&lines->of.at[kept - 1], &lines->of.at[i]) == 0)
            lines->of.at[kept - 1].bytes += lines->of.at[i].bytes;
        else
            lines->of.at[kept++] = lines->of.at[i];
    }
    lines->of.len = kept;
    if (kept > 0)
        qsort(lines->of.at, kept, sizeof *lines->of.at, by_bytes);
}

str page_line_shown(str bytes, struct arena *keep)
{
    struct buf repaired, shown;
    buf_init(&repaired, SIZE_MAX / 2);
    buf_init(&shown, SIZE_MAX / 2);
    utf8_repair(&repaired, utf8_without_mark(bytes));
    str left = buf_slice(&repaired);
    for (int i = 0; left.len > 0 && i < PAGE_LINE_CHARACTERS; i++) {
        uint32_t point;
        size_t len = utf8_decode(left, &point);
        bool control = point < 0x20 || (point >= 0x7f && point < 0xa0);
        buf_str(&shown, control ? S(" ") : (str){ left.ptr, len });
        left = (str){ left.ptr + len, left.len - len };
    }
    if (left.len > 0)
        buf_text(&shown, "…");
    buf_char(&shown, '\0');
    str copy = { NULL, 0 };
    if (!repaired.failed && !shown.failed)
        copy = arena_copy(keep, (str){ shown.at, shown.len - 1 });
    buf_free(&repaired);
    buf_free(&shown);
    return copy;
}

static enum vrs_status ask(struct page_line *line, page_line_text *text, const void *arg,
                           struct arena *keep, struct vrs_error *err)
{
    enum { ROOM = 5 * PAGE_LINE_CHARACTERS }; /* more than so many take: that it is cut is seen */
    char bytes[ROOM];
    str file = arena_copy(keep, line->file);
    if (file.ptr == NULL)
        return vrs_no_memory(err);
    size_t len = text(arg, file.ptr, line->line, bytes, ROOM);
    if (len > ROOM)
        return vrs_fail(err, VRS_USAGE,
                        "line_text gave %zu bytes for line %u of %.80s, where there was room "
                        "for %d",
                        len, (unsigned)line->line, file.ptr, (int)ROOM);
    if (len == 0)
        return VRS_OK;
    line->text = page_line_shown((str){ bytes, len }, keep);
    return line->text.ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

void page_line_put(struct json *j, const struct page_line *line)
{
    json_line_object(j, NULL);
    json_str(j, "site", line->site);
    json_str(j, "file", line->file);
    json_u64(j, "line", line->line);
    json_str(j, "text", line->text);
    json_close(j);
}

/* What a line takes in the head, as an element behind another. */
static enum vrs_status measure(const struct page_line *line, size_t *ret, struct vrs_error *err)
{
    struct buf plain, written;
    struct json j;
    buf_init(&plain, SIZE_MAX / 2);
    buf_init(&written, SIZE_MAX / 2);
    json_start(&j, &plain);
    page_line_put(&j, line);
    page_put_harmless(&written, buf_slice(&plain));
    bool failed = plain.failed || written.failed;
    *ret = written.len + S(", ").len;
    buf_free(&plain);
    buf_free(&written);
    return failed ? vrs_no_memory(err) : VRS_OK;
}

enum vrs_status page_lines_read(struct page_lines *lines, page_line_text *text, const void *arg,
                                struct arena *keep, struct vrs_error *err)
{
    size_t all = 0, more;
    uint32_t kept = 0;
    join(lines);
    for (uint32_t i = 0; i < lines->of.len && i < PAGE_LINES_ASKED; i++) {
        struct page_line line = lines->of.at[i];
        TRY(ask(&line, text, arg, keep, err));
        if (line.text.len == 0)
            continue;
        TRY(measure(&line, &more, err));
        all += more;
        if (all > PAGE_LINES_BYTES)
            break;
        lines->of.at[kept++] = line;
    }
    lines->of.len = kept;
    return VRS_OK;
}
