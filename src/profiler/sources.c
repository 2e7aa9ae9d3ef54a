/* sources.c - each source with its own fastest rate. */
#include "profiler/sources.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "profiler/clock.h"

/* The fastest rates: the driver's own figures of use are no newer, and its calls may take long. */
enum { MEMORY_NS = NS_PER_SECOND / 10, BUSY_NS = NS_PER_SECOND, PROCESS_NS = NS_PER_SECOND / 100 };

void sources_init(struct sources *s)
{
    *s = (struct sources){
        .used = VRS_UNKNOWN, .total = VRS_UNKNOWN, .utilisation = -1, .rss = VRS_UNKNOWN
    };
    resident_init(&s->resident);
}

void sources_close(struct sources *s)
{
    resident_close(&s->resident);
}

/* Whether the time has come; then the next time is set.  By a table of times with some play, so
 * that a sample that comes a little early, of those that come as often, is not without. */
static bool is_due(uint64_t *at_ns, uint64_t now_ns, uint64_t period_ns)
{
    if (now_ns + period_ns / 8 < *at_ns)
        return false;
    *at_ns += period_ns;
    if (*at_ns <= now_ns)
        *at_ns = now_ns + period_ns;
    return true;
}

void sources_memory(const struct vrs_backend *b, uint32_t device, struct vrs_device_memory *ret)
{
    struct vrs_device_memory m = { VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN };
    if (b->memory == NULL || b->memory(b->arg, device, &m.free, &m.total) != VRS_OK)
        m.free = m.total = VRS_UNKNOWN;
    if (m.free != VRS_UNKNOWN && m.total != VRS_UNKNOWN && m.free <= m.total)
        m.used = m.total - m.free;
    *ret = m;
}

/* Of a backend that any thread may ask, which is as cheap as its counters are. */
static void ask_backend(struct sources *s, const struct vrs_backend *b, uint32_t device)
{
    struct vrs_device_memory memory;
    sources_memory(b, device, &memory);
    s->used = memory.used;
    s->total = memory.total;
    if (b->utilisation == NULL || b->utilisation(b->arg, device, &s->utilisation) != VRS_OK)
        s->utilisation = -1;
}

static void ask_driver(struct sources *s, struct driver *driver, const char *id, uint64_t now_ns)
{
    struct driver_figures found;
    if (id[0] == '\0') {
        snprintf(s->memory_why, sizeof s->memory_why,
                 "the backend does not say which device of the driver it is");
        return;
    }
    if (is_due(&s->memory_ns, now_ns, MEMORY_NS)) {
        driver_ask(driver, id, DRIVER_MEMORY, &found);
        s->used = found.used;
        s->total = found.total;
        memcpy(s->memory_why, found.why, sizeof s->memory_why);
    }
    if (is_due(&s->busy_ns, now_ns, BUSY_NS)) {
        driver_ask(driver, id, DRIVER_UTILISATION, &found);
        s->utilisation = found.utilisation;
        memcpy(s->busy_why, found.why, sizeof s->busy_why);
    }
}

void sources_fill(struct sources *s, const struct vrs_backend *b, struct driver *driver,
                  const char *driver_id, struct vrs_sample *ret)
{
    uint64_t now_ns = host_ns(NULL);
    if (b->any_thread)
        ask_backend(s, b, ret->device);
    else
        ask_driver(s, driver, driver_id, now_ns);
    if (is_due(&s->process_ns, now_ns, PROCESS_NS))
        s->rss = resident_read(&s->resident);
    ret->device_used = s->used;
    ret->device_total = s->total;
    ret->utilisation = s->utilisation;
    ret->rss = s->rss;
}
