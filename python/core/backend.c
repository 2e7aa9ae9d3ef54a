/* backend.c - class Backend: how the memory of a device is read, by the core (a simulation, none)
 * or by the methods of an object of Python (torch). */
#include "core.h"
#include "meter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>

#include "vramscope/profiler.h"

struct backend {
    PyObject_HEAD struct core_state *state;
    PyObject *weak;
    struct vrs_backend face;
    PyObject *owner; /* what has the methods, or keeps `face.arg` alive; or NULL */
    uint32_t id;
    bool events; /* the owner makes them */
};

uint32_t backend_id(PyObject *backend)
{
    return ((struct backend *)backend)->id;
}

const struct vrs_backend *backend_face(PyObject *backend)
{
    return &((struct backend *)backend)->face;
}

PyObject *backend_make(struct core_state *state, const struct vrs_backend *face, PyObject *owner)
{
    struct vrs_meter *meter = process_meter();
    struct vrs_error err;
    if (meter == NULL)
        return NULL;
    struct backend *b = PyObject_GC_New(struct backend, state->backend);
    if (b == NULL)
        return NULL;
    b->state = state;
    b->weak = NULL;
    b->face = *face;
    if (b->face.arg == NULL)
        b->face.arg = b;
    b->owner = Py_XNewRef(owner);
    b->id = 0;
    b->events = false;
    PyObject_GC_Track((PyObject *)b);
    if (vrs_meter_backend(meter, &b->face, &b->id, &err) != VRS_OK) {
        Py_DECREF(b);
        return raise_error(state, &err, NULL);
    }
    return (PyObject *)b;
}

/* Methods of an object of Python.  All hold the GIL, which every call of the meter does here. */

/* obj.NAME(device), or obj.NAME() where `device` is negative; NULL: it failed, and was dropped. */
static PyObject *ask(const void *arg, const char *name, int64_t device)
{
    PyObject *owner = ((const struct backend *)arg)->owner;
    PyObject *answer = device < 0 ? PyObject_CallMethod(owner, name, NULL)
                                  : PyObject_CallMethod(owner, name, "L", (long long)device);
    if (answer == NULL)
        exception_drop();
    return answer;
}

static uint64_t number_of(PyObject *value)
{
    if (value == NULL || !PyLong_Check(value))
        return VRS_UNKNOWN;
    uint64_t number = PyLong_AsUnsignedLongLong(value);
    if (number == UINT64_MAX && PyErr_Occurred() != NULL)
        PyErr_Clear();
    return number;
}

/* The leaves of PyTorch's statistics that are wanted, and where they go. */
static const struct leaf {
    const char *group, *member; /* NULL: the value stands in the group's place */
    size_t offset;
} leaves[] = {
    { "allocated_bytes", "current", offsetof(struct vrs_stats, now[VRS_ALLOCATED]) },
    { "allocated_bytes", "peak", offsetof(struct vrs_stats, peak[VRS_ALLOCATED]) },
    { "allocated_bytes", "allocated", offsetof(struct vrs_stats, allocated_bytes) },
    { "allocated_bytes", "freed", offsetof(struct vrs_stats, freed_bytes) },
    { "reserved_bytes", "current", offsetof(struct vrs_stats, now[VRS_RESERVED]) },
    { "reserved_bytes", "peak", offsetof(struct vrs_stats, peak[VRS_RESERVED]) },
    { "active_bytes", "current", offsetof(struct vrs_stats, now[VRS_ACTIVE]) },
    { "active_bytes", "peak", offsetof(struct vrs_stats, peak[VRS_ACTIVE]) },
    { "requested_bytes", "current", offsetof(struct vrs_stats, now[VRS_REQUESTED]) },
    { "requested_bytes", "peak", offsetof(struct vrs_stats, peak[VRS_REQUESTED]) },
    { "allocation", "allocated", offsetof(struct vrs_stats, allocations) },
    { "allocation", "freed", offsetof(struct vrs_stats, frees) },
    { "inactive_split_bytes", "current", offsetof(struct vrs_stats, inactive_split) },
    { "num_alloc_retries", NULL, offsetof(struct vrs_stats, retries) },
    { "num_ooms", NULL, offsetof(struct vrs_stats, ooms) },
};
enum { LEAVES = sizeof leaves / sizeof leaves[0] };
_Static_assert((int)LEAVES == (int)STATS_LEAVES, "the keys of the leaves have places in the state");

bool backend_keys(struct core_state *state)
{
    for (uint32_t i = 0; i < LEAVES; i++) {
        char flat[64];
        const struct leaf *l = &leaves[i];
        PyOS_snprintf(flat, sizeof flat, "%s.all.%s", l->group, l->member);
        state->keys[i].group = PyUnicode_InternFromString(l->group);
        state->keys[i].member = l->member == NULL ? NULL : PyUnicode_InternFromString(l->member);
        state->keys[i].flat = l->member == NULL ? NULL : PyUnicode_InternFromString(flat);
        if (PyErr_Occurred() != NULL)
            return false;
    }
    state->key_all = PyUnicode_InternFromString("all");
    return state->key_all != NULL;
}

/* stats["allocated_bytes"]["all"]["current"] of the nested form, or the same joined by dots. */
static uint64_t leaf_of(const struct core_state *state, uint32_t i, PyObject *stats)
{
    PyObject *found = PyDict_GetItemWithError(stats, state->keys[i].group);
    if (state->keys[i].member == NULL)
        return number_of(found);
    if (found == NULL || !PyDict_Check(found))
        return number_of(PyDict_GetItemWithError(stats, state->keys[i].flat));
    found = PyDict_GetItemWithError(found, state->key_all);
    return found != NULL && PyDict_Check(found)
               ? number_of(PyDict_GetItemWithError(found, state->keys[i].member))
               : VRS_UNKNOWN;
}

static void stats_of(const struct core_state *state, PyObject *stats, struct vrs_stats *ret)
{
    for (uint32_t i = 0; i < LEAVES; i++) {
        uint64_t value = leaf_of(state, i, stats);
        memcpy((char *)ret + leaves[i].offset, &value, sizeof value);
    }
    if (PyErr_Occurred() != NULL) /* a key that cannot be compared */
        PyErr_Clear();
}

static enum vrs_status object_stats(void *arg, uint32_t device, struct vrs_stats *ret)
{
    PyObject *stats = ask(arg, "stats", device);
    bool known = stats != NULL && PyDict_Check(stats);
    if (known)
        stats_of(((const struct backend *)arg)->state, stats, ret);
    Py_XDECREF(stats);
    return known ? VRS_OK : VRS_IO;
}

static enum vrs_status done(PyObject *answer)
{
    Py_XDECREF(answer);
    return answer != NULL ? VRS_OK : VRS_IO;
}

static enum vrs_status object_reset_peak(void *arg, uint32_t device)
{
    return done(ask(arg, "reset_peak", device));
}

static enum vrs_status object_empty_cache(void *arg, uint32_t device)
{
    return done(ask(arg, "empty_cache", device));
}

static enum vrs_status object_synchronize(void *arg, uint32_t device)
{
    return done(ask(arg, "synchronize", device));
}

/* UINT32_MAX: not known. */
static uint32_t small(PyObject *answer)
{
    uint64_t number = number_of(answer);
    Py_XDECREF(answer);
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static uint32_t object_count(void *arg)
{
    return small(ask(arg, "count", -1));
}

static uint32_t object_current(void *arg)
{
    uint32_t current = small(ask(arg, "current", -1));
    return current != UINT32_MAX ? current : 0;
}

static enum vrs_status object_name(void *arg, uint32_t device, char *ret, size_t room)
{
    PyObject *name = ask(arg, "device_name", device);
    PyObject *utf8 = name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8String(name) : NULL;
    if (name != NULL && utf8 == NULL)
        PyErr_Clear();
    if (utf8 != NULL)
        PyOS_snprintf(ret, room, "%s", PyBytes_AsString(utf8));
    Py_XDECREF(name);
    return done(utf8);
}

static enum vrs_status object_driver_id(void *arg, uint32_t device, char *ret, size_t room)
{
    PyObject *id = ask(arg, "driver_id", device);
    PyObject *utf8 = id != NULL && PyUnicode_Check(id) ? PyUnicode_AsUTF8String(id) : NULL;
    if (id != NULL && utf8 == NULL)
        PyErr_Clear();
    if (utf8 != NULL)
        PyOS_snprintf(ret, room, "%s", PyBytes_AsString(utf8));
    Py_XDECREF(id);
    return done(utf8);
}

/* (free, total) */
static enum vrs_status object_memory(void *arg, uint32_t device, uint64_t *ret_free,
                                     uint64_t *ret_total)
{
    PyObject *pair = ask(arg, "memory", device);
    bool is_pair = pair != NULL && PyTuple_Check(pair) && PyTuple_Size(pair) == 2;
    *ret_free = is_pair ? number_of(PyTuple_GetItem(pair, 0)) : VRS_UNKNOWN;
    *ret_total = is_pair ? number_of(PyTuple_GetItem(pair, 1)) : VRS_UNKNOWN;
    Py_XDECREF(pair);
    return is_pair ? VRS_OK : VRS_IO;
}

static enum vrs_status object_utilisation(void *arg, uint32_t device, double *ret_percent)
{
    PyObject *percent = ask(arg, "utilisation", device);
    bool known = percent != NULL && (PyFloat_Check(percent) || PyLong_Check(percent));
    if (known)
        *ret_percent = PyFloat_AsDouble(percent);
    if (PyErr_Occurred() != NULL)
        PyErr_Clear();
    Py_XDECREF(percent);
    return known ? VRS_OK : VRS_IO;
}

bool backend_event(PyObject *backend, uint32_t device, PyObject **ret)
{
    *ret = NULL;
    if (!((const struct backend *)backend)->events)
        return true;
    PyObject *event = ask(backend, "event", device);
    if (event == NULL)
        return false;
    if (event != Py_None)
        *ret = Py_NewRef(event);
    Py_DECREF(event);
    return true;
}

/* Backend(object): by the methods that it has. */
/* Whether an object has a method, for which it then needs threads of Python. */
static bool offers(PyObject *owner, const char *method, struct vrs_backend *face)
{
    bool has = PyObject_HasAttrString(owner, method) != 0;
    face->any_thread &= !has;
    return has;
}

static PyObject *backend_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "", "name", NULL };
    PyObject *owner;
    const char *name = "object";
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$s:Backend", (char **)SLOT(names), &owner,
                                     &name))
        return NULL;
    struct core_state *state = core_state_of_type(type);
    struct vrs_backend face = { .size = sizeof face };
    static const char *const known[] = { "torch", "none", "object" };
    face.name = known[2];
    for (uint32_t i = 0; i < 2; i++)
        if (strcmp(name, known[i]) == 0)
            face.name = known[i];
    face.any_thread = true; /* an object without any of the methods is asked nothing */
#define OFFERS(method, function)                                                                   \
    if (offers(owner, method, &face))                                                              \
    face.function
    OFFERS("stats", stats) = object_stats;
    OFFERS("reset_peak", reset_peak) = object_reset_peak;
    OFFERS("count", count) = object_count;
    OFFERS("current", current) = object_current;
    OFFERS("device_name", device_name) = object_name;
    OFFERS("memory", memory) = object_memory;
    OFFERS("utilisation", utilisation) = object_utilisation;
    OFFERS("driver_id", driver_id) = object_driver_id;
    OFFERS("empty_cache", empty_cache) = object_empty_cache;
    OFFERS("synchronize", synchronize) = object_synchronize;
#undef OFFERS
    PyObject *made = state == NULL ? NULL : backend_make(state, &face, owner);
    if (made != NULL)
        ((struct backend *)made)->events = PyObject_HasAttrString(owner, "event") != 0;
    return made;
}

/* Whose devices are asked from now on where nobody says which: `resolve`, or NULL for no change of
 * it, gives a Backend. */
PyObject *backend_changed(PyObject *module, PyObject *resolve)
{
    struct core_state *state = core_state_of(module);
    if (resolve != Py_None) {
        PyObject *before = state->resolve;
        state->resolve = Py_NewRef(resolve);
        Py_XDECREF(before);
    }
    state->generation++;
    Py_RETURN_NONE;
}

bool torch_is_imported(const struct core_state *state)
{
    PyObject *torch = PyDict_GetItemString(state->modules, "torch");
    PyObject *spec = torch == NULL ? NULL : PyObject_GetAttrString(torch, "__spec__");
    PyObject *busy = spec == NULL ? NULL : PyObject_GetAttrString(spec, "_initializing");
    PyErr_Clear();
    bool imported = torch != NULL && busy != Py_True;
    Py_XDECREF(spec);
    Py_XDECREF(busy);
    return imported;
}

PyObject *backend_auto(struct core_state *state)
{
    state->without_torch = !torch_is_imported(state);
    if (state->resolve == NULL) {
        struct vrs_backend none = { .size = sizeof none, .name = "none", .any_thread = true };
        return backend_make(state, &none, NULL);
    }
    PyObject *backend = PyObject_CallNoArgs(state->resolve);
    if (backend != NULL && Py_TYPE(backend) != state->backend) {
        PyErr_Format(PyExc_TypeError, "a backend is a Backend, not %R", Py_TYPE(backend));
        Py_CLEAR(backend);
    }
    return backend;
}

PyObject *backend_given(struct core_state *state, PyObject *backend)
{
    if (backend == Py_None)
        return backend_auto(state);
    if (Py_TYPE(backend) == state->backend)
        return Py_NewRef(backend);
    return PyErr_Format(PyExc_TypeError, "a backend is a Backend, not %R", Py_TYPE(backend));
}

/* The sentence that names the devices there are. */
static bool no_such_device(struct core_state *state, int64_t device, uint32_t count)
{
    char text[160], there[64] = "no device is known here";
    if (count == 1)
        PyOS_snprintf(there, sizeof there, "there is device 0 alone");
    else if (count > 1)
        PyOS_snprintf(there, sizeof there, "there are 0 to %u", count - 1);
    PyOS_snprintf(text, sizeof text, "there is no device %lld: %s", (long long)device, there);
    raise_usage(state, text);
    return false;
}

bool backend_device(struct core_state *state, PyObject *backend, PyObject *device, uint32_t *ret)
{
    const struct vrs_backend *face = backend_face(backend);
    if (device == Py_None) {
        *ret = face->current != NULL ? face->current(face->arg) : 0;
        return true;
    }
    int64_t number = PyLong_AsLongLong(device);
    if (number == -1 && PyErr_Occurred() != NULL)
        return false;
    uint32_t count = face->count != NULL ? face->count(face->arg) : UINT32_MAX;
    if (number < 0 || number >= count)
        return no_such_device(state, number, count);
    *ret = (uint32_t)number;
    return true;
}

/* Methods and members. */

/* The device of a method: an int, or None. */
static bool device_argument(PyObject *self, PyObject *const *args, Py_ssize_t count, uint32_t *ret)
{
    if (count > 1) {
        PyErr_SetString(PyExc_TypeError, "takes one device at most");
        return false;
    }
    return backend_device(((struct backend *)self)->state, self, count == 1 ? args[0] : Py_None,
                          ret);
}

static PyObject *get_id(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLong(backend_id(self));
}

static PyObject *get_name(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(backend_face(self)->name);
}

static PyObject *get_owner(PyObject *self, void *closure)
{
    (void)closure;
    PyObject *owner = ((struct backend *)self)->owner;
    return Py_NewRef(owner != NULL ? owner : Py_None);
}

static PyObject *method_count(PyObject *self, PyObject *unused)
{
    (void)unused;
    const struct vrs_backend *face = backend_face(self);
    uint32_t count = face->count != NULL ? face->count(face->arg) : 0;
    return count != UINT32_MAX ? PyLong_FromUnsignedLong(count) : Py_NewRef(Py_None);
}

static PyObject *method_current(PyObject *self, PyObject *unused)
{
    (void)unused;
    const struct vrs_backend *face = backend_face(self);
    return PyLong_FromUnsignedLong(face->current != NULL ? face->current(face->arg) : 0);
}

/* False with an exception set.  Takes the value over. */
static bool put(PyObject *dict, const char *name, PyObject *value)
{
    bool ok = value != NULL && PyDict_SetItemString(dict, name, value) == 0;
    Py_XDECREF(value);
    return ok;
}

/* Members of stats(), and where the counters are. */
static const struct counter {
    const char *name;
    size_t offset;
} counters[] = {
    { "allocated_bytes", offsetof(struct vrs_stats, now[VRS_ALLOCATED]) },
    { "reserved_bytes", offsetof(struct vrs_stats, now[VRS_RESERVED]) },
    { "active_bytes", offsetof(struct vrs_stats, now[VRS_ACTIVE]) },
    { "requested_bytes", offsetof(struct vrs_stats, now[VRS_REQUESTED]) },
    { "allocated_peak_bytes", offsetof(struct vrs_stats, peak[VRS_ALLOCATED]) },
    { "reserved_peak_bytes", offsetof(struct vrs_stats, peak[VRS_RESERVED]) },
    { "active_peak_bytes", offsetof(struct vrs_stats, peak[VRS_ACTIVE]) },
    { "requested_peak_bytes", offsetof(struct vrs_stats, peak[VRS_REQUESTED]) },
    { "inactive_split_bytes", offsetof(struct vrs_stats, inactive_split) },
    { "allocated_total_bytes", offsetof(struct vrs_stats, allocated_bytes) },
    { "freed_total_bytes", offsetof(struct vrs_stats, freed_bytes) },
    { "allocations", offsetof(struct vrs_stats, allocations) },
    { "frees", offsetof(struct vrs_stats, frees) },
    { "retries", offsetof(struct vrs_stats, retries) },
    { "ooms", offsetof(struct vrs_stats, ooms) },
};
enum { COUNTERS = sizeof counters / sizeof counters[0] };

static uint64_t counter_of(const struct vrs_stats *stats, uint32_t i)
{
    uint64_t value;
    memcpy(&value, (const char *)stats + counters[i].offset, sizeof value);
    return value;
}

/* `dict` with the state of the reading that its figures are of; NULL, where it is NULL or that
 * fails. */
static PyObject *with_state(PyObject *dict, enum vrs_state state)
{
    if (dict != NULL && !put(dict, "state", PyUnicode_FromString(vrs_state_name(state))))
        Py_CLEAR(dict);
    return dict;
}

static PyObject *method_stats(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    uint32_t device;
    struct vrs_stats stats;
    if (!device_argument(self, args, count, &device))
        return NULL;
    enum vrs_state state = vrs_meter_read(process_meter(), backend_id(self), device, true, &stats);
    PyObject *dict = PyDict_New();
    for (uint32_t i = 0; dict != NULL && i < COUNTERS; i++)
        if (!put(dict, counters[i].name, bytes_or_none(counter_of(&stats, i))))
            Py_CLEAR(dict);
    return with_state(dict, state);
}

static PyObject *method_changes(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    uint32_t device;
    struct vrs_stats stats;
    if (count == 0 || !PyDict_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "takes what stats() told before");
        return NULL;
    }
    if (!device_argument(self, args + 1, count - 1, &device))
        return NULL;
    enum vrs_state state = vrs_meter_read(process_meter(), backend_id(self), device, true, &stats);
    PyObject *dict = PyDict_New();
    for (uint32_t i = 0; dict != NULL && i < COUNTERS; i++) {
        uint64_t before = number_of(PyDict_GetItemString(args[0], counters[i].name));
        if (!put(dict, counters[i].name, difference_or_none(counter_of(&stats, i), before)))
            Py_CLEAR(dict);
    }
    return with_state(dict, state);
}

static PyObject *method_reset_peak(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    uint32_t device;
    struct vrs_slot slot;
    if (!device_argument(self, args, count, &device))
        return NULL;
    vrs_slot_open(process_meter(), backend_id(self), device, 0, &slot);
    vrs_slot_close(process_meter(), &slot, NULL);
    Py_RETURN_NONE;
}

static PyObject *act(PyObject *self, PyObject *const *args, Py_ssize_t count,
                     enum vrs_status (*function)(void *, uint32_t))
{
    uint32_t device;
    if (!device_argument(self, args, count, &device))
        return NULL;
    if (function == NULL)
        Py_RETURN_FALSE;
    return PyBool_FromLong(function(backend_face(self)->arg, device) == VRS_OK);
}

static PyObject *method_empty_cache(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    return act(self, args, count, backend_face(self)->empty_cache);
}

static PyObject *method_synchronize(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    return act(self, args, count, backend_face(self)->synchronize);
}

static PyObject *method_device_name(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    uint32_t device;
    char name[256];
    const struct vrs_backend *face = backend_face(self);
    if (!device_argument(self, args, count, &device))
        return NULL;
    if (face->device_name == NULL ||
        face->device_name(face->arg, device, name, sizeof name) != VRS_OK)
        Py_RETURN_NONE;
    return PyUnicode_FromString(name);
}

static PyObject *method_memory(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    uint32_t device;
    struct vrs_device_memory memory;
    if (!device_argument(self, args, count, &device))
        return NULL;
    vrs_device_memory(backend_face(self), device, &memory);
    return Py_BuildValue("NN", bytes_or_none(memory.free), bytes_or_none(memory.total));
}

static PyObject *method_usage(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    uint32_t device;
    struct vrs_device_memory memory;
    if (!device_argument(self, args, count, &device))
        return NULL;
    vrs_device_memory(backend_face(self), device, &memory);
    return Py_BuildValue("NNN", bytes_or_none(memory.used), bytes_or_none(memory.free),
                         bytes_or_none(memory.total));
}

/* False: what the driver says of the device is not known, nor which it is. */
static bool driver_says(const struct vrs_backend *face, uint32_t device,
                        struct vrs_driver_figures *ret)
{
    char id[64];
    if (face->driver_id == NULL || face->driver_id(face->arg, device, id, sizeof id) != VRS_OK)
        return false;
    PyThreadState *saved = PyEval_SaveThread();
    vrs_driver(process_meter(), id, ret);
    PyEval_RestoreThread(saved);
    return true;
}

static PyObject *method_driver(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    uint32_t device;
    struct vrs_driver_figures d;
    if (!device_argument(self, args, count, &device))
        return NULL;
    if (!driver_says(backend_face(self), device, &d))
        Py_RETURN_NONE;
    return Py_BuildValue("{sNsNsNsNsNsz}", "used_bytes", bytes_or_none(d.used), "total_bytes",
                         bytes_or_none(d.total), "utilisation_percent",
                         d.utilisation < 0 ? Py_NewRef(Py_None) : PyFloat_FromDouble(d.utilisation),
                         "processes", bytes_or_none(d.processes), "own_bytes", bytes_or_none(d.own),
                         "why", d.why[0] != '\0' ? d.why : NULL);
}

static PyObject *method_utilisation(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    uint32_t device;
    double percent;
    const struct vrs_backend *face = backend_face(self);
    if (!device_argument(self, args, count, &device))
        return NULL;
    if (face->utilisation != NULL && face->utilisation(face->arg, device, &percent) == VRS_OK)
        return PyFloat_FromDouble(percent);
    struct vrs_driver_figures d;
    if (!driver_says(face, device, &d) || d.utilisation < 0)
        Py_RETURN_NONE;
    return PyFloat_FromDouble(d.utilisation);
}

/* Adds one float under a prefix; false with an exception set. */
static bool put_metric(PyObject *dict, const char *prefix, const char *name, double value)
{
    PyObject *key = PyUnicode_FromFormat("%s%s", prefix, name);
    PyObject *number = PyFloat_FromDouble(value);
    bool ok = key != NULL && number != NULL && PyDict_SetItem(dict, key, number) == 0;
    Py_XDECREF(key);
    Py_XDECREF(number);
    return ok;
}

static PyObject *method_metrics(PyObject *self, PyObject *args)
{
    const double gib = 1024.0 * 1024 * 1024;
    const struct vrs_backend *face = backend_face(self);
    const char *prefix;
    unsigned int device;
    struct vrs_device_memory memory;
    double percent;
    if (!PyArg_ParseTuple(args, "sI:_metrics", &prefix, &device))
        return NULL;
    PyObject *dict = PyDict_New();
    bool ok = dict != NULL;
    vrs_device_memory(face, device, &memory);
    if (ok && memory.used != VRS_UNKNOWN)
        ok = put_metric(dict, prefix, "device_used_gib", (double)memory.used / gib);
    if (ok && face->utilisation != NULL &&
        face->utilisation(face->arg, device, &percent) == VRS_OK)
        ok = put_metric(dict, prefix, "gpu_utilization_percent", percent);
    if (!ok)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *method_device_ns(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    uint32_t device;
    uint64_t ns;
    const struct vrs_backend *face = backend_face(self);
    if (!device_argument(self, args, count, &device))
        return NULL;
    if (face->device_ns == NULL || face->device_ns(face->arg, device, &ns) != VRS_OK)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(ns);
}

static PyObject *method_event(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    uint32_t device;
    PyObject *event;
    if (!device_argument(self, args, count, &device))
        return NULL;
    if (!backend_event(self, device, &event) || event == NULL)
        Py_RETURN_NONE;
    return event;
}

static PyObject *method_clock_ns(PyObject *self, PyObject *unused)
{
    (void)unused;
    const struct vrs_backend *face = backend_face(self);
    if (face->clock_ns == NULL)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(face->clock_ns(face->arg));
}

static int backend_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct backend *)self)->owner);
    return 0;
}

static void backend_dealloc(PyObject *self)
{
    struct backend *b = (struct backend *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (b->weak != NULL)
        PyObject_ClearWeakRefs(self);
    if (b->id != 0)
        vrs_meter_retire(process_meter(), b->id);
    Py_XDECREF(b->owner);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyGetSetDef members[] = {
    { "id", get_id, NULL, "The number of the backend in this process.", NULL },
    { "name", get_name, NULL, "\"torch\", \"sim\", \"none\" or \"object\".", NULL },
    { "owner", get_owner, NULL, "The object whose methods are asked, or None.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef methods[] = {
    { "count", method_count, METH_NOARGS,
      "count($self, /)\n--\n\nThe number of devices; None where it is not known yet." },
    { "current", method_current, METH_NOARGS,
      "current($self, /)\n--\n\nThe current device's number." },
    { "stats", FAST(method_stats), METH_FASTCALL,
      "stats($self, device=None, /)\n--\n\n"
      "The counters of a device: a dict of bytes and counts, None where one is not known, and the "
      "state of the reading." },
    { "_changes", FAST(method_changes), METH_FASTCALL,
      "_changes($self, before, device=None, /)\n--\n\n"
      "The counters of now minus those that stats() told before: a dict, None where one of both is "
      "not known, and the state of the reading of now." },
    { "reset_peak", FAST(method_reset_peak), METH_FASTCALL,
      "reset_peak($self, device=None, /)\n--\n\n"
      "The counters' peaks become the present values; every open scope keeps what it has seen." },
    { "empty_cache", FAST(method_empty_cache), METH_FASTCALL,
      "empty_cache($self, device=None, /)\n--\n\n"
      "Gives cached segments back. False where that is not possible." },
    { "synchronize", FAST(method_synchronize), METH_FASTCALL,
      "synchronize($self, device=None, /)\n--\n\n"
      "Waits for the device. False where that is not possible." },
    { "_metrics", method_metrics, METH_VARARGS,
      "_metrics($self, prefix, device, /)\n--\n\nWhat Record.metrics() has not: memory used in all, and "
      "how busy the device is." },
    { "device_name", FAST(method_device_name), METH_FASTCALL,
      "device_name($self, device=None, /)\n--\n\nThe name of a device, or None." },
    { "memory", FAST(method_memory), METH_FASTCALL,
      "memory($self, device=None, /)\n--\n\n"
      "(free bytes, total bytes) as the driver says, each or None." },
    { "_usage", FAST(method_usage), METH_FASTCALL,
      "_usage($self, device=None, /)\n--\n\n"
      "memory() with the bytes in use before it: (used, free, total), each or None." },
    { "utilisation", FAST(method_utilisation), METH_FASTCALL,
      "utilisation($self, device=None, /)\n--\n\n"
      "Percent of the time in which the device was busy, or None." },
    { "driver", FAST(method_driver), METH_FASTCALL,
      "driver($self, device=None, /)\n--\n\nWhat the driver says of a device: a dict of "
      "`used_bytes` and `total_bytes` of all processes, `utilisation_percent`, `processes` that "
      "compute on it, `own_bytes` of this one, and `why` where one is None. None where the backend "
      "does not tell which device of the driver it is." },
    { "device_ns", FAST(method_device_ns), METH_FASTCALL,
      "device_ns($self, device=None, /)\n--\n\nThe device's own time in nanoseconds, or None." },
    { "event", FAST(method_event), METH_FASTCALL,
      "event($self, device=None, /)\n--\n\nA moment that the device comes to when it has done what "
      "it was given: an object with `query()`, which says whether it has, and "
      "`elapsed_time(later)` in milliseconds. None where there is none." },
    { "clock_ns", method_clock_ns, METH_NOARGS,
      "clock_ns($self, /)\n--\n\nThe backend's own clock in nanoseconds, or None for the host's." },
    { NULL, NULL, 0, NULL },
};

static PyMemberDef places[] = {
    { "__weaklistoffset__", T_PYSSIZET, offsetof(struct backend, weak), READONLY, NULL },
    { NULL, 0, 0, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_members, places },
    { Py_tp_new, SLOT(backend_new) },
    { Py_tp_dealloc, SLOT(backend_dealloc) },
    { Py_tp_traverse, SLOT(backend_traverse) },
    { Py_tp_methods, methods },
    { Py_tp_getset, members },
    { Py_tp_doc,
      SLOT("Backend(object, /, *, name=\"object\")\n"
           "--\n"
           "\n"
           "How the memory of devices is read: by the methods that the object has, which are named as\n"
           "those of this class are.\n"
           "\n"
           "What it tells is what the device's own counters say, in bytes, or the driver. `device` is\n"
           "a number, None the current one. None is told where nothing is known, also where a method\n"
           "of the object raises. Raises Error for a device that there is not.\n"
           "\n"
           ">>> from vramscope import sim\n"
           ">>> device = sim.Device(\"1GiB\")\n"
           ">>> backend = device.backend\n"
           ">>> backend.count(), backend.current(), backend.device_name()\n"
           "(1, 0, 'simulated device 0')\n"
           ">>> backend.stats()[\"allocated_bytes\"], backend.memory()\n"
           "(0, (1073741824, 1073741824))\n"
           ">>> backend.reset_peak(), backend.empty_cache(), backend.synchronize()\n"
           "(None, True, True)\n"
           ">>> backend.utilisation(), backend.device_ns(), backend.clock_ns(), backend.driver()\n"
           "(None, 0, 0, None)\n"
           ">>> backend.event() is None  # its clock is at the end of all that was done\n"
           "True") },
    { 0, NULL },
};

PyType_Spec backend_spec = {
    .name = "vramscope._core.Backend",
    .basicsize = sizeof(struct backend),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
