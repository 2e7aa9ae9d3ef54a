/* profiler.c - class Profiler: checkpoints, and the way to its scopes and records. */
#include "core.h"
#include "meter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "vramscope/profiler.h"

enum { NS_PER_SECOND = 1000000000, COPIED_AT_ONCE = 256, STACK_BYTES = 4096, INFO_BYTES = 1024 };

bool profiler_ready(struct profiler_object *p, uint32_t *ret_device)
{
    struct core_state *state = p->state;
    if (p->closed) {
        PyErr_SetString(PyExc_ValueError, "closed");
        return false;
    }
    if (p->automatic && state->without_torch && torch_is_imported(state)) {
        state->without_torch = false;
        state->generation++;
    }
    if (p->automatic && p->generation != state->generation) {
        PyObject *backend = backend_auto(state);
        if (backend == NULL)
            return false;
        p->generation = state->generation;
        if (backend != p->backend)
            vrs_profiler_backend(p->profiler, backend_id(backend));
        PyObject *before = p->backend;
        p->backend = backend;
        Py_XDECREF(before);
    }
    if (!p->current_device) {
        *ret_device = p->device;
        return true;
    }
    const struct vrs_backend *face = backend_face(p->backend);
    *ret_device = face->current != NULL ? face->current(face->arg) : 0;
    return true;
}

void profiler_synchronize(const struct profiler_object *p, uint32_t device)
{
    const struct vrs_backend *face = backend_face(p->backend);
    if (face->synchronize != NULL)
        (void)face->synchronize(face->arg, device); /* which fails where there is no device */
}

/* What is known of a tensor. */

/* object.NAME(), a number; VRS_UNKNOWN: it cannot be told. */
static uint64_t told(PyObject *object, const char *name)
{
    PyObject *value = PyObject_CallMethod(object, name, NULL);
    uint64_t number = VRS_UNKNOWN;
    if (value != NULL && PyLong_Check(value))
        number = PyLong_AsUnsignedLongLong(value);
    Py_XDECREF(value);
    if (PyErr_Occurred() != NULL) {
        exception_drop();
        return VRS_UNKNOWN;
    }
    return number;
}

/* The name of str(value), cut; 0: it cannot be told.  Takes the value over, which may be NULL. */
static uint32_t text_id(PyObject *value, Py_ssize_t most)
{
    uint32_t id = 0;
    PyObject *text = value == NULL ? NULL : PyObject_Str(value);
    PyObject *cut = text == NULL ? NULL : PyUnicode_Substring(text, 0, most);
    if (cut == NULL || !name_id(cut, &id))
        exception_drop();
    Py_XDECREF(value);
    Py_XDECREF(text);
    Py_XDECREF(cut);
    return id;
}

static uint64_t storage_bytes(PyObject *tensor)
{
    PyObject *storage = PyObject_CallMethod(tensor, "untyped_storage", NULL);
    uint64_t bytes = VRS_UNKNOWN;
    if (storage != NULL)
        bytes = told(storage, "nbytes");
    else
        exception_drop();
    Py_XDECREF(storage);
    return bytes;
}

void detail_of(PyObject *tensor, PyObject *info, struct vrs_detail *ret)
{
    *ret = (struct vrs_detail){ .tensor_bytes = VRS_UNKNOWN, .storage_bytes = VRS_UNKNOWN };
    if (info != NULL && info != Py_None)
        ret->info = text_id(Py_NewRef(info), INFO_BYTES);
    if (tensor == NULL || tensor == Py_None)
        return;
    uint64_t each = told(tensor, "element_size"), count = told(tensor, "nelement");
    if (each != VRS_UNKNOWN && count != VRS_UNKNOWN)
        ret->tensor_bytes = each * count;
    ret->storage_bytes = storage_bytes(tensor);
    PyObject *shape = PyObject_GetAttrString(tensor, "shape");
    ret->shape = text_id(shape == NULL ? NULL : PySequence_Tuple(shape), INFO_BYTES);
    Py_XDECREF(shape);
    ret->dtype = text_id(PyObject_GetAttrString(tensor, "dtype"), INFO_BYTES);
}

/* "file:line function" of a frame; false with an exception set. */
static bool frame_line(PyObject *frame, char *line, size_t room)
{
    PyObject *code = PyObject_GetAttrString(frame, "f_code");
    PyObject *file = code == NULL ? NULL : PyObject_GetAttrString(code, "co_filename");
    PyObject *function = code == NULL ? NULL : PyObject_GetAttrString(code, "co_name");
    PyObject *number = PyObject_GetAttrString(frame, "f_lineno");
    PyObject *text = NULL, *utf8 = NULL;
    if (file != NULL && function != NULL && number != NULL)
        text = PyUnicode_FromFormat("%U:%S %U", file, number, function);
    if (text != NULL)
        utf8 = PyUnicode_AsEncodedString(text, "utf-8", "replace");
    if (utf8 != NULL)
        PyOS_snprintf(line, room, "%s", PyBytes_AsString(utf8));
    Py_XDECREF(code);
    Py_XDECREF(file);
    Py_XDECREF(function);
    Py_XDECREF(number);
    Py_XDECREF(text);
    Py_XDECREF(utf8);
    return utf8 != NULL;
}

/* The innermost frames as a name, a line each; 0: none are wanted or known. */
static uint32_t stack_id_of(int frames)
{
    char text[STACK_BYTES];
    size_t used = 0;
    PyObject *get = frames > 0 ? PySys_GetObject("_getframe") : NULL;
    PyObject *frame = get == NULL ? NULL : PyObject_CallNoArgs(get);
    for (int i = 0; frame != NULL && frame != Py_None && i < frames; i++) {
        if (used + 2 >= sizeof text || !frame_line(frame, text + used, sizeof text - used - 1))
            break;
        used += strlen(text + used);
        text[used++] = '\n';
        PyObject *back = PyObject_GetAttrString(frame, "f_back");
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    if (PyErr_Occurred() != NULL)
        exception_drop();
    return used == 0 ? 0 : vrs_name(process_meter(), text, used - 1);
}

/* The three arguments of checkpoint, however they are given.  False with an exception set. */
static bool checkpoint_arguments(PyObject *const *args, Py_ssize_t count, PyObject *names,
                                 PyObject *value[3])
{
    static const char *const known[] = { "name", "tensor", "info" };
    Py_ssize_t named = names == NULL ? 0 : PyTuple_Size(names);
    if (count > 3) {
        PyErr_Format(PyExc_TypeError, "checkpoint() takes 3 arguments at most, not %zd", count);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        value[i] = args[i];
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        int place = 0;
        while (place < 3 && PyUnicode_CompareWithASCIIString(name, known[place]) != 0)
            place++;
        if (place == 3 || value[place] != NULL) {
            PyErr_Format(PyExc_TypeError,
                         place == 3 ? "checkpoint() has no argument %R"
                                    : "checkpoint() has the argument %R twice",
                         name);
            return false;
        }
        value[place] = args[count + i];
    }
    if (value[0] == NULL) {
        PyErr_SetString(PyExc_TypeError, "checkpoint() needs a name");
        return false;
    }
    return true;
}

/* p.checkpoint(name, tensor=None, info=None) */
static PyObject *checkpoint(PyObject *self, PyObject *const *args, Py_ssize_t count,
                            PyObject *names)
{
    struct profiler_object *p = (struct profiler_object *)self;
    if (!p->enabled)
        Py_RETURN_NONE;
    PyObject *value[3] = { NULL, NULL, NULL };
    uint32_t device, parent, path;
    if (!checkpoint_arguments(args, count, names, value) || !profiler_ready(p, &device) ||
        !innermost_path(p->state, &parent) || !path_id(p->state, parent, value[0], &path))
        return NULL;
    struct vrs_detail detail, *given = NULL;
    if (value[1] != NULL || value[2] != NULL || p->stack > 0) {
        detail_of(value[1], value[2], &detail);
        detail.stack = stack_id_of(p->stack);
        given = &detail;
    }
    if (p->synchronize)
        profiler_synchronize(p, device);
    struct vrs_record *record;
    PyObject *view = record_view(p->state, p->made, &record);
    if (view == NULL)
        return NULL;
    vrs_checkpoint(p->profiler, device, path, given, record);
    if (p->strict && record->state == VRS_STATE_UNKNOWN) {
        Py_DECREF(view);
        return raise_usage(p->state, "the device's counters could not be read");
    }
    return view;
}

static PyObject *watch(PyObject *self, PyObject *unused)
{
    struct profiler_object *p = (struct profiler_object *)self;
    uint32_t device;
    (void)unused;
    if (!profiler_ready(p, &device))
        return NULL;
    vrs_profiler_watch(p->profiler, device);
    Py_RETURN_NONE;
}

static PyObject *reset(PyObject *self, PyObject *unused)
{
    struct profiler_object *p = (struct profiler_object *)self;
    uint32_t device;
    (void)unused;
    if (!profiler_ready(p, &device))
        return NULL;
    vrs_profiler_reset(p->profiler);
    p->failed = p->timings.lost = 0;
    Py_RETURN_NONE;
}

/* All rows of a ring as views. */
static PyObject *records(PyObject *self, PyObject *unused)
{
    struct profiler_object *p = (struct profiler_object *)self;
    struct vrs_record row[COPIED_AT_ONCE];
    PyObject *list = PyList_New(0);
    uint64_t from = 0, first;
    uint32_t got;
    (void)unused;
    while (list != NULL &&
           (got = vrs_records(p->profiler, from, COPIED_AT_ONCE, row, &first)) != 0) {
        for (uint32_t i = 0; list != NULL && i < got; i++) {
            struct vrs_record *record;
            PyObject *view = record_view(p->state, p->made, &record);
            if (view != NULL)
                *record = row[i];
            if (view == NULL || PyList_Append(list, view) != 0)
                Py_CLEAR(list);
            Py_XDECREF(view);
        }
        from = first + got;
    }
    return list;
}

static PyObject *scopes(PyObject *self, PyObject *unused)
{
    struct profiler_object *p = (struct profiler_object *)self;
    struct vrs_scope_result row[COPIED_AT_ONCE];
    PyObject *list = PyList_New(0);
    uint64_t from = 0, first;
    uint32_t got;
    (void)unused;
    timings_ask(p);
    while (list != NULL &&
           (got = vrs_scopes(p->profiler, from, COPIED_AT_ONCE, row, &first)) != 0) {
        for (uint32_t i = 0; list != NULL && i < got; i++) {
            PyObject *view = scope_view(p->state, &row[i], p->made);
            if (view == NULL || PyList_Append(list, view) != 0)
                Py_CLEAR(list);
            Py_XDECREF(view);
        }
        from = first + got;
    }
    return list;
}

static PyObject *measured(PyObject *self, PyObject *unused)
{
    struct profiler_object *p = (struct profiler_object *)self;
    struct vrs_result *result;
    struct vrs_error err;
    (void)unused;
    timings_ask(p);
    if (vrs_profiler_summary(p->profiler, &result, &err) != VRS_OK)
        return raise_error(p->state, &err, NULL);
    return answer_make(p->state, result, "profile", &(struct drawn){ .opened = NULL });
}

static PyObject *get_losses(PyObject *self, void *closure)
{
    struct profiler_object *p = (struct profiler_object *)self;
    struct vrs_profiler_losses own;
    struct vrs_meter_losses all;
    (void)closure;
    vrs_profiler_losses(p->profiler, &own);
    vrs_meter_losses(process_meter(), &all);
    return Py_BuildValue(
        "{sKsKsKsKsKsKsKsKsKsKsKsK}", "records", (unsigned long long)own.records.lost, "scopes",
        (unsigned long long)own.scopes.lost, "dropped_scopes", (unsigned long long)own.dropped,
        "totals", (unsigned long long)own.totals, "device_times",
        (unsigned long long)p->timings.lost, "hooks", (unsigned long long)p->failed, "slots",
        (unsigned long long)all.slots, "readings", (unsigned long long)all.readings, "waits",
        (unsigned long long)all.waits, "nested", (unsigned long long)all.nested, "foreign_resets",
        (unsigned long long)all.resets, "names", (unsigned long long)all.names);
}

static PyObject *get_backend(PyObject *self, void *closure)
{
    struct profiler_object *p = (struct profiler_object *)self;
    uint32_t device;
    (void)closure;
    return profiler_ready(p, &device) ? Py_NewRef(p->backend) : NULL;
}

static PyObject *get_device(PyObject *self, void *closure)
{
    struct profiler_object *p = (struct profiler_object *)self;
    uint32_t device;
    (void)closure;
    return profiler_ready(p, &device) ? PyLong_FromUnsignedLong(device) : NULL;
}

static PyObject *get_enabled(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(((struct profiler_object *)self)->enabled);
}

static int set_enabled(PyObject *self, PyObject *value, void *closure)
{
    int enabled = value == NULL ? -1 : PyObject_IsTrue(value);
    (void)closure;
    if (value == NULL)
        PyErr_SetString(PyExc_AttributeError, "`enabled` cannot be deleted");
    if (enabled < 0)
        return -1;
    ((struct profiler_object *)self)->enabled = enabled != 0;
    return 0;
}

static PyObject *get_closed(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(((struct profiler_object *)self)->closed);
}

/* No record is taken any more; those that there are can still be asked for. */
static PyObject *finish(PyObject *self, PyObject *unused)
{
    struct profiler_object *p = (struct profiler_object *)self;
    (void)unused;
    p->enabled = false;
    if (!p->closed)
        vrs_profiler_backend(p->profiler, 0);
    p->closed = true;
    Py_RETURN_NONE;
}

/* The state of the module, which only our own class knows, not one made from it in Python. */
static struct core_state *state_of(PyTypeObject *type)
{
    struct core_state *state = NULL;
    while (type != NULL && (state = core_state_of_type(type)) == NULL) {
        PyErr_Clear();
        type = PyType_GetSlot(type, Py_tp_base);
    }
    return state;
}

static bool profiler_begin(struct profiler_object *p, PyObject *backend, PyObject *device,
                           const struct vrs_profiler_options *wanted)
{
    struct vrs_profiler_options options = *wanted;
    struct vrs_error err;
    p->backend = p->automatic ? backend_auto(p->state) : Py_NewRef(backend);
    if (p->backend == NULL)
        return false;
    if (Py_TYPE(p->backend) != p->state->backend) {
        PyErr_Format(PyExc_TypeError, "a backend is a Backend, not %R", Py_TYPE(p->backend));
        return false;
    }
    p->generation = p->state->generation;
    if (!p->current_device && !backend_device(p->state, p->backend, device, &p->device))
        return false;
    options.backend = backend_id(p->backend);
    if (vrs_profiler_make(process_meter(), &options, &p->profiler, &err) == VRS_OK)
        return true;
    raise_error(p->state, &err, NULL);
    return false;
}

/* Reads the settings and begins with them.  False with an exception set. */
static bool profiler_settle(struct profiler_object *p, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "backend", "device", "scope_class", "capacity",
                                         "enabled", "stats",  "host",        "preserve_torch_peak",
                                         "strict",  "stack",  "synchronize", "from_reset",
                                         "census",  NULL };
    PyObject *backend, *device, *scope_class, *census = Py_None;
    int capacity, enabled, stats, host, keep_peak, strict, stack, synchronize, from_reset = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOipppppip|pO:Profiler", (char **)SLOT(names),
                                     &backend, &device, &scope_class, &capacity, &enabled, &stats,
                                     &host, &keep_peak, &strict, &stack, &synchronize, &from_reset,
                                     &census))
        return false;
    struct vrs_profiler_options options = {
        .size = sizeof options,
        .flags = (keep_peak ? VRS_KEEP_PEAK : 0u) | (strict ? VRS_STRICT : 0u) |
                 (from_reset ? VRS_FROM_RESET : 0u),
        .capacity = capacity > 0 ? (uint32_t)capacity : 0,
        .no_stats = stats == 0,
        .host = host != 0,
    };
    p->automatic = backend == Py_None;
    p->scope_class = Py_NewRef(scope_class);
    p->census = Py_NewRef(census);
    p->current_device = device == Py_None;
    p->enabled = enabled != 0;
    p->strict = strict != 0;
    p->stack = stack;
    p->synchronize = synchronize != 0;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    p->made = (double)now.tv_sec + (double)now.tv_nsec / NS_PER_SECOND;
    return profiler_begin(p, backend, device, &options);
}

static struct profiler_object *profiler_made(PyTypeObject *type, struct core_state *state,
                                             PyObject *args, PyObject *kwargs)
{
    allocfunc make = (allocfunc)(uintptr_t)PyType_GetSlot(type, Py_tp_alloc);
    if (process_meter() == NULL)
        return NULL;
    struct profiler_object *p = (struct profiler_object *)make(type, 0);
    if (p == NULL)
        return NULL;
    p->state = state;
    if (!profiler_settle(p, args, kwargs)) {
        Py_DECREF((PyObject *)p);
        return NULL;
    }
    return p;
}

static PyObject *profiler_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    return (PyObject *)profiler_made(type, state_of(type), args, kwargs);
}

/* Begins anew in place, with other settings: who holds the object goes on with them. */
static PyObject *renew(PyObject *self, PyObject *args, PyObject *kwargs)
{
    struct profiler_object *p = (struct profiler_object *)self;
    if (p->open > 0 || p->closed) {
        PyErr_SetString(PyExc_ValueError,
                        p->closed ? "closed" : "a scope of this profiler is open");
        return NULL;
    }
    struct profiler_object *other = profiler_made(Py_TYPE(self), p->state, args, kwargs);
    if (other == NULL)
        return NULL;
    /* What the object is apart from its head changes places; the other one ends with the old. */
    struct profiler_object old = *p;
    size_t head = offsetof(struct profiler_object, state);
    memcpy((char *)p + head, (char *)other + head, sizeof *p - head);
    memcpy((char *)other + head, (char *)&old + head, sizeof *p - head);
    Py_DECREF((PyObject *)other);
    Py_RETURN_NONE;
}

static int profiler_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct profiler_object *p = (struct profiler_object *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(p->backend);
    Py_VISIT(p->scope_class);
    Py_VISIT(p->census);
    return timings_visit(&p->timings, visit, arg);
}

static int profiler_clear(PyObject *self)
{
    struct profiler_object *p = (struct profiler_object *)self;
    Py_CLEAR(p->scope_class);
    Py_CLEAR(p->census);
    timings_drop(&p->timings);
    return 0;
}

static void profiler_dealloc(PyObject *self)
{
    struct profiler_object *p = (struct profiler_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc give = (freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free);
    PyObject_GC_UnTrack(self);
    timings_drop(&p->timings);
    vrs_profiler_free(p->profiler);
    Py_XDECREF(p->backend);
    Py_XDECREF(p->scope_class);
    Py_XDECREF(p->census);
    give(self);
    Py_DECREF(type);
}

static PyGetSetDef members[] = {
    { "enabled", get_enabled, set_enabled, "Whether checkpoints and scopes are recorded.", NULL },
    { "losses", get_losses, NULL,
      "What is missing, by kind: rows that the rings overwrote, times of the device that too many "
      "later ones came before, hooks and readings that failed; of the process: slots, readings, "
      "waits, nested, foreign_resets, names.",
      NULL },
    { "backend", get_backend, NULL, "How the device is read now.", NULL },
    { "device", get_device, NULL, "Number of the device that is asked now.", NULL },
    { "closed", get_closed, NULL, "Whether close() was called.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyObject *own_methods(PyObject *class, PyObject *unused);

/* What a recording of steps is expected to take. */

PyObject *profiler_step_events(PyObject *module, PyObject *args)
{
    uint64_t allocations, frees;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&O&:_step_events", number_into, &allocations, number_into,
                          &frees))
        return NULL;
    return bytes_or_none(vrs_step_events(allocations, frees));
}

PyObject *profiler_expected(PyObject *module, PyObject *args)
{
    uint64_t events, steps, most;
    struct vrs_expected e;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&O&O&:_expected", number_into, &events, number_into, &steps,
                          number_into, &most))
        return NULL;
    vrs_expect_recording(events, steps, most, &e);
    return Py_BuildValue("NNNN", bytes_or_none(e.events), bytes_or_none(e.least_bytes),
                         bytes_or_none(e.most_bytes), bytes_or_none(e.steps_that_fit));
}

enum { HOT = 2 }; /* the first of the methods */
static PyMethodDef methods[] = {
    { "checkpoint", FAST(checkpoint), METH_FASTCALL | METH_KEYWORDS,
      "checkpoint($self, /, name, tensor=None, info=None)\n--\n\n"
      "Reads the device's counters once and keeps a Record, which is returned; None while the "
      "profiler is disabled.\n\n"
      "tensor: its bytes, shape and dtype are kept, no reference. info: any text, cut at 1,024 "
      "characters." },
    { "scope", FAST(scope_make), METH_FASTCALL | METH_KEYWORDS,
      "scope($self, /, name, *, tensor=None, time_device=False)\n--\n\n"
      "A Scope: for `with`, `async with`, or as a decorator. Each entry gives a ScopeResult.\n\n"
      "tensor: its bytes, shape and dtype are kept, no reference. time_device: results have the "
      "device's own nanoseconds, which are None until the device has done what the scope gave it; "
      "nobody waits for that, and `result`, scopes() and summary() know them afterwards." },
    { "_scope", FAST(scope_make_of), METH_FASTCALL, "A scope of a class of its own." },
    { "_own_methods", own_methods, METH_NOARGS | METH_CLASS,
      "Gives a subclass the hot methods as its own." },
    { "watch", watch, METH_NOARGS,
      "watch($self, /)\n--\n\nBegins the interval that the next checkpoint ends." },
    { "reset", reset, METH_NOARGS,
      "reset($self, /)\n--\n\nForgets records, results, totals and the peak so far." },
    { "records", records, METH_NOARGS,
      "records($self, /)\n--\n\nThe last records, oldest first: a list of Record." },
    { "scopes", scopes, METH_NOARGS,
      "scopes($self, /)\n--\n\nThe last results of scopes, in the order in which they ended." },
    { "_measured", measured, METH_NOARGS, "What summary() tells: a Result." },
    { "_renew", FAST(renew), METH_VARARGS | METH_KEYWORDS, "Begins anew with other settings." },
    { "finish", finish, METH_NOARGS, "finish($self, /)\n--\n\nRecords nothing any more." },
    { NULL, NULL, 0, NULL },
};

/* CPython calls a method without detours where the object's class is the one that it was made for,
 * and not one above. */
static PyObject *own_methods(PyObject *class, PyObject *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < HOT; i++) {
        PyObject *method = PyDescr_NewMethod((PyTypeObject *)class, &methods[i]);
        int set = method == NULL ? -1 : PyObject_SetAttrString(class, methods[i].ml_name, method);
        Py_XDECREF(method);
        if (set != 0)
            return NULL;
    }
    Py_RETURN_NONE;
}

static PyType_Slot slots[] = {
    { Py_tp_new, SLOT(profiler_new) },
    { Py_tp_dealloc, SLOT(profiler_dealloc) },
    { Py_tp_traverse, SLOT(profiler_traverse) },
    { Py_tp_clear, SLOT(profiler_clear) },
    { Py_tp_getset, members },
    { Py_tp_methods, methods },
    { Py_tp_doc, SLOT("What vramscope.Profiler is made from.") },
    { 0, NULL },
};

PyType_Spec profiler_spec = {
    .name = "vramscope._core.Profiler",
    .basicsize = sizeof(struct profiler_object),
    .flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
