/* profiler.h - measure a running program: the peaks of nested and concurrent intervals, of which
 * no user disturbs another, records in a bounded ring, and totals by path.
 *
 * A meter belongs to a process, because the peak counters of its devices do.  Whoever measures
 * opens slots in it; all resets of a counter's peak go through its ledger, which folds the peak
 * into every open slot before.  Calls may come from any thread.  In a child of fork the meter is
 * made anew by vrs_meter_after_fork, before any other call.
 *
 * Bytes that are not known are VRS_UNKNOWN, never 0.  Options are structs whose zero value is the
 * default and whose first member is their size. */
#ifndef VRAMSCOPE_PROFILER_H
#define VRAMSCOPE_PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramscope/error.h"
#include "vramscope/vramscope.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VRS_UNKNOWN UINT64_MAX

/* The curves of a device, as PyTorch's statistics name them. */
enum vrs_curve { VRS_ALLOCATED, VRS_RESERVED, VRS_ACTIVE, VRS_REQUESTED };
enum { VRS_CURVES = 4 };

/* One reading of a device's counters.  A member that the backend does not have is VRS_UNKNOWN. */
struct vrs_stats {
    uint64_t now[VRS_CURVES];  /* bytes */
    uint64_t peak[VRS_CURVES]; /* bytes, since the last reset of the peaks */
    uint64_t inactive_split;   /* bytes of free parts of segments that are in use */
    /* Since the process began, or since somebody reset them: bytes of blocks, and their number. */
    uint64_t allocated_bytes, freed_bytes, allocations, frees;
    uint64_t retries, ooms;
};

/* How the memory of a device is read.  A function that is NULL, or that fails, means unknown; none
 * is called before the meter is asked.  Devices count from 0. */
struct vrs_backend {
    size_t size;
    const char *name; /* static: "torch", "sim", "none" */
    void *arg;
    enum vrs_status (*stats)(void *arg, uint32_t device, struct vrs_stats *ret);
    /* The peaks become the present values. */
    enum vrs_status (*reset_peak)(void *arg, uint32_t device);
    /* A reading and the reset as one, between which nothing happens. */
    enum vrs_status (*swap_peak)(void *arg, uint32_t device, struct vrs_stats *ret);
    uint32_t (*count)(void *arg);
    uint32_t (*current)(void *arg);
    enum vrs_status (*device_name)(void *arg, uint32_t device, char *ret, size_t room);
    /* What the driver says of the whole device, all processes together. */
    enum vrs_status (*memory)(void *arg, uint32_t device, uint64_t *ret_free, uint64_t *ret_total);
    enum vrs_status (*utilisation)(void *arg, uint32_t device, double *ret_percent);
    enum vrs_status (*empty_cache)(void *arg, uint32_t device);
    enum vrs_status (*synchronize)(void *arg, uint32_t device);
    /* The device's own time in nanoseconds; of two moments the difference counts. */
    enum vrs_status (*device_ns)(void *arg, uint32_t device, uint64_t *ret);
    /* Nanoseconds that durations are told by; NULL: CLOCK_MONOTONIC.  Any thread may ask. */
    uint64_t (*clock_ns)(void *arg);
    /* Any thread may call all of these.  Else only one that opens, marks or reads. */
    bool any_thread;
    /* How the driver knows the device: its UUID, as in "GPU-5d8e...", or its PCI address. */
    enum vrs_status (*driver_id)(void *arg, uint32_t device, char *ret, size_t room);
};

/* The worst of what a figure is made of; later ones are worse. */
enum vrs_state {
    VRS_EXACT,
    VRS_SAMPLED, /* a lower bound; at_most is the upper one */
    VRS_LOST,    /* somebody else reset the peak: a lower bound */
    VRS_RACED,   /* memory was allocated between the reading and the reset: a lower bound */
    VRS_NESTED,  /* asked for from inside a reading: the values of the last one */
    VRS_STATE_UNKNOWN
};
VRS_API const char *vrs_state_name(enum vrs_state state);

struct vrs_meter;

struct vrs_meter_options {
    size_t size;
    uint32_t slots; /* open at a time on one device: 4,096 */
    uint32_t names; /* distinct ones: 65,536 */
    /* Called around a wait for another thread's reading, if there is one: gives away what that
     * thread may need to end it, and takes it back. */
    void *(*wait_begin)(void *arg);
    void (*wait_end)(void *arg, void *begun);
    void *wait_arg;
    /* The library that the driver is asked by, which lives as long as the meter; NULL:
     * libnvidia-ml.so.1.  It is loaded by the first question. */
    const char *driver;
};

VRS_API enum vrs_status vrs_meter_make(const struct vrs_meter_options *options,
                                       struct vrs_meter **ret, struct vrs_error *err);
VRS_API void vrs_meter_free(struct vrs_meter *meter);

/* In the child, by the thread that called fork: locks are made anew, open slots stay. */
VRS_API void vrs_meter_after_fork(struct vrs_meter *meter);

/* Registers a backend, whose struct is copied; numbers begin at 1 and are not given twice.  What
 * `arg` points to lives until it is retired, or the meter freed. */
VRS_API enum vrs_status vrs_meter_backend(struct vrs_meter *meter,
                                          const struct vrs_backend *backend, uint32_t *ret_id,
                                          struct vrs_error *err);
/* From then on nothing is known of its devices.  No call is in it when this returns. */
VRS_API void vrs_meter_retire(struct vrs_meter *meter, uint32_t id);

/* How often the meter could not do what it was asked for. */
struct vrs_meter_losses {
    uint64_t slots;    /* not opened: too many */
    uint64_t readings; /* that failed */
    uint64_t waits;    /* for another's reading, given up after a second */
    uint64_t nested;   /* readings asked for inside a reading of the same thread */
    uint64_t resets;   /* of the peak, by somebody else */
    uint64_t names;    /* that are told as "(other)" */
};
VRS_API void vrs_meter_losses(struct vrs_meter *meter, struct vrs_meter_losses *ret);

/* A place in the ledger of a device.  Zero is none; closing it says unknown. */
struct vrs_slot {
    uint32_t backend, device;
    uint32_t place, turn; /* where it stands, plus 1, and which of those that stood there */
};

enum vrs_slot_flags {
    VRS_KEEP_PEAK = 1, /* no reset of the device's peak while this slot is open */
    /* While this slot is open, there is another reading after each reset, and who is open is marked
     * as raced where it cannot say that nothing was missed. */
    VRS_STRICT = 2,
    VRS_FROM_RESET = 4, /* as if it had been opened when the peaks were last reset, by whomever */
    VRS_NO_RESET = 8    /* no reset of the device's peak for the sake of this slot */
};

/* What happened between two readings. */
struct vrs_peaks {
    struct vrs_stats now;         /* at the end */
    uint64_t start[VRS_CURVES];   /* bytes */
    uint64_t peak[VRS_CURVES];    /* bytes: the highest value; a lower bound but where exact */
    uint64_t at_most[VRS_CURVES]; /* bytes: the highest it can have been; VRS_UNKNOWN: no bound */
    /* Gross, of all threads; VRS_UNKNOWN where somebody reset the counters. */
    uint64_t allocated_bytes, freed_bytes, allocations, frees;
    enum vrs_state state;
};

/* Makes one reading and opens a slot with it.  Never fails: where there is no room or no reading
 * the slot says unknown when it is closed. */
VRS_API void vrs_slot_open(struct vrs_meter *meter, uint32_t backend, uint32_t device,
                           uint32_t flags, struct vrs_slot *ret);
/* Closes the slot and opens it again with one reading.  Where nothing could be read it says
 * unknown, and the interval goes on; a slot that is not open becomes zero. */
VRS_API void vrs_slot_mark(struct vrs_meter *meter, struct vrs_slot *slot, struct vrs_peaks *ret);
/* `ret` may be NULL: then nothing is read. */
VRS_API void vrs_slot_close(struct vrs_meter *meter, struct vrs_slot *slot, struct vrs_peaks *ret);
VRS_API uint32_t vrs_slots_open(struct vrs_meter *meter, uint32_t backend, uint32_t device);

/* One reading that opens nothing.  `wait` false: returns VRS_NESTED at once, with nothing written,
 * where another thread reads. */
VRS_API enum vrs_state vrs_meter_read(struct vrs_meter *meter, uint32_t backend, uint32_t device,
                                      bool wait, struct vrs_stats *ret);

/* A whole device, all processes together, as a backend tells it; VRS_UNKNOWN where not known. */
struct vrs_device_memory {
    uint64_t used, free, total; /* bytes */
};
VRS_API void vrs_device_memory(const struct vrs_backend *backend, uint32_t device,
                               struct vrs_device_memory *ret);

/* What the driver says of a device.  Bytes are VRS_UNKNOWN where not known. */
struct vrs_driver_figures {
    uint64_t used, total; /* bytes, of all processes together */
    double utilisation;   /* percent of the time; negative: not known */
    uint64_t processes;   /* that compute on it; VRS_UNKNOWN */
    uint64_t own;         /* bytes of this process */
    char why[160];        /* why something is not known; empty: all is */
};
/* The device is named by its UUID or PCI address (vrs_backend.driver_id). */
VRS_API void vrs_driver(struct vrs_meter *meter, const char *id, struct vrs_driver_figures *ret);

/* The id of a name, any bytes; equal ones have one id.  0 is the empty name, 1 is "(other)", which
 * all are that find no more room.  The text lives as long as the meter. */
VRS_API uint32_t vrs_name(struct vrs_meter *meter, const char *bytes, size_t len);
VRS_API const char *vrs_name_text(struct vrs_meter *meter, uint32_t name, size_t *ret_len);
/* The path of a name inside another path (0: outermost), and its parts again. */
VRS_API uint32_t vrs_path(struct vrs_meter *meter, uint32_t parent, uint32_t name);
VRS_API void vrs_path_parts(struct vrs_meter *meter, uint32_t path, uint32_t *ret_parent,
                            uint32_t *ret_name);

/* A ring buffer of rows of `row_bytes`: the last `capacity` are kept (a power of two from 2^10 to
 * 2^24), numbers count from 0. */
struct vrs_ring;
VRS_API enum vrs_status vrs_ring_make(struct vrs_meter *meter, uint32_t row_bytes,
                                      uint32_t capacity, struct vrs_ring **ret,
                                      struct vrs_error *err);
VRS_API void vrs_ring_free(struct vrs_ring *ring);
/* The number of the row; UINT64_MAX: no memory, and the row is counted as lost. */
VRS_API uint64_t vrs_ring_add(struct vrs_ring *ring, const void *row);
/* Copies at most `most` rows from number `from` on; those that are gone are passed over. */
VRS_API uint32_t vrs_ring_copy(struct vrs_ring *ring, uint64_t from, uint32_t most, void *ret,
                               uint64_t *ret_first);
VRS_API void vrs_ring_clear(struct vrs_ring *ring);
struct vrs_ring_counts {
    uint64_t first, next; /* numbers: of the first row that is kept, and of the one to come */
    uint64_t lost;        /* overwritten or refused, since it was made or cleared */
};
VRS_API void vrs_ring_count(struct vrs_ring *ring, struct vrs_ring_counts *ret);

/* Records and intervals of one user, with totals by path, which the rings do not bound. */
struct vrs_profiler;

struct vrs_profiler_options {
    size_t size;
    uint32_t backend;
    uint32_t flags;    /* enum vrs_slot_flags */
    uint32_t capacity; /* of each ring: 65,536 */
    bool no_stats;     /* records have a time alone */
    bool host;         /* also memory of the process */
};

VRS_API enum vrs_status vrs_profiler_make(struct vrs_meter *meter,
                                          const struct vrs_profiler_options *options,
                                          struct vrs_profiler **ret, struct vrs_error *err);
/* Closes its slots without a reading. */
VRS_API void vrs_profiler_free(struct vrs_profiler *profiler);
/* Asks another backend from now on; times go on, intervals under way end unknown. */
VRS_API void vrs_profiler_backend(struct vrs_profiler *profiler, uint32_t backend);
/* Begins the interval that the first record of the device ends; where it is not called, that
 * record begins it. */
VRS_API void vrs_profiler_watch(struct vrs_profiler *profiler, uint32_t device);
/* Forgets records, intervals, totals and peaks. */
VRS_API void vrs_profiler_reset(struct vrs_profiler *profiler);

/* What a record tells of a tensor, and besides; names by vrs_name, 0: none. */
struct vrs_detail {
    uint64_t tensor_bytes, storage_bytes; /* VRS_UNKNOWN */
    uint32_t shape, dtype, info, stack;
};

/* A moment, and the interval since the record before it of the same profiler and device. */
struct vrs_record {
    uint64_t index;
    uint64_t t_ns;            /* since the profiler was made */
    uint64_t now[VRS_CURVES]; /* bytes */
    uint64_t inactive_split, retries, ooms;
    uint64_t interval_peak, interval_at_most, interval_reserved_peak; /* bytes */
    uint64_t peak;          /* bytes allocated, since the profiler was made or reset */
    int64_t delta;          /* bytes allocated; INT64_MIN: not known */
    uint64_t rss, rss_peak; /* bytes of the process */
    struct vrs_detail detail;
    uint32_t path, device;
    enum vrs_state state;
};

/* One reading, one record; `detail` may be NULL.  The record is lost, and counted, where there is
 * no memory for it, and is written to `ret` all the same. */
VRS_API void vrs_checkpoint(struct vrs_profiler *profiler, uint32_t device, uint32_t path,
                            const struct vrs_detail *detail, struct vrs_record *ret);

/* An interval that is under way. */
struct vrs_scope {
    struct vrs_slot slot;
    uint64_t began_ns;
    struct vrs_detail detail; /* none; set by the caller before the scope is closed */
    uint64_t born, died;      /* tensors, VRS_UNKNOWN; likewise */
    uint32_t path, device;
};

struct vrs_scope_result {
    uint64_t index;
    uint64_t t_ns;        /* of its begin, since the profiler was made */
    uint64_t duration_ns; /* of the backend's clock */
    uint64_t device_ns;   /* VRS_UNKNOWN: not measured */
    uint64_t start[VRS_CURVES], end[VRS_CURVES], peak[VRS_CURVES], at_most[VRS_CURVES]; /* bytes */
    uint64_t allocated_bytes, freed_bytes, allocations, frees; /* gross, of all threads */
    uint64_t born, died; /* tensors that its end has and its begin had not, and the reverse */
    struct vrs_detail detail;
    uint32_t path, device;
    uint32_t raised; /* name of the type of an exception that ended it; 0: none */
    enum vrs_state state;
};

VRS_API void vrs_scope_open(struct vrs_profiler *profiler, uint32_t device, uint32_t path,
                            struct vrs_scope *ret);
VRS_API void vrs_scope_close(struct vrs_profiler *profiler, struct vrs_scope *scope,
                             uint32_t raised, uint64_t device_ns, struct vrs_scope_result *ret);
/* What the device's time of an interval was, where that is known only after its end: `result` is
 * as vrs_scope_close told it, and is told the time, as is the row that is kept of it.  False: that
 * row is gone. */
VRS_API bool vrs_scope_timed(struct vrs_profiler *profiler, struct vrs_scope_result *result,
                             uint64_t device_ns);
/* Without a result: it was never left. */
VRS_API void vrs_scope_drop(struct vrs_profiler *profiler, struct vrs_scope *scope);

/* How many events a recording of steps will have, and how large its file will be; each VRS_UNKNOWN
 * where that is not known. */
struct vrs_expected {
    uint64_t events;                  /* that are kept */
    uint64_t least_bytes, most_bytes; /* of the file */
    uint64_t steps_that_fit;          /* whose events are kept; VRS_UNKNOWN: any number */
};
/* The events of a step that allocated and freed so often: VRS_UNKNOWN where one is not known. */
VRS_API uint64_t vrs_step_events(uint64_t allocations, uint64_t frees);
VRS_API void vrs_expect_recording(uint64_t step_events, uint64_t steps, uint64_t most_events,
                                  struct vrs_expected *ret);

/* As vrs_ring_copy and vrs_ring_count. */
VRS_API uint32_t vrs_records(struct vrs_profiler *profiler, uint64_t from, uint32_t most,
                             struct vrs_record *ret, uint64_t *ret_first);
VRS_API uint32_t vrs_scopes(struct vrs_profiler *profiler, uint64_t from, uint32_t most,
                            struct vrs_scope_result *ret, uint64_t *ret_first);
struct vrs_profiler_losses {
    struct vrs_ring_counts records, scopes;
    uint64_t dropped;   /* scopes that were never left */
    uint64_t totals;    /* intervals that are in no total: no memory */
    uint64_t unwatched; /* records without peaks: no memory to watch their device */
};
/* What was measured, by path: rows of intervals with their number, times, peaks and growth. */
VRS_API enum vrs_status vrs_profiler_summary(struct vrs_profiler *profiler, struct vrs_result **ret,
                                             struct vrs_error *err);
VRS_API void vrs_profiler_losses(struct vrs_profiler *profiler, struct vrs_profiler_losses *ret);

/* One sample of a device.  A member that is not known is VRS_UNKNOWN; utilisation then is
 * negative. */
struct vrs_sample {
    uint64_t index;
    uint64_t t_ns; /* since the sampler was made, of the backend's clock where it has one */
    /* Since 1970; where the clock is the backend's: of the sampler's making, plus t_ns. */
    uint64_t unix_us;
    uint64_t now[VRS_CURVES], inactive_split, retries, ooms;   /* bytes; counts */
    uint64_t allocated_bytes, freed_bytes, allocations, frees; /* gross, as in vrs_stats */
    uint64_t peak;                      /* bytes allocated at most since the sample before it */
    uint64_t age_ns;                    /* how old the curves are */
    uint64_t device_used, device_total; /* bytes, of all processes together, as the driver says */
    double utilisation;                 /* percent, 0 to 100 */
    uint64_t rss;                       /* bytes of the process */
    uint32_t device;
    enum vrs_state state; /* of the peak; VRS_STATE_UNKNOWN too where no curve is known */
};

/* A millisecond, and an hour. */
#define VRS_INTERVAL_LEAST_NS ((uint64_t)1000 * 1000)
#define VRS_INTERVAL_MOST_NS ((uint64_t)3600 * 1000 * 1000 * 1000)

struct vrs_sampler_options {
    size_t size;
    uint32_t backend, device;
    uint64_t interval_ns; /* VRS_INTERVAL_LEAST_NS to VRS_INTERVAL_MOST_NS */
    uint32_t capacity;    /* of the ring: 65,536 */
    /* Called on the thread that took the sample, after it stands in the ring.  Calls no function of
     * the sampler, and waits for nobody who does. */
    void (*sampled)(void *arg, const struct vrs_sample *sample);
    /* Called on the sampling thread alone, after each sample, when nobody waits for it. */
    void (*rested)(void *arg);
    void *arg;
    /* Peaks of the device may be reset for the sake of the samples' peaks, which are lower bounds
     * without: most of them where the memory goes up and down below a peak that was before. */
    bool reset_peaks;
};

enum vrs_sampler_state {
    VRS_SAMPLER_STOPPED,
    VRS_SAMPLER_RUNNING,
    VRS_SAMPLER_FORKED /* the thread is in the parent of this process */
};
VRS_API const char *vrs_sampler_state_name(enum vrs_sampler_state state);

struct vrs_sampler_counts {
    struct vrs_ring_counts rows;
    uint64_t skipped; /* slots of the time table that went by without a sample */
    uint64_t busy;    /* samples that another thread's reading kept from one of their own */
    enum vrs_sampler_state state;
    /* Why what the driver says is not known; empty: it is, or nobody asked. */
    char driver[160];
};

/* A thread that reads one device again and again, by a backend of which any thread may call the
 * functions; of another backend it takes what whoever read the device last has found, and where
 * that is old it asks for a reading (vrs_sampler_wait).  The thread takes no signals.
 *
 * A sampler is made and freed by threads that may call the backend, and freed before the backend is
 * retired. */
struct vrs_sampler;
VRS_API enum vrs_status vrs_sampler_make(struct vrs_meter *meter,
                                         const struct vrs_sampler_options *options,
                                         struct vrs_sampler **ret, struct vrs_error *err);
/* The first sample is taken at once, the others by the time table that it begins.  A second start
 * is ignored; in a child of fork the first one there is not a second one.  The backend is not
 * called: vrs_sampler_read before a start gives the first sample figures of then. */
VRS_API enum vrs_status vrs_sampler_start(struct vrs_sampler *sampler, struct vrs_error *err);
/* Waits for the end of the thread.  It may be started again. */
VRS_API void vrs_sampler_stop(struct vrs_sampler *sampler);
/* One sample on the caller's thread. */
VRS_API void vrs_sampler_now(struct vrs_sampler *sampler);
/* As vrs_ring_copy. */
VRS_API uint32_t vrs_sampler_copy(struct vrs_sampler *sampler, uint64_t from, uint32_t most,
                                  struct vrs_sample *ret, uint64_t *ret_first);
/* Forgets all samples, and what was counted; numbers go on. */
VRS_API void vrs_sampler_clear(struct vrs_sampler *sampler);
VRS_API void vrs_sampler_count(struct vrs_sampler *sampler, struct vrs_sampler_counts *ret);
/* Whether somebody has to wait and read, because the sampling thread may not. */
VRS_API bool vrs_sampler_needs_reader(const struct vrs_sampler *sampler);
/* Waits until a reading is wanted, at most 20 times a second.  False: the sampler runs no more. */
VRS_API bool vrs_sampler_wait(struct vrs_sampler *sampler);
/* Reads the device for the samples to come, on the caller's thread, which may call the backend. */
VRS_API void vrs_sampler_read(struct vrs_sampler *sampler);
/* Stops it.  NULL is ignored. */
VRS_API void vrs_sampler_free(struct vrs_sampler *sampler);

#ifdef __cplusplus
}
#endif

#endif
