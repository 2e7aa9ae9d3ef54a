/* sim.c - simulated devices, and handles of what is allocated on them. */
#include "sim.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <structmember.h>

#include "core.h"
#include "meter.h"
#include "vramscope/profiler.h"
#include "vramscope/sim.h"
#include "vramscope/vramscope.h"

struct handle {
    PyObject_HEAD struct sim_object *sim; /* kept */
    PyObject *tag, *weak;
    struct vrs_sim_block block;
    uint64_t bytes, stream;
    bool live;
};

/* Arguments. */

bool sim_number_of(PyObject *value, uint64_t *ret)
{
    PyObject *number = value == NULL ? NULL : PyNumber_Index(value);
    if (value == NULL)
        return true;
    if (number == NULL)
        return false;
    *ret = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    return !(*ret == UINT64_MAX && PyErr_Occurred());
}

bool sim_bytes_of(struct sim_object *self, PyObject *size, uint64_t *ret)
{
    if (PyUnicode_Check(size)) {
        PyObject *utf8 = PyUnicode_AsUTF8String(size);
        bool is_size = utf8 != NULL && vrs_size(PyBytes_AsString(utf8), ret);
        if (utf8 != NULL && !is_size)
            raise_usage(self->state,
                        "a size is a number of bytes with a unit or none, such as \"24GiB\"");
        Py_XDECREF(utf8);
        return is_size;
    }
    PyObject *number = PyNumber_Index(size);
    if (number == NULL)
        return false;
    *ret = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    return !(*ret == UINT64_MAX && PyErr_Occurred());
}

static uint32_t current_device(struct sim_object *self)
{
    struct vrs_backend backend;
    vrs_sim_backend(self->sim, &backend);
    return backend.current(backend.arg);
}

bool sim_device_of(struct sim_object *self, PyObject *device, uint32_t *ret)
{
    uint64_t number = 0;
    if (device == NULL || device == Py_None) {
        *ret = current_device(self);
        return true;
    }
    PyObject *index = PyNumber_Index(device);
    if (index == NULL)
        return false;
    number = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    if (number == UINT64_MAX && PyErr_Occurred())
        PyErr_Clear();
    *ret = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
    if (*ret < vrs_sim_devices(self->sim))
        return true;
    struct vrs_error why = { .status = VRS_USAGE, .offset = UINT64_MAX };
    PyOS_snprintf(why.message, sizeof why.message,
                  "there is no such simulated device: they are 0 "
                  "to %u",
                  (unsigned)vrs_sim_devices(self->sim) - 1);
    raise_error(self->state, &why, NULL);
    return false;
}

/* Raises for what failed, NULL; None where nothing did. */
static PyObject *done(struct sim_object *self, enum vrs_status status, const struct vrs_error *err)
{
    return status == VRS_OK ? Py_NewRef(Py_None) : raise_error(self->state, err, NULL);
}

/* Handles. */

static PyObject *handle_make(struct sim_object *sim, const struct vrs_sim_block *block,
                             uint64_t bytes, uint64_t stream, PyObject *tag)
{
    struct handle *h = PyObject_GC_New(struct handle, sim->state->sim_handle);
    if (h == NULL) {
        vrs_sim_free(sim->sim, block, NULL, NULL);
        return NULL;
    }
    h->sim = (struct sim_object *)Py_NewRef((PyObject *)sim);
    h->tag = Py_NewRef(tag == NULL ? Py_None : tag);
    h->weak = NULL;
    h->block = *block;
    h->bytes = bytes;
    h->stream = stream;
    h->live = true;
    PyObject_GC_Track((PyObject *)h);
    return (PyObject *)h;
}

/* With the stack of the caller. */
static enum vrs_status handle_free(struct handle *h, struct vrs_error *err)
{
    struct vrs_sim_frame frame[VRS_SIM_FRAMES];
    struct vrs_sim_stack stack = { frame, sim_stack(h->sim, frame) };
    h->live = false;
    return vrs_sim_free(h->sim->sim, &h->block, &stack, err);
}

static int handle_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct handle *h = (struct handle *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(h->sim);
    Py_VISIT(h->tag);
    return 0;
}

static void handle_dealloc(PyObject *self)
{
    struct handle *h = (struct handle *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (h->weak != NULL)
        PyObject_ClearWeakRefs(self);
    if (h->live)
        handle_free(h, NULL);
    Py_DECREF(h->sim);
    Py_DECREF(h->tag);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *handle_repr(PyObject *self)
{
    const struct handle *h = (struct handle *)self;
    return PyUnicode_FromFormat("<%sHandle of %llu bytes on device %u, tag %R>",
                                h->live ? "" : "freed ", (unsigned long long)h->bytes,
                                (unsigned)h->block.device, h->tag);
}

enum handle_figure {
    HANDLE_ADDRESS,
    HANDLE_BYTES,
    HANDLE_BLOCK_BYTES,
    HANDLE_DEVICE,
    HANDLE_STREAM,
    HANDLE_LIVE
};

static PyObject *handle_get(PyObject *self, void *which)
{
    const struct handle *h = (struct handle *)self;
    switch ((enum handle_figure)(uintptr_t)which) {
    case HANDLE_ADDRESS:
        return PyLong_FromUnsignedLongLong(h->block.address);
    case HANDLE_BYTES:
        return PyLong_FromUnsignedLongLong(h->bytes);
    case HANDLE_BLOCK_BYTES:
        return PyLong_FromUnsignedLongLong(h->block.block_bytes);
    case HANDLE_DEVICE:
        return PyLong_FromUnsignedLong(h->block.device);
    case HANDLE_STREAM:
        return PyLong_FromUnsignedLongLong(h->stream);
    case HANDLE_LIVE:
        return PyBool_FromLong(h->live);
    }
    Py_UNREACHABLE();
}

static PyObject *handle_tag(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((struct handle *)self)->tag);
}

static PyObject *handle_owner(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef((PyObject *)((struct handle *)self)->sim);
}

static PyGetSetDef handle_members[] = {
    { "address", handle_get, NULL, "Where it lies on the device.", SLOT(HANDLE_ADDRESS) },
    { "bytes", handle_get, NULL, "What was asked for.", SLOT(HANDLE_BYTES) },
    { "block_bytes", handle_get, NULL, "The block it was given.", SLOT(HANDLE_BLOCK_BYTES) },
    { "device", handle_get, NULL, "The device's number.", SLOT(HANDLE_DEVICE) },
    { "stream", handle_get, NULL, "The stream it was allocated on.", SLOT(HANDLE_STREAM) },
    { "live", handle_get, NULL, "Whether it is not freed yet.", SLOT(HANDLE_LIVE) },
    { "tag", handle_tag, NULL, "What the program called it, or None.", NULL },
    { "owner", handle_owner, NULL, "The Device it was allocated by.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyMemberDef handle_places[] = {
    { "__weaklistoffset__", T_PYSSIZET, offsetof(struct handle, weak), READONLY, NULL },
    { NULL, 0, 0, 0, NULL },
};

static PyType_Slot handle_slots[] = {
    { Py_tp_doc,
      SLOT("Memory of a simulated device, freed when it dies, or by Device.free.\n"
           "\n"
           ">>> from vramscope import sim\n"
           ">>> device = sim.Device(\"1GiB\")\n"
           ">>> handle = device.alloc(\"1MiB\", tag=\"weights\")\n"
           ">>> handle\n"
           "<Handle of 1048576 bytes on device 0, tag 'weights'>\n"
           ">>> device.free(handle)\n"
           ">>> handle.live\n"
           "False") },
    { Py_tp_dealloc, SLOT(handle_dealloc) },
    { Py_tp_traverse, SLOT(handle_traverse) },
    { Py_tp_repr, SLOT(handle_repr) },
    { Py_tp_getset, handle_members },
    { Py_tp_members, handle_places },
    { 0, NULL },
};
PyType_Spec sim_handle_spec = {
    .name = "vramscope.sim.Handle",
    .basicsize = sizeof(struct handle),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = handle_slots,
};

/* A handle of this device that is not freed; NULL with an exception set. */
static struct handle *own_handle(struct sim_object *self, PyObject *object)
{
    if (!Py_IS_TYPE(object, self->state->sim_handle)) {
        PyErr_Format(PyExc_TypeError, "a Handle is wanted, not %R", Py_TYPE(object));
        return NULL;
    }
    struct handle *h = (struct handle *)object;
    if (h->sim != self || !h->live) {
        PyErr_SetString(PyExc_ValueError, h->live ? "the handle is of another device"
                                                  : "the handle is freed already");
        return NULL;
    }
    return h;
}

/* Memory. */

/* Tells those who wait for it, then raises; NULL.  An exception of theirs is the program's, as with
 * torch. */
static PyObject *raise_out_of_memory(struct sim_object *self, const struct vrs_sim_refusal *r)
{
    uint64_t limit = r->allowed == VRS_UNKNOWN ? r->total : r->allowed;
    for (Py_ssize_t i = 0; i < PyList_Size(self->observers); i++) {
        PyObject *observer = Py_NewRef(PyList_GetItem(self->observers, i));
        PyObject *ret = PyObject_CallFunction(
            observer, "IKKK", (unsigned)r->device, (unsigned long long)r->segment,
            (unsigned long long)limit, (unsigned long long)r->free);
        Py_DECREF(observer);
        if (ret == NULL)
            return NULL;
        Py_DECREF(ret);
    }
    PyErr_SetString(self->state->sim_out_of_memory, r->message);
    return NULL;
}

/* The arguments of alloc by place and name. */
enum { ARG_BYTES, ARG_STREAM, ARG_TAG, ARG_DEVICE, ARG_POOL, ALLOC_ARGS };
enum { ALLOC_PLACES = ARG_DEVICE };

static bool take_named(PyObject *name, PyObject *value, PyObject **arg)
{
    static const char *const names[ALLOC_ARGS] = { "bytes", "stream", "tag", "device", "pool" };
    for (int i = 0; i < ALLOC_ARGS; i++)
        if (PyUnicode_CompareWithASCIIString(name, names[i]) == 0) {
            if (arg[i] != NULL)
                PyErr_Format(PyExc_TypeError, "alloc() got multiple values for '%s'", names[i]);
            arg[i] = value;
            return !PyErr_Occurred();
        }
    PyErr_Format(PyExc_TypeError, "alloc() got an unexpected keyword argument '%U'", name);
    return false;
}

static bool take_alloc(PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **arg)
{
    if (count > ALLOC_PLACES) {
        PyErr_Format(PyExc_TypeError, "alloc() takes at most %d arguments by place",
                     (int)ALLOC_PLACES);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        arg[i] = args[i];
    Py_ssize_t named = names == NULL ? 0 : PyTuple_Size(names);
    for (Py_ssize_t i = 0; i < named; i++)
        if (!take_named(PyTuple_GetItem(names, i), args[count + i], arg))
            return false;
    if (arg[ARG_BYTES] == NULL)
        PyErr_SetString(PyExc_TypeError, "alloc() needs the number of bytes");
    return arg[ARG_BYTES] != NULL;
}

static bool read_alloc(struct sim_object *self, PyObject *const *arg, struct vrs_sim_request *r)
{
    uint64_t pool = 0;
    if (!sim_bytes_of(self, arg[ARG_BYTES], &r->bytes) ||
        !sim_number_of(arg[ARG_STREAM], &r->stream) || !sim_number_of(arg[ARG_POOL], &pool) ||
        !sim_device_of(self, arg[ARG_DEVICE], &r->device))
        return false;
    if (r->bytes == 0 || r->bytes > (UINT64_MAX >> 2) || pool > UINT32_MAX) {
        PyErr_SetString(PyExc_ValueError, r->bytes == 0 ? "0 bytes are no allocation"
                                                        : "alloc() of more than there can be");
        return false;
    }
    r->pool = (uint32_t)pool;
    return true;
}

static bool read_tag(PyObject *tag, PyObject **ret_utf8, struct vrs_sim_request *r)
{
    *ret_utf8 = NULL;
    if (tag == NULL || tag == Py_None)
        return true;
    if (!PyUnicode_Check(tag)) {
        PyErr_Format(PyExc_TypeError, "tag is a str or None, not %R", Py_TYPE(tag));
        return false;
    }
    *ret_utf8 = PyUnicode_AsEncodedString(tag, "utf-8", "replace");
    if (*ret_utf8 == NULL)
        return false;
    r->tag = PyBytes_AsString(*ret_utf8);
    r->tag_len = (size_t)PyBytes_Size(*ret_utf8);
    return true;
}

static PyObject *sim_alloc(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    struct sim_object *s = (struct sim_object *)self;
    struct vrs_sim_request request = { .size = sizeof request };
    struct vrs_sim_refusal refusal;
    struct vrs_sim_frame frame[VRS_SIM_FRAMES];
    struct vrs_sim_block block;
    struct vrs_error err;
    PyObject *arg[ALLOC_ARGS] = { NULL }, *utf8;
    if (!take_alloc(args, count, names, arg) || !read_alloc(s, arg, &request) ||
        !read_tag(arg[ARG_TAG], &utf8, &request))
        return NULL;
    request.stack = (struct vrs_sim_stack){ frame, sim_stack(s, frame) };
    enum vrs_status status = vrs_sim_alloc(s->sim, &request, &block, &refusal, &err);
    Py_XDECREF(utf8);
    if (status == VRS_LIMIT)
        return raise_out_of_memory(s, &refusal);
    if (status != VRS_OK)
        return raise_error(s->state, &err, NULL);
    return handle_make(s, &block, request.bytes, request.stream, arg[ARG_TAG]);
}

static PyObject *sim_free(PyObject *self, PyObject *object)
{
    struct sim_object *s = (struct sim_object *)self;
    struct handle *h = own_handle(s, object);
    struct vrs_error err;
    return h == NULL ? NULL : done(s, handle_free(h, &err), &err);
}

static PyObject *sim_record_stream(PyObject *self, PyObject *args)
{
    struct sim_object *s = (struct sim_object *)self;
    PyObject *object, *told;
    uint64_t stream = 0;
    struct vrs_error err;
    if (!PyArg_ParseTuple(args, "OO:record_stream", &object, &told) ||
        !sim_number_of(told, &stream))
        return NULL;
    struct handle *h = own_handle(s, object);
    return h == NULL ? NULL : done(s, vrs_sim_record_stream(s->sim, &h->block, stream, &err), &err);
}

static PyObject *sim_empty_cache(PyObject *self, PyObject *args)
{
    struct sim_object *s = (struct sim_object *)self;
    struct vrs_sim_frame frame[VRS_SIM_FRAMES];
    PyObject *told = NULL;
    uint32_t device;
    struct vrs_error err;
    if (!PyArg_ParseTuple(args, "|O:empty_cache", &told) || !sim_device_of(s, told, &device))
        return NULL;
    struct vrs_sim_stack stack = { frame, sim_stack(s, frame) };
    return done(s, vrs_sim_empty_cache(s->sim, device, &stack, &err), &err);
}

static PyObject *sim_synchronize(PyObject *self, PyObject *args)
{
    struct sim_object *s = (struct sim_object *)self;
    PyObject *told = NULL;
    uint32_t device;
    struct vrs_error err;
    if (!PyArg_ParseTuple(args, "|O:synchronize", &told) || !sim_device_of(s, told, &device))
        return NULL;
    return done(s, vrs_sim_synchronize(s->sim, device, &err), &err);
}

static PyObject *sim_on_oom(PyObject *self, PyObject *observer)
{
    struct sim_object *s = (struct sim_object *)self;
    if (!PyCallable_Check(observer)) {
        PyErr_Format(PyExc_TypeError, "an observer is called, and %R is not", Py_TYPE(observer));
        return NULL;
    }
    return PyList_Append(s->observers, observer) == 0 ? Py_NewRef(observer) : NULL;
}

/* What is around the device. */

static PyObject *sim_advance(PyObject *self, PyObject *arg)
{
    struct sim_object *s = (struct sim_object *)self;
    uint64_t ns = 0;
    struct vrs_error err;
    if (!sim_number_of(arg, &ns))
        return NULL;
    return done(s, vrs_sim_advance(s->sim, ns, &err), &err);
}

static PyObject *sim_set_util(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "percent", "seconds", "device", NULL };
    struct sim_object *s = (struct sim_object *)self;
    double percent, seconds;
    PyObject *told = NULL;
    uint32_t device;
    struct vrs_error err;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "dd|$O:set_util", (char **)SLOT(names), &percent,
                                     &seconds, &told) ||
        !sim_device_of(s, told, &device))
        return NULL;
    if (!(seconds >= 0 && seconds < 9e9)) {
        PyErr_SetString(PyExc_ValueError, "seconds are 0 or more");
        return NULL;
    }
    return done(s, vrs_sim_utilisation(s->sim, device, percent, (uint64_t)(seconds * 1e9), &err),
                &err);
}

static PyObject *sim_other(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "bytes", "device", NULL };
    struct sim_object *s = (struct sim_object *)self;
    PyObject *size, *told = NULL;
    uint64_t bytes;
    uint32_t device;
    struct vrs_error err;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O:other", (char **)SLOT(names), &size,
                                     &told) ||
        !sim_bytes_of(s, size, &bytes) || !sim_device_of(s, told, &device))
        return NULL;
    return done(s, vrs_sim_other(s->sim, device, bytes, &err), &err);
}

static PyObject *sim_fail_next(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "n", "device", NULL };
    struct sim_object *s = (struct sim_object *)self;
    PyObject *count = NULL, *told = NULL;
    uint64_t n = 1;
    uint32_t device;
    struct vrs_error err;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O$O:fail_next", (char **)SLOT(names), &count,
                                     &told) ||
        !sim_number_of(count, &n) || !sim_device_of(s, told, &device))
        return NULL;
    return done(s, vrs_sim_fail_next(s->sim, device, n, &err), &err);
}

/* Readings. */

static PyObject *sim_stats(PyObject *self, PyObject *args)
{
    struct sim_object *s = (struct sim_object *)self;
    struct vrs_backend backend;
    struct vrs_stats now;
    PyObject *told = NULL;
    uint32_t device;
    if (!PyArg_ParseTuple(args, "|O:stats", &told) || !sim_device_of(s, told, &device))
        return NULL;
    vrs_sim_backend(s->sim, &backend);
    if (backend.stats(backend.arg, device, &now) != VRS_OK)
        return PyErr_NoMemory();
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "allocated_bytes",
        now.now[VRS_ALLOCATED], "reserved_bytes", now.now[VRS_RESERVED], "active_bytes",
        now.now[VRS_ACTIVE], "requested_bytes", now.now[VRS_REQUESTED], "allocated_peak_bytes",
        now.peak[VRS_ALLOCATED], "reserved_peak_bytes", now.peak[VRS_RESERVED], "active_peak_bytes",
        now.peak[VRS_ACTIVE], "requested_peak_bytes", now.peak[VRS_REQUESTED],
        "inactive_split_bytes", now.inactive_split, "allocated_total_bytes", now.allocated_bytes,
        "freed_total_bytes", now.freed_bytes, "allocations", now.allocations, "frees", now.frees,
        "retries", now.retries, "ooms", now.ooms);
}

static PyObject *sim_reset_peak(PyObject *self, PyObject *args)
{
    struct sim_object *s = (struct sim_object *)self;
    struct vrs_backend backend;
    PyObject *told = NULL;
    uint32_t device;
    if (!PyArg_ParseTuple(args, "|O:reset_peak", &told) || !sim_device_of(s, told, &device))
        return NULL;
    vrs_sim_backend(s->sim, &backend);
    backend.reset_peak(backend.arg, device);
    return Py_NewRef(Py_None);
}

static PyObject *sim_memory(PyObject *self, PyObject *args)
{
    struct sim_object *s = (struct sim_object *)self;
    struct vrs_backend backend;
    PyObject *told = NULL;
    uint32_t device;
    uint64_t free_bytes, total;
    if (!PyArg_ParseTuple(args, "|O:memory", &told) || !sim_device_of(s, told, &device))
        return NULL;
    vrs_sim_backend(s->sim, &backend);
    if (backend.memory(backend.arg, device, &free_bytes, &total) != VRS_OK)
        return PyErr_NoMemory();
    return Py_BuildValue("(KK)", (unsigned long long)free_bytes, (unsigned long long)total);
}

static PyObject *sim_utilisation(PyObject *self, PyObject *args)
{
    struct sim_object *s = (struct sim_object *)self;
    struct vrs_backend backend;
    PyObject *told = NULL;
    uint32_t device;
    double percent;
    if (!PyArg_ParseTuple(args, "|O:utilisation", &told) || !sim_device_of(s, told, &device))
        return NULL;
    vrs_sim_backend(s->sim, &backend);
    if (backend.utilisation(backend.arg, device, &percent) != VRS_OK)
        return Py_NewRef(Py_None);
    return PyFloat_FromDouble(percent);
}

static PyObject *sim_get_clock(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(vrs_sim_clock_ns(((struct sim_object *)self)->sim));
}

static PyObject *sim_get_count(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(vrs_sim_devices(((struct sim_object *)self)->sim));
}

static PyObject *sim_get_current(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(current_device((struct sim_object *)self));
}

static int sim_set_current(PyObject *self, PyObject *value, void *unused)
{
    struct sim_object *s = (struct sim_object *)self;
    uint32_t device;
    (void)unused;
    if (value == NULL) {
        PyErr_SetString(PyExc_AttributeError, "some device is always the current one");
        return -1;
    }
    if (!sim_device_of(s, value, &device))
        return -1;
    return vrs_sim_set_current(s->sim, device, NULL) == VRS_OK ? 0 : -1;
}

/* The class. */

/* The folder of the package, whose frames are no part of the program's stacks. */
static PyObject *package_folder(void)
{
    PyObject *package = PyImport_ImportModule("vramscope");
    PyObject *file = package == NULL ? NULL : PyObject_GetAttrString(package, "__file__");
    PyObject *utf8 = file == NULL ? NULL : PyUnicode_AsEncodedString(file, "utf-8", "replace");
    PyObject *folder = NULL;
    if (utf8 != NULL) {
        Py_ssize_t len = PyBytes_Size(utf8);
        while (len > 0 && PyBytes_AsString(utf8)[len - 1] != '/')
            len--;
        folder = PyBytes_FromStringAndSize(PyBytes_AsString(utf8), len);
    }
    Py_XDECREF(utf8);
    Py_XDECREF(file);
    Py_XDECREF(package);
    return folder;
}

static bool read_options(struct sim_object *self, PyObject *args, PyObject *kwargs,
                         PyObject **ret_settings, struct vrs_sim_options *o)
{
    static const char *const names[] = { "total",   "count", "context", "settings",
                                         "history", "clock", NULL };
    PyObject *total = NULL, *context = NULL, *settings = NULL, *told = NULL, *begins = NULL;
    uint64_t count = 1;
    long long history = 100000;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O$OOULO:Device", (char **)SLOT(names), &total,
                                     &told, &context, &settings, &history, &begins) ||
        !sim_number_of(told, &count) || !sim_number_of(begins, &o->clock_ns) ||
        (total != NULL && !sim_bytes_of(self, total, &o->total_bytes)) ||
        (context != NULL && !sim_bytes_of(self, context, &o->context_bytes)))
        return false;
    if ((total != NULL && o->total_bytes == 0) || count == 0 || history < 0) {
        PyErr_SetString(PyExc_ValueError, count == 0    ? "count is at least 1"
                                          : history < 0 ? "history is 0 or more"
                                                        : "total is at least 1 byte");
        return false;
    }
    o->devices = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
    o->history_entries = history > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)history;
    char *text = NULL;
    *ret_settings = settings == NULL ? NULL : PyUnicode_AsUTF8String(settings);
    /* NULL for the length: a NUL inside is an error. */
    bool ok = settings == NULL ||
              (*ret_settings != NULL && PyBytes_AsStringAndSize(*ret_settings, &text, NULL) == 0);
    o->settings = text;
    return ok;
}

static bool fill(struct sim_object *self, PyObject *args, PyObject *kwargs)
{
    struct vrs_sim_options options = { .size = sizeof options };
    PyObject *settings = NULL;
    struct vrs_error err;
    self->observers = PyList_New(0);
    self->package = package_folder();
    self->f_back = PyUnicode_InternFromString("f_back");
    self->co_filename = PyUnicode_InternFromString("co_filename");
    self->co_name = PyUnicode_InternFromString("co_name");
    if (self->observers == NULL || self->package == NULL || self->f_back == NULL ||
        self->co_filename == NULL || self->co_name == NULL ||
        !read_options(self, args, kwargs, &settings, &options)) {
        Py_XDECREF(settings);
        return false;
    }
    enum vrs_status status = vrs_sim_make(&options, &self->sim, &err);
    Py_XDECREF(settings);
    if (status != VRS_OK)
        raise_error(self->state, &err, NULL);
    else
        sim_fork_join(self);
    return status == VRS_OK;
}

static PyObject *sim_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct core_state *state = NULL;
    for (PyTypeObject *t = type; t != NULL && state == NULL;
         t = (PyTypeObject *)PyType_GetSlot(t, Py_tp_base)) {
        state = core_state_of_type(t);
        if (state == NULL)
            PyErr_Clear();
    }
    allocfunc make = (allocfunc)(uintptr_t)PyType_GetSlot(type, Py_tp_alloc);
    struct sim_object *self = state == NULL ? NULL : (struct sim_object *)make(type, 0);
    if (self == NULL)
        return NULL;
    self->state = state;
    if (fill(self, args, kwargs))
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static int sim_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct sim_object *)self)->observers);
    return 0;
}

/* The list stays: a finalizer may still use the device. */
static int sim_clear(PyObject *self)
{
    PyObject *observers = ((struct sim_object *)self)->observers;
    return observers == NULL ? 0 : PyList_SetSlice(observers, 0, PyList_Size(observers), NULL);
}

static void sim_dealloc(PyObject *self)
{
    struct sim_object *s = (struct sim_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (s->sim != NULL) {
        sim_fork_leave(s);
        vrs_sim_close(s->sim);
    }
    sim_codes_free(&s->codes);
    Py_XDECREF(s->observers);
    Py_XDECREF(s->package);
    Py_XDECREF(s->f_back);
    Py_XDECREF(s->co_filename);
    Py_XDECREF(s->co_name);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void))(function)

/* A backend that keeps the simulation alive. */
static PyObject *sim_make_backend(PyObject *self, PyObject *unused)
{
    struct sim_object *s = (struct sim_object *)self;
    struct vrs_backend face;
    (void)unused;
    vrs_sim_backend(s->sim, &face);
    return backend_make(s->state, &face, self);
}

static PyMethodDef sim_methods[] = {
    { "alloc", KEYWORDS(sim_alloc), METH_FASTCALL | METH_KEYWORDS,
      "alloc($self, /, bytes, stream=0, tag=None, *, device=None, pool=0)\n--\n\n"
      "A Handle of so many bytes: an int, or a size such as \"512MiB\".\n\n"
      "device: None is the current one. pool: of a torch.cuda.MemPool, 0 the default one. Raises "
      "OutOfMemoryError after the observers have run; ValueError for 0 bytes." },
    { "free", sim_free, METH_O,
      "free($self, handle, /)\n--\n\n"
      "Frees the memory of a handle now. Raises ValueError where it is freed already." },
    { "record_stream", sim_record_stream, METH_VARARGS,
      "record_stream($self, handle, stream, /)\n--\n\n"
      "Another stream reads the memory of a handle too: freed, it waits for synchronize()." },
    { "empty_cache", sim_empty_cache, METH_VARARGS,
      "empty_cache($self, device=None, /)\n--\n\nGives back what is cached and whole." },
    { "synchronize", sim_synchronize, METH_VARARGS,
      "synchronize($self, device=None, /)\n--\n\nCompletes the frees that wait for streams." },
    { "on_oom", sim_on_oom, METH_O,
      "on_oom($self, observer, /)\n--\n\n"
      "observer(device, bytes, device_total_or_limit, device_free) runs before each "
      "OutOfMemoryError; an exception of its own takes the place of that. Returns it." },
    { "advance", sim_advance, METH_O,
      "advance($self, ns, /)\n--\n\nMoves the virtual clock by ns nanoseconds." },
    { "set_util", KEYWORDS(sim_set_util), METH_VARARGS | METH_KEYWORDS,
      "set_util($self, /, percent, seconds, *, device=None)\n--\n\n"
      "The device is busy for percent of so many seconds, from now on or from where the last call's "
      "time ends." },
    { "other", KEYWORDS(sim_other), METH_VARARGS | METH_KEYWORDS,
      "other($self, /, bytes, *, device=None)\n--\n\nOther processes hold so many bytes." },
    { "fail_next", KEYWORDS(sim_fail_next), METH_VARARGS | METH_KEYWORDS,
      "fail_next($self, /, n=1, *, device=None)\n--\n\n"
      "The next n requests are refused, without anything being tried or given back." },
    { "stats", sim_stats, METH_VARARGS,
      "stats($self, device=None, /)\n--\n\nThe counters, as a dict; bytes." },
    { "reset_peak", sim_reset_peak, METH_VARARGS,
      "reset_peak($self, device=None, /)\n--\n\nPeaks become the present values." },
    { "memory", sim_memory, METH_VARARGS,
      "memory($self, device=None, /)\n--\n\n(free, total) bytes, as the driver tells." },
    { "utilisation", sim_utilisation, METH_VARARGS,
      "utilisation($self, device=None, /)\n--\n\nPercent by set_util, or None." },
    { "history_start", KEYWORDS(device_history_start), METH_VARARGS | METH_KEYWORDS,
      "history_start($self, /, max_entries=100000, *, enabled=\"all\", context=\"all\", "
      "stacks=\"python\", clear_history=False)\n--\n\n"
      "Records as torch.cuda.memory._record_memory_history does, on all devices.\n\n"
      "max_entries: the newest of each device that are kept. enabled: \"all\", or \"state\": no "
      "events. context: which events have stacks, None, \"state\", \"alloc\" or \"all\". stacks: "
      "\"python\" or \"all\". clear_history: what was recorded is forgotten." },
    { "history_stop", device_history_stop, METH_NOARGS,
      "history_stop($self, /)\n--\n\nEnds recording, and forgets what was recorded." },
    { "history_enabled", device_history_enabled, METH_NOARGS,
      "history_enabled($self, /)\n--\n\nWhether it records." },
    { "history_count", KEYWORDS(device_history_count), METH_VARARGS | METH_KEYWORDS,
      "history_count($self, /, device=None)\n--\n\n(entries kept, entries dropped)." },
    { "mark", KEYWORDS(device_mark), METH_VARARGS | METH_KEYWORDS,
      "mark($self, /, name, *, end=False)\n--\n\n"
      "The beginning or the end of a range of that name, in the history." },
    { "_make_backend", sim_make_backend, METH_NOARGS,
      "_make_backend($self, /)\n--\n\nA Backend that keeps the device." },
    { "_dump", device_dump, METH_O,
      "_dump($self, fd, /)\n--\n\nWrites the snapshot to a file, or returns it where fd is None." },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef sim_members[] = {
    { "clock", sim_get_clock, NULL, "What the virtual clock shows, in ns.", NULL },
    { "count", sim_get_count, NULL, "The number of devices.", NULL },
    { "current", sim_get_current, sim_set_current, "The number of the current device.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot sim_slots[] = {
    { Py_tp_doc, SLOT("Sim(total=\"80GiB\", *, count=1, context=\"0\", settings=\"\", "
                      "history=100000, clock=0)\n--\n\nSimulated devices.") },
    { Py_tp_new, SLOT(sim_new) },
    { Py_tp_dealloc, SLOT(sim_dealloc) },
    { Py_tp_traverse, SLOT(sim_traverse) },
    { Py_tp_clear, SLOT(sim_clear) },
    { Py_tp_methods, sim_methods },
    { Py_tp_getset, sim_members },
    { 0, NULL },
};
PyType_Spec sim_spec = {
    .name = "vramscope._core.Sim",
    .basicsize = sizeof(struct sim_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = sim_slots,
};

struct vrs_sim *sim_of(PyObject *object)
{
    return ((struct sim_object *)object)->sim;
}
