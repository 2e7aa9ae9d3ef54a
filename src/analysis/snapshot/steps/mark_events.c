/* mark_events.c - merges marks, sorted by time, with the events of a device. */
#include "analysis/snapshot/steps/mark_events.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/strings.h"

struct timed_mark {
    uint64_t time_us;
    uint32_t row;
};

static int compare_marks(const void *a, const void *b)
{
    const struct timed_mark *x = a, *y = b;
    if (x->time_us != y->time_us)
        return x->time_us < y->time_us ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Gives each of the sorted marks its event. */
static void place_marks(const struct recording *r, uint32_t device, const struct timed_mark *mark,
                        uint32_t count, uint32_t *event)
{
    uint32_t first = r->devices.first_event[device], events = r->devices.events[device];
    uint32_t next = 0;
    for (uint32_t i = 0; i < events && next < count; i++) {
        uint64_t time = r->events.time_us[first + i];
        while (time != UNKNOWN_U64 && next < count && mark[next].time_us <= time)
            event[mark[next++].row] = i;
    }
    for (; next < count && mark[next].time_us != UNKNOWN_U64; next++)
        event[mark[next].row] = events;
    for (; next < count; next++)
        event[mark[next].row] = NO_ROW;
}

enum vrs_status mark_events_make(const struct recording *r, uint32_t device, struct arena *arena,
                                 struct mark_events *ret, struct vrs_error *err)
{
    uint32_t count = r->marks.rows.len;
    struct timed_mark *mark = arena_array(arena, struct timed_mark, count);
    struct mark_events made = {
        .event = arena_array(arena, uint32_t, count),
        .order = arena_array(arena, uint32_t, count),
        .count = count,
    };
    if (mark == NULL || made.event == NULL || made.order == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++)
        mark[i] = (struct timed_mark){ r->marks.time_us[i], i };
    if (count != 0)
        qsort(mark, count, sizeof *mark, compare_marks);
    place_marks(r, device, mark, count, made.event);
    for (uint32_t i = 0; i < count; i++)
        made.order[i] = mark[i].row;
    *ret = made;
    return VRS_OK;
}

static bool is_separator(char c)
{
    return c == ' ' || c == '_' || c == '#' || c == ':' || c == '=' || c == '-';
}

str mark_name_trim(str name)
{
    while (name.len != 0 && is_separator(name.ptr[0]))
        name = (str){ name.ptr + 1, name.len - 1 };
    while (name.len != 0 && is_separator(name.ptr[name.len - 1]))
        name.len--;
    return name;
}

str mark_name(const struct recording *r, uint32_t mark)
{
    return mark_name_trim(strings_text(&r->code.strings, (string_id){ r->marks.name[mark] }));
}

bool mark_name_starts(str name, str word)
{
    if (name.len < word.len)
        return false;
    for (size_t i = 0; i < word.len; i++)
        if (to_lower(name.ptr[i]) != to_lower(word.ptr[i]))
            return false;
    return true;
}

bool mark_name_is(str name, str word)
{
    return name.len == word.len && mark_name_starts(name, word);
}
