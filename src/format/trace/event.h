/* event.h - one event of a trace: its keys, as they come in, become a row. */
#ifndef VRS_FORMAT_TRACE_EVENT_H
#define VRS_FORMAT_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "format/trace/words.h"
#include "model/trace.h"

enum value_form { VALUE_NULL, VALUE_NUMBER, VALUE_TEXT, VALUE_TRUE, VALUE_FALSE };

/* A scalar of the file; `text` is there until the call returns. */
struct value {
    enum value_form form;
    str text; /* of a number, and of a text */
};

enum time_form { TIME_MISSING, TIME_INTEGER, TIME_OTHER };

struct event {
    uint64_t offset;
    uint32_t phase, name, category; /* string_id */
    struct trace_id pid, tid, id;
    int64_t start, duration;
    bool has_start, is_beyond, no_duration;
    enum time_form time_form;
    /* of its args */
    struct trace_id external, correlation;
    bool external_decided; /* by the key with a capital letter, which goes first */
    int64_t memory_bytes, copy_bytes, device_type, device_number, total_allocated, total_reserved;
    uint64_t address;
    uint32_t process_name, labels, shapes; /* string_id */
    uint32_t stack; /* the same among the texts of stacks; or STACK_LEFT_OUT: there is no room */
    uint32_t sequence;
    uint16_t forward_thread;
};

#define STACK_LEFT_OUT UINT32_MAX

/* Texts met lately, each in the place that its ends and its length give it. */
enum { TEXTS_MET = 1024 };

/* Puts events into a trace. */
struct events {
    struct trace *trace;
    struct event event;
    uint64_t offset; /* of the value at hand */
    uint64_t zeros;  /* spans that begin at 0, and where the first of them stands */
    uint64_t first_zero;
    bool takes_back; /* a process lost the name that it had, or would have had */
    struct buf text; /* a string that is changed before it is kept */
    uint32_t met[TEXTS_MET];         /* string_id */
    uint32_t kind_category;          /* string_id of the category that was last */
    uint32_t lower_category;         /* and of the last that was written without capitals */
    enum span_kind kind;             /* and what it is */
    uint32_t track;                  /* the row of the track that was last */
    uint32_t stack;                  /* the text of the stack that was last */
    bool has_frames; /* of Python: beside them no stacks are kept as texts */
    /* Words that are compared by their ids. */
    uint32_t last, instant, start, finish, metadata, memory, out_of_memory, process_name,
        process_labels;
};

enum vrs_status events_init(struct events *e, struct trace *t, uint32_t string_bytes,
                            struct vrs_error *err) MUST_CHECK;
void events_free(struct events *e);

void event_begin(struct events *e, uint64_t offset);
/* Forgets the args: of two in an event the last stands. */
void event_clear_arguments(struct events *e);
/* A key of the event, and one of its args.  Keys without meaning here change nothing. */
enum vrs_status event_field(struct events *e, enum trace_key key, const struct value *value,
                            struct vrs_error *err) MUST_CHECK;
enum vrs_status event_argument(struct events *e, enum trace_key key, const struct value *value,
                               struct vrs_error *err) MUST_CHECK;
/* The same of numbers that are not negative.  False, and nothing is changed, where a key wants the
 * text of one, or the time is beyond what is kept. */
bool event_field_integer(struct events *e, enum trace_key key, int64_t number);
bool event_field_time(struct events *e, enum trace_key key, int64_t ns, bool is_whole);
bool event_argument_integer(struct events *e, enum trace_key key, int64_t number);
/* A key of args: of two stacks, or shapes, in an event the last stand.  Returns whether it is one
 * of shapes; event_argument does not take what they hold. */
bool event_notes(struct events *e, enum trace_key key);
/* The shapes of inputs, a list as it is written; SHAPES_BYTES of it at most are kept. */
enum { SHAPES_BYTES = 4096 };
enum vrs_status event_shapes(struct events *e, str json, struct vrs_error *err) MUST_CHECK;
enum vrs_status event_end(struct events *e, struct vrs_error *err) MUST_CHECK;
/* When all is read: what an event is may depend on the name that its process has. */
void events_finish(struct events *e);

/* A text as the trace keeps it. */
enum vrs_status event_text(struct events *e, str text, uint32_t *ret,
                           struct vrs_error *err) MUST_CHECK;
/* An integer, or TRACE_UNKNOWN. */
int64_t value_integer(const struct value *value);

#endif
