/* module.c - vramscope._core: its state, its classes, and the functions that need no file. */
#include "core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramscope/snapshot.h"
#include "vramscope/vramscope.h"

struct core_state *core_state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

struct core_state *core_state_of_type(PyTypeObject *type)
{
    return PyType_GetModuleState(type);
}

static PyObject *core_size(PyObject *module, PyObject *text)
{
    uint64_t bytes;
    PyObject *utf8 = PyUnicode_Check(text) ? PyUnicode_AsUTF8String(text) : NULL;
    if (utf8 == NULL) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "size() takes a str, not %R", Py_TYPE(text));
        return NULL;
    }
    bool is_size = vrs_size(PyBytes_AsString(utf8), &bytes);
    Py_DECREF(utf8);
    if (!is_size)
        return raise_usage(core_state_of(module),
                           "a size is a number of bytes with a unit or none, such as \"24GiB\"");
    return PyLong_FromUnsignedLongLong(bytes);
}

static PyObject *core_is_own(PyObject *module, PyObject *path)
{
    PyObject *bytes = NULL;
    (void)module;
    if (PyUnicode_FSConverter(path, &bytes) == 0)
        return NULL;
    bool own = vrs_is_own(PyBytes_AsString(bytes));
    Py_DECREF(bytes);
    return PyBool_FromLong(own);
}

static PyObject *core_version(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(vrs_version());
}

static PyObject *core_rules(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(vrs_category_rules());
}

static PyMethodDef functions[] = {
    { "open", (PyCFunction)(void (*)(void))opened_from, METH_VARARGS | METH_KEYWORDS,
      "open(source, *, limits=None, progress=None, replay=\"auto\", threads=None)\n--\n\n"
      "Opens a snapshot: a path, bytes, or an object with readinto or read.\n\n"
      "progress(done_bytes, total_bytes) is called at most ten times a second; Ctrl-C ends the "
      "reading. limits: a mapping with the names of `--limit`. Raises Error." },
    { "only", file_only, METH_VARARGS,
      "only(file, entry, /)\n--\n\nThe one recording of a file, or the entry by number or name." },
    { "merge", result_merge, METH_O,
      "merge(results, /)\n--\n\nJoins results of one kind into the answer for several files.\n\n"
      "They are of no use afterwards. Raises Error." },
    { "size", core_size, METH_O,
      "size(text, /)\n--\n\nThe bytes of a size: \"4096\", \"512MiB\", \"1.5 GiB\". Raises "
      "Error." },
    { "is_own", core_is_own, METH_O,
      "is_own(path, /)\n--\n\nWhether a file is a page or a picture that vramscope wrote." },
    { "category_rules", core_rules, METH_NOARGS,
      "category_rules()\n--\n\nThe built-in rules of categories, as a rule file." },
    { "version", core_version, METH_NOARGS, "version()\n--\n\n\"MAJOR.MINOR.PATCH\"." },
    { NULL, NULL, 0, NULL },
};

/* False with an exception set. */
static bool add_class(PyObject *module, PyType_Spec *spec, PyTypeObject **ret)
{
    *ret = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *ret != NULL && PyModule_AddType(module, *ret) == 0;
}

static int core_exec(PyObject *module)
{
    struct core_state *state = core_state_of(module);
    PyObject *json = PyImport_ImportModule("json");
    state->loads = json == NULL ? NULL : PyObject_GetAttrString(json, "loads");
    Py_XDECREF(json);
    state->error = PyErr_NewExceptionWithDoc(
        "vramscope.Error",
        "What the core failed with.\n\n"
        "status: \"nomem\", \"io\", \"corrupt\", \"unsupported\", \"limit\" or \"usage\". "
        "offset: byte in the unpacked input, or None. path: or None.",
        NULL, NULL);
    bool ok = state->loads != NULL && state->error != NULL &&
              PyModule_AddObjectRef(module, "Error", state->error) == 0 &&
              add_class(module, &file_spec, &state->file) &&
              add_class(module, &recording_spec, &state->recording) &&
              add_class(module, &column_spec, &state->column) &&
              add_class(module, &result_spec, &state->result);
    return ok ? 0 : -1;
}

static int core_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct core_state *state = core_state_of(module);
    Py_VISIT(state->file);
    Py_VISIT(state->recording);
    Py_VISIT(state->column);
    Py_VISIT(state->result);
    Py_VISIT(state->error);
    Py_VISIT(state->loads);
    return 0;
}

static int core_clear(PyObject *module)
{
    struct core_state *state = core_state_of(module);
    Py_CLEAR(state->file);
    Py_CLEAR(state->recording);
    Py_CLEAR(state->column);
    Py_CLEAR(state->result);
    Py_CLEAR(state->error);
    Py_CLEAR(state->loads);
    return 0;
}

static PyModuleDef_Slot core_slots[] = {
    { Py_mod_exec, SLOT(core_exec) },
    { 0, NULL },
};

static struct PyModuleDef core_module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "vramscope._core",
    .m_doc = "The core of vramscope: snapshots, columns, answers.",
    .m_size = sizeof(struct core_state),
    .m_methods = functions,
    .m_slots = core_slots,
    .m_traverse = core_traverse,
    .m_clear = core_clear,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&core_module);
}
