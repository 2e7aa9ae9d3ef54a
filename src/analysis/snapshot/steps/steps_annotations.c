/* steps_annotations.c - annotations of the user's own that come again and again, the outermost. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/steps/mark_events.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/step_body.h"
#include "analysis/snapshot/steps/step_sources.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"

/* More names are more than a person gives. */
enum { NAMES_MAX = 64 };

/* Spans of one name, numbers at its end aside. */
struct span_name {
    str stem;
    uint32_t spans;
    uint32_t open;   /* event where one is open, or NO_ROW */
    uint32_t end;    /* event behind the last one */
    uint64_t allocs; /* in all of them */
};

struct span_names {
    struct span_name *at;
    uint32_t count;
    uint32_t *of_mark; /* of each mark, into `at`; NO_ROW: a name that is not the user's */
};

/* "chunk 12": "chunk". */
static str stem_of(str name)
{
    while (name.len != 0 && is_digit(name.ptr[name.len - 1]))
        name.len--;
    return mark_name_trim(name);
}

/* Names that torch gives by itself, and those of phases. */
static bool is_of_user(const struct recording *r, uint32_t mark, str stem)
{
    static const char *const words[] = { "Optimizer.", "enumerate(", "::", "(dynamo_timed)",
                                         "ProfilerStep" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_find(stem, str_from(words[i])) < stem.len)
            return false;
    return stem.len != 0 && !mark_names_phase(r, mark);
}

static bool find_names(const struct step_trace *t, struct span_names *names)
{
    const struct marks *marks = &t->r->marks;
    uint32_t count = t->marks->count;
    names->at = arena_array(t->scratch, struct span_name, NAMES_MAX);
    names->of_mark = arena_array(t->scratch, uint32_t, count);
    if (names->at == NULL || names->of_mark == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        str text = strings_text(&t->r->code.strings, (string_id){ marks->name[i] });
        str stem = stem_of(mark_name_trim(text));
        uint32_t at = 0;
        while (at < names->count && !str_equal(names->at[at].stem, stem))
            at++;
        names->of_mark[i] = NO_ROW;
        if (at == NAMES_MAX || !is_of_user(t->r, i, stem))
            continue;
        if (at == names->count)
            names->at[names->count++] = (struct span_name){ .stem = stem, .open = NO_ROW };
        names->of_mark[i] = at;
    }
    return true;
}

/* Calls of a name in the order of events: true where a mark ends a span that began at `*begin`.
 * What overlaps the span before is none, nor is what no event lies in. */
static bool span_ends(const struct step_trace *t, struct span_name *name, uint32_t mark,
                      uint32_t *begin)
{
    uint32_t event = t->marks->event[mark];
    if (t->r->marks.stage[mark] == STAGE_START) {
        if (name->open == NO_ROW && event >= name->end)
            name->open = event;
        return false;
    }
    *begin = name->open;
    name->open = NO_ROW;
    if (*begin == NO_ROW || *begin >= event)
        return false;
    name->end = event;
    return true;
}

static void measure_names(const struct step_trace *t, struct span_names *names)
{
    for (uint32_t i = 0; i < t->marks->count; i++) {
        uint32_t mark = t->marks->order[i], begin;
        if (names->of_mark[mark] == NO_ROW || t->marks->event[mark] == NO_ROW)
            continue;
        struct span_name *name = &names->at[names->of_mark[mark]];
        if (!span_ends(t, name, mark, &begin))
            continue;
        name->spans++;
        name->allocs += step_position(t, name->end) - step_position(t, begin);
    }
}

/* The name that comes again and again and holds most of the allocs, half of them at least. */
static uint32_t outermost(const struct step_trace *t, const struct span_names *names)
{
    uint32_t best = NO_ROW;
    for (uint32_t i = 0; i < names->count; i++)
        if (names->at[i].spans >= 2 && names->at[i].allocs * 2 >= t->allocs &&
            (best == NO_ROW || names->at[i].allocs > names->at[best].allocs))
            best = i;
    return best;
}

static enum vrs_status cut_at_name(const struct step_trace *t, const struct span_names *names,
                                   uint32_t which, struct step_cuts *ret, struct vrs_error *err)
{
    struct span_name *name = &names->at[which];
    struct step_cuts cuts = { .begin = arena_array(t->scratch, uint32_t, name->spans),
                              .end = arena_array(t->scratch, uint32_t, name->spans),
                              .similarity_ratio = -1,
                              .end_is_boundary = true };
    if (cuts.begin == NULL || cuts.end == NULL)
        return vrs_no_memory(err);
    name->end = 0;
    name->open = NO_ROW;
    for (uint32_t i = 0; i < t->marks->count && cuts.count < name->spans; i++) {
        uint32_t mark = t->marks->order[i], begin;
        if (names->of_mark[mark] != which || t->marks->event[mark] == NO_ROW ||
            !span_ends(t, name, mark, &begin))
            continue;
        cuts.begin[cuts.count] = begin;
        cuts.end[cuts.count++] = name->end - 1;
        cuts.end_event = name->end - 1;
    }
    cuts.open_event = name->open == NO_ROW ? 0 : name->open;
    *ret = cuts;
    return VRS_OK;
}

static bool find_pieces(const struct step_trace *t, const struct step_cuts *cuts,
                        struct step_pieces *ret)
{
    uint32_t *begin = arena_array(t->scratch, uint32_t, cuts->count);
    uint32_t *end = arena_array(t->scratch, uint32_t, cuts->count);
    for (uint32_t i = 0; begin != NULL && end != NULL && i < cuts->count; i++) {
        begin[i] = step_position(t, cuts->begin[i]);
        end[i] = step_position(t, cuts->end[i] + 1);
    }
    *ret = (struct step_pieces){ begin, end, cuts->count };
    return begin != NULL && end != NULL;
}

enum vrs_status steps_by_annotations(const struct step_trace *t, struct step_cuts *ret,
                                     struct vrs_error *err)
{
    struct span_names names = { .count = 0 };
    struct step_body body = { .t = t };
    const char *refused_by = NULL;
    *ret = (struct step_cuts){ .similarity_ratio = -1 };
    if (!find_names(t, &names))
        return vrs_no_memory(err);
    measure_names(t, &names);
    uint32_t which = outermost(t, &names);
    if (which == NO_ROW)
        return VRS_OK;
    TRY(cut_at_name(t, &names, which, ret, err));
    struct step_pieces pieces;
    if (!find_pieces(t, ret, &pieces))
        return vrs_no_memory(err);
    enum vrs_status status = step_body_judge(&body, &pieces, &refused_by, err);
    step_body_free(&body);
    if (refused_by != NULL)
        *ret = (struct step_cuts){ .similarity_ratio = -1 };
    return status;
}
