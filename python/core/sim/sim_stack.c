/* sim_stack.c - the lines of Python that called a simulated device. */
#include "sim.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "vramscope/sim.h"

/* Programs that make code as they run must not fill the memory with it. */
enum { CODES_MOST = 1 << 12, CODES_FIRST = 256 };

void sim_codes_free(struct sim_codes *codes)
{
    struct sim_codes gone = *codes;
    *codes = (struct sim_codes){ NULL, 0, 0 };
    for (uint32_t i = 0; i < gone.places; i++)
        Py_XDECREF(gone.place[i].code);
    PyMem_Free(gone.place);
}

/* Where a code object stands, or the empty place for it. */
static struct sim_code *place_of(const struct sim_codes *codes, PyObject *code)
{
    uint64_t hash = (uint64_t)(uintptr_t)code * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(hash >> 40) & (codes->places - 1);
    while (codes->place[at].code != NULL && codes->place[at].code != code)
        at = (at + 1) & (codes->places - 1);
    return &codes->place[at];
}

static bool grow(struct sim_codes *codes)
{
    struct sim_codes more = { NULL, codes->places == 0 ? CODES_FIRST : codes->places * 2,
                              codes->used };
    more.place = PyMem_Calloc(more.places, sizeof *more.place);
    if (more.place == NULL)
        return false;
    for (uint32_t i = 0; i < codes->places; i++)
        if (codes->place[i].code != NULL)
            *place_of(&more, codes->place[i].code) = codes->place[i];
    PyMem_Free(codes->place);
    *codes = more;
    return true;
}

/* The text of an attribute as UTF-8; NULL with an exception set. */
static PyObject *utf8_of(PyObject *code, PyObject *name)
{
    PyObject *text = PyObject_GetAttr(code, name);
    PyObject *utf8 = text == NULL ? NULL : PyUnicode_AsEncodedString(text, "utf-8", "replace");
    Py_XDECREF(text);
    return utf8;
}

static bool is_own(struct sim_object *self, PyObject *file)
{
    Py_ssize_t len = PyBytes_Size(self->package);
    return PyBytes_Size(file) > len &&
           memcmp(PyBytes_AsString(file), PyBytes_AsString(self->package), (size_t)len) == 0;
}

/* False with or without an exception set. */
static bool describe(struct sim_object *self, PyObject *code, struct sim_code *ret)
{
    PyObject *file = utf8_of(code, self->co_filename);
    PyObject *name = file == NULL ? NULL : utf8_of(code, self->co_name);
    bool ok =
        name != NULL && vrs_sim_code(self->sim, PyBytes_AsString(file), (size_t)PyBytes_Size(file),
                                     PyBytes_AsString(name), (size_t)PyBytes_Size(name),
                                     &ret->number, NULL) == VRS_OK;
    if (ok) {
        ret->code = code;
        ret->own = is_own(self, file);
    }
    Py_XDECREF(file);
    Py_XDECREF(name);
    return ok;
}

/* A copy, since the table may change while Python runs. */
static bool look_up(struct sim_object *self, PyObject *code, struct sim_code *ret)
{
    struct sim_codes *codes = &self->codes;
    if (codes->places > 0 && place_of(codes, code)->code == code) {
        *ret = *place_of(codes, code);
        return true;
    }
    if (!describe(self, code, ret))
        return false;
    if (codes->used >= CODES_MOST)
        sim_codes_free(codes);
    if (2 * codes->used >= codes->places && !grow(codes))
        return false;
    struct sim_code *place = place_of(codes, code);
    if (place->code == NULL) {
        *place = *ret;
        Py_INCREF(code);
        codes->used++;
    }
    return true;
}

/* Appends one frame; false where the stack ends, since what it is called from is not known. */
static bool take_frame(struct sim_object *self, PyFrameObject *frame, struct vrs_sim_frame *to,
                       uint32_t *frames)
{
    struct sim_code known;
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    bool ok = look_up(self, code, &known);
    Py_DECREF(code);
    if (!ok || known.own)
        return ok;
    int line = PyFrame_GetLineNumber(frame);
    to[(*frames)++] = (struct vrs_sim_frame){ known.number, line < 0 ? 0 : (uint32_t)line };
    return true;
}

uint32_t sim_stack(struct sim_object *self, struct vrs_sim_frame *frame)
{
    PyObject *type, *value, *trace;
    uint32_t frames = 0;
    if (!vrs_sim_history_on(self->sim))
        return 0;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *at = Py_XNewRef((PyObject *)PyEval_GetFrame());
    while (at != NULL && at != Py_None && frames < VRS_SIM_FRAMES) {
        bool more = take_frame(self, (PyFrameObject *)at, frame, &frames);
        PyObject *back = more ? PyObject_GetAttr(at, self->f_back) : NULL;
        Py_DECREF(at);
        at = back;
    }
    Py_XDECREF(at);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return frames;
}
