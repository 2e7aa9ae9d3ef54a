/* tables.c - device work, calls, copies and ranges added up by name. */
#include "analysis/trace/tables/tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trace/study/names.h"
#include "analysis/trace/tables/operators.h"
#include "base/bytes.h"
#include "base/str.h"
#include "model/trace.h"

/* Rows by name. */

struct adding {
    struct name_row *row;
    uint32_t rows;
    uint32_t *of; /* of each string: row plus 1 */
};

static bool adding_init(struct adding *a, const struct trace_study *s, struct arena *arena)
{
    uint32_t strings = s->trace->strings.rows.len;
    *a = (struct adding){ .row = arena_array(arena, struct name_row, strings),
                          .of = arena_array(arena, uint32_t, strings) };
    return a->row != NULL && a->of != NULL;
}

static void add(struct adding *a, const struct trace_study *s, uint32_t span)
{
    const struct spans *spans = &s->trace->spans;
    uint32_t name = spans->name[span];
    if (a->of[name] == 0) {
        a->of[name] = ++a->rows;
        a->row[a->rows - 1] = (struct name_row){ .name = trace_text(s->trace, name) };
    }
    struct name_row *r = &a->row[a->of[name] - 1];
    r->calls++;
    r->ns = i64_plus(r->ns, spans->duration[span]);
}

static int by_time(const void *a, const void *b)
{
    const struct name_row *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return str_compare(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
    const struct name_row *x = a, *y = b;
    return str_compare(x->name, y->name);
}

/* Rows in the order of their names: those of one name become one. */
static uint32_t join_equal(struct name_row *row, uint32_t rows)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rows; i++) {
        if (kept > 0 && str_equal(row[kept - 1].name, row[i].name)) {
            row[kept - 1].calls += row[i].calls;
            row[kept - 1].ns = i64_plus(row[kept - 1].ns, row[i].ns);
        } else {
            row[kept++] = row[i];
        }
    }
    return kept;
}

static void add_call(const struct trace_study *s, uint32_t row, struct tables *t)
{
    uint8_t traits = s->names.traits[s->trace->spans.name[row]];
    int64_t ns = s->trace->spans.duration[row];
    if ((traits & NAME_SYNCHRONIZES) != 0) {
        t->syncs++;
        t->sync_ns = i64_plus(t->sync_ns, ns);
    }
    if ((traits & NAME_LAUNCHES) != 0) {
        t->launches++;
        t->launch_ns = i64_plus(t->launch_ns, ns);
    }
}

static bool names_add_up(const struct trace_study *s, struct arena *arena, struct tables *ret)
{
    const struct spans *spans = &s->trace->spans;
    struct adding kernels, calls, ranges;
    if (!adding_init(&kernels, s, arena) || !adding_init(&calls, s, arena) ||
        !adding_init(&ranges, s, arena))
        return false;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        uint8_t kind = spans->kind[row];
        if (span_is_work(kind)) {
            add(&kernels, s, row);
            ret->device_ns = i64_plus(ret->device_ns, spans->duration[row]);
        } else if (span_is_call(kind)) {
            add(&calls, s, row);
            add_call(s, row, ret);
        } else if (span_is_range(kind) &&
                   (s->names.traits[spans->name[row]] & NAME_RANGE) != 0) {
            add(&ranges, s, row);
        }
    }
    qsort(kernels.row, kernels.rows, sizeof *kernels.row, by_time);
    qsort(calls.row, calls.rows, sizeof *calls.row, by_time);
    for (uint32_t i = 0; i < ranges.rows; i++)
        ranges.row[i].name = name_without_number(ranges.row[i].name);
    qsort(ranges.row, ranges.rows, sizeof *ranges.row, by_name);
    ret->kernel = kernels.row;
    ret->kernels = kernels.rows;
    ret->call = calls.row;
    ret->calls = calls.rows;
    ret->range = ranges.row;
    ret->ranges = join_equal(ranges.row, ranges.rows);
    return true;
}

/* Copies. */

static size_t word_at(str text, size_t at)
{
    size_t end = at;
    while (end < text.len && text.ptr[end] != ' ')
        end++;
    return end;
}

/* "Memcpy HtoD (Pageable -> Device)" is "HtoD Pageable -> Device"; another name is itself. */
static bool copy_kind(str name, struct arena *arena, str *ret)
{
    const str begin = S("Memcpy ");
    *ret = name;
    if (!str_starts(name, begin) || word_at(name, begin.len) == begin.len)
        return true;
    size_t end = word_at(name, begin.len);
    str way = { name.ptr + begin.len, end - begin.len };
    str rest = { name.ptr + end, name.len - end };
    size_t close = str_find(rest, S(")"));
    *ret = way;
    if (!str_starts(rest, S(" (")) || close == rest.len)
        return true;
    str memory = { rest.ptr + 2, close - 2 };
    if (memory.len == 0)
        return true;
    char *text = arena_take(arena, way.len + 1 + memory.len);
    if (text == NULL)
        return false;
    memcpy(text, way.ptr, way.len);
    text[way.len] = ' ';
    memcpy(text + way.len + 1, memory.ptr, memory.len);
    *ret = (str){ text, way.len + 1 + memory.len };
    return true;
}

static int by_kind(const void *a, const void *b)
{
    const struct copy_row *x = a, *y = b;
    return str_compare(x->kind, y->kind);
}

static uint32_t join_copies(struct copy_row *row, uint32_t rows)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rows; i++) {
        if (kept > 0 && str_equal(row[kept - 1].kind, row[i].kind)) {
            row[kept - 1].calls += row[i].calls;
            row[kept - 1].ns = i64_plus(row[kept - 1].ns, row[i].ns);
            row[kept - 1].bytes += row[i].bytes;
        } else {
            row[kept++] = row[i];
        }
    }
    return kept;
}

static bool copies_add_up(const struct trace_study *s, struct arena *arena, struct tables *ret)
{
    const struct spans *spans = &s->trace->spans;
    uint32_t strings = s->trace->strings.rows.len;
    uint32_t *of = arena_array(arena, uint32_t, strings);
    ret->copy = arena_array(arena, struct copy_row, strings);
    if (of == NULL || ret->copy == NULL)
        return false;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        uint32_t name = spans->name[row];
        if (spans->kind[row] != SPAN_MEMCPY)
            continue;
        if (of[name] == 0) {
            struct copy_row *made = &ret->copy[ret->copies];
            *made = (struct copy_row){ .calls = 0 };
            if (!copy_kind(trace_text(s->trace, name), arena, &made->kind))
                return false;
            of[name] = ++ret->copies;
        }
        struct copy_row *r = &ret->copy[of[name] - 1];
        r->calls++;
        r->ns = i64_plus(r->ns, spans->duration[row]);
        r->bytes += spans->bytes[row] > 0 ? (uint64_t)spans->bytes[row] : 0;
    }
    qsort(ret->copy, ret->copies, sizeof *ret->copy, by_kind);
    ret->copies = join_copies(ret->copy, ret->copies);
    return true;
}

enum vrs_status tables_make(const struct trace_study *s, struct arena *arena, struct tables *ret,
                            struct vrs_error *err)
{
    *ret = (struct tables){ .ops = 0 };
    if (operators_make(s, &s->host, NULL, arena, ret) && names_add_up(s, arena, ret) &&
        copies_add_up(s, arena, ret))
        return VRS_OK;
    return vrs_no_memory(err);
}
