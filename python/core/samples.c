/* samples.c - class Samples: an immutable sequence of samples, also by column. */
#include "core.h"
#include "meter.h"

#include <stddef.h>
#include <stdint.h>

#include "vramscope/profiler.h"

struct samples {
    PyObject_HEAD struct core_state *state;
    struct vrs_sample *row; /* NULL: there are none */
    Py_ssize_t count;
};

static PyObject *samples_make(struct core_state *state, Py_ssize_t room)
{
    struct samples *s = PyObject_New(struct samples, state->samples);
    if (s == NULL)
        return NULL;
    s->state = state;
    s->count = 0;
    s->row = room > 0 ? PyMem_Calloc((size_t)room, sizeof *s->row) : NULL;
    if (s->row == NULL && room > 0) {
        Py_DECREF((PyObject *)s);
        return PyErr_NoMemory();
    }
    return (PyObject *)s;
}

PyObject *samples_of(struct core_state *state, struct vrs_sampler *sampler)
{
    struct vrs_sampler_counts c;
    uint64_t first;
    if (sampler == NULL)
        return samples_make(state, 0);
    vrs_sampler_count(sampler, &c);
    uint32_t there = (uint32_t)(c.rows.next - c.rows.first); /* a ring has fewer than 2^32 rows */
    PyObject *made = samples_make(state, there);
    if (made != NULL && there > 0) {
        struct samples *s = (struct samples *)made;
        s->count = vrs_sampler_copy(sampler, c.rows.first, there, s->row, &first);
    }
    return made;
}

static Py_ssize_t samples_len(PyObject *self)
{
    return ((struct samples *)self)->count;
}

static PyObject *samples_item(PyObject *self, Py_ssize_t i)
{
    const struct samples *s = (const struct samples *)self;
    if (i >= 0 && i < s->count)
        return sample_view(s->state, &s->row[i]);
    PyErr_SetString(PyExc_IndexError, "there is no such sample");
    return NULL;
}

static PyObject *samples_subscript(PyObject *self, PyObject *at)
{
    const struct samples *s = (const struct samples *)self;
    Py_ssize_t start, stop, step;
    if (PySlice_Check(at) == 0) {
        Py_ssize_t i = PyNumber_AsSsize_t(at, PyExc_IndexError);
        if (i == -1 && PyErr_Occurred() != NULL)
            return NULL;
        return samples_item(self, i < 0 ? i + s->count : i);
    }
    if (PySlice_Unpack(at, &start, &stop, &step) < 0)
        return NULL;
    Py_ssize_t count = PySlice_AdjustIndices(s->count, &start, &stop, step);
    PyObject *made = samples_make(s->state, count);
    if (made == NULL)
        return NULL;
    struct samples *to = (struct samples *)made;
    for (Py_ssize_t i = 0; i < count; i++)
        to->row[i] = s->row[start + i * step];
    to->count = count;
    return made;
}

static PyObject *get_columns(PyObject *self, void *closure)
{
    PyObject *names = PyList_New(0);
    const char *name;
    (void)self;
    (void)closure;
    for (uint32_t i = 0; names != NULL && (name = sample_member_name(i)) != NULL; i++) {
        PyObject *text = PyUnicode_FromString(name);
        if (text == NULL || PyList_Append(names, text) != 0)
            Py_CLEAR(names);
        Py_XDECREF(text);
    }
    PyObject *tuple = names == NULL ? NULL : PyList_AsTuple(names);
    Py_XDECREF(names);
    return tuple;
}

static PyObject *column_of(const struct samples *s, uint32_t member)
{
    PyObject *list = PyList_New(s->count);
    for (Py_ssize_t i = 0; list != NULL && i < s->count; i++) {
        PyObject *value = sample_member(&s->row[i], member);
        if (value == NULL || PyList_SetItem(list, i, value) != 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *samples_column(PyObject *self, PyObject *name)
{
    const char *known;
    if (PyUnicode_Check(name) == 0)
        return PyErr_Format(PyExc_TypeError, "the name of a column is a str, not %R",
                            Py_TYPE(name));
    for (uint32_t i = 0; (known = sample_member_name(i)) != NULL; i++)
        if (PyUnicode_CompareWithASCIIString(name, known) == 0)
            return column_of((const struct samples *)self, i);
    PyErr_SetObject(PyExc_KeyError, name);
    return NULL;
}

static PyObject *samples_dict(PyObject *self, PyObject *unused)
{
    PyObject *dict = PyDict_New();
    const char *name;
    (void)unused;
    for (uint32_t i = 0; dict != NULL && (name = sample_member_name(i)) != NULL; i++) {
        PyObject *column = column_of((const struct samples *)self, i);
        if (column == NULL || PyDict_SetItemString(dict, name, column) != 0)
            Py_CLEAR(dict);
        Py_XDECREF(column);
    }
    return dict;
}

static PyObject *samples_compare(PyObject *self, PyObject *other, int operation)
{
    if (Py_TYPE(self) != Py_TYPE(other) || (operation != Py_EQ && operation != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *mine = samples_dict(self, NULL);
    PyObject *theirs = mine == NULL ? NULL : samples_dict(other, NULL);
    PyObject *answer = theirs == NULL ? NULL : PyObject_RichCompare(mine, theirs, operation);
    Py_XDECREF(mine);
    Py_XDECREF(theirs);
    return answer;
}

static PyObject *samples_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<Samples: %zd>", samples_len(self));
}

/* Pickling: by the samples. */
static PyObject *samples_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *core = PyImport_ImportModule("vramscope._core");
    PyObject *rebuild = core == NULL ? NULL : PyObject_GetAttrString(core, "_rebuild_samples");
    PyObject *list = rebuild == NULL ? NULL : PySequence_List(self);
    Py_XDECREF(core);
    if (list == NULL) {
        Py_XDECREF(rebuild);
        return NULL;
    }
    return Py_BuildValue("N(N)", rebuild, list);
}

PyObject *samples_rebuild(PyObject *module, PyObject *list)
{
    struct core_state *state = core_state_of(module);
    Py_ssize_t count = PyList_Check(list) != 0 ? PyList_Size(list) : 0;
    PyObject *made = samples_make(state, count);
    for (Py_ssize_t i = 0; made != NULL && i < count; i++) {
        PyObject *sample = PyList_GetItem(list, i);
        if (Py_TYPE(sample) != state->sample) {
            PyErr_Format(PyExc_TypeError, "a sample is a Sample, not %R", Py_TYPE(sample));
            Py_CLEAR(made);
            break;
        }
        ((struct samples *)made)->row[i] = *sample_row(sample);
        ((struct samples *)made)->count = i + 1;
    }
    return made;
}

static void samples_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyMem_Free(((struct samples *)self)->row);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyGetSetDef members[] = {
    { "columns", get_columns, NULL, "Names of what a sample has, in their order.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef methods[] = {
    { "column", samples_column, METH_O,
      "column($self, name, /)\n--\n\n"
      "The value of that name of each sample, None where it is not known: a list." },
    { "to_dict", samples_dict, METH_NOARGS, "to_dict($self, /)\n--\n\nAll columns by name." },
    { "__reduce__", samples_reduce, METH_NOARGS, "For pickling." },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, SLOT(samples_dealloc) },
    { Py_sq_length, SLOT(samples_len) },
    { Py_sq_item, SLOT(samples_item) },
    { Py_mp_length, SLOT(samples_len) },
    { Py_mp_subscript, SLOT(samples_subscript) },
    { Py_tp_getset, members },
    { Py_tp_methods, methods },
    { Py_tp_richcompare, SLOT(samples_compare) },
    { Py_tp_repr, SLOT(samples_repr) },
    { Py_tp_doc,
      SLOT("Samples, oldest first: a sequence of Sample that does not change.\n"
           "\n"
           "Raises IndexError, and KeyError for a column that there is not.\n"
           "\n"
           ">>> from vramscope import Profiler, sim\n"
           ">>> with sim.Device() as device, Profiler() as p:\n"
           "...     weights = device.alloc(\"1GiB\")\n"
           "...     p.start_sampling(1)\n"
           "...     p.stop_sampling()\n"
           ">>> samples = p.samples()\n"
           ">>> samples.column(\"allocated_bytes\")[-1], samples.to_dict()[\"device\"][-1]\n"
           "(1073741824, 0)") },
    { 0, NULL },
};

PyType_Spec samples_spec = {
    .name = "vramscope._core.Samples",
    .basicsize = sizeof(struct samples),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
