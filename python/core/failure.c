/* failure.c - struct vrs_error into vramscope.Error. */
#include "core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramscope/snapshot.h"
#include "vramscope/vramscope.h"

static const char *const status_names[] = {
    [VRS_NOMEM] = "nomem",     [VRS_IO] = "io",
    [VRS_CORRUPT] = "corrupt", [VRS_UNSUPPORTED] = "unsupported",
    [VRS_LIMIT] = "limit",     [VRS_USAGE] = "usage",
};

/* False with an exception set. */
static bool set_member(PyObject *error, const char *name, PyObject *value)
{
    bool ok = value != NULL && PyObject_SetAttrString(error, name, value) == 0;
    Py_XDECREF(value);
    return ok;
}

/* What the command says of a failure: "PATH: byte OFFSET: MESSAGE", behind the argument's name. */
static PyObject *sentence(const struct vrs_error *why, PyObject *path, const char *argument)
{
    const char *colon = argument == NULL ? "" : ": ";
    char where[32] = "";
    argument = argument == NULL ? "" : argument;
    if (why->offset != UINT64_MAX)
        PyOS_snprintf(where, sizeof where, "byte %llu: ", (unsigned long long)why->offset);
    if (path == NULL || path == Py_None)
        return PyUnicode_FromFormat("%s%s%s%s", argument, colon, where, why->message);
    return PyUnicode_FromFormat("%s%s%S: %s%s", argument, colon, path, where, why->message);
}

PyObject *raise_error(struct core_state *state, const struct vrs_error *why, PyObject *path)
{
    return raise_error_of(state, why, path, NULL);
}

PyObject *raise_error_of(struct core_state *state, const struct vrs_error *why, PyObject *path,
                         const char *argument)
{
    PyObject *text = sentence(why, path, argument);
    PyObject *error = text == NULL ? NULL : PyObject_CallFunctionObjArgs(state->error, text, NULL);
    Py_XDECREF(text);
    PyObject *offset =
        why->offset == UINT64_MAX ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(why->offset);
    if (error == NULL) {
        Py_XDECREF(offset);
        return NULL;
    }
    bool ok = set_member(error, "offset", offset) &&
              set_member(error, "status", PyUnicode_FromString(status_names[why->status])) &&
              set_member(error, "_message", PyUnicode_FromFormat("%s", why->message)) &&
              set_member(error, "path", Py_NewRef(path == NULL ? Py_None : path));
    if (ok)
        PyErr_SetObject(state->error, error);
    Py_DECREF(error);
    return NULL;
}

PyObject *raise_usage(struct core_state *state, const char *text)
{
    struct vrs_error why = { .status = VRS_USAGE, .offset = UINT64_MAX };
    PyOS_snprintf(why.message, sizeof why.message, "%s", text);
    return raise_error(state, &why, NULL);
}

bool error_of(struct core_state *state, PyObject *error, struct vrs_error *ret)
{
    *ret = (struct vrs_error){ .status = VRS_IO, .offset = UINT64_MAX };
    bool own = PyObject_IsInstance(error, state->error) == 1 &&
               PyObject_HasAttrString(error, "_message");
    PyObject *text = own ? PyObject_GetAttrString(error, "_message") : PyObject_Str(error);
    PyObject *status = NULL, *offset = NULL;
    PyObject *bytes = text == NULL ? NULL : PyUnicode_AsEncodedString(text, "utf-8", "replace");
    if (bytes != NULL)
        PyOS_snprintf(ret->message, sizeof ret->message, "%s", PyBytes_AsString(bytes));
    if (bytes != NULL && own) {
        status = PyObject_GetAttrString(error, "status");
        offset = PyObject_GetAttrString(error, "offset");
    }
    for (enum vrs_status i = VRS_NOMEM; status != NULL && i <= VRS_USAGE; i++)
        if (PyUnicode_Check(status) &&
            PyUnicode_CompareWithASCIIString(status, status_names[i]) == 0)
            ret->status = i;
    if (offset != NULL && offset != Py_None)
        ret->offset = PyLong_AsUnsignedLongLong(offset);
    Py_XDECREF(offset);
    Py_XDECREF(status);
    Py_XDECREF(bytes);
    Py_XDECREF(text);
    return !PyErr_Occurred();
}
