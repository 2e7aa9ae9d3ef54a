/* result.c - an answer: a mapping of its JSON, and its texts as the command prints them. */
#include "core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vramscope/snapshot.h"
#include "vramscope/vramscope.h"

struct result {
    PyObject_HEAD struct core_state *state;
    struct vrs_result *result; /* NULL: merged into another */
    PyObject *document;        /* its JSON, once somebody asked */
    int64_t device;
};

PyObject *answer_make(struct core_state *state, struct vrs_result *result, int64_t device)
{
    struct result *r = PyObject_New(struct result, state->result);
    if (r == NULL) {
        vrs_result_free(result);
        return NULL;
    }
    r->state = state;
    r->result = result;
    r->document = NULL;
    r->device = device;
    return (PyObject *)r;
}

static void result_dealloc(PyObject *self)
{
    struct result *r = (struct result *)self;
    PyTypeObject *type = Py_TYPE(self);
    vrs_result_free(r->result);
    Py_XDECREF(r->document);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* A text on its way: of memory that needs no lock of the interpreter. */
struct text {
    char *at;
    size_t len, room;
};

static bool text_write(void *arg, const char *bytes, size_t len)
{
    struct text *t = arg;
    if (len > t->room - t->len) {
        size_t room = (t->len + len) * 2 + 4096;
        char *grown = realloc(t->at, room);
        if (grown == NULL)
            return false;
        t->at = grown;
        t->room = room;
    }
    if (len > 0)
        memcpy(t->at + t->len, bytes, len);
    t->len += len;
    return true;
}

/* A result is asked for its text by one thread at a time, which has the interpreter's lock. */
static PyObject *written(struct result *r, struct vrs_write_options *options)
{
    struct text text = { NULL, 0, 0 };
    struct vrs_sink sink = { text_write, &text };
    struct vrs_error err;
    PyObject *made = NULL;
    if (r->result == NULL) {
        PyErr_SetString(PyExc_ValueError, "this result was merged into another one");
        return NULL;
    }
    options->size = sizeof *options;
    options->device = r->device;
    if (vrs_write(r->result, options, &sink, &err) != VRS_OK)
        raise_error(r->state, &err, NULL);
    else
        made = PyUnicode_DecodeUTF8(text.at == NULL ? "" : text.at, (Py_ssize_t)text.len,
                                    "surrogateescape");
    free(text.at);
    return made;
}

static PyObject *result_text(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "width",  "colour",  "ascii", "rows",
                                         "stacks", "picture", NULL };
    struct vrs_write_options options = { .format = VRS_TEXT };
    unsigned int width = 80, rows = 0;
    int colour = 0, ascii = 0, stacks = 0, picture = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$IppIpp:text", (char **)SLOT(names), &width,
                                     &colour, &ascii, &rows, &stacks, &picture))
        return NULL;
    options.width = width;
    options.rows = rows;
    options.colour = colour != 0;
    options.ascii = ascii != 0;
    options.stacks = stacks != 0;
    options.picture = picture != 0;
    return written((struct result *)self, &options);
}

static PyObject *result_json(PyObject *self, PyObject *unused)
{
    (void)unused;
    return written((struct result *)self, &(struct vrs_write_options){ .format = VRS_JSON });
}

static PyObject *result_csv(PyObject *self, PyObject *unused)
{
    (void)unused;
    return written((struct result *)self, &(struct vrs_write_options){ .format = VRS_CSV });
}

static PyObject *result_markdown(PyObject *self, PyObject *unused)
{
    (void)unused;
    return written((struct result *)self, &(struct vrs_write_options){ .format = VRS_MARKDOWN });
}

/* Borrowed; NULL with an exception set. */
static PyObject *document_of(struct result *r)
{
    if (r->document == NULL) {
        PyObject *text = result_json((PyObject *)r, NULL);
        if (text != NULL)
            r->document = PyObject_CallFunctionObjArgs(r->state->loads, text, NULL);
        Py_XDECREF(text);
    }
    return r->document;
}

static PyObject *result_to_dict(PyObject *self, PyObject *unused)
{
    struct result *r = (struct result *)self;
    (void)unused;
    /* Parsed anew, so that nobody changes what others see. */
    PyObject *text = result_json(self, NULL);
    PyObject *made =
        text == NULL ? NULL : PyObject_CallFunctionObjArgs(r->state->loads, text, NULL);
    Py_XDECREF(text);
    return made;
}

static PyObject *result_item(PyObject *self, PyObject *key)
{
    PyObject *document = document_of((struct result *)self);
    return document == NULL ? NULL : PyObject_GetItem(document, key);
}

static Py_ssize_t result_length(PyObject *self)
{
    PyObject *document = document_of((struct result *)self);
    return document == NULL ? -1 : PyMapping_Size(document);
}

static PyObject *result_iter(PyObject *self)
{
    PyObject *document = document_of((struct result *)self);
    return document == NULL ? NULL : PyObject_GetIter(document);
}

static int result_contains(PyObject *self, PyObject *key)
{
    PyObject *document = document_of((struct result *)self);
    return document == NULL ? -1 : PySequence_Contains(document, key);
}

static PyObject *result_keys(PyObject *self, PyObject *unused)
{
    PyObject *document = document_of((struct result *)self);
    (void)unused;
    return document == NULL ? NULL : PyMapping_Keys(document);
}

static PyObject *result_verdict(PyObject *self, void *closure)
{
    const struct result *r = (const struct result *)self;
    (void)closure;
    if (r->result == NULL) {
        PyErr_SetString(PyExc_ValueError, "this result was merged into another one");
        return NULL;
    }
    enum vrs_verdict verdict = vrs_verdict(r->result);
    return Py_NewRef(verdict == VRS_YES ? Py_True : verdict == VRS_NO ? Py_False : Py_None);
}

/* Joins results of one kind; they are of no use afterwards, since their memory is shared. */
PyObject *result_merge(PyObject *module, PyObject *results)
{
    struct core_state *state = core_state_of(module);
    PyObject *list = PySequence_List(results);
    Py_ssize_t count = list == NULL ? 0 : PyList_Size(list);
    PyObject *made = NULL;
    const struct vrs_result **part = malloc((size_t)(count + 1) * sizeof *part);
    if (list != NULL && part == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; list != NULL && part != NULL && i < count; i++) {
        struct result *r = (struct result *)PyList_GetItem(list, i);
        if (Py_TYPE((PyObject *)r) != state->result) {
            PyErr_Format(PyExc_TypeError, "merge() joins results, not %R", Py_TYPE((PyObject *)r));
            break;
        }
        part[i] = r->result;
        bool again = r->result == NULL;
        for (Py_ssize_t k = 0; k < i; k++)
            again = again || part[k] == r->result;
        if (again) {
            PyErr_SetString(PyExc_ValueError, "a result can be merged once");
            break;
        }
    }
    if (!PyErr_Occurred()) {
        struct vrs_result *merged = NULL;
        struct vrs_error err;
        if (count == 0)
            raise_usage(state, "there is nothing to merge");
        else if (vrs_merge(part, (uint32_t)count, &merged, &err) != VRS_OK)
            raise_error(state, &err, NULL);
        else
            made = answer_make(state, merged, 0);
        for (Py_ssize_t i = 0; made != NULL && i < count; i++) {
            struct result *r = (struct result *)PyList_GetItem(list, i);
            vrs_result_free(r->result);
            r->result = NULL;
        }
    }
    free(part);
    Py_XDECREF(list);
    return made;
}

static PyMethodDef result_methods[] = {
    { "text", (PyCFunction)(void (*)(void))result_text, METH_VARARGS | METH_KEYWORDS,
      "text($self, /, *, width=80, colour=False, ascii=False, rows=0, stacks=False, "
      "picture=False)\n--\n\nWhat the command prints.\n\n"
      "width: columns. rows: of a table, 0: as many as suit. Raises Error." },
    { "json", result_json, METH_NOARGS,
      "json($self, /)\n--\n\nThe JSON document, as `--json` prints it." },
    { "csv", result_csv, METH_NOARGS,
      "csv($self, /)\n--\n\nThe rows of the answer's table, as `--csv` prints them." },
    { "markdown", result_markdown, METH_NOARGS,
      "markdown($self, /)\n--\n\nA summary for a pull request; of report and check." },
    { "to_dict", result_to_dict, METH_NOARGS,
      "to_dict($self, /)\n--\n\nThe JSON document as a dict of its own." },
    { "keys", result_keys, METH_NOARGS, "keys($self, /)\n--\n\nMembers of the document." },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef result_members[] = {
    { "verdict", result_verdict, NULL,
      "True or False of a question of yes or no; None: undecided, or no such question.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot result_slots[] = {
    { Py_tp_doc,
      SLOT("An answer: a mapping of its JSON document; str() is what the command prints.\n\n"
           "It holds nothing of the file, which may be closed.") },
    { Py_tp_dealloc, SLOT(result_dealloc) },
    { Py_tp_methods, result_methods },
    { Py_tp_getset, result_members },
    { Py_tp_iter, SLOT(result_iter) },
    { Py_mp_length, SLOT(result_length) },
    { Py_mp_subscript, SLOT(result_item) },
    { Py_sq_contains, SLOT(result_contains) },
    { 0, NULL },
};

PyType_Spec result_spec = {
    .name = "vramscope.Result",
    .basicsize = sizeof(struct result),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = result_slots,
};
