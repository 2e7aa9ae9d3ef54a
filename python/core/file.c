/* file.c - files and their recordings. */
#include "core.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "doc.h"
#include "held.h"
#include "vramscope/snapshot.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

/* What was opened or answered. */

static void opened_free(struct opened_what what)
{
    vrs_close(what.file);
    vrs_close_trace(what.trace);
    vrs_result_free(what.result);
}

struct opened *opened_make(struct opened_what what, const char *path)
{
    struct opened *o = calloc(1, sizeof *o);
    size_t len = path == NULL ? 0 : strlen(path) + 1;
    if (o != NULL && path != NULL)
        o->path = malloc(len);
    if (o != NULL)
        o->lock = PyThread_allocate_lock();
    if (o == NULL || o->lock == NULL || (path != NULL && o->path == NULL)) {
        if (o != NULL) {
            free(o->path);
            if (o->lock != NULL)
                PyThread_free_lock(o->lock);
        }
        free(o);
        opened_free(what);
        PyErr_NoMemory();
        return NULL;
    }
    if (path != NULL)
        memcpy(o->path, path, len);
    o->file = what.file;
    o->trace = what.trace;
    o->result = what.result;
    atomic_init(&o->users, 1);
    atomic_init(&o->holders, 1);
    atomic_init(&o->columns, 0);
    return o;
}

struct opened *opened_use(struct opened *o)
{
    atomic_fetch_add(&o->users, 1);
    return o;
}

void opened_leave(struct opened *o)
{
    if (atomic_fetch_sub(&o->users, 1) != 1)
        return;
    opened_free((struct opened_what){ o->file, o->trace, o->result });
    opened_drop(o);
}

struct opened *opened_hold(struct opened *o)
{
    atomic_fetch_add(&o->holders, 1);
    return o;
}

void opened_drop(struct opened *o)
{
    if (atomic_fetch_sub(&o->holders, 1) != 1)
        return;
    PyThread_free_lock(o->lock);
    free(o->path);
    free(o);
}

bool opened_use_again(struct opened *o)
{
    size_t users = atomic_load(&o->users);
    while (users > 0)
        if (atomic_compare_exchange_weak(&o->users, &users, users + 1))
            return true;
    return false;
}

void opened_lock(struct opened *o)
{
    if (PyThread_acquire_lock(o->lock, NOWAIT_LOCK) != 0)
        return;
    PyThreadState *saved = PyEval_SaveThread();
    PyThread_acquire_lock(o->lock, WAIT_LOCK);
    PyEval_RestoreThread(saved);
}

void opened_unlock(struct opened *o)
{
    PyThread_release_lock(o->lock);
}

struct recording {
    PyObject_HEAD struct held *file;
    const struct vrs_recording *recording;
};

/* Files. */

PyObject *file_make(struct core_state *state, struct vrs_file *opened, PyObject *path,
                    PyObject *shown)
{
    return held_make(state->file, state, (struct opened_what){ .file = opened }, path, shown);
}

PyObject *enter_self(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static Py_ssize_t file_length(PyObject *self)
{
    struct held *f = (struct held *)self;
    return held_is_open(f) ? (Py_ssize_t)vrs_count(f->opened->file) : -1;
}

static PyObject *file_item(PyObject *self, Py_ssize_t i)
{
    struct held *f = (struct held *)self;
    const struct vrs_recording *recording;
    struct vrs_error err;
    if (!held_is_open(f))
        return NULL;
    if (i < 0 || i >= (Py_ssize_t)vrs_count(f->opened->file)) {
        PyErr_SetString(PyExc_IndexError, "there is no such recording in the file");
        return NULL;
    }
    if (vrs_recording(f->opened->file, (uint32_t)i, &recording, &err) != VRS_OK)
        return raise_error(f->state, &err, f->path);
    struct recording *r = PyObject_New(struct recording, f->state->recording);
    if (r == NULL)
        return NULL;
    r->file = (struct held *)Py_NewRef(self);
    r->recording = recording;
    return (PyObject *)r;
}

static PyObject *file_names(PyObject *self, void *closure)
{
    struct held *f = (struct held *)self;
    (void)closure;
    if (!held_is_open(f))
        return NULL;
    uint32_t count = vrs_count(f->opened->file);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        const char *name = vrs_entry_name(f->opened->file, i);
        PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "surrogateescape");
        if (text == NULL || PyList_SetItem(list, (Py_ssize_t)i, text) != 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *file_repr(PyObject *self)
{
    struct held *f = (struct held *)self;
    return PyUnicode_FromFormat("<vramscope.File %R%s>", f->path,
                                f->opened == NULL ? ", closed" : "");
}

static PyMethodDef file_methods[] = {
    { "close", held_close, METH_NOARGS, file_close_doc },
    { "__enter__", enter_self, METH_NOARGS, NULL },
    { "__exit__", held_exit, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef file_members[] = {
    { "names", file_names, NULL, "The entries of an HTML page; [\"\"] for one recording.", NULL },
    { "path", held_path, NULL, "As it was opened; None for bytes and streams.", NULL },
    { "views", held_views, NULL, "How many columns keep the memory.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot file_slots[] = {
    { Py_tp_doc,
      SLOT("What was opened: a sequence of recordings, more than one of an HTML page.\n"
           "\n"
           "Raises IndexError, and ValueError where it is closed.\n"
           "\n"
           ">>> with vramscope.open(\"examples/leak.pickle\") as file:\n"
           "...     len(file), file.path\n"
           "(1, 'examples/leak.pickle')") },
    { Py_tp_dealloc, SLOT(held_dealloc) },
    { Py_tp_repr, SLOT(file_repr) },
    { Py_tp_methods, file_methods },
    { Py_tp_getset, file_members },
    { Py_sq_length, SLOT(file_length) },
    { Py_sq_item, SLOT(file_item) },
    { 0, NULL },
};

PyType_Spec file_spec = {
    .name = "vramscope.File",
    .basicsize = sizeof(struct held),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = file_slots,
};

/* Recordings. */

bool is_recording(struct core_state *state, PyObject *object)
{
    return Py_TYPE(object) == state->recording;
}

const struct vrs_recording *recording_use(PyObject *recording, struct opened **ret_opened)
{
    struct recording *r = (struct recording *)recording;
    if (!held_is_open(r->file))
        return NULL;
    *ret_opened = opened_use(r->file->opened);
    return r->recording;
}

static void recording_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(((struct recording *)self)->file);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* KeyError where there is no such column; the first access may replay the recording. */
static PyObject *recording_column(PyObject *self, PyObject *name)
{
    struct recording *r = (struct recording *)self;
    struct opened *opened;
    struct vrs_span span;
    struct vrs_error err;
    PyObject *bytes = PyUnicode_Check(name) ? PyUnicode_AsUTF8String(name) : NULL;
    if (bytes == NULL) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "the name of a column is a text, not %R", Py_TYPE(name));
        return NULL;
    }
    const struct vrs_recording *recording = recording_use(self, &opened);
    if (recording == NULL) {
        Py_DECREF(bytes);
        return NULL;
    }
    const char *text = PyBytes_AsString(bytes);
    PyThreadState *saved = PyEval_SaveThread();
    enum vrs_status status = vrs_column(recording, text, &span, &err);
    PyEval_RestoreThread(saved);
    PyObject *made = NULL;
    if (status == VRS_OK) {
        made = column_make(r->file->state, opened, text, &span);
    } else {
        opened_leave(opened);
        if (status == VRS_USAGE)
            PyErr_SetObject(PyExc_KeyError, name);
        else
            raise_error(r->file->state, &err, r->file->path);
    }
    Py_DECREF(bytes);
    return made;
}

static PyObject *recording_columns(PyObject *self, void *closure)
{
    PyObject *list = PyList_New(0);
    (void)self;
    (void)closure;
    for (uint32_t i = 0; list != NULL && vrs_column_name(i) != NULL; i++) {
        PyObject *name = PyUnicode_FromFormat("%s.%s", vrs_column_table(i), vrs_column_name(i));
        if (name == NULL || PyList_Append(list, name) != 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static Py_ssize_t recording_length(PyObject *self)
{
    Py_ssize_t count = 0;
    (void)self;
    while (vrs_column_name((uint32_t)count) != NULL)
        count++;
    return count;
}

static PyObject *recording_iter(PyObject *self)
{
    PyObject *names = recording_columns(self, NULL);
    PyObject *iter = names == NULL ? NULL : PyObject_GetIter(names);
    Py_XDECREF(names);
    return iter;
}

static PyObject *recording_table(PyObject *self, PyObject *table)
{
    PyObject *dict = PyDict_New();
    for (uint32_t i = 0; dict != NULL && vrs_column_name(i) != NULL; i++) {
        if (!PyUnicode_Check(table) ||
            PyUnicode_CompareWithASCIIString(table, vrs_column_table(i)) != 0)
            continue;
        PyObject *name = PyUnicode_FromFormat("%s.%s", vrs_column_table(i), vrs_column_name(i));
        PyObject *column = name == NULL ? NULL : recording_column(self, name);
        if (column == NULL || PyDict_SetItemString(dict, vrs_column_name(i), column) != 0)
            Py_CLEAR(dict);
        Py_XDECREF(column);
        Py_XDECREF(name);
    }
    if (dict != NULL && PyDict_Size(dict) == 0) {
        PyErr_SetObject(PyExc_KeyError, table);
        Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *recording_string(PyObject *self, PyObject *id)
{
    struct opened *opened;
    unsigned long n = PyLong_AsUnsignedLong(id);
    if (PyErr_Occurred())
        return NULL;
    const struct vrs_recording *recording = recording_use(self, &opened);
    if (recording == NULL)
        return NULL;
    size_t len = 0;
    const char *text = n > UINT32_MAX ? NULL : vrs_string(recording, (uint32_t)n, &len);
    PyObject *made = NULL;
    if (text == NULL)
        PyErr_SetString(PyExc_IndexError, "there is no such string in the recording");
    else
        made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "surrogateescape");
    opened_leave(opened);
    return made;
}

static PyObject *recording_close(PyObject *self, PyObject *unused)
{
    return held_close((PyObject *)((struct recording *)self)->file, unused);
}

static PyObject *recording_exit(PyObject *self, PyObject *args)
{
    (void)args;
    return recording_close(self, NULL);
}

static PyObject *recording_file(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef((PyObject *)((struct recording *)self)->file);
}

PyObject *mapping_mixin(PyObject *self, const char *method, PyObject *args)
{
    PyObject *abc = PyImport_ImportModule("_collections_abc");
    PyObject *mapping = abc == NULL ? NULL : PyObject_GetAttrString(abc, "Mapping");
    PyObject *function = mapping == NULL ? NULL : PyObject_GetAttrString(mapping, method);
    PyObject *own = function == NULL ? NULL : Py_BuildValue("(O)", self);
    PyObject *all = own == NULL ? NULL : PySequence_Concat(own, args);
    PyObject *made = all == NULL ? NULL : PyObject_CallObject(function, all);
    Py_XDECREF(all);
    Py_XDECREF(own);
    Py_XDECREF(function);
    Py_XDECREF(mapping);
    Py_XDECREF(abc);
    return made;
}

#define MIXIN(name)                                                                                \
    static PyObject *recording_##name(PyObject *self, PyObject *args)                              \
    {                                                                                              \
        return mapping_mixin(self, #name, args);                                                           \
    }
MIXIN(keys)
MIXIN(values)
MIXIN(items)
MIXIN(get)

/* A name; all else is none. */
static int recording_contains(PyObject *self, PyObject *name)
{
    PyObject *names = recording_columns(self, NULL);
    int there = names == NULL ? -1 : PySequence_Contains(names, name);
    Py_XDECREF(names);
    return there;
}

static PyObject *recording_repr(PyObject *self)
{
    struct held *f = ((struct recording *)self)->file;
    return PyUnicode_FromFormat("<vramscope.Recording of %R%s>", f->path,
                                f->opened == NULL ? ", closed" : "");
}

static PyObject *recording_str(PyObject *self)
{
    const struct held *f = ((struct recording *)self)->file;
    return f->opened == NULL ? recording_repr(self) : report_str(self);
}

#define WRITER(name)                                                                               \
    { #name, (PyCFunction)(void (*)(void))write_##name, METH_VARARGS | METH_KEYWORDS,              \
      write_##name##_doc },
#define QUESTION(name)                                                                             \
    { #name, (PyCFunction)(void (*)(void))ask_##name, METH_VARARGS | METH_KEYWORDS,                \
      ask_##name##_doc },

static PyMethodDef recording_methods[] = {
    CORE_QUESTIONS(QUESTION)
        CORE_WRITERS(WRITER){ "table", recording_table, METH_O, recording_table_doc },
    { "string", recording_string, METH_O, recording_string_doc },
    { "keys", recording_keys, METH_VARARGS, recording_keys_doc },
    { "values", recording_values, METH_VARARGS, recording_values_doc },
    { "items", recording_items, METH_VARARGS, recording_items_doc },
    { "get", recording_get, METH_VARARGS, recording_get_doc },
    { "close", recording_close, METH_NOARGS, recording_close_doc },
    { "_repr_html_", recording_html, METH_NOARGS, NULL },
    { "__enter__", enter_self, METH_NOARGS, NULL },
    { "__exit__", recording_exit, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef recording_members[] = {
    { "columns", recording_columns, NULL, "The names of all columns, \"table.column\".", NULL },
    { "file", recording_file, NULL, "The File it is of.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot recording_slots[] = {
    { Py_tp_doc,
      SLOT("One recording of GPU memory, read-only: columns by name, questions as methods.\n"
           "\n"
           "str() is the text of report(). Raises KeyError for a column that there is not, and\n"
           "ValueError where it is closed.\n"
           "\n"
           ">>> with vramscope.load(\"examples/leak.pickle\") as recording:\n"
           "...     len(recording[\"events.size\"]), recording.oom().verdict\n"
           "...     str(recording) == str(recording.report())\n"
           "(3677, False)\n"
           "True") },
    { Py_tp_dealloc, SLOT(recording_dealloc) },
    { Py_tp_repr, SLOT(recording_repr) },
    { Py_tp_str, SLOT(recording_str) },
    { Py_tp_methods, recording_methods },
    { Py_tp_getset, recording_members },
    { Py_tp_iter, SLOT(recording_iter) },
    { Py_mp_length, SLOT(recording_length) },
    { Py_mp_subscript, SLOT(recording_column) },
    { Py_sq_contains, SLOT(recording_contains) },
    { 0, NULL },
};

PyType_Spec recording_spec = {
    .name = "vramscope.Recording",
    .basicsize = sizeof(struct recording),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = recording_slots,
};
