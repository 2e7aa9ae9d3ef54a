/* objects.c - lists of modules and tensors, as the Python files collect them, into their sizes.
 *
 * A module is (path, type), an output (module, call, bytes), an object of garbage (type, storage,
 * bytes), a reference (from, to), a census (step, requested bytes, tensors), a tensor (owner, name,
 * shape, dtype, device, kind, trainable, elements, bytes, full_bytes, storage, storage_bytes,
 * offset_bytes).  None is what is not known; kinds are numbers in the order of enum
 * vrs_tensor_kind. */
#include "core.h"
#include "meter.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "vramscope/objects.h"
#include "vramscope/vramscope.h"

int number_into(PyObject *object, void *ret)
{
    uint64_t number = object == Py_None ? UINT64_MAX : PyLong_AsUnsignedLongLong(object);
    if (number == UINT64_MAX && PyErr_Occurred())
        return 0;
    *(uint64_t *)ret = number;
    return 1;
}

/* Any text as UTF-8; `texts` keeps it. */
static const char *text_of(PyObject *object, PyObject *texts)
{
    PyObject *bytes = PyUnicode_AsEncodedString(object, "utf-8", "backslashreplace");
    const char *text = NULL;
    if (bytes != NULL && PyList_Append(texts, bytes) == 0)
        text = PyBytes_AsString(bytes);
    Py_XDECREF(bytes);
    return text;
}

/* Reads one tuple of a list into one row; false with an exception set. */
typedef bool read_row(PyObject *tuple, PyObject *texts, void *row);

static bool read_module(PyObject *tuple, PyObject *texts, void *row)
{
    struct vrs_module *m = row;
    PyObject *path, *type;
    if (!PyArg_ParseTuple(tuple, "UU:module", &path, &type))
        return false;
    m->path = text_of(path, texts);
    m->type = m->path == NULL ? NULL : text_of(type, texts);
    return m->type != NULL;
}

static bool read_output(PyObject *tuple, PyObject *texts, void *row)
{
    struct vrs_output *o = row;
    unsigned int module, call;
    (void)texts;
    if (!PyArg_ParseTuple(tuple, "IIO&:output", &module, &call, number_into, &o->bytes))
        return false;
    o->module = module;
    o->call = call;
    return true;
}

static bool read_tensor(PyObject *tuple, PyObject *texts, void *row)
{
    struct vrs_tensor *t = row;
    PyObject *name, *shape, *dtype, *device;
    unsigned int owner, kind;
    int trainable;
    if (!PyArg_ParseTuple(tuple, "IUUUUIpO&O&O&O&O&O&:tensor", &owner, &name, &shape, &dtype,
                          &device, &kind, &trainable, number_into, &t->elements, number_into,
                          &t->bytes, number_into, &t->full_bytes, number_into, &t->storage,
                          number_into, &t->storage_bytes, number_into, &t->offset_bytes))
        return false;
    t->owner = owner;
    t->kind = (enum vrs_tensor_kind)kind;
    t->trainable = trainable != 0;
    PyObject *const text[] = { name, shape, dtype, device };
    const char **const to[] = { &t->name, &t->shape, &t->dtype, &t->device };
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        *to[i] = text_of(text[i], texts);
        if (*to[i] == NULL)
            return false;
    }
    return true;
}

static bool read_garbage(PyObject *tuple, PyObject *texts, void *row)
{
    struct vrs_garbage *g = row;
    PyObject *type;
    if (!PyArg_ParseTuple(tuple, "UO&O&:garbage", &type, number_into, &g->storage, number_into,
                          &g->bytes))
        return false;
    g->type = text_of(type, texts);
    return g->type != NULL;
}

static bool read_reference(PyObject *tuple, PyObject *texts, void *row)
{
    struct vrs_reference *r = row;
    unsigned int from, to;
    (void)texts;
    if (!PyArg_ParseTuple(tuple, "II:reference", &from, &to))
        return false;
    r->from = from;
    r->to = to;
    return true;
}

static bool read_device(PyObject *tuple, PyObject *texts, void *row)
{
    struct vrs_device_bytes *d = row;
    PyObject *device;
    if (!PyArg_ParseTuple(tuple, "UO&O&:device", &device, number_into, &d->allocated, number_into,
                          &d->requested))
        return false;
    d->device = text_of(device, texts);
    return d->device != NULL;
}

/* The rows of a list of tuples; NULL with an exception set.  Free them. */
static void *read_rows(PyObject *list, size_t width, read_row *read, PyObject *texts,
                       uint32_t *ret_count)
{
    Py_ssize_t count = PyList_Size(list);
    char *rows = count < 0 ? NULL : calloc((size_t)count + 1, width);
    if (rows == NULL && !PyErr_Occurred())
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; rows != NULL && i < count; i++) {
        PyObject *tuple = PyList_GetItem(list, i);
        if (tuple == NULL || !read(tuple, texts, rows + (size_t)i * width)) {
            free(rows);
            rows = NULL;
        }
    }
    *ret_count = (uint32_t)count;
    return rows;
}

/* An answer, or the exception that the core failed with. */
static PyObject *answered(PyObject *module, enum vrs_status status, struct vrs_result *result,
                          const char *kind, const struct vrs_error *err)
{
    struct core_state *state = core_state_of(module);
    return status == VRS_OK ? answer_make(state, result, kind, &(struct drawn){ .opened = NULL })
                            : raise_error(state, err, NULL);
}

PyObject *objects_model_size(PyObject *module, PyObject *args)
{
    PyObject *modules, *tensors, *outputs, *texts, *made = NULL;
    struct vrs_model_options options = { .size = sizeof options };
    unsigned int depth_plus_1;
    if (!PyArg_ParseTuple(args, "OOOI:model_size", &modules, &tensors, &outputs, &depth_plus_1) ||
        (texts = PyList_New(0)) == NULL)
        return NULL;
    uint32_t module_count = 0, tensor_count = 0;
    struct vrs_module *m = read_rows(modules, sizeof *m, read_module, texts, &module_count);
    struct vrs_tensor *t =
        m == NULL ? NULL : read_rows(tensors, sizeof *t, read_tensor, texts, &tensor_count);
    struct vrs_output *o = NULL;
    if (t != NULL && outputs != Py_None)
        o = read_rows(outputs, sizeof *o, read_output, texts, &options.outputs);
    options.depth = depth_plus_1;
    options.output = o;
    if (!PyErr_Occurred()) {
        struct vrs_result *result = NULL;
        struct vrs_error err;
        enum vrs_status status;
        Py_BEGIN_ALLOW_THREADS status =
            vrs_model_size(m, module_count, t, tensor_count, &options, &result, &err);
        Py_END_ALLOW_THREADS made = answered(module, status, result, "model", &err);
    }
    free(m);
    free(t);
    free(o);
    Py_DECREF(texts);
    return made;
}

PyObject *objects_tensors(PyObject *module, PyObject *args)
{
    PyObject *tensors, *devices, *texts, *made = NULL;
    if (!PyArg_ParseTuple(args, "OO:tensors", &tensors, &devices) ||
        (texts = PyList_New(0)) == NULL)
        return NULL;
    uint32_t tensor_count = 0, device_count = 0;
    struct vrs_tensor *t = read_rows(tensors, sizeof *t, read_tensor, texts, &tensor_count);
    struct vrs_device_bytes *d =
        t == NULL ? NULL : read_rows(devices, sizeof *d, read_device, texts, &device_count);
    if (d != NULL) {
        struct vrs_result *result = NULL;
        struct vrs_error err;
        enum vrs_status status;
        Py_BEGIN_ALLOW_THREADS status =
            vrs_tensors(t, tensor_count, d, device_count, &result, &err);
        Py_END_ALLOW_THREADS made = answered(module, status, result, "tensors", &err);
    }
    free(t);
    free(d);
    Py_DECREF(texts);
    return made;
}

struct census {
    struct vrs_census of;
    struct vrs_tensor *tensor; /* to be freed */
};

/* Reads (step, requested bytes, tensors), or None; false with an exception set. */
static bool read_census(PyObject *object, PyObject *texts, struct census *census,
                        const struct vrs_census **ret)
{
    PyObject *tensors;
    unsigned int step;
    *ret = NULL;
    if (object == Py_None)
        return true;
    if (!PyArg_ParseTuple(object, "IO&O:census", &step, number_into, &census->of.requested,
                          &tensors))
        return false;
    census->tensor =
        read_rows(tensors, sizeof *census->tensor, read_tensor, texts, &census->of.tensors);
    census->of.tensor = census->tensor;
    census->of.step = step;
    *ret = &census->of;
    return census->tensor != NULL;
}

static bool read_reading(PyObject *object, PyObject *texts, void *row)
{
    (void)texts;
    return number_into(object, row) == 1;
}

PyObject *objects_growth(PyObject *module, PyObject *args)
{
    PyObject *readings, *first, *last, *texts, *made = NULL;
    struct vrs_growth_options options = { .size = sizeof options };
    struct census census[2] = { { .tensor = NULL } };
    unsigned int first_step, every, wanted;
    if (!PyArg_ParseTuple(args, "OIIIO&O&O&OO:_growth", &readings, &first_step, &every, &wanted,
                          number_into, &options.least_bytes, number_into, &options.present_bytes,
                          number_into, &options.collected_bytes, &first, &last) ||
        (texts = PyList_New(0)) == NULL)
        return NULL;
    uint32_t moments = 0;
    uint64_t *bytes = read_rows(readings, sizeof *bytes, read_reading, texts, &moments);
    options.first_step = first_step;
    options.every = every;
    options.wanted = wanted;
    if (bytes != NULL && read_census(first, texts, &census[0], &options.first) &&
        read_census(last, texts, &census[1], &options.last)) {
        struct vrs_result *result = NULL;
        struct vrs_error err;
        enum vrs_status status;
        Py_BEGIN_ALLOW_THREADS status = vrs_growth(bytes, moments, &options, &result, &err);
        Py_END_ALLOW_THREADS made = answered(module, status, result, "growth", &err);
    }
    free(bytes);
    free(census[0].tensor);
    free(census[1].tensor);
    Py_DECREF(texts);
    return made;
}

/* A text on its way, as a list of its pieces. */
static bool take_piece(void *arg, const char *bytes, size_t len)
{
    PyObject *piece = PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)len, "replace");
    bool ok = piece != NULL && PyList_Append(arg, piece) == 0;
    Py_XDECREF(piece);
    return ok;
}

/* The pieces joined. */
static PyObject *drawn(PyObject *module, const struct vrs_garbage *g, uint32_t objects,
                       const struct vrs_reference *r, uint32_t references)
{
    PyObject *pieces = PyList_New(0), *nothing = PyUnicode_FromString(""), *made = NULL;
    struct vrs_sink sink = { take_piece, pieces };
    struct vrs_error err;
    if (pieces == NULL || nothing == NULL)
        made = NULL;
    else if (vrs_cycles_svg(g, objects, r, references, &sink, &err) == VRS_OK)
        made = PyUnicode_Join(nothing, pieces);
    else if (!PyErr_Occurred())
        raise_error(core_state_of(module), &err, NULL);
    Py_XDECREF(pieces);
    Py_XDECREF(nothing);
    return made;
}

PyObject *objects_cycles(PyObject *module, PyObject *args)
{
    PyObject *objects, *references, *texts, *made = NULL;
    unsigned long long least_bytes;
    int draw = 0;
    if (!PyArg_ParseTuple(args, "OOKp:cycles", &objects, &references, &least_bytes, &draw) ||
        (texts = PyList_New(0)) == NULL)
        return NULL;
    uint32_t object_count = 0, reference_count = 0;
    struct vrs_garbage *g = read_rows(objects, sizeof *g, read_garbage, texts, &object_count);
    struct vrs_reference *r =
        g == NULL ? NULL
                  : read_rows(references, sizeof *r, read_reference, texts, &reference_count);
    if (r != NULL && draw) {
        made = drawn(module, g, object_count, r, reference_count);
    } else if (r != NULL) {
        struct vrs_result *result = NULL;
        struct vrs_error err;
        enum vrs_status status;
        Py_BEGIN_ALLOW_THREADS status =
            vrs_cycles(g, object_count, r, reference_count, least_bytes, &result, &err);
        Py_END_ALLOW_THREADS made = answered(module, status, result, "cycles", &err);
    }
    free(g);
    free(r);
    Py_DECREF(texts);
    return made;
}

/* A cache of types that are not of the class: most objects of a program are of a few types, and a
 * look here is cheaper than a walk over a type's bases.  A type lives as long as its objects do. */
enum { MISSES = 64 };

/* Asks the type, not the object: isinstance() could run the program's code. */
static bool is_instance(PyTypeObject *type, PyTypeObject *class, PyTypeObject **misses)
{
    PyTypeObject **place = &misses[(uintptr_t)type / alignof(max_align_t) % MISSES];
    if (*place == type)
        return false;
    if (PyType_IsSubtype(type, class))
        return true;
    *place = type;
    return false;
}

PyObject *objects_instances(PyObject *module, PyObject *args)
{
    PyObject *objects, *class;
    PyTypeObject *misses[MISSES] = { NULL };
    (void)module;
    if (!PyArg_ParseTuple(args, "OO:_instances", &objects, &class))
        return NULL;
    if (!PyList_Check(objects) || !PyType_Check(class)) {
        PyErr_SetString(PyExc_TypeError, "a list of objects and a class are asked for");
        return NULL;
    }
    PyObject *found = PyList_New(0);
    Py_ssize_t count = PyList_Size(objects);
    for (Py_ssize_t i = 0; found != NULL && i < count; i++) {
        PyObject *object = PyList_GetItem(objects, i);
        if (object == NULL || (is_instance(Py_TYPE(object), (PyTypeObject *)class, misses) &&
                               PyList_Append(found, object) != 0))
            Py_CLEAR(found);
    }
    return found;
}

/* tensor.NAME(), a number; false with an exception set. */
static bool number_told(PyObject *tensor, const char *name, uint64_t *ret)
{
    PyObject *told = PyObject_CallMethod(tensor, name, NULL);
    PyObject *number = told == NULL ? NULL : PyNumber_Index(told);
    if (number != NULL)
        *ret = PyLong_AsUnsignedLongLong(number);
    Py_XDECREF(told);
    Py_XDECREF(number);
    return number != NULL && !PyErr_Occurred();
}

PyObject *objects_tensor_bytes(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    uint64_t sum = 0;
    (void)module;
    for (Py_ssize_t i = 0; i < count; i++) {
        uint64_t elements, each;
        if (!number_told(args[i], "numel", &elements) ||
            !number_told(args[i], "element_size", &each))
            return NULL;
        if (each != 0 && elements > (UINT64_MAX - sum) / each) {
            PyErr_SetString(PyExc_OverflowError, "tensors are larger than 2^64 bytes");
            return NULL;
        }
        sum += elements * each;
    }
    return PyLong_FromUnsignedLongLong(sum);
}

PyObject *objects_step_parts(PyObject *module, PyObject *args)
{
    uint64_t peak, parameters, states;
    struct vrs_step_parts parts;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&O&O&:_step_parts", number_into, &peak, number_into, &parameters,
                          number_into, &states))
        return NULL;
    vrs_step_parts(peak, parameters, states, &parts);
    return Py_BuildValue("NNNN", bytes_or_none(parts.gradients), bytes_or_none(parts.states),
                         bytes_or_none(parts.activations),
                         PyBool_FromLong(parts.mostly_activations));
}
