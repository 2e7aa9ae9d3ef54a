/* trace.c - traces of the profiler: columns by name, and where the time went. */
#include "core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "doc.h"
#include "held.h"
#include "options.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

PyObject *trace_make(struct core_state *state, struct vrs_trace *opened, PyObject *path,
                     PyObject *shown)
{
    return held_make(state->trace, state, (struct opened_what){ .trace = opened }, path, shown);
}

/* The trace for a call, to be left after it; NULL with ValueError set. */
static struct opened *trace_use(const struct held *t)
{
    return held_is_open(t) ? opened_use(t->opened) : NULL;
}

/* Questions. */

/* Asks with the options that the arguments filled; NULL with an exception set. */
static PyObject *ask_trace(struct held *t, const struct vrs_trace_options *options)
{
    struct opened *o = trace_use(t);
    struct vrs_result *result = NULL;
    struct vrs_error err;
    if (o == NULL)
        return NULL;
    PyThreadState *saved = PyEval_SaveThread();
    enum vrs_status status = vrs_trace_report(o->trace, options, &result, &err);
    PyEval_RestoreThread(saved);
    opened_leave(o);
    if (status != VRS_OK)
        return raise_error(t->state, &err, NULL);
    if (PyErr_CheckSignals() != 0) {
        vrs_result_free(result);
        return NULL;
    }
    return answer_make(t->state, result, "trace", &(struct drawn){ .opened = NULL });
}

/* The method on what was measured, and a trace of it or None. */
PyObject *trace_measured(PyObject *module, PyObject *args)
{
    struct core_state *state = core_state_of(module);
    struct vrs_measured m = { .size = sizeof m };
    const struct vrs_trace_options options = { .size = sizeof options };
    PyObject *of, *trace;
    int on_device;
    long long workers, processors;
    if (!PyArg_ParseTuple(args, "UIp(ddddddd)ddLLO:_measured", &of, &m.steps, &on_device,
                          &m.median_s, &m.step_s, &m.loading_s, &m.copy_s, &m.forward_s, &m.backward_s, &m.optimizer_s,
                          &m.samples_per_second, &m.busy, &workers, &processors, &trace))
        return NULL;
    if (trace != Py_None && !Py_IS_TYPE(trace, state->trace)) {
        PyErr_Format(PyExc_TypeError, "a Trace or None, not %R", Py_TYPE(trace));
        return NULL;
    }
    PyObject *text = PyUnicode_AsEncodedString(of, "utf-8", "surrogatepass");
    struct opened *o = NULL;
    if (text == NULL || (trace != Py_None && (o = trace_use((struct held *)trace)) == NULL)) {
        Py_XDECREF(text);
        return NULL;
    }
    m.of = PyBytes_AsString(text);
    m.on_device = on_device != 0;
    m.workers = workers;
    m.processors = processors;
    struct vrs_result *result = NULL;
    struct vrs_error err;
    PyThreadState *saved = PyEval_SaveThread();
    enum vrs_status status =
        vrs_method_report(&m, o != NULL ? o->trace : NULL, &options, &result, &err);
    PyEval_RestoreThread(saved);
    if (o != NULL)
        opened_leave(o);
    Py_DECREF(text);
    if (status != VRS_OK)
        return raise_error(state, &err, NULL);
    return answer_make(state, result, "method", &(struct drawn){ .opened = NULL });
}

#define IN(member) offsetof(struct vrs_trace_options, member)
#define OPTIONS_TRACE                                                                              \
    { "as_framework", FLAG, IN(as_framework), 0 }, { "path", PATH, IN(path), 0 }, OPTIONS_END

static const struct option trace_options[] = { OPTIONS_TRACE };
static const struct option ops_options[] = { { "by", TEXT, IN(by), 0 }, OPTIONS_TRACE };
static const struct option tree_options[] = { { "min_share", TEXT, IN(min_share), 0 },
                                              OPTIONS_TRACE };

static PyObject *answer(PyObject *self, PyObject *args, PyObject *kwargs, const char *name,
                        const struct option *given, uint32_t sections)
{
    struct held *t = (struct held *)self;
    const struct signature signature = { name, given, 0, 0, false };
    struct vrs_trace_options options = { .size = sizeof options, .sections = sections };
    struct call c;
    PyObject *made = NULL;
    if (arguments_take(&c, t->state, &options, &signature, args, kwargs))
        made = ask_trace(t, &options);
    arguments_end(&c);
    return made;
}

/* The same answer each, whose text shows another part of it. */
#define TRACE_PARTS(X)                                                                             \
    X(report, trace_options, 0)                                                                    \
    X(ops, ops_options, VRS_TRACE_OPS)                                                             \
    X(kernels, trace_options, VRS_TRACE_KERNELS)                                                   \
    X(gaps, trace_options, VRS_TRACE_GAPS)                                                         \
    X(steps, trace_options, VRS_TRACE_STEPS)                                                       \
    X(memory, trace_options, VRS_TRACE_MEMORY)                                                     \
    X(calls, trace_options, VRS_TRACE_CALLS)                                                       \
    X(phases, trace_options, VRS_TRACE_PHASES)                                                     \
    X(launches, trace_options, VRS_TRACE_LAUNCHES)                                                 \
    X(findings, trace_options, VRS_TRACE_FINDINGS)                                                 \
    X(modules, trace_options, VRS_TRACE_MODULES)                                                   \
    X(method, trace_options, VRS_TRACE_METHOD)                                                     \
    X(tree, tree_options, VRS_TRACE_TREE)

#define ASK(name, options, section)                                                                \
    static PyObject *trace_##name(PyObject *self, PyObject *args, PyObject *kwargs)                \
    {                                                                                              \
        return answer(self, args, kwargs, #name, options, section);                                \
    }
TRACE_PARTS(ASK)

/* Columns. */

/* KeyError where there is no such column. */
static PyObject *trace_column(PyObject *self, PyObject *name)
{
    struct held *t = (struct held *)self;
    struct vrs_span span;
    struct vrs_error err;
    PyObject *bytes = PyUnicode_Check(name) ? PyUnicode_AsUTF8String(name) : NULL;
    if (bytes == NULL) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "the name of a column is a text, not %R", Py_TYPE(name));
        return NULL;
    }
    struct opened *o = trace_use(t);
    PyObject *made = NULL;
    if (o != NULL && vrs_trace_column(o->trace, PyBytes_AsString(bytes), &span, &err) == VRS_OK) {
        made = column_make(t->state, o, PyBytes_AsString(bytes), &span);
    } else if (o != NULL) {
        opened_leave(o);
        PyErr_SetObject(PyExc_KeyError, name);
    }
    Py_DECREF(bytes);
    return made;
}

static PyObject *trace_columns(PyObject *self, void *closure)
{
    PyObject *list = PyList_New(0);
    (void)self;
    (void)closure;
    for (uint32_t i = 0; list != NULL && vrs_trace_column_name(i) != NULL; i++) {
        PyObject *name =
            PyUnicode_FromFormat("%s.%s", vrs_trace_column_table(i), vrs_trace_column_name(i));
        if (name == NULL || PyList_Append(list, name) != 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static Py_ssize_t trace_length(PyObject *self)
{
    Py_ssize_t count = 0;
    (void)self;
    while (vrs_trace_column_name((uint32_t)count) != NULL)
        count++;
    return count;
}

static PyObject *trace_iter(PyObject *self)
{
    PyObject *names = trace_columns(self, NULL);
    PyObject *iter = names == NULL ? NULL : PyObject_GetIter(names);
    Py_XDECREF(names);
    return iter;
}

/* A name; all else is none. */
static int trace_contains(PyObject *self, PyObject *name)
{
    PyObject *names = trace_columns(self, NULL);
    int there = names == NULL ? -1 : PySequence_Contains(names, name);
    Py_XDECREF(names);
    return there;
}

static PyObject *trace_table(PyObject *self, PyObject *table)
{
    PyObject *dict = PyDict_New();
    for (uint32_t i = 0; dict != NULL && vrs_trace_column_name(i) != NULL; i++) {
        const char *its = vrs_trace_column_table(i), *column = vrs_trace_column_name(i);
        if (!PyUnicode_Check(table) || PyUnicode_CompareWithASCIIString(table, its) != 0)
            continue;
        PyObject *name = PyUnicode_FromFormat("%s.%s", its, column);
        PyObject *made = name == NULL ? NULL : trace_column(self, name);
        if (made == NULL || PyDict_SetItemString(dict, column, made) != 0)
            Py_CLEAR(dict);
        Py_XDECREF(made);
        Py_XDECREF(name);
    }
    if (dict != NULL && PyDict_Size(dict) == 0) {
        PyErr_SetObject(PyExc_KeyError, table);
        Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *trace_string(PyObject *self, PyObject *id)
{
    unsigned long n = PyLong_AsUnsignedLong(id);
    if (PyErr_Occurred())
        return NULL;
    struct opened *o = trace_use((struct held *)self);
    if (o == NULL)
        return NULL;
    size_t len = 0;
    const char *text = n > UINT32_MAX ? NULL : vrs_trace_string(o->trace, (uint32_t)n, &len);
    PyObject *made = NULL;
    if (text == NULL)
        PyErr_SetString(PyExc_IndexError, "there is no such string in the trace");
    else
        made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "surrogateescape");
    opened_leave(o);
    return made;
}

#define MIXIN(name)                                                                                \
    static PyObject *trace_##name(PyObject *self, PyObject *args)                                  \
    {                                                                                              \
        return mapping_mixin(self, #name, args);                                                   \
    }
MIXIN(keys)
MIXIN(values)
MIXIN(items)
MIXIN(get)

/* The object itself. */

/* The names of the numbers in "spans.kind". */
static PyObject *trace_kinds(PyObject *self, void *closure)
{
    PyObject *list = PyList_New(0);
    (void)self;
    (void)closure;
    for (uint32_t i = 0; list != NULL && vrs_trace_span_kind(i) != NULL; i++) {
        PyObject *name = PyUnicode_FromString(vrs_trace_span_kind(i));
        if (name == NULL || PyList_Append(list, name) != 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *trace_repr(PyObject *self)
{
    struct held *t = (struct held *)self;
    return PyUnicode_FromFormat("<vramscope.Trace of %R%s>", t->path,
                                t->opened == NULL ? ", closed" : "");
}

static PyObject *trace_str(PyObject *self)
{
    return ((struct held *)self)->opened == NULL ? trace_repr(self) : report_str(self);
}

#define PART(name, options, section)                                                               \
    { #name, (PyCFunction)(void (*)(void))trace_##name, METH_VARARGS | METH_KEYWORDS,              \
      trace_##name##_doc },

static PyMethodDef trace_methods[] = {
    TRACE_PARTS(PART){ "table", trace_table, METH_O, trace_table_doc },
    { "string", trace_string, METH_O, trace_string_doc },
    { "keys", trace_keys, METH_VARARGS, trace_keys_doc },
    { "values", trace_values, METH_VARARGS, trace_values_doc },
    { "items", trace_items, METH_VARARGS, trace_items_doc },
    { "get", trace_get, METH_VARARGS, trace_get_doc },
    { "close", held_close, METH_NOARGS, trace_close_doc },
    { "__enter__", enter_self, METH_NOARGS, NULL },
    { "__exit__", held_exit, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef trace_members[] = {
    { "columns", trace_columns, NULL, "The names of all columns, \"table.column\".", NULL },
    { "kinds", trace_kinds, NULL, "What the numbers in \"spans.kind\" mean: \"kernel\", ...", NULL },
    { "path", held_path, NULL, "As it was opened; None for bytes and streams.", NULL },
    { "views", held_views, NULL, "How many columns keep the memory.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot trace_slots[] = {
    { Py_tp_doc,
      SLOT("One trace of torch.profiler, read-only: columns by name, where the time went as\n"
           "methods.\n"
           "\n"
           "Times are in nanoseconds; str() is the text of report(), where the time went. Raises\n"
           "KeyError for a column that there is not, and ValueError where it is closed.\n"
           "\n"
           ">>> with vramscope.load(\"examples/traces/training.pt.trace.json.gz\") as trace:\n"
           "...     len(trace[\"spans.start\"]) == len(trace[\"spans.duration\"]) > 1000\n"
           "...     str(trace) == str(trace.report())\n"
           "True\n"
           "True") },
    { Py_tp_dealloc, SLOT(held_dealloc) },
    { Py_tp_repr, SLOT(trace_repr) },
    { Py_tp_str, SLOT(trace_str) },
    { Py_tp_methods, trace_methods },
    { Py_tp_getset, trace_members },
    { Py_tp_iter, SLOT(trace_iter) },
    { Py_mp_length, SLOT(trace_length) },
    { Py_mp_subscript, SLOT(trace_column) },
    { Py_sq_contains, SLOT(trace_contains) },
    { 0, NULL },
};

PyType_Spec trace_spec = {
    .name = "vramscope.Trace",
    .basicsize = sizeof(struct held),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = trace_slots,
};
