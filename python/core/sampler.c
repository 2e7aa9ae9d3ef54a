/* sampler.c - class Sampler: a thread of the core that reads a device, and its samples.
 *
 * The thread never touches a Python object.  Where the backend is an object of Python, a thread of
 * Python waits beside it and reads when it is asked to; it holds the inner object, so that the
 * outer one, which ends both threads, can go when the program forgets it. */
#include "core.h"
#include "meter.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramscope/profiler.h"

enum { COPIED_AT_ONCE = 64, CAPACITY_MOST = 1 << 24 };

/* The sampler of the core, and what keeps its backend alive. */
struct reading {
    PyObject_HEAD struct vrs_sampler *sampler;
    PyObject *backend; /* of the class Backend */
};

struct sampler_object {
    PyObject_HEAD struct core_state *state;
    struct reading *reading;
    PyObject *thread;                       /* that reads; or NULL */
    struct sampler_object *before, *behind; /* of those that run */
    bool listed;
};

/* The inner object. */

PyObject *sampler_serve(struct vrs_sampler *sampler)
{
    for (;;) {
        PyThreadState *saved = PyEval_SaveThread();
        bool wanted = vrs_sampler_wait(sampler);
        PyEval_RestoreThread(saved);
        if (!wanted)
            break;
        vrs_sampler_read(sampler);
    }
    Py_RETURN_NONE;
}

static PyObject *serve(PyObject *self, PyObject *unused)
{
    (void)unused;
    return sampler_serve(((struct reading *)self)->sampler);
}

static int reading_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct reading *)self)->backend);
    return 0;
}

static void reading_dealloc(PyObject *self)
{
    struct reading *r = (struct reading *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    vrs_sampler_free(r->sampler);
    Py_XDECREF(r->backend);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef reading_methods[] = {
    { "serve", serve, METH_NOARGS, "Reads the device whenever the sampling thread asks for it." },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot reading_slots[] = {
    { Py_tp_dealloc, SLOT(reading_dealloc) },
    { Py_tp_traverse, SLOT(reading_traverse) },
    { Py_tp_methods, reading_methods },
    { Py_tp_doc, SLOT("What a Sampler and its reader share.") },
    { 0, NULL },
};

PyType_Spec reading_spec = {
    .name = "vramscope._core._Reading",
    .basicsize = sizeof(struct reading),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = reading_slots,
};

/* Making. */

bool interval_of(PyObject *seconds, uint64_t *ret)
{
    const double least = (double)VRS_INTERVAL_LEAST_NS, most = (double)VRS_INTERVAL_MOST_NS;
    double ns = PyFloat_AsDouble(seconds) * 1e9;
    if (PyErr_Occurred() != NULL)
        return false;
    if (isnan(ns) || ns < least || ns > most) {
        PyErr_Format(PyExc_ValueError, "an interval is 0.001 to 3600 seconds, not %R", seconds);
        return false;
    }
    *ret = (uint64_t)(ns + 0.5);
    return true;
}

/* Takes the backend over; NULL with an exception set. */
static struct reading *reading_make(struct core_state *state, PyObject *backend,
                                    const struct vrs_sampler_options *options)
{
    struct vrs_error err;
    struct reading *r = PyObject_GC_New(struct reading, state->reading);
    if (r == NULL) {
        Py_DECREF(backend);
        return NULL;
    }
    r->sampler = NULL;
    r->backend = backend;
    PyObject_GC_Track((PyObject *)r);
    if (vrs_sampler_make(process_meter(), options, &r->sampler, &err) == VRS_OK)
        return r;
    Py_DECREF(r);
    raise_error(state, &err, NULL);
    return NULL;
}

static PyObject *sampler_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "backend",  "device",      "interval",
                                         "capacity", "reset_peaks", NULL };
    PyObject *backend = Py_None, *device = Py_None, *interval = NULL;
    int capacity = 65536, reset_peaks = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOip:Sampler", (char **)SLOT(names),
                                     &backend, &device, &interval, &capacity, &reset_peaks))
        return NULL;
    struct core_state *state = core_state_of_type(type);
    struct vrs_sampler_options options = { .size = sizeof options,
                                           .interval_ns = 100000000,
                                           .reset_peaks = reset_peaks != 0 };
    if (state == NULL || process_meter() == NULL ||
        (interval != NULL && !interval_of(interval, &options.interval_ns)))
        return NULL;
    if (capacity < 1 || capacity > CAPACITY_MOST)
        return PyErr_Format(PyExc_ValueError, "a capacity is 1 to %d samples, not %d",
                            CAPACITY_MOST, capacity);
    options.capacity = (uint32_t)capacity;
    backend = backend_given(state, backend);
    if (backend == NULL || !backend_device(state, backend, device, &options.device)) {
        Py_XDECREF(backend);
        return NULL;
    }
    options.backend = backend_id(backend);
    struct reading *reading = reading_make(state, backend, &options);
    struct sampler_object *s =
        reading == NULL ? NULL : PyObject_GC_New(struct sampler_object, type);
    if (s == NULL) {
        Py_XDECREF((PyObject *)reading);
        return NULL;
    }
    s->state = state;
    s->reading = reading;
    s->thread = NULL;
    s->before = s->behind = NULL;
    s->listed = false;
    PyObject_GC_Track((PyObject *)s);
    return (PyObject *)s;
}

/* Those that run, which end with the interpreter. */

static void list_leave(struct sampler_object *s)
{
    if (!s->listed)
        return;
    if (s->behind != NULL)
        s->behind->before = s->before;
    if (s->before != NULL)
        s->before->behind = s->behind;
    else
        s->state->samplers = s->behind;
    s->listed = false;
}

static void list_join(struct sampler_object *s)
{
    if (s->listed)
        return;
    s->before = NULL;
    s->behind = s->state->samplers;
    if (s->behind != NULL)
        s->behind->before = s;
    s->state->samplers = s;
    s->listed = true;
}

/* False with an exception set. */
static bool end_at_exit(struct core_state *state)
{
    if (state->samplers_end)
        return true;
    PyObject *core = PyImport_ImportModule("vramscope._core");
    PyObject *end = core == NULL ? NULL : PyObject_GetAttrString(core, "_stop_samplers");
    PyObject *module = end == NULL ? NULL : PyImport_ImportModule("atexit");
    PyObject *done = module == NULL ? NULL : PyObject_CallMethod(module, "register", "O", end);
    state->samplers_end = done != NULL;
    Py_XDECREF(done);
    Py_XDECREF(module);
    Py_XDECREF(end);
    Py_XDECREF(core);
    return state->samplers_end;
}

/* Methods. */

static bool is_running(const struct sampler_object *s)
{
    struct vrs_sampler_counts counts;
    vrs_sampler_count(s->reading->sampler, &counts);
    return counts.state == VRS_SAMPLER_RUNNING;
}

/* A daemon thread for reading->serve(); NULL with an exception set. */
static PyObject *reader_start(struct reading *reading)
{
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *class = threading == NULL ? NULL : PyObject_GetAttrString(threading, "Thread");
    PyObject *target = class == NULL ? NULL : PyObject_GetAttrString((PyObject *)reading, "serve");
    PyObject *args = target == NULL ? NULL : Py_BuildValue("()");
    PyObject *kwargs = args == NULL ? NULL
                                    : Py_BuildValue("{sOsssO}", "target", target, "name",
                                                    "vramscope-reader", "daemon", Py_True);
    PyObject *thread = kwargs == NULL ? NULL : PyObject_Call(class, args, kwargs);
    PyObject *done = thread == NULL ? NULL : PyObject_CallMethod(thread, "start", NULL);
    if (done == NULL)
        Py_CLEAR(thread);
    Py_XDECREF(done);
    Py_XDECREF(kwargs);
    Py_XDECREF(args);
    Py_XDECREF(target);
    Py_XDECREF(class);
    Py_XDECREF(threading);
    return thread;
}

/* Ends both threads; an exception that is set stays.  Of the reader it is enough that it was told,
 * where it is busy with the device. */
static void end_threads(struct sampler_object *s)
{
    PyObject *type, *value, *trace, *thread = s->thread;
    s->thread = NULL;
    list_leave(s);
    PyErr_Fetch(&type, &value, &trace);
    PyThreadState *saved = PyEval_SaveThread();
    vrs_sampler_stop(s->reading->sampler);
    PyEval_RestoreThread(saved);
    if (thread != NULL) {
        PyObject *done = PyObject_CallMethod(thread, "join", "d", 1.0);
        if (done == NULL)
            exception_drop();
        Py_XDECREF(done);
        Py_DECREF(thread);
    }
    PyErr_Restore(type, value, trace);
}

static PyObject *start(PyObject *self, PyObject *unused)
{
    struct sampler_object *s = (struct sampler_object *)self;
    struct vrs_error err;
    (void)unused;
    if (is_running(s))
        Py_RETURN_NONE;
    if (!end_at_exit(s->state))
        return NULL;
    if (!vrs_sampler_needs_reader(s->reading->sampler)) /* which reads by itself */
        vrs_sampler_read(s->reading->sampler);
    if (vrs_sampler_start(s->reading->sampler, &err) != VRS_OK)
        return raise_error(s->state, &err, NULL);
    list_join(s);
    if (!vrs_sampler_needs_reader(s->reading->sampler))
        Py_RETURN_NONE;
    PyObject *before = s->thread; /* of before a fork */
    s->thread = reader_start(s->reading);
    Py_XDECREF(before);
    if (s->thread != NULL)
        Py_RETURN_NONE;
    end_threads(s);
    return NULL;
}

static PyObject *stop(PyObject *self, PyObject *unused)
{
    (void)unused;
    end_threads((struct sampler_object *)self);
    Py_RETURN_NONE;
}

PyObject *samplers_stop(PyObject *module, PyObject *unused)
{
    struct core_state *state = core_state_of(module);
    (void)unused;
    while (state->samplers != NULL) {
        PyObject *s = Py_NewRef((PyObject *)state->samplers);
        end_threads((struct sampler_object *)s);
        Py_DECREF(s);
    }
    Py_RETURN_NONE;
}

static PyObject *now(PyObject *self, PyObject *unused)
{
    struct vrs_sampler *sampler = ((struct sampler_object *)self)->reading->sampler;
    (void)unused;
    if (vrs_sampler_needs_reader(sampler))
        vrs_sampler_read(sampler);
    PyThreadState *saved = PyEval_SaveThread();
    vrs_sampler_now(sampler);
    PyEval_RestoreThread(saved);
    Py_RETURN_NONE;
}

/* sampler.samples(first=0) */
static PyObject *samples(PyObject *self, PyObject *args)
{
    struct sampler_object *s = (struct sampler_object *)self;
    struct vrs_sample row[COPIED_AT_ONCE];
    unsigned long long from = 0;
    uint64_t first;
    uint32_t got;
    if (!PyArg_ParseTuple(args, "|K:samples", &from))
        return NULL;
    PyObject *list = PyList_New(0);
    while (list != NULL &&
           (got = vrs_sampler_copy(s->reading->sampler, from, COPIED_AT_ONCE, row, &first)) != 0) {
        for (uint32_t i = 0; list != NULL && i < got; i++) {
            PyObject *view = sample_view(s->state, &row[i]);
            if (view == NULL || PyList_Append(list, view) != 0)
                Py_CLEAR(list);
            Py_XDECREF(view);
        }
        from = first + got;
    }
    return list;
}

static PyObject *table(PyObject *self, PyObject *unused)
{
    struct sampler_object *s = (struct sampler_object *)self;
    (void)unused;
    return samples_of(s->state, s->reading->sampler);
}

static PyObject *clear(PyObject *self, PyObject *unused)
{
    (void)unused;
    vrs_sampler_clear(((struct sampler_object *)self)->reading->sampler);
    Py_RETURN_NONE;
}

static PyObject *counts(PyObject *self, PyObject *unused)
{
    struct vrs_sampler_counts c;
    (void)unused;
    vrs_sampler_count(((struct sampler_object *)self)->reading->sampler, &c);
    return Py_BuildValue("{sKsKsKsKsKsssz}", "first", (unsigned long long)c.rows.first, "next",
                         (unsigned long long)c.rows.next, "lost", (unsigned long long)c.rows.lost,
                         "skipped", (unsigned long long)c.skipped, "busy",
                         (unsigned long long)c.busy, "state", vrs_sampler_state_name(c.state),
                         "driver", c.driver[0] != '\0' ? c.driver : NULL);
}

static PyObject *get_running(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(is_running((struct sampler_object *)self));
}

static int sampler_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct sampler_object *s = (struct sampler_object *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(s->reading);
    Py_VISIT(s->thread);
    return 0;
}

static void sampler_dealloc(PyObject *self)
{
    struct sampler_object *s = (struct sampler_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    list_leave(s);
    /* The thread is joined with the GIL, for which it never waits; the reader ends by itself. */
    vrs_sampler_stop(s->reading->sampler);
    Py_XDECREF(s->thread);
    Py_DECREF(s->reading);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyGetSetDef members[] = {
    { "running", get_running, NULL, "Whether the sampling thread runs.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef methods[] = {
    { "start", start, METH_NOARGS,
      "start($self, /)\n--\n\nBegins to sample; ignored where it does already." },
    { "stop", stop, METH_NOARGS,
      "stop($self, /)\n--\n\nEnds the sampling thread, and waits for its end." },
    { "now", now, METH_NOARGS, "now($self, /)\n--\n\nTakes one sample on the caller's thread." },
    { "samples", samples, METH_VARARGS,
      "samples($self, first=0, /)\n--\n\nThe samples that are kept, from that number on: a list of "
      "Sample." },
    { "table", table, METH_NOARGS, "table($self, /)\n--\n\nAll that are kept, as Samples." },
    { "clear", clear, METH_NOARGS,
      "clear($self, /)\n--\n\nForgets all samples, and what was counted; numbers go on." },
    { "counts", counts, METH_NOARGS,
      "counts($self, /)\n--\n\nA dict: `first` and `next`, numbers of the first sample that is "
      "kept and of the one to come; `lost`, overwritten ones; `skipped`, times that went by "
      "without a sample; `busy`, samples without a reading of their own because another thread was "
      "reading; `state`, \"running\", \"stopped\" or \"stopped by fork\"; `driver`, why its "
      "figures are not known, or None." },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, SLOT(sampler_new) },
    { Py_tp_dealloc, SLOT(sampler_dealloc) },
    { Py_tp_traverse, SLOT(sampler_traverse) },
    { Py_tp_getset, members },
    { Py_tp_methods, methods },
    { Py_tp_doc,
      SLOT("Sampler(*, backend=None, device=None, interval=0.1, capacity=65536, "
           "reset_peaks=False)\n--\n\n"
           "A thread outside the interpreter that reads a device each `interval` seconds, 0.001 to "
           "3600, and keeps the last `capacity` samples.\n\n"
           "Peaks between samples come from the device's counters, which `reset_peaks` allows to "
           "be reset for it; else they are lower bounds at times.") },
    { 0, NULL },
};

PyType_Spec sampler_spec = {
    .name = "vramscope._core.Sampler",
    .basicsize = sizeof(struct sampler_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
