#include "made/traced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/strings.h"

void traced_begin(struct traced *m)
{
    *m = (struct traced){ .study = { .trace = NULL } };
    assert_true(trace_init(&m->trace, 1 << 22, 1 << 24));
    arena_init(&m->arena, SIZE_MAX / 2);
}

void traced_end(struct traced *m)
{
    arena_free(&m->arena);
    trace_free(&m->trace);
}

void traced_study(struct traced *m)
{
    assert_int_equal(trace_study_make(&m->trace, &m->arena, &m->study, NULL), VRS_OK);
}

void traced_study_of(struct traced *m, const char *spans)
{
    traced_begin(m);
    traced_spans(m, spans);
    traced_study(m);
}

/* Words of a text. */

static void skip_blanks(const char **at)
{
    while (**at == ' ' || **at == '\n')
        (*at)++;
}

/* Whether another item begins; the sign between two is passed. */
static bool next_item(const char **at)
{
    skip_blanks(at);
    if (**at == ';')
        (*at)++;
    skip_blanks(at);
    return **at != '\0';
}

static bool in_item(const char **at)
{
    skip_blanks(at);
    return **at != '\0' && **at != ';';
}

static str word(const char **at)
{
    skip_blanks(at);
    bool quoted = **at == '\'';
    *at += quoted;
    size_t len = strcspn(*at, quoted ? "'" : " ;\n");
    str found = { *at, len };
    *at += len + quoted;
    return found;
}

static int64_t number(const char **at)
{
    char *end;
    int64_t value = strtoll(*at, &end, 10);
    assert_true(end > *at);
    *at = end;
    return value;
}

static void pass(const char **at, char sign)
{
    assert_true(**at == sign);
    (*at)++;
}

static uint32_t text_id(struct traced *m, str text)
{
    string_id id;
    assert_true(strings_intern(&m->trace.strings, text, &id));
    return id.n;
}

static uint32_t track(struct traced *m, const char **at)
{
    skip_blanks(at);
    int64_t pid = number(at);
    pass(at, '/');
    return traced_track(m, pid, number(at));
}

static enum span_kind kind_of(str name)
{
    uint32_t kind = 0;
    while (kind < SPAN_KINDS && !str_equal(str_from(span_kind_name((enum span_kind)kind)), name))
        kind++;
    assert_true(kind < SPAN_KINDS);
    return (enum span_kind)kind;
}

/* Rows. */

uint32_t traced_track(struct traced *m, int64_t pid, int64_t tid)
{
    uint32_t row;
    assert_true(trace_track(&m->trace, (struct trace_id){ pid, ID_NUMBER },
                            (struct trace_id){ tid, ID_NUMBER }, &row));
    return row;
}

static uint32_t add_span(struct traced *m, enum span_kind kind, str name, uint32_t on,
                         int64_t start, int64_t duration)
{
    struct spans *s = &m->trace.spans;
    assert_true(table_reserve(s, &spans_kind, 1));
    uint32_t row = s->rows.len++;
    s->start[row] = start;
    s->duration[row] = duration;
    s->index[row] = (uint32_t)m->trace.events++;
    s->kind[row] = (uint8_t)kind;
    s->name[row] = text_id(m, name);
    s->category[row] = 0;
    s->track[row] = on;
    s->external[row] = s->correlation[row] = 0;
    s->external_form[row] = s->correlation_form[row] = ID_NONE;
    s->bytes[row] = TRACE_UNKNOWN;
    s->shapes[row] = 0;
    s->sequence[row] = TRACE_NO_SEQUENCE;
    s->forward_thread[row] = 0;
    return row;
}

uint32_t traced_span(struct traced *m, enum span_kind kind, const char *name, uint32_t on,
                     int64_t start, int64_t duration)
{
    return add_span(m, kind, str_from(name), on, start, duration);
}

void traced_spans(struct traced *m, const char *text)
{
    struct spans *s = &m->trace.spans;
    while (next_item(&text)) {
        enum span_kind kind = kind_of(word(&text));
        str name = word(&text);
        uint32_t on = track(m, &text);
        int64_t start = number(&text);
        pass(&text, '+');
        uint32_t row = add_span(m, kind, name, on, start, number(&text));
        while (in_item(&text)) {
            char letter = *text++;
            assert_true(letter == 'e' || letter == 'c' || letter == 'b');
            if (letter == 'b') {
                s->bytes[row] = number(&text);
                continue;
            }
            (letter == 'e' ? s->external : s->correlation)[row] = number(&text);
            (letter == 'e' ? s->external_form : s->correlation_form)[row] = ID_NUMBER;
        }
    }
}

void traced_flows(struct traced *m, const char *text)
{
    struct flows *f = &m->trace.flows;
    while (next_item(&text)) {
        assert_true(table_reserve(f, &flows_kind, 1));
        uint32_t row = f->rows.len++;
        f->finish[row] = word(&text).ptr[0] == 'f';
        f->category[row] = text_id(m, word(&text));
        f->id[row] = number(&text);
        f->id_form[row] = ID_NUMBER;
        f->track[row] = track(m, &text);
        f->time[row] = number(&text);
        m->trace.events++;
    }
}

void traced_memory(struct traced *m, const char *text)
{
    struct memory_events *e = &m->trace.memory;
    while (next_item(&text)) {
        assert_true(table_reserve(e, &memory_events_kind, 1));
        uint32_t row = e->rows.len++;
        e->index[row] = (uint32_t)m->trace.events++;
        e->track[row] = traced_track(m, 1, 1);
        e->device_type[row] = number(&text);
        pass(&text, '/');
        e->device_number[row] = number(&text);
        e->time[row] = number(&text);
        e->bytes[row] = number(&text);
        e->total_allocated[row] = e->total_reserved[row] = TRACE_UNKNOWN;
        e->address[row] = UNKNOWN_U64;
        while (in_item(&text)) {
            char letter = *text++;
            assert_true(letter == 't' || letter == 'r' || letter == 'a');
            int64_t value = number(&text);
            if (letter == 'a')
                e->address[row] = (uint64_t)value;
            else
                (letter == 't' ? e->total_allocated : e->total_reserved)[row] = value;
        }
    }
}

/* Random ones. */

uint64_t traced_draw(uint64_t *random, uint64_t below)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (*random >> 33) % below;
}

void traced_random_hosts(struct traced *m, uint64_t *random, uint32_t spans, int64_t length)
{
    static const struct {
        enum span_kind kind;
        const char *name;
    } made[] = {
        { SPAN_OP, "aten::mm" },
        { SPAN_OP, "aten::item" },
        { SPAN_ANNOTATION, "forward" },
        { SPAN_ANNOTATION, "enumerate(DataLoader)#loader.__next__" },
        { SPAN_ANNOTATION, "Optimizer.step#SGD.step" },
        { SPAN_RUNTIME, "cudaLaunchKernel" },
        { SPAN_RUNTIME, "cudaMalloc" },
        { SPAN_RUNTIME, "cudaStreamSynchronize" },
        { SPAN_DRIVER, "cuModuleLoadData" },
    };
    for (uint32_t i = 0; i < spans; i++) {
        size_t what = traced_draw(random, sizeof made / sizeof *made);
        uint32_t on = traced_track(m, 1, (int64_t)traced_draw(random, 2));
        int64_t start = (int64_t)traced_draw(random, (uint64_t)length);
        int64_t longest = traced_draw(random, 4) == 0 ? 1 : length - start + 1;
        int64_t duration = (int64_t)traced_draw(random, (uint64_t)longest);
        traced_span(m, made[what].kind, made[what].name, on, start, duration);
    }
}
