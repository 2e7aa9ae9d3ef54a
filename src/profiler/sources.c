/* sources.c - each source with its own fastest rate. */
#include "profiler/sources.h"

#include <stdbool.h>
#include <stddef.h>

#include "device/process.h"
#include "profiler/clock.h"

/* 100 a second: some 4 us each. */
enum { PROCESS_NS = NS_PER_SECOND / 100 };

void sources_init(struct sources *s)
{
    *s = (struct sources){
        .used = VRS_UNKNOWN, .total = VRS_UNKNOWN, .utilisation = -1, .rss = VRS_UNKNOWN
    };
}

/* Whether the time has come; then the next time is set. */
static bool is_due(uint64_t *at_ns, uint64_t now_ns, uint64_t period_ns)
{
    if (now_ns < *at_ns)
        return false;
    *at_ns = now_ns + period_ns;
    return true;
}

/* Of a backend that any thread may ask, which is as cheap as its counters are. */
static void ask_backend(struct sources *s, const struct vrs_backend *b, uint32_t device)
{
    uint64_t left;
    s->used = s->total = VRS_UNKNOWN;
    if (b->memory != NULL && b->memory(b->arg, device, &left, &s->total) == VRS_OK) {
        if (left != VRS_UNKNOWN && s->total != VRS_UNKNOWN)
            s->used = s->total - left;
    } else {
        s->total = VRS_UNKNOWN;
    }
    if (b->utilisation == NULL || b->utilisation(b->arg, device, &s->utilisation) != VRS_OK)
        s->utilisation = -1;
}

void sources_fill(struct sources *s, const struct vrs_backend *b, uint32_t device,
                  struct vrs_sample *ret)
{
    uint64_t peak;
    if (b->any_thread)
        ask_backend(s, b, device);
    if (is_due(&s->process_ns, host_ns(NULL), PROCESS_NS))
        process_memory(&s->rss, &peak);
    ret->device_used = s->used;
    ret->device_total = s->total;
    ret->utilisation = s->utilisation;
    ret->rss = s->rss;
}
