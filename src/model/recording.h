/* recording.h - what was opened, as tables of columns; the only thing analyses read.
 *
 * A recording owns its columns and nothing else does.  There are no pointers between rows, only
 * ids.  Once built (format/) and paired (pairing.c) it is read-only, and any number of threads
 * may read it.
 *
 * Order.  Devices ascend by (kind, number).  Segments, blocks, events and allocations of a device
 * are one run of rows each, in the order of the file; blocks of a segment likewise.  The
 * allocations of a device stand in the order of the first event that names them, those that only
 * the final blocks know after them.
 *
 * Unknown is never zero: see UNKNOWN_U64, NO_ROW and row 0 of the interned tables. */
#ifndef VRS_MODEL_RECORDING_H
#define VRS_MODEL_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idtab.h"
#include "base/str.h"
#include "base/table.h"
#include "model/code.h"

enum device_kind { DEVICE_CUDA, DEVICE_HOST };

/* Bits of devices.parts: what of the device the file holds whole (all of them unless cut). */
enum device_parts {
    PART_SEGMENTS = 1, /* the final state was read whole */
    PART_TRACE = 2,    /* the trace was read whole */
    PART_ANCHOR = 4,   /* both: curves are anchored at the end */
};

struct devices {
    struct table rows;
    uint8_t *kind;    /* enum device_kind */
    uint32_t *number; /* as in the file */
    uint8_t *parts;   /* enum device_parts */
    uint32_t *first_segment, *segments;
    uint32_t *first_block, *blocks;
    uint32_t *first_event, *events;
    uint32_t *first_allocation, *allocations;
    /* The last three are set by pairing; see struct pairing_counts. */
    uint64_t *orphan_frees, *double_allocs, *returned_unobtained_bytes;
};

enum segment_class { CLASS_UNKNOWN, CLASS_SMALL, CLASS_LARGE };

struct segments {
    struct table rows;
    uint32_t *device; /* row of devices */
    uint64_t *address;
    uint64_t *total_size;
    uint64_t *allocated_size, *active_size, *requested_size; /* UNKNOWN_U64 where not given */
    uint32_t *stream;                                        /* row of streams */
    uint32_t *pool;                                          /* pool_id */
    uint32_t *stack, *forward_stack;                         /* stack_id */
    uint8_t *size_class;                                     /* enum segment_class */
    uint8_t *expandable;
    uint32_t *first_block, *blocks;
};

enum block_state { BLOCK_UNKNOWN, BLOCK_ALLOCATED, BLOCK_PENDING, BLOCK_INACTIVE };

struct blocks {
    struct table rows;
    uint32_t *segment;
    uint64_t *address; /* where the file gives none: the running sum from the segment's base */
    uint64_t *size;
    uint64_t *requested_size;            /* UNKNOWN_U64 where not given; stale on inactive blocks */
    uint8_t *state;                      /* enum block_state */
    uint32_t *stack;                     /* of the current allocation; else of history[0] */
    uint32_t *context;                   /* context_id */
    uint32_t *first_history, *histories; /* rows of history, newest first */
};

/* Layouts of torch 1.13 and 2.0: who lived in a block before. */
struct history {
    struct table rows;
    uint64_t *address;
    uint64_t *real_size;
    uint32_t *stack;
    uint32_t *cpp_frames; /* string_id: one preformatted text */
};

enum event_action {
    ACTION_OTHER, /* its name is in the event's context */
    ACTION_ALLOC,
    ACTION_FREE_REQUESTED,
    ACTION_FREE_COMPLETED,
    ACTION_FREE, /* requested and completed in one, as some viewers write it */
    ACTION_SEGMENT_ALLOC,
    ACTION_SEGMENT_FREE,
    ACTION_SEGMENT_MAP,
    ACTION_SEGMENT_UNMAP,
    ACTION_SNAPSHOT,
    ACTION_OOM,
    ACTION_ANNOTATE,
    ACTION_USER_DEFINED,
    ACTIONS
};
/* As PyTorch writes them; NULL for ACTION_OTHER. */
extern const char *const event_action_names[ACTIONS];

/* Segment events get memory from the device or give it back. */
static inline bool action_obtains(uint8_t action)
{
    return action == ACTION_SEGMENT_ALLOC || action == ACTION_SEGMENT_MAP;
}

static inline bool action_returns(uint8_t action)
{
    return action == ACTION_SEGMENT_FREE || action == ACTION_SEGMENT_UNMAP;
}

struct events {
    struct table rows;
    uint8_t *action;   /* enum event_action */
    uint16_t *stream;  /* row of streams */
    uint32_t *stack;   /* stack_id */
    uint64_t *address; /* on oom: device_free */
    uint64_t *size;    /* requested bytes; real bytes of segments; rounded bytes on oom */
    uint64_t *time_us; /* Unix microseconds, or UNKNOWN_U64 */
    uint32_t *context; /* context_id */
};

/* What an event or block carries beside memory; interned, since most carry the same. */
struct context {
    string_id compile_context; /* "N/A" is none */
    string_id user_metadata, internal_metadata, category;
    string_id action; /* of ACTION_OTHER: its name */
    pool_id pool;
    stack_id forward_stack;
};

static inline bool context_equal(struct context a, struct context b)
{
    return a.compile_context.n == b.compile_context.n && a.user_metadata.n == b.user_metadata.n &&
           a.internal_metadata.n == b.internal_metadata.n && a.category.n == b.category.n &&
           a.action.n == b.action.n && a.pool.n == b.pool.n &&
           a.forward_stack.n == b.forward_stack.n;
}

struct contexts {
    struct table rows;
    uint32_t *compile_context, *user_metadata, *internal_metadata, *category, *action;
    uint32_t *pool;
    uint32_t *forward_stack;
    struct idtab index;
};

/* Pool ids as PyTorch writes them: (0, 0) default, (n, 0) graph capture, (0, n) pool handle. */
struct pools {
    struct table rows;
    uint64_t *first, *second;
    struct idtab index;
};

struct streams {
    struct table rows;
    uint64_t *handle; /* opaque; 0 is the default stream */
    struct idtab index;
};

enum stage { STAGE_START, STAGE_END };

/* External annotations, in the order of the file. */
struct marks {
    struct table rows;
    uint32_t *name;
    uint8_t *stage;
    uint32_t *device; /* the enabling thread's, as in the file; never to be matched by */
    uint64_t *time_us;
};

enum setting_type { SETTING_INT, SETTING_FLOAT, SETTING_BOOL, SETTING_TEXT };

/* Allocator settings, one row a value; an entry of a dict inside is named "outer.inner". */
struct settings {
    struct table rows;
    uint32_t *name;
    uint8_t *type;
    int64_t *integer; /* also 0 or 1 for SETTING_BOOL */
    double *real;
    uint32_t *text;
};

/* Names that were counted and not kept: unknown keys, unknown actions, keys of a wrong type.  At
 * most TALLIES_MAX names are told apart; what comes later is counted under the empty name. */
enum { TALLIES_MAX = 256 };

enum tally_kind { TALLY_UNKNOWN_KEY, TALLY_UNKNOWN_ACTION, TALLY_WRONG_TYPE, TALLY_KINDS };

struct tallies {
    struct table rows;
    uint8_t *kind;
    uint32_t *name;
    uint64_t *count;
};

/* One life of a block, from its alloc to its free; what is an event is a row of events. */
struct allocations {
    struct table rows;
    uint32_t *alloc_event;          /* NO_ROW: older than the recording */
    uint32_t *free_requested_event; /* NO_ROW: never */
    uint32_t *free_completed_event; /* NO_ROW: never */
    uint32_t *block;                /* the final block it survives in, or NO_ROW */
    uint64_t *size;                 /* requested bytes */
};

/* What the recorded process said its memory is: the key "vramscope" of a snapshot. */
enum named_kind {
    NAMED_TENSOR, /* of a kind that is not told */
    NAMED_PARAMETER,
    NAMED_BUFFER,
    NAMED_GRADIENT,
    NAMED_OPTIMIZER_STATE,
    NAMED_KINDS
};

/* A name is one of memory only where the recording agrees; see named.h. */
enum named_standing {
    NAMED_HOLDS,     /* the allocation is `allocation` */
    NAMED_REPEATED,  /* it says what another says that holds */
    NAMED_LATER,     /* what was there was freed, or what is there made, after the list was begun */
    NAMED_NOWHERE,   /* nothing is in use at its address */
    NAMED_INSIDE,    /* what is in use there begins before it */
    NAMED_TOO_LARGE, /* what is in use there is smaller */
    NAMED_DISPUTED,  /* others call the same memory differently */
    NAMED_NO_DEVICE, /* the file does not have its device */
    NAMED_STANDINGS
};

/* Those that hold come first, in the order of their allocations; the others as in the file. */
struct named_tensors {
    struct table rows;
    uint32_t *device; /* number, as in the file */
    uint64_t *address, *bytes;
    uint8_t *kind; /* enum named_kind */
    uint32_t *name;
    uint32_t *shape; /* string_id: "4096 x 11008", "scalar" */
    uint32_t *dtype, *owner;
    uint32_t *shared;     /* string_id: its other names, with commas between */
    uint8_t *standing;    /* enum named_standing */
    uint32_t *allocation; /* row of allocations; NO_ROW unless it holds */
};

/* Steps as the recorded process counted them; nothing rests on them. */
struct step_marks {
    struct table rows;
    uint64_t *index, *event, *time_us; /* UNKNOWN_U64 where not given */
};

/* What of the key is of a wrong type, and taken as absent. */
enum named_flaw {
    FLAW_KEY,      /* the key itself: no dict, or one without a schema */
    FLAW_NAMES,    /* `names` is no dict */
    FLAW_TENSORS,  /* `tensors` is no list */
    FLAW_STEPS,    /* `steps` is no list of dicts with numbers */
    FLAW_RECORDER, /* `recorder` is no dict whose `begun_by` is a text */
    FLAW_ENTRY,    /* entries of the list without what a name needs */
    FLAW_MEMBER,   /* members that entries and the list can do without */
    FLAWS
};

/* Facts about the key itself. */
struct named_facts {
    bool listed;           /* the file has a list of names */
    uint64_t time_us;      /* when it was begun, by the clock of the events; or UNKNOWN_U64 */
    uint64_t dropped;      /* names that its writer left out; UNKNOWN_U64: not told */
    uint64_t flaws[FLAWS]; /* how many of each there are */
    string_id schema;      /* the version that it is written for, where that is another one */
    bool foreign_recorder; /* the program began the recording by itself; false: nobody says so */
};

enum compression { COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZSTD };
enum wrapper { WRAPPER_NONE, WRAPPER_HTML };
enum encoding { ENCODING_PICKLE, ENCODING_JSON };

/* Where a cut file ends, for the words of the report. */
enum cut_part { CUT_NONE, CUT_BEFORE, CUT_SEGMENTS, CUT_TRACES, CUT_AFTER };

/* Facts about the bytes, not about the memory. */
struct origin {
    uint64_t size_bytes; /* as stored (a page: of the page) */
    uint64_t read_bytes; /* unpacked bytes read of this recording */
    uint8_t compression; /* enum compression */
    uint8_t wrapper;     /* enum wrapper */
    uint8_t encoding;    /* enum encoding */
    int pickle_protocol; /* -1: not a pickle; 0 also stands for 0 or 1, which look alike */
    bool bare_list;      /* the top value is a list of segments */
    bool complete;
    uint64_t cut_offset;     /* of the unpacked bytes, when not complete */
    uint8_t cut_part;        /* enum cut_part */
    uint64_t trailing_bytes; /* non-zero bytes after the end */
    uint64_t bad_utf8;       /* strings with bytes that were replaced */
    uint64_t cut_stacks;     /* stacks longer than the limit */
    uint64_t repeated_keys;
    bool trailer_lost; /* the packed stream ends after the recording but before its own end */
    string_id entry;   /* name inside a page, or none */
};

struct recording {
    struct code code;
    struct devices devices;
    struct segments segments;
    struct blocks blocks;
    struct history history;
    struct events events;
    struct contexts contexts;
    struct pools pools;
    struct streams streams;
    struct marks marks;
    struct settings settings;
    struct tallies tallies;
    struct allocations allocations;
    struct named_tensors named;
    struct step_marks step_marks;
    struct named_facts named_facts;
    struct origin origin;
};

extern const struct table_kind devices_kind, segments_kind, blocks_kind, history_kind, events_kind,
    contexts_kind, pools_kind, streams_kind, marks_kind, settings_kind, tallies_kind,
    allocations_kind, named_kind, step_marks_kind;

/* An empty recording.  `max_rows` bounds each table, `max_string_bytes` the text.  False when out
 * of memory; nothing is then to be freed. */
bool recording_init(struct recording *r, uint32_t max_rows, uint32_t max_string_bytes);
void recording_free(struct recording *r);

/* Interned rows, old or new; false when out of memory or rows. */
bool pools_intern(struct pools *p, uint64_t first, uint64_t second, pool_id *ret);
bool streams_intern(struct streams *s, uint64_t handle, uint16_t *ret);
bool contexts_intern(struct contexts *c, struct context context, context_id *ret);
/* Counts a name once more. */
bool tallies_count(struct tallies *t, enum tally_kind kind, string_id name);

/* The row of a setting, or NO_ROW. */
uint32_t settings_find(const struct recording *r, str name);

/* Requested bytes of a block: its own figure, else of its history, else its size (0 when none). */
uint64_t block_requested(const struct recording *r, uint32_t block);

/* In use, or freed and still waiting for another stream. */
static inline bool block_live(const struct recording *r, uint32_t block)
{
    return r->blocks.state[block] == BLOCK_ALLOCATED || r->blocks.state[block] == BLOCK_PENDING;
}

/* Every table of a recording, in the order of the columns that are handed out. */
struct table_place {
    const struct table_kind *kind;
    size_t offset; /* of the table in struct recording */
};
extern const struct table_place recording_tables[];
extern const uint32_t recording_table_count;

#endif
