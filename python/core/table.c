/* table.c - the lists of an answer as tables of columns, and as frames of pandas. */
#include "core.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "vramscope/snapshot.h"
#include "vramscope/vramscope.h"

/* Whether `name` has names below it: "devices" of "devices.result". */
static bool is_above(const char *name, const char *below)
{
    size_t len = strlen(name);
    return strncmp(below, name, len) == 0 && below[len] == '.';
}

/* Makes a column of a result that is locked; false with an exception set. */
static bool span_of(struct opened *o, struct core_state *state, const char *name,
                    struct vrs_span *ret)
{
    struct vrs_error err;
    PyThreadState *saved = PyEval_SaveThread();
    enum vrs_status status = vrs_result_column(o->result, name, ret, &err);
    PyEval_RestoreThread(saved);
    if (status != VRS_OK)
        raise_error(state, &err, NULL);
    return status == VRS_OK;
}

/* The i-th of the names; NULL behind the last one, or with an exception set. */
static const char *name_at(PyObject *names, Py_ssize_t i)
{
    return i < PyList_Size(names) ? PyUnicode_AsUTF8AndSize(PyList_GetItem(names, i), NULL) : NULL;
}

/* Whether the i-th name is that of a list; columns below it follow it.  False with an exception set
 * where it could not be looked at. */
static bool is_list(struct opened *o, struct core_state *state, PyObject *names, Py_ssize_t i)
{
    const char *name = name_at(names, i), *next = name_at(names, i + 1);
    struct vrs_span span;
    return name != NULL && next != NULL && is_above(name, next) && span_of(o, state, name, &span) &&
           span.type == VRS_LIST;
}

PyObject *result_tables(PyObject *self, void *closure)
{
    struct core_state *state = core_state_of_type(Py_TYPE(self));
    struct opened *o = result_use(self);
    (void)closure;
    if (o == NULL)
        return NULL;
    PyObject *names = result_names(self, o), *list = names == NULL ? NULL : PyList_New(0);
    Py_ssize_t count = list == NULL ? 0 : PyList_Size(names);
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++)
        if (is_list(o, state, names, i))
            (void)PyList_Append(list, PyList_GetItem(names, i));
    result_leave(o);
    if (PyErr_Occurred())
        Py_CLEAR(list);
    return list;
}

/* False with an exception set. */
static bool add_column(PyObject *dict, struct core_state *state, struct opened *o, const char *full,
                       const char *name)
{
    struct vrs_span span;
    if (!span_of(o, state, full, &span))
        return false;
    PyObject *column = column_make(state, opened_use(o), full, &span);
    bool ok = column != NULL && PyDict_SetItemString(dict, name, column) == 0;
    Py_XDECREF(column);
    return ok;
}

/* The columns of the rows of one list, those of lists inside it left out. */
static bool fill(PyObject *dict, struct core_state *state, struct opened *o, PyObject *names,
                 Py_ssize_t table)
{
    const char *above = name_at(names, table), *inner = NULL, *name;
    for (Py_ssize_t i = table + 1; (name = name_at(names, i)) != NULL && is_above(above, name);
         i++) {
        if (inner != NULL && is_above(inner, name))
            continue;
        if (!add_column(dict, state, o, name, name + strlen(above) + 1))
            return false;
        if (is_list(o, state, names, i))
            inner = name;
        if (PyErr_Occurred())
            return false;
    }
    return !PyErr_Occurred();
}

static PyObject *table_of(PyObject *self, PyObject *name)
{
    struct core_state *state = core_state_of_type(Py_TYPE(self));
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "the name of a table is a str, not %R", Py_TYPE(name));
        return NULL;
    }
    struct opened *o = result_use(self);
    if (o == NULL)
        return NULL;
    PyObject *names = result_names(self, o), *dict = NULL;
    Py_ssize_t i = names == NULL ? -1 : PySequence_Contains(names, name);
    if (i == 1)
        i = PySequence_Index(names, name);
    else
        i = -1;
    if (i >= 0 && is_list(o, state, names, i))
        dict = PyDict_New();
    if (dict != NULL && !fill(dict, state, o, names, i))
        Py_CLEAR(dict);
    result_leave(o);
    if (dict == NULL && !PyErr_Occurred())
        PyErr_SetObject(PyExc_KeyError, name);
    return dict;
}

PyObject *result_table(PyObject *self, PyObject *name)
{
    return table_of(self, name);
}

/* pandas. */

/* The values of a column as pandas has them: texts as a list, numbers in place, numbers of which
 * some are not known as an array that has those apart. */
static PyObject *series_of(PyObject *pandas, PyObject *column)
{
    static const char *const nullable[] = {
        [VRS_U8] = "UInt8",   [VRS_U16] = "UInt16", [VRS_U32] = "UInt32",
        [VRS_U64] = "UInt64", [VRS_I64] = "Int64",  [VRS_F64] = "Float64",
    };
    enum vrs_type type = column_type(column);
    if (type != VRS_STRINGS && !column_has_unknown(column)) {
        PyObject *numpy = PyImport_ImportModule("numpy");
        PyObject *made = numpy == NULL ? NULL : PyObject_CallMethod(numpy, "asarray", "O", column);
        Py_XDECREF(numpy);
        return made;
    }
    PyObject *list = PySequence_List(column), *made = NULL;
    if (list != NULL && type != VRS_STRINGS)
        made = PyObject_CallMethod(pandas, "array", "Os", list, nullable[type]);
    else
        made = Py_XNewRef(list);
    Py_XDECREF(list);
    return made;
}

/* False with an exception set. */
static bool add_series(PyObject *to, PyObject *pandas, PyObject *table)
{
    PyObject *name, *column;
    Py_ssize_t at = 0;
    while (PyDict_Next(table, &at, &name, &column) != 0) {
        /* Where its lists begin is no value of a row. */
        if (column_type(column) == VRS_LIST)
            continue;
        PyObject *series = series_of(pandas, column);
        bool ok = series != NULL && PyDict_SetItem(to, name, series) == 0;
        Py_XDECREF(series);
        if (!ok)
            return false;
    }
    return true;
}

PyObject *result_to_pandas(PyObject *self, PyObject *name)
{
    PyObject *table = table_of(self, name), *made = NULL;
    PyObject *pandas = table == NULL ? NULL : PyImport_ImportModule("pandas");
    PyObject *series = pandas == NULL ? NULL : PyDict_New();
    if (series != NULL && add_series(series, pandas, table))
        made = PyObject_CallMethod(pandas, "DataFrame", "O", series);
    Py_XDECREF(series);
    Py_XDECREF(pandas);
    Py_XDECREF(table);
    return made;
}
