/* check_sites.c - the places in the program that a limit or its value is about. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/frame_class.h"
#include "analysis/attribution/naming.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/check/budget.h"
#include "analysis/snapshot/check/check.h"
#include "analysis/snapshot/check/check_values.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/pattern.h"
#include "base/str.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"

enum { NAME_SHOWN = 80 };

static enum vrs_status text_matches(const struct limit *limit, const struct pattern_room *room,
                                    str text, bool *ret, struct vrs_error *err)
{
    struct vrs_error why;
    enum vrs_status status = pattern_matches(limit->site, room, text, ret, &why);
    if (status == VRS_LIMIT)
        return vrs_fail(err, VRS_LIMIT, "%.*s: the expression needs %s",
                        limit->name.len > NAME_SHOWN ? NAME_SHOWN : (int)limit->name.len,
                        limit->name.ptr, why.message);
    return status == VRS_OK ? VRS_OK : vrs_no_memory(err);
}

static enum vrs_status find_matches(const struct study *s, const struct limit *limit,
                                    const struct pattern_room *room, uint8_t *match,
                                    struct vrs_error *err)
{
    bool *used = arena_array(s->scratch, bool, s->r->code.stacks.rows.len);
    if (used == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        used[s->lifetimes.at[i].alloc_stack.n] = true;
    for (uint32_t i = 0; i < s->r->code.stacks.rows.len; i++) {
        struct stack_names names;
        bool matches;
        if (!used[i])
            continue;
        TRY(naming_of(s->naming, (stack_id){ i }, &names, err));
        TRY(text_matches(limit, room, names.culprit, &matches, err));
        if (!matches)
            TRY(text_matches(limit, room, names.owner, &matches, err));
        match[i] = matches;
    }
    return VRS_OK;
}

enum vrs_status check_matches_find(const struct study *s, const struct limit *limit, uint8_t **ret,
                                   struct vrs_error *err)
{
    struct pattern_room room;
    *ret = arena_array(s->scratch, uint8_t, s->r->code.stacks.rows.len);
    if (*ret == NULL)
        return vrs_no_memory(err);
    TRY(pattern_room_make(&room, err));
    enum vrs_status status = find_matches(s, limit, &room, *ret, err);
    pattern_room_free(&room);
    return status;
}

/* The weights of one stack's allocations, then of all with one culprit. */
struct weighed {
    str culprit;
    stack_id stack;
    uint64_t bytes, largest;
    uint32_t first; /* of the largest allocations the earliest */
};

struct scale {
    const struct proven_study *proven;
    const struct limit *limit;
    const struct check_value *value;
    const uint8_t *match; /* WEIGHT_SITE */
};

/* What is put into a category with low confidence is not in its lower bound. */
static bool counts(const struct scale *scale, uint32_t i)
{
    return scale->value->lower == scale->value->estimate ||
           scale->proven->study->categories.confidence[i] != CONFIDENCE_LOW;
}

static uint64_t weight_of(const struct scale *scale, uint32_t i)
{
    const struct study *s = scale->proven->study;
    const struct lifetime *l = &s->lifetimes.at[i];
    if (!lifetime_alive(l, scale->value->at))
        return 0;
    switch (scale->value->weight) {
    case WEIGHT_NONE:
    case WEIGHT_FINAL:
        return 0;
    case WEIGHT_BYTES:
        return l->bytes;
    case WEIGHT_BLOCK:
        return proven_block(scale->proven, i).bytes;
    case WEIGHT_SLACK:
        return proven_slack(scale->proven, i);
    case WEIGHT_PENDING:
        return check_waits_from(s, i) <= scale->value->at ? proven_block(scale->proven, i).bytes
                                                          : 0;
    case WEIGHT_CATEGORY:
        return s->categories.of[i] == scale->limit->category && counts(scale, i) ? l->bytes : 0;
    case WEIGHT_SITE:
        return scale->match[l->alloc_stack.n] ? l->bytes : 0;
    }
    return 0;
}

static void join(struct weighed *to, const struct weighed *from)
{
    to->bytes += from->bytes;
    if (from->largest > to->largest || (from->largest == to->largest && from->first < to->first)) {
        to->largest = from->largest;
        to->first = from->first;
        to->stack = from->stack;
    }
}

static int by_culprit(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    int order = str_compare(x->culprit, y->culprit);
    return order != 0 ? order : (x->stack.n > y->stack.n) - (x->stack.n < y->stack.n);
}

static int by_bytes(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    if (x->first != y->first)
        return x->first > y->first ? 1 : -1;
    return by_culprit(a, b);
}

static void add_weight(struct weighed *of, stack_id stack, uint64_t bytes, uint32_t i)
{
    struct weighed one = { { NULL, 0 }, stack, bytes, bytes, i };
    if (bytes > 0 && of[stack.n].bytes == 0)
        of[stack.n] = one;
    else if (bytes > 0)
        join(&of[stack.n], &one);
}

static void weigh_final(const struct study *s, struct weighed *of)
{
    const struct blocks *b = &s->r->blocks;
    uint32_t first = s->r->devices.first_block[s->device];
    for (uint32_t i = first; i < first + s->r->devices.blocks[s->device]; i++)
        if (b->state[i] != BLOCK_INACTIVE)
            add_weight(of, (stack_id){ b->stack[i] },
                       b->requested_size[i] == UNKNOWN_U64 ? b->size[i] : b->requested_size[i], i);
}

/* The weights by stack, packed; `*ret_count` of them. */
static enum vrs_status weigh(const struct scale *scale, struct weighed **ret, uint32_t *ret_count,
                             struct vrs_error *err)
{
    const struct study *s = scale->proven->study;
    struct weighed *of = arena_array(s->scratch, struct weighed, s->r->code.stacks.rows.len);
    uint32_t count = 0;
    if (of == NULL)
        return vrs_no_memory(err);
    if (scale->value->weight == WEIGHT_FINAL)
        weigh_final(s, of);
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        add_weight(of, s->lifetimes.at[i].alloc_stack, weight_of(scale, i), i);
    for (uint32_t i = 0; i < s->r->code.stacks.rows.len; i++) {
        struct stack_names names;
        if (of[i].bytes == 0)
            continue;
        TRY(naming_of(s->naming, (stack_id){ i }, &names, err));
        of[count] = of[i];
        of[count++].culprit = names.culprit;
    }
    *ret = of;
    *ret_count = count;
    return VRS_OK;
}

/* "/src/model.py" under the root "/src" is "model.py"; elsewhere the last part of a path that is
 * absolute, so that answers of two machines can be compared. */
static str shown_file(str file, str root)
{
    while (root.len > 0 && root.ptr[root.len - 1] == '/')
        root.len--;
    if (root.len > 0 && str_starts(file, root) && file.len > root.len + 1 &&
        file.ptr[root.len] == '/')
        return (str){ file.ptr + root.len + 1, file.len - root.len - 1 };
    bool drive = file.len > 1 && file.ptr[1] == ':';
    bool absolute = file.len > 0 && (file.ptr[0] == '/' || file.ptr[0] == '\\');
    return drive || absolute ? path_base(file) : file;
}

enum vrs_status check_site_of(const struct study *s, stack_id stack, uint64_t bytes, str user_root,
                              struct check_site *ret, struct vrs_error *err)
{
    struct stack_names names;
    TRY(naming_of(s->naming, stack, &names, err));
    *ret = (struct check_site){
        .site = { names.culprit, names.owner, stack },
        .bytes = bytes,
        .file = S(""),
        .line = NO_LINE,
    };
    if (names.culprit_frame.n == 0)
        return VRS_OK;
    struct frame frame = frames_get(&s->r->code.frames, names.culprit_frame);
    str file = shown_file(strings_text(&s->r->code.strings, frame.file), user_root);
    ret->line = frame.line;
    ret->file = arena_copy(s->keep, path_tail(file));
    return ret->file.ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

static enum vrs_status keep_named(const struct study *s, const struct check_value *value,
                                  str user_root, struct check_row *row, struct vrs_error *err)
{
    for (; row->sites < value->stacks; row->sites++)
        TRY(check_site_of(s, value->stack[row->sites], value->stack_bytes[row->sites], user_root,
                          &row->site[row->sites], err));
    return VRS_OK;
}

enum vrs_status check_sites_find(const struct proven_study *proven, const struct limit *limit,
                                 const struct check_value *value, str user_root,
                                 struct check_row *row, struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct scale scale = { .proven = proven, .limit = limit, .value = value };
    struct weighed *of = NULL;
    uint32_t count = 0, kept = 0;
    row->site = arena_array(s->keep, struct check_site, CHECK_SITES);
    if (row->site == NULL)
        return vrs_no_memory(err);
    if (value->weight == WEIGHT_NONE)
        return keep_named(s, value, user_root, row, err);
    uint8_t *match = NULL;
    if (value->weight == WEIGHT_SITE)
        TRY(check_matches_find(s, limit, &match, err));
    scale.match = match;
    TRY(weigh(&scale, &of, &count, err));
    if (count > 0)
        qsort(of, count, sizeof *of, by_culprit);
    for (uint32_t i = 0; i < count; i++) {
        if (kept > 0 && str_equal(of[kept - 1].culprit, of[i].culprit))
            join(&of[kept - 1], &of[i]);
        else
            of[kept++] = of[i];
    }
    if (kept > 0)
        qsort(of, kept, sizeof *of, by_bytes);
    for (; row->sites < CHECK_SITES && row->sites < kept; row->sites++)
        TRY(check_site_of(s, of[row->sites].stack, of[row->sites].bytes, user_root,
                          &row->site[row->sites], err));
    return VRS_OK;
}
