/* ring.c - rows in chunks of 4,096, found by the low bits of their number. */
#include "profiler/ring.h"

#include <string.h>

enum { CHUNK_ROWS = 4096 };

bool ring_init_in(struct ring *r, uint32_t row_bytes, uint32_t capacity, pthread_mutex_t *guard)
{
    uint32_t rounded = RING_LEAST;
    while (rounded < capacity && rounded < RING_MOST)
        rounded *= 2;
    *r = (struct ring){ .row_bytes = row_bytes, .capacity = rounded, .guard = guard };
    r->chunk.max = RING_MOST / CHUNK_ROWS;
    return pthread_mutex_init(&r->own, NULL) == 0;
}

bool ring_init(struct ring *r, uint32_t row_bytes, uint32_t capacity)
{
    return ring_init_in(r, row_bytes, capacity, &r->own);
}

void ring_free(struct ring *r)
{
    for (uint32_t i = 0; i < r->chunk.len; i++)
        vec_resize((void **)&r->chunk.at[i], 0, 0);
    vec_free(&r->chunk);
    pthread_mutex_destroy(&r->own);
}

void ring_after_fork(struct ring *r)
{
    pthread_mutex_init(&r->own, NULL);
}

/* Where the row of this number stands; NULL: there is no chunk there yet, and no memory. */
static unsigned char *place_of(struct ring *r, uint64_t number)
{
    uint32_t place = (uint32_t)(number & (r->capacity - 1));
    uint32_t chunk = place / CHUNK_ROWS;
    while (r->chunk.len <= chunk) {
        uint32_t rows = r->capacity < CHUNK_ROWS ? r->capacity : CHUNK_ROWS;
        unsigned char *made = NULL;
        if (!vec_reserve(&r->chunk, 1) || !vec_resize((void **)&made, rows, r->row_bytes))
            return NULL;
        r->chunk.at[r->chunk.len++] = made;
    }
    return r->chunk.at[chunk] + (size_t)(place % CHUNK_ROWS) * r->row_bytes;
}

uint64_t ring_put(struct ring *r, const void *row)
{
    unsigned char *to = place_of(r, r->next);
    if (to == NULL) {
        r->refused++;
        return UINT64_MAX;
    }
    memcpy(to, row, r->row_bytes);
    uint64_t number = r->next++;
    if (r->next - r->first > r->capacity)
        r->first = r->next - r->capacity;
    return number;
}

uint64_t ring_add(struct ring *r, const void *row)
{
    pthread_mutex_lock(r->guard);
    uint64_t number = ring_put(r, row);
    pthread_mutex_unlock(r->guard);
    return number;
}

void *ring_row(struct ring *r, uint64_t number)
{
    return number >= r->first && number < r->next ? place_of(r, number) : NULL;
}

uint32_t ring_copy(struct ring *r, uint64_t from, uint32_t most, void *ret, uint64_t *ret_first)
{
    pthread_mutex_lock(r->guard);
    if (from < r->first)
        from = r->first;
    uint64_t there = from < r->next ? r->next - from : 0;
    uint32_t count = there < most ? (uint32_t)there : most;
    unsigned char *to = ret;
    for (uint32_t i = 0; i < count; i++, to += r->row_bytes)
        memcpy(to, place_of(r, from + i), r->row_bytes);
    *ret_first = from;
    pthread_mutex_unlock(r->guard);
    return count;
}

void ring_clear(struct ring *r)
{
    pthread_mutex_lock(r->guard);
    r->first = r->cleared = r->next;
    r->refused = 0;
    pthread_mutex_unlock(r->guard);
}

struct ring_counts ring_counts(struct ring *r)
{
    pthread_mutex_lock(r->guard);
    struct ring_counts counts = { r->first, r->next, r->first - r->cleared + r->refused };
    pthread_mutex_unlock(r->guard);
    return counts;
}
