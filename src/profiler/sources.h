/* sources.h - what a sample has beside the allocator's counters.
 *
 * The driver and the process are each asked no more often than it is worth. */
#ifndef VRS_PROFILER_SOURCES_H
#define VRS_PROFILER_SOURCES_H

#include <stdint.h>

#include "device/nvml.h"
#include "device/process.h"
#include "profiler/driver.h"
#include "vramscope/profiler.h"

enum { DRIVER_ID_BYTES = 64 };

struct sources {
    /* By the host's clock: when each is asked again. */
    uint64_t memory_ns, busy_ns, process_ns;
    uint64_t used, total; /* bytes; VRS_UNKNOWN */
    double utilisation;   /* negative: not known */
    uint64_t rss;
    struct resident resident;
    char memory_why[NVML_WHY_BYTES], busy_why[NVML_WHY_BYTES]; /* empty: it is known */
};

void sources_init(struct sources *s);
/* Closes the file of the process; the next filling in opens it again. */
void sources_close(struct sources *s);

/* What a backend tells of a device; `used` is VRS_UNKNOWN unless free and total are known and free
 * is no more than total. */
void sources_memory(const struct vrs_backend *b, uint32_t device, struct vrs_device_memory *ret);

/* Fills in what is known now of a device.  `driver_id` is what the driver knows it by, empty: that
 * is not known. */
void sources_fill(struct sources *s, const struct vrs_backend *b, struct driver *driver,
                  const char *driver_id, struct vrs_sample *ret);

#endif
