/* builder.h - the consumer that both readers feed: values in, a recording out.
 *
 * It keeps an operand stack of 16-byte values and builds no object tree.  A dict is looked at
 * once, when it is closed: its keys say what kind of record it is, the record becomes a row of a
 * table, and the value left behind is the row's number.  A list of frames becomes the id of a
 * stack.  Parents therefore hold rows and ids, never children, and nothing walks values
 * recursively.
 *
 *     reader                          operand stack afterwards
 *     build_empty_dict                … dict
 *     build_mark                      … dict |
 *     build_string, build_int, …      … dict | "action" "alloc" "size" 512
 *     build_setitems                  … event 7
 *     build_appends (many of them)    … list 3
 *
 * Rows that stand side by side on the operand stack with consecutive numbers share one value (a
 * run), so that a list of millions of events that is closed only at its end costs one value.
 *
 * The rule of late change: a container that was got from the memo, or that its parent has taken,
 * is frozen; changing it is an error. */
#ifndef VRS_FORMAT_SNAPSHOT_BUILDER_H
#define VRS_FORMAT_SNAPSHOT_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/vec.h"
#include "format/input/limits.h"
#include "format/snapshot/keys.h"
#include "model/ids.h"
#include "model/recording.h"

/* Tags up to TAG_JUNK fit the four bits of a memo handle. */
enum tag {
    TAG_UNSET, /* a memo entry that was never written */
    TAG_OPEN,  /* a memo entry whose container stands on the operand stack: its place */
    TAG_WIDE,  /* a memo entry that is none of the others: its place in builder.wide */
    TAG_STRING,
    TAG_PAIR, /* two integers: pool_id */
    TAG_FRAME,
    TAG_STACK, /* a list of frames; stack 0 is also every empty list */
    TAG_EVENT,
    TAG_SEGMENT,
    TAG_BLOCK,
    TAG_HISTORY,
    TAG_NOTE,  /* an annotation: row of marks */
    TAG_LIST,  /* a chain */
    TAG_MAP,   /* a dict that is no record: a chain of keys and values */
    TAG_TOP,   /* row of builder.tops */
    TAG_JUNK,  /* anything that nothing wants */
    TAG_NAMED, /* row of named; read from the memo again it is TAG_JUNK */
    TAG_DICT,  /* a dict that is still open: a chain */
    TAG_NONE,
    TAG_BOOL,
    TAG_INT,
    TAG_FLOAT
};

enum value_flags {
    VALUE_NEGATIVE = 1, /* TAG_INT: payload is two's complement */
    VALUE_FROZEN = 2,   /* must not change any more */
    VALUE_WHOLE = 4     /* a list known to be at its end */
};

struct value {
    uint8_t tag;
    uint8_t flags;
    uint32_t slot; /* of the memo, plus 1, that waits for this container's outcome */
    union {
        uint64_t bits;
        double real;
        struct {
            uint32_t row;   /* or id, or chain (plus 1; 0 is an empty one) */
            uint32_t count; /* of rows, for a run of records; of a string: where it stands */
        };
    };
};

/* Items of a list, or keys and values of a dict, while they cannot be anything better. */
struct link {
    struct value value;
    uint32_t next; /* link plus 1 */
};

struct chain {
    uint32_t first, last; /* link plus 1; 0 where empty */
    uint32_t links;
};

/* The dict at the top of a snapshot, as values. */
struct top {
    struct value segments, traces, settings, annotations, host_segments, host_traces;
    struct value overflowed, max_entries, extra;
    bool segments_whole, traces_whole; /* false only in cut files */
    uint32_t part_trace;               /* the trace that the cut lies in, or NO_ROW */
    uint32_t segments_at, traces_at;   /* where their keys stand, or UINT32_MAX */
};

typedef VEC(struct value) value_vec;
typedef VEC(uint32_t) u32_vec;

/* An event as it stands in the table. */
struct event_row {
    uint64_t address, size, time_us; /* UNKNOWN_U64 where not given */
    uint32_t stack, context;
    uint16_t stream; /* row of streams */
    uint8_t action;  /* enum event_action */
};

/* The pairs of the dict that is being closed, by key. */
struct fields {
    uint64_t present; /* bit k: key k (enum key) was given */
    struct value value[KEYS];
};

struct builder {
    struct recording *r;
    const struct limits *limits;
    uint64_t *finished; /* counts finished records, for the bomb rule of unpackers */
    uint64_t offset;    /* of the opcode or token at hand, for messages; the reader keeps it */

    value_vec stack;
    u32_vec marks; /* places in `stack` */
    u32_vec memo;  /* handles: tag << 28 | row */
    uint32_t memo_puts;
    value_vec wide;
    VEC(struct link) links;
    uint32_t free_link; /* link plus 1 */
    VEC(struct chain) chains;
    uint32_t free_chain; /* chain plus 1 */
    VEC(struct top) tops;
    u32_vec segment_blocks; /* for each row of segments: its chain of blocks plus 1 */
    u32_vec frames;         /* scratch: frame ids of the list at hand, innermost first */
    struct buf text;        /* scratch for repaired strings */
    struct fields fields;
    struct context last_context; /* most events carry the same as the one before */
    context_id last_context_id;
    uint64_t last_stream;
    uint16_t last_stream_row;
    uint32_t maps_kept, extra_maps_kept;
    bool no_memory; /* counting something failed; asked for when the record is done */
};

/* `r` must be fresh from recording_init. */
enum vrs_status builder_init(struct builder *b, struct recording *r, const struct limits *limits,
                             uint64_t *finished, struct vrs_error *err) MUST_CHECK;
void builder_free(struct builder *b);

/* Makes room for what a pickle of `bytes` bytes (0: not known) most likely holds. */
void builder_expect(struct builder *b, uint64_t bytes);

/* Values. */
enum vrs_status build_none(struct builder *b, struct vrs_error *err) MUST_CHECK;
enum vrs_status build_bool(struct builder *b, bool truth, struct vrs_error *err) MUST_CHECK;
enum vrs_status build_int(struct builder *b, uint64_t bits, bool negative,
                          struct vrs_error *err) MUST_CHECK;
enum vrs_status build_float(struct builder *b, double real, struct vrs_error *err) MUST_CHECK;
/* Bytes that should be UTF-8; repaired where they are not.  Longer than the limit: VRS_LIMIT. */
enum vrs_status build_string(struct builder *b, str bytes, struct vrs_error *err) MUST_CHECK;

/* Containers. */
enum vrs_status build_empty_dict(struct builder *b, struct vrs_error *err) MUST_CHECK;
enum vrs_status build_empty_list(struct builder *b, struct vrs_error *err) MUST_CHECK;
enum vrs_status build_mark(struct builder *b, struct vrs_error *err) MUST_CHECK;
enum vrs_status build_setitem(struct builder *b, struct vrs_error *err) MUST_CHECK;
enum vrs_status build_setitems(struct builder *b, struct vrs_error *err) MUST_CHECK;
enum vrs_status build_append(struct builder *b, struct vrs_error *err) MUST_CHECK;
enum vrs_status build_appends(struct builder *b, struct vrs_error *err) MUST_CHECK;
/* A tuple of the `count` newest values. */
enum vrs_status build_tuple(struct builder *b, uint32_t count, struct vrs_error *err) MUST_CHECK;
/* The mark and what stands on it as a tuple; as a list; as a dict. */
enum vrs_status build_marked_tuple(struct builder *b, struct vrs_error *err) MUST_CHECK;
enum vrs_status build_marked_list(struct builder *b, struct vrs_error *err) MUST_CHECK;
enum vrs_status build_marked_dict(struct builder *b, struct vrs_error *err) MUST_CHECK;
enum vrs_status build_pop(struct builder *b, struct vrs_error *err) MUST_CHECK;
enum vrs_status build_pop_mark(struct builder *b, struct vrs_error *err) MUST_CHECK;
/* JSON knows where a list ends: says so of the newest value. */
void build_whole(struct builder *b);

/* The memo. */
enum vrs_status build_put(struct builder *b, uint64_t slot, struct vrs_error *err) MUST_CHECK;
enum vrs_status build_memoize(struct builder *b, struct vrs_error *err) MUST_CHECK;
enum vrs_status build_get(struct builder *b, uint64_t slot, struct vrs_error *err) MUST_CHECK;

/* The end: exactly one value must be left.  Puts the recording into its final order. */
enum vrs_status build_finish(struct builder *b, struct vrs_error *err) MUST_CHECK;
/* The end of a cut file: the same for the finished records. */
enum vrs_status build_cut(struct builder *b, struct vrs_error *err) MUST_CHECK;

#endif
