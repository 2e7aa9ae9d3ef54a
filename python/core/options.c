/* options.c - reads the arguments of a call by the table of its options. */
#include "options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vramscope/snapshot.h"
#include "vramscope/vramscope.h"

/* False with an exception set; takes the reference over. */
static bool keep(struct call *c, PyObject *object)
{
    bool ok = object != NULL && PyList_Append(c->kept, object) == 0;
    Py_XDECREF(object);
    return ok;
}

/* Room for `count` items of `size` that lasts as long as the call. */
static void *room_of(struct call *c, Py_ssize_t count, size_t size)
{
    PyObject *room = PyBytes_FromStringAndSize(NULL, (count + 1) * (Py_ssize_t)size);
    return keep(c, room) ? PyBytes_AsString(room) : NULL;
}

/* The text of a str, without NULs inside, as long as the call; NULL with an exception set. */
static const char *text_of(struct call *c, PyObject *value, const char *name)
{
    char *text;
    if (!PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s is a str, not %R", name, Py_TYPE(value));
        return NULL;
    }
    PyObject *bytes = PyUnicode_AsEncodedString(value, "utf-8", "surrogateescape");
    if (!keep(c, bytes) || PyBytes_AsStringAndSize(bytes, &text, NULL) != 0)
        return NULL;
    return text;
}

static const char *moment_of(struct call *c, PyObject *value, const char *name)
{
    if (!PyLong_Check(value))
        return text_of(c, value, name);
    PyObject *words = PyObject_Str(value);
    const char *text = words == NULL ? NULL : text_of(c, words, name);
    Py_XDECREF(words);
    return text;
}

static const char *path_of(struct call *c, PyObject *value)
{
    PyObject *bytes = NULL;
    if (PyUnicode_FSConverter(value, &bytes) == 0 || !keep(c, bytes))
        return NULL;
    return PyBytes_AsString(bytes);
}

static bool size_of(struct call *c, PyObject *value, const char *name, uint64_t *ret)
{
    if (PyUnicode_Check(value)) {
        const char *text = text_of(c, value, name);
        if (text != NULL && !vrs_size(text, ret))
            raise_usage(c->state, "a size is a number of bytes, or a text such as \"24GiB\"");
        return !PyErr_Occurred();
    }
    *ret = PyLong_AsUnsignedLongLong(value);
    return !PyErr_Occurred();
}

/* One that has a number: int, "1", "cuda:1", or what has an index, as torch.device. */
static bool device_of(struct call *c, PyObject *value, struct vrs_device *ret)
{
    PyObject *index = NULL;
    uint64_t n = 0;
    if (PyUnicode_Check(value)) {
        const char *text = text_of(c, value, "device");
        const char *colon = text == NULL ? NULL : strchr(text, ':');
        index = text == NULL ? NULL : PyLong_FromString(colon == NULL ? text : colon + 1, NULL, 10);
    } else if (PyIndex_Check(value)) {
        index = PyNumber_Index(value);
    } else {
        index = PyObject_GetAttrString(value, "index");
    }
    if (index != NULL)
        n = PyLong_AsUnsignedLongLong(index);
    Py_XDECREF(index);
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError) &&
            !PyErr_ExceptionMatches(PyExc_MemoryError)) {
            PyErr_Clear();
            raise_usage(c->state, "a device is a number, or a text such as \"cuda:1\"");
        }
        return false;
    }
    if (n > UINT32_MAX) {
        raise_usage(c->state, "there is no device of such a number");
        return false;
    }
    *ret = vrs_device_of((uint32_t)n);
    return true;
}

/* "NAME=VALUE" of itself, or of two. */
static const char *pair_of(struct call *c, PyObject *item, const char *name)
{
    if (!PyTuple_Check(item) && !PyList_Check(item))
        return text_of(c, item, name);
    PyObject *of = PySequence_Tuple(item), *joined = NULL;
    if (of != NULL && PyTuple_Size(of) == 2)
        joined = PyUnicode_FromFormat("%S=%S", PyTuple_GetItem(of, 0), PyTuple_GetItem(of, 1));
    else if (of != NULL)
        PyErr_Format(PyExc_TypeError, "%s has texts, or pairs of two", name);
    const char *text = joined == NULL ? NULL : text_of(c, joined, name);
    Py_XDECREF(joined);
    Py_XDECREF(of);
    return text;
}

/* Pointers live in a bytes object, which is kept as the texts are. */
static bool texts_of(struct call *c, PyObject *value, const struct option *o)
{
    bool one = o->kind == TABLES && PyUnicode_Check(value);
    if (PyUnicode_Check(value) && !one) {
        PyErr_Format(PyExc_TypeError, "%s is a list of str, not one", o->name);
        return false;
    }
    PyObject *list = one ? Py_BuildValue("[O]", value) : PySequence_List(value);
    if (!keep(c, list))
        return false;
    Py_ssize_t count = PyList_Size(list);
    const char **at = room_of(c, count, sizeof *at);
    for (Py_ssize_t i = 0; at != NULL && i < count; i++) {
        PyObject *item = PyList_GetItem(list, i);
        at[i] = o->kind == PAIRS ? pair_of(c, item, o->name) : text_of(c, item, o->name);
        if (at[i] == NULL)
            return false;
    }
    uint32_t texts = (uint32_t)count;
    memcpy(c->frame + o->offset, &at, sizeof at);
    memcpy(c->frame + o->more, &texts, sizeof texts);
    return at != NULL;
}

/* "max_peak" is written "max-peak" on a command line. */
static bool limit_of(struct call *c, PyObject *pair, struct vrs_limit *ret)
{
    PyObject *of = PySequence_Tuple(pair);
    if (!keep(c, of))
        return false;
    if (PyTuple_Size(of) != 2) {
        PyErr_SetString(PyExc_TypeError, "limits are pairs of a name and a value");
        return false;
    }
    PyObject *name = PyTuple_GetItem(of, 0), *value = PyTuple_GetItem(of, 1);
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "the name of a limit is a str, not %R", Py_TYPE(name));
        return false;
    }
    PyObject *dashed = PyObject_CallMethod(name, "replace", "ss", "_", "-");
    if (!keep(c, dashed))
        return false;
    ret->name = text_of(c, dashed, "the name of a limit");
    ret->value = value == Py_None ? NULL : moment_of(c, value, "the value of a limit");
    return ret->name != NULL && (value == Py_None || ret->value != NULL);
}

static bool limits_of(struct call *c, PyObject *value, const struct option *o)
{
    bool mapping = PyObject_HasAttrString(value, "items");
    PyObject *list = mapping ? PyMapping_Items(value) : PySequence_List(value);
    if (!keep(c, list))
        return false;
    Py_ssize_t count = PyList_Size(list);
    struct vrs_limit *at = room_of(c, count, sizeof *at);
    for (Py_ssize_t i = 0; at != NULL && i < count; i++)
        if (!limit_of(c, PyList_GetItem(list, i), &at[i]))
            return false;
    uint32_t limits = (uint32_t)count;
    memcpy(c->frame + o->offset, &at, sizeof at);
    memcpy(c->frame + o->more, &limits, sizeof limits);
    return at != NULL;
}

static bool room_for(struct call *c, PyObject *value, const struct option *o)
{
    uint64_t n = 0;
    const char *text = PyUnicode_Check(value) ? text_of(c, value, o->name) : NULL;
    bool share = text != NULL && vrs_share(text, &n);
    if (PyErr_Occurred() || (!share && !size_of(c, value, o->name, &n)))
        return false;
    if (n == UINT64_MAX) {
        PyErr_Format(PyExc_OverflowError, "%s is too large", o->name);
        return false;
    }
    n++;
    memcpy(c->frame + (share ? o->more : o->offset), &n, sizeof n);
    return true;
}

bool arguments_use(struct call *c, PyObject *recording, const struct vrs_recording **ret)
{
    struct opened *opened;
    if (!is_recording(c->state, recording)) {
        PyErr_Format(PyExc_TypeError, "%s() takes a Recording, not %R", c->name,
                     Py_TYPE(recording));
        return false;
    }
    const struct vrs_recording *used = recording_use(recording, &opened);
    if (used == NULL)
        return false;
    struct opened **more = PyMem_Realloc(c->used, (c->uses + 1) * sizeof(*more));
    if (more == NULL) {
        opened_leave(opened);
        PyErr_NoMemory();
        return false;
    }
    c->used = more;
    c->used[c->uses++] = opened;
    *ret = used;
    return true;
}

static bool recordings_of(struct call *c, PyObject *value, const struct option *o)
{
    PyObject *list =
        is_recording(c->state, value) ? Py_BuildValue("[O]", value) : PySequence_List(value);
    if (!keep(c, list))
        return false;
    Py_ssize_t count = PyList_Size(list);
    const struct vrs_recording **at = room_of(c, count, sizeof *at);
    for (Py_ssize_t i = 0; at != NULL && i < count; i++)
        if (!arguments_use(c, PyList_GetItem(list, i), &at[i]))
            return false;
    uint32_t recordings = (uint32_t)count;
    memcpy(c->frame + o->offset, &at, sizeof at);
    memcpy(c->frame + o->more, &recordings, sizeof recordings);
    return at != NULL;
}

/* A number from 0 that is not above `most`. */
static bool count_of(PyObject *value, const char *name, uint64_t most, uint64_t *ret)
{
    *ret = PyLong_AsUnsignedLongLong(value);
    if (!PyErr_Occurred() && *ret > most)
        PyErr_Format(PyExc_OverflowError, "%s is too large", name);
    return !PyErr_Occurred();
}

/* Numbers and words, whose members have several widths. */
static bool take_plain(struct call *c, const struct option *o, PyObject *value)
{
    void *to = c->frame + o->offset;
    uint64_t n = 0;
    uint32_t count;
    if (o->kind == PLUS) {
        if (!count_of(value, o->name, INT64_MAX - 1, &n))
            return false;
        n++;
        memcpy(to, &n, sizeof n);
        return true;
    }
    if (o->kind == FORMAT) {
        const char *word = text_of(c, value, o->name);
        bool svg = word != NULL && strcmp(word, "svg") == 0;
        enum vrs_picture_format format = svg ? VRS_SVG : VRS_PNG;
        if (word != NULL && !svg && strcmp(word, "png") != 0)
            raise_usage(c->state, "a picture is \"svg\" or \"png\"");
        memcpy(to, &format, sizeof format);
        return !PyErr_Occurred();
    }
    if (!count_of(value, o->name, UINT32_MAX, &n))
        return false;
    count = (uint32_t)n;
    if (o->kind == THREADS && n > VRS_THREADS_MOST) {
        PyErr_Format(PyExc_ValueError, "threads are at most %d", (int)VRS_THREADS_MOST);
        return false;
    }
    memcpy(to, &count, sizeof count);
    return true;
}

/* A text of one of three kinds. */
static bool take_text(struct call *c, const struct option *o, PyObject *value)
{
    const char *text = o->kind == TEXT     ? text_of(c, value, o->name)
                       : o->kind == MOMENT ? moment_of(c, value, o->name)
                                           : path_of(c, value);
    memcpy(c->frame + o->offset, &text, sizeof text);
    return text != NULL;
}

/* False with an exception set. */
static bool take(struct call *c, const struct option *o, PyObject *value)
{
    void *to = c->frame + o->offset;
    if (o->kind == FLAG) {
        int truth = PyObject_IsTrue(value);
        bool flag = truth == 1;
        memcpy(to, &flag, sizeof flag);
        return truth >= 0;
    }
    if (value == Py_None)
        return true;
    switch (o->kind) {
    case TEXT:
    case MOMENT:
    case PATH:
        return take_text(c, o, value);
    case SIZE: {
        uint64_t bytes = 0;
        bool ok = size_of(c, value, o->name, &bytes);
        memcpy(to, &bytes, sizeof bytes);
        return ok;
    }
    case DEVICE: {
        struct vrs_device device = { 0 };
        bool ok = device_of(c, value, &device);
        memcpy(to, &device, sizeof device);
        return ok;
    }
    case TEXTS:
    case TABLES:
    case PAIRS:
        return texts_of(c, value, o);
    case LIMITS:
        return limits_of(c, value, o);
    case ROOM:
        return room_for(c, value, o);
    case RECORDING: {
        const struct vrs_recording *used = NULL;
        bool ok = arguments_use(c, value, &used);
        memcpy(to, &used, sizeof(used));
        return ok;
    }
    case RECORDINGS:
        return recordings_of(c, value, o);
    case OUTPUT:
        memcpy(to, &value, sizeof(value));
        return true;
    case FLAG:
    case PLUS:
    case COUNT:
    case THREADS:
    case FORMAT:
        break;
    }
    return take_plain(c, o, value);
}

/* None says that an option is not given, which an argument that is needed must be. */
static bool take_of(struct call *c, const struct signature *s, const struct option *o,
                    PyObject *value)
{
    if (value != Py_None || (size_t)(o - s->option) >= s->required)
        return take(c, o, value);
    PyErr_Format(PyExc_TypeError, "%s() needs the argument %s, which None is not", s->name,
                 o->name);
    return false;
}

static bool take_positions(struct call *c, const struct signature *s, PyObject *args)
{
    Py_ssize_t given = PyTuple_Size(args);
    if (s->rest)
        return given == 0 || take(c, &s->option[0], args);
    if (given > (Py_ssize_t)s->positional) {
        PyErr_Format(PyExc_TypeError,
                     "%s() takes at most %u positional argument%s; all else by "
                     "keyword",
                     s->name, s->positional, s->positional == 1 ? "" : "s");
        return false;
    }
    for (Py_ssize_t i = 0; i < given; i++)
        if (!take_of(c, s, &s->option[i], PyTuple_GetItem(args, i)))
            return false;
    return true;
}

/* Which option a keyword means; what was given by position is none. */
static const struct option *find_option(const struct signature *s, PyObject *name, size_t given)
{
    size_t i = s->rest ? 1 : given;
    while (s->option[i].name != NULL &&
           PyUnicode_CompareWithASCIIString(name, s->option[i].name) != 0)
        i++;
    return s->option[i].name == NULL ? NULL : &s->option[i];
}

static bool take_keywords(struct call *c, const struct signature *s, size_t given, PyObject *kwargs)
{
    PyObject *name, *value;
    Py_ssize_t at = 0;
    size_t required = s->required;
    while (kwargs != NULL && PyDict_Next(kwargs, &at, &name, &value) != 0) {
        const struct option *o = find_option(s, name, given);
        if (o == NULL) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R", s->name,
                         name);
            return false;
        }
        if (!take_of(c, s, o, value))
            return false;
        required -= required > given && o == &s->option[required - 1];
    }
    if (given >= required)
        return true;
    PyErr_Format(PyExc_TypeError, "%s() needs the argument %s", s->name, s->option[given].name);
    return false;
}

/* A pool of Python's threads must not multiply into one of ours for each of its threads. */
static void settle_threads(struct call *c, const struct signature *s)
{
    for (const struct option *o = s->option; o->name != NULL; o++) {
        uint32_t threads;
        if (o->kind != THREADS)
            continue;
        memcpy(&threads, c->frame + o->offset, sizeof threads);
        threads = threads == 0 && !on_main_thread() ? 1 : threads;
        memcpy(c->frame + o->offset, &threads, sizeof threads);
    }
}

bool arguments_take(struct call *c, struct core_state *state, void *frame,
                    const struct signature *s, PyObject *args, PyObject *kwargs)
{
    *c = (struct call){ .state = state, .name = s->name, .frame = frame, .kept = PyList_New(0) };
    size_t given = (size_t)PyTuple_Size(args);
    if (c->kept == NULL || !take_positions(c, s, args) || !take_keywords(c, s, given, kwargs))
        return false;
    settle_threads(c, s);
    return true;
}

void arguments_end(struct call *c)
{
    for (size_t i = 0; i < c->uses; i++)
        opened_leave(c->used[i]);
    PyMem_Free(c->used);
    Py_XDECREF(c->kept);
}
