/* ledger_play.h - random programs of users of one ledger, played on a device whose curves are
 * known, and judged by the eight invariants of the ledger.
 *
 * (1) The peak of a slot is the maximum of the curve between its readings.  (2) It is the same
 * when any of the other users are not there.  (3) It is at least the value at every reading inside.
 * (4) That of an enclosing slot is at least that of an enclosed one.  (5) A foreign reset that
 * lowers the counter below what was seen marks the slots open across it and no other; no peak is
 * ever above the truth.  (6) Of a sampled one the truth lies between the bounds.  (7) There are at
 * most as many resets as openings, and none where memory only grows.  (8) At the end no slot is
 * open, and there are as many places as were ever open together. */
#ifndef TESTS_UNIT_LEDGER_PLAY_H
#define TESTS_UNIT_LEDGER_PLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/ledger.h"
#include "vramscope/profiler.h"

enum { PLAY_USERS = 64, PLAY_STEPS = 1000 };

/* The ledger that is played with: ours, or one with a planted fault. */
struct ledger_calls {
    void (*init)(struct ledger *, uint32_t);
    void (*free)(struct ledger *);
    bool (*read)(struct ledger *, const struct vrs_backend *, uint32_t, struct vrs_stats *);
    void (*open)(struct ledger *, const struct vrs_backend *, uint32_t, uint32_t,
                 struct vrs_slot *);
    void (*mark)(struct ledger *, const struct vrs_backend *, uint32_t, struct vrs_slot *,
                 struct vrs_peaks *);
    void (*close)(struct ledger *, const struct vrs_backend *, uint32_t, struct vrs_slot *,
                  struct vrs_peaks *);
    void (*drop)(struct ledger *, struct vrs_slot *);
};

/* What happens in a program besides that memory comes and goes and slots open and close. */
struct play_scenario {
    const char *name;
    uint32_t resets; /* KNOWN_RESETS, KNOWN_SWAPS */
    uint32_t users;
    uint32_t slots; /* room for; 0: for all */
    bool grows;     /* memory, only */
    bool stays;     /* whoever is open, to the end */
    bool foreign;   /* somebody else resets peaks and totals */
    bool keepers, from_reset;
    bool failures; /* of readings and resets */
    bool hides;    /* curves and totals that are not known at times */
    bool spikes;   /* between a reading and a reset */
    bool strict;   /* all users are */
};
extern const struct play_scenario play_scenarios[];
extern const uint32_t play_scenarios_count;

/* What programs came to, so that a test can show that they met everything. */
struct play_tally {
    uint32_t states[VRS_STATE_UNKNOWN + 1]; /* results of each */
    uint32_t most_open;                     /* slots */
    uint32_t refused;
    uint32_t resets;
};

/* Plays the program of this seed and adds to the tally; the breach of an invariant in words, or
 * NULL. */
const char *ledger_play(const struct ledger_calls *calls, const struct play_scenario *s,
                        uint64_t seed, struct play_tally *tally);

#endif
