/* fuzz_rewrite.c - bytes as a profiler trace, written anew: whole, or some of its steps.
 *
 * The first byte says which part.  Whatever could be read of the rest, what is written of it must
 * be JSON without damage, which says where the bytes ended too early, and must be read as the rows
 * that were chosen. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/trace/slice/slice.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "format/input/limits.h"
#include "format/read_trace.h"
#include "made/dribble.h"
#include "model/memory_timeline.h"
#include "model/trace.h"
#include "render/trace/chrome.h"
#include "render/write/out.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "this does not hold: %s\n", what);
    abort();
}

static enum vrs_status read_bytes(const void *data, size_t size, struct trace *ret,
                                  struct vrs_error *err)
{
    /* What is written may have longer texts than what was read, as U+FFFD for a byte. */
    static const struct limits limits = {
        .nesting = 64,
        .string_bytes = 1 << 18,
        .strings_bytes = 1 << 23,
        .items = 1 << 16,
        .unpacked_bytes = 1 << 24,
        .frames = 100,
    };
    struct dribble d = { .at = data, .left = size };
    const struct read_trace_options options = { .limits = &limits, .size_bytes = size };
    return read_trace(dribble_source(&d), &options, ret, err);
}

static bool keeps(const void *arg, enum chrome_table table, uint32_t row)
{
    const struct slice *s = arg;
    return table == CHROME_SPANS   ? s->span[row]
           : table == CHROME_FLOWS ? s->flow[row]
                                   : s->memory[row];
}

static bool put(void *arg, const char *bytes, size_t len)
{
    buf_bytes(arg, bytes, len);
    return true;
}

static void write_part(const struct trace *t, const struct slice *slice, struct buf *to)
{
    const struct chrome_choice choice = { keeps, slice };
    struct out out = { .write = put, .arg = to };
    buf_init(&out.text, SIZE_MAX / 2);
    chrome_write(&out, t, &choice);
    require(out_finish(&out, VRS_OK, NULL) == VRS_OK && !to->failed, "what is kept is written");
}

static bool same_text(const struct trace *a, uint32_t one, const struct trace *b, uint32_t two)
{
    return str_equal(trace_text(a, one), trace_text(b, two));
}

static bool same_id(const struct trace *a, int64_t one, uint8_t form, const struct trace *b,
                    int64_t two, uint8_t other)
{
    if (form != other || form != ID_TEXT)
        return form == other && one == two;
    return same_text(a, (uint32_t)one, b, (uint32_t)two);
}

static bool same_track(const struct trace *a, uint32_t one, const struct trace *b, uint32_t two)
{
    const struct tracks *t = &a->tracks, *u = &b->tracks;
    return same_id(a, t->pid[one], t->pid_form[one], b, u->pid[two], u->pid_form[two]) &&
           same_id(a, t->tid[one], t->tid_form[one], b, u->tid[two], u->tid_form[two]);
}

static void check_spans(const struct trace *a, const struct slice *slice, const struct trace *b)
{
    const struct spans *s = &a->spans, *p = &b->spans;
    uint32_t k = 0;
    for (uint32_t i = 0; i < s->rows.len; i++) {
        if (!slice->span[i])
            continue;
        require(k < p->rows.len, "each span that is kept is written");
        require(s->start[i] == p->start[k] && s->duration[i] == p->duration[k],
                "a span keeps its time");
        require(same_text(a, s->name[i], b, p->name[k]) &&
                    same_text(a, s->category[i], b, p->category[k]),
                "a span keeps its texts");
        require(same_track(a, s->track[i], b, p->track[k]), "a span keeps its track");
        require(same_id(a, s->external[i], s->external_form[i], b, p->external[k],
                        p->external_form[k]) &&
                    same_id(a, s->correlation[i], s->correlation_form[i], b, p->correlation[k],
                            p->correlation_form[k]),
                "a span keeps its identifiers");
        require(s->bytes[i] == p->bytes[k] && s->kind[i] == p->kind[k],
                "a span keeps its bytes and its kind");
        k++;
    }
    require(k == p->rows.len, "no other span is written");
}

static void check_rest(const struct trace *a, const struct slice *slice, const struct trace *b)
{
    const struct flows *f = &a->flows, *g = &b->flows;
    const struct memory_events *m = &a->memory, *n = &b->memory;
    uint32_t k = 0;
    for (uint32_t i = 0; i < f->rows.len; i++) {
        if (!slice->flow[i])
            continue;
        require(k < g->rows.len && f->time[i] == g->time[k] && f->finish[i] == g->finish[k] &&
                    same_id(a, f->id[i], f->id_form[i], b, g->id[k], g->id_form[k]) &&
                    same_track(a, f->track[i], b, g->track[k]),
                "an end of a link stays");
        k++;
    }
    require(k == g->rows.len, "no other end of a link is written");
    k = 0;
    for (uint32_t i = 0; i < m->rows.len; i++) {
        if (!slice->memory[i])
            continue;
        require(k < n->rows.len && m->time[i] == n->time[k] && m->bytes[i] == n->bytes[k] &&
                    m->address[i] == n->address[k] &&
                    m->total_allocated[i] == n->total_allocated[k],
                "an event of memory stays");
        k++;
    }
    require(k == n->rows.len, "no other event of memory is written");
}

static void check_written(const struct trace *t, const struct slice *slice, const struct buf *text)
{
    struct trace again;
    struct vrs_error err = { .message = "" };
    enum vrs_status status = read_bytes(text->at, text->len, &again, &err);
    /* Of a file whose events all mean nothing there is nothing to write. */
    if (status == VRS_UNSUPPORTED) {
        require(slice->kept == 0, "a trace is written as a trace");
        return;
    }
    if (status != VRS_OK)
        fprintf(stderr, "%s\n", err.message);
    require(status == VRS_OK, "what is written can be read");
    for (int kind = 0; kind < TRACE_DAMAGES; kind++)
        require(kind == DAMAGE_ZEROS || kind == DAMAGE_TRUNCATED || again.damage[kind].count == 0,
                "what is written has no damage");
    const struct damage *was = &t->damage[DAMAGE_TRUNCATED];
    const struct damage *is = &again.damage[DAMAGE_TRUNCATED];
    require((was->count > 0) == (is->count > 0) && was->first_offset == is->first_offset,
            "what is written from a cut file says so");
    check_spans(t, slice, &again);
    check_rest(t, slice, &again);
    trace_free(&again);
}

static struct slice_question question_of(uint8_t byte)
{
    enum { BY_STEPS = 1, DROP_PYTHON = 2, SHORT = 4, FIRST = 3, LAST = 5, STEPS = 4 };
    struct slice_question q = {
        .by_steps = (byte & BY_STEPS) != 0,
        .drop_python = (byte & DROP_PYTHON) != 0,
        .min_duration_ns = (byte & SHORT) != 0 ? 1000 : 0,
        .first_step = (byte >> FIRST) % STEPS,
    };
    q.last_step = q.first_step + (byte >> LAST) % STEPS;
    return q;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace trace;
    struct slice slice;
    struct arena arena;
    struct buf text;
    struct vrs_error err = { .message = "" };
    if (size == 0 || size > 1 << 16 || read_bytes(data + 1, size - 1, &trace, &err) != VRS_OK)
        return 0;
    if (trace.timeline.form != TIMELINE_NONE) {
        trace_free(&trace); /* it has no events to be written */
        return 0;
    }
    const struct slice_question q = question_of(data[0]);
    arena_init(&arena, SIZE_MAX / 2);
    buf_init(&text, SIZE_MAX / 2);
    enum vrs_status status = slice_make(&trace, &q, &arena, &slice, &err);
    require(status == VRS_OK || (status == VRS_USAGE && q.by_steps && err.message[0] != 0),
            "steps that there are not are told");
    if (status == VRS_OK) {
        write_part(&trace, &slice, &text);
        check_written(&trace, &slice, &text);
    }
    buf_free(&text);
    arena_free(&arena);
    trace_free(&trace);
    return 0;
}
