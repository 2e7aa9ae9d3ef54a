/* sim_history.c - the history of a simulated device: kept as torch's recorder does, and dumped. */
#include "sim.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core.h"
#include "vramscope/sim.h"

/* Which stacks torch keeps by what it calls "context". */
static bool stacks_of(struct sim_object *self, const char *context, enum vrs_sim_stacks *ret)
{
    static const char *const names[] = {
        [VRS_SIM_STACKS_ALL] = "all",
        [VRS_SIM_STACKS_ALLOC] = "alloc",
        [VRS_SIM_STACKS_BLOCKS] = "state",
    };
    *ret = VRS_SIM_STACKS_NONE;
    if (context == NULL)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(context, names[i]) == 0) {
            *ret = (enum vrs_sim_stacks)i;
            return true;
        }
    raise_usage(self->state, "context is None, \"state\", \"alloc\" or \"all\"");
    return false;
}

PyObject *device_history_start(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "max_entries", "enabled",       "context",
                                         "stacks",      "clear_history", NULL };
    struct sim_object *s = (struct sim_object *)self;
    struct vrs_sim_history_options options = { .size = sizeof options };
    const char *enabled = "all", *context = "all", *stacks = "python";
    long long entries = 100000;
    int clear = 0;
    struct vrs_error err;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|L$szsp:history_start", (char **)SLOT(names),
                                     &entries, &enabled, &context, &stacks, &clear) ||
        !stacks_of(s, context, &options.stacks))
        return NULL;
    if (strcmp(enabled, "all") != 0 && strcmp(enabled, "state") != 0)
        return raise_usage(s->state, "enabled is \"state\" or \"all\"; history_stop() ends it");
    if (strcmp(stacks, "python") != 0 && strcmp(stacks, "all") != 0)
        return raise_usage(s->state, "stacks is \"python\" or \"all\"");
    options.entries = entries < 1                ? 1
                      : entries > UINT32_MAX / 2 ? UINT32_MAX / 2
                                                 : (uint32_t)entries;
    options.state_only = strcmp(enabled, "state") == 0;
    options.clear = clear != 0;
    if (vrs_sim_history_start(s->sim, &options, &err) != VRS_OK)
        return raise_error(s->state, &err, NULL);
    return Py_NewRef(Py_None);
}

PyObject *device_history_stop(PyObject *self, PyObject *unused)
{
    (void)unused;
    vrs_sim_history_stop(((struct sim_object *)self)->sim);
    return Py_NewRef(Py_None);
}

PyObject *device_history_enabled(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(vrs_sim_history_on(((struct sim_object *)self)->sim));
}

PyObject *device_history_count(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "device", NULL };
    struct sim_object *s = (struct sim_object *)self;
    PyObject *told = NULL;
    uint32_t device = 0;
    uint64_t entries = 0, dropped = 0;
    struct vrs_error err;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:history_count", (char **)SLOT(names),
                                     &told) ||
        !sim_device_of(s, told, &device))
        return NULL;
    if (vrs_sim_history_count(s->sim, device, &entries, &dropped, &err) != VRS_OK)
        return raise_error(s->state, &err, NULL);
    return Py_BuildValue("(KK)", (unsigned long long)entries, (unsigned long long)dropped);
}

PyObject *device_mark(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "name", "end", NULL };
    struct sim_object *s = (struct sim_object *)self;
    PyObject *name = NULL;
    int end = 0;
    struct vrs_error err;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "U|$p:mark", (char **)SLOT(names), &name, &end))
        return NULL;
    PyObject *utf8 = PyUnicode_AsEncodedString(name, "utf-8", "replace");
    if (utf8 == NULL)
        return NULL;
    enum vrs_status status =
        vrs_sim_mark(s->sim, PyBytes_AsString(utf8), (size_t)PyBytes_Size(utf8), end != 0, &err);
    Py_DECREF(utf8);
    return status == VRS_OK ? Py_NewRef(Py_None) : raise_error(s->state, &err, NULL);
}

/* Bytes on their way to a file, or to memory that needs no lock of the interpreter. */
struct dump {
    int fd; /* -1: memory */
    int failure;
    char *at;
    size_t len, room;
};

static bool write_file(struct dump *d, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t wrote = write(d->fd, bytes, len);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            d->failure = errno;
            return false;
        }
        bytes += wrote;
        len -= (size_t)wrote;
    }
    return true;
}

static bool write_memory(struct dump *d, const char *bytes, size_t len)
{
    if (len > d->room - d->len) {
        size_t room = (d->len + len) * 2 + 65536;
        char *grown = realloc(d->at, room);
        if (grown == NULL) {
            d->failure = ENOMEM;
            return false;
        }
        d->at = grown;
        d->room = room;
    }
    if (len > 0)
        memcpy(d->at + d->len, bytes, len);
    d->len += len;
    return true;
}

static bool dump_write(void *arg, const char *bytes, size_t len)
{
    struct dump *d = arg;
    return d->fd < 0 ? write_memory(d, bytes, len) : write_file(d, bytes, len);
}

PyObject *device_dump(PyObject *self, PyObject *fd)
{
    struct sim_object *s = (struct sim_object *)self;
    struct dump dump = { -1, 0, NULL, 0, 0 };
    struct vrs_sink sink = { dump_write, &dump };
    struct vrs_error err;
    enum vrs_status status;
    if (fd != Py_None) {
        dump.fd = PyObject_AsFileDescriptor(fd);
        if (dump.fd < 0)
            return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = vrs_sim_dump(s->sim, NULL, &sink, &err);
    Py_END_ALLOW_THREADS;
    PyObject *ret = NULL;
    if (status == VRS_OK)
        ret = fd == Py_None ? PyBytes_FromStringAndSize(dump.at, (Py_ssize_t)dump.len)
                            : Py_NewRef(Py_None);
    else if (dump.failure == ENOMEM)
        PyErr_NoMemory();
    else if (dump.failure != 0) {
        errno = dump.failure;
        PyErr_SetFromErrno(PyExc_OSError);
    } else
        raise_error(s->state, &err, NULL);
    free(dump.at);
    return ret;
}
