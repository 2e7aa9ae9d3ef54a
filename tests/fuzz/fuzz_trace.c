/* fuzz_trace.c - bytes as a profiler trace, or the memory timeline of one: the reader, and what reads
 * past its damage.
 *
 * Whatever the bytes are, reading must end with a trace that keeps every invariant, or with a
 * worded failure; and it must end alike in whatever portions they come. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "format/input/limits.h"
#include "format/read_trace.h"
#include "made/dribble.h"
#include "made/trace_same.h"
#include "model/memory_timeline.h"
#include "model/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "this does not hold: %s\n", what);
    abort();
}

static enum vrs_status read_portions(const uint8_t *data, size_t size, size_t step,
                                     struct trace *ret, struct vrs_error *err)
{
    /* Small limits: what they guard is reached, and a run stays fast. */
    static const struct limits limits = {
        .nesting = 64,
        .string_bytes = 1 << 16,
        .strings_bytes = 1 << 22,
        .items = 1 << 16,
        .unpacked_bytes = 1 << 24,
        .frames = 100,
    };
    struct dribble d = { .at = data, .left = size, .step = step };
    const struct read_trace_options options = { .limits = &limits, .size_bytes = size };
    return read_trace(dribble_source(&d), &options, ret, err);
}

static void check_spans(const struct trace *t)
{
    const struct spans *s = &t->spans;
    for (uint32_t i = 0; i < s->rows.len; i++) {
        require(s->duration[i] >= 0, "a duration is not negative");
        require(s->start[i] >= -TRACE_TIME_MOST && span_end(s, i) <= TRACE_TIME_MOST,
                "both ends of a span are times");
        require(s->kind[i] < SPAN_KINDS, "a span has a kind");
        require(s->track[i] < t->tracks.rows.len, "a span has a track");
        require(s->index[i] < t->events && (i == 0 || s->index[i] > s->index[i - 1]),
                "spans stand in the order of the file");
        require(s->name[i] < t->strings.rows.len && s->category[i] < t->strings.rows.len,
                "a span's texts are there");
        require(s->external_form[i] <= ID_TEXT && s->correlation_form[i] <= ID_TEXT,
                "a span's identifiers have a form");
    }
}

static void check_timeline(const struct trace *t)
{
    const struct memory_timeline *m = &t->timeline;
    int64_t bytes[TIMELINE_CATEGORIES], sum = 0;
    uint64_t actions = 0;
    require(m->rows.len > 0 || m->has_before, "a timeline says something");
    require(m->rows.len + m->has_before <= t->events, "each state is of a row");
    for (uint32_t i = 0; i < m->rows.len; i++) {
        (void)memory_timeline_row(m, i, bytes);
        require(memory_timeline_sum(bytes, &sum), "a sum has 64 bits");
        require(m->time[i] <= TRACE_TIME_MOST && m->time[i] >= -TRACE_TIME_MOST, "a time is one");
        require(i == 0 || m->time[i] >= m->time[i - 1], "times do not fall");
    }
    for (int a = 0; a < TIMELINE_ACTIONS; a++)
        actions += m->actions[a];
    require(m->form == TIMELINE_EVENTS
                ? actions + t->damage[DAMAGE_NOT_A_ROW].count == t->events
                : actions == 0,
            "each event did something");
}

static bool is_of_packing(int kind)
{
    return kind == DAMAGE_CHECKSUM || kind == DAMAGE_PACKED_BYTES;
}

static void check_rest(const struct trace *t, size_t size)
{
    for (uint32_t i = 0; i < t->flows.rows.len; i++)
        require(t->flows.track[i] < t->tracks.rows.len, "an end of a link has a track");
    for (uint32_t i = 0; i < t->memory.rows.len; i++)
        require(t->memory.track[i] < t->tracks.rows.len && t->memory.index[i] < t->events,
                "an event of memory has a track");
    for (uint32_t i = 0; i < t->tracks.rows.len; i++)
        require(t->tracks.process[i] < t->processes.rows.len, "a track has a process");
    uint64_t counted = 0;
    for (uint32_t i = 0; i < t->phases.rows.len; i++)
        counted += t->phases.count[i];
    if (t->timeline.form != TIMELINE_NONE)
        check_timeline(t);
    else
        require(counted == t->events && counted > 0, "each event has a phase");
    require(t->skipped_bytes <= t->read_bytes, "what was skipped was read");
    require(t->damage[DAMAGE_TRUNCATED].count <= 1, "a file ends once");
    for (int kind = 0; kind < TRACE_DAMAGES; kind++)
        require(t->damage[kind].first_offset <= (is_of_packing(kind) ? size : t->read_bytes),
                "damage has a place");
    require(t->cut_stream.name == NULL ||
                (t->damage[DAMAGE_TRUNCATED].count == 1 && t->cut_stream.at == size),
            "a stream that ends early ends with the file");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace whole, portions;
    struct vrs_error err = { .message = "" }, other = { .message = "" };
    enum vrs_status status = read_portions(data, size, 0, &whole, &err);
    enum vrs_status again = read_portions(data, size, 1 + size % 7, &portions, &other);
    require(status == again, "portions change no status");
    if (status != VRS_OK) {
        require(err.status == status && err.message[0] != 0, "a failure has words");
        return 0;
    }
    check_spans(&whole);
    check_rest(&whole, size);
    require(trace_same(&whole, &portions), "portions change no trace");
    trace_free(&whole);
    trace_free(&portions);
    return 0;
}
