/* sim.h - what the files of the simulated device share. */
#ifndef VRAMSCOPE_PYTHON_SIM_H
#define VRAMSCOPE_PYTHON_SIM_H

#include "core.h"

#include <stdbool.h>
#include <stdint.h>

#include "vramscope/sim.h"

/* Code objects that stood in a stack, by their address; they are kept, so that it stays theirs. */
struct sim_code {
    PyObject *code; /* NULL: an empty place */
    uint32_t number;
    bool own; /* of this package: not shown */
};

struct sim_codes {
    struct sim_code *place; /* a power of two of them, or NULL */
    uint32_t places, used;
};

struct sim_object {
    PyObject_HEAD struct core_state *state;
    struct vrs_sim *sim;
    struct sim_codes codes;
    PyObject *observers; /* list */
    PyObject *package;   /* bytes: its folder, with a slash behind it */
    PyObject *f_back, *co_filename, *co_name;
    struct sim_object *before, *behind; /* of all that live; see sim_fork.c */
};

/* The stack of the caller, innermost first, without frames of this package: how many of
 * VRS_SIM_FRAMES.  An exception that is set stays; what fails here only makes the stack shorter. */
uint32_t sim_stack(struct sim_object *self, struct vrs_sim_frame *frame);
void sim_codes_free(struct sim_codes *codes);

/* Simulations are held around fork from the first on until they end. */
void sim_fork_join(struct sim_object *self);
void sim_fork_leave(struct sim_object *self);

/* The device that an argument names: NULL and None are the current one.  False with an exception
 * set. */
bool sim_device_of(struct sim_object *self, PyObject *device, uint32_t *ret);

/* A whole number of 64 bits; NULL leaves `*ret` as it is. */
bool sim_number_of(PyObject *value, uint64_t *ret);

/* A whole number, or the text of a size. */
bool sim_bytes_of(struct sim_object *self, PyObject *size, uint64_t *ret);

/* Methods of the history. */
PyObject *device_history_start(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *device_history_stop(PyObject *self, PyObject *unused);
PyObject *device_history_enabled(PyObject *self, PyObject *unused);
PyObject *device_history_count(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *device_mark(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *device_dump(PyObject *self, PyObject *fd);

#endif
