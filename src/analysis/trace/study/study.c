/* study.c - what all analyses of a trace begin with. */
#include "analysis/trace/study/study.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From the first start to the last end: of known events, else of all but captures. */
static void find_range(struct trace_study *s)
{
    const struct spans *spans = &s->trace->spans;
    for (int unknown = 0; unknown < 2 && !s->has_range; unknown++) {
        for (uint32_t row = 0; row < spans->rows.len; row++) {
            if (spans->kind[row] == SPAN_WINDOW || (spans->kind[row] == SPAN_OTHER && !unknown))
                continue;
            int64_t start = spans->start[row], end = span_end(spans, row);
            if (!s->has_range || start < s->first_ns)
                s->first_ns = start;
            if (!s->has_range || end > s->last_ns)
                s->last_ns = end;
            s->has_range = true;
        }
        s->is_foreign = s->has_range && unknown != 0;
    }
}

static uint32_t count_work(const struct spans *spans)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < spans->rows.len; row++)
        count += span_is_work(spans->kind[row]);
    return count;
}

bool study_begin(const struct trace *t, struct arena *arena, struct trace_study *ret)
{
    *ret = (struct trace_study){ .trace = t, .work = count_work(&t->spans) };
    find_range(ret);
    return names_make(t, arena, &ret->names);
}

enum vrs_status trace_study_make(const struct trace *t, struct arena *arena, struct trace_study *ret,
                           struct vrs_error *err)
{
    struct links_index *index = NULL;
    bool ok = study_begin(t, arena, ret) && sort_spans(t, arena, &ret->sorted) &&
              links_index_make(ret, arena, &index) && links_make(ret, index, arena);
    links_index_free(index);
    return ok ? VRS_OK : vrs_no_memory(err);
}
