/* process.h - memory of this process, as the kernel counts it. */
#ifndef VRS_DEVICE_PROCESS_H
#define VRS_DEVICE_PROCESS_H

#include <stdint.h>

/* Resident bytes now and at most (VmRSS, VmHWM of /proc/self/status); UINT64_MAX: not known. */
void process_memory(uint64_t *ret_rss, uint64_t *ret_rss_peak);

/* VmRSS alone, for who asks often: /proc/self/statm is kept open, and a reading costs a
 * fifth of one that opens it. */
struct resident {
    int file; /* negative: not open */
    uint64_t file_system, inode;
};

void resident_init(struct resident *r);
/* UINT64_MAX: not known.  Opens the file where it is not open, or where the program has closed it
 * and its number is another file's. */
uint64_t resident_read(struct resident *r);
/* The next reading opens it again.  A child of fork must call this: the file that
 * it inherits tells of its parent. */
void resident_close(struct resident *r);

#endif
