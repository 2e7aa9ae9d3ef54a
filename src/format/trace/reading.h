/* reading.h - tokens of JSON into a trace, by where they stand. */
#ifndef VRS_FORMAT_TRACE_READING_H
#define VRS_FORMAT_TRACE_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "format/input/window.h"
#include "format/json/reader.h"
#include "format/trace/event.h"
#include "format/trace/words.h"
#include "model/trace.h"

/* An event may be this long, in bytes; a longer one is dropped. */
enum { EVENT_BYTES = HELD_BYTES };

/* Which container is open; `ignored` ones are inside values that mean nothing as containers. */
enum place {
    PLACE_OUTSIDE,
    PLACE_FILE,
    PLACE_EVENTS,
    PLACE_EVENT,
    PLACE_ARGS,
    PLACE_DEVICES,
    PLACE_DEVICE,
    PLACE_DISTRIBUTED
};

struct reading {
    struct trace *trace;
    struct window *window; /* where the tokens come from */
    bool is_mended;        /* that is a mended event; else it holds the element of the list */
    uint64_t shapes_at;    /* where the key of the shapes of inputs begins, plus 1; 0: none is open */
    struct events events;
    struct layout *layout; /* of the events that are read at one go */
    enum place place;
    uint32_t ignored;   /* containers open inside `place` */
    enum trace_key key; /* the last one of `place` */
    bool has_events;    /* a list of events was begun */
    bool has_forgotten; /* one before it, whose key came again */
    bool has_lone;      /* the string that comes has U+FFFD for half of a surrogate pair */
    struct damage utf8_before; /* DAMAGE_UTF8 when the event at hand began: it may be read again */
    bool is_snapshot;   /* the keys are those of a memory snapshot */
    bool stops;         /* fails behind the list of events, `list_end` then being its end */
    uint64_t list_end;
};

/* To be freed, whatever is returned. */
enum vrs_status reading_init(struct reading *r, struct trace *t, uint32_t string_bytes,
                             struct vrs_error *err) MUST_CHECK;
void reading_free(struct reading *r);

/* Takes tokens for `r`, which must outlive it. */
struct json_sink reading_sink(struct reading *r);

/* Whether the list of events is open, and one of its elements. */
bool reading_is_in_list(const struct reading *r);
bool reading_is_in_element(const struct reading *r);

/* What `w` has behind the whole value: blanks, or bytes that are left out and counted, `*end` then
 * being behind them. */
void reading_rest(struct trace *t, struct window *w, struct json_end *end);

/* Into the list, out of whatever was open in it or before it. */
void reading_return_to_list(struct reading *r);

#endif
