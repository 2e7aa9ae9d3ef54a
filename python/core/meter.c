/* meter.c - the meter of the process, and names and paths from Python's strings. */
#include "meter.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vramscope/profiler.h"

enum { NAME_BYTES_MOST = 4096 };

/* Peak counters belong to the process, and so does what watches them. */
static struct vrs_meter *meter;
static pthread_once_t made = PTHREAD_ONCE_INIT;

/* Another thread's reading may need the GIL to end. */
static void *give_gil(void *arg)
{
    (void)arg;
    return PyEval_SaveThread();
}

static void take_gil(void *arg, void *begun)
{
    (void)arg;
    PyEval_RestoreThread(begun);
}

static void in_child(void)
{
    vrs_meter_after_fork(meter);
}

static void make(void)
{
    struct vrs_meter_options options = { .size = sizeof options,
                                         .wait_begin = give_gil,
                                         .wait_end = take_gil,
                                         .driver = getenv("VRAMSCOPE_NVML") };
    struct vrs_error err;
    if (vrs_meter_make(&options, &meter, &err) != VRS_OK)
        return;
    if (pthread_atfork(NULL, NULL, in_child) != 0) {
        vrs_meter_free(meter);
        meter = NULL;
    }
}

struct vrs_meter *process_meter(void)
{
    pthread_once(&made, make);
    if (meter == NULL)
        PyErr_NoMemory();
    return meter;
}

/* The first bytes of a text that is too long, up to a whole character, and an ellipsis. */
static uint32_t long_name_id(const char *text)
{
    static const char dots[] = "\xe2\x80\xa6";
    char cut[NAME_BYTES_MOST];
    size_t end = sizeof cut - (sizeof dots - 1);
    while (((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    memcpy(cut, text, end);
    memcpy(cut + end, dots, sizeof dots - 1);
    return vrs_name(meter, cut, end + sizeof dots - 1);
}

bool name_id(PyObject *name, uint32_t *ret)
{
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "a name is a str, not %R", Py_TYPE(name));
        return false;
    }
    PyObject *bytes = PyUnicode_AsEncodedString(name, "utf-8", "surrogatepass");
    char *text;
    Py_ssize_t len;
    if (bytes == NULL || PyBytes_AsStringAndSize(bytes, &text, &len) != 0) {
        Py_XDECREF(bytes);
        return false;
    }
    *ret = len <= NAME_BYTES_MOST ? vrs_name(meter, text, (size_t)len) : long_name_id(text);
    Py_DECREF(bytes);
    return true;
}

bool path_id(struct core_state *state, uint32_t parent, PyObject *name, uint32_t *ret)
{
    uint32_t at = ((uint32_t)((uintptr_t)name >> 4) ^ parent * 31) % PATHS_KEPT;
    struct kept_path *kept = &state->paths[at];
    if (kept->name == name && kept->parent == parent) {
        *ret = kept->path;
        return true;
    }
    uint32_t id;
    if (!name_id(name, &id))
        return false;
    PyObject *before = kept->name;
    *kept = (struct kept_path){ Py_NewRef(name), parent, vrs_path(meter, parent, id) };
    Py_XDECREF(before);
    *ret = kept->path;
    return true;
}

PyObject *name_str(uint32_t name)
{
    size_t len;
    const char *text = vrs_name_text(meter, name, &len);
    if (name == 0)
        return Py_NewRef(Py_None);
    return PyUnicode_Decode(text, (Py_ssize_t)len, "utf-8", "surrogatepass");
}

uint32_t path_name(uint32_t path)
{
    uint32_t parent, name;
    vrs_path_parts(meter, path, &parent, &name);
    return name;
}

PyObject *path_tuple(uint32_t path)
{
    PyObject *names = PyList_New(0);
    for (uint32_t parent, name; names != NULL && path != 0; path = parent) {
        vrs_path_parts(meter, path, &parent, &name);
        PyObject *text = name != 0 ? name_str(name) : PyUnicode_FromString("");
        if (text == NULL || PyList_Insert(names, 0, text) != 0)
            Py_CLEAR(names);
        Py_XDECREF(text);
    }
    PyObject *tuple = names == NULL ? NULL : PyList_AsTuple(names);
    Py_XDECREF(names);
    return tuple;
}

PyObject *bytes_or_none(uint64_t bytes)
{
    if (bytes == VRS_UNKNOWN)
        return Py_NewRef(Py_None);
    return PyLong_FromUnsignedLongLong(bytes);
}

PyObject *difference_or_none(uint64_t a, uint64_t b)
{
    if (a == VRS_UNKNOWN || b == VRS_UNKNOWN)
        return Py_NewRef(Py_None);
    return PyLong_FromLongLong((int64_t)(a - b));
}

void exception_drop(void)
{
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
        PyErr_SetInterrupt();
    PyErr_Clear();
}
