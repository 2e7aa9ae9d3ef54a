/* column.c - a column of a recording or an answer as a read-only buffer, without a copy. */
#include "core.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vramscope/snapshot.h"
#include "vramscope/vramscope.h"

static const struct {
    const char *format, *dtype;
    Py_ssize_t bytes;
} types[] = {
    [VRS_U8] = { "B", "uint8", 1 },
    [VRS_U16] = { "H", "uint16", 2 },
    [VRS_U32] = { "I", "uint32", 4 },
    [VRS_U64] = { "Q", "uint64", 8 },
    [VRS_I64] = { "q", "int64", 8 },
    [VRS_F64] = { "d", "float64", 8 },
    /* Of results: ids of texts; where each list begins, and the last one ends. */
    [VRS_STRINGS] = { "I", "string", 4 },
    [VRS_LIST] = { "Q", "list", 8 },
};

struct column {
    PyObject_HEAD struct opened *opened;
    struct core_state *state;
    PyObject *name;
    struct vrs_span span;
    Py_ssize_t shape, stride;
};

/* An empty column has a pointer, too. */
static const uint64_t nothing = 0;

PyObject *column_make(struct core_state *state, struct opened *opened, const char *name,
                      const struct vrs_span *span)
{
    struct column *c = PyObject_New(struct column, state->column);
    if (c == NULL) {
        opened_leave(opened);
        return NULL;
    }
    c->opened = opened;
    c->state = state;
    atomic_fetch_add(&opened->columns, 1);
    c->span = *span;
    c->shape = (Py_ssize_t)span->count;
    c->stride = types[span->type].bytes;
    c->name = PyUnicode_FromString(name);
    if (c->span.data == NULL)
        c->span.data = &nothing;
    if (c->name == NULL) {
        Py_DECREF(c);
        return NULL;
    }
    return (PyObject *)c;
}

static void column_dealloc(PyObject *self)
{
    struct column *c = (struct column *)self;
    PyTypeObject *type = Py_TYPE(self);
    atomic_fetch_sub(&c->opened->columns, 1);
    opened_leave(c->opened);
    Py_XDECREF(c->name);
    PyObject_Free(self);
    Py_DECREF(type);
}

static int column_get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    struct column *c = (struct column *)self;
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "columns are read-only");
        return -1;
    }
    *view = (Py_buffer){
        .buf = (void *)(uintptr_t)c->span.data,
        .obj = Py_NewRef(self),
        .len = c->shape * c->stride,
        .itemsize = c->stride,
        .readonly = 1,
        .ndim = 1,
    };
    if ((flags & PyBUF_FORMAT) == PyBUF_FORMAT)
        view->format = (char *)(uintptr_t)types[c->span.type].format;
    if ((flags & PyBUF_ND) == PyBUF_ND)
        view->shape = &c->shape;
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES)
        view->strides = &c->stride;
    return 0;
}

static Py_ssize_t column_length(PyObject *self)
{
    return ((struct column *)self)->shape;
}

enum vrs_type column_type(PyObject *column)
{
    return ((struct column *)column)->span.type;
}

static uint64_t bits_at(const struct column *c, Py_ssize_t i)
{
    const char *at = (const char *)c->span.data + i * c->stride;
    uint64_t u64 = 0;
    uint32_t u32;
    uint16_t u16;
    switch (c->stride) {
    case sizeof u64:
        memcpy(&u64, at, sizeof u64);
        return u64;
    case sizeof u32:
        memcpy(&u32, at, sizeof u32);
        return u32;
    case sizeof u16:
        memcpy(&u16, at, sizeof u16);
        return u16;
    default:
        return *(const uint8_t *)at;
    }
}

/* Columns of recordings say themselves what no value means: docs/formats.md. */
static bool is_unknown(const struct column *c, Py_ssize_t i)
{
    if (c->opened->result == NULL || c->span.type == VRS_LIST)
        return false;
    if (c->span.valid != NULL)
        return !c->span.valid[i];
    return bits_at(c, i) == UINT64_MAX >> (64 - 8 * c->stride);
}

bool column_has_unknown(PyObject *column)
{
    const struct column *c = (const struct column *)column;
    for (Py_ssize_t i = 0; i < c->shape; i++)
        if (is_unknown(c, i))
            return true;
    return false;
}

/* A text of a result, whose strings grow while it makes columns. */
static PyObject *text_at(const struct column *c, Py_ssize_t i)
{
    size_t len = 0;
    opened_lock(c->opened);
    const char *text = vrs_result_string(c->opened->result, (uint32_t)bits_at(c, i), &len);
    PyObject *made = text == NULL ? Py_NewRef(Py_None)
                                  : PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "surrogateescape");
    opened_unlock(c->opened);
    return made;
}

static PyObject *value_at(const struct column *c, Py_ssize_t i)
{
    const char *at = (const char *)c->span.data + i * c->stride;
    int64_t i64;
    double f64;
    if (is_unknown(c, i))
        return Py_NewRef(Py_None);
    switch (c->span.type) {
    case VRS_I64:
        memcpy(&i64, at, sizeof i64);
        return PyLong_FromLongLong(i64);
    case VRS_F64:
        memcpy(&f64, at, sizeof f64);
        return PyFloat_FromDouble(f64);
    case VRS_STRINGS:
        return text_at(c, i);
    case VRS_U8:
    case VRS_U16:
    case VRS_U32:
    case VRS_U64:
    case VRS_LIST:
        break;
    }
    return PyLong_FromUnsignedLongLong(bits_at(c, i));
}

static PyObject *column_item(PyObject *self, Py_ssize_t i)
{
    const struct column *c = (struct column *)self;
    if (i < 0 || i >= c->shape) {
        PyErr_SetString(PyExc_IndexError, "column index out of range");
        return NULL;
    }
    return value_at(c, i);
}

/* A slice is a copy, as an array of the standard library. */
static PyObject *slice_of(struct column *c, PyObject *slice)
{
    PyObject *view = PyMemoryView_FromObject((PyObject *)c), *part = NULL, *list = NULL,
             *made = NULL;
    PyObject *array = view == NULL ? NULL : PyImport_ImportModule("array");
    if (view != NULL && array != NULL)
        part = PyObject_GetItem(view, slice);
    if (part != NULL)
        list = PyObject_CallMethod(part, "tolist", NULL);
    if (list != NULL)
        made = PyObject_CallMethod(array, "array", "sO", types[c->span.type].format, list);
    Py_XDECREF(list);
    Py_XDECREF(part);
    Py_XDECREF(array);
    Py_XDECREF(view);
    return made;
}

static PyObject *column_subscript(PyObject *self, PyObject *key)
{
    struct column *c = (struct column *)self;
    if (PyIndex_Check(key)) {
        Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
        if (i == -1 && PyErr_Occurred())
            return NULL;
        return column_item(self, i < 0 ? i + c->shape : i);
    }
    if (PySlice_Check(key))
        return slice_of(c, key);
    PyErr_Format(PyExc_TypeError, "column indices are integers or slices, not %R", Py_TYPE(key));
    return NULL;
}

static PyObject *column_name(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef(((struct column *)self)->name);
}

static PyObject *column_dtype(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(types[((struct column *)self)->span.type].dtype);
}

/* Ones and zeros as long as the column; None where each value is known, or says so itself. */
static PyObject *column_valid(PyObject *self, void *closure)
{
    struct column *c = (struct column *)self;
    (void)closure;
    if (c->span.valid == NULL)
        return Py_NewRef(Py_None);
    struct vrs_span span = { c->span.valid, (uint64_t)c->shape, VRS_U8, NULL };
    PyObject *name = PyUnicode_FromFormat("%U valid", c->name);
    PyObject *bytes = name == NULL ? NULL : PyUnicode_AsUTF8String(name);
    PyObject *made = bytes == NULL ? NULL
                                   : column_make(c->state, opened_use(c->opened),
                                                 PyBytes_AsString(bytes), &span);
    Py_XDECREF(bytes);
    Py_XDECREF(name);
    return made;
}

static PyObject *column_repr(PyObject *self)
{
    struct column *c = (struct column *)self;
    return PyUnicode_FromFormat("<vramscope.Column %U: %zd of %s>", c->name, c->shape,
                                types[c->span.type].dtype);
}

static PyGetSetDef column_members[] = {
    { "name", column_name, NULL, "\"table.column\"", NULL },
    { "dtype", column_dtype, NULL,
      "NumPy's name of the type: \"uint64\". Of answers also \"string\", whose buffer has ids of "
      "uint32, and \"list\": uint64, where each list begins, and behind them where the last one "
      "ends.",
      NULL },
    { "valid", column_valid, NULL,
      "A column of 1 where a value is known, else 0; None: values that are not known have all bits "
      "set.",
      NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot column_slots[] = {
    { Py_tp_doc,
      SLOT("A column of a recording: a read-only sequence, and a buffer that NumPy reads in place.\n"
           "\n"
           "It and every view of it keep the memory of the file, also after close(). Raises\n"
           "IndexError, and BufferError where somebody wants to write.\n"
           "\n"
           ">>> sizes = vramscope.load(\"examples/leak.pickle\")[\"events.size\"]\n"
           ">>> sizes.name, sizes.dtype, len(sizes), sizes[0], sizes[:2].tolist()\n"
           "('events.size', 'uint64', 3677, 67108864, [67108864, 65536000])\n"
           ">>> memoryview(sizes).readonly\n"
           "True") },
    { Py_tp_dealloc, SLOT(column_dealloc) },
    { Py_tp_repr, SLOT(column_repr) },
    { Py_tp_getset, column_members },
    { Py_bf_getbuffer, SLOT(column_get_buffer) },
    { Py_sq_length, SLOT(column_length) },
    { Py_sq_item, SLOT(column_item) },
    { Py_mp_length, SLOT(column_length) },
    { Py_mp_subscript, SLOT(column_subscript) },
    { 0, NULL },
};

PyType_Spec column_spec = {
    .name = "vramscope.Column",
    .basicsize = sizeof(struct column),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = column_slots,
};
