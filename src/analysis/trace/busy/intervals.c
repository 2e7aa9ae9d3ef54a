/* intervals.c - one pass over one list, or over two side by side. */
#include "analysis/trace/busy/intervals.h"

#include <stddef.h>
#include <stdint.h>

void intervals_add(struct intervals *s, int64_t start, int64_t end)
{
    if (end <= start)
        return;
    struct interval *last = s->len > 0 ? &s->at[s->len - 1] : NULL;
    if (last == NULL || start > last->end)
        s->at[s->len++] = (struct interval){ start, end };
    else if (end > last->end)
        last->end = end;
}

int64_t intervals_measure(const struct intervals *s)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < s->len; i++)
        sum += s->at[i].end - s->at[i].start;
    return sum;
}

int64_t intervals_common(const struct intervals *a, const struct intervals *b)
{
    int64_t sum = 0;
    for (uint32_t i = 0, j = 0; i < a->len && j < b->len;) {
        const struct interval *x = &a->at[i], *y = &b->at[j];
        int64_t start = x->start > y->start ? x->start : y->start;
        int64_t end = x->end < y->end ? x->end : y->end;
        if (end > start)
            sum += end - start;
        if (x->end < y->end)
            i++;
        else
            j++;
    }
    return sum;
}
