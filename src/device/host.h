/* host.h - memory and time of the process and of the machine, as the kernel counts them. */
#ifndef VRS_DEVICE_HOST_H
#define VRS_DEVICE_HOST_H

#include <stdint.h>

/* UINT64_MAX: not known. */
struct host_reading {
    uint64_t rss, mapped; /* bytes of the process: resident, and all that is mapped */
    uint64_t used;        /* bytes in use on the machine, without caches of files */
    uint64_t cpu_ns;      /* that the process has used of processors */
};

void host_read(struct host_reading *ret);

#endif
