/* open.c - opening snapshots and traces, with progress that can be cancelled. */
#include "core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "vramscope/snapshot.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

/* Reading. */

enum { SIGNALS_EVERY_MS = 50, PROGRESS_EVERY_MS = 100 };

/* A call that reads, on the caller's thread, which holds no lock of the interpreter meanwhile. */
struct reading {
    PyThreadState *saved;
    PyObject *progress; /* callable, or NULL */
    bool line;          /* the line of the command instead, on a terminal */
    bool drawn;
    int64_t begun_ms, drawn_ms;
    PyObject *reader; /* bound method of a stream, or NULL */
    bool into;        /* it is readinto */
    bool any;         /* a trace is read, too */
    int64_t signals_ms, progress_ms;
    uint64_t done; /* bytes that were told last */
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* One write, so that nobody waits for a terminal that is stopped longer than for that. */
static void put_line(const char *line, int len)
{
    if (len > 0 && write(STDERR_FILENO, line, (size_t)len) < 0)
        return;
}

/* As the command draws it: after the first second, then ten times a second. */
static void draw_line(struct reading *r, uint64_t done, uint64_t total, int64_t now)
{
    enum { FIRST_MS = 1000, LINE = 128 };
    const double mib = 1 << 20;
    char line[LINE];
    if (now - r->begun_ms < FIRST_MS || now - r->drawn_ms < PROGRESS_EVERY_MS)
        return;
    r->drawn = true;
    r->drawn_ms = now;
    int len = PyOS_snprintf(line, sizeof line, "\rreading: %.0f", (double)done / mib);
    if (total > 0)
        len +=
            PyOS_snprintf(line + len, sizeof line - (size_t)len, " of %.0f", (double)total / mib);
    len += PyOS_snprintf(line + len, sizeof line - (size_t)len, " MiB");
    if (done > 0 && done < total) {
        double left = (double)(now - r->begun_ms) / 1000 * (double)(total - done) / (double)done;
        len += PyOS_snprintf(line + len, sizeof line - (size_t)len, ", %.0f s left",
                             left < 1 ? 1 : left);
    }
    len += PyOS_snprintf(line + len, sizeof line - (size_t)len, "\033[K");
    put_line(line, len);
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
    if (r->line)
        draw_line(r, done, total, now);
    /* The same once more: a signal interrupted a wait. */
    bool again = done == r->done;
    r->done = done;
    if (now - r->signals_ms < SIGNALS_EVERY_MS && !(r->progress != NULL && done == total) && !again)
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

/* Recordings. */
static enum vrs_status read_file(const struct source *s, const char *path, struct reading *reading,
                                 const struct vrs_open_options *options, struct vrs_file **ret,
                                 struct vrs_error *err)
{
    if (path != NULL)
        return vrs_open(path, options, ret, err);
    if (s->reader != NULL)
        return vrs_open_stream(on_read, reading, "(stream)", options, ret, err);
    return vrs_open_bytes(s->view.buf, (size_t)s->view.len, "(bytes)", options, ret, err);
}

/* Recordings, or a trace. */
static enum vrs_status read_any(const struct source *s, const char *path, struct reading *reading,
                                const struct vrs_open_options *options, struct opened_what *ret,
                                struct vrs_error *err)
{
    if (path != NULL)
        return vrs_open_any(path, options, &ret->file, &ret->trace, err);
    if (s->reader != NULL)
        return vrs_open_any_stream(on_read, reading, "(stream)", options, &ret->file, &ret->trace,
                                   err);
    return vrs_open_any_bytes(s->view.buf, (size_t)s->view.len, "(bytes)", options, &ret->file,
                              &ret->trace, err);
}

static enum vrs_status read_source(const struct source *s, struct reading *reading,
                                   const struct vrs_open_options *options, struct opened_what *ret,
                                   struct vrs_error *err)
{
    const char *path = s->path == NULL ? NULL : PyBytes_AsString(s->path);
    reading->saved = PyEval_SaveThread();
    enum vrs_status status = reading->any ? read_any(s, path, reading, options, ret, err)
                                          : read_file(s, path, reading, options, &ret->file, err);
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
    PyObject *module = PyImport_ImportModule("threading"), *chief = NULL, *its = NULL, *own = NULL;
    if (module != NULL)
        chief = PyObject_CallMethod(module, "main_thread", NULL);
    if (chief != NULL)
        its = PyObject_GetAttrString(chief, "ident");
    if (its != NULL)
        own = PyObject_CallMethod(module, "get_ident", NULL);
    bool same = own != NULL && PyObject_RichCompareBool(own, its, Py_EQ) == 1;
    PyErr_Clear(); /* who cannot know has one thread */
    Py_XDECREF(own);
    Py_XDECREF(its);
    Py_XDECREF(chief);
    Py_XDECREF(module);
    return same;
}

/* False with an exception set. */
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

/* None, True for the line of the command, or a callable.  False with an exception set. */
static bool take_progress(PyObject *progress, struct reading *to)
{
    if (progress == Py_None || progress == Py_False)
        return true;
    if (progress == Py_True) {
        to->line = isatty(STDERR_FILENO) == 1;
        return true;
    }
    if (!PyCallable_Check(progress)) {
        PyErr_Format(PyExc_TypeError, "progress is None, True or a callable, not %R",
                     Py_TYPE(progress));
        return false;
    }
    to->progress = progress;
    return true;
}

/* Opens what `given` is; NULL with an exception set. */
static PyObject *open_source(struct core_state *state, PyObject *given, struct reading *reading,
                             const struct vrs_open_options *options)
{
    struct source source = { .path = NULL };
    PyObject *made = NULL;
    if (source_make(given, &source)) {
        struct opened_what what = { .file = NULL };
        struct vrs_error err;
        reading->reader = source.reader;
        reading->into = source.into;
        reading->begun_ms = reading->drawn_ms = now_ms();
        enum vrs_status status = read_source(&source, reading, options, &what, &err);
        if (reading->drawn)
            put_line("\r\033[K", 4);
        /* An exception of a callback is what ended the reading, and wins. */
        if (PyErr_Occurred()) {
            vrs_close(what.file);
            vrs_close_trace(what.trace);
        } else if (status != VRS_OK) {
            raise_error(state, &err, source.shown);
        } else if (what.trace != NULL) {
            made = trace_make(state, what.trace, source.path, source.shown);
        } else {
            made = file_make(state, what.file, source.path, source.shown);
        }
    }
    source_end(&source);
    return made;
}

/* The arguments that open and load share; `ret_entry` NULL: there is none. */
static PyObject *open_with(struct core_state *state, PyObject *args, PyObject *kwargs,
                           const char *words, PyObject **ret_entry)
{
    static const char *const names[] = { "source",  "limits", "progress", "replay",
                                         "threads", "entry",  NULL };
    static const char *const fewer[] = {
        "source", "limits", "progress", "replay", "threads", NULL
    };
    PyObject *given, *limits = Py_None, *progress = Py_None, *threads = Py_None;
    const char *replay = "auto";
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, words,
                                     (char **)SLOT(ret_entry == NULL ? fewer : names), &given,
                                     &limits, &progress, &replay, &threads, ret_entry))
        return NULL;
    struct vrs_limits most = { .size = sizeof most };
    struct reading reading = { .saved = NULL, .any = ret_entry != NULL };
    struct vrs_open_options options = {
        .size = sizeof options,
        .limits = &most,
        .progress = on_progress,
        .progress_arg = &reading,
    };
    if (!take_replay(state, replay, &options) || !take_threads(threads, &options) ||
        !take_progress(progress, &reading) ||
        (limits != Py_None && !take_limits(state, limits, &most)))
        return NULL;
    return open_source(state, given, &reading, &options);
}

PyObject *core_open(PyObject *module, PyObject *args, PyObject *kwargs)
{
    return open_with(core_state_of(module), args, kwargs, "O|$OOsO:open", NULL);
}

/* Raises Error that lists the entries of a file; returns NULL. */
static PyObject *raise_entries(struct core_state *state, PyObject *file)
{
    PyObject *names = PyObject_GetAttrString(file, "names");
    PyObject *all =
        names == NULL ? NULL
                      : PyUnicode_FromFormat(PySequence_Size(file) == 1
                                                 ? "this file has one recording, leave entry out: "
                                                   "it is called %A"
                                                 : "entry has to be one of the names in this file: "
                                                   "%A",
                                             names);
    PyObject *bytes = all == NULL ? NULL : PyUnicode_AsUTF8String(all);
    if (bytes != NULL)
        raise_usage(state, PyBytes_AsString(bytes));
    Py_XDECREF(bytes);
    Py_XDECREF(all);
    Py_XDECREF(names);
    return NULL;
}

/* The one recording of a file, or of several the entry that is asked for. */
static PyObject *entry_of(struct core_state *state, PyObject *file, PyObject *entry)
{
    Py_ssize_t count = PySequence_Size(file);
    if (count < 0)
        return NULL;
    if (entry == Py_None)
        return count == 1 ? PySequence_GetItem(file, 0) : raise_entries(state, file);
    if (PyLong_Check(entry)) {
        Py_ssize_t i = PyLong_AsSsize_t(entry);
        return PyErr_Occurred() ? NULL : PySequence_GetItem(file, i);
    }
    PyObject *names = PyObject_GetAttrString(file, "names");
    int there = names == NULL ? -1 : PySequence_Contains(names, entry);
    PyObject *made = NULL;
    if (there == 1)
        made = PySequence_GetItem(file, PySequence_Index(names, entry));
    else if (there == 0)
        raise_entries(state, file);
    Py_XDECREF(names);
    return made;
}

PyObject *core_load(PyObject *module, PyObject *args, PyObject *kwargs)
{
    struct core_state *state = core_state_of(module);
    PyObject *entry = Py_None;
    PyObject *file = open_with(state, args, kwargs, "O|$OOsOO:load", &entry);
    PyObject *made = NULL;
    if (file != NULL && Py_TYPE(file) == state->trace) {
        if (entry == Py_None)
            return file;
        raise_usage(state, "a trace of the profiler has no entries: leave entry out");
    } else if (file != NULL) {
        made = entry_of(state, file, entry);
    }
    Py_XDECREF(file);
    return made;
}
