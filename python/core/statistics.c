/* statistics.c - statistics of lists and buffers of numbers, for the files of the package. */
#include "core.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vramscope/statistics.h"

/* Values of a call: those of a buffer of doubles in place, or a copy. */
struct doubles {
    const double *value;
    size_t count;
    double *copy;
    Py_buffer view;
};

static void doubles_leave(struct doubles *d)
{
    if (d->view.obj != NULL)
        PyBuffer_Release(&d->view);
    PyMem_Free(d->copy);
}

static bool is_format_double(const char *format)
{
    return format != NULL && (strcmp(format, "d") == 0 || strcmp(format, "@d") == 0 ||
                              strcmp(format, "=d") == 0 || strcmp(format, "<d") == 0);
}

/* False where the object is no buffer of doubles; no exception is set then. */
static bool take_buffer(PyObject *object, struct doubles *d)
{
    if (!PyObject_CheckBuffer(object))
        return false;
    if (PyObject_GetBuffer(object, &d->view, PyBUF_CONTIG_RO | PyBUF_FORMAT) != 0) {
        PyErr_Clear();
        return false;
    }
    if (d->view.ndim == 1 && d->view.itemsize == (Py_ssize_t)sizeof(double) &&
        is_format_double(d->view.format)) {
        d->value = d->view.buf;
        d->count = (size_t)d->view.len / sizeof(double);
        return true;
    }
    PyBuffer_Release(&d->view);
    return false;
}

/* None is what is unknown: NaN. */
static bool take_items(PyObject *object, struct doubles *d)
{
    PyObject *items = PySequence_List(object);
    if (items == NULL)
        return false;
    Py_ssize_t count = PyList_Size(items);
    d->copy = PyMem_Malloc(((size_t)count + 1) * sizeof *d->copy);
    if (d->copy == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        PyObject *item = PyList_GetItem(items, i);
        d->copy[i] = item == Py_None ? NAN : PyFloat_AsDouble(item);
    }
    Py_DECREF(items);
    if (PyErr_Occurred())
        return false;
    d->value = d->copy;
    d->count = (size_t)count;
    return true;
}

/* False with an exception set; there is nothing to leave then. */
static bool doubles_take(PyObject *object, struct doubles *d)
{
    *d = (struct doubles){ 0 };
    if (take_buffer(object, d) || take_items(object, d))
        return true;
    doubles_leave(d);
    return false;
}

/* The values in order; NULL with an exception set.  Give it back with PyMem_Free. */
static double *sorted_copy(const struct doubles *d)
{
    double *sorted = PyMem_Malloc((d->count + 1) * sizeof *sorted);
    if (sorted == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS if (d->count > 0) memcpy(sorted, d->value, d->count * sizeof *sorted);
    vrs_statistics_sort(sorted, d->count);
    Py_END_ALLOW_THREADS return sorted;
}

/* What is unknown is None. */
static PyObject *figure(double value)
{
    return isnan(value) ? Py_NewRef(Py_None) : PyFloat_FromDouble(value);
}

static PyObject *of_values(PyObject *values, double (*ask)(const double *, size_t))
{
    struct doubles d;
    double result;
    if (!doubles_take(values, &d))
        return NULL;
    Py_BEGIN_ALLOW_THREADS result = ask(d.value, d.count);
    Py_END_ALLOW_THREADS doubles_leave(&d);
    return figure(result);
}

static PyObject *mean(PyObject *module, PyObject *values)
{
    (void)module;
    return of_values(values, vrs_statistics_mean);
}

static PyObject *deviation(PyObject *module, PyObject *values)
{
    (void)module;
    return of_values(values, vrs_statistics_deviation);
}

/* The values in order, and how many there are; NULL with an exception set. */
static double *sorted_of(PyObject *values, size_t *ret_count)
{
    struct doubles d;
    if (!doubles_take(values, &d))
        return NULL;
    double *sorted = sorted_copy(&d);
    *ret_count = d.count;
    doubles_leave(&d);
    return sorted;
}

static PyObject *mad(PyObject *module, PyObject *values)
{
    size_t count;
    double *sorted = sorted_of(values, &count), result;
    (void)module;
    if (sorted == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS result = vrs_statistics_mad(sorted, count);
    Py_END_ALLOW_THREADS PyMem_Free(sorted);
    return figure(result);
}

static PyObject *percentile(PyObject *module, PyObject *args)
{
    PyObject *values;
    double share, result, *sorted;
    size_t count;
    (void)module;
    if (!PyArg_ParseTuple(args, "Od:_percentile", &values, &share))
        return NULL;
    sorted = sorted_of(values, &count);
    if (sorted == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS result = vrs_statistics_percentile(sorted, count, share);
    Py_END_ALLOW_THREADS PyMem_Free(sorted);
    return figure(result);
}

/* steady(values, share): the index, or None. */
static PyObject *steady(PyObject *module, PyObject *args)
{
    PyObject *values;
    struct doubles d;
    double share;
    size_t at = SIZE_MAX;
    (void)module;
    if (!PyArg_ParseTuple(args, "Od:_steady", &values, &share) || !doubles_take(values, &d))
        return NULL;
    double *room = PyMem_Malloc((d.count + 1) * sizeof *room);
    if (room != NULL) {
        Py_BEGIN_ALLOW_THREADS at = vrs_statistics_steady(d.value, d.count, share, room);
        Py_END_ALLOW_THREADS PyMem_Free(room);
    } else {
        PyErr_NoMemory();
    }
    doubles_leave(&d);
    if (room == NULL)
        return NULL;
    return at == SIZE_MAX ? Py_NewRef(Py_None) : PyLong_FromSize_t(at);
}

static PyObject *quartiles(PyObject *module, PyObject *values)
{
    size_t count;
    double *sorted = sorted_of(values, &count);
    struct vrs_quartiles q;
    (void)module;
    if (sorted == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS q = vrs_statistics_quartiles(sorted, count);
    Py_END_ALLOW_THREADS PyMem_Free(sorted);
    return Py_BuildValue("(NNN)", figure(q.low), figure(q.median), figure(q.high));
}

static PyObject *list_of(const double *value, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *item = figure(value[i]);
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) != 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *robust_z(PyObject *module, PyObject *values)
{
    struct doubles d;
    PyObject *list = NULL;
    (void)module;
    if (!doubles_take(values, &d))
        return NULL;
    double *sorted = sorted_copy(&d);
    double *z = PyMem_Malloc((d.count + 1) * sizeof *z);
    if (sorted != NULL && z != NULL) {
        Py_BEGIN_ALLOW_THREADS vrs_statistics_robust_z(sorted, d.count, d.value, d.count, z);
        Py_END_ALLOW_THREADS list = list_of(z, d.count);
    } else if (z == NULL) {
        PyErr_NoMemory();
    }
    PyMem_Free(z);
    PyMem_Free(sorted);
    doubles_leave(&d);
    return list;
}

/* Of two sequences of one length; false with an exception set. */
static bool take_points(PyObject *args, const char *format, struct doubles *x, struct doubles *y)
{
    PyObject *x_values, *y_values;
    if (!PyArg_ParseTuple(args, format, &x_values, &y_values) || !doubles_take(x_values, x))
        return false;
    if (!doubles_take(y_values, y)) {
        doubles_leave(x);
        return false;
    }
    if (x->count == y->count)
        return true;
    doubles_leave(x);
    doubles_leave(y);
    PyErr_SetString(PyExc_ValueError, "x and y differ in length");
    return false;
}

static PyObject *line(PyObject *module, PyObject *args)
{
    struct doubles x, y;
    struct vrs_line fit;
    (void)module;
    if (!take_points(args, "OO:_line", &x, &y))
        return NULL;
    Py_BEGIN_ALLOW_THREADS fit = vrs_statistics_line(x.value, y.value, x.count);
    Py_END_ALLOW_THREADS doubles_leave(&x);
    doubles_leave(&y);
    return Py_BuildValue("(NNNN)", figure(fit.slope), figure(fit.intercept), figure(fit.r),
                         figure(fit.p));
}

static PyObject *pearson(PyObject *module, PyObject *args)
{
    struct doubles x, y;
    double r;
    (void)module;
    if (!take_points(args, "OO:_pearson", &x, &y))
        return NULL;
    Py_BEGIN_ALLOW_THREADS r = vrs_statistics_pearson(x.value, y.value, x.count);
    Py_END_ALLOW_THREADS doubles_leave(&x);
    doubles_leave(&y);
    return figure(r);
}

PyMethodDef statistics_functions[] = {
    { "_mean", mean, METH_O, "_mean(values, /)\n--\n\nThe arithmetic mean, or None." },
    { "_deviation", deviation, METH_O,
      "_deviation(values, /)\n--\n\nThe population deviation, or None." },
    { "_mad", mad, METH_O, "_mad(values, /)\n--\n\nThe median absolute deviation, or None." },
    { "_percentile", percentile, METH_VARARGS,
      "_percentile(values, share, /)\n--\n\nThe percentile at a share of 0 to 1, linear between "
      "order statistics, or None." },
    { "_steady", steady, METH_VARARGS,
      "_steady(values, share, /)\n--\n\nThe first index from which every value is within a share "
      "of the median of the rest, or None." },
    { "_quartiles", quartiles, METH_O,
      "_quartiles(values, /)\n--\n\nThe percentiles at 0.25, 0.5 and 0.75." },
    { "_robust_z", robust_z, METH_O,
      "_robust_z(values, /)\n--\n\nThe modified z-score of each value." },
    { "_line", line, METH_VARARGS,
      "_line(x, y, /)\n--\n\n(slope, intercept, r, p) of the line of least squares." },
    { "_pearson", pearson, METH_VARARGS, "_pearson(x, y, /)\n--\n\nPearson's r, or None." },
    { NULL, NULL, 0, NULL },
};
