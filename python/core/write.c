/* write.c - what is made of recordings: pages, pictures, other formats; to memory or to a file. */
#include "core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "sink.h"
#include "vramscope/snapshot.h"
#include "vramscope/vramscope.h"

/* The frame of each call begins so. */
struct output_frame {
    PyObject *path; /* borrowed; NULL: bytes are wanted */
    struct sink sink;
};

struct writer {
    enum vrs_status (*write)(void *frame, struct vrs_error *err);
};

/* Writes with the frame that the arguments filled; NULL with an exception set. */
static PyObject *write_out(struct call *c, struct output_frame *out, const struct writer *w)
{
    struct vrs_error err;
    if (!sink_begin(&out->sink, c->state, out->path, c->used, c->uses))
        return NULL;
    PyThreadState *saved = PyEval_SaveThread();
    enum vrs_status status = w->write(out, &err);
    PyEval_RestoreThread(saved);
    return sink_end(&out->sink, status, &err);
}

/* Pages. */

struct view_frame {
    struct output_frame out;
    struct vrs_view_options options;
    const struct vrs_recording *const *recording;
    uint32_t recordings;
};

#define IN_VIEW(member) offsetof(struct view_frame, options.member)
#define VIEW_OPTIONS                                                                               \
    { "path", OUTPUT, offsetof(struct view_frame, out.path), 0 },                                  \
        { "editor", TEXT, IN_VIEW(editor), 0 }, { "editor_path", TEXT, IN_VIEW(editor_path), 0 },  \
        { "most_bytes", SIZE, IN_VIEW(most_bytes), 0 }, { "start", MOMENT, IN_VIEW(from), 0 },     \
        { "end", MOMENT, IN_VIEW(to), 0 }, { "may_be_larger", FLAG, IN_VIEW(may_be_larger), 0 },   \
        { "user_root", PATH, IN_VIEW(user_root), 0 }, { "library", TEXT, IN_VIEW(library), 0 },    \
        { "device", DEVICE, IN_VIEW(device), 0 }, OPTIONS_END

static enum vrs_status page(void *frame, struct vrs_error *err)
{
    struct view_frame *f = frame;
    f->options.note = notes_take;
    f->options.note_arg = &f->out.sink.notes;
    return vrs_view(f->recording, f->recordings, &f->options, &f->out.sink.sink, err);
}

static const struct writer page_writer = { page };

PyObject *write_view(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const struct option options[] = { VIEW_OPTIONS };
    static const struct signature signature = { "view", options, 0, 1, false };
    struct view_frame f = { .options = { .size = sizeof f.options }, .recordings = 1 };
    const struct vrs_recording *recording = NULL;
    struct call c;
    PyObject *made = NULL;
    f.recording = &recording;
    if (arguments_take(&c, core_state_of_type(Py_TYPE(self)), &f, &signature, args, kwargs) &&
        arguments_use(&c, self, &recording))
        made = write_out(&c, &f.out, &page_writer);
    arguments_end(&c);
    return made;
}

PyObject *core_view(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static const struct option options[] = {
        { "recordings", RECORDINGS, offsetof(struct view_frame, recording),
          offsetof(struct view_frame, recordings) },
        VIEW_OPTIONS,
    };
    static const struct signature signature = { "view", options, 1, 2, false };
    struct view_frame f = { .options = { .size = sizeof f.options } };
    struct call c;
    PyObject *made = NULL;
    if (arguments_take(&c, core_state_of(module), &f, &signature, args, kwargs)) {
        if (f.recordings == 0)
            raise_usage(c.state, "a page is made of at least one recording");
        else
            made = write_out(&c, &f.out, &page_writer);
    }
    arguments_end(&c);
    return made;
}

/* Pictures. */

struct picture_frame {
    struct output_frame out;
    struct vrs_picture_options options;
    const struct vrs_recording *recording;
};

#define IN_PICTURE(member) offsetof(struct picture_frame, options.member)
#define ABOUT_WRITTEN(frame)                                                                       \
    { "user_root", PATH, offsetof(struct frame, options.about.user_root), 0 },                     \
        { "library", TEXT, offsetof(struct frame, options.about.library), 0 },                     \
        { "device", DEVICE, offsetof(struct frame, options.about.device), 0 }, OPTIONS_END

static const struct option picture_options[] = {
    { "path", OUTPUT, offsetof(struct picture_frame, out.path), 0 },
    { "format", FORMAT, IN_PICTURE(format), 0 },
    { "view", TEXT, IN_PICTURE(view), 0 },
    { "by", TEXT, IN_PICTURE(by), 0 },
    { "at", MOMENT, IN_PICTURE(at), 0 },
    { "start", MOMENT, IN_PICTURE(from), 0 },
    { "end", MOMENT, IN_PICTURE(to), 0 },
    { "width", COUNT, IN_PICTURE(width), 0 },
    { "height", COUNT, IN_PICTURE(height), 0 },
    { "dark", FLAG, IN_PICTURE(dark), 0 },
    { "detail", FLAG, IN_PICTURE(detail), 0 },
    { "capacity", SIZE, IN_PICTURE(capacity_bytes), 0 },
    ABOUT_WRITTEN(picture_frame),
};

static enum vrs_status picture(void *frame, struct vrs_error *err)
{
    struct picture_frame *f = frame;
    return vrs_picture(f->recording, &f->options, &f->out.sink.sink, err);
}

PyObject *write_picture(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const struct signature signature = { "picture", picture_options, 0, 1, false };
    static const struct writer writer = { picture };
    struct picture_frame f = { .options = { .size = sizeof f.options } };
    struct call c;
    PyObject *made = NULL;
    if (arguments_take(&c, core_state_of_type(Py_TYPE(self)), &f, &signature, args, kwargs) &&
        arguments_use(&c, self, &f.recording))
        made = write_out(&c, &f.out, &writer);
    arguments_end(&c);
    return made;
}

/* Other formats. */

struct export_frame {
    struct output_frame out;
    struct vrs_export_options options;
    const struct vrs_recording *recording;
};

#define IN_EXPORT(member) offsetof(struct export_frame, options.member)

static const struct option export_options[] = {
    { "to", TEXT, IN_EXPORT(to), 0 },
    { "path", OUTPUT, offsetof(struct export_frame, out.path), 0 },
    { "table", TABLES, IN_EXPORT(table), IN_EXPORT(tables) },
    { "at", MOMENT, IN_EXPORT(at), 0 },
    { "weight", TEXT, IN_EXPORT(weight), 0 },
    { "inverse", FLAG, IN_EXPORT(inverse), 0 },
    { "rules", TEXT, IN_EXPORT(rules), 0 },
    { "rules_name", TEXT, IN_EXPORT(rules_name), 0 },
    ABOUT_WRITTEN(export_frame),
};

static enum vrs_status export(void *frame, struct vrs_error *err) {
    struct export_frame *f = frame; f->options.note = notes_take;
    f->options.note_arg = &f->out.sink.notes;
    if (strcmp(f->options.to, "sqlite") == 0) f->options.database = sink_file(&f->out.sink);
    return vrs_export(f->recording, &f->options, &f->out.sink.sink, err);
}

/* A database is no stream of bytes.  False with an exception set. */
static bool has_room(const struct call *c, const struct export_frame *f)
{
    if (f->options.to == NULL)
        PyErr_SetString(PyExc_TypeError, "to is a str, not None");
    else if (strcmp(f->options.to, "sqlite") == 0 && f->out.path == NULL)
        raise_usage(c->state, "sqlite is written to a file: name one with path");
    return !PyErr_Occurred();
}

PyObject *write_export(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const struct signature signature = { "export", export_options, 1, 2, false };
    static const struct writer writer = { export };
    struct export_frame f = { .options = { .size = sizeof f.options } };
    struct call c;
    PyObject *made = NULL;
    if (arguments_take(&c, core_state_of_type(Py_TYPE(self)), &f, &signature, args, kwargs) &&
        has_room(&c, &f) && arguments_use(&c, self, &f.recording))
        made = write_out(&c, &f.out, &writer);
    arguments_end(&c);
    return made;
}

/* Of results. */

struct snapshot_frame {
    struct output_frame out;
    struct opened *answered;
};

static enum vrs_status snapshot(void *frame, struct vrs_error *err)
{
    struct snapshot_frame *f = frame;
    struct vrs_write_options options = { .size = sizeof options, .format = VRS_SNAPSHOT };
    return vrs_write(f->answered->result, &options, &f->out.sink.sink, err);
}

PyObject *result_snapshot(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const struct option options[] = {
        { "path", OUTPUT, offsetof(struct snapshot_frame, out.path), 0 },
        OPTIONS_END,
    };
    static const struct signature signature = { "snapshot", options, 0, 1, false };
    static const struct writer writer = { snapshot };
    struct snapshot_frame f = { .answered = NULL };
    struct call c;
    PyObject *made = NULL;
    if (arguments_take(&c, core_state_of_type(Py_TYPE(self)), &f, &signature, args, kwargs) &&
        (f.answered = result_use(self)) != NULL) {
        made = write_out(&c, &f.out, &writer);
        result_leave(f.answered);
    }
    arguments_end(&c);
    return made;
}

/* The page of a set. */

struct index_frame {
    struct output_frame out;
    struct opened *answered;
    struct vrs_index_options options;
};

static enum vrs_status index_page(void *frame, struct vrs_error *err)
{
    struct index_frame *f = frame;
    return vrs_index(f->answered->result, &f->options, &f->out.sink.sink, err);
}

static int by_path(const void *a, const void *b)
{
    const struct vrs_index_file *x = a, *y = b;
    return strcmp(x->path, y->path);
}

/* Text without NULs that lives as long as `kept`; NULL for None, or with an exception set. */
static const char *kept_text(PyObject *kept, PyObject *value)
{
    char *text = NULL;
    if (value == Py_None)
        return NULL;
    PyObject *bytes = PyUnicode_Check(value)
                          ? PyUnicode_AsEncodedString(value, "utf-8", "surrogateescape")
                          : NULL;
    if (bytes == NULL && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError,
                     "a file is its path, the address of its page or None, and its "
                     "failure or None; not %R",
                     Py_TYPE(value));
    if (bytes == NULL || PyList_Append(kept, bytes) != 0 ||
        PyBytes_AsStringAndSize(bytes, &text, NULL) != 0)
        text = NULL;
    Py_XDECREF(bytes);
    return text;
}

/* (path, href, failure), the last two of which may be missing.  False with an exception set. */
static bool index_file(PyObject *kept, PyObject *given, struct vrs_index_file *ret)
{
    PyObject *path, *href = Py_None, *failure = Py_None;
    PyObject *of = PyUnicode_Check(given) ? Py_BuildValue("(O)", given) : PySequence_Tuple(given);
    if (of == NULL)
        return false;
    if (PyArg_ParseTuple(of, "U|OO", &path, &href, &failure)) {
        ret->path = kept_text(kept, path);
        ret->href = kept_text(kept, href);
        ret->failure = kept_text(kept, failure);
    }
    Py_DECREF(of);
    return !PyErr_Occurred();
}

static PyObject *index_of(struct core_state *state, PyObject *result, PyObject *path,
                          PyObject *list, PyObject *kept)
{
    static const struct writer writer = { index_page };
    Py_ssize_t count = PyList_Size(list);
    struct index_frame f = { .out.path = path == Py_None ? NULL : path,
                             .options = { .size = sizeof f.options, .files = (uint32_t)count } };
    struct vrs_index_file *file = PyMem_Calloc((size_t)count + 1, sizeof *file);
    struct call c = { .state = state };
    PyObject *made = NULL;
    if (file == NULL)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; !PyErr_Occurred() && i < count; i++)
        (void)index_file(kept, PyList_GetItem(list, i), &file[i]);
    if (!PyErr_Occurred() && count == 0)
        raise_usage(state, "an index has at least one file");
    if (!PyErr_Occurred()) {
        qsort(file, (size_t)count, sizeof *file, by_path);
        f.options.file = file;
        f.answered = result_use(result);
    }
    if (f.answered != NULL) {
        made = write_out(&c, &f.out, &writer);
        result_leave(f.answered);
    }
    PyMem_Free(file);
    return made;
}

PyObject *core_index(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = { "result", "path", "files", NULL };
    struct core_state *state = core_state_of(module);
    PyObject *result, *path, *files;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OO:index", (char **)SLOT(names),
                                     state->result, &result, &path, &files))
        return NULL;
    PyObject *list = PySequence_List(files), *kept = list == NULL ? NULL : PyList_New(0);
    PyObject *made = kept == NULL ? NULL : index_of(state, result, path, list, kept);
    Py_XDECREF(kept);
    Py_XDECREF(list);
    return made;
}

/* For notebooks. */

PyObject *picture_of(struct core_state *state, const struct drawn *about)
{
    struct picture_frame f = {
        .options = { .size = sizeof f.options, .about.device = { about->device } },
        .recording = about->recording,
    };
    struct vrs_error err = { .status = VRS_UNSUPPORTED };
    if (about->opened == NULL || !opened_use_again(about->opened))
        return PyUnicode_FromString("");
    (void)sink_begin(&f.out.sink, state, NULL, NULL, 0);
    PyThreadState *saved = PyEval_SaveThread();
    enum vrs_status status = picture(&f, &err);
    PyEval_RestoreThread(saved);
    opened_leave(about->opened);
    PyObject *made = sink_end_text(&f.out.sink, status, &err);
    /* Without a trace there is nothing to draw. */
    if (made == NULL && status == VRS_UNSUPPORTED && PyErr_ExceptionMatches(state->error)) {
        PyErr_Clear();
        made = PyUnicode_FromString("");
    }
    return made;
}

PyObject *page_of(PyObject *text, PyObject *picture)
{
    PyObject *html =
        text == NULL || picture == NULL ? NULL : PyImport_ImportModule("vramscope.html");
    PyObject *made = html == NULL ? NULL : PyObject_CallMethod(html, "page", "OO", text, picture);
    Py_XDECREF(html);
    Py_XDECREF(picture);
    Py_XDECREF(text);
    return made;
}

PyObject *recording_html(PyObject *self, PyObject *unused)
{
    struct drawn about = { .opened = NULL };
    (void)unused;
    about.recording = recording_use(self, &about.opened);
    if (about.recording == NULL)
        PyErr_Clear(); /* closed: its name alone */
    PyObject *picture = picture_of(core_state_of_type(Py_TYPE(self)), &about);
    if (about.recording != NULL)
        opened_leave(about.opened);
    return page_of(picture == NULL ? NULL : PyObject_Repr(self), picture);
}
