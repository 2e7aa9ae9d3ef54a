/* held.c - the object lets go of what was opened when it is closed, or ends. */
#include "held.h"

#include <stdatomic.h>
#include <stddef.h>

PyObject *held_make(PyTypeObject *type, struct core_state *state, struct opened_what what,
                    PyObject *path, PyObject *shown)
{
    struct opened *o = opened_make(what, path == NULL ? NULL : PyBytes_AsString(path));
    struct held *h = o == NULL ? NULL : PyObject_New(struct held, type);
    if (h == NULL) {
        if (o != NULL)
            opened_leave(o);
        return NULL;
    }
    h->state = state;
    h->opened = o;
    h->path = Py_NewRef(shown == NULL ? Py_None : shown);
    return (PyObject *)h;
}

void held_dealloc(PyObject *self)
{
    struct held *h = (struct held *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (h->opened != NULL)
        opened_leave(h->opened);
    Py_XDECREF(h->path);
    PyObject_Free(self);
    Py_DECREF(type);
}

bool held_is_open(const struct held *h)
{
    if (h->opened == NULL)
        PyErr_SetString(PyExc_ValueError, "closed");
    return h->opened != NULL;
}

PyObject *held_close(PyObject *self, PyObject *unused)
{
    struct held *h = (struct held *)self;
    struct opened *o = h->opened;
    (void)unused;
    h->opened = NULL;
    if (o != NULL)
        opened_leave(o);
    return Py_NewRef(Py_None);
}

PyObject *held_exit(PyObject *self, PyObject *args)
{
    (void)args;
    return held_close(self, NULL);
}

PyObject *held_path(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef(((struct held *)self)->path);
}

PyObject *held_views(PyObject *self, void *closure)
{
    const struct held *h = (struct held *)self;
    (void)closure;
    return held_is_open(h) ? PyLong_FromSize_t(atomic_load(&h->opened->columns)) : NULL;
}
