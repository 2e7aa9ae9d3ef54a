/* findings.c - rows of findings, which remember that memory ran out. */
#include "profiler/analyzer/findings.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"

void findings_init(struct findings *f)
{
    *f = (struct findings){ .rows = { .max = UINT32_MAX } };
    arena_init(&f->arena, SIZE_MAX / 2);
}

void findings_free(struct findings *f)
{
    vec_free(&f->rows);
    arena_free(&f->arena);
}

struct finding *findings_add(struct findings *f, const char *kind, enum severity severity,
                             double confidence)
{
    struct finding row = { .kind = kind, .severity = severity, .confidence = confidence };
    if (f->failed || !vec_push(&f->rows, row)) {
        f->failed = true;
        f->lost = row;
        return &f->lost;
    }
    return &f->rows.at[f->rows.len - 1];
}

static struct figure *figure_add(struct finding *row, const char *name)
{
    assert(row->figures < FIGURES_MOST);
    struct figure *figure = &row->figure[row->figures++];
    *figure = (struct figure){ .name = name, .value = NAN };
    return figure;
}

void finding_count(struct finding *row, const char *name, int64_t count)
{
    struct figure *figure = figure_add(row, name);
    figure->whole = true;
    figure->count = count;
}

void finding_rounded(struct finding *row, const char *name, double count)
{
    /* 2^63 itself is a double, and no int64_t. */
    const double beyond = 9223372036854775808.0;
    finding_count(row, name,
                  count >= beyond   ? INT64_MAX
                  : count < -beyond ? INT64_MIN
                                    : (int64_t)count);
}

void finding_value(struct finding *row, const char *name, double value)
{
    figure_add(row, name)->value = value;
}

void finding_functions(struct findings *f, struct finding *row, const bool *flag, uint32_t count)
{
    uint32_t *list = arena_array(&f->arena, uint32_t, count), listed = 0;
    if (list == NULL) {
        f->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        if (flag[i])
            list[listed++] = i;
    row->function = list;
    row->functions = listed;
}

void finding_listed(struct findings *f, struct finding *row, const uint32_t *list, uint32_t count)
{
    uint32_t *kept = arena_array(&f->arena, uint32_t, count);
    if (kept == NULL) {
        f->failed = true;
        return;
    }
    memcpy(kept, list, count * sizeof *kept);
    row->function = kept;
    row->functions = count;
}
