/* source_names.c - collects stacks with their callers, frames and strings under new ids. */
#include "render/page/source_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/frame_class.h"
#include "analysis/attribution/module_path.h"
#include "analysis/attribution/naming.h"
#include "analysis/attribution/site.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/utf8.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/stacks.h"
#include "model/strings.h"

enum { STRINGS_MOST = 1 << 30 };

enum vrs_status page_names_text(struct page_names *names, str text, uint32_t *ret,
                                struct vrs_error *err)
{
    string_id id;
    if (!strings_intern(&names->strings, text, &id))
        return vrs_no_memory(err);
    *ret = id.n;
    return VRS_OK;
}

enum vrs_status page_names_bounded(struct page_names *n, str text, uint32_t *ret,
                                   struct vrs_error *err)
{
    struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    utf8_append_clipped(&b, text, NAME_BYTES_MAX);
    enum vrs_status status =
        b.failed ? vrs_no_memory(err) : page_names_text(n, buf_slice(&b), ret, err);
    buf_free(&b);
    return status;
}

/* Which stacks and frames are shown: those that something carries, and all that call them. */
static void mark(const struct recording *r, const bool *shown, uint32_t *stacks, uint32_t *frames)
{
    for (uint32_t i = r->code.stacks.rows.len; i-- > 1;) {
        if (shown[i])
            stacks[i] = 1;
        if (stacks[i] == 0)
            continue;
        stacks[r->code.stacks.caller[i]] = 1;
        frames[r->code.stacks.frame[i]] = 1;
    }
}

/* Numbers what is marked from 1; `rows` finds the way back. */
static uint32_t number(uint32_t *id, uint32_t *rows, uint32_t count)
{
    uint32_t next = 1;
    id[0] = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (id[i] == 0)
            continue;
        rows[next] = i;
        id[i] = next++;
    }
    return next;
}

static enum vrs_status name_frames(const struct study *s, struct page_names *n,
                                   struct vrs_error *err)
{
    const struct recording *r = s->r;
    for (uint32_t i = 1; i < n->frames; i++) {
        struct frame frame = frames_get(&r->code.frames, (frame_id){ n->frame_row[i] });
        n->frame_class[i] = (uint8_t)naming_class(s->naming, (frame_id){ n->frame_row[i] });
        TRY(page_names_bounded(n, strings_text(&r->code.strings, frame.name), &n->function[i],
                               err));
        TRY(page_names_bounded(n, strings_text(&r->code.strings, frame.file), &n->file[i], err));
    }
    return VRS_OK;
}

/* The innermost native frame that is evidence of one. */
static str operator_of(const struct study *s, stack_id stack)
{
    const struct recording *r = s->r;
    str found = S("");
    for (; stack.n != 0 && found.len == 0; stack = stacks_caller(&r->code.stacks, stack)) {
        frame_id id = stacks_frame(&r->code.stacks, stack);
        if (naming_class(s->naming, id) != FRAME_NATIVE)
            continue;
        str name = strings_text(&r->code.strings, frames_get(&r->code.frames, id).name);
        found = native_operator(name);
        if (found.len == 0)
            found = backward_node(name);
    }
    return found;
}

static enum vrs_status name_work(const struct study *s, struct page_names *n, uint32_t stack,
                                 struct vrs_error *err)
{
    stack_id id = { n->stack_row[stack] };
    struct buf path;
    buf_init(&path, SIZE_MAX / 2);
    enum vrs_status status =
        module_path(&s->r->code, s->naming, id, MODULE_LINES, s->scratch, &path, err);
    if (status == VRS_OK)
        status = page_names_text(n, buf_slice(&path), &n->module[stack], err);
    buf_free(&path);
    return status == VRS_OK ? page_names_bounded(n, operator_of(s, id), &n->op[stack], err)
                            : status;
}

static enum vrs_status name_stacks(const struct study *s, const bool *shown, struct page_names *n,
                                   struct vrs_error *err)
{
    for (uint32_t i = 0; i < n->stacks; i++) {
        struct stack_names names;
        uint32_t row = n->stack_row[i];
        if (i > 0 && !shown[row])
            continue;
        TRY(naming_of(s->naming, (stack_id){ row }, &names, err));
        TRY(page_names_text(n, names.culprit, &n->culprit[i], err));
        TRY(page_names_text(n, names.owner, &n->owner[i], err));
        n->line[i] = n->frame_id[names.culprit_frame.n];
        if (i > 0)
            TRY(name_work(s, n, i, err));
    }
    return VRS_OK;
}

static enum vrs_status name_apart(const struct study *s, struct page_names *n, uint32_t stack,
                                  struct vrs_error *err)
{
    stack_id id = { n->stack_row[stack] };
    str innermost, called_from;
    TRY(naming_innermost(s->naming, id, &innermost, err));
    TRY(naming_called_from(s->naming, id, &called_from, err));
    TRY(page_names_text(n, innermost, &n->innermost[stack], err));
    TRY(page_names_text(n, called_from, &n->called_from[stack], err));
    return page_names_bounded(n, naming_operator(s->naming, id), &n->runs[stack], err);
}

enum vrs_status page_names_apart(const struct study *s, struct page_names *names,
                                 struct vrs_error *err)
{
    names->runs = arena_array(s->scratch, uint32_t, names->stacks);
    names->innermost = arena_array(s->scratch, uint32_t, names->stacks);
    names->called_from = arena_array(s->scratch, uint32_t, names->stacks);
    if (names->runs == NULL || names->innermost == NULL || names->called_from == NULL)
        return vrs_no_memory(err);
    /* A stack that only calls another has no culprit. */
    for (uint32_t i = 1; i < names->stacks; i++)
        if (names->culprit[i] != 0)
            TRY(name_apart(s, names, i, err));
    return VRS_OK;
}

/* Sites are numbered as they come up. */
static bool number_sites(const bool *shown, struct page_names *n, struct sites *sites,
                         uint32_t *number)
{
    uint32_t known = 0, site;
    for (uint32_t i = 1; i < n->stacks; i++) {
        if (!shown[n->stack_row[i]])
            continue;
        if (!sites_of(sites, (stack_id){ n->stack_row[i] }, &site))
            return false;
        if (site != 0 && number[site] == 0)
            number[site] = ++known;
        n->site[i] = number[site];
    }
    return true;
}

/* There are no more sites than stacks. */
static enum vrs_status find_sites(const struct study *s, const bool *shown, struct page_names *n,
                                  struct vrs_error *err)
{
    struct sites sites;
    uint32_t *number = arena_array(s->scratch, uint32_t, s->r->code.stacks.rows.len);
    if (number == NULL || !sites_init(&sites, &s->r->code, s->naming, SITE_LINE, s->scratch))
        return vrs_no_memory(err);
    bool made = number_sites(shown, n, &sites, number);
    sites_free(&sites);
    return made ? VRS_OK : vrs_no_memory(err);
}

enum vrs_status page_names_make(const struct study *s, const bool *shown, struct page_names *ret,
                                struct vrs_error *err)
{
    const struct recording *r = s->r;
    uint32_t stacks = r->code.stacks.rows.len, frames = r->code.frames.rows.len;
    struct arena *arena = s->scratch;
    *ret = (struct page_names){
        .stack_id = arena_array(arena, uint32_t, stacks),
        .stack_row = arena_array(arena, uint32_t, stacks),
        .frame_id = arena_array(arena, uint32_t, frames),
        .frame_row = arena_array(arena, uint32_t, frames),
    };
    if (!strings_init(&ret->strings, STRINGS_MOST) || ret->stack_id == NULL ||
        ret->stack_row == NULL || ret->frame_id == NULL || ret->frame_row == NULL)
        return vrs_no_memory(err);
    mark(r, shown, ret->stack_id, ret->frame_id);
    ret->stacks = number(ret->stack_id, ret->stack_row, stacks);
    ret->frames = number(ret->frame_id, ret->frame_row, frames);
    ret->culprit = arena_array(arena, uint32_t, ret->stacks);
    ret->owner = arena_array(arena, uint32_t, ret->stacks);
    ret->line = arena_array(arena, uint32_t, ret->stacks);
    ret->site = arena_array(arena, uint32_t, ret->stacks);
    ret->module = arena_array(arena, uint32_t, ret->stacks);
    ret->op = arena_array(arena, uint32_t, ret->stacks);
    ret->frame_class = arena_array(arena, uint8_t, ret->frames);
    ret->function = arena_array(arena, uint32_t, ret->frames);
    ret->file = arena_array(arena, uint32_t, ret->frames);
    if (ret->culprit == NULL || ret->owner == NULL || ret->line == NULL || ret->site == NULL ||
        ret->module == NULL || ret->op == NULL || ret->frame_class == NULL ||
        ret->function == NULL || ret->file == NULL)
        return vrs_no_memory(err);
    TRY(name_frames(s, ret, err));
    TRY(name_stacks(s, shown, ret, err));
    return find_sites(s, shown, ret, err);
}

void page_names_end(struct page_names *names)
{
    strings_free(&names->strings);
}
