/* view.c - classes Record, ScopeResult and Sample: rows of the core as immutable objects.
 *
 * What members there are is data: attributes, to_dict(), equality and pickling read the same
 * tables. */
#include "core.h"
#include "meter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vramscope/profiler.h"

enum { NS_PER_SECOND = 1000000000, US_PER_SECOND = 1000000 };

struct view {
    PyObject_HEAD double made; /* seconds since 1970 */
    union {
        struct vrs_record record;
        struct vrs_scope_result scope;
        struct vrs_sample sample;
    };
};

enum kind {
    BYTES,  /* uint64_t, None where it is not known; counts and nanoseconds likewise */
    SIGNED, /* int64_t, None where it is the least one */
    NAME,   /* uint32_t of vrs_name; None for none */
    NUMBER, /* uint32_t */
    REAL,   /* double, None where it is negative */
    STATE,
    PATH,
    MADE /* by `make`, out of the others */
};

struct member {
    const char *name;
    enum kind kind;
    size_t offset; /* in the row */
    PyObject *(*make)(const struct view *v);
    const char *doc;
};

static PyObject *member_of(const struct view *v, const struct member *m)
{
    const char *at = (const char *)&v->record + m->offset;
    uint64_t number;
    int64_t integer;
    uint32_t id;
    double real;
    switch (m->kind) {
    case BYTES:
        memcpy(&number, at, sizeof number);
        return bytes_or_none(number);
    case REAL:
        memcpy(&real, at, sizeof real);
        return real < 0 ? Py_NewRef(Py_None) : PyFloat_FromDouble(real);
    case SIGNED:
        memcpy(&integer, at, sizeof integer);
        return integer == INT64_MIN ? Py_NewRef(Py_None) : PyLong_FromLongLong(integer);
    case NAME:
        memcpy(&id, at, sizeof id);
        return name_str(id);
    case NUMBER:
        memcpy(&id, at, sizeof id);
        return PyLong_FromUnsignedLong(id);
    case STATE:
        memcpy(&id, at, sizeof id);
        return PyUnicode_FromString(vrs_state_name((enum vrs_state)id));
    case PATH:
        memcpy(&id, at, sizeof id);
        return path_tuple(id);
    case MADE:
        break;
    }
    return m->make(v);
}

/* Members that follow from others. */

static PyObject *last_name(uint32_t path)
{
    PyObject *name = name_str(path_name(path));
    if (name == Py_None) {
        Py_DECREF(name);
        return PyUnicode_FromString("");
    }
    return name;
}

static PyObject *record_name(const struct view *v)
{
    return last_name(v->record.path);
}

static PyObject *record_time(const struct view *v)
{
    return PyFloat_FromDouble(v->made + (double)v->record.t_ns / NS_PER_SECOND);
}

static PyObject *record_cached(const struct view *v)
{
    return difference_or_none(v->record.now[VRS_RESERVED], v->record.now[VRS_ACTIVE]);
}

static PyObject *scope_name(const struct view *v)
{
    return last_name(v->scope.path);
}

static PyObject *scope_time(const struct view *v)
{
    return PyFloat_FromDouble(v->made + (double)v->scope.t_ns / NS_PER_SECOND);
}

static PyObject *scope_delta(const struct view *v)
{
    return difference_or_none(v->scope.end[VRS_ALLOCATED], v->scope.start[VRS_ALLOCATED]);
}

static PyObject *scope_peak_delta(const struct view *v)
{
    return difference_or_none(v->scope.peak[VRS_ALLOCATED], v->scope.start[VRS_ALLOCATED]);
}

static PyObject *scope_peak_delta_at_most(const struct view *v)
{
    return difference_or_none(v->scope.at_most[VRS_ALLOCATED], v->scope.start[VRS_ALLOCATED]);
}

static PyObject *sample_time(const struct view *v)
{
    return PyFloat_FromDouble((double)v->sample.unix_us / US_PER_SECOND);
}

static PyObject *sample_cached(const struct view *v)
{
    return difference_or_none(v->sample.now[VRS_RESERVED], v->sample.now[VRS_ACTIVE]);
}

static PyObject *sample_free(const struct view *v)
{
    return difference_or_none(v->sample.device_total, v->sample.device_used);
}

#define RECORD(member) offsetof(struct vrs_record, member)
static const struct member record_members[] = {
    { "index", BYTES, RECORD(index), NULL, "Number of the record, from 0; None: it was lost." },
    { "name", MADE, 0, record_name, "The name that was given." },
    { "path", PATH, RECORD(path), NULL, "Names of the open scopes from outside in, then its own." },
    { "device", NUMBER, RECORD(device), NULL, "Number of the device." },
    { "t_ns", BYTES, RECORD(t_ns), NULL, "Nanoseconds since the profiler was made." },
    { "time", MADE, 0, record_time, "Seconds since 1970, for display." },
    { "allocated_bytes", BYTES, RECORD(now[VRS_ALLOCATED]), NULL, "Bytes of blocks in use." },
    { "reserved_bytes", BYTES, RECORD(now[VRS_RESERVED]), NULL, "Bytes of segments." },
    { "active_bytes", BYTES, RECORD(now[VRS_ACTIVE]), NULL,
      "Bytes of blocks in use or waiting to be freed." },
    { "requested_bytes", BYTES, RECORD(now[VRS_REQUESTED]), NULL, "Bytes that were asked for." },
    { "inactive_split_bytes", BYTES, RECORD(inactive_split), NULL,
      "Free bytes of segments that are in use." },
    { "cached_bytes", MADE, 0, record_cached, "Reserved minus active bytes." },
    { "interval_peak_bytes", BYTES, RECORD(interval_peak), NULL,
      "Highest allocated bytes since the record before on this device." },
    { "interval_peak_at_most_bytes", BYTES, RECORD(interval_at_most), NULL,
      "Upper bound of it; None: there is none." },
    { "interval_reserved_peak_bytes", BYTES, RECORD(interval_reserved_peak), NULL,
      "Highest reserved bytes since the record before." },
    { "peak_bytes", BYTES, RECORD(peak), NULL,
      "Highest allocated bytes since the profiler was made or reset." },
    { "delta_bytes", SIGNED, RECORD(delta), NULL,
      "Allocated bytes minus those of the record before." },
    { "retries", BYTES, RECORD(retries), NULL, "Allocations that were tried again, in all." },
    { "ooms", BYTES, RECORD(ooms), NULL, "Out-of-memory errors, in all." },
    { "rss_bytes", BYTES, RECORD(rss), NULL, "Resident bytes of the process." },
    { "rss_peak_bytes", BYTES, RECORD(rss_peak), NULL, "The highest they were." },
    { "tensor_bytes", BYTES, RECORD(detail.tensor_bytes), NULL,
      "Number of elements times their size." },
    { "storage_bytes", BYTES, RECORD(detail.storage_bytes), NULL,
      "Bytes of the tensor's storage." },
    { "tensor_shape", NAME, RECORD(detail.shape), NULL, "Its shape, as text." },
    { "tensor_dtype", NAME, RECORD(detail.dtype), NULL, "Its type of elements, as text." },
    { "info", NAME, RECORD(detail.info), NULL, "The text that was given." },
    { "stack", NAME, RECORD(detail.stack), NULL, "Innermost frames, a line each." },
    { "state", STATE, RECORD(state), NULL,
      "\"exact\", \"sampled\", \"lost\", \"raced\" (lower bounds), \"nested\" or \"unknown\"." },
};

#define SCOPE(member) offsetof(struct vrs_scope_result, member)
static const struct member scope_members[] = {
    { "index", BYTES, SCOPE(index), NULL, "Number of the result, from 0; None: it was lost." },
    { "name", MADE, 0, scope_name, "The name that was given." },
    { "path", PATH, SCOPE(path), NULL, "Names of the open scopes from outside in, then its own." },
    { "device", NUMBER, SCOPE(device), NULL, "Number of the device." },
    { "t_ns", BYTES, SCOPE(t_ns), NULL, "Of its begin, nanoseconds since the profiler was made." },
    { "time", MADE, 0, scope_time, "Of its begin, seconds since 1970, for display." },
    { "start_bytes", BYTES, SCOPE(start[VRS_ALLOCATED]), NULL, "Allocated bytes at its begin." },
    { "end_bytes", BYTES, SCOPE(end[VRS_ALLOCATED]), NULL, "Allocated bytes at its end." },
    { "delta_bytes", MADE, 0, scope_delta, "End minus start." },
    { "peak_bytes", BYTES, SCOPE(peak[VRS_ALLOCATED]), NULL,
      "Highest allocated bytes of the device while it was open, whoever caused them." },
    { "peak_at_most_bytes", BYTES, SCOPE(at_most[VRS_ALLOCATED]), NULL,
      "Upper bound of it; None: there is none." },
    { "peak_delta_bytes", MADE, 0, scope_peak_delta, "Peak minus start." },
    { "peak_delta_at_most_bytes", MADE, 0, scope_peak_delta_at_most,
      "Upper bound of it; None: there is none." },
    { "reserved_start_bytes", BYTES, SCOPE(start[VRS_RESERVED]), NULL, "Reserved at its begin." },
    { "reserved_end_bytes", BYTES, SCOPE(end[VRS_RESERVED]), NULL, "Reserved bytes at its end." },
    { "reserved_peak_bytes", BYTES, SCOPE(peak[VRS_RESERVED]), NULL, "Highest reserved bytes." },
    { "active_peak_bytes", BYTES, SCOPE(peak[VRS_ACTIVE]), NULL, "Highest active bytes." },
    { "allocated_total_bytes", BYTES, SCOPE(allocated_bytes), NULL,
      "Bytes allocated while it was open, by all threads." },
    { "freed_total_bytes", BYTES, SCOPE(freed_bytes), NULL, "Bytes freed meanwhile." },
    { "allocations", BYTES, SCOPE(allocations), NULL, "Number of allocations meanwhile." },
    { "frees", BYTES, SCOPE(frees), NULL, "Number of frees meanwhile." },
    { "tensors_born", BYTES, SCOPE(born), NULL,
      "Device tensors that its end has and its begin had not; None: not asked for." },
    { "tensors_died", BYTES, SCOPE(died), NULL, "Device tensors of its begin that are gone." },
    { "tensor_bytes", BYTES, SCOPE(detail.tensor_bytes), NULL,
      "Of the tensor that was given: number of elements times their size." },
    { "storage_bytes", BYTES, SCOPE(detail.storage_bytes), NULL, "Bytes of its storage." },
    { "tensor_shape", NAME, SCOPE(detail.shape), NULL, "Its shape, as text." },
    { "tensor_dtype", NAME, SCOPE(detail.dtype), NULL, "Its type of elements, as text." },
    { "duration_ns", BYTES, SCOPE(duration_ns), NULL, "Nanoseconds of the host." },
    { "device_ns", BYTES, SCOPE(device_ns), NULL,
      "Nanoseconds of the device, where asked for; None too while it had not come to the end." },
    { "raised", NAME, SCOPE(raised), NULL, "Type of the exception that ended it, or None." },
    { "state", STATE, SCOPE(state), NULL,
      "\"exact\", \"sampled\", \"lost\", \"raced\" (lower bounds), \"nested\" or \"unknown\"." },
};

#define SAMPLE(member) offsetof(struct vrs_sample, member)
static const struct member sample_members[] = {
    { "index", BYTES, SAMPLE(index), NULL, "Number of the sample, from 0; None: it was lost." },
    { "device", NUMBER, SAMPLE(device), NULL, "Number of the device." },
    { "t_ns", BYTES, SAMPLE(t_ns), NULL, "Nanoseconds since the sampler was made." },
    { "unix_us", BYTES, SAMPLE(unix_us), NULL, "Microseconds since 1970." },
    { "time", MADE, 0, sample_time, "Seconds since 1970, for display." },
    { "allocated_bytes", BYTES, SAMPLE(now[VRS_ALLOCATED]), NULL, "Bytes of blocks in use." },
    { "reserved_bytes", BYTES, SAMPLE(now[VRS_RESERVED]), NULL, "Bytes of segments." },
    { "active_bytes", BYTES, SAMPLE(now[VRS_ACTIVE]), NULL,
      "Bytes of blocks in use or waiting to be freed." },
    { "requested_bytes", BYTES, SAMPLE(now[VRS_REQUESTED]), NULL, "Bytes that were asked for." },
    { "inactive_split_bytes", BYTES, SAMPLE(inactive_split), NULL,
      "Free bytes of segments that are in use." },
    { "cached_bytes", MADE, 0, sample_cached, "Reserved minus active bytes." },
    { "peak_bytes", BYTES, SAMPLE(peak), NULL,
      "Highest allocated bytes since the sample before; a lower bound where `state` says so." },
    { "retries", BYTES, SAMPLE(retries), NULL, "Allocations that were tried again, in all." },
    { "ooms", BYTES, SAMPLE(ooms), NULL, "Out-of-memory errors, in all." },
    { "allocated_total_bytes", BYTES, SAMPLE(allocated_bytes), NULL, "Bytes allocated, in all." },
    { "freed_total_bytes", BYTES, SAMPLE(freed_bytes), NULL, "Bytes freed, in all." },
    { "allocations", BYTES, SAMPLE(allocations), NULL, "Number of allocations, in all." },
    { "frees", BYTES, SAMPLE(frees), NULL, "Number of frees, in all." },
    { "age_ns", BYTES, SAMPLE(age_ns), NULL,
      "How old the counters are: 0 where the sampling thread may read them itself." },
    { "device_used_bytes", BYTES, SAMPLE(device_used), NULL,
      "Bytes in use of the whole device, by all processes, as the driver says." },
    { "device_free_bytes", MADE, 0, sample_free, "Total minus used." },
    { "device_total_bytes", BYTES, SAMPLE(device_total), NULL, "Bytes of the device." },
    { "utilisation_percent", REAL, SAMPLE(utilisation), NULL,
      "Share of the last second or so in which the device was busy, 0 to 100." },
    { "rss_bytes", BYTES, SAMPLE(rss), NULL, "Resident bytes of the process." },
    { "state", STATE, SAMPLE(state), NULL,
      "Of the peak: \"exact\", \"sampled\", \"lost\", \"raced\" (lower bounds), \"nested\" or "
      "\"unknown\"." },
};
enum {
    RECORD_MEMBERS = sizeof record_members / sizeof record_members[0],
    SCOPE_MEMBERS = sizeof scope_members / sizeof scope_members[0],
    SAMPLE_MEMBERS = sizeof sample_members / sizeof sample_members[0]
};

/* Numbers that stand in pickles. */
enum view_class { SCOPE_VIEW, RECORD_VIEW, SAMPLE_VIEW, VIEW_CLASSES };
static const struct {
    const struct member *member;
    uint32_t members;
} view_classes[] = {
    [SCOPE_VIEW] = { scope_members, SCOPE_MEMBERS },
    [RECORD_VIEW] = { record_members, RECORD_MEMBERS },
    [SAMPLE_VIEW] = { sample_members, SAMPLE_MEMBERS },
};

static enum view_class class_of(PyObject *self)
{
    const struct core_state *state = core_state_of_type(Py_TYPE(self));
    if (state != NULL && Py_TYPE(self) == state->record)
        return RECORD_VIEW;
    return state != NULL && Py_TYPE(self) == state->sample ? SAMPLE_VIEW : SCOPE_VIEW;
}

static const struct member *members_of(PyObject *self, uint32_t *ret_count)
{
    enum view_class class = class_of(self);
    *ret_count = view_classes[class].members;
    return view_classes[class].member;
}

static PyObject *get_member(PyObject *self, void *closure)
{
    return member_of((const struct view *)self, closure);
}

static PyObject *view_dict(PyObject *self, PyObject *unused)
{
    uint32_t count;
    const struct member *m = members_of(self, &count);
    PyObject *dict = PyDict_New();
    (void)unused;
    for (uint32_t i = 0; dict != NULL && i < count; i++) {
        PyObject *value = member_of((const struct view *)self, &m[i]);
        if (value == NULL || PyDict_SetItemString(dict, m[i].name, value) != 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *view_compare(PyObject *self, PyObject *other, int operation)
{
    if (Py_TYPE(self) != Py_TYPE(other) || (operation != Py_EQ && operation != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *a = view_dict(self, NULL), *b = a == NULL ? NULL : view_dict(other, NULL);
    PyObject *answer = b == NULL ? NULL : PyObject_RichCompare(a, b, operation);
    Py_XDECREF(a);
    Py_XDECREF(b);
    return answer;
}

static PyObject *view_repr(PyObject *self)
{
    const struct view *v = (const struct view *)self;
    bool record = class_of(self) == RECORD_VIEW;
    PyObject *name = record ? record_name(v) : scope_name(v);
    PyObject *now =
        bytes_or_none(record ? v->record.now[VRS_ALLOCATED] : v->scope.end[VRS_ALLOCATED]);
    PyObject *peak = bytes_or_none(record ? v->record.interval_peak : v->scope.peak[VRS_ALLOCATED]);
    PyObject *text = NULL;
    if (name != NULL && now != NULL && peak != NULL)
        text =
            PyUnicode_FromFormat(record ? "<Record %R: allocated_bytes=%S interval_peak_bytes=%S>"
                                        : "<ScopeResult %R: end_bytes=%S peak_bytes=%S>",
                                 name, now, peak);
    Py_XDECREF(name);
    Py_XDECREF(now);
    Py_XDECREF(peak);
    return text;
}

static PyObject *sample_repr(PyObject *self)
{
    const struct view *v = (const struct view *)self;
    PyObject *now = bytes_or_none(v->sample.now[VRS_ALLOCATED]);
    PyObject *t = bytes_or_none(v->sample.t_ns), *text = NULL;
    if (now != NULL && t != NULL)
        text = PyUnicode_FromFormat("<Sample t_ns=%S: allocated_bytes=%S>", t, now);
    Py_XDECREF(now);
    Py_XDECREF(t);
    return text;
}

static PyObject *view_new(struct core_state *state, enum view_class class, double made)
{
    PyTypeObject *types[] = { [SCOPE_VIEW] = state->scope_result,
                              [RECORD_VIEW] = state->record,
                              [SAMPLE_VIEW] = state->sample };
    struct view *v = PyObject_New(struct view, types[class]);
    if (v != NULL)
        v->made = made;
    return (PyObject *)v;
}

PyObject *record_view(struct core_state *state, double made, struct vrs_record **ret)
{
    PyObject *v = view_new(state, RECORD_VIEW, made);
    *ret = v != NULL ? &((struct view *)v)->record : NULL;
    return v;
}

PyObject *scope_view(struct core_state *state, const struct vrs_scope_result *r, double made)
{
    PyObject *v = view_new(state, SCOPE_VIEW, made);
    if (v != NULL)
        ((struct view *)v)->scope = *r;
    return v;
}

PyObject *sample_view(struct core_state *state, const struct vrs_sample *r)
{
    PyObject *v = view_new(state, SAMPLE_VIEW, 0);
    if (v != NULL)
        ((struct view *)v)->sample = *r;
    return v;
}

/* Pickling: a dict of the members, since ids of names are those of one process. */
static PyObject *view_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *core = PyImport_ImportModule("vramscope._core");
    PyObject *rebuild = core == NULL ? NULL : PyObject_GetAttrString(core, "_rebuild_view");
    PyObject *dict = rebuild == NULL ? NULL : view_dict(self, NULL);
    Py_XDECREF(core);
    if (dict == NULL) {
        Py_XDECREF(rebuild);
        return NULL;
    }
    return Py_BuildValue("N(idN)", rebuild, (int)class_of(self), ((struct view *)self)->made, dict);
}

/* False with an exception set. */
static bool set_path(PyObject *names, uint32_t *ret)
{
    uint32_t path = 0, name;
    PyObject *fast = PySequence_Tuple(names);
    bool ok = fast != NULL;
    for (Py_ssize_t i = 0; ok && i < PyTuple_Size(fast); i++) {
        ok = name_id(PyTuple_GetItem(fast, i), &name);
        if (ok)
            path = vrs_path(process_meter(), path, name);
    }
    Py_XDECREF(fast);
    *ret = path;
    return ok;
}

static bool set_state(PyObject *value, uint32_t *ret)
{
    for (*ret = 0; *ret < VRS_STATE_UNKNOWN; ++*ret)
        if (PyUnicode_CompareWithASCIIString(value, vrs_state_name((enum vrs_state) * ret)) == 0)
            break;
    return true;
}

static bool set_member(struct view *v, const struct member *m, PyObject *value)
{
    char *at = (char *)&v->record + m->offset;
    uint64_t number = VRS_UNKNOWN;
    int64_t integer = INT64_MIN;
    uint32_t id = 0;
    double real = -1;
    bool none = value == Py_None, ok = true;
    switch (m->kind) {
    case REAL:
        if (!none)
            real = PyFloat_AsDouble(value);
        memcpy(at, &real, sizeof real);
        break;
    case BYTES:
        if (!none)
            number = PyLong_AsUnsignedLongLong(value);
        memcpy(at, &number, sizeof number);
        break;
    case SIGNED:
        if (!none)
            integer = PyLong_AsLongLong(value);
        memcpy(at, &integer, sizeof integer);
        break;
    case NUMBER:
        id = (uint32_t)PyLong_AsUnsignedLong(value);
        memcpy(at, &id, sizeof id);
        break;
    case NAME:
    case PATH:
    case STATE:
        if (!none)
            ok = m->kind == PATH    ? set_path(value, &id)
                 : m->kind == STATE ? PyUnicode_Check(value) && set_state(value, &id)
                                    : name_id(value, &id);
        memcpy(at, &id, sizeof id);
        break;
    case MADE:
        break;
    }
    return ok && PyErr_Occurred() == NULL;
}

PyObject *view_rebuild(PyObject *module, PyObject *args)
{
    struct core_state *state = core_state_of(module);
    int class;
    double made;
    PyObject *dict;
    if (!PyArg_ParseTuple(args, "idO!", &class, &made, &PyDict_Type, &dict))
        return NULL;
    if (class < 0 || class >= VIEW_CLASSES)
        return PyErr_Format(PyExc_ValueError, "no record is of the kind %d", class);
    PyObject *view =
        process_meter() == NULL ? NULL : view_new(state, (enum view_class)class, made);
    if (view == NULL)
        return NULL;
    struct view *v = (struct view *)view;
    memset(&v->record, 0, sizeof *v - offsetof(struct view, record));
    uint32_t count;
    const struct member *m = members_of(view, &count);
    for (uint32_t i = 0; i < count; i++) {
        PyObject *value = PyDict_GetItemString(dict, m[i].name);
        if (value == NULL || !set_member(v, &m[i], value)) {
            if (PyErr_Occurred() == NULL)
                PyErr_Format(PyExc_ValueError, "a record without %s", m[i].name);
            Py_DECREF(view);
            return NULL;
        }
    }
    return view;
}

static PyObject *view_metrics(PyObject *self, PyObject *args, PyObject *kwargs);

static PyObject *scope_html(PyObject *self, PyObject *unused)
{
    PyObject *html = PyImport_ImportModule("vramscope.html");
    PyObject *made = html == NULL ? NULL : PyObject_CallMethod(html, "scope_page", "O", self);
    (void)unused;
    Py_XDECREF(html);
    return made;
}

static void view_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* The tables of attributes, which the interpreter keeps, are filled when the classes are made. */
static PyGetSetDef record_getters[RECORD_MEMBERS + 1], scope_getters[SCOPE_MEMBERS + 1],
    sample_getters[SAMPLE_MEMBERS + 1];

static void getters_fill(PyGetSetDef *to, const struct member *m, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = (PyGetSetDef){ m[i].name, get_member, NULL, m[i].doc, SLOT(&m[i]) };
}

/* Members of samples by their number, for tables of them. */

const char *sample_member_name(uint32_t i)
{
    return i < SAMPLE_MEMBERS ? sample_members[i].name : NULL;
}

PyObject *sample_member(const struct vrs_sample *r, uint32_t i)
{
    struct view v = { .sample = *r };
    return member_of(&v, &sample_members[i]);
}

const struct vrs_sample *sample_row(PyObject *view)
{
    return &((const struct view *)view)->sample;
}

void view_prepare(void)
{
    getters_fill(record_getters, record_members, RECORD_MEMBERS);
    getters_fill(scope_getters, scope_members, SCOPE_MEMBERS);
    getters_fill(sample_getters, sample_members, SAMPLE_MEMBERS);
}

static PyMethodDef record_methods[] = {
    { "to_dict", view_dict, METH_NOARGS, "to_dict($self, /)\n--\n\nAll members by name." },
    { "metrics", (PyCFunction)(void (*)(void))view_metrics, METH_VARARGS | METH_KEYWORDS,
      "metrics($self, prefix=\"vram/\")\n--\n\n"
      "What a logger of numbers is given: a dict of floats in GiB and counts, without what is not "
      "known." },
    { "__reduce__", view_reduce, METH_NOARGS, "For pickling." },
    { NULL, NULL, 0, NULL },
};

static PyMethodDef scope_methods[] = {
    { "to_dict", view_dict, METH_NOARGS, "to_dict($self, /)\n--\n\nAll members by name." },
    { "_repr_html_", scope_html, METH_NOARGS, NULL },
    { "__reduce__", view_reduce, METH_NOARGS, "For pickling." },
    { NULL, NULL, 0, NULL },
};

static PyMethodDef plain_methods[] = {
    { "to_dict", view_dict, METH_NOARGS, "to_dict($self, /)\n--\n\nAll members by name." },
    { "__reduce__", view_reduce, METH_NOARGS, "For pickling." },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot record_slots[] = {
    { Py_tp_dealloc, SLOT(view_dealloc) },
    { Py_tp_getset, record_getters },
    { Py_tp_methods, record_methods },
    { Py_tp_richcompare, SLOT(view_compare) },
    { Py_tp_repr, SLOT(view_repr) },
    { Py_tp_doc,
      SLOT("A moment of a profiler, and the interval since the record before it.\n"
           "\n"
           "The figures are the device's own counters, in bytes and nanoseconds; None is what is not\n"
           "known. `prefix` of metrics() stands before each of its names.\n"
           "\n"
           ">>> from vramscope import Profiler, sim\n"
           ">>> with sim.Device() as device, Profiler() as p:\n"
           "...     weights = device.alloc(\"1GiB\")\n"
           "...     record = p.checkpoint(\"loaded\")\n"
           ">>> record.state, record.to_dict()[\"name\"]\n"
           "('exact', 'loaded')\n"
           ">>> record.metrics(prefix=\"\")[\"allocated_gib\"]\n"
           "1.0") },
    { 0, NULL },
};
PyType_Spec record_spec = {
    .name = "vramscope._core.Record",
    .basicsize = sizeof(struct view),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = record_slots,
};

static PyType_Slot scope_slots[] = {
    { Py_tp_dealloc, SLOT(view_dealloc) },
    { Py_tp_getset, scope_getters },
    { Py_tp_methods, scope_methods },
    { Py_tp_richcompare, SLOT(view_compare) },
    { Py_tp_repr, SLOT(view_repr) },
    { Py_tp_doc,
      SLOT("What happened between entering and leaving a scope.\n"
           "\n"
           "The peak is the device's while the scope was open, whoever caused it; all figures are its\n"
           "own counters, in bytes and nanoseconds. None is what is not known.\n"
           "\n"
           ">>> from vramscope import Profiler, sim\n"
           ">>> with sim.Device() as device, Profiler() as p, p.scope(\"load\") as scope:\n"
           "...     weights = device.alloc(\"1GiB\")\n"
           ">>> scope.result.to_dict()[\"peak_bytes\"], scope.result.state\n"
           "(1073741824, 'exact')") },
    { 0, NULL },
};
PyType_Spec scope_result_spec = {
    .name = "vramscope._core.ScopeResult",
    .basicsize = sizeof(struct view),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = scope_slots,
};

static PyType_Slot sample_slots[] = {
    { Py_tp_dealloc, SLOT(view_dealloc) },
    { Py_tp_getset, sample_getters },
    { Py_tp_methods, plain_methods },
    { Py_tp_richcompare, SLOT(view_compare) },
    { Py_tp_repr, SLOT(sample_repr) },
    { Py_tp_doc,
      SLOT("A moment of a device as the sampling thread found it.\n"
           "\n"
           "Bytes are of the device's counters, of the driver and of the kernel; None is what is not\n"
           "known.\n"
           "\n"
           ">>> from vramscope import Profiler, sim\n"
           ">>> with sim.Device() as device, Profiler() as p:\n"
           "...     p.start_sampling(1)\n"
           "...     p.stop_sampling()\n"
           ">>> p.samples()[-1].to_dict()[\"allocated_bytes\"]\n"
           "0") },
    { 0, NULL },
};
PyType_Spec sample_spec = {
    .name = "vramscope._core.Sample",
    .basicsize = sizeof(struct view),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = sample_slots,
};

/* record.metrics() */
static PyObject *view_metrics(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "prefix", NULL };
    static const struct {
        const char *name;
        size_t offset;
        bool count;
    } metrics[] = {
        { "allocated_gib", RECORD(now[VRS_ALLOCATED]), false },
        { "interval_peak_gib", RECORD(interval_peak), false },
        { "reserved_gib", RECORD(now[VRS_RESERVED]), false },
        { "alloc_retries", RECORD(retries), true },
    };
    const double gib = 1024.0 * 1024 * 1024;
    const char *prefix = "vram/";
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|s:metrics", (char **)SLOT(names), &prefix))
        return NULL;
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict != NULL && i < sizeof metrics / sizeof metrics[0]; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&((struct view *)self)->record + metrics[i].offset,
               sizeof value);
        if (value == VRS_UNKNOWN)
            continue;
        PyObject *key = PyUnicode_FromFormat("%s%s", prefix, metrics[i].name);
        PyObject *number = PyFloat_FromDouble((double)value / (metrics[i].count ? 1 : gib));
        if (key == NULL || number == NULL || PyDict_SetItem(dict, key, number) != 0)
            Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(number);
    }
    return dict;
}
