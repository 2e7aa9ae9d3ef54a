/* analyzer.c - rules about measurements: columns of a mapping in, findings out as tuples. */
#include "core.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vramscope/analyzer.h"
#include "vramscope/error.h"

/* Everything that one call takes from Python is given back together. */
enum { TAKEN_MOST = 16 };

struct taken {
    void *at[TAKEN_MOST];
    size_t count;
    Py_ssize_t rows; /* of every column; -1: none has been read */
};

static void taken_leave(struct taken *t)
{
    for (size_t i = 0; i < t->count; i++)
        PyMem_Free(t->at[i]);
}

/* NULL with an exception set. */
static void *taken_make(struct taken *t, Py_ssize_t rows, size_t width)
{
    void *made = PyMem_Calloc((size_t)rows + 1, width);
    if (made == NULL)
        PyErr_NoMemory();
    else
        t->at[t->count++] = made;
    return made;
}

/* Bytes, times and numbers: None and what is not finite are unknown. */
static bool whole_of(PyObject *item, void *ret)
{
    int64_t *whole = ret;
    *whole = VRS_BYTES_UNKNOWN;
    if (item == Py_None)
        return true;
    if (PyFloat_Check(item)) {
        double value = PyFloat_AsDouble(item);
        if (!isfinite(value))
            return true;
        if (fabs(value) >= 9.2e18) {
            PyErr_SetString(PyExc_OverflowError, "a figure is larger than 2^63");
            return false;
        }
        *whole = (int64_t)llround(value);
        return true;
    }
    PyObject *number = PyNumber_Index(item);
    if (number == NULL)
        return false;
    *whole = PyLong_AsLongLong(number);
    Py_DECREF(number);
    return !PyErr_Occurred();
}

static bool double_of(PyObject *item, void *ret)
{
    double *value = ret;
    *value = item == Py_None ? NAN : PyFloat_AsDouble(item);
    return !PyErr_Occurred();
}

static bool id_of(PyObject *item, void *ret)
{
    unsigned long id = PyLong_AsUnsignedLong(item);
    *(uint32_t *)ret = (uint32_t)id;
    if (!PyErr_Occurred() && id > UINT32_MAX)
        PyErr_SetString(PyExc_OverflowError, "an id is larger than 2^32");
    return !PyErr_Occurred();
}

static bool flag_of(PyObject *item, void *ret)
{
    int set = PyObject_IsTrue(item);
    *(uint8_t *)ret = set > 0;
    return set >= 0;
}

typedef bool item_of(PyObject *item, void *ret);

/* A column of the mapping, whose rows are as many as those of the others. */
static bool column_take(struct taken *t, PyObject *columns, const char *name, item_of *read,
                        size_t width, void *ret)
{
    PyObject *found = PyMapping_GetItemString(columns, name);
    PyObject *items = found == NULL ? NULL : PySequence_List(found);
    char *made = NULL;
    Py_XDECREF(found);
    if (items == NULL)
        return false;
    Py_ssize_t rows = PyList_Size(items);
    if (t->rows >= 0 && rows != t->rows)
        PyErr_Format(PyExc_ValueError, "column %s has %zd rows, others %zd", name, rows, t->rows);
    else
        made = taken_make(t, rows, width);
    for (Py_ssize_t i = 0; made != NULL && i < rows; i++)
        if (!read(PyList_GetItem(items, i), made + (size_t)i * width))
            made = NULL;
    Py_DECREF(items);
    t->rows = rows;
    memcpy(ret, &made, sizeof made);
    return made != NULL;
}

#define WHOLES(name, member) column_take(t, columns, name, whole_of, sizeof(int64_t), &(member))
#define DOUBLES(name, member) column_take(t, columns, name, double_of, sizeof(double), &(member))
#define IDS(name, member) column_take(t, columns, name, id_of, sizeof(uint32_t), &(member))
#define FLAGS(name, member) column_take(t, columns, name, flag_of, sizeof(uint8_t), &(member))

static bool calls_take(struct taken *t, PyObject *columns, struct vrs_calls *ret)
{
    *ret = (struct vrs_calls){ .size = sizeof *ret };
    t->rows = -1;
    if (!IDS("function", ret->function) || !DOUBLES("started", ret->started_s) ||
        !DOUBLES("seconds", ret->seconds) || !WHOLES("before", ret->before_bytes) ||
        !WHOLES("after", ret->after_bytes) || !WHOLES("reserved", ret->reserved_bytes) ||
        !WHOLES("peak", ret->peak_bytes) || !WHOLES("allocated", ret->grown_bytes))
        return false;
    ret->count = (size_t)t->rows;
    for (size_t i = 0; i < ret->count; i++)
        if (ret->function[i] >= ret->functions)
            ret->functions = ret->function[i] + 1;
    return true;
}

static bool samples_take(struct taken *t, PyObject *columns, struct vrs_samples *ret)
{
    *ret = (struct vrs_samples){ .size = sizeof *ret };
    t->rows = -1;
    if (!WHOLES("ranks", ret->rank_number))
        return false;
    ret->ranks = (uint32_t)t->rows;
    t->rows = -1;
    if (!WHOLES("time_ns", ret->time_ns) || !IDS("rank", ret->rank) || !IDS("job", ret->job) ||
        !WHOLES("world_size", ret->world_size) || !WHOLES("interval_ms", ret->interval_ms) ||
        !WHOLES("used", ret->used_bytes) || !WHOLES("total", ret->total_bytes) ||
        !WHOLES("reserved", ret->reserved_bytes) || !WHOLES("allocated", ret->allocated_bytes) ||
        !FLAGS("sampled", ret->sampled) || !FLAGS("marked", ret->marked))
        return false;
    ret->count = (size_t)t->rows;
    return true;
}

/* The thresholds of a mapping, by their names. */
static double *thresholds_take(struct taken *t, PyObject *mapping)
{
    size_t count = vrs_threshold_count();
    double *value = taken_make(t, (Py_ssize_t)count, sizeof *value);
    for (size_t i = 0; value != NULL && i < count; i++) {
        PyObject *found = PyMapping_GetItemString(mapping, vrs_threshold(i).name);
        if (found == NULL)
            return NULL;
        value[i] = PyFloat_AsDouble(found);
        Py_DECREF(found);
        if (PyErr_Occurred())
            return NULL;
    }
    return value;
}

static PyObject *real(double value)
{
    return isnan(value) ? Py_NewRef(Py_None) : PyFloat_FromDouble(value);
}

static PyObject *figures_of(const struct vrs_findings *found, size_t i, size_t figures)
{
    PyObject *dict = PyDict_New();
    for (size_t k = 0; dict != NULL && k < figures; k++) {
        struct vrs_figure figure = vrs_figure(found, i, k);
        PyObject *value = figure.whole ? PyLong_FromLongLong(figure.count) : real(figure.value);
        if (value == NULL || PyDict_SetItemString(dict, figure.name, value) != 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *functions_of(const struct vrs_finding *row)
{
    PyObject *list = PyList_New((Py_ssize_t)row->functions);
    for (size_t k = 0; list != NULL && k < row->functions; k++) {
        PyObject *id = PyLong_FromUnsignedLong(row->function[k]);
        if (id == NULL || PyList_SetItem(list, (Py_ssize_t)k, id) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* [(kind, severity, confidence, figures, functions)]; takes the findings over. */
static PyObject *tuples_of(struct vrs_findings *found)
{
    size_t count = vrs_findings_count(found);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        struct vrs_finding row = vrs_finding(found, i);
        PyObject *tuple =
            Py_BuildValue("(siNNN)", row.kind, (int)row.severity, real(row.confidence),
                          figures_of(found, i, row.figures), functions_of(&row));
        if (tuple == NULL || PyList_SetItem(list, (Py_ssize_t)i, tuple) != 0)
            Py_CLEAR(list);
    }
    vrs_findings_close(found);
    return list;
}

/* What a call of the core gave, as tuples. */
static PyObject *answer(PyObject *module, enum vrs_status status, struct vrs_findings *found,
                        const struct vrs_error *why)
{
    if (status != VRS_OK)
        return raise_error(core_state_of(module), why, NULL);
    return tuples_of(found);
}

typedef enum vrs_status calls_rule(const struct vrs_calls *calls, const double *thresholds,
                                   struct vrs_findings **ret, struct vrs_error *err);

static PyObject *of_calls(PyObject *module, PyObject *args, calls_rule *ask)
{
    PyObject *columns, *mapping, *result = NULL;
    struct taken t = { .count = 0 };
    struct vrs_calls calls;
    const double *thresholds;
    if (!PyArg_ParseTuple(args, "OO", &columns, &mapping))
        return NULL;
    if (calls_take(&t, columns, &calls) && (thresholds = thresholds_take(&t, mapping)) != NULL) {
        struct vrs_findings *found = NULL;
        struct vrs_error why;
        enum vrs_status status;
        Py_BEGIN_ALLOW_THREADS status = ask(&calls, thresholds, &found, &why);
        Py_END_ALLOW_THREADS result = answer(module, status, found, &why);
    }
    taken_leave(&t);
    return result;
}

static PyObject *dict_of_totals(const struct vrs_calls_totals *t)
{
    return Py_BuildValue("{sLsLsLsLsdsdsd}", "allocated", (long long)t->grown_bytes, "freed",
                         (long long)t->shrunk_bytes, "net", (long long)t->net_bytes, "peak",
                         (long long)t->peak_bytes, "seconds", t->seconds, "mean_seconds",
                         t->mean_seconds, "mean_allocated", t->mean_grown_bytes);
}

/* Who asks for net bytes has a column of what was freed. */
static bool freed_take(struct taken *t, PyObject *columns, struct vrs_calls *calls)
{
    return !PyMapping_HasKeyString(columns, "freed") || WHOLES("freed", calls->shrunk_bytes);
}

static PyObject *totals(PyObject *module, PyObject *columns)
{
    PyObject *result = NULL;
    struct taken t = { .count = 0 };
    struct vrs_calls calls;
    if (calls_take(&t, columns, &calls) && freed_take(&t, columns, &calls)) {
        struct vrs_calls_totals total = { .seconds = 0 };
        struct vrs_error why;
        enum vrs_status status;
        Py_BEGIN_ALLOW_THREADS status = vrs_calls_total(&calls, &total, &why);
        Py_END_ALLOW_THREADS result =
            status == VRS_OK ? dict_of_totals(&total)
                             : raise_error(core_state_of(module), &why, NULL);
    }
    taken_leave(&t);
    return result;
}

static PyObject *patterns(PyObject *module, PyObject *args)
{
    return of_calls(module, args, vrs_patterns);
}

static PyObject *insights(PyObject *module, PyObject *args)
{
    return of_calls(module, args, vrs_insights);
}

/* (findings, dropped), or NULL where there are no findings. */
static PyObject *with_dropped(PyObject *findings, uint64_t dropped)
{
    return findings == NULL ? NULL : Py_BuildValue("(NK)", findings, (unsigned long long)dropped);
}

typedef enum vrs_status samples_rule(const struct vrs_samples *samples, const double *thresholds,
                                     struct vrs_findings **ret, uint64_t *ret_dropped,
                                     struct vrs_error *err);

static PyObject *of_samples(PyObject *module, PyObject *args, samples_rule *ask)
{
    PyObject *columns, *mapping, *result = NULL;
    struct taken t = { .count = 0 };
    struct vrs_samples samples;
    const double *thresholds;
    if (!PyArg_ParseTuple(args, "OO", &columns, &mapping))
        return NULL;
    if (samples_take(&t, columns, &samples) &&
        (thresholds = thresholds_take(&t, mapping)) != NULL) {
        struct vrs_findings *found = NULL;
        struct vrs_error why;
        enum vrs_status status;
        uint64_t dropped = 0;
        Py_BEGIN_ALLOW_THREADS status = ask(&samples, thresholds, &found, &dropped, &why);
        Py_END_ALLOW_THREADS result = with_dropped(answer(module, status, found, &why), dropped);
    }
    taken_leave(&t);
    return result;
}

static PyObject *gaps(PyObject *module, PyObject *args)
{
    return of_samples(module, args, vrs_gaps);
}

static PyObject *first_cause(PyObject *module, PyObject *args)
{
    return of_samples(module, args, vrs_first_cause);
}

static PyObject *collectives(PyObject *module, PyObject *args)
{
    PyObject *columns, *result = NULL;
    struct taken t = { .count = 0 };
    struct vrs_samples samples;
    struct vrs_collective_limits limits = { .size = sizeof limits };
    long long marker, padding, synchrony;
    if (!PyArg_ParseTuple(args, "O(IdddLLLdd)", &columns, &limits.min_samples,
                          &limits.min_gap_bytes, &limits.min_gap_ratio, &limits.robust_z, &marker,
                          &padding, &synchrony, &limits.min_synchrony, &limits.min_confidence))
        return NULL;
    limits.marker_window_ns = marker;
    limits.padding_ns = padding;
    limits.synchrony_window_ns = synchrony;
    if (samples_take(&t, columns, &samples)) {
        struct vrs_findings *found = NULL;
        struct vrs_error why;
        enum vrs_status status;
        uint64_t dropped = 0;
        Py_BEGIN_ALLOW_THREADS status = vrs_collectives(&samples, &limits, &found, &dropped, &why);
        Py_END_ALLOW_THREADS result = with_dropped(answer(module, status, found, &why), dropped);
    }
    taken_leave(&t);
    return result;
}

static PyObject *series(PyObject *module, PyObject *args)
{
    PyObject *columns, *mapping, *result = NULL;
    struct taken t = { .count = 0, .rows = -1 };
    const double *values, *thresholds;
    if (!PyArg_ParseTuple(args, "OO", &columns, &mapping))
        return NULL;
    if (column_take(&t, columns, "value", double_of, sizeof(double), &values) &&
        (thresholds = thresholds_take(&t, mapping)) != NULL) {
        struct vrs_findings *found = NULL;
        struct vrs_error why;
        enum vrs_status status;
        Py_BEGIN_ALLOW_THREADS status =
            vrs_series(values, (size_t)t.rows, thresholds, &found, &why);
        Py_END_ALLOW_THREADS result = answer(module, status, found, &why);
    }
    taken_leave(&t);
    return result;
}

static PyObject *score(PyObject *module, PyObject *args)
{
    unsigned long long p[3], i[3];
    (void)module;
    if (!PyArg_ParseTuple(args, "(KKK)(KKK)", &p[0], &p[1], &p[2], &i[0], &i[1], &i[2]))
        return NULL;
    struct vrs_score made =
        vrs_score((const uint64_t[]){ p[0], p[1], p[2] }, (const uint64_t[]){ i[0], i[1], i[2] });
    return Py_BuildValue("(IC)", made.points, (int)made.grade);
}

static PyObject *thresholds(PyObject *module, PyObject *unused)
{
    PyObject *dict = PyDict_New();
    (void)module;
    (void)unused;
    for (size_t i = 0; dict != NULL && i < vrs_threshold_count(); i++) {
        struct vrs_threshold row = vrs_threshold(i);
        PyObject *value =
            row.whole ? PyLong_FromLongLong((long long)row.value) : PyFloat_FromDouble(row.value);
        if (value == NULL || PyDict_SetItemString(dict, row.name, value) != 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

PyMethodDef analyzer_functions[] = {
    { "_thresholds", thresholds, METH_NOARGS,
      "_thresholds()\n--\n\nNames and defaults of the thresholds of all rules." },
    { "_totals", totals, METH_O,
      "_totals(calls, /)\n--\n\nBytes and seconds of all measured calls together: a dict." },
    { "_patterns", patterns, METH_VARARGS,
      "_patterns(calls, thresholds, /)\n--\n\nPatterns in the memory of measured calls." },
    { "_insights", insights, METH_VARARGS,
      "_insights(calls, thresholds, /)\n--\n\nWhat times and memory of measured calls say." },
    { "_gaps", gaps, METH_VARARGS,
      "_gaps(samples, thresholds, /)\n--\n\nGaps between device and allocator, and how many "
      "samples "
      "have none." },
    { "_collectives", collectives, METH_VARARGS,
      "_collectives(samples, limits, /)\n--\n\nGaps that come with collectives, and how many "
      "samples "
      "have none." },
    { "_first_cause", first_cause, METH_VARARGS,
      "_first_cause(samples, thresholds, /)\n--\n\nThe rank whose memory jumped first, and how "
      "many "
      "samples tell nothing." },
    { "_series", series, METH_VARARGS,
      "_series(columns, thresholds, /)\n--\n\nLeaks told from one series of samples." },
    { "_score", score, METH_VARARGS,
      "_score(patterns, insights, /)\n--\n\n(points, grade) of counts by severity." },
    { NULL, NULL, 0, NULL },
};
