/* ledger.h - the peaks of overlapping intervals out of one counter that has one peak.
 *
 * A device counts its memory on four curves and keeps the highest value of each since the last
 * reset; a reset is of all four.  A *slot* is an interval whose peaks somebody wants.  Before a
 * reset the counter's peak is folded into every open slot, so that each gets what it would have got
 * alone.  A slot is *tainted* on a curve while the counter's peak may stem from before the slot was
 * opened, where a reset was forbidden: then only bounds are known, until the counter climbs above
 * the peak that it stood at.
 *
 * Nothing here locks; a struct ledger is of one device. */
#ifndef VRS_PROFILER_LEDGER_H
#define VRS_PROFILER_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "vramscope/profiler.h"

struct ledger_slot {
    /* By curve: bounds of what earlier stretches gave; VRS_UNKNOWN: the curve is not known. */
    uint64_t fold[VRS_CURVES], at_most[VRS_CURVES];
    uint64_t open_peak[VRS_CURVES], start[VRS_CURVES];
    uint64_t allocated_bytes, freed_bytes, allocations, frees; /* as counted at opening */
    uint32_t turn; /* tells it from those that stood in this place before */
    uint32_t flags;
    uint32_t order; /* where it stands in `open`; of an empty place: the next one, plus 1 */
    uint8_t state;  /* enum vrs_state: the worst that happened to it */
    bool tainted[VRS_CURVES];
    bool gross_lost; /* somebody reset the accumulated counters */
    bool used;
};

struct ledger {
    uint64_t seen[VRS_CURVES]; /* the peaks at the last reading since the last reset; 0: none */
    struct vrs_stats last;     /* reading */
    uint64_t last_ns;          /* when it was asked for; VRS_UNKNOWN: nobody wanted to know */
    bool has_last;
    VEC(struct ledger_slot) slots;
    VEC(uint32_t) open; /* places in `slots`, for folding */
    uint32_t empty;     /* place, plus 1 */
    uint32_t turns;     /* slots opened */
    uint32_t keepers;   /* open slots that forbid resets */
    uint32_t strict;    /* open slots that want to know what a reset missed */
    /* The backend is being asked, and changes nothing: all that is here is whole. */
    _Atomic bool asking;
    _Atomic uint32_t watchers; /* who want to know how old the last reading is */
    /* Told to others while it is at work. */
    _Atomic uint32_t open_slots;
    _Atomic uint64_t failed_readings, foreign_resets, slots_refused;
};

void ledger_init(struct ledger *l, uint32_t slots_max);
void ledger_free(struct ledger *l);

/* Reads the counters and notices whether somebody else has reset them.  False: not known. */
bool ledger_read(struct ledger *l, const struct vrs_backend *b, uint32_t device,
                 struct vrs_stats *ret);

/* The slot says unknown when it is closed, where there was no reading or no room; a mark without a
 * reading says unknown, and the interval goes on. */
void ledger_open(struct ledger *l, const struct vrs_backend *b, uint32_t device, uint32_t flags,
                 struct vrs_slot *ret);
void ledger_mark(struct ledger *l, const struct vrs_backend *b, uint32_t device,
                 struct vrs_slot *slot, struct vrs_peaks *ret);
void ledger_close(struct ledger *l, const struct vrs_backend *b, uint32_t device,
                  struct vrs_slot *slot, struct vrs_peaks *ret);
/* Marks with the last reading, as if it had been made for this slot. */
void ledger_mark_last(struct ledger *l, struct vrs_slot *slot, struct vrs_peaks *ret);
/* Without a reading: nobody wants to know. */
void ledger_drop(struct ledger *l, struct vrs_slot *slot);

/* Whoever is open is measured no more: what is here may be half written. */
void ledger_forget(struct ledger *l);

/* Peaks of which nothing is known but the last reading, if there was one. */
void ledger_unknown(const struct ledger *l, enum vrs_state state, struct vrs_peaks *ret);

#endif
