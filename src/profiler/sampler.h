/* sampler.h - a thread that reads one device at fixed times into a ring.
 *
 * Where the backend may be called by any thread the sampling thread reads, and waits for nobody.
 * Else it takes what was last read by whomever, and has the reader woken where that is old: a
 * thread of the caller's that may call the backend.  No lock is held while that one does. */
#ifndef VRS_PROFILER_SAMPLER_H
#define VRS_PROFILER_SAMPLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "device/nvml.h"
#include "profiler/bell.h"
#include "profiler/meter.h"
#include "profiler/ring.h"
#include "profiler/sources.h"
#include "vramscope/profiler.h"

enum sampler_run { RUN_OFF, RUN_ON, RUN_ENDING, RUN_FORKED };

struct sampler {
    struct meter *meter;
    struct vrs_sampler_options options;
    struct vrs_backend backend;
    uint64_t made_ns, made_us;
    struct ring ring;

    pthread_mutex_t taking; /* held for a sample, of which there is one at a time */
    struct sources sources;
    struct vrs_sample before; /* the last sample, and when its curves were read */
    uint64_t before_read_ns;

    pthread_mutex_t guard; /* of what follows; nothing is read under it */
    pthread_cond_t changed;
    pthread_t thread;  /* while it is on or ending */
    struct bell ended; /* by which it sleeps */
    enum sampler_run run;
    struct vrs_slot slot;
    bool wanted;           /* a reading, of whoever waits */
    uint64_t next_want_ns; /* not before, by the host's clock */
    uint64_t skipped, busy;
    /* What the driver knows the device by, empty: not known yet; and why the last sample could not
     * tell what the driver says. */
    char driver_id[DRIVER_ID_BYTES], driver_why[NVML_WHY_BYTES];
};

/* VRS_NOMEM: to be freed all the same; of other failures there is nothing to free. */
enum vrs_status sampler_init(struct sampler *s, struct meter *m,
                             const struct vrs_sampler_options *options,
                             struct vrs_error *err) MUST_CHECK;
void sampler_free(struct sampler *s);
/* In a child of fork. */
void sampler_after_fork(struct sampler *s);

/* Calls no function of the backend, so that it may be called with locks held. */
enum vrs_status sampler_start(struct sampler *s, struct vrs_error *err) MUST_CHECK;
void sampler_stop(struct sampler *s);
void sampler_now(struct sampler *s);
bool sampler_wait(struct sampler *s);
void sampler_read(struct sampler *s);
void sampler_clear(struct sampler *s);
void sampler_count(struct sampler *s, struct vrs_sampler_counts *ret);

#endif
