/* ring.c - the public calls of a ring buffer. */
#include <stddef.h>
#include <stdint.h>

#include "api/profiler/meter_object.h"
#include "base/fail.h"
#include "base/vec.h"
#include "profiler/ring.h"
#include "vramscope/error.h"
#include "vramscope/profiler.h"

enum { ROW_BYTES_MOST = 1 << 16 };

struct vrs_ring {
    struct ring ring;
    struct vrs_meter *meter;
};

static void renew(void *object)
{
    ring_after_fork(object);
}

enum vrs_status vrs_ring_make(struct vrs_meter *meter, uint32_t row_bytes, uint32_t capacity,
                              struct vrs_ring **ret, struct vrs_error *err)
{
    if (row_bytes == 0 || row_bytes > ROW_BYTES_MOST)
        return vrs_fail(err, VRS_USAGE, "a row of a ring has 1 to %d bytes, not %u", ROW_BYTES_MOST,
                        row_bytes);
    struct vrs_ring *r = NULL;
    if (!vec_resize((void **)&r, 1, sizeof *r))
        return vrs_no_memory(err);
    r->meter = meter;
    if (!ring_init(&r->ring, row_bytes, capacity)) {
        vec_resize((void **)&r, 0, 0);
        return vrs_no_memory(err);
    }
    if (!meter_object_add(meter, (struct forked){ renew, &r->ring })) {
        vrs_ring_free(r);
        return vrs_no_memory(err);
    }
    *ret = r;
    return VRS_OK;
}

void vrs_ring_free(struct vrs_ring *ring)
{
    if (ring == NULL)
        return;
    meter_object_remove(ring->meter, &ring->ring);
    ring_free(&ring->ring);
    vec_resize((void **)&ring, 0, 0);
}

uint64_t vrs_ring_add(struct vrs_ring *ring, const void *row)
{
    return ring_add(&ring->ring, row);
}

uint32_t vrs_ring_copy(struct vrs_ring *ring, uint64_t from, uint32_t most, void *ret,
                       uint64_t *ret_first)
{
    return ring_copy(&ring->ring, from, most, ret, ret_first);
}

void vrs_ring_clear(struct vrs_ring *ring)
{
    ring_clear(&ring->ring);
}

void vrs_ring_count(struct vrs_ring *ring, struct vrs_ring_counts *ret)
{
    struct ring_counts counts = ring_counts(&ring->ring);
    *ret = (struct vrs_ring_counts){ counts.first, counts.next, counts.lost };
}
