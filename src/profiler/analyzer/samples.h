/* samples.h - measured samples of devices and ranks, as columns. */
#ifndef VRS_PROFILER_ANALYZER_SAMPLES_H
#define VRS_PROFILER_ANALYZER_SAMPLES_H

#include <stdint.h>

struct samples {
    uint32_t count;
    const int64_t *time_ns; /* of its rank's clock */
    uint32_t ranks;
    const uint32_t *rank;       /* below `ranks` */
    const int64_t *rank_number; /* of each rank, ascending */
    const uint32_t *job;        /* numbered from 1 in the order of appearance; 0: of none */
    const int64_t *world_size;
    const int64_t *interval_ms;
    /* In bytes, or BYTES_UNKNOWN. */
    const int64_t *used, *total;         /* of the device */
    const int64_t *reserved, *allocated; /* by the allocator */
    const uint8_t *sampled;              /* taken at an interval, not at an event */
    const uint8_t *marked;               /* names a collective operation */
};

/* What a device uses beyond what the allocator has reserved; BYTES_UNKNOWN where one is. */
int64_t samples_gap(const struct samples *samples, uint32_t i);

/* A sample's number, for sorting by time. */
struct sample_at {
    int64_t time_ns;
    uint32_t sample;
};

/* By time, those of one time in the order they have. */
void samples_sort(struct sample_at *at, uint32_t count);

#endif
