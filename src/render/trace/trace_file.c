/* trace_file.c - what a file is, its damage, and what was not recorded: a line each. */
#include "render/trace/trace_file.h"

#include <stdint.h>

#include "base/str.h"
#include "model/ids.h"
#include "render/answer/envelope.h"
#include "render/trace/trace_words.h"
#include "render/write/escape.h"
#include "render/write/text.h"

void trace_damage_text(struct buf *to, const struct style *style, const struct trace_file *f,
                       const char *one)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    for (uint32_t i = 0; i < f->damages; i++) {
        buf_text(&words, words.len == 0 ? "" : ", ");
        trace_damage_words(&words, style, f, &f->damage[i], one);
    }
    if (words.len > 0)
        envelope_words(to, style, "damage", &words);
    buf_end(&words, to);
}

void trace_file_text(struct buf *to, const struct style *style, const struct trace_file *f,
                     const char *what, const char *one)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    paint_on(&words, style, PAINT_BOLD);
    escape_text(&words, str_equal(f->path, S("-")) ? S("standard input") : f->path, style->ascii);
    paint_off(&words, style);
    buf_format(&words, ": %s, ", what);
    if (f->size_bytes != UNKNOWN_U64) {
        human_known_bytes(&words, f->size_bytes);
        buf_text(&words, ", ");
    }
    human_counted(&words, f->events, one, style->ascii);
    buf_text(&words, f->complete ? ", complete" : ", ");
    if (!f->complete) {
        paint_on(&words, style, PAINT_BAD);
        buf_text(&words, "INCOMPLETE: ");
        buf_text(&words, trace_incomplete_words(f));
        paint_off(&words, style);
    }
    text_wrap(to, style, buf_slice(&words), 0, ENVELOPE_LABEL);
    buf_char(to, '\n');
    buf_end(&words, to);
    trace_damage_text(to, style, f, one);
}

void trace_missing_text(struct buf *to, const struct style *style, const struct trace_report *r)
{
    for (uint32_t i = 0; i < r->capture.missings; i++) {
        struct buf words;
        buf_init(&words, SIZE_MAX / 2);
        if (r->file.complete)
            buf_format(&words, "no %s: record with %s", r->capture.missing[i].what,
                       r->capture.missing[i].how);
        else
            buf_format(&words, "no %s in the part that could be read", r->capture.missing[i].what);
        envelope_words(to, style, i == 0 ? "missing" : "", &words);
        buf_end(&words, to);
    }
}
