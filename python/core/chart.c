/* chart.c - measurements drawn: tuples and lists in, an SVG out. */
#include "core.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sink.h"
#include "vramscope/chart.h"
#include "vramscope/error.h"

/* What one call takes from Python, given back together. */
struct held {
    PyObject *texts; /* list of bytes that texts point into */
    void **at;
    size_t count, room;
};

static void held_leave(struct held *h)
{
    for (size_t i = 0; i < h->count; i++)
        PyMem_Free(h->at[i]);
    PyMem_Free(h->at);
    Py_XDECREF(h->texts);
}

/* Zeroed rows; NULL with an exception set. */
static void *held_make(struct held *h, size_t count, size_t width)
{
    if (h->count == h->room) {
        size_t room = h->room == 0 ? 16 : 2 * h->room;
        void **grown = PyMem_Realloc(h->at, room * sizeof *grown);
        if (grown == NULL)
            return PyErr_NoMemory();
        h->at = grown;
        h->room = room;
    }
    void *made = PyMem_Calloc(count + 1, width);
    if (made == NULL)
        return PyErr_NoMemory();
    return h->at[h->count++] = made;
}

/* UTF-8 that ends with a NUL; lone surrogates are kept as bytes, which are escaped where drawn. */
static bool text_take(struct held *h, PyObject *text, const char **ret)
{
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    if (bytes == NULL)
        return false;
    bool kept = PyList_Append(h->texts, bytes) == 0;
    Py_DECREF(bytes);
    *ret = kept ? PyBytes_AsString(bytes) : NULL;
    return *ret != NULL;
}

static bool texts_take(struct held *h, PyObject *list, const char *const **ret, size_t *ret_count)
{
    PyObject *items = PySequence_List(list);
    if (items == NULL)
        return false;
    Py_ssize_t count = PyList_Size(items);
    const char **made = held_make(h, (size_t)count, sizeof *made);
    bool good = made != NULL;
    for (Py_ssize_t i = 0; good && i < count; i++)
        good = text_take(h, PyList_GetItem(items, i), &made[i]);
    Py_DECREF(items);
    *ret = made;
    *ret_count = (size_t)count;
    return good;
}

/* None is NaN. */
static bool real_of(PyObject *item, double *ret)
{
    *ret = item == Py_None ? NAN : PyFloat_AsDouble(item);
    return !PyErr_Occurred();
}

/* `*count` is -1, or what a list before it had. */
static bool check_count(Py_ssize_t *count, Py_ssize_t found)
{
    if (*count >= 0 && found != *count)
        PyErr_Format(PyExc_ValueError, "a column has %zd values, others %zd", found, *count);
    *count = found;
    return !PyErr_Occurred();
}

static bool reals_take(struct held *h, PyObject *list, const double **ret, Py_ssize_t *count)
{
    PyObject *items = list == Py_None ? NULL : PySequence_List(list);
    *ret = NULL;
    if (items == NULL)
        return list == Py_None;
    double *made = NULL;
    if (check_count(count, PyList_Size(items)))
        made = held_make(h, (size_t)*count, sizeof *made);
    bool good = made != NULL;
    for (Py_ssize_t i = 0; good && i < *count; i++)
        good = real_of(PyList_GetItem(items, i), &made[i]);
    Py_DECREF(items);
    *ret = made;
    return good;
}

static bool groups_take(struct held *h, PyObject *list, const uint32_t **ret, Py_ssize_t *count)
{
    PyObject *items = list == Py_None ? NULL : PySequence_List(list);
    *ret = NULL;
    if (items == NULL)
        return list == Py_None;
    uint32_t *made = NULL;
    if (check_count(count, PyList_Size(items)))
        made = held_make(h, (size_t)*count, sizeof *made);
    bool good = made != NULL;
    for (Py_ssize_t i = 0; good && i < *count; i++) {
        unsigned long group = PyLong_AsUnsignedLong(PyList_GetItem(items, i));
        made[i] = group > UINT32_MAX ? UINT32_MAX : (uint32_t)group;
        good = !PyErr_Occurred();
    }
    Py_DECREF(items);
    *ret = made;
    return good;
}

/* (name, unit, most, filled, x, y, group, labels) */
static bool series_take(struct held *h, PyObject *tuple, struct vrs_chart_series *ret)
{
    PyObject *name, *x, *y, *group, *label;
    int unit, most, filled;
    Py_ssize_t count = -1;
    size_t labels = 0;
    if (!PyArg_ParseTuple(tuple, "UippOOOO:series", &name, &unit, &most, &filled, &x, &y, &group,
                          &label) ||
        !text_take(h, name, &ret->name) || !reals_take(h, y, &ret->y, &count) ||
        !reals_take(h, x, &ret->x, &count) || !groups_take(h, group, &ret->group, &count))
        return false;
    if (label != Py_None && (!texts_take(h, label, &ret->label, &labels) ||
                             !check_count(&count, (Py_ssize_t)labels)))
        return false;
    ret->unit = (enum vrs_chart_unit)unit;
    ret->most = most != 0;
    ret->filled = filled != 0;
    ret->count = count < 0 ? 0 : (size_t)count;
    return true;
}

/* (x, y, label) */
static bool mark_take(struct held *h, PyObject *tuple, struct vrs_chart_mark *ret)
{
    PyObject *x, *y, *label;
    return PyArg_ParseTuple(tuple, "OOU:mark", &x, &y, &label) && real_of(x, &ret->x) &&
           real_of(y, &ret->y) && text_take(h, label, &ret->label);
}

static bool lists_take(struct held *h, PyObject *series, PyObject *marks, struct vrs_chart *ret)
{
    Py_ssize_t series_count = PyList_Size(series), mark_count = PyList_Size(marks);
    struct vrs_chart_series *one = NULL;
    struct vrs_chart_mark *mark = NULL;
    if (series_count >= 0 && mark_count >= 0) {
        one = held_make(h, (size_t)series_count, sizeof *one);
        mark = held_make(h, (size_t)mark_count, sizeof *mark);
    }
    if (one == NULL || mark == NULL)
        return false;
    for (Py_ssize_t i = 0; i < series_count; i++)
        if (!series_take(h, PyList_GetItem(series, i), &one[i]))
            return false;
    for (Py_ssize_t i = 0; i < mark_count; i++)
        if (!mark_take(h, PyList_GetItem(marks, i), &mark[i]))
            return false;
    ret->one = one;
    ret->series = (size_t)series_count;
    ret->mark = mark;
    ret->marks = (size_t)mark_count;
    return true;
}

static bool chart_take(struct held *h, PyObject *args, struct vrs_chart *ret)
{
    PyObject *title, *x_label, *y_label, *groups, *series, *marks;
    int kind, x_unit, y_unit;
    unsigned int width, height;
    if (!PyArg_ParseTuple(args, "iU(Ui)(Ui)(II)OOO:_chart", &kind, &title, &x_label, &x_unit,
                          &y_label, &y_unit, &width, &height, &groups, &series, &marks))
        return false;
    *ret = (struct vrs_chart){ .size = sizeof *ret,
                               .kind = (enum vrs_chart_kind)kind,
                               .x_unit = (enum vrs_chart_unit)x_unit,
                               .y_unit = (enum vrs_chart_unit)y_unit,
                               .width = width,
                               .height = height };
    return text_take(h, title, &ret->title) && text_take(h, x_label, &ret->x_label) &&
           text_take(h, y_label, &ret->y_label) &&
           texts_take(h, groups, &ret->group, &ret->groups) && lists_take(h, series, marks, ret);
}

static PyObject *chart(PyObject *module, PyObject *args)
{
    struct held h = { .texts = PyList_New(0) };
    struct vrs_chart taken;
    struct sink sink;
    PyObject *made = NULL;
    if (h.texts != NULL && chart_take(&h, args, &taken) &&
        sink_begin(&sink, core_state_of(module), NULL, NULL, 0)) {
        struct vrs_error why;
        enum vrs_status status;
        Py_BEGIN_ALLOW_THREADS status = vrs_chart_svg(&taken, &sink.sink, &why);
        Py_END_ALLOW_THREADS made = sink_end_text(&sink, status, &why);
    }
    held_leave(&h);
    return made;
}

PyMethodDef chart_functions[] = {
    { "_chart", chart, METH_VARARGS,
      "_chart(kind, title, x, y, size, groups, series, marks, /)\n--\n\nA chart of measurements "
      "as an element svg." },
    { NULL, NULL, 0, NULL },
};
