/* trace.h - a profiler trace as tables of columns: what ran, when, and on which thread or stream.
 *
 * Times are nanoseconds of the trace's own clock.  Rows stand in the order of the file, which is
 * not the order of time; `index` is the event's place among the events of the file, from 0, and
 * decides between events of one moment.  Once read a trace is read-only.
 *
 * A number that identifies something (a correlation, an external id, a flow) is of any size in the
 * file: one beyond 64 bits, and a text, is kept as a string.  See struct trace_id. */
#ifndef VRS_MODEL_TRACE_H
#define VRS_MODEL_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idtab.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/memory_timeline.h"
#include "model/strings.h"

/* What an event is, by its category.  The first three are the work of a device. */
enum span_kind {
    SPAN_KERNEL,
    SPAN_MEMCPY,
    SPAN_MEMSET,
    SPAN_OP,
    SPAN_ANNOTATION,
    SPAN_RUNTIME,
    SPAN_DRIVER,
    SPAN_PYTHON,
    SPAN_GPU_ANNOTATION,
    SPAN_SYNC,
    SPAN_CUDA_EVENT,
    SPAN_OVERHEAD,
    SPAN_WINDOW, /* what was captured, no event: `span` in figures */
    SPAN_OTHER,
    SPAN_KINDS
};

static inline bool span_is_work(uint8_t kind)
{
    return kind <= SPAN_MEMSET;
}

static inline bool span_is_call(uint8_t kind)
{
    return kind == SPAN_RUNTIME || kind == SPAN_DRIVER;
}

static inline bool span_is_range(uint8_t kind)
{
    return kind == SPAN_OP || kind == SPAN_ANNOTATION;
}

/* The name that a kind has in figures. */
const char *span_kind_name(enum span_kind kind);

/* How an identifier was written: the meaning of its 64 bits. */
enum id_form {
    ID_NONE,   /* not there */
    ID_NUMBER, /* an integer, in two's complement */
    ID_TEXT,   /* the string of this id: a text, or an integer beyond 64 bits */
};

struct trace_id {
    int64_t value;
    uint8_t form; /* enum id_form */
};

static inline bool trace_id_equal(struct trace_id a, struct trace_id b)
{
    return a.form == b.form && a.value == b.value;
}

/* A thread of a process, or a stream of a device. */
struct tracks {
    struct table rows;
    int64_t *pid, *tid;           /* of a process and of its thread, as in struct trace_id */
    uint8_t *pid_form, *tid_form; /* enum id_form */
    uint32_t *process;            /* number of the distinct pid, from 0 */
};

/* What lasts: the events of phase X. */
struct spans {
    struct table rows;
    int64_t *start,
        *duration; /* ns; a duration is not negative; TRACE_TIME_MOST holds for both ends */
    uint32_t *index;
    uint8_t *kind;             /* enum span_kind */
    uint32_t *name, *category; /* string_id; a category in lower case */
    uint32_t *track;
    int64_t *external, *correlation; /* struct trace_id */
    uint8_t *external_form, *correlation_form;
    int64_t *bytes; /* of a copy; TRACE_UNKNOWN where not given */
    uint32_t *shapes; /* string_id: of the inputs, JSON as it stands in the file; 0: not given */
    /* Of an operator: the number that autograd had for its node, which that node's operators of the
     * backward pass have too; TRACE_NO_SEQUENCE. */
    uint32_t *sequence;
    uint16_t *forward_thread; /* of those: the thread of the forward pass, as the profiler counts
                               * them, from 1; 0: none.  UINT16_MAX is that, and all above */
};

#define TRACE_NO_SEQUENCE UINT32_MAX

/* The frames around an event as one text, the innermost first with ";" between two: the profiler
 * wrote them so until 2021, and still does of TorchScript.  Most files have none, and pay for none:
 * it is no column of spans. */
struct span_stacks {
    struct table rows; /* by rising span */
    uint32_t *span;
    uint32_t *text;       /* string_id, among `texts` */
    struct strings texts; /* TRACE_STACKS_BYTES at most; what has no room is left out */
};

#define TRACE_STACKS_BYTES ((uint32_t)64 << 20)

/* One end of a link: the events of phases s and f. */
struct flows {
    struct table rows;
    int64_t *time;
    uint8_t *finish; /* whether it is the end that the arrow points to */
    uint32_t *category;
    uint32_t *track;
    int64_t *id; /* struct trace_id */
    uint8_t *id_form;
};

/* What an allocator did: the instants `[memory]`. */
struct memory_events {
    struct table rows;
    int64_t *time;
    uint32_t *index;
    uint32_t *track;
    int64_t *device_type, *device_number; /* TRACE_UNKNOWN where not given, as all below */
    int64_t *bytes;                       /* negative: given back */
    int64_t *total_allocated, *total_reserved;
    uint64_t *address; /* UNKNOWN_U64 */
};

#define TRACE_UNKNOWN INT64_MIN

/* Times lie within so many nanoseconds of 0, which is 146 years: the time between two of them has
 * 64 bits. */
#define TRACE_TIME_MOST (((int64_t)1 << 62) - 1)

/* How often each phase stands in the file, by its text. */
struct phases {
    struct table rows;
    uint32_t *text; /* string_id; 0: the event has none */
    uint64_t *count;
};

/* A process that a metadata event names. */
struct processes {
    struct table rows; /* one for each distinct pid */
    int64_t *pid;
    uint8_t *pid_form;
    uint32_t *name, *labels; /* string_id */
};

/* A device that the header lists. */
struct listed_devices {
    struct table rows;
    int64_t *number; /* TRACE_UNKNOWN, as below */
    uint32_t *name;  /* string_id */
    int64_t *bytes;
    int64_t *major, *minor; /* compute capability */
    int64_t *multiprocessors;
};

/* Bits of trace_header.flags: what the profiler was told to record. */
enum trace_flag {
    TRACE_RECORD_SHAPES = 1,
    TRACE_PROFILE_MEMORY = 2,
    TRACE_WITH_STACK = 4,
    TRACE_WITH_MODULES = 8,
    TRACE_WITH_FLOPS = 16,
};

/* The key under which a file that was written from one that ended too early says so. */
#define TRACE_CUT_KEY "recordingCutAtByte"

struct trace_header {
    bool is_array; /* the file is the list of events alone */
    uint8_t flags, flags_said; /* those that are set, and those that the header has at all */
    int64_t base_ns;          /* what the times count from, since 1970; TRACE_UNKNOWN */
    int64_t cut_at;           /* the file that it was written from ended too early, here; likewise */
    int64_t rank, world_size; /* TRACE_UNKNOWN */
    uint32_t backend;         /* string_id */
    uint64_t times_integer, times_other, times_missing; /* how the times are written */
    uint64_t out_of_memory;                             /* events of that name */
    bool has_shapes;                                    /* events have args of them */
    uint64_t stacks_left_out;                           /* of events */
};

/* What was read around, each counted; the first at this byte of the unpacked input, but for what is
 * said to be of the packing. */
enum trace_damage {
    DAMAGE_NO_TIME,      /* an event that lasts, or a link, without a time: dropped */
    DAMAGE_NEGATIVE,     /* a duration below 0: taken as 0 */
    DAMAGE_NO_DURATION,  /* a duration that is no number, as Infinity or null: taken as 0 */
    DAMAGE_RANGE,        /* a time beyond 64 bits of ns: taken as the nearest */
    DAMAGE_NOT_AN_EVENT, /* a value among the events that is no object */
    DAMAGE_TRUNCATED,    /* the file ends within */
    DAMAGE_BEHIND,       /* it goes on behind its end: left out */
    /* Of the packing, at a byte of the packed input. */
    DAMAGE_CHECKSUM,     /* one of it is wrong: what it is of is read */
    DAMAGE_PACKED_BYTES, /* bytes behind it that are no part of it, and not zero: left out */
    /* Of the text; see format/trace/repair.h. */
    DAMAGE_ESCAPE,  /* a backslash before what JSON does not escape: kept as a backslash */
    DAMAGE_CONTROL, /* a control character as such: kept */
    DAMAGE_UTF8,    /* a text that is not UTF-8: U+FFFD stands for its wrong bytes, or for half of a
                     * surrogate pair */
    DAMAGE_QUOTE,   /* a quote without a backslash in a text: kept */
    DAMAGE_COMMA,   /* one too many or too few: read as if it were right */
    DAMAGE_WORD,    /* a word that is no value, or none at all: a value that is missing */
    DAMAGE_NESTED,  /* a value nested too deep: one that is missing */
    DAMAGE_LONG,    /* an event of more than 64 MiB: dropped */
    DAMAGE_SKIPPED, /* bytes that make no sense, up to the next event */
    DAMAGE_ZEROS,   /* spans that begin at 0, where 10 do and more than 1 % of all */
    /* Of a memory timeline. */
    DAMAGE_NOT_A_ROW, /* not made of the numbers that a row has, or beyond 64 bits: dropped */
    DAMAGE_UNORDERED, /* a time before that of the row above: taken as that one */
    TRACE_DAMAGES
};

/* The name of each in answers. */
extern const char *const trace_damage_names[TRACE_DAMAGES];

struct damage {
    uint64_t count, first_offset;
};

/* The packed stream that ends too early, "gzip" or "zstd", and where in the packed bytes; NULL:
 * none does.  `is_damaged`: more bytes are there, which cannot be unpacked. */
struct cut_stream {
    const char *name;
    uint64_t at;
    bool is_damaged;
};

struct trace {
    struct strings strings;
    struct tracks tracks;
    struct processes processes;
    struct spans spans;
    struct span_stacks stacks;
    struct flows flows;
    struct memory_events memory;
    struct phases phases;
    struct listed_devices devices;
    struct trace_header header;
    struct memory_timeline timeline; /* where the file is one: all other tables are empty then */
    struct damage damage[TRACE_DAMAGES];
    struct cut_stream cut_stream;
    bool is_packed;           /* places of damage in the text are in what the file unpacks to */
    uint64_t events;          /* elements of the list; of a timeline its rows, or its events */
    uint64_t read_bytes;      /* of the unpacked input */
    uint64_t skipped_bytes;   /* of them, those that became nothing because of damage */
    struct idtab track_index; /* of tracks and of processes, plus 1 */
    struct idtab process_index;
};

extern const struct table_kind tracks_kind, spans_kind, span_stacks_kind, flows_kind,
    memory_events_kind, phases_kind, processes_kind, listed_devices_kind;

/* With no row; `items` bounds each table.  False when out of memory, and then to be freed too. */
bool trace_init(struct trace *t, uint32_t items, uint32_t strings_bytes);
void trace_free(struct trace *t);
/* As trace_init leaves it; the room that its events and strings had stays. */
void trace_clear(struct trace *t);

/* Counts damage at a place of the input. */
void trace_damaged(struct trace *t, enum trace_damage kind, uint64_t offset);

/* Forgets the list of events, and what came of it; the header and the strings stay. */
void trace_clear_events(struct trace *t);

/* The row of a thread or stream, old or new, and of its process.  False when out of memory or
 * rows. */
bool trace_track(struct trace *t, struct trace_id pid, struct trace_id tid, uint32_t *ret);
bool trace_process(struct trace *t, struct trace_id pid, uint32_t *ret);

static inline int64_t span_end(const struct spans *s, uint32_t row)
{
    return s->start[row] + s->duration[row];
}

/* A copy of an identifier's text: a number in digits, "None" where there is none.  False when out of
 * memory. */
bool trace_id_copy(const struct trace *t, struct trace_id id, struct arena *arena, str *ret);

/* The text of the frames around a span, its id among those of stacks; 0: it has none. */
uint32_t span_stack(const struct trace *t, uint32_t span);

static inline str span_stack_text(const struct trace *t, uint32_t id)
{
    return strings_text(&t->stacks.texts, (string_id){ id });
}

/* Takes the next frame off what is left of such a text; false: there is none. */
bool span_stack_next(str *rest, str *ret_frame);

static inline str trace_text(const struct trace *t, uint32_t id)
{
    return strings_text(&t->strings, (string_id){ id });
}

#endif
