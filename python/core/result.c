/* result.c - an answer: a mapping of its JSON, and its texts as the command prints them. */
#include "core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "doc.h"
#include "sink.h"
#include "vramscope/snapshot.h"
#include "vramscope/vramscope.h"

struct result {
    PyObject_HEAD struct core_state *state;
    struct opened *opened; /* NULL: merged into another, or unpickled */
    PyObject *document;    /* its JSON, once somebody asked */
    PyObject *kept;        /* of an unpickled one: its JSON, its text, its verdict; else NULL */
    PyObject *kind;        /* str: the verb */
    PyObject *names;       /* of its columns, once somebody asked */
    struct drawn about;    /* `opened` is held */
};

/* The text of an unpickled one is that of this width. */
enum { KEPT_WIDTH = 80, WIDTH_LEAST = 20, WIDTH_MOST = 1000 };

/* All but what was answered. */
static struct result *make_bare(struct core_state *state, PyObject *kind, const struct drawn *about)
{
    struct result *r = PyObject_GC_New(struct result, state->result);
    if (r == NULL)
        return NULL;
    r->state = state;
    r->opened = NULL;
    r->document = r->kept = r->names = NULL;
    r->kind = Py_NewRef(kind);
    r->about = *about;
    if (about->opened != NULL)
        opened_hold(about->opened);
    PyObject_GC_Track(r);
    return r;
}

PyObject *answer_make(struct core_state *state, struct vrs_result *result, const char *kind,
                      const struct drawn *about)
{
    struct opened *opened = opened_make((struct opened_what){ .result = result }, NULL);
    PyObject *name = opened == NULL ? NULL : PyUnicode_FromString(kind);
    struct result *r = name == NULL ? NULL : make_bare(state, name, about);
    Py_XDECREF(name);
    if (r != NULL)
        r->opened = opened;
    else if (opened != NULL)
        opened_leave(opened);
    return (PyObject *)r;
}

static int result_clear(PyObject *self)
{
    struct result *r = (struct result *)self;
    Py_CLEAR(r->document);
    Py_CLEAR(r->kept);
    return 0;
}

static int result_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct result *r = (struct result *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(r->document);
    Py_VISIT(r->kept);
    return 0;
}

static void result_dealloc(PyObject *self)
{
    struct result *r = (struct result *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (r->opened != NULL)
        opened_leave(r->opened);
    if (r->about.opened != NULL)
        opened_drop(r->about.opened);
    (void)result_clear(self);
    Py_XDECREF(r->names);
    Py_XDECREF(r->kind);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* What was answered. */

struct opened *result_use(PyObject *result)
{
    struct result *r = (struct result *)result;
    if (r->opened == NULL && r->kept != NULL)
        raise_usage(r->state,
                    "an unpickled result has its JSON and its text of 80 columns; for all "
                    "else ask the recording anew");
    else if (r->opened == NULL)
        PyErr_SetString(PyExc_ValueError, "this result was merged into another one");
    if (r->opened == NULL)
        return NULL;
    struct opened *o = opened_use(r->opened);
    opened_lock(o);
    return o;
}

void result_leave(struct opened *o)
{
    opened_unlock(o);
    opened_leave(o);
}

static uint32_t count_names(struct vrs_result *result)
{
    uint32_t count = 0;
    while (vrs_result_column_name(result, count) != NULL)
        count++;
    return count;
}

PyObject *result_names(PyObject *self, struct opened *o)
{
    struct result *r = (struct result *)self;
    if (r->names != NULL)
        return r->names;
    PyObject *list = PyList_New(0);
    const char *text;
    uint32_t count = 0;
    for (; list != NULL && (text = vrs_result_column_name(o->result, count)) != NULL; count++) {
        PyObject *name = PyUnicode_FromString(text);
        if (name == NULL || PyList_Append(list, name) != 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    /* NULL is the end, and a name there was no memory for: then another look finds more. */
    if (list != NULL && count_names(o->result) != count) {
        Py_CLEAR(list);
        PyErr_NoMemory();
    }
    r->names = list;
    return list;
}

/* Writing. */

/* As str. */
static PyObject *written(struct result *r, struct vrs_write_options *options)
{
    struct sink sink;
    struct vrs_error err;
    struct opened *o = result_use((PyObject *)r);
    if (o == NULL)
        return NULL;
    (void)sink_begin(&sink, r->state, NULL, NULL, 0);
    options->size = sizeof *options;
    options->device = r->about.device;
    options->note = notes_take;
    options->note_arg = &sink.notes;
    PyThreadState *saved = PyEval_SaveThread();
    enum vrs_status status = vrs_write(o->result, options, &sink.sink, &err);
    PyEval_RestoreThread(saved);
    result_leave(o);
    return sink_end_text(&sink, status, &err);
}

/* A part of what an unpickled one keeps; new. */
static PyObject *kept(const struct result *r, Py_ssize_t part)
{
    return Py_NewRef(PyTuple_GetItem(r->kept, part));
}

/* The standard output of Python, borrowed; NULL: there is none. */
static PyObject *standard_output(void)
{
    PyObject *out = PySys_GetObject("stdout");
    return out == Py_None ? NULL : out;
}

/* What a stream is not, or does not have, is no failure; running out of memory is.  False with an
 * exception set. */
static bool went_without(void)
{
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_MemoryError))
        PyErr_Clear();
    return !PyErr_Occurred();
}

/* Of the terminal, or what the program was told of one; else 0.  False with an exception set. */
static bool terminal_width(uint32_t *ret)
{
    const char *columns = getenv("COLUMNS");
    char *end = NULL;
    long width = columns == NULL ? 0 : strtol(columns, &end, 10);
    if (width <= 0 || *end != '\0') {
        PyObject *out = standard_output();
        PyObject *fd = out == NULL ? NULL : PyObject_CallMethod(out, "fileno", NULL);
        struct winsize size = { 0 };
        int number = fd == NULL ? -1 : (int)PyLong_AsLong(fd);
        Py_XDECREF(fd);
        if (!went_without())
            return false;
        width = number >= 0 && ioctl(number, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    }
    *ret = width <= 0            ? 0
           : width < WIDTH_LEAST ? WIDTH_LEAST
           : width > WIDTH_MOST  ? WIDTH_MOST
                                 : (uint32_t)width;
    return true;
}

/* Whether the standard output takes no more than ASCII of what pictures are drawn with.  False with
 * an exception set. */
static bool output_is_ascii(bool *ret)
{
    static const char drawn[] = "\xe2\x96\x81\xe2\x96\x88\xe2\x94\x9c\xe2\x80\xa6";
    PyObject *out = standard_output();
    PyObject *encoding = out == NULL ? NULL : PyObject_GetAttrString(out, "encoding");
    PyObject *coded = NULL;
    bool is_text = encoding != NULL && PyUnicode_Check(encoding);
    if (is_text) {
        PyObject *text = PyUnicode_FromString(drawn);
        coded = text == NULL ? NULL : PyObject_CallMethod(text, "encode", "O", encoding);
        Py_XDECREF(text);
    }
    Py_XDECREF(coded);
    Py_XDECREF(encoding);
    *ret = is_text && coded == NULL;
    return went_without();
}

/* None: 0.  False with an exception set. */
static bool rows_of(PyObject *rows, uint32_t *ret)
{
    unsigned long count = rows == Py_None ? 0 : PyLong_AsUnsignedLong(rows);
    if (!PyErr_Occurred() && count > UINT32_MAX)
        PyErr_SetString(PyExc_OverflowError, "that many rows or columns cannot be shown");
    *ret = (uint32_t)count;
    return !PyErr_Occurred();
}

static PyObject *text_with(struct result *r, struct vrs_write_options *options)
{
    bool plain = !options->colour && !options->stacks && !options->picture &&
                 !options->all_frames && !options->all_ranks && options->rows == 0;
    if (r->kept != NULL && plain && (options->width == 0 || options->width == KEPT_WIDTH))
        return kept(r, 1);
    if (options->width == 0 && !terminal_width(&options->width))
        return NULL;
    return written(r, options);
}

static PyObject *result_text(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "width",   "colour",     "ascii",     "rows", "stacks",
                                         "picture", "all_frames", "all_ranks", NULL };
    struct vrs_write_options options = { .format = VRS_TEXT };
    PyObject *width = Py_None, *ascii = Py_None, *rows = Py_None;
    int colour = 0, stacks = 0, picture = 0, frames = 0, ranks = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OpOOpppp:text", (char **)SLOT(names), &width,
                                     &colour, &ascii, &rows, &stacks, &picture, &frames, &ranks))
        return NULL;
    if (!rows_of(width, &options.width) || !rows_of(rows, &options.rows))
        return NULL;
    int is_ascii = ascii == Py_None ? 0 : PyObject_IsTrue(ascii);
    options.ascii = is_ascii != 0;
    if (is_ascii < 0 || (ascii == Py_None && !output_is_ascii(&options.ascii)))
        return NULL;
    options.colour = colour != 0;
    options.stacks = stacks != 0;
    options.picture = picture != 0;
    options.all_frames = frames != 0;
    options.all_ranks = ranks != 0;
    return text_with((struct result *)self, &options);
}

static PyObject *result_str(PyObject *self)
{
    struct vrs_write_options options = { .format = VRS_TEXT };
    return output_is_ascii(&options.ascii) ? text_with((struct result *)self, &options) : NULL;
}

PyObject *report_str(PyObject *asked)
{
    PyObject *report = PyObject_CallMethod(asked, "report", NULL);
    PyObject *text = report == NULL ? NULL : PyObject_Str(report);
    Py_XDECREF(report);
    return text;
}

static PyObject *json_of(struct result *r, uint32_t rows)
{
    if (r->kept != NULL && rows == 0)
        return kept(r, 0);
    return written(r, &(struct vrs_write_options){ .format = VRS_JSON, .rows = rows });
}

static PyObject *result_json(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "rows", NULL };
    PyObject *rows = Py_None;
    uint32_t count;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:json", (char **)SLOT(names), &rows) ||
        !rows_of(rows, &count))
        return NULL;
    return json_of((struct result *)self, count);
}

static PyObject *result_markdown(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "rows", "ascii", NULL };
    struct vrs_write_options options = { .format = VRS_MARKDOWN };
    PyObject *rows = Py_None;
    int ascii = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$Op:markdown", (char **)SLOT(names), &rows,
                                     &ascii) ||
        !rows_of(rows, &options.rows))
        return NULL;
    options.ascii = ascii != 0;
    return written((struct result *)self, &options);
}

/* The forms without a choice. */
#define WRITTEN_AS(name, of)                                                                       \
    static PyObject *result_##name(PyObject *self, PyObject *unused)                               \
    {                                                                                              \
        (void)unused;                                                                              \
        return written((struct result *)self, &(struct vrs_write_options){ .format = (of) });      \
    }
WRITTEN_AS(csv, VRS_CSV)
WRITTEN_AS(junit, VRS_JUNIT)
WRITTEN_AS(sarif, VRS_SARIF)

/* The mapping. */

static PyObject *parsed(struct result *r)
{
    PyObject *text = json_of(r, 0), *json = text == NULL ? NULL : PyImport_ImportModule("json");
    PyObject *made = json == NULL ? NULL : PyObject_CallMethod(json, "loads", "O", text);
    Py_XDECREF(json);
    Py_XDECREF(text);
    return made;
}

/* Borrowed; NULL with an exception set.  No lock is held while Python parses, since what it runs
 * may ask this result, too: of two threads that parse at a time the first one's document stays. */
static PyObject *document_of(struct result *r)
{
    if (r->document == NULL) {
        PyObject *made = parsed(r);
        if (r->document == NULL)
            r->document = made;
        else
            Py_XDECREF(made);
    }
    return r->document;
}

static PyObject *result_to_dict(PyObject *self, PyObject *unused)
{
    (void)unused;
    /* Parsed anew, so that nobody changes what others see. */
    return parsed((struct result *)self);
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
    return document == NULL ? NULL : PyObject_CallMethod(document, "keys", NULL);
}

static PyObject *result_values(PyObject *self, PyObject *unused)
{
    PyObject *document = document_of((struct result *)self);
    (void)unused;
    return document == NULL ? NULL : PyObject_CallMethod(document, "values", NULL);
}

static PyObject *result_items(PyObject *self, PyObject *unused)
{
    PyObject *document = document_of((struct result *)self);
    (void)unused;
    return document == NULL ? NULL : PyObject_CallMethod(document, "items", NULL);
}

static PyObject *result_get(PyObject *self, PyObject *args)
{
    PyObject *key, *other = Py_None;
    if (!PyArg_ParseTuple(args, "O|O:get", &key, &other))
        return NULL;
    PyObject *document = document_of((struct result *)self);
    if (document == NULL)
        return NULL;
    PyObject *found = PyDict_GetItemWithError(document, key);
    return found == NULL && PyErr_Occurred() ? NULL : Py_NewRef(found == NULL ? other : found);
}

/* As dicts compare. */
static PyObject *result_compare(PyObject *self, PyObject *other, int how)
{
    struct core_state *state = ((struct result *)self)->state;
    bool both = Py_TYPE(other) == state->result;
    if ((how != Py_EQ && how != Py_NE) || (!both && !PyDict_Check(other)))
        return Py_NewRef(Py_NotImplemented);
    PyObject *a = document_of((struct result *)self);
    PyObject *b = a == NULL ? NULL : both ? document_of((struct result *)other) : other;
    return b == NULL ? NULL : PyObject_RichCompare(a, b, how);
}

static PyObject *result_verdict(PyObject *self, void *closure)
{
    struct result *r = (struct result *)self;
    (void)closure;
    if (r->kept != NULL)
        return kept(r, 2);
    struct opened *o = result_use(self);
    if (o == NULL)
        return NULL;
    enum vrs_verdict verdict = vrs_verdict(o->result);
    result_leave(o);
    return Py_NewRef(verdict == VRS_YES ? Py_True : verdict == VRS_NO ? Py_False : Py_None);
}

static PyObject *result_kind(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef(((struct result *)self)->kind);
}

static PyObject *result_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<vramscope.Result of %U>", ((struct result *)self)->kind);
}

/* For notebooks: the picture of the recording, as long as somebody has it, and the text. */
static PyObject *result_html(PyObject *self, PyObject *unused)
{
    struct result *r = (struct result *)self;
    (void)unused;
    PyObject *text = text_with(r, &(struct vrs_write_options){ .width = KEPT_WIDTH });
    return page_of(text, text == NULL ? NULL : picture_of(r->state, &r->about));
}

/* Pickling. */

static PyObject *result_reduce(PyObject *self, PyObject *unused)
{
    struct result *r = (struct result *)self;
    (void)unused;
    PyObject *json = json_of(r, 0), *text = NULL, *verdict = NULL, *core = NULL, *made = NULL;
    if (json != NULL)
        text = text_with(r, &(struct vrs_write_options){ .width = KEPT_WIDTH });
    if (text != NULL)
        verdict = result_verdict(self, NULL);
    if (verdict != NULL)
        core = PyImport_ImportModule("vramscope._core");
    PyObject *make = core == NULL ? NULL : PyObject_GetAttrString(core, "_kept_result");
    if (make != NULL)
        made = Py_BuildValue("O(OOOO)", make, r->kind, json, text, verdict);
    Py_XDECREF(make);
    Py_XDECREF(core);
    Py_XDECREF(verdict);
    Py_XDECREF(text);
    Py_XDECREF(json);
    return made;
}

PyObject *result_kept(PyObject *module, PyObject *args)
{
    PyObject *kind, *json, *text, *verdict;
    if (!PyArg_ParseTuple(args, "UUUO:_kept_result", &kind, &json, &text, &verdict))
        return NULL;
    struct result *r = make_bare(core_state_of(module), kind, &(struct drawn){ .opened = NULL });
    if (r != NULL)
        r->kept = Py_BuildValue("(OOO)", json, text, verdict);
    if (r != NULL && r->kept == NULL)
        Py_CLEAR(r);
    return (PyObject *)r;
}

/* Merging. */

/* What is merged is taken from its objects first, so that nobody else asks it meanwhile; it goes
 * back where the merge fails. */
struct merge {
    PyObject *list;
    struct opened **part;
    const struct vrs_result **result;
    Py_ssize_t taken;
};

static void merge_take(struct merge *m, struct core_state *state, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        struct result *r = (struct result *)PyList_GetItem(m->list, i);
        if (Py_TYPE((PyObject *)r) != state->result) {
            PyErr_Format(PyExc_TypeError, "merge() joins results, not %R", Py_TYPE((PyObject *)r));
            return;
        }
        if (r->opened == NULL && r->kept != NULL) {
            raise_usage(state, "an unpickled result cannot be merged; ask the recording anew");
            return;
        }
        if (r->opened == NULL) {
            PyErr_SetString(PyExc_ValueError, "a result can be merged once");
            return;
        }
        m->part[i] = r->opened;
        r->opened = NULL;
        m->taken++;
        opened_lock(m->part[i]);
        m->result[i] = m->part[i]->result;
    }
}

/* A part is freed when its last column is. */
static void merge_end(struct merge *m, bool merged)
{
    for (Py_ssize_t i = 0; i < m->taken; i++) {
        opened_unlock(m->part[i]);
        if (merged)
            opened_leave(m->part[i]);
        else
            ((struct result *)PyList_GetItem(m->list, i))->opened = m->part[i];
    }
    PyMem_Free(m->part);
    PyMem_Free(m->result);
    Py_XDECREF(m->list);
}

PyObject *result_merge(PyObject *module, PyObject *results)
{
    struct core_state *state = core_state_of(module);
    struct merge m = { .list = PySequence_List(results) };
    if (m.list == NULL)
        return NULL;
    Py_ssize_t count = PyList_Size(m.list);
    m.part = PyMem_Malloc((size_t)(count + 1) * sizeof(*m.part));
    m.result = PyMem_Malloc((size_t)(count + 1) * sizeof(*m.result));
    struct vrs_result *merged = NULL;
    PyObject *kind = NULL, *name = NULL;
    if (m.part == NULL || m.result == NULL)
        PyErr_NoMemory();
    else if (count == 0)
        raise_usage(state, "there is nothing to merge");
    else
        merge_take(&m, state, count);
    if (!PyErr_Occurred()) {
        struct vrs_error err;
        kind = ((struct result *)PyList_GetItem(m.list, 0))->kind;
        name = PyUnicode_AsUTF8String(kind);
        PyThreadState *saved = PyEval_SaveThread();
        enum vrs_status status = vrs_merge(m.result, (uint32_t)count, &merged, &err);
        PyEval_RestoreThread(saved);
        if (status != VRS_OK)
            raise_error(state, &err, NULL);
    }
    PyObject *made =
        merged == NULL || name == NULL
            ? NULL
            : answer_make(state, merged, PyBytes_AsString(name), &(struct drawn){ .opened = NULL });
    if (merged != NULL && name == NULL)
        vrs_result_free(merged);
    Py_XDECREF(name);
    merge_end(&m, made != NULL);
    return made;
}

PyObject *result_unread(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "path", "error", "kind", NULL };
    struct core_state *state = core_state_of(module);
    PyObject *path = NULL, *error, *made = NULL;
    const char *kind = "report";
    struct vrs_error why, err;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O|s:unread", (char **)SLOT(names),
                                     PyUnicode_FSConverter, &path, &error, &kind))
        return NULL;
    bool checked = strcmp(kind, "check") == 0;
    if (!checked && strcmp(kind, "report") != 0) {
        raise_usage(state, "kind is \"report\" or \"check\"");
    } else if (error_of(state, error, &why)) {
        struct vrs_result *result = NULL;
        const char *name = PyBytes_AsString(path);
        enum vrs_status status = checked ? vrs_check_unread(name, &why, &result, &err)
                                         : vrs_report_unread(name, &why, &result, &err);
        made = status == VRS_OK
                   ? answer_make(state, result, kind, &(struct drawn){ .opened = NULL })
                   : raise_error(state, &err, NULL);
    }
    Py_DECREF(path);
    return made;
}

PyObject *result_report_run(PyObject *module, PyObject *path)
{
    struct core_state *state = core_state_of(module);
    struct vrs_result *result = NULL;
    struct vrs_error err;
    PyObject *name = NULL;
    if (!PyUnicode_FSConverter(path, &name))
        return NULL;
    const char *bytes = PyBytes_AsString(name);
    enum vrs_status status;
    Py_BEGIN_ALLOW_THREADS
    status = vrs_report_run(bytes, &result, &err);
    Py_END_ALLOW_THREADS
    Py_DECREF(name);
    if (status != VRS_OK)
        return raise_error(state, &err, path);
    return answer_make(state, result, "report", &(struct drawn){ .opened = NULL });
}

/* The class. */

#define WITH_KEYWORDS(name) (PyCFunction)(void (*)(void))(name), METH_VARARGS | METH_KEYWORDS

static PyMethodDef result_methods[] = {
    { "text", WITH_KEYWORDS(result_text), result_text_doc },
    { "json", WITH_KEYWORDS(result_json), result_json_doc },
    { "csv", result_csv, METH_NOARGS, result_csv_doc },
    { "markdown", WITH_KEYWORDS(result_markdown), result_markdown_doc },
    { "junit", result_junit, METH_NOARGS, result_junit_doc },
    { "sarif", result_sarif, METH_NOARGS, result_sarif_doc },
    { "snapshot", WITH_KEYWORDS(result_snapshot), result_snapshot_doc },
    { "table", result_table, METH_O, result_table_doc },
    { "to_pandas", result_to_pandas, METH_O, result_to_pandas_doc },
    { "to_dict", result_to_dict, METH_NOARGS, result_to_dict_doc },
    { "keys", result_keys, METH_NOARGS, result_keys_doc },
    { "values", result_values, METH_NOARGS, result_values_doc },
    { "items", result_items, METH_NOARGS, result_items_doc },
    { "get", result_get, METH_VARARGS, result_get_doc },
    { "_repr_html_", result_html, METH_NOARGS, NULL },
    { "__reduce__", result_reduce, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef result_members[] = {
    { "verdict", result_verdict, NULL,
      "True or False of a question of yes or no; None: undecided, or no such question.", NULL },
    { "kind", result_kind, NULL, "The verb that was asked: \"report\", \"peak\"...", NULL },
    { "tables", result_tables, NULL,
      "The names of the document's lists, for table(): \"devices.result.sites\".", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot result_slots[] = {
    { Py_tp_doc,
      SLOT("An answer: a mapping of its JSON document; str() is what the command prints.\n"
           "\n"
           "It holds nothing of the file, which may be closed. Raises KeyError as a dict does.\n"
           "\n"
           ">>> answer = vramscope.load(\"examples/leak.pickle\").leaks()\n"
           ">>> answer.kind, answer.verdict, answer[\"devices\"][0][\"device\"]\n"
           "('leaks', None, 0)") },
    { Py_tp_dealloc, SLOT(result_dealloc) },
    { Py_tp_traverse, SLOT(result_traverse) },
    { Py_tp_clear, SLOT(result_clear) },
    { Py_tp_repr, SLOT(result_repr) },
    { Py_tp_str, SLOT(result_str) },
    { Py_tp_richcompare, SLOT(result_compare) },
    { Py_tp_hash, SLOT(PyObject_HashNotImplemented) },
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
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = result_slots,
};
