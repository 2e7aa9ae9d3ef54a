/* known_device.h - a backend for one device whose whole curves are known, so that every peak can be
 * looked up: counters with one peak each and totals, which may be reset, fail or not be known.
 *
 * Time is the number of a moment: each change and each call of the backend is one. */
#ifndef TESTS_UNIT_KNOWN_DEVICE_H
#define TESTS_UNIT_KNOWN_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "vramscope/profiler.h"

enum { KNOWN_MOMENTS = 1 << 14, TOTALS_UNKNOWN = 1 << VRS_CURVES };

struct known_totals {
    uint64_t allocated, freed, allocations, frees;
};

struct known_device {
    uint64_t at[KNOWN_MOMENTS][VRS_CURVES]; /* bytes at each moment */
    uint32_t moments;
    uint64_t peak[VRS_CURVES];      /* of the counters */
    uint32_t reset_at;              /* moment of the last reset */
    struct known_totals ever;       /* of all moments */
    struct known_totals reset_ever; /* when somebody reset the counters of them */
    uint32_t hidden; /* bits of the curves that are not known now, and TOTALS_UNKNOWN */
    uint32_t readings, resets;
    uint32_t fail_readings; /* a bit for each coming reading, the lowest is the next */
    bool fail_resets;       /* all */
    uint64_t spike;         /* bytes got and given back before the next plain reset; 0: none */
    /* Called inside each reading and before it is answered; NULL: nothing is. */
    void (*inside)(void *arg);
    /* Called with each reading that succeeds, its moment, and whether it resets the peaks too. */
    void (*read)(void *arg, const struct vrs_stats *reading, uint32_t moment, bool swaps);
    /* After each reset of the peaks by the ledger. */
    void (*was_reset)(void *arg, bool spiked);
    void *arg;
};

/* Curves at 0, in the one moment that there is. */
void known_device_begin(struct known_device *d);

/* Adds so many bytes to a curve, or takes them away, but not below 0. */
void known_device_change(struct known_device *d, enum vrs_curve k, int64_t bytes);
/* All curves go up by so much and come back. */
void known_device_spike(struct known_device *d, uint64_t bytes);
/* As a program does behind the meter's back. */
void known_device_reset_peak(struct known_device *d);
void known_device_reset_totals(struct known_device *d);

/* The highest value of a curve from one moment to another, both included. */
uint64_t known_device_highest(const struct known_device *d, enum vrs_curve k, uint32_t from,
                              uint32_t to);

enum { KNOWN_RESETS = 1, KNOWN_SWAPS = 2 };
/* Which of the two resets the backend has. */
struct vrs_backend known_device_backend(struct known_device *d, uint32_t resets);

#endif
