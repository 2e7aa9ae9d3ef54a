/* result.c - making and freeing results. */
#include "api/result.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/attribution/frame_class.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/task_list.h"
#include "base/utf8.h"
#include "model/file_facts.h"
#include "model/recording.h"
#include "model/strings.h"
#include "vramscope/vramscope.h"

struct result_memory {
    struct arena arena;
    uint32_t owners;
    struct vrs_result *result;
    struct result_memory *next; /* of those without an owner that are not yet freed */
};

struct vrs_result *result_make(const struct answer_kind *kind, uint32_t count)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    struct result_memory *memory = arena_take(&arena, sizeof *memory);
    struct vrs_result *result = arena_take(&arena, sizeof *result);
    void *answers = arena_take_array(&arena, count, kind->bytes);
    if (memory == NULL || result == NULL || answers == NULL) {
        arena_free(&arena);
        return NULL;
    }
    *memory = (struct result_memory){ .arena = arena, .owners = 1, .result = result };
    *result = (struct vrs_result){ .memory = memory, .arena = &memory->arena };
    result->set = (struct answer_set){ .kind = kind, .answers = answers, .count = count };
    return result;
}

void result_copy_answers(struct vrs_result *to, uint32_t at, const struct vrs_result *from)
{
    size_t bytes = to->set.kind->bytes;
    memcpy((char *)to->set.answers + at * bytes, from->set.answers, from->set.count * bytes);
}

struct result_memory *result_memory_hold(const struct vrs_result *result)
{
    result->memory->owners++;
    return result->memory;
}

static void let_go(struct result_memory *memory)
{
    struct result_memory *ownerless = --memory->owners == 0 ? memory : NULL;
    while (ownerless != NULL) {
        struct vrs_result *result = ownerless->result;
        struct arena arena = ownerless->arena; /* holds the struct that holds the arena */
        ownerless = ownerless->next;
        for (uint32_t i = 0; i < result->parts; i++) {
            struct result_memory *part = result->part[i];
            if (--part->owners == 0) {
                part->next = ownerless;
                ownerless = part;
            }
        }
        if (result->run != NULL)
            recording_free(result->run);
        if (result->has_strings)
            strings_free(&result->strings);
        arena_free(&arena);
    }
}

void vrs_result_free(struct vrs_result *result)
{
    if (result != NULL)
        let_go(result->memory);
}

enum vrs_verdict vrs_verdict(const struct vrs_result *result)
{
    return result->verdict == NULL ? VRS_NO_VERDICT : result->verdict(&result->set);
}

const struct trust_basis *call_basis(const struct call *a, uint32_t device)
{
    return a->basis == NULL ? NULL : &a->basis[device];
}

bool call_wants(const struct call *a, uint32_t device)
{
    if (a->device == 0)
        return true;
    return a->r->devices.kind[device] == DEVICE_CUDA &&
           (int64_t)a->r->devices.number[device] + 1 == a->device;
}

/* Fails when the recording has no device of the number that was asked for. */
static enum vrs_status check_device(const struct call *a, struct vrs_error *err)
{
    uint32_t count = a->r->devices.rows.len, last = 0;
    for (uint32_t d = 0; d < count; d++) {
        if (call_wants(a, d))
            return VRS_OK;
        last = a->r->devices.number[d] > last ? a->r->devices.number[d] : last;
    }
    if (a->device == 0)
        return VRS_OK;
    if (count == 0)
        return vrs_fail(err, VRS_USAGE, "no device %lld: the recording has none",
                        (long long)a->device - 1);
    return vrs_fail(err, VRS_USAGE, "no device %lld: the recording's highest is %u",
                    (long long)a->device - 1, (unsigned)last);
}

static enum vrs_status begin(struct call *a, const struct vrs_recording *recording,
                             const struct answer_kind *kind, const char *user_root,
                             const char *library, int64_t device, struct vrs_error *err)
{
    *a = (struct call){ .recording = recording,
                        .r = recording->model,
                        .proof = &recording->proving->proof,
                        .threads = recording->threads,
                        .device = device };
    arena_init(&a->scratch, SIZE_MAX / 2);
    arena_init(&a->names, SIZE_MAX / 2);
    a->result = result_make(kind, 1);
    if (a->result == NULL)
        return vrs_no_memory(err);
    a->keep = a->result->arena;
    TRY(check_device(a, err));
    struct frame_class_options options = { text_or_empty(user_root), text_or_empty(library) };
    /* Results of studies show names as they are; others keep copies of the few they show. */
    struct arena *home = kind->shows_names ? a->keep : &a->names;
    return naming_make(&a->r->code, &options, home, &a->naming, err);
}

enum vrs_status call_begin(struct call *a, const struct vrs_recording *recording,
                           const struct answer_kind *kind, const char *user_root,
                           const char *library, int64_t device, struct vrs_error *err)
{
    TRY(begin(a, recording, kind, user_root, library, device, err));
    return recording_prove(recording, err);
}

enum vrs_status call_begin_unproven(struct call *a, const struct vrs_recording *recording,
                                    const struct answer_kind *kind, const char *user_root,
                                    const char *library, int64_t device, struct vrs_error *err)
{
    TRY(begin(a, recording, kind, user_root, library, device, err));
    a->basis = arena_array(&a->names, struct trust_basis, a->r->devices.rows.len);
    return a->basis == NULL ? vrs_no_memory(err) : VRS_OK;
}

enum { PREPARE_REPLAY, PREPARE_BESIDE, PREPARE_BASIS, PREPARATIONS };

/* The replay and what is done beside it. */
struct preparing {
    struct call *a;
    enum vrs_status (*beside)(void *arg, struct vrs_error *err);
    void *arg;
};

static enum vrs_status find_basis(struct call *a, struct vrs_error *err)
{
    for (uint32_t d = 0; a->basis != NULL && d < a->r->devices.rows.len; d++)
        if (call_wants(a, d))
            TRY(trust_basis_find(a->r, d, &a->basis[d], err));
    return VRS_OK;
}

static enum vrs_status prepare(void *arg, uint32_t i, uint32_t thread, struct vrs_error *err)
{
    const struct preparing *p = arg;
    (void)thread;
    if (i == PREPARE_REPLAY)
        return recording_prove(p->a->recording, err);
    return i == PREPARE_BESIDE ? p->beside(p->arg, err) : find_basis(p->a, err);
}

void call_leave_basis(struct call *a)
{
    const struct proving *p = a->recording->proving;
    for (uint32_t d = 0; !p->proof.rounded_only && d < a->r->devices.rows.len; d++)
        if (call_wants(a, d) && a->r->devices.events[d] <= p->events_max)
            a->basis = NULL;
}

enum vrs_status call_prepare(struct call *a,
                             enum vrs_status (*beside)(void *arg, struct vrs_error *err), void *arg,
                             struct vrs_error *err)
{
    struct preparing p = { .a = a, .beside = beside, .arg = arg };
    return task_list_run(a->threads, &(struct task_list){ PREPARATIONS, prepare, &p }, err);
}

enum vrs_status call_end(struct call *a, enum vrs_status status, struct vrs_result **ret)
{
    arena_free(&a->scratch);
    arena_free(&a->names);
    if (status == VRS_OK)
        *ret = a->result;
    else
        vrs_result_free(a->result);
    return status;
}

str result_text(struct arena *keep, str text)
{
    if (utf8_valid(text))
        return arena_copy(keep, text);
    struct buf repaired;
    buf_init(&repaired, SIZE_MAX / 2);
    utf8_repair(&repaired, text);
    str kept = repaired.failed ? (str){ NULL, 0 } : arena_copy(keep, buf_slice(&repaired));
    buf_free(&repaired);
    return kept;
}

enum vrs_status file_facts_of(const struct vrs_recording *recording, const char *path,
                              struct arena *keep, struct file_facts *ret, struct vrs_error *err)
{
    const struct recording *r = recording->model;
    *ret = (struct file_facts){ .origin = r->origin, .events = r->events.rows.len };
    for (uint32_t i = 0; i < r->tallies.rows.len; i++)
        if (r->tallies.kind[i] == TALLY_WRONG_TYPE)
            ret->wrong_types += r->tallies.count[i];
    ret->path = result_text(keep, path == NULL ? recording->path : str_from(path));
    if (ret->path.ptr == NULL)
        return vrs_no_memory(err);
    if (recording->entry.ptr == NULL)
        return VRS_OK;
    ret->entry = arena_copy(keep, recording->entry);
    return ret->entry.ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

/* Rooms of 1, 2, 4, …: an arena does not take the smaller ones back. */
enum vrs_status answer_reason_add(struct arena *keep, struct answer_reason **list, uint32_t *count,
                                  const char *id, str text, struct vrs_error *err)
{
    uint32_t had = *count;
    if ((had & (had - 1)) == 0) {
        uint32_t room = had == 0 ? 1 : 2 * had;
        struct answer_reason *more = arena_array(keep, struct answer_reason, room);
        if (more == NULL)
            return vrs_no_memory(err);
        for (uint32_t i = 0; i < had; i++)
            more[i] = (*list)[i];
        *list = more;
    }
    struct answer_reason reason = { id, arena_copy(keep, text) };
    if (reason.text.ptr == NULL)
        return vrs_no_memory(err);
    (*list)[(*count)++] = reason;
    return VRS_OK;
}
