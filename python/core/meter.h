/* meter.h - what the measuring half of the extension shares: the process's meter, backends, and
 * the views of records. */
#ifndef VRAMSCOPE_PYTHON_METER_H
#define VRAMSCOPE_PYTHON_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "core.h"
#include "vramscope/profiler.h"

/* A method whose arguments come as an array, in tables of methods. */
#define FAST(function) ((PyCFunction)(void (*)(void))(function))

/* meter.c: the one meter of the process, because peak counters belong to the process and not to a
 * module or an interpreter; NULL with an exception set where there is no memory for it. */
struct vrs_meter *process_meter(void);

/* The id of a name, cut at 4,096 bytes; any str, lone surrogates too.  False with an exception. */
bool name_id(PyObject *name, uint32_t *ret);
/* The path of a name inside another path, remembered by the identity of the str. */
bool path_id(struct core_state *state, uint32_t parent, PyObject *name, uint32_t *ret);
PyObject *name_str(uint32_t name); /* None for none */
PyObject *path_tuple(uint32_t path);
uint32_t path_name(uint32_t path);
PyObject *bytes_or_none(uint64_t bytes);
PyObject *difference_or_none(uint64_t a, uint64_t b); /* a - b */

/* An exception of a hook of ours must not reach the program: it is taken back, and Ctrl-C is told
 * to the interpreter again. */
void exception_drop(void);

/* backend.c */
extern PyType_Spec backend_spec;
/* The keys of torch's statistics, into the state.  False with an exception. */
bool backend_keys(struct core_state *state);
/* A backend of the core with what keeps its `arg` alive. */
PyObject *backend_make(struct core_state *state, const struct vrs_backend *face, PyObject *owner);
uint32_t backend_id(PyObject *backend);
const struct vrs_backend *backend_face(PyObject *backend);
/* What tells a moment of the device that comes after what it was given: object.event(device), a new
 * reference; NULL: there is none.  False: the object failed, and its exception was dropped. */
bool backend_event(PyObject *backend, uint32_t device, PyObject **ret);
PyObject *backend_changed(PyObject *module, PyObject *resolve);
/* Whether torch is there, and its import is over. */
bool torch_is_imported(const struct core_state *state);
/* What "auto" means now, a new reference; NULL with an exception. */
PyObject *backend_auto(struct core_state *state);
/* The Backend that is given, or for None what "auto" means now; likewise. */
PyObject *backend_given(struct core_state *state, PyObject *backend);
/* The number of a device: an int, or the current one for None.  False with an exception. */
bool backend_device(struct core_state *state, PyObject *backend, PyObject *device, uint32_t *ret);

/* view.c: Record, ScopeResult and Sample. */
extern PyType_Spec record_spec, scope_result_spec, sample_spec;
/* The row is filled by the caller, where it stands. */
PyObject *record_view(struct core_state *state, double made, struct vrs_record **ret);
PyObject *scope_view(struct core_state *state, const struct vrs_scope_result *r, double made);
PyObject *sample_view(struct core_state *state, const struct vrs_sample *r);
void view_prepare(void); /* before the classes are made */
PyObject *view_rebuild(PyObject *module, PyObject *args);

const char *sample_member_name(uint32_t i); /* NULL behind the last one */
PyObject *sample_member(const struct vrs_sample *r, uint32_t i);
const struct vrs_sample *sample_row(PyObject *view); /* of an object of class Sample */

/* samples.c: an immutable sequence of samples. */
extern PyType_Spec samples_spec;
/* Of all that a sampler keeps, or of none. */
PyObject *samples_of(struct core_state *state, struct vrs_sampler *sampler);
PyObject *samples_rebuild(PyObject *module, PyObject *list);

/* sampler.c */
extern PyType_Spec sampler_spec, reading_spec;
/* Seconds of an interval in nanoseconds; false with an exception set. */
bool interval_of(PyObject *seconds, uint64_t *ret);
/* What the thread vramscope-reader does: reads whenever that is asked for, until the sampler
 * ends. */
PyObject *sampler_serve(struct vrs_sampler *sampler);
/* At exit: ends the threads of all that run. */
PyObject *samplers_stop(PyObject *module, PyObject *unused);

/* tracker.c */
extern PyType_Spec tracker_spec;
/* _event_kinds(): the kinds of events, by their numbers. */
PyObject *tracker_kinds(PyObject *module, PyObject *unused);

/* device_time.c: results of scopes that the device has not come to the end of yet. */
struct timing;
struct timings {
    struct timing *first, *last;
    uint32_t count;
    uint64_t lost; /* given up: too many were pending */
};
struct profiler_object;
/* Takes the two events over, whatever comes.  Leave it afterwards; NULL: no memory, and counted. */
struct timing *timing_add(struct profiler_object *p, PyObject *begin, PyObject *end,
                          const struct vrs_scope_result *row);
void timing_leave(struct timing *t); /* NULL is ignored */
/* Asks whether the device has come to the end, without waiting for it: false while it has not.  The
 * row has the time then, or never will. */
bool timing_told(struct profiler_object *p, struct timing *t, struct vrs_scope_result *ret);
/* Asks all that are pending: the profiler's rows have the times of those that are done. */
void timings_ask(struct profiler_object *p);
int timings_visit(const struct timings *all, visitproc visit, void *arg);
void timings_drop(struct timings *all);

/* profiler.c, scope.c */
extern PyType_Spec profiler_spec, scope_spec, entry_spec;

struct profiler_object {
    PyObject_HEAD struct core_state *state;
    struct vrs_profiler *profiler;
    PyObject *backend; /* of the class Backend */
    PyObject *scope_class;
    PyObject *census;    /* census(backend, device) begins to count tensors; or None */
    uint64_t generation; /* of the state, when an automatic backend was chosen */
    uint64_t failed;     /* hooks of ours that failed */
    struct timings timings;
    uint32_t device;
    uint32_t open; /* scopes */
    int stack;     /* innermost frames that a record keeps */
    double made;   /* seconds since 1970 */
    bool automatic, current_device, enabled, strict, synchronize, closed;
};
/* The device of a call, and the backend that is to be asked now.  False with an exception. */
bool profiler_ready(struct profiler_object *p, uint32_t *ret_device);
/* The innermost open path of the calling context. */
bool innermost_path(struct core_state *state, uint32_t *ret);
/* Profiler.scope() */
PyObject *scope_make(PyObject *profiler, PyObject *const *args, Py_ssize_t count, PyObject *names);
/* Profiler._scope() */
PyObject *scope_make_of(PyObject *profiler, PyObject *const *args, Py_ssize_t count);
void profiler_synchronize(const struct profiler_object *p, uint32_t device);
/* What a record tells of a tensor.  Nothing of it is kept. */
void detail_of(PyObject *tensor, PyObject *info, struct vrs_detail *ret);

#endif
