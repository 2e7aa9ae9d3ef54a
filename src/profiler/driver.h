/* driver.h - the driver's library for all of a process, opened when somebody first asks. */
#ifndef VRS_PROFILER_DRIVER_H
#define VRS_PROFILER_DRIVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "device/nvml.h"

/* Bytes, UINT64_MAX where not known; percent, negative where not known. */
struct driver_figures {
    uint64_t used, total;
    double utilisation;
    uint32_t processes; /* that compute on the device; UINT32_MAX */
    uint64_t own;       /* of this process */
    /* Of what is not known; empty: all that was asked for is. */
    char why[NVML_WHY_BYTES];
};

enum driver_ask { DRIVER_MEMORY = 1, DRIVER_UTILISATION = 2, DRIVER_PROCESSES = 4 };

struct driver {
    pthread_mutex_t guard;
    struct nvml nvml;
    const char *library; /* NULL: the driver's own */
    bool tried;
};

/* False: the system has no lock. */
bool driver_init(struct driver *d, const char *library);
void driver_free(struct driver *d);
/* In a child of fork, which has to begin with the library itself. */
void driver_after_fork(struct driver *d);

/* `what`: bits of enum driver_ask; others than these of `*ret` are set to unknown. */
void driver_ask(struct driver *d, const char *id, uint32_t what, struct driver_figures *ret);

#endif
