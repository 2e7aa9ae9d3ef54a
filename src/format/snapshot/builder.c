/* builder.c - the operand stack, the marks, the memo and the chains. */
#include "format/snapshot/builder.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/pages.h"
#include "base/str.h"
#include "base/table.h"
#include "base/utf8.h"
#include "format/snapshot/build.h"
#include "model/ids.h"
#include "model/stacks.h"
#include "model/strings.h"

enum vrs_status builder_init(struct builder *b, struct recording *r, const struct limits *limits,
                             uint64_t *finished, struct vrs_error *err)
{
    *b = (struct builder){ .r = r, .limits = limits, .finished = finished };
    b->stack.max = b->memo.max = b->wide.max = b->links.max = b->chains.max = limits->items;
    b->tops.max = b->segment_blocks.max = limits->items;
    b->marks.max = limits->nesting;
    b->frames.max = limits->frames;
    buf_init(&b->text, (size_t)limits->string_bytes * 3 + 16);
    if (keys_intern(&r->code.strings))
        return VRS_OK;
    if (r->code.strings.bytes.max - r->code.strings.bytes.len >= KEY_BYTES_MAX)
        return vrs_no_memory(err);
    return vrs_fail(err, VRS_LIMIT,
                    "the format's own words take more than %u bytes; see --limit "
                    "strings",
                    limits->strings_bytes);
}

void builder_free(struct builder *b)
{
    vec_free(&b->stack);
    vec_free(&b->marks);
    vec_free(&b->memo);
    vec_free(&b->wide);
    vec_free(&b->links);
    vec_free(&b->chains);
    vec_free(&b->tops);
    vec_free(&b->segment_blocks);
    vec_free(&b->frames);
    buf_free(&b->text);
}

/* An event takes about 216 bytes, in real files 89 to 363, and writes up to three memo entries.  A
 * file that packs more into its bytes gets its room by growing. */
enum {
    BYTES_AN_EVENT = 216,
    BYTES_AN_EVENT_LEAST = 80,
    BYTES_A_MEMO_ENTRY = 80,
    MEMO_EXPECT_MIN = 1 << 20
};

void builder_expect(struct builder *b, uint64_t bytes)
{
    table_expect(&b->r->events, &events_kind, bytes / BYTES_AN_EVENT_LEAST, bytes / BYTES_AN_EVENT);
    uint64_t entries = bytes / BYTES_A_MEMO_ENTRY;
    uint32_t cap = entries < b->memo.max ? (uint32_t)entries : b->memo.max;
    if (cap >= MEMO_EXPECT_MIN && vec_resize((void **)&b->memo.at, cap, sizeof *b->memo.at)) {
        b->memo.cap = cap;
        pages_expect_full(b->memo.at, cap * sizeof *b->memo.at);
    }
}

enum vrs_status build_no_room(const struct builder *b, uint32_t len, uint32_t max, const char *what,
                              struct vrs_error *err)
{
    if (len < max)
        return vrs_no_memory(err);
    return vrs_fail_at(err, VRS_LIMIT, b->offset, "more than %u %s; see --limit items", max, what);
}

static enum vrs_status underflow(const struct builder *b, struct vrs_error *err)
{
    return vrs_fail_at(err, VRS_CORRUPT, b->offset,
                       "takes more values than there are; is this a memory snapshot?");
}

/* First place of the operand stack that may be taken without crossing the newest mark. */
static uint32_t floor_of(const struct builder *b)
{
    return b->marks.len == 0 ? 0 : b->marks.at[b->marks.len - 1];
}

static struct value *top_of(struct builder *b)
{
    return b->stack.len > floor_of(b) ? &b->stack.at[b->stack.len - 1] : NULL;
}

enum vrs_status build_push(struct builder *b, struct value value, struct vrs_error *err)
{
    if (vec_push(&b->stack, value))
        return VRS_OK;
    return build_no_room(b, b->stack.len, b->stack.max, "values on the operand stack", err);
}

/* Pops the newest value; a run gives its last row. */
static struct value pop(struct builder *b)
{
    struct value *top = &b->stack.at[b->stack.len - 1];
    if (is_record(top->tag) && top->count > 1) {
        top->count--;
        return row_value(top->tag, top->row + top->count);
    }
    b->stack.len--;
    return *top;
}

enum vrs_status build_none(struct builder *b, struct vrs_error *err)
{
    return build_push(b, (struct value){ .tag = TAG_NONE }, err);
}

enum vrs_status build_bool(struct builder *b, bool truth, struct vrs_error *err)
{
    return build_push(b, (struct value){ .tag = TAG_BOOL, .bits = truth }, err);
}

enum vrs_status build_int(struct builder *b, uint64_t bits, bool negative, struct vrs_error *err)
{
    uint8_t flags = negative ? VALUE_NEGATIVE : 0;
    return build_push(b, (struct value){ .tag = TAG_INT, .flags = flags, .bits = bits }, err);
}

enum vrs_status build_float(struct builder *b, double real, struct vrs_error *err)
{
    return build_push(b, (struct value){ .tag = TAG_FLOAT, .real = real }, err);
}

enum vrs_status build_intern(struct builder *b, str bytes, string_id *ret, struct vrs_error *err)
{
    struct recording *r = b->r;
    if (bytes.len > b->limits->string_bytes)
        return vrs_fail_at(err, VRS_LIMIT, b->offset,
                           "a string of %zu bytes, longer than %u; see --limit string", bytes.len,
                           b->limits->string_bytes);
    if (!utf8_valid(bytes)) {
        b->text.len = 0;
        utf8_repair(&b->text, bytes);
        if (b->text.failed)
            return vrs_no_memory(err);
        bytes = buf_slice(&b->text);
        r->origin.bad_utf8++;
    }
    if (strings_intern(&r->code.strings, bytes, ret))
        return VRS_OK;
    if (bytes.len > r->code.strings.bytes.max - r->code.strings.bytes.len)
        return vrs_fail_at(err, VRS_LIMIT, b->offset,
                           "more than %u bytes of distinct strings; see --limit strings",
                           r->code.strings.bytes.max);
    return build_no_room(b, r->code.strings.rows.len, r->code.strings.rows.max, "strings", err);
}

/* A string, which stands where the reader is; what lies behind 4 GiB is nowhere in particular. */
static struct value string_value(const struct builder *b, uint32_t id)
{
    struct value value = row_value(TAG_STRING, id);
    value.count = b->offset < UINT32_MAX ? (uint32_t)b->offset : UINT32_MAX;
    return value;
}

enum vrs_status build_string(struct builder *b, str bytes, struct vrs_error *err)
{
    string_id id = { 0 };
    TRY(build_intern(b, bytes, &id, err));
    return build_push(b, string_value(b, id.n), err);
}

enum vrs_status build_empty_dict(struct builder *b, struct vrs_error *err)
{
    return build_push(b, (struct value){ .tag = TAG_DICT }, err);
}

enum vrs_status build_empty_list(struct builder *b, struct vrs_error *err)
{
    return build_push(b, (struct value){ .tag = TAG_LIST }, err);
}

enum vrs_status build_mark(struct builder *b, struct vrs_error *err)
{
    if (vec_push(&b->marks, b->stack.len))
        return VRS_OK;
    if (b->marks.len < b->marks.max)
        return vrs_no_memory(err);
    return vrs_fail_at(
        err, VRS_LIMIT, b->offset,
        "object nested deeper than %u; is this a memory snapshot? see --limit nesting",
        b->marks.max);
}

static enum vrs_status late_change(const struct builder *b, struct vrs_error *err)
{
    return vrs_fail_at(err, VRS_CORRUPT, b->offset,
                       "changes a container after it was used; is this a memory snapshot?");
}

/* Chains. */

static enum vrs_status new_chain(struct builder *b, uint32_t *ret, struct vrs_error *err)
{
    if (b->free_chain != 0) {
        *ret = b->free_chain;
        b->free_chain = b->chains.at[*ret - 1].first;
        b->chains.at[*ret - 1] = (struct chain){ 0 };
        return VRS_OK;
    }
    if (!vec_push(&b->chains, (struct chain){ 0 }))
        return build_no_room(b, b->chains.len, b->chains.max, "lists", err);
    *ret = b->chains.len;
    return VRS_OK;
}

/* Two runs of records that follow each other are one. */
static bool continues(const struct value *run, const struct value *next)
{
    return run->tag == next->tag && is_record(run->tag) && run->row + run->count == next->row &&
           run->count + next->count > run->count;
}

enum vrs_status chain_add(struct builder *b, uint32_t *chain, struct value value,
                          struct vrs_error *err)
{
    if (*chain == 0)
        TRY(new_chain(b, chain, err));
    struct chain *c = &b->chains.at[*chain - 1];
    if (c->last != 0 && continues(&b->links.at[c->last - 1].value, &value)) {
        b->links.at[c->last - 1].value.count += value.count;
        return VRS_OK;
    }
    uint32_t link = b->free_link;
    if (link != 0) {
        b->free_link = b->links.at[link - 1].next;
        b->links.at[link - 1] = (struct link){ value, 0 };
    } else {
        if (!vec_push(&b->links, (struct link){ value, 0 }))
            return build_no_room(b, b->links.len, b->links.max, "items of lists", err);
        link = b->links.len;
    }
    if (c->last == 0)
        c->first = link;
    else
        b->links.at[c->last - 1].next = link;
    c->last = link;
    c->links++;
    return VRS_OK;
}

static void chain_free(struct builder *b, uint32_t chain)
{
    if (chain == 0)
        return;
    struct chain *c = &b->chains.at[chain - 1];
    if (c->last != 0) {
        assert(c->last <= b->links.len && b->links.at != NULL);
        b->links.at[c->last - 1].next = b->free_link;
        b->free_link = c->first;
    }
    *c = (struct chain){ .first = b->free_chain };
    b->free_chain = chain;
}

/* Lists and dicts. */

/* The frames of a stack that is added to after all: back into a chain. */
static enum vrs_status reopen_stack(struct builder *b, struct value *list, struct vrs_error *err)
{
    uint32_t chain = 0;
    for (stack_id s = { list->row }; s.n != 0; s = stacks_caller(&b->r->code.stacks, s))
        TRY(chain_add(b, &chain, row_value(TAG_FRAME, stacks_frame(&b->r->code.stacks, s).n), err));
    list->tag = TAG_LIST;
    list->row = chain;
    return VRS_OK;
}

static enum vrs_status list_to_add_to(struct builder *b, uint32_t place, struct value **ret,
                                      struct vrs_error *err)
{
    struct value *list = &b->stack.at[place];
    if (list->flags & VALUE_FROZEN)
        return late_change(b, err);
    if (list->tag == TAG_STACK)
        TRY(reopen_stack(b, list, err));
    if (list->tag != TAG_LIST)
        return vrs_fail_at(err, VRS_CORRUPT, b->offset,
                           "appends to something that is not a list; is this a memory snapshot?");
    *ret = list;
    return VRS_OK;
}

/* All of `count` values are frames: their ids are then in b->frames, innermost first. */
static bool only_frames(struct builder *b, const struct value *item, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (item[i].tag != TAG_FRAME)
            return false;
    b->frames.len = 0;
    uint32_t kept = count < b->limits->frames ? count : b->limits->frames;
    if (!vec_reserve(&b->frames, kept))
        return false;
    for (uint32_t i = 0; i < kept; i++)
        b->frames.at[i] = item[i].row;
    b->frames.len = kept;
    if (kept < count)
        b->r->origin.cut_stacks++;
    return true;
}

/* Adds stack[from …] to the list below it and pops them. */
static enum vrs_status add_items(struct builder *b, uint32_t place, uint32_t from,
                                 struct vrs_error *err)
{
    for (uint32_t i = from; i < b->stack.len; i++)
        TRY(build_settle(b, &b->stack.at[i], err));
    struct value *list = &b->stack.at[place];
    uint32_t count = b->stack.len - from;
    if (list->tag == TAG_LIST && list->row == 0 && !(list->flags & VALUE_FROZEN) && count > 1 &&
        only_frames(b, &b->stack.at[from], count)) {
        stack_id stack = { 0 };
        TRY(build_stack_of(b, b->frames.at, b->frames.len, &stack, err));
        list->tag = TAG_STACK;
        list->row = stack.n;
        b->stack.len = from;
        return VRS_OK;
    }
    TRY(list_to_add_to(b, place, &list, err));
    for (uint32_t i = from; i < b->stack.len; i++)
        TRY(chain_add(b, &list->row, b->stack.at[i], err));
    b->stack.len = from;
    return VRS_OK;
}

enum vrs_status build_append(struct builder *b, struct vrs_error *err)
{
    if (b->stack.len < floor_of(b) + 2)
        return underflow(b, err);
    struct value item = pop(b);
    TRY(build_settle(b, &item, err));
    struct value *list = NULL;
    TRY(list_to_add_to(b, b->stack.len - 1, &list, err));
    return chain_add(b, &list->row, item, err);
}

/* The place below the newest mark, which is removed. */
static enum vrs_status unmark(struct builder *b, bool below, uint32_t *ret, struct vrs_error *err)
{
    if (b->marks.len == 0)
        return vrs_fail_at(err, VRS_CORRUPT, b->offset,
                           "closes what was never opened; is this a memory snapshot?");
    uint32_t mark = b->marks.at[--b->marks.len];
    if (below && mark <= floor_of(b))
        return underflow(b, err);
    *ret = mark;
    return VRS_OK;
}

enum vrs_status build_appends(struct builder *b, struct vrs_error *err)
{
    uint32_t mark = 0;
    TRY(unmark(b, true, &mark, err));
    return add_items(b, mark - 1, mark, err);
}

static enum vrs_status dict_to_add_to(struct builder *b, struct value *dict, struct vrs_error *err)
{
    if (dict->flags & VALUE_FROZEN)
        return late_change(b, err);
    if (dict->tag == TAG_MAP)
        dict->tag = TAG_DICT;
    if (dict->tag == TAG_DICT || dict->tag == TAG_JUNK)
        return VRS_OK;
    if (is_record(dict->tag) || dict->tag == TAG_FRAME || dict->tag == TAG_TOP ||
        dict->tag == TAG_NAMED)
        return late_change(b, err);
    return vrs_fail_at(err, VRS_CORRUPT, b->offset,
                       "sets an item of something that is not a dict; is this a memory snapshot?");
}

static enum vrs_status check_key(const struct builder *b, const struct value *key,
                                 struct vrs_error *err)
{
    bool container = key->tag != TAG_STRING && key->tag != TAG_PAIR && key->tag < TAG_NONE;
    if (container && key->tag != TAG_JUNK)
        return vrs_fail_at(err, VRS_CORRUPT, b->offset,
                           "a dict whose key is a container; is this a memory snapshot?");
    return VRS_OK;
}

enum vrs_status build_setitem(struct builder *b, struct vrs_error *err)
{
    if (b->stack.len < floor_of(b) + 3)
        return underflow(b, err);
    struct value item = pop(b);
    TRY(build_settle(b, &item, err));
    struct value key = pop(b);
    TRY(check_key(b, &key, err));
    if (b->stack.len <= floor_of(b))
        return underflow(b, err);
    struct value *dict = top_of(b);
    TRY(dict_to_add_to(b, dict, err));
    if (dict->tag == TAG_JUNK)
        return VRS_OK;
    TRY(chain_add(b, &dict->row, key, err));
    return chain_add(b, &dict->row, item, err);
}

/* Writes what a container became into the memo entry that waits for it. */
static void tell_memo(struct builder *b, struct value *value)
{
    if (value->slot != 0)
        b->memo.at[value->slot - 1] =
            memo_handle(value->tag > TAG_JUNK ? TAG_JUNK : (enum tag)value->tag, value->row);
    value->slot = 0;
}

/* The record at `place`, the newest value, joins the run below it where it continues it. */
static void collapse(struct builder *b, uint32_t place)
{
    if (place <= floor_of(b))
        return;
    struct value *run = &b->stack.at[place - 1];
    if (continues(run, &b->stack.at[place])) {
        run->count++;
        b->stack.len--;
    }
}

enum vrs_status build_setitems(struct builder *b, struct vrs_error *err)
{
    uint32_t mark = 0;
    TRY(unmark(b, true, &mark, err));
    uint32_t count = b->stack.len - mark;
    if (count % 2 != 0)
        return vrs_fail_at(err, VRS_CORRUPT, b->offset,
                           "a dict with a key and no value; is this a memory snapshot?");
    for (uint32_t i = mark; i < b->stack.len; i += 2) {
        TRY(check_key(b, &b->stack.at[i], err));
        TRY(build_settle(b, &b->stack.at[i + 1], err));
    }
    struct value *dict = &b->stack.at[mark - 1];
    TRY(dict_to_add_to(b, dict, err));
    if (dict->tag == TAG_DICT && dict->row == 0 && count != 0) {
        struct value record;
        TRY(record_make(b, &b->stack.at[mark], count, &record, err));
        dict = &b->stack.at[mark - 1];
        record.slot = dict->slot;
        tell_memo(b, &record);
        *dict = record;
        b->stack.len = mark;
        collapse(b, mark - 1);
        return VRS_OK;
    }
    for (uint32_t i = mark; dict->tag == TAG_DICT && i < b->stack.len; i++)
        TRY(chain_add(b, &dict->row, b->stack.at[i], err));
    b->stack.len = mark;
    return VRS_OK;
}

/* A tuple: a pair of integers is a pool, anything else is nothing. */
static struct value tuple_of(struct builder *b, const struct value *item, uint32_t count,
                             bool *ret_no_room)
{
    uint64_t first, second;
    pool_id pool;
    *ret_no_room = false;
    if (count != 2 || !value_u64(item[0], &first) || !value_u64(item[1], &second))
        return (struct value){ .tag = TAG_JUNK };
    if (pools_intern(&b->r->pools, first, second, &pool))
        return row_value(TAG_PAIR, pool.n);
    *ret_no_room = true;
    return (struct value){ .tag = TAG_JUNK };
}

static enum vrs_status tuple_from(struct builder *b, uint32_t from, struct vrs_error *err)
{
    for (uint32_t i = from; i < b->stack.len; i++)
        TRY(build_settle(b, &b->stack.at[i], err));
    bool no_room;
    uint32_t count = b->stack.len - from;
    struct value tuple = tuple_of(b, count == 0 ? NULL : &b->stack.at[from], count, &no_room);
    if (no_room)
        return build_no_room(b, b->r->pools.rows.len, b->r->pools.rows.max, "pools", err);
    b->stack.len = from;
    return build_push(b, tuple, err);
}

enum vrs_status build_tuple(struct builder *b, uint32_t count, struct vrs_error *err)
{
    if (b->stack.len - floor_of(b) >= count && top_of(b) != NULL && count == 1) {
        struct value item = pop(b);
        TRY(build_settle(b, &item, err));
        return build_push(b, (struct value){ .tag = TAG_JUNK }, err);
    }
    if (b->stack.len - floor_of(b) < count)
        return underflow(b, err);
    return tuple_from(b, b->stack.len - count, err);
}

enum vrs_status build_marked_tuple(struct builder *b, struct vrs_error *err)
{
    uint32_t mark = 0;
    TRY(unmark(b, false, &mark, err));
    return tuple_from(b, mark, err);
}

/* Puts an empty container below what stands on the newest mark. */
static enum vrs_status slip_under(struct builder *b, enum tag tag, uint32_t *ret_mark,
                                  struct vrs_error *err)
{
    TRY(unmark(b, false, ret_mark, err));
    TRY(build_push(b, (struct value){ .tag = TAG_NONE }, err));
    struct value *at = b->stack.at + *ret_mark;
    memmove(at + 1, at, (b->stack.len - 1 - *ret_mark) * sizeof *at);
    *at = (struct value){ .tag = (uint8_t)tag };
    for (uint32_t i = *ret_mark + 1; i < b->stack.len; i++)
        if (b->stack.at[i].slot != 0)
            b->memo.at[b->stack.at[i].slot - 1] = memo_handle(TAG_OPEN, i);
    return VRS_OK;
}

enum vrs_status build_marked_list(struct builder *b, struct vrs_error *err)
{
    uint32_t mark = 0;
    TRY(slip_under(b, TAG_LIST, &mark, err));
    return add_items(b, mark, mark + 1, err);
}

enum vrs_status build_marked_dict(struct builder *b, struct vrs_error *err)
{
    uint32_t mark = 0;
    TRY(slip_under(b, TAG_DICT, &mark, err));
    /* Room is certain: the mark that was just removed stood there. */
    b->marks.at[b->marks.len++] = mark + 1;
    return build_setitems(b, err);
}

enum vrs_status build_pop(struct builder *b, struct vrs_error *err)
{
    struct value *top = top_of(b);
    if (top == NULL) {
        /* Python's POP takes a mark where one is the newest thing. */
        if (b->marks.len == 0)
            return underflow(b, err);
        b->marks.len--;
        return VRS_OK;
    }
    struct value item = pop(b);
    return build_settle(b, &item, err);
}

enum vrs_status build_pop_mark(struct builder *b, struct vrs_error *err)
{
    uint32_t mark = 0;
    TRY(unmark(b, false, &mark, err));
    for (uint32_t i = mark; i < b->stack.len; i++)
        TRY(build_settle(b, &b->stack.at[i], err));
    b->stack.len = mark;
    return VRS_OK;
}

void build_whole(struct builder *b)
{
    b->stack.at[b->stack.len - 1].flags |= VALUE_WHOLE;
}

/* A list of frames only becomes a stack, as does every empty one. */
static enum vrs_status settle_list(struct builder *b, struct value *list, struct vrs_error *err)
{
    bool frames = true;
    uint32_t count = 0;
    b->frames.len = 0;
    for (const struct link *l = chain_first(b, list->row); l != NULL && frames;
         l = link_next(b, l), count++) {
        frames = l->value.tag == TAG_FRAME;
        if (frames && b->frames.len < b->frames.max && !vec_push(&b->frames, l->value.row))
            return vrs_no_memory(err);
    }
    if (!frames)
        return VRS_OK;
    stack_id stack = { 0 };
    if (count > b->frames.len)
        b->r->origin.cut_stacks++;
    TRY(build_stack_of(b, b->frames.at, b->frames.len, &stack, err));
    chain_free(b, list->row);
    list->tag = TAG_STACK;
    list->row = stack.n;
    return VRS_OK;
}

/* A dict becomes the record that its keys say. */
static enum vrs_status settle_dict(struct builder *b, struct value *dict, struct vrs_error *err)
{
    value_vec pairs = { .max = b->limits->items };
    enum vrs_status status = VRS_OK;
    for (const struct link *l = chain_first(b, dict->row); l != NULL && status == VRS_OK;
         l = link_next(b, l))
        if (!vec_push(&pairs, l->value))
            status = vrs_no_memory(err);
    struct value record = { .tag = TAG_JUNK };
    if (status == VRS_OK)
        status = record_make(b, pairs.at, pairs.len, &record, err);
    vec_free(&pairs);
    TRY(status);
    chain_free(b, dict->row);
    record.slot = dict->slot;
    *dict = record;
    return VRS_OK;
}

enum vrs_status build_settle(struct builder *b, struct value *value, struct vrs_error *err)
{
    if (value->tag == TAG_LIST && !(value->flags & VALUE_FROZEN))
        TRY(settle_list(b, value, err));
    else if (value->tag == TAG_DICT)
        TRY(settle_dict(b, value, err));
    value->flags |= VALUE_FROZEN;
    tell_memo(b, value);
    return VRS_OK;
}

/* The memo. */

static enum vrs_status grow_memo(struct builder *b, uint64_t slot, struct vrs_error *err)
{
    /* So that five bytes cannot force a table of 32 GiB. */
    if (slot > (uint64_t)b->memo_puts * 2 + 1024)
        return vrs_fail_at(err, VRS_CORRUPT, b->offset,
                           "memo entry %llu after only %u; is this a memory snapshot?",
                           (unsigned long long)slot, b->memo_puts);
    if (slot >= b->memo.max)
        return build_no_room(b, b->memo.max, b->memo.max, "memo entries", err);
    uint32_t more = (uint32_t)slot + 1 - b->memo.len;
    if (!vec_reserve(&b->memo, more))
        return vrs_no_memory(err);
    memset(b->memo.at + b->memo.len, 0, more * sizeof *b->memo.at);
    b->memo.len += more;
    return VRS_OK;
}

enum vrs_status build_put(struct builder *b, uint64_t slot, struct vrs_error *err)
{
    struct value *top = top_of(b);
    if (top == NULL)
        return underflow(b, err);
    if (slot >= b->memo.len)
        TRY(grow_memo(b, slot, err));
    if (b->memo.at[slot] != memo_handle(TAG_UNSET, 0))
        return vrs_fail_at(err, VRS_CORRUPT, b->offset,
                           "memo entry %llu is written twice; is this a memory snapshot?",
                           (unsigned long long)slot);
    b->memo_puts++;
    bool container = top->tag == TAG_LIST || top->tag == TAG_DICT;
    if (container && top->row == 0 && top->slot == 0 && !(top->flags & VALUE_FROZEN)) {
        b->memo.at[slot] = memo_handle(TAG_OPEN, b->stack.len - 1);
        top->slot = (uint32_t)slot + 1;
        return VRS_OK;
    }
    if (container || top->tag == TAG_STACK)
        TRY(build_settle(b, top, err));
    uint32_t row = is_record(top->tag) ? top->row + top->count - 1 : top->row;
    if (top->tag > TAG_JUNK) {
        if (!vec_push(&b->wide, *top))
            return build_no_room(b, b->wide.len, b->wide.max, "memo entries", err);
        b->memo.at[slot] = memo_handle(TAG_WIDE, b->wide.len - 1);
    } else {
        b->memo.at[slot] = memo_handle(top->tag, row);
    }
    return VRS_OK;
}

enum vrs_status build_memoize(struct builder *b, struct vrs_error *err)
{
    return build_put(b, b->memo_puts, err);
}

/* A get of a container that still stands on the operand stack. */
static enum vrs_status get_open(struct builder *b, uint32_t place, struct vrs_error *err)
{
    /* What is being filled right now would contain itself: nothing wants that. */
    if (marked_at(b, place + 1))
        return build_push(b, (struct value){ .tag = TAG_JUNK, .flags = VALUE_FROZEN }, err);
    TRY(build_settle(b, &b->stack.at[place], err));
    struct value value = b->stack.at[place];
    return build_push(b, value, err);
}

enum vrs_status build_get(struct builder *b, uint64_t slot, struct vrs_error *err)
{
    uint32_t handle = slot < b->memo.len ? b->memo.at[slot] : memo_handle(TAG_UNSET, 0);
    enum tag tag = handle_tag(handle);
    uint32_t row = handle_row(handle);
    if (tag == TAG_UNSET)
        return vrs_fail_at(err, VRS_CORRUPT, b->offset,
                           "reads memo entry %llu, which was never written; is this a memory "
                           "snapshot?",
                           (unsigned long long)slot);
    if (tag == TAG_OPEN)
        return get_open(b, row, err);
    if (tag == TAG_WIDE)
        return build_push(b, b->wide.at[row], err);
    struct value value = tag == TAG_STRING ? string_value(b, row) : row_value(tag, row);
    value.flags = VALUE_FROZEN;
    return build_push(b, value, err);
}

/* Stacks. */

enum vrs_status build_stack_of(struct builder *b, const uint32_t *frame, uint32_t count,
                               stack_id *ret, struct vrs_error *err)
{
    struct stacks *s = &b->r->code.stacks;
    if (stacks_push_all(s, frame, count, ret))
        return VRS_OK;
    bool full = s->rows.max - s->rows.len < count;
    return build_no_room(b, full ? s->rows.max : s->rows.len, s->rows.max, "stacks", err);
}
