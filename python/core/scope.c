/* scope.c - class Scope, which is entered and left, and class Entry: one time that it is open.
 *
 * A context variable holds the innermost open entry, so that threads and tasks have a chain of
 * their own.  An entry owns its slot in the ledger, so that the order of exits does not matter. */
#include "core.h"
#include "meter.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramscope/profiler.h"

struct entry {
    PyObject_HEAD struct profiler_object *profiler; /* NULL: closed and forgotten */
    struct entry *parent;                           /* innermost when it was resumed; or NULL */
    struct entry *before;                           /* the scope's other open entry; owned */
    const void *scope;                              /* whose it is; compared, never used */
    PyObject *counted; /* what tells the tensors that were born and died; or NULL */
    PyObject *begun;   /* the device's event of its begin; or NULL */
    struct vrs_scope row;
    uint64_t device_ns; /* at its begin; VRS_UNKNOWN: not measured */
    uint32_t backend;   /* whose these two are; 0: not timed */
    bool open;
};

struct scope {
    PyObject_HEAD struct profiler_object *profiler;
    PyObject *name;
    PyObject *result;      /* of the last time, once somebody has asked; or NULL */
    struct timing *timing; /* of that result, while the device's time is not known; or NULL */
    struct entry *last;    /* the entry that was opened last of those that are open; or NULL */
    struct vrs_detail detail;
    struct vrs_scope_result row; /* of the last time; nothing before `left` */
    uint32_t skipped;            /* entries while the profiler was disabled */
    bool time_device, left;
};

/* The innermost entry of the context, NULL for none; a new reference.  False with an exception. */
static bool innermost(struct core_state *state, struct entry **ret)
{
    *ret = NULL;
    if (atomic_load_explicit(&state->entries, memory_order_relaxed) == 0)
        return true; /* a context is asked as long as one can hold an entry */
    PyObject *found = PyObject_CallNoArgs(state->innermost_get);
    if (found == NULL)
        return false;
    /* Those that were closed out of order are passed over. */
    while (Py_TYPE(found) == state->entry && !((struct entry *)found)->open) {
        struct entry *parent = ((struct entry *)found)->parent;
        PyObject *next = Py_NewRef(parent != NULL ? (PyObject *)parent : Py_None);
        Py_DECREF(found);
        found = next;
    }
    if (Py_TYPE(found) != state->entry)
        Py_CLEAR(found);
    *ret = (struct entry *)found;
    return true;
}

bool innermost_path(struct core_state *state, uint32_t *ret)
{
    struct entry *e;
    if (!innermost(state, &e))
        return false;
    *ret = e != NULL ? e->row.path : 0;
    Py_XDECREF((PyObject *)e);
    return true;
}

static bool innermost_set(struct core_state *state, struct entry *e)
{
    PyObject *token = PyObject_CallFunctionObjArgs(state->innermost_set,
                                                   e != NULL ? (PyObject *)e : Py_None, NULL);
    Py_XDECREF(token);
    return token != NULL;
}

static uint64_t device_time(const struct entry *e)
{
    const struct vrs_backend *face = backend_face(e->profiler->backend);
    uint64_t ns;
    if (face->device_ns == NULL || face->device_ns(face->arg, e->row.device, &ns) != VRS_OK)
        return VRS_UNKNOWN;
    return ns;
}

/* The device's event of this moment; NULL: it has none, or failed, which is counted. */
static PyObject *device_event(const struct entry *e)
{
    PyObject *event;
    if (!backend_event(e->profiler->backend, e->row.device, &event))
        e->profiler->failed++;
    return event;
}

/* Begins to time the device, by its clock if there is one. */
static void time_begin(struct entry *e)
{
    e->backend = backend_id(e->profiler->backend);
    e->device_ns = device_time(e);
    if (e->device_ns == VRS_UNKNOWN)
        e->begun = device_event(e);
}

/* The time by the clock; where events tell it later, VRS_UNKNOWN and the last one. */
static uint64_t time_end(const struct entry *e, PyObject **ret_event)
{
    uint64_t now;
    *ret_event = NULL;
    if (e->backend != backend_id(e->profiler->backend))
        return VRS_UNKNOWN; /* another's moments have nothing to do with these */
    if (e->begun != NULL)
        *ret_event = device_event(e);
    if (e->device_ns == VRS_UNKNOWN || (now = device_time(e)) == VRS_UNKNOWN)
        return VRS_UNKNOWN;
    return now - e->device_ns;
}

/* Begins to count tensors, where that is asked for. */
static PyObject *count_begin(struct profiler_object *p, uint32_t device)
{
    PyObject *counted;
    if (p->census == Py_None)
        return NULL;
    counted = PyObject_CallFunction(p->census, "OI", p->backend, (unsigned)device);
    if (counted == NULL) {
        exception_drop();
        p->failed++;
    }
    return counted;
}

static void count_end(struct entry *e)
{
    unsigned long long born, died;
    if (e->counted == NULL)
        return;
    PyObject *pair = PyObject_CallNoArgs(e->counted);
    if (pair != NULL && PyArg_ParseTuple(pair, "KK", &born, &died)) {
        e->row.born = born;
        e->row.died = died;
    } else {
        exception_drop();
        e->profiler->failed++;
    }
    Py_XDECREF(pair);
    Py_CLEAR(e->counted);
}

/* Opens the scope once more below the innermost entry, or NULL, without making it the innermost.
 * NULL with an exception. */
static struct entry *entry_open(struct scope *s, const struct entry *below)
{
    struct profiler_object *p = s->profiler;
    struct core_state *state = p->state;
    uint32_t device, path;
    if (!profiler_ready(p, &device) ||
        !path_id(state, below != NULL ? below->row.path : 0, s->name, &path))
        return NULL;
    struct entry *e = PyObject_GC_New(struct entry, state->entry);
    if (e == NULL)
        return NULL;
    e->profiler = (struct profiler_object *)Py_NewRef((PyObject *)p);
    e->parent = NULL;
    e->scope = s;
    e->begun = NULL;
    e->backend = 0;
    e->device_ns = VRS_UNKNOWN;
    e->counted = count_begin(p, device);
    e->open = true;
    atomic_fetch_add_explicit(&state->entries, 1, memory_order_relaxed);
    p->open++;
    vrs_scope_open(p->profiler, device, path, &e->row);
    e->row.detail = s->detail;
    if (s->time_device)
        time_begin(e);
    e->before = s->last;
    s->last = (struct entry *)Py_NewRef((PyObject *)e);
    PyObject_GC_Track((PyObject *)e);
    return e;
}

/* Takes the entry out of those that the scope holds open. */
static void entry_unlink(struct scope *s, struct entry *e)
{
    struct entry **at = &s->last;
    while (*at != NULL && *at != e)
        at = &(*at)->before;
    if (*at == NULL)
        return;
    *at = e->before;
    e->before = NULL;
    Py_DECREF((PyObject *)e);
}

static void entry_ends(struct entry *e)
{
    e->open = false;
    e->profiler->open--;
    atomic_fetch_sub_explicit(&e->profiler->state->entries, 1, memory_order_relaxed);
}

static void result_forget(struct scope *s)
{
    PyObject *result = s->result;
    struct timing *timing = s->timing;
    s->result = NULL;
    s->timing = NULL;
    timing_leave(timing);
    Py_XDECREF(result);
}

/* The device's time of the last result is told later where there is an event of its end, which is
 * taken over. */
static struct timing *timing_of(struct entry *e, PyObject *ended,
                                const struct vrs_scope_result *row)
{
    PyObject *begun = e->begun;
    if (ended == NULL)
        return NULL;
    e->begun = NULL;
    return timing_add(e->profiler, begun, ended, row);
}

/* Ends the entry's interval and keeps the result with the scope.  `type` is that of an exception,
 * or None. */
static void entry_close(struct scope *s, struct entry *e, PyObject *type)
{
    struct profiler_object *p = e->profiler;
    uint32_t raised = 0;
    PyObject *ended;
    if (!e->open)
        return;
    entry_ends(e);
    uint64_t device_ns = time_end(e, &ended);
    if (type != Py_None) {
        PyObject *name = PyObject_GetAttrString(type, "__name__");
        if (name == NULL || !name_id(name, &raised)) {
            exception_drop();
            p->failed++;
        }
        Py_XDECREF(name);
    }
    if (p->synchronize)
        profiler_synchronize(p, e->row.device);
    struct vrs_scope_result row;
    count_end(e);
    vrs_scope_close(p->profiler, &e->row, raised, device_ns, &row);
    struct timing *timing = timing_of(e, ended, &row); /* may run code that leaves the scope too */
    result_forget(s);
    s->row = row;
    s->timing = timing;
    s->left = true;
    entry_unlink(s, e);
}

/* The entry is the innermost one of this context from now on; the one that was, which is taken
 * over, may be NULL. */
static bool entry_resume(struct entry *e, struct entry *before)
{
    Py_XDECREF((PyObject *)e->parent);
    e->parent = before;
    return innermost_set(e->profiler->state, e);
}

/* The one that was before is the innermost again, if the entry still is. */
static bool entry_pause(struct entry *e)
{
    struct core_state *state = e->profiler->state;
    PyObject *now = PyObject_CallNoArgs(state->innermost_get);
    bool ok = now != NULL && (now != (PyObject *)e || innermost_set(state, e->parent));
    Py_XDECREF(now);
    return ok;
}

static PyObject *scope_enter(PyObject *self, PyObject *unused)
{
    struct scope *s = (struct scope *)self;
    (void)unused;
    if (!s->profiler->enabled) {
        s->skipped++;
        return Py_NewRef(self);
    }
    struct entry *before;
    if (!innermost(s->profiler->state, &before))
        return NULL;
    struct entry *e = entry_open(s, before);
    if (e == NULL) {
        Py_XDECREF((PyObject *)before);
        return NULL;
    }
    if (!entry_resume(e, before)) {
        exception_drop();
        s->profiler->failed++;
    }
    Py_DECREF((PyObject *)e);
    return Py_NewRef(self);
}

/* The innermost entry of the context, if it is the scope's; else NULL. */
static struct entry *innermost_of(struct scope *s)
{
    struct entry *e = NULL;
    if (!innermost(s->profiler->state, &e))
        exception_drop();
    if (e != NULL && e->scope == s)
        return e;
    Py_XDECREF((PyObject *)e);
    return NULL;
}

/* The entry before the scope's innermost one is the innermost from now on. */
static void innermost_leave(struct scope *s, struct entry *e)
{
    if (!innermost_set(s->profiler->state, e->parent)) {
        exception_drop();
        s->profiler->failed++;
    }
}

/* Of a closed entry nothing is asked any more; a context may hold it for long. */
static void entry_forget(struct entry *e)
{
    Py_CLEAR(e->parent);
    Py_CLEAR(e->begun);
    Py_CLEAR(e->profiler);
}

/* s.__exit__(type, value, traceback): never raises, and lets the exception pass. */
static PyObject *scope_exit(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    struct scope *s = (struct scope *)self;
    if (s->skipped > 0) {
        s->skipped--;
        Py_RETURN_FALSE;
    }
    /* Where no other entry is open in any context, none is looked for, and the closed one stays the
     * innermost, which is passed over: to set a context variable costs as much as all else here. */
    bool alone = s->last != NULL && s->last->open &&
                 atomic_load_explicit(&s->profiler->state->entries, memory_order_relaxed) == 1;
    struct entry *e = alone ? NULL : innermost_of(s);
    if (e != NULL)
        innermost_leave(s, e);
    else
        e = (struct entry *)Py_XNewRef((PyObject *)s->last);
    if (e == NULL)
        Py_RETURN_FALSE;
    entry_close(s, e, count > 0 ? args[0] : Py_None);
    if (alone)
        entry_forget(e);
    Py_DECREF((PyObject *)e);
    Py_RETURN_FALSE;
}

/* What generators need, which are paused at every yield. */

static PyObject *scope_open(PyObject *self, PyObject *unused)
{
    struct scope *s = (struct scope *)self;
    (void)unused;
    if (!s->profiler->enabled)
        Py_RETURN_NONE;
    struct entry *below;
    if (!innermost(s->profiler->state, &below))
        return NULL;
    struct entry *e = entry_open(s, below);
    Py_XDECREF((PyObject *)below);
    return (PyObject *)e;
}

static PyObject *scope_close(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    struct scope *s = (struct scope *)self;
    if (count != 2 || Py_TYPE(args[0]) != s->profiler->state->entry ||
        ((struct entry *)args[0])->scope != s) {
        PyErr_SetString(PyExc_TypeError, "_close(entry, type) takes an entry of this scope");
        return NULL;
    }
    entry_close(s, (struct entry *)args[0], args[1]);
    Py_RETURN_NONE;
}

static PyObject *entry_resume_method(PyObject *self, PyObject *unused)
{
    struct entry *e = (struct entry *)self, *before;
    (void)unused;
    if (e->profiler == NULL)
        Py_RETURN_NONE;
    if (!innermost(e->profiler->state, &before) || !entry_resume(e, before))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *entry_pause_method(PyObject *self, PyObject *unused)
{
    struct entry *e = (struct entry *)self;
    (void)unused;
    if (e->profiler != NULL && !entry_pause(e))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *get_name(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef(((struct scope *)self)->name);
}

/* Takes the device's time where the device has come to its end meanwhile. */
static void result_renew(struct scope *s)
{
    struct timing *timing = s->timing;
    struct vrs_scope_result row;
    if (!timing_told(s->profiler, timing, &row) || s->timing != timing)
        return; /* not yet, or the scope was left again while that was asked */
    result_forget(s);
    s->row = row;
}

static PyObject *get_result(PyObject *self, void *closure)
{
    struct scope *s = (struct scope *)self;
    (void)closure;
    if (!s->left)
        Py_RETURN_NONE;
    if (s->timing != NULL)
        result_renew(s);
    if (s->result == NULL) {
        PyObject *made = scope_view(s->profiler->state, &s->row, s->profiler->made);
        if (s->result == NULL)
            s->result = made;
        else
            Py_XDECREF(made); /* a collection ran code that asked, too */
    }
    return Py_XNewRef(s->result);
}

static PyObject *get_profiler(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef((PyObject *)((struct scope *)self)->profiler);
}

static struct scope *scope_of_class(struct profiler_object *p, PyTypeObject *class, PyObject *name)
{
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "a name is a str, not %R", Py_TYPE(name));
        return NULL;
    }
    allocfunc make = (allocfunc)(uintptr_t)PyType_GetSlot(class, Py_tp_alloc);
    struct scope *s = (struct scope *)make(class, 0);
    if (s == NULL)
        return NULL;
    s->profiler = (struct profiler_object *)Py_NewRef((PyObject *)p);
    s->name = Py_NewRef(name);
    detail_of(NULL, NULL, &s->detail);
    return s;
}

/* Profiler._scope(class, name) */
PyObject *scope_make_of(PyObject *profiler, PyObject *const *args, Py_ssize_t count)
{
    struct profiler_object *p = (struct profiler_object *)profiler;
    if (count != 2 || !PyType_Check(args[0]) ||
        !PyType_IsSubtype((PyTypeObject *)args[0], p->state->scope)) {
        PyErr_SetString(PyExc_TypeError, "_scope(class, name) takes a class of scopes");
        return NULL;
    }
    return (PyObject *)scope_of_class(p, (PyTypeObject *)args[0], args[1]);
}

/* Profiler.scope(name, *, tensor=None, time_device=False) */
PyObject *scope_make(PyObject *profiler, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    struct profiler_object *p = (struct profiler_object *)profiler;
    PyObject *name = count > 0 ? args[0] : NULL, *tensor = NULL;
    Py_ssize_t named = names == NULL ? 0 : PyTuple_Size(names);
    int time_device = 0;
    if (count > 1) {
        PyErr_SetString(PyExc_TypeError, "scope() takes a name; tensor and time_device by name");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *key = PyTuple_GetItem(names, i), *value = args[count + i];
        if (PyUnicode_CompareWithASCIIString(key, "name") == 0 && name == NULL) {
            name = value;
        } else if (PyUnicode_CompareWithASCIIString(key, "tensor") == 0) {
            tensor = value;
        } else if (PyUnicode_CompareWithASCIIString(key, "time_device") == 0) {
            time_device = PyObject_IsTrue(value);
        } else {
            PyErr_Format(PyExc_TypeError, "scope() has no argument %R, or has it twice", key);
            return NULL;
        }
    }
    if (time_device < 0)
        return NULL;
    if (name == NULL) {
        PyErr_SetString(PyExc_TypeError, "scope() needs a name");
        return NULL;
    }
    struct scope *s = scope_of_class(p, (PyTypeObject *)p->scope_class, name);
    if (s == NULL)
        return NULL;
    s->time_device = time_device != 0;
    if (tensor != NULL)
        detail_of(tensor, NULL, &s->detail);
    return (PyObject *)s;
}

static int scope_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct scope *s = (struct scope *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(s->profiler);
    Py_VISIT(s->result);
    for (struct entry *e = s->last; e != NULL; e = e->before)
        Py_VISIT(e);
    return 0;
}

static void entry_drop(struct entry *e)
{
    if (!e->open)
        return;
    vrs_scope_drop(e->profiler->profiler, &e->row);
    entry_ends(e);
}

/* Entries that were never left have no result. */
static int scope_clear(PyObject *self)
{
    struct scope *s = (struct scope *)self;
    while (s->last != NULL) {
        struct entry *e = s->last;
        s->last = e->before;
        e->before = NULL;
        entry_drop(e);
        Py_DECREF((PyObject *)e);
    }
    return 0;
}

static void scope_dealloc(PyObject *self)
{
    struct scope *s = (struct scope *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc give = (freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free);
    PyObject_GC_UnTrack(self);
    scope_clear(self);
    result_forget(s);
    Py_XDECREF((PyObject *)s->profiler);
    Py_XDECREF(s->name);
    give(self);
    Py_DECREF(type);
}

static int entry_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct entry *e = (struct entry *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(e->profiler);
    Py_VISIT(e->parent);
    Py_VISIT(e->counted);
    Py_VISIT(e->begun);
    return 0;
}

static int entry_clear(PyObject *self)
{
    Py_CLEAR(((struct entry *)self)->parent);
    Py_CLEAR(((struct entry *)self)->counted);
    Py_CLEAR(((struct entry *)self)->begun);
    return 0;
}

static void entry_dealloc(PyObject *self)
{
    struct entry *e = (struct entry *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    entry_drop(e);
    Py_XDECREF((PyObject *)e->parent);
    Py_XDECREF(e->counted);
    Py_XDECREF(e->begun);
    Py_XDECREF((PyObject *)e->profiler);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyGetSetDef scope_members[] = {
    { "name", get_name, NULL, "The name that was given.", NULL },
    { "result", get_result, NULL, "The ScopeResult of the last time that it was left, or None.",
      NULL },
    { "profiler", get_profiler, NULL, "Whose scope it is.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef scope_methods[] = {
    { "__enter__", scope_enter, METH_NOARGS, "Opens it." },
    { "__exit__", FAST(scope_exit), METH_FASTCALL, "Closes it; the exception passes." },
    { "_open", scope_open, METH_NOARGS, "An entry, which is not the innermost one yet." },
    { "_close", FAST(scope_close), METH_FASTCALL, "Closes an entry." },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot scope_slots[] = {
    { Py_tp_dealloc, SLOT(scope_dealloc) },
    { Py_tp_traverse, SLOT(scope_traverse) },
    { Py_tp_clear, SLOT(scope_clear) },
    { Py_tp_getset, scope_members },
    { Py_tp_methods, scope_methods },
    { Py_tp_doc, SLOT("What vramscope.Scope is made from.") },
    { 0, NULL },
};

PyType_Spec scope_spec = {
    .name = "vramscope._core.Scope",
    .basicsize = sizeof(struct scope),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
             Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = scope_slots,
};

static PyMethodDef entry_methods[] = {
    { "resume", entry_resume_method, METH_NOARGS, "It is the innermost one of this context." },
    { "pause", entry_pause_method, METH_NOARGS, "The one before it is the innermost again." },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot entry_slots[] = {
    { Py_tp_dealloc, SLOT(entry_dealloc) },
    { Py_tp_traverse, SLOT(entry_traverse) },
    { Py_tp_clear, SLOT(entry_clear) },
    { Py_tp_methods, entry_methods },
    { Py_tp_doc, SLOT("One time that a scope is open.") },
    { 0, NULL },
};

PyType_Spec entry_spec = {
    .name = "vramscope._core.Entry",
    .basicsize = sizeof(struct entry),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = entry_slots,
};
