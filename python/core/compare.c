/* compare.c - two measurements, or two traces, held against each other.
 *
 * A side is a Trace, a path as str, or the JSON of a measurement as bytes, as the Python files give
 * them. */
#include "core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "held.h"
#include "vramscope/measurement.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

struct side {
    const char *name; /* shown where it has no path */
    char argument[16]; /* "before", "again[3]" */
    PyObject *path;   /* bytes; NULL: it has none */
    PyObject *json;   /* borrowed bytes; NULL */
    struct opened *used; /* of a Trace */
    struct vrs_comparable made;
    const struct vrs_trace *trace; /* of the Trace, or made */
};

/* False with an exception set. */
static bool take_side(struct core_state *state, PyObject *object, struct side *s)
{
    if (Py_TYPE(object) == state->trace) {
        struct held *h = (struct held *)object;
        s->used = held_is_open(h) ? opened_use(h->opened) : NULL;
        s->trace = s->used == NULL ? NULL : s->used->trace;
        return s->used != NULL;
    }
    if (PyBytes_Check(object)) {
        s->json = object;
        return true;
    }
    return PyUnicode_FSConverter(object, &s->path) != 0;
}

/* Without the interpreter's lock. */
static enum vrs_status open_side(struct side *s, const char *path, const char *json, size_t len,
                                 struct vrs_error *err)
{
    const struct vrs_open_options options = { .size = sizeof options, .threads = 1 };
    enum vrs_status status = VRS_OK;
    if (json != NULL)
        status = vrs_open_measurement_bytes(json, len, s->name, &options, &s->made.measurement,
                                            err);
    else if (path != NULL)
        status = vrs_open_comparable(path, &options, &s->made, err);
    if (s->made.trace != NULL)
        s->trace = s->made.trace;
    return status;
}

/* False with an exception set. */
static bool open_taken(struct core_state *state, struct side *s)
{
    struct vrs_error err;
    const char *path = s->path == NULL ? NULL : PyBytes_AsString(s->path);
    const char *json = s->json == NULL ? NULL : PyBytes_AsString(s->json);
    size_t len = s->json == NULL ? 0 : (size_t)PyBytes_Size(s->json);
    enum vrs_status status;
    Py_BEGIN_ALLOW_THREADS status = open_side(s, path, json, len, &err);
    Py_END_ALLOW_THREADS if (status == VRS_OK) return true;
    PyObject *shown = path == NULL ? NULL : PyUnicode_DecodeFSDefault(path);
    if (path == NULL || shown != NULL)
        raise_error_of(state, &err, shown, s->argument);
    Py_XDECREF(shown);
    return false;
}

/* A time or a share, or none where there is no text.  False with an exception set. */
static bool read_limit(struct core_state *state, const char *text, struct vrs_fail_over *ret)
{
    *ret = (struct vrs_fail_over){ 0 };
    if (text == NULL || (vrs_read_fail_over(text, ret) && ret->bytes == 0))
        return true;
    (void)raise_usage(state, "fail_over takes a time, as \"5ms\", or a share of what was before, "
                             "as \"5%\"");
    return false;
}

/* False with an exception set. */
static bool refuse_side(struct core_state *state, const struct side *s, const char *why)
{
    struct vrs_error err = { .status = VRS_USAGE, .offset = UINT64_MAX };
    PyOS_snprintf(err.message, sizeof err.message, "%s", why);
    (void)raise_error_of(state, &err, NULL, s->argument);
    return false;
}

/* What is compared has to be of one kind, and none of snapshots: false with an exception set. */
static bool check_kinds(struct core_state *state, const struct side *a, const struct side *b)
{
    if (a->made.file != NULL || b->made.file != NULL)
        return refuse_side(state, a->made.file != NULL ? a : b,
                           "a memory snapshot, which has no times: Recording.diff() says what "
                           "changed between two of them");
    if ((a->trace != NULL) == (b->trace != NULL))
        return true;
    (void)raise_usage(state, a->trace != NULL
                                 ? "before is a profiler trace and after a measurement, which "
                                   "cannot be compared; give two of one kind"
                                 : "before is a measurement and after a profiler trace, which "
                                   "cannot be compared; give two of one kind");
    return false;
}

/* A's program, measured again. */
struct repeats {
    struct side at[VRS_REPEATS_MOST];
    const struct vrs_measurement *measurement[VRS_REPEATS_MOST];
    uint32_t count;
};

/* False with an exception set. */
static bool check_repeats(struct core_state *state, const struct side *a,
                          const struct repeats *again)
{
    if (again->count > 0 && a->trace != NULL)
        (void)raise_usage(state, "again is for measurements; traces are compared by their steps");
    for (uint32_t i = 0; i < again->count && PyErr_Occurred() == NULL; i++)
        if (again->measurement[i] == NULL)
            return refuse_side(state, &again->at[i],
                               again->at[i].trace != NULL
                                   ? "a profiler trace; again takes measurements of the program "
                                     "of before"
                                   : "a memory snapshot; again takes measurements of the program "
                                     "of before");
    return PyErr_Occurred() == NULL;
}

static PyObject *ask(struct core_state *state, const struct side *a, const struct side *b,
                     const struct repeats *again, const struct vrs_fail_over *limit)
{
    const struct vrs_trace_diff_options traces = { .size = sizeof traces,
                                                   .fail_over_ns = limit->ns,
                                                   .fail_over_millionths = limit->millionths };
    const struct vrs_compare_options measured = { .size = sizeof measured,
                                                  .fail_over_ns = limit->ns,
                                                  .fail_over_millionths = limit->millionths,
                                                  .again = again->measurement,
                                                  .again_count = again->count };
    struct vrs_result *result = NULL;
    struct vrs_error err;
    if (!check_kinds(state, a, b) || !check_repeats(state, a, again))
        return NULL;
    enum vrs_status status;
    Py_BEGIN_ALLOW_THREADS status =
        a->trace != NULL
            ? vrs_trace_diff(a->trace, b->trace, &traces, &result, &err)
            : vrs_compare(a->made.measurement, b->made.measurement, &measured, &result, &err);
    Py_END_ALLOW_THREADS if (status != VRS_OK) return raise_error(state, &err, NULL);
    if (PyErr_CheckSignals() != 0) {
        vrs_result_free(result);
        return NULL;
    }
    return answer_make(state, result, a->trace != NULL ? "trace-diff" : "compare",
                       &(struct drawn){ .opened = NULL });
}

static void leave_side(struct side *s)
{
    vrs_close_comparable(&s->made);
    if (s->used != NULL)
        opened_leave(s->used);
    Py_XDECREF(s->path);
}

/* Takes and opens them all; false with an exception set.  What was taken is the caller's to leave
 * in both cases. */
static bool open_repeats(struct core_state *state, PyObject *list, struct repeats *ret)
{
    Py_ssize_t count = PyList_Size(list);
    if (count < 0)
        return false;
    if (count > VRS_REPEATS_MOST) {
        (void)raise_usage(state, "again takes 16 measurements at most");
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        struct side *s = &ret->at[ret->count];
        s->name = "(again)";
        PyOS_snprintf(s->argument, sizeof s->argument, "again[%u]", (unsigned)i);
        if (!take_side(state, PyList_GetItem(list, i), s))
            return false;
        ret->count++;
        if (!open_taken(state, s))
            return false;
        ret->measurement[i] = s->made.measurement;
    }
    return true;
}

PyObject *core_compare(PyObject *module, PyObject *args)
{
    struct core_state *state = core_state_of(module);
    struct side a = { .name = "(before)", .argument = "before" };
    struct side b = { .name = "(after)", .argument = "after" };
    struct vrs_fail_over limit;
    struct repeats again = { .count = 0 };
    PyObject *before, *after, *list, *made = NULL;
    const char *fail_over;
    if (!PyArg_ParseTuple(args, "OOOz:compare", &before, &after, &list, &fail_over))
        return NULL;
    if (!read_limit(state, fail_over, &limit))
        return NULL;
    if (take_side(state, before, &a) && take_side(state, after, &b) && open_taken(state, &a) &&
        open_taken(state, &b) && open_repeats(state, list, &again))
        made = ask(state, &a, &b, &again, &limit);
    for (uint32_t i = 0; i < again.count; i++)
        leave_side(&again.at[i]);
    leave_side(&a);
    leave_side(&b);
    return made;
}
