/* process.h - memory of this process, as the kernel counts it. */
#ifndef VRS_DEVICE_PROCESS_H
#define VRS_DEVICE_PROCESS_H

#include <stdint.h>

/* Resident bytes now and at most (VmRSS, VmHWM of /proc/self/status); UINT64_MAX: not known. */
void process_memory(uint64_t *ret_rss, uint64_t *ret_rss_peak);
/* The first of them alone, which costs a third. */
uint64_t process_resident(void);

#endif
