/* file.c - opening snapshots, with progress that can be cancelled; files and their recordings. */
#include "core.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vramscope/snapshot.h"
#include "vramscope/vramscope.h"

/* What was opened. */

struct opened *opened_use(struct opened *o)
{
    atomic_fetch_add(&o->users, 1);
    return o;
}

void opened_leave(struct opened *o)
{
    if (atomic_fetch_sub(&o->users, 1) != 1)
        return;
    vrs_close(o->file);
    free(o);
}

struct file {
    PyObject_HEAD struct core_state *state;
    struct opened *opened; /* NULL: closed */
    PyObject *path;        /* None: of no file */
};

struct recording {
    PyObject_HEAD struct file *file;
    const struct vrs_recording *recording;
};

/* Reading. */

enum { SIGNALS_EVERY_MS = 50, PROGRESS_EVERY_MS = 100 };

/* A call that reads, on the caller's thread, which holds no lock of the interpreter meanwhile. */
struct reading {
    PyThreadState *saved;
    PyObject *progress; /* callable, or NULL */
    PyObject *reader;   /* bound method of a stream, or NULL */
    bool into;          /* it is readinto */
    int64_t signals_ms, progress_ms;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* False with an exception set, which ends the reading. */
static bool tell_progress(struct reading *r, uint64_t done, uint64_t total)
{
    if (PyErr_CheckSignals() != 0)
        return false;
    int64_t now = now_ms();
    if (r->progress == NULL || (now - r->progress_ms < PROGRESS_EVERY_MS && done != total))
        return true;
    r->progress_ms = now;
    PyObject *said = PyObject_CallFunction(r->progress, "KK", (unsigned long long)done,
                                           (unsigned long long)total);
    Py_XDECREF(said);
    return said != NULL;
}

static bool on_progress(void *arg, uint64_t done, uint64_t total)
{
    struct reading *r = arg;
    int64_t now = now_ms();
    if (now - r->signals_ms < SIGNALS_EVERY_MS && !(r->progress != NULL && done == total))
        return true;
    r->signals_ms = now;
    PyEval_RestoreThread(r->saved);
    bool go_on = !PyErr_Occurred() && tell_progress(r, done, total);
    r->saved = PyEval_SaveThread();
    return go_on;
}

/* What a stream gave, copied; negative with an exception set. */
static int64_t read_some(struct reading *r, void *bytes, size_t len)
{
    Py_ssize_t most = (Py_ssize_t)len, got = -1;
    if (r->into) {
        PyObject *room = PyMemoryView_FromMemory(bytes, most, PyBUF_WRITE);
        PyObject *n = room == NULL ? NULL : PyObject_CallFunctionObjArgs(r->reader, room, NULL);
        if (n != NULL && n != Py_None)
            got = PyNumber_AsSsize_t(n, PyExc_OverflowError);
        else if (n != NULL)
            PyErr_SetString(PyExc_BlockingIOError, "the stream has nothing to read yet");
        Py_XDECREF(n);
        /* The memory is the reader's again: who kept the view must not write to it. */
        PyObject *released =
            room == NULL || PyErr_Occurred() ? NULL : PyObject_CallMethod(room, "release", NULL);
        if (room != NULL && released == NULL && !PyErr_Occurred())
            got = -1;
        Py_XDECREF(released);
        Py_XDECREF(room);
    } else {
        PyObject *part = PyObject_CallFunction(r->reader, "n", most);
        Py_buffer view;
        if (part != NULL && PyObject_GetBuffer(part, &view, PyBUF_SIMPLE) == 0) {
            got = view.len;
            if (got <= most)
                memcpy(bytes, view.buf, (size_t)got);
            PyBuffer_Release(&view);
        }
        Py_XDECREF(part);
    }
    if (!PyErr_Occurred() && (got < 0 || got > most))
        PyErr_SetString(PyExc_ValueError, "the stream says it gave more than it was asked for");
    return PyErr_Occurred() ? -1 : got;
}

static int64_t on_read(void *arg, void *bytes, size_t len)
{
    struct reading *r = arg;
    PyEval_RestoreThread(r->saved);
    int64_t got = PyErr_CheckSignals() != 0 ? -1 : read_some(r, bytes, len);
    r->saved = PyEval_SaveThread();
    return got;
}

/* Where bytes come from: one of the three. */
struct source {
    PyObject *path;   /* bytes of a file's name, owned; or NULL */
    Py_buffer view;   /* in memory; obj NULL: none */
    PyObject *reader; /* owned, or NULL */
    bool into;
    PyObject *shown; /* the path as text for errors, owned; or NULL */
};

static void source_end(struct source *s)
{
    Py_XDECREF(s->path);
    Py_XDECREF(s->reader);
    Py_XDECREF(s->shown);
    if (s->view.obj != NULL)
        PyBuffer_Release(&s->view);
}

/* Bytes are a snapshot, not the name of one: a name of bytes goes through os.fsdecode. */
static bool is_path(PyObject *given)
{
    return PyUnicode_Check(given) || PyObject_HasAttrString(given, "__fspath__");
}

/* False with an exception set. */
static bool source_make(PyObject *given, struct source *ret)
{
    if (is_path(given)) {
        if (PyUnicode_FSConverter(given, &ret->path) == 0)
            return false;
        ret->shown = PyUnicode_DecodeFSDefault(PyBytes_AsString(ret->path));
        return ret->shown != NULL;
    }
    if (PyObject_CheckBuffer(given))
        return PyObject_GetBuffer(given, &ret->view, PyBUF_SIMPLE) == 0;
    ret->into = PyObject_HasAttrString(given, "readinto");
    if (!ret->into && !PyObject_HasAttrString(given, "read")) {
        PyErr_Format(PyExc_TypeError,
                     "a snapshot is a path, bytes, or an object with readinto or read, not %R",
                     Py_TYPE(given));
        return false;
    }
    ret->reader = PyObject_GetAttrString(given, ret->into ? "readinto" : "read");
    return ret->reader != NULL;
}

static enum vrs_status read_source(const struct source *s, struct reading *reading,
                                   const struct vrs_open_options *options, struct vrs_file **ret,
                                   struct vrs_error *err)
{
    enum vrs_status status;
    const char *path = s->path == NULL ? NULL : PyBytes_AsString(s->path);
    reading->saved = PyEval_SaveThread();
    if (path != NULL)
        status = vrs_open(path, options, ret, err);
    else if (s->reader != NULL)
        status = vrs_open_stream(on_read, reading, "(stream)", options, ret, err);
    else
        status = vrs_open_bytes(s->view.buf, (size_t)s->view.len, "(bytes)", options, ret, err);
    PyEval_RestoreThread(reading->saved);
    return status;
}

/* Options. */

static const struct {
    const char *name;
    size_t offset;
} limit_names[] = {
    { "nesting", offsetof(struct vrs_limits, nesting) },
    { "string", offsetof(struct vrs_limits, string_bytes) },
    { "strings", offsetof(struct vrs_limits, strings_bytes) },
    { "items", offsetof(struct vrs_limits, items) },
    { "unpacked", offsetof(struct vrs_limits, unpacked_bytes) },
    { "frames", offsetof(struct vrs_limits, frames) },
};

/* A number, or a text that vrs_size reads.  False with an exception set. */
static bool as_size(struct core_state *state, PyObject *value, uint64_t *ret)
{
    if (PyUnicode_Check(value)) {
        PyObject *bytes = PyUnicode_AsUTF8String(value);
        bool ok = bytes != NULL && vrs_size(PyBytes_AsString(bytes), ret);
        Py_XDECREF(bytes);
        if (!ok && bytes != NULL)
            raise_usage(state, "a limit is a number or a size, such as \"4GiB\"");
        return ok;
    }
    *ret = PyLong_AsUnsignedLongLong(value);
    return !PyErr_Occurred();
}

static bool take_limit(struct core_state *state, PyObject *name, PyObject *value,
                       struct vrs_limits *to)
{
    for (size_t i = 0; i < sizeof limit_names / sizeof *limit_names; i++) {
        uint64_t n;
        if (!PyUnicode_Check(name) ||
            PyUnicode_CompareWithASCIIString(name, limit_names[i].name) != 0)
            continue;
        if (!as_size(state, value, &n))
            return false;
        if (n == 0) {
            raise_usage(state, "a limit is at least 1");
            return false;
        }
        memcpy((char *)to + limit_names[i].offset, &n, sizeof n);
        return true;
    }
    raise_usage(state, "limits are nesting, string, strings, items, unpacked and frames");
    return false;
}

static bool take_limits(struct core_state *state, PyObject *limits, struct vrs_limits *to)
{
    PyObject *items = PyMapping_Items(limits);
    bool ok = items != NULL;
    Py_ssize_t count = ok ? PyList_Size(items) : 0;
    for (Py_ssize_t i = 0; ok && i < count; i++) {
        PyObject *pair = PyList_GetItem(items, i);
        ok = take_limit(state, PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1), to);
    }
    Py_XDECREF(items);
    return ok;
}

static bool take_replay(struct core_state *state, const char *word, struct vrs_open_options *to)
{
    static const char *const words[] = { "auto", "always", "never" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            to->replay = (enum vrs_replay_when)i;
            return true;
        }
    raise_usage(state, "replay is \"auto\", \"always\" or \"never\"");
    return false;
}

bool on_main_thread(void)
{
    PyObject *threading = PyImport_ImportModule("_thread");
    PyObject *own = threading == NULL ? NULL : PyObject_CallMethod(threading, "get_ident", NULL);
    PyObject *sys = PyImport_ImportModule("threading");
    PyObject *chief = sys == NULL ? NULL : PyObject_CallMethod(sys, "main_thread", NULL);
    PyObject *its = chief == NULL ? NULL : PyObject_GetAttrString(chief, "ident");
    bool same = own != NULL && its != NULL && PyObject_RichCompareBool(own, its, Py_EQ) == 1;
    PyErr_Clear();
    Py_XDECREF(its);
    Py_XDECREF(chief);
    Py_XDECREF(sys);
    Py_XDECREF(own);
    Py_XDECREF(threading);
    return same;
}

static bool take_threads(PyObject *threads, struct vrs_open_options *to)
{
    if (threads == Py_None) {
        to->threads = on_main_thread() ? 0 : 1;
        return true;
    }
    unsigned long n = PyLong_AsUnsignedLong(threads);
    if (PyErr_Occurred())
        return false;
    if (n > VRS_THREADS_MOST) {
        PyErr_Format(PyExc_ValueError, "threads are at most %d", (int)VRS_THREADS_MOST);
        return false;
    }
    to->threads = (uint32_t)n;
    return true;
}

/* Files. */

static PyObject *file_make(struct core_state *state, struct vrs_file *opened, PyObject *path)
{
    struct file *f = PyObject_New(struct file, state->file);
    struct opened *o = malloc(sizeof *o);
    if (f == NULL || o == NULL) {
        vrs_close(opened);
        free(o);
        if (f != NULL) {
            f->opened = NULL;
            f->path = NULL;
            Py_DECREF(f);
        }
        return PyErr_NoMemory();
    }
    o->file = opened;
    atomic_init(&o->users, 1);
    atomic_init(&o->columns, 0);
    f->state = state;
    f->opened = o;
    f->path = Py_NewRef(path == NULL ? Py_None : path);
    return (PyObject *)f;
}

PyObject *opened_from(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {
        "source", "limits", "progress", "replay", "threads", NULL
    };
    struct core_state *state = core_state_of(module);
    PyObject *given, *limits = Py_None, *progress = Py_None, *threads = Py_None;
    const char *replay = "auto";
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOsO:open", (char **)SLOT(names), &given,
                                     &limits, &progress, &replay, &threads))
        return NULL;
    struct vrs_limits most = { .size = sizeof most };
    struct reading reading = { .progress = progress == Py_None ? NULL : progress };
    struct vrs_open_options options = {
        .size = sizeof options,
        .limits = &most,
        .progress = on_progress,
        .progress_arg = &reading,
    };
    if (!take_replay(state, replay, &options) || !take_threads(threads, &options) ||
        (limits != Py_None && !take_limits(state, limits, &most)))
        return NULL;
    struct source source = { .path = NULL };
    PyObject *made = NULL;
    if (source_make(given, &source)) {
        struct vrs_file *file = NULL;
        struct vrs_error err;
        reading.reader = source.reader;
        reading.into = source.into;
        reading.signals_ms = now_ms();
        enum vrs_status status = read_source(&source, &reading, &options, &file, &err);
        /* An exception of a callback is what ended the reading, and wins. */
        if (PyErr_Occurred()) {
            if (status == VRS_OK)
                vrs_close(file);
        } else if (status != VRS_OK) {
            raise_error(state, &err, source.shown);
        } else {
            made = file_make(state, file, source.shown);
        }
    }
    source_end(&source);
    return made;
}

static void file_dealloc(PyObject *self)
{
    struct file *f = (struct file *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (f->opened != NULL)
        opened_leave(f->opened);
    Py_XDECREF(f->path);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* False with ValueError set. */
static bool is_open(const struct file *f)
{
    if (f->opened == NULL)
        PyErr_SetString(PyExc_ValueError, "closed");
    return f->opened != NULL;
}

static PyObject *file_close(PyObject *self, PyObject *unused)
{
    struct file *f = (struct file *)self;
    struct opened *o = f->opened;
    (void)unused;
    f->opened = NULL;
    if (o != NULL)
        opened_leave(o);
    return Py_NewRef(Py_None);
}

static PyObject *enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *file_exit(PyObject *self, PyObject *args)
{
    (void)args;
    return file_close(self, NULL);
}

static Py_ssize_t file_length(PyObject *self)
{
    struct file *f = (struct file *)self;
    return is_open(f) ? (Py_ssize_t)vrs_count(f->opened->file) : -1;
}

static PyObject *file_item(PyObject *self, Py_ssize_t i)
{
    struct file *f = (struct file *)self;
    const struct vrs_recording *recording;
    struct vrs_error err;
    if (!is_open(f))
        return NULL;
    if (i < 0 || i >= (Py_ssize_t)vrs_count(f->opened->file)) {
        PyErr_SetString(PyExc_IndexError, "there is no such recording in the file");
        return NULL;
    }
    if (vrs_recording(f->opened->file, (uint32_t)i, &recording, &err) != VRS_OK)
        return raise_error(f->state, &err, f->path);
    struct recording *r = PyObject_New(struct recording, f->state->recording);
    if (r == NULL)
        return NULL;
    r->file = (struct file *)Py_NewRef(self);
    r->recording = recording;
    return (PyObject *)r;
}

static PyObject *file_names(PyObject *self, void *closure)
{
    struct file *f = (struct file *)self;
    (void)closure;
    if (!is_open(f))
        return NULL;
    uint32_t count = vrs_count(f->opened->file);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        const char *name = vrs_entry_name(f->opened->file, i);
        PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "surrogateescape");
        if (text == NULL || PyList_SetItem(list, (Py_ssize_t)i, text) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* The one recording of a file, or of several the one that is asked for. */
PyObject *file_only(PyObject *module, PyObject *args)
{
    struct core_state *state = core_state_of(module);
    PyObject *file, *entry;
    if (!PyArg_ParseTuple(args, "O!O:only", state->file, &file, &entry))
        return NULL;
    Py_ssize_t count = file_length(file);
    if (count < 0)
        return NULL;
    if (entry == Py_None && count == 1)
        return file_item(file, 0);
    if (PyLong_Check(entry)) {
        Py_ssize_t i = PyLong_AsSsize_t(entry);
        return PyErr_Occurred() ? NULL : file_item(file, i < 0 ? i + count : i);
    }
    PyObject *names = file_names(file, NULL), *made = NULL;
    Py_ssize_t at = names == NULL || entry == Py_None ? -1 : PySequence_Index(names, entry);
    if (names != NULL && at < 0) {
        PyErr_Clear();
        PyObject *all = PyUnicode_FromFormat("name an entry of the file: %A", names);
        PyObject *bytes = all == NULL ? NULL : PyUnicode_AsUTF8String(all);
        if (bytes != NULL)
            raise_usage(state, PyBytes_AsString(bytes));
        Py_XDECREF(bytes);
        Py_XDECREF(all);
    } else if (names != NULL) {
        made = file_item(file, at);
    }
    Py_XDECREF(names);
    return made;
}

static PyObject *file_path(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef(((struct file *)self)->path);
}

static PyObject *file_views(PyObject *self, void *closure)
{
    struct file *f = (struct file *)self;
    (void)closure;
    return is_open(f) ? PyLong_FromSize_t(atomic_load(&f->opened->columns)) : NULL;
}

static PyMethodDef file_methods[] = {
    { "close", file_close, METH_NOARGS,
      "close($self, /)\n--\n\n"
      "Ends the use of the file and its recordings.\n\n"
      "Columns and their views stay as they are; the last of them gives the memory back." },
    { "__enter__", enter, METH_NOARGS, NULL },
    { "__exit__", file_exit, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef file_members[] = {
    { "names", file_names, NULL, "The entries of an HTML page; [\"\"] for one recording.", NULL },
    { "path", file_path, NULL, "As it was opened; None for bytes and streams.", NULL },
    { "views", file_views, NULL, "How many columns keep the memory.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot file_slots[] = {
    { Py_tp_doc,
      SLOT("What was opened: a sequence of recordings, more than one of an HTML page.") },
    { Py_tp_dealloc, SLOT(file_dealloc) },
    { Py_tp_methods, file_methods },
    { Py_tp_getset, file_members },
    { Py_sq_length, SLOT(file_length) },
    { Py_sq_item, SLOT(file_item) },
    { 0, NULL },
};

PyType_Spec file_spec = {
    .name = "vramscope.File",
    .basicsize = sizeof(struct file),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = file_slots,
};

/* Recordings. */

bool is_recording(struct core_state *state, PyObject *object)
{
    return Py_TYPE(object) == state->recording;
}

const struct vrs_recording *recording_use(PyObject *recording, struct opened **ret_opened)
{
    struct recording *r = (struct recording *)recording;
    if (!is_open(r->file))
        return NULL;
    *ret_opened = opened_use(r->file->opened);
    return r->recording;
}

static void recording_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(((struct recording *)self)->file);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* KeyError where there is no such column; the first access may replay the recording. */
static PyObject *recording_column(PyObject *self, PyObject *name)
{
    struct recording *r = (struct recording *)self;
    struct opened *opened;
    struct vrs_span span;
    struct vrs_error err;
    PyObject *bytes = PyUnicode_Check(name) ? PyUnicode_AsUTF8String(name) : NULL;
    if (bytes == NULL) {
        PyErr_Format(PyExc_TypeError, "the name of a column is a text, not %R", Py_TYPE(name));
        return NULL;
    }
    const struct vrs_recording *recording = recording_use(self, &opened);
    if (recording == NULL) {
        Py_DECREF(bytes);
        return NULL;
    }
    const char *text = PyBytes_AsString(bytes);
    PyThreadState *saved = PyEval_SaveThread();
    enum vrs_status status = vrs_column(recording, text, &span, &err);
    PyEval_RestoreThread(saved);
    PyObject *made = NULL;
    if (status == VRS_OK) {
        made = column_make(r->file->state, opened, text, &span);
    } else {
        opened_leave(opened);
        if (status == VRS_USAGE)
            PyErr_SetObject(PyExc_KeyError, name);
        else
            raise_error(r->file->state, &err, r->file->path);
    }
    Py_DECREF(bytes);
    return made;
}

static PyObject *recording_columns(PyObject *self, void *closure)
{
    PyObject *list = PyList_New(0);
    (void)self;
    (void)closure;
    for (uint32_t i = 0; list != NULL && vrs_column_name(i) != NULL; i++) {
        PyObject *name = PyUnicode_FromFormat("%s.%s", vrs_column_table(i), vrs_column_name(i));
        if (name == NULL || PyList_Append(list, name) != 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static Py_ssize_t recording_length(PyObject *self)
{
    Py_ssize_t count = 0;
    (void)self;
    while (vrs_column_name((uint32_t)count) != NULL)
        count++;
    return count;
}

static PyObject *recording_iter(PyObject *self)
{
    PyObject *names = recording_columns(self, NULL);
    PyObject *iter = names == NULL ? NULL : PyObject_GetIter(names);
    Py_XDECREF(names);
    return iter;
}

static PyObject *recording_table(PyObject *self, PyObject *table)
{
    PyObject *dict = PyDict_New();
    for (uint32_t i = 0; dict != NULL && vrs_column_name(i) != NULL; i++) {
        if (!PyUnicode_Check(table) ||
            PyUnicode_CompareWithASCIIString(table, vrs_column_table(i)) != 0)
            continue;
        PyObject *name = PyUnicode_FromFormat("%s.%s", vrs_column_table(i), vrs_column_name(i));
        PyObject *column = name == NULL ? NULL : recording_column(self, name);
        if (column == NULL || PyDict_SetItemString(dict, vrs_column_name(i), column) != 0)
            Py_CLEAR(dict);
        Py_XDECREF(column);
        Py_XDECREF(name);
    }
    if (dict != NULL && PyDict_Size(dict) == 0) {
        PyErr_SetObject(PyExc_KeyError, table);
        Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *recording_string(PyObject *self, PyObject *id)
{
    struct opened *opened;
    unsigned long n = PyLong_AsUnsignedLong(id);
    if (PyErr_Occurred())
        return NULL;
    const struct vrs_recording *recording = recording_use(self, &opened);
    if (recording == NULL)
        return NULL;
    size_t len = 0;
    const char *text = n > UINT32_MAX ? NULL : vrs_string(recording, (uint32_t)n, &len);
    PyObject *made = NULL;
    if (text == NULL)
        PyErr_SetString(PyExc_IndexError, "there is no such string in the recording");
    else
        made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "surrogateescape");
    opened_leave(opened);
    return made;
}

static PyObject *recording_close(PyObject *self, PyObject *unused)
{
    return file_close((PyObject *)((struct recording *)self)->file, unused);
}

static PyObject *recording_exit(PyObject *self, PyObject *args)
{
    (void)args;
    return recording_close(self, NULL);
}

static PyObject *recording_file(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef((PyObject *)((struct recording *)self)->file);
}

#define QUESTION(name)                                                                             \
    { #name, (PyCFunction)(void (*)(void))ask_##name, METH_VARARGS | METH_KEYWORDS,                \
      ask_##name##_doc },

static PyMethodDef recording_methods[] = {
    CORE_QUESTIONS(QUESTION){
        "table", recording_table, METH_O,
        "table($self, name, /)\n--\n\nA dict of the columns of one table, as \"events\".\n\n"
        "KeyError where there is no such table." },
    { "string", recording_string, METH_O,
      "string($self, id, /)\n--\n\nA string of the file by its row in \"strings\".\n\n"
      "Bytes that are no UTF-8 come as surrogates. IndexError where there is no such row." },
    { "close", recording_close, METH_NOARGS,
      "close($self, /)\n--\n\nCloses the file of the recording: see File.close." },
    { "__enter__", enter, METH_NOARGS, NULL },
    { "__exit__", recording_exit, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef recording_members[] = {
    { "columns", recording_columns, NULL, "The names of all columns, \"table.column\".", NULL },
    { "file", recording_file, NULL, "The File it is of.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot recording_slots[] = {
    { Py_tp_doc,
      SLOT("One recording of GPU memory, read-only: columns by name, questions as methods.") },
    { Py_tp_dealloc, SLOT(recording_dealloc) },
    { Py_tp_methods, recording_methods },
    { Py_tp_getset, recording_members },
    { Py_tp_iter, SLOT(recording_iter) },
    { Py_mp_length, SLOT(recording_length) },
    { Py_mp_subscript, SLOT(recording_column) },
    { 0, NULL },
};

PyType_Spec recording_spec = {
    .name = "vramscope.Recording",
    .basicsize = sizeof(struct recording),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = recording_slots,
};
