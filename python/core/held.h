/* held.h - what a File and a Trace have in common: something that was opened, until it is closed. */
#ifndef VRAMSCOPE_CORE_HELD_H
#define VRAMSCOPE_CORE_HELD_H

#include "core.h"

#include <stdbool.h>

/* The beginning of the object of either type. */
struct held {
    PyObject_HEAD struct core_state *state;
    struct opened *opened; /* NULL: closed */
    PyObject *path;        /* None: of no file */
};

/* A new object of this type.  Takes `what` over, whatever comes; NULL with an exception set. */
PyObject *held_make(PyTypeObject *type, struct core_state *state, struct opened_what what,
                    PyObject *path, PyObject *shown);
void held_dealloc(PyObject *self);

/* False with ValueError set. */
bool held_is_open(const struct held *h);

/* Methods and members of both types. */
PyObject *held_close(PyObject *self, PyObject *unused);
PyObject *held_exit(PyObject *self, PyObject *args);
PyObject *held_path(PyObject *self, void *closure);
PyObject *held_views(PyObject *self, void *closure);

#endif
