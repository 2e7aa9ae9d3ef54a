/* module.c - vramscope._core: its state, its classes, and the functions that need no file. */
#include "core.h"
#include "meter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "doc.h"
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

/* None is what is not known. */
static PyObject *core_size_text(PyObject *module, PyObject *bytes)
{
    char text[VRS_SIZE_TEXT];
    (void)module;
    if (bytes == Py_None)
        return PyUnicode_FromString("-");
    long long number = PyLong_AsLongLong(bytes);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    vrs_size_text(number, text);
    return PyUnicode_FromString(text);
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

/* An exception object, for Python code of ours that finds a mistake of the caller. */
static PyObject *core_usage(PyObject *module, PyObject *text)
{
    struct core_state *state = core_state_of(module);
    PyObject *utf8 = PyUnicode_Check(text) ? PyUnicode_AsUTF8String(text) : NULL;
    if (utf8 == NULL) {
        if (PyErr_Occurred() == NULL)
            PyErr_Format(PyExc_TypeError, "usage() takes a str, not %R", Py_TYPE(text));
        return NULL;
    }
    raise_usage(state, PyBytes_AsString(utf8));
    Py_DECREF(utf8);
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return value;
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

static PyObject *core_export_ready(PyObject *module, PyObject *to)
{
    struct vrs_error err;
    PyObject *utf8 = PyUnicode_Check(to) ? PyUnicode_AsUTF8String(to) : NULL;
    if (utf8 == NULL) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "export_ready() takes a str, not %R", Py_TYPE(to));
        return NULL;
    }
    enum vrs_status status = vrs_export_ready(PyBytes_AsString(utf8), &err);
    Py_DECREF(utf8);
    return status == VRS_OK ? Py_NewRef(Py_None) : raise_error(core_state_of(module), &err, NULL);
}

#define WITH_KEYWORDS(name) (PyCFunction)(void (*)(void))(name), METH_VARARGS | METH_KEYWORDS

static PyMethodDef functions[] = {
    { "open", WITH_KEYWORDS(core_open), core_open_doc },
    { "load", WITH_KEYWORDS(core_load), core_load_doc },
    { "view", WITH_KEYWORDS(core_view), core_view_doc },
    { "merge", result_merge, METH_O, core_merge_doc },
    { "unread", WITH_KEYWORDS(result_unread), core_unread_doc },
    { "report_run", result_report_run, METH_O, core_report_run_doc },
    { "index", WITH_KEYWORDS(core_index), core_index_doc },
    { "size", core_size, METH_O, core_size_doc },
    { "is_own", core_is_own, METH_O, core_is_own_doc },
    { "export_ready", core_export_ready, METH_O, core_export_ready_doc },
    { "category_rules", core_rules, METH_NOARGS, core_category_rules_doc },
    { "version", core_version, METH_NOARGS, core_version_doc },
    { "_backend_changed", backend_changed, METH_O,
      "Who asks for no backend asks resolve() again; None: by the function given before." },
    { "_size_text", core_size_text, METH_O, "Bytes as texts for people have them." },
    { "_usage", core_usage, METH_O, "An Error with the status \"usage\", to be raised." },
    { "_rebuild_view", view_rebuild, METH_VARARGS,
      "A Record, ScopeResult or Sample out of a pickle." },
    { "_rebuild_samples", samples_rebuild, METH_O, "Samples out of a pickle, a list of Sample." },
    { "_stop_samplers", samplers_stop, METH_NOARGS, "At exit: ends the sampling threads." },
    { "_event_kinds", tracker_kinds, METH_NOARGS, "Kinds of a tracker's events, by number." },
    { "_kept_result", result_kept, METH_VARARGS, NULL },
    { "_measured", trace_measured, METH_VARARGS, NULL },
    { "model_size", objects_model_size, METH_VARARGS,
      "model_size(modules, tensors, outputs, depth_plus_1, /)\n--\n\nSee vramscope.model_size." },
    { "tensors", objects_tensors, METH_VARARGS,
      "tensors(tensors, devices, /)\n--\n\nSee vramscope.tensors." },
    { "cycles", objects_cycles, METH_VARARGS,
      "cycles(objects, references, least_bytes, draw, /)\n--\n\n"
      "The answer, or with `draw` an SVG of the largest; see vramscope.watch_cycles." },
    { "_compare", core_compare, METH_VARARGS,
      "_compare(before, after, again, fail_over, /)\n--\n\nSee vramscope.compare; a path is a str, bytes "
      "are the JSON of a measurement." },
    { "_instances", objects_instances, METH_VARARGS,
      "_instances(objects, kind, /)\n--\n\nThose of a list whose type is the class or below it." },
    { "_growth", objects_growth, METH_VARARGS,
      "_growth(readings, first_step, every, wanted, least_bytes, present_bytes, collected_bytes, "
      "first, last, /)\n--\n\nSee vramscope.LeakDetector." },
    { "_step_parts", objects_step_parts, METH_VARARGS,
      "_step_parts(peak, parameters, states, /)\n--\n\n"
      "What the peak of a training step consists of: bytes of (gradients, states, activations), and "
      "whether these are most of it. states: None for those of Adam." },
    { "_step_events", profiler_step_events, METH_VARARGS,
      "_step_events(allocations, frees, /)\n--\n\nHow many events a recording has of them." },
    { "_expected", profiler_expected, METH_VARARGS,
      "_expected(step_events, steps, most_events, /)\n--\n\n"
      "(events, least bytes, most bytes, steps that fit) of a recording; see "
      "vramscope.expect_recording." },
    { "_tensor_bytes", FAST(objects_tensor_bytes), METH_FASTCALL,
      "_tensor_bytes(*tensors)\n--\n\nBytes of their elements, of all together." },
    { NULL, NULL, 0, NULL },
};

/* A class that has no name in the module.  False with an exception set. */
static bool make_class(PyObject *module, PyType_Spec *spec, PyTypeObject **ret)
{
    *ret = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *ret != NULL;
}

/* False with an exception set. */
static bool add_class(PyObject *module, PyType_Spec *spec, PyTypeObject **ret)
{
    return make_class(module, spec, ret) && PyModule_AddType(module, *ret) == 0;
}

/* What isinstance() says of a class: False with an exception set. */
static bool register_as(PyTypeObject *type, const char *name)
{
    PyObject *abc = PyImport_ImportModule("_collections_abc");
    PyObject *base = abc == NULL ? NULL : PyObject_GetAttrString(abc, name);
    PyObject *done = base == NULL ? NULL : PyObject_CallMethod(base, "register", "O", type);
    Py_XDECREF(done);
    Py_XDECREF(base);
    Py_XDECREF(abc);
    return done != NULL;
}

/* ContextVar("…", default=None) */
static PyObject *make_variable(PyObject *contextvars)
{
    PyObject *class = PyObject_GetAttrString(contextvars, "ContextVar");
    PyObject *args = Py_BuildValue("(s)", "vramscope_innermost_scope");
    PyObject *kwargs = Py_BuildValue("{sO}", "default", Py_None);
    PyObject *variable = NULL;
    if (class != NULL && args != NULL && kwargs != NULL)
        variable = PyObject_Call(class, args, kwargs);
    Py_XDECREF(class);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return variable;
}

/* The classes of the measuring half, and the context variable of its scopes. */
static bool add_meter(PyObject *module, struct core_state *state)
{
    PyObject *contextvars = PyImport_ImportModule("_contextvars");
    PyObject *variable = contextvars == NULL ? NULL : make_variable(contextvars);
    /* get() gives the default, which is the argument. */
    if (variable != NULL) {
        state->innermost_get = PyObject_GetAttrString(variable, "get");
        state->innermost_set = PyObject_GetAttrString(variable, "set");
    }
    Py_XDECREF(contextvars);
    Py_XDECREF(variable);
    state->modules = Py_XNewRef(PySys_GetObject("modules"));
    view_prepare();
    return state->innermost_get != NULL && state->innermost_set != NULL && state->modules != NULL &&
           process_meter() != NULL && backend_keys(state) &&
           add_class(module, &backend_spec, &state->backend) &&
           add_class(module, &record_spec, &state->record) &&
           add_class(module, &scope_result_spec, &state->scope_result) &&
           add_class(module, &sample_spec, &state->sample) &&
           add_class(module, &samples_spec, &state->samples) &&
           register_as(state->samples, "Sequence") &&
           add_class(module, &sampler_spec, &state->sampler) &&
           make_class(module, &reading_spec, &state->reading) &&
           add_class(module, &tracker_spec, &state->tracker) &&
           add_class(module, &profiler_spec, &state->profiler) &&
           add_class(module, &scope_spec, &state->scope) &&
           add_class(module, &entry_spec, &state->entry);
}

/* The simulated device: its class, that of its handles, and its exception. */
static bool add_sim(PyObject *module, struct core_state *state)
{
    state->sim_out_of_memory = PyErr_NewExceptionWithDoc(
        "vramscope.sim.OutOfMemoryError", "A simulated device has no room for a request.",
        PyExc_RuntimeError, NULL);
    return state->sim_out_of_memory != NULL &&
           PyModule_AddObjectRef(module, "OutOfMemoryError", state->sim_out_of_memory) == 0 &&
           add_class(module, &sim_spec, &state->sim) &&
           add_class(module, &sim_handle_spec, &state->sim_handle);
}

static int core_exec(PyObject *module)
{
    struct core_state *state = core_state_of(module);
    state->error = PyErr_NewExceptionWithDoc(
        "vramscope.Error",
        "What the core failed with.\n\n"
        "status: \"nomem\", \"io\", \"corrupt\", \"unsupported\", \"limit\" or \"usage\". "
        "offset: byte in the unpacked input, or None. path: or None.",
        NULL, NULL);
    state->note = PyErr_NewExceptionWithDoc("vramscope.VramscopeNote",
                                            "What the core notes: what an answer goes without.",
                                            PyExc_UserWarning, NULL);
    bool ok = state->error != NULL && state->note != NULL &&
              PyModule_AddObjectRef(module, "Error", state->error) == 0 &&
              PyModule_AddObjectRef(module, "VramscopeNote", state->note) == 0 &&
              add_class(module, &file_spec, &state->file) &&
              add_class(module, &recording_spec, &state->recording) &&
              add_class(module, &trace_spec, &state->trace) &&
              add_class(module, &column_spec, &state->column) &&
              add_class(module, &result_spec, &state->result) &&
              register_as(state->result, "Mapping") && register_as(state->recording, "Mapping") &&
              register_as(state->trace, "Mapping");
    ok = ok && PyModule_AddFunctions(module, statistics_functions) == 0;
    ok = ok && PyModule_AddFunctions(module, analyzer_functions) == 0;
    ok = ok && PyModule_AddFunctions(module, chart_functions) == 0;
    ok = ok && add_meter(module, state);
    ok = ok && add_sim(module, state);
    return ok ? 0 : -1;
}

static int core_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct core_state *state = core_state_of(module);
    Py_VISIT(state->file);
    Py_VISIT(state->recording);
    Py_VISIT(state->trace);
    Py_VISIT(state->column);
    Py_VISIT(state->result);
    Py_VISIT(state->error);
    Py_VISIT(state->note);
    Py_VISIT(state->backend);
    Py_VISIT(state->record);
    Py_VISIT(state->scope_result);
    Py_VISIT(state->sample);
    Py_VISIT(state->samples);
    Py_VISIT(state->sampler);
    Py_VISIT(state->reading);
    Py_VISIT(state->tracker);
    Py_VISIT(state->profiler);
    Py_VISIT(state->scope);
    Py_VISIT(state->entry);
    Py_VISIT(state->innermost_get);
    Py_VISIT(state->innermost_set);
    Py_VISIT(state->modules);
    Py_VISIT(state->resolve);
    Py_VISIT(state->sim);
    Py_VISIT(state->sim_handle);
    Py_VISIT(state->sim_out_of_memory);
    return 0;
}

static int core_clear(PyObject *module)
{
    struct core_state *state = core_state_of(module);
    Py_CLEAR(state->file);
    Py_CLEAR(state->recording);
    Py_CLEAR(state->trace);
    Py_CLEAR(state->column);
    Py_CLEAR(state->result);
    Py_CLEAR(state->error);
    Py_CLEAR(state->note);
    Py_CLEAR(state->backend);
    Py_CLEAR(state->record);
    Py_CLEAR(state->scope_result);
    Py_CLEAR(state->sample);
    Py_CLEAR(state->samples);
    Py_CLEAR(state->sampler);
    Py_CLEAR(state->reading);
    Py_CLEAR(state->tracker);
    Py_CLEAR(state->profiler);
    Py_CLEAR(state->scope);
    Py_CLEAR(state->entry);
    Py_CLEAR(state->innermost_get);
    Py_CLEAR(state->innermost_set);
    Py_CLEAR(state->modules);
    Py_CLEAR(state->resolve);
    for (uint32_t i = 0; i < PATHS_KEPT; i++)
        Py_CLEAR(state->paths[i].name);
    for (uint32_t i = 0; i < STATS_LEAVES; i++) {
        Py_CLEAR(state->keys[i].group);
        Py_CLEAR(state->keys[i].member);
        Py_CLEAR(state->keys[i].flat);
    }
    Py_CLEAR(state->key_all);
    Py_CLEAR(state->sim);
    Py_CLEAR(state->sim_handle);
    Py_CLEAR(state->sim_out_of_memory);
    return 0;
}

static PyModuleDef_Slot core_slots[] = {
    { Py_mod_exec, SLOT(core_exec) },
    { 0, NULL },
};

static struct PyModuleDef core_module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "vramscope._core",
    .m_doc = "The core of vramscope: snapshots, traces, columns, answers.",
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
