/* tracker.c - class Tracker of the core: what vramscope.Tracker stands on. */
#include "core.h"
#include "meter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sink.h"
#include "vramscope/profiler.h"
#include "vramscope/tracker.h"

enum { TAKEN_AT_ONCE = 64, TEXT_BYTES = 8192, LINE_BYTES = 256, CAPACITY_MOST = 1 << 24 };

#define WAIT_MOST_SECONDS 1e6

struct tracker_object {
    PyObject_HEAD struct core_state *state;
    struct vrs_tracker *tracker;
    PyObject *backend; /* of the class Backend */
};

static struct vrs_tracker *tracker_of(PyObject *self)
{
    return ((struct tracker_object *)self)->tracker;
}

/* What is known of an event. */

static PyObject *number_or_none(int64_t number)
{
    return number == INT64_MIN ? Py_NewRef(Py_None) : PyLong_FromLongLong(number);
}

static PyObject *event_context(const struct vrs_event *e)
{
    char text[TEXT_BYTES];
    vrs_event_text(process_meter(), e, text, sizeof text);
    if (text[0] == '\0')
        return Py_NewRef(Py_None);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

/* ("name", value) of an alert, or None. */
static PyObject *event_alert(const struct vrs_event *e)
{
    static const char *const names[] = {
        [VRS_ALERT_USAGE] = "usage_percent",
        [VRS_ALERT_GROWTH] = "large_allocation",
        [VRS_ALERT_FRAGMENTATION] = "fragmentation",
    };
    if (e->alert == VRS_ALERT_NONE)
        return Py_NewRef(Py_None);
    return Py_BuildValue("(sd)", names[e->alert], e->value);
}

static uint64_t left_of(const struct vrs_event *e)
{
    bool known = e->device_used != VRS_UNKNOWN && e->device_total != VRS_UNKNOWN &&
                 e->device_used <= e->device_total;
    return known ? e->device_total - e->device_used : VRS_UNKNOWN;
}

/* A tuple in the order of vramscope.tracker.Event; NULL with an exception set. */
static PyObject *event_tuple(const struct vrs_event *e)
{
    PyObject *part[] = {
        PyLong_FromUnsignedLongLong(e->index),
        PyUnicode_InternFromString(vrs_event_kind_name(e->kind)),
        PyLong_FromUnsignedLongLong(e->t_ns),
        PyFloat_FromDouble((double)e->unix_us / 1e6),
        PyLong_FromUnsignedLong(e->device),
        bytes_or_none(e->now[VRS_ALLOCATED]),
        bytes_or_none(e->now[VRS_RESERVED]),
        bytes_or_none(e->now[VRS_ACTIVE]),
        bytes_or_none(e->now[VRS_REQUESTED]),
        bytes_or_none(e->inactive_split),
        bytes_or_none(e->peak),
        number_or_none(e->change),
        bytes_or_none(e->device_used),
        bytes_or_none(left_of(e)),
        bytes_or_none(e->device_total),
        bytes_or_none(e->host.rss),
        bytes_or_none(e->host.mapped),
        bytes_or_none(e->host.used),
        bytes_or_none(e->host.cpu_ns),
        path_tuple(e->phase),
        event_context(e),
        event_alert(e),
        name_str(e->metadata),
    };
    enum { PARTS = sizeof part / sizeof *part };
    PyObject *tuple = PyErr_Occurred() == NULL ? PyTuple_New(PARTS) : NULL;
    for (Py_ssize_t i = 0; i < PARTS; i++) {
        if (tuple == NULL || part[i] == NULL || PyTuple_SetItem(tuple, i, part[i]) != 0) {
            if (tuple == NULL)
                Py_XDECREF(part[i]);
            else if (part[i] == NULL)
                Py_CLEAR(tuple);
        }
    }
    return tuple;
}

static PyObject *event_list(const struct vrs_event *row, uint32_t count)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        PyObject *tuple = event_tuple(&row[i]);
        if (tuple == NULL || PyList_Append(list, tuple) != 0)
            Py_CLEAR(list);
        Py_XDECREF(tuple);
    }
    return list;
}

/* Making one. */

static bool options_of(PyObject *interval, long capacity, struct vrs_tracker_options *ret)
{
    if (!interval_of(interval, &ret->interval_ns))
        return false;
    if (capacity < 1 || capacity > CAPACITY_MOST) {
        PyErr_Format(PyExc_ValueError, "a capacity is 1 to %d events, not %ld", CAPACITY_MOST,
                     capacity);
        return false;
    }
    ret->capacity = (uint32_t)capacity;
    return true;
}

static PyObject *tracker_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "backend", "device",  "interval",     "capacity",
                                         "host",    "process", "samples_only", NULL };
    PyObject *backend, *device, *interval;
    long capacity;
    int host, process, samples_only;
    struct vrs_error err;
    struct core_state *state = core_state_of_type(type);
    struct vrs_tracker_options options = { .size = sizeof options,
                                           .identity = { .rank = -1,
                                                         .local_rank = -1,
                                                         .world_size = -1 } };
    if (state == NULL || process_meter() == NULL ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "$OOOlppp:Tracker", (char **)SLOT(names),
                                     &backend, &device, &interval, &capacity, &host, &process,
                                     &samples_only) ||
        !options_of(interval, capacity, &options))
        return NULL;
    backend = backend_given(state, backend);
    if (backend == NULL || !backend_device(state, backend, device, &options.device)) {
        Py_XDECREF(backend);
        return NULL;
    }
    options.backend = backend_id(backend);
    options.host = host != 0;
    options.process = process != 0;
    options.samples_only = samples_only != 0;
    struct tracker_object *t = PyObject_GC_New(struct tracker_object, type);
    if (t == NULL) {
        Py_DECREF(backend);
        return NULL;
    }
    *t = (struct tracker_object){ t->ob_base, .state = state, .backend = backend };
    PyObject_GC_Track((PyObject *)t);
    if (vrs_tracker_make(process_meter(), &options, &t->tracker, &err) == VRS_OK)
        return (PyObject *)t;
    Py_DECREF((PyObject *)t);
    return raise_error(state, &err, NULL);
}

static int tracker_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct tracker_object *)self)->backend);
    return 0;
}

static void tracker_dealloc(PyObject *self)
{
    struct tracker_object *t = (struct tracker_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    vrs_tracker_free(t->tracker);
    Py_XDECREF(t->backend);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* identify(job, rank, local_rank, world_size, collector, backend, source) */
static PyObject *identify(PyObject *self, PyObject *args)
{
    struct tracker_object *t = (struct tracker_object *)self;
    long long rank, local_rank, world_size;
    struct vrs_identity who;
    struct vrs_error err;
    if (!PyArg_ParseTuple(args, "zLLLzzz:identify", &who.job, &rank, &local_rank, &world_size,
                          &who.collector, &who.backend, &who.source))
        return NULL;
    who.rank = rank;
    who.local_rank = local_rank;
    who.world_size = world_size;
    PyThreadState *saved = PyEval_SaveThread();
    enum vrs_status status = vrs_tracker_identify(t->tracker, &who, &err);
    PyEval_RestoreThread(saved);
    return status == VRS_OK ? Py_NewRef(Py_None) : raise_error(t->state, &err, NULL);
}

/* files(folder, flush_ns=0, roll_bytes=0, keep_files=0, keep_bytes=0, buffer_bytes=0) */
static PyObject *files(PyObject *self, PyObject *args)
{
    struct tracker_object *t = (struct tracker_object *)self;
    PyObject *folder;
    unsigned long long flush = 0, roll = 0, keep_bytes = 0, buffer = 0;
    unsigned keep_files = 0;
    struct vrs_error err;
    if (!PyArg_ParseTuple(args, "O&|KKIKK:files", PyUnicode_FSConverter, &folder, &flush, &roll,
                          &keep_files, &keep_bytes, &buffer))
        return NULL;
    struct vrs_track_files wanted = { .size = sizeof wanted,
                                      .folder = PyBytes_AsString(folder),
                                      .flush_ns = flush,
                                      .roll_bytes = roll,
                                      .keep_files = keep_files,
                                      .keep_bytes = keep_bytes,
                                      .buffer_bytes = buffer };
    PyThreadState *saved = PyEval_SaveThread();
    enum vrs_status status = vrs_tracker_files(t->tracker, &wanted, &err);
    PyEval_RestoreThread(saved);
    Py_DECREF(folder);
    return status == VRS_OK ? Py_NewRef(Py_None) : raise_error(t->state, &err, NULL);
}

/* Running. */

static bool needs_reader(PyObject *self)
{
    return vrs_sampler_needs_reader(vrs_tracker_sampler(tracker_of(self)));
}

/* Before a sample on this thread: a backend of Python is read with the interpreter's lock, which
 * is given away then. */
static PyThreadState *read_then_leave(PyObject *self)
{
    struct vrs_tracker *tracker = tracker_of(self);
    if (needs_reader(self) && vrs_tracker_running(tracker))
        vrs_sampler_read(vrs_tracker_sampler(tracker));
    return PyEval_SaveThread();
}

static PyObject *start(PyObject *self, PyObject *unused)
{
    struct tracker_object *t = (struct tracker_object *)self;
    struct vrs_error err;
    (void)unused;
    vrs_sampler_read(vrs_tracker_sampler(t->tracker));
    PyThreadState *saved = PyEval_SaveThread();
    enum vrs_status status = vrs_tracker_start(t->tracker, &err);
    vrs_tracker_await(t->tracker);
    PyEval_RestoreThread(saved);
    return status == VRS_OK ? Py_NewRef(Py_None) : raise_error(t->state, &err, NULL);
}

/* stop(interrupted, last): with a last sample, or without where no backend may be called. */
static PyObject *stop(PyObject *self, PyObject *args)
{
    struct vrs_tracker *tracker = tracker_of(self);
    int interrupted, last;
    if (!PyArg_ParseTuple(args, "pp:stop", &interrupted, &last))
        return NULL;
    PyThreadState *saved = last ? read_then_leave(self) : PyEval_SaveThread();
    vrs_tracker_halt(tracker);
    if (last)
        vrs_tracker_sample(tracker);
    vrs_tracker_stop(tracker, interrupted != 0);
    PyEval_RestoreThread(saved);
    Py_RETURN_NONE;
}

static PyObject *sample(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyThreadState *saved = read_then_leave(self);
    vrs_tracker_sample(tracker_of(self));
    PyEval_RestoreThread(saved);
    Py_RETURN_NONE;
}

static PyObject *serve(PyObject *self, PyObject *unused)
{
    (void)unused;
    return sampler_serve(vrs_tracker_sampler(tracker_of(self)));
}

/* A name of a str or None.  False with an exception set. */
static bool optional_name(PyObject *text, uint32_t *ret)
{
    *ret = 0;
    return text == Py_None || name_id(text, ret);
}

static PyObject *note(PyObject *self, PyObject *args)
{
    int kind;
    PyObject *text, *metadata;
    uint32_t text_id, metadata_id;
    if (!PyArg_ParseTuple(args, "iOO:note", &kind, &text, &metadata) ||
        !optional_name(text, &text_id) || !optional_name(metadata, &metadata_id))
        return NULL;
    if (kind < 0 || kind >= VRS_EVENT_KINDS)
        return PyErr_Format(PyExc_ValueError, "no kind of event has the number %d", kind);
    PyThreadState *saved = read_then_leave(self);
    vrs_tracker_note(tracker_of(self), (enum vrs_event_kind)kind, text_id, metadata_id);
    PyEval_RestoreThread(saved);
    Py_RETURN_NONE;
}

static PyObject *enter(PyObject *self, PyObject *args)
{
    PyObject *name, *metadata;
    uint32_t id, metadata_id;
    if (!PyArg_ParseTuple(args, "OO:enter", &name, &metadata) || !name_id(name, &id) ||
        !optional_name(metadata, &metadata_id))
        return NULL;
    PyThreadState *saved = read_then_leave(self);
    uint32_t phase = vrs_tracker_enter(tracker_of(self), id, metadata_id);
    PyEval_RestoreThread(saved);
    return PyLong_FromUnsignedLong(phase);
}

static PyObject *leave(PyObject *self, PyObject *phase)
{
    unsigned long number = PyLong_AsUnsignedLong(phase);
    if (PyErr_Occurred() != NULL)
        return NULL;
    PyThreadState *saved = read_then_leave(self);
    vrs_tracker_leave(tracker_of(self), (uint32_t)number);
    PyEval_RestoreThread(saved);
    Py_RETURN_NONE;
}

static PyObject *threshold(PyObject *self, PyObject *args)
{
    int which;
    double value;
    if (!PyArg_ParseTuple(args, "id:threshold", &which, &value))
        return NULL;
    if (which < 0 || which >= VRS_TRACKER_THRESHOLDS)
        return PyErr_Format(PyExc_ValueError, "no threshold has the number %d", which);
    vrs_tracker_threshold(tracker_of(self), (enum vrs_tracker_threshold)which, value);
    Py_RETURN_NONE;
}

static PyObject *clear(PyObject *self, PyObject *unused)
{
    (void)unused;
    vrs_tracker_clear(tracker_of(self));
    Py_RETURN_NONE;
}

/* Reading. */

/* events(kinds, since_us, most): kinds is a sum of 1 << kind, or 0: all but samples. */
static PyObject *events(PyObject *self, PyObject *args)
{
    struct vrs_tracker *tracker = tracker_of(self);
    unsigned kinds;
    unsigned long long since;
    long long wanted;
    if (!PyArg_ParseTuple(args, "IKL:events", &kinds, &since, &wanted))
        return NULL;
    struct vrs_event_filter filter = { kinds, since };
    uint32_t most = vrs_tracker_most(tracker);
    if (wanted >= 0 && wanted < most)
        most = (uint32_t)wanted;
    struct vrs_event *row = PyMem_Malloc(((size_t)most + 1) * sizeof *row);
    if (row == NULL)
        return PyErr_NoMemory();
    PyThreadState *saved = PyEval_SaveThread();
    uint32_t count = vrs_tracker_events(tracker, &filter, most, row);
    PyEval_RestoreThread(saved);
    PyObject *list = event_list(row, count);
    PyMem_Free(row);
    return list;
}

/* timeline(bucket_ns): three lists. */
static PyObject *timeline(PyObject *self, PyObject *args)
{
    struct vrs_tracker *tracker = tracker_of(self);
    unsigned long long bucket;
    if (!PyArg_ParseTuple(args, "K:timeline", &bucket))
        return NULL;
    uint32_t most = vrs_tracker_most(tracker);
    struct vrs_timeline_point *point = PyMem_Malloc(((size_t)most + 1) * sizeof *point);
    if (point == NULL)
        return PyErr_NoMemory();
    PyThreadState *saved = PyEval_SaveThread();
    uint32_t count = vrs_tracker_timeline(tracker, bucket, point, most);
    PyEval_RestoreThread(saved);
    PyObject *list[3] = { PyList_New(0), PyList_New(0), PyList_New(0) };
    bool ok = list[0] != NULL && list[1] != NULL && list[2] != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        PyObject *value[3] = { PyFloat_FromDouble((double)point[i].unix_us / 1e6),
                               bytes_or_none(point[i].allocated),
                               bytes_or_none(point[i].reserved) };
        for (int k = 0; k < 3; k++) {
            ok = ok && value[k] != NULL && PyList_Append(list[k], value[k]) == 0;
            Py_XDECREF(value[k]);
        }
    }
    PyMem_Free(point);
    if (ok)
        return Py_BuildValue("(NNN)", list[0], list[1], list[2]);
    for (int k = 0; k < 3; k++)
        Py_XDECREF(list[k]);
    return NULL;
}

/* Adds to a dict, where it is not NULL; takes the value over.  False with an exception set. */
static bool put(PyObject *dict, const char *name, PyObject *value)
{
    bool ok = dict != NULL && value != NULL && PyDict_SetItemString(dict, name, value) == 0;
    Py_XDECREF(value);
    return ok;
}

/* None for no text. */
static PyObject *text_or_none(const char *text)
{
    return text[0] != '\0' ? PyUnicode_DecodeFSDefault(text) : Py_NewRef(Py_None);
}

static bool put_files(PyObject *dict, struct vrs_tracker *tracker)
{
    struct vrs_track_files_state f;
    PyThreadState *saved = PyEval_SaveThread();
    vrs_tracker_files_state(tracker, &f); /* which may wait for a disk */
    PyEval_RestoreThread(saved);
    return put(dict, "sink_run", text_or_none(f.run)) &&
           put(dict, "sink_records", PyLong_FromUnsignedLongLong(f.records)) &&
           put(dict, "sink_dropped", PyLong_FromUnsignedLongLong(f.dropped)) &&
           put(dict, "sink_pruned", PyLong_FromUnsignedLongLong(f.pruned)) &&
           put(dict, "sink_bytes", PyLong_FromUnsignedLongLong(f.bytes)) &&
           put(dict, "sink_segments", PyLong_FromUnsignedLongLong(f.segments)) &&
           put(dict, "sink_failure", text_or_none(f.failure));
}

static bool put_sampling(PyObject *dict, struct vrs_tracker *tracker)
{
    struct vrs_sampler_counts c;
    vrs_sampler_count(vrs_tracker_sampler(tracker), &c);
    return put(dict, "skipped_samples", PyLong_FromUnsignedLongLong(c.skipped)) &&
           put(dict, "busy_samples", PyLong_FromUnsignedLongLong(c.busy)) &&
           put(dict, "state", PyUnicode_FromString(vrs_sampler_state_name(c.state)));
}

static PyObject *stats(PyObject *self, PyObject *unused)
{
    struct vrs_tracker *tracker = tracker_of(self);
    struct vrs_tracker_stats s;
    (void)unused;
    PyThreadState *saved = PyEval_SaveThread();
    vrs_tracker_count(tracker, &s);
    PyEval_RestoreThread(saved);
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        { "allocated_bytes", s.last.now[VRS_ALLOCATED] },
        { "reserved_bytes", s.last.now[VRS_RESERVED] },
        { "device_used_bytes", s.last.device_used },
        { "device_total_bytes", s.last.device_total },
        { "rss_bytes", s.last.host.rss },
        { "peak_bytes", s.peak },
        { "samples", s.samples },
        { "growth_samples", s.growth_samples },
        { "growth_bytes", s.growth_bytes },
        { "shrink_samples", s.shrink_samples },
        { "shrink_bytes", s.shrink_bytes },
        { "allocations", s.allocations },
        { "frees", s.frees },
        { "allocated_total_bytes", s.allocated_bytes },
        { "freed_total_bytes", s.freed_bytes },
        { "retries", s.retries },
        { "ooms", s.ooms },
        { "alerts", s.alerts },
        { "events", s.events },
        { "events_last_hour", s.events_last_hour },
        { "lost_events", s.events_lost },
        { "lost_samples", s.samples_lost },
        { "waiting_events", s.waiting },
        { "lost_callbacks", s.waiting_lost },
        { "duration_ns", s.duration_ns },
    };
    PyObject *dict = PyDict_New();
    bool ok = dict != NULL;
    for (size_t i = 0; ok && i < sizeof counts / sizeof *counts; i++)
        ok = put(dict, counts[i].name, bytes_or_none(counts[i].value));
    bool began = s.started_us != 0;
    ok = ok && put(dict, "started", began ? PyFloat_FromDouble((double)s.started_us / 1e6)
                                          : Py_NewRef(Py_None));
    ok = ok && put(dict, "last_sample", began ? PyFloat_FromDouble((double)s.last_us / 1e6)
                                              : Py_NewRef(Py_None));
    if (ok && put_sampling(dict, tracker) && put_files(dict, tracker))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

static PyObject *line(PyObject *self, PyObject *unused)
{
    char text[LINE_BYTES];
    (void)unused;
    vrs_tracker_line(tracker_of(self), text, sizeof text);
    return PyUnicode_FromString(text);
}

/* Waiting. */

static PyObject *subscribe(PyObject *self, PyObject *kinds)
{
    struct tracker_object *t = (struct tracker_object *)self;
    unsigned long wanted = PyLong_AsUnsignedLong(kinds);
    struct vrs_error err;
    if (PyErr_Occurred() != NULL)
        return NULL;
    if (vrs_tracker_subscribe(t->tracker, (uint32_t)wanted, &err) != VRS_OK)
        return raise_error(t->state, &err, NULL);
    Py_RETURN_NONE;
}

/* take(seconds): events, none after that time, or None where there is nobody to wait any more. */
static PyObject *take(PyObject *self, PyObject *seconds)
{
    struct vrs_tracker *tracker = tracker_of(self);
    struct vrs_event row[TAKEN_AT_ONCE];
    double wait = PyFloat_AsDouble(seconds);
    if (PyErr_Occurred() != NULL)
        return NULL;
    wait = wait > 0 ? wait : 0;
    wait = wait < WAIT_MOST_SECONDS ? wait : WAIT_MOST_SECONDS;
    PyThreadState *saved = PyEval_SaveThread();
    uint32_t count = vrs_tracker_take(tracker, TAKEN_AT_ONCE, (uint64_t)(wait * 1e9), row);
    bool hushed = count == 0 && vrs_tracker_hushed(tracker);
    PyEval_RestoreThread(saved);
    return hushed ? Py_NewRef(Py_None) : event_list(row, count);
}

static PyObject *hush(PyObject *self, PyObject *unused)
{
    (void)unused;
    vrs_tracker_hush(tracker_of(self));
    Py_RETURN_NONE;
}

/* export(format, path): the path, or bytes where it is None. */
static PyObject *export(PyObject *self, PyObject *args)
{
    struct tracker_object *t = (struct tracker_object *)self;
    static const char *const formats[] = { [VRS_TELEMETRY_LINES] = "jsonl",
                                           [VRS_TELEMETRY_JSON] = "json",
                                           [VRS_TELEMETRY_CSV] = "csv" };
    PyObject *format, *path;
    size_t which = 0;
    if (!PyArg_ParseTuple(args, "UO:export", &format, &path))
        return NULL;
    while (which < 3 && PyUnicode_CompareWithASCIIString(format, formats[which]) != 0)
        which++;
    if (which == 3)
        return PyErr_Format(PyExc_ValueError, "there is no format %R: jsonl, json, csv", format);
    struct sink sink;
    struct vrs_error err;
    if (!sink_begin(&sink, t->state, path, NULL, 0))
        return NULL;
    PyThreadState *saved = PyEval_SaveThread();
    enum vrs_status status = vrs_tracker_export(t->tracker, (enum vrs_telemetry_format)which,
                                                &sink.sink, &err);
    PyEval_RestoreThread(saved);
    return sink_end(&sink, status, &err);
}

PyObject *tracker_kinds(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *tuple = PyTuple_New(VRS_EVENT_KINDS);
    for (int i = 0; tuple != NULL && i < VRS_EVENT_KINDS; i++) {
        PyObject *name = PyUnicode_InternFromString(vrs_event_kind_name((enum vrs_event_kind)i));
        if (name == NULL || PyTuple_SetItem(tuple, i, name) != 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_running(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(vrs_tracker_running(tracker_of(self)));
}

static PyObject *get_needs_reader(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(needs_reader(self));
}

static PyObject *get_backend(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef(((struct tracker_object *)self)->backend);
}

static PyGetSetDef members[] = {
    { "running", get_running, NULL, "Whether it tracks.", NULL },
    { "needs_reader", get_needs_reader, NULL, "Whether a thread has to run serve().", NULL },
    { "backend", get_backend, NULL, "How the device is read.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef methods[] = {
    { "identify", identify, METH_VARARGS, "Says who the process is, for telemetry." },
    { "files", files, METH_VARARGS, "The folder that runs leave files in." },
    { "start", start, METH_NOARGS, "Begins to sample, unless it does already." },
    { "stop", stop, METH_VARARGS, "Ends what start began." },
    { "sample", sample, METH_NOARGS, "One sample on this thread, while it runs." },
    { "serve", serve, METH_NOARGS, "Reads the device whenever the sampling thread asks for it." },
    { "note", note, METH_VARARGS, "An event of any kind, with a text and a JSON object." },
    { "enter", enter, METH_VARARGS, "Begins a phase; the number to leave it by." },
    { "leave", leave, METH_O, "Ends a phase." },
    { "threshold", threshold, METH_VARARGS, "Sets a threshold, by its number." },
    { "clear", clear, METH_NOARGS, "Forgets events, samples and totals." },
    { "events", events, METH_VARARGS, "Tuples of the events that pass a filter." },
    { "timeline", timeline, METH_VARARGS, "Times, allocated and reserved bytes of buckets." },
    { "stats", stats, METH_NOARGS, "Totals by name." },
    { "line", line, METH_NOARGS, "Where it stands, as a text." },
    { "subscribe", subscribe, METH_O, "Which kinds wait for take()." },
    { "take", take, METH_O, "Tuples of events that wait, or came meanwhile; None: no more." },
    { "hush", hush, METH_NOARGS, "Whoever is in take() is to go." },
    { "export", export, METH_VARARGS, "Events as telemetry, in a file or as bytes." },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, SLOT(tracker_new) },
    { Py_tp_dealloc, SLOT(tracker_dealloc) },
    { Py_tp_traverse, SLOT(tracker_traverse) },
    { Py_tp_getset, members },
    { Py_tp_methods, methods },
    { Py_tp_doc, SLOT("What vramscope.Tracker stands on.") },
    { 0, NULL },
};

PyType_Spec tracker_spec = {
    .name = "vramscope._core.Tracker",
    .basicsize = sizeof(struct tracker_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
