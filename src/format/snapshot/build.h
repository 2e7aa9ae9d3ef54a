/* build.h - what builder.c, records.c, assemble.c, cut.c and the fast readers share. */
#ifndef VRS_FORMAT_SNAPSHOT_BUILD_H
#define VRS_FORMAT_SNAPSHOT_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "format/snapshot/builder.h"
#include "model/ids.h"
#include "model/recording.h"

/* Device numbers of a file stay below this. */
enum { DEVICES_MAX = 4096 };

static inline uint32_t memo_handle(enum tag tag, uint32_t row)
{
    return (uint32_t)tag << 28 | row;
}

static inline enum tag handle_tag(uint32_t handle)
{
    return (enum tag)(handle >> 28);
}

static inline uint32_t handle_row(uint32_t handle)
{
    return handle & 0x0fffffff;
}

static inline struct value row_value(enum tag tag, uint32_t row)
{
    return (struct value){ .tag = (uint8_t)tag, .row = row, .count = 1 };
}

static inline bool is_record(enum tag tag)
{
    return tag >= TAG_EVENT && tag <= TAG_NOTE;
}

/* Every list without items looks like this once its parent has taken it. */
static inline bool is_empty_list(struct value v)
{
    return v.tag == TAG_STACK && v.row == 0;
}

/* Does a mark stand right in front of this place of the operand stack? */
static inline bool marked_at(const struct builder *b, uint32_t place)
{
    for (uint32_t i = 0; i < b->marks.len; i++)
        if (b->marks.at[i] == place)
            return true;
    return false;
}

/* Fails with VRS_LIMIT where `len` has reached `max`, else with VRS_NOMEM. */
enum vrs_status build_no_room(const struct builder *b, uint32_t len, uint32_t max, const char *what,
                              struct vrs_error *err);

enum vrs_status build_push(struct builder *b, struct value value, struct vrs_error *err) MUST_CHECK;

/* Interns; repairs what is not UTF-8. */
enum vrs_status build_intern(struct builder *b, str bytes, string_id *ret,
                             struct vrs_error *err) MUST_CHECK;

/* A container's parent takes it: a list becomes a stack or a frozen chain, a dict a record; the
 * memo entry that waits for it is written. */
enum vrs_status build_settle(struct builder *b, struct value *value,
                             struct vrs_error *err) MUST_CHECK;

/* The stack of `count` frames, innermost first. */
enum vrs_status build_stack_of(struct builder *b, const uint32_t *frame, uint32_t count,
                               stack_id *ret, struct vrs_error *err) MUST_CHECK;

/* Chains, by their number plus 1 (0: the empty one, made where it is added to). */
enum vrs_status chain_add(struct builder *b, uint32_t *chain, struct value value,
                          struct vrs_error *err) MUST_CHECK;

static inline const struct link *chain_first(const struct builder *b, uint32_t chain)
{
    uint32_t first = chain == 0 ? 0 : b->chains.at[chain - 1].first;
    return first == 0 ? NULL : &b->links.at[first - 1];
}

static inline const struct link *link_next(const struct builder *b, const struct link *link)
{
    return link->next == 0 ? NULL : &b->links.at[link->next - 1];
}

/* Turns the pairs value[0], value[1], … (keys and values in turn) into a record: what it became
 * is put into `*ret`. */
enum vrs_status record_make(struct builder *b, const struct value *pair, uint32_t values,
                            struct value *ret, struct vrs_error *err) MUST_CHECK;

enum event_action action_of(uint32_t word);

/* Rows of streams and contexts, old or new; most are those of the event before. */
enum vrs_status build_stream(struct builder *b, uint64_t handle, uint16_t *ret,
                             struct vrs_error *err) MUST_CHECK;
enum vrs_status build_context(struct builder *b, const struct context *context, uint32_t *ret,
                              struct vrs_error *err) MUST_CHECK;

/* Appends an event; false when out of memory or rows. */
static inline bool event_append(struct events *e, const struct event_row *event)
{
    if (e->rows.len == e->rows.cap && !table_reserve(e, &events_kind, 1))
        return false;
    uint32_t row = e->rows.len++;
    e->stream[row] = event->stream;
    e->stack[row] = event->stack;
    e->address[row] = event->address;
    e->size[row] = event->size;
    e->time_us[row] = event->time_us;
    e->context[row] = event->context;
    e->action[row] = event->action; /* last: a store of bytes may be one to anything */
    return true;
}

/* Counts what is not kept. */
enum vrs_status record_tally(struct builder *b, enum tally_kind kind, string_id name,
                             struct vrs_error *err) MUST_CHECK;

/* An integer as it stands in files (an address, a handle, a time: any 64 bits); false where the
 * value is none. */
bool value_u64(struct value v, uint64_t *ret);

bool value_negative(struct value v);

/* Makes a row of `named` of the dict at hand; TAG_JUNK where it names nothing. */
enum vrs_status named_make(struct builder *b, struct value *ret, struct vrs_error *err) MUST_CHECK;

/* What the value of the key "vramscope" holds; with `value` none the file has none such. */
enum vrs_status assemble_names(struct builder *b, struct value value,
                               struct vrs_error *err) MUST_CHECK;

/* A size: 0 to 2^62; false where the value is none. */
bool value_size(struct value v, uint64_t *ret);

/* The final order of the recording, from the top value. */
enum vrs_status assemble(struct builder *b, const struct top *top,
                         struct vrs_error *err) MUST_CHECK;

#endif
