/* intervals.c - each question one pass, in the order of time. */
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
        sum += interval_common(a->at[i], b->at[j]);
        if (a->at[i].end < b->at[j].end)
            i++;
        else
            j++;
    }
    return sum;
}

int64_t interval_common(struct interval a, struct interval b)
{
    int64_t start = a.start > b.start ? a.start : b.start;
    int64_t end = a.end < b.end ? a.end : b.end;
    return end > start ? end - start : 0;
}

struct interval covering_add(struct covering *c, int64_t start, int64_t end)
{
    int64_t from = start > c->until ? start : c->until;
    if (end > c->until)
        c->until = end;
    return (struct interval){ from, end > from ? end : from };
}
