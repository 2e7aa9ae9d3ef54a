/* ask.c - the questions about a recording: keywords into the options of the core, by tables. */
#include "core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vramscope/snapshot.h"
#include "vramscope/vramscope.h"

enum kind {
    TEXT,   /* str, or None */
    MOMENT, /* str or int, or None */
    PATH,   /* str, bytes or os.PathLike, or None */
    FLAG,   /* of any truth */
    SIZE,   /* int, or a text that vrs_size reads; None: 0 */
    PLUS,   /* int from 0, or None: one more, 0 for None */
    COUNT,  /* uint32_t */
    TEXTS   /* iterable of str, into a pointer and a count */
};

struct option {
    const char *name;
    enum kind kind;
    size_t offset, count_offset;
};

typedef enum vrs_status (*asking)(const struct vrs_recording *a, const struct vrs_recording *b,
                                  const void *options, struct vrs_result **ret,
                                  struct vrs_error *err);

struct question {
    const char *name;
    asking ask;
    const struct option *option; /* ended by a name of NULL */
    size_t about, threads;       /* in the options; 0: there is no `threads` */
    bool of_two;                 /* the first argument is another recording */
};

/* One call: what its options point to is kept until it is over. */
struct call {
    struct core_state *state;
    const struct question *question;
    PyObject *kept; /* list */
    char *options;
};

/* False with an exception set; takes the reference over. */
static bool keep(struct call *c, PyObject *object)
{
    bool ok = object != NULL && PyList_Append(c->kept, object) == 0;
    Py_XDECREF(object);
    return ok;
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
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) {
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

/* Pointers live in a bytes object, which is kept as the texts are. */
static bool texts_of(struct call *c, PyObject *value, const struct option *o)
{
    if (PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s is a list of str, not one", o->name);
        return false;
    }
    PyObject *list = PySequence_List(value);
    if (!keep(c, list))
        return false;
    Py_ssize_t count = PyList_Size(list);
    PyObject *room =
        PyBytes_FromStringAndSize(NULL, (count + 1) * (Py_ssize_t)sizeof(const char *));
    if (!keep(c, room))
        return false;
    const char **at = (const char **)(void *)PyBytes_AsString(room);
    for (Py_ssize_t i = 0; i < count; i++) {
        at[i] = text_of(c, PyList_GetItem(list, i), o->name);
        if (at[i] == NULL)
            return false;
    }
    uint32_t texts = (uint32_t)count;
    memcpy(c->options + o->offset, &at, sizeof at);
    memcpy(c->options + o->count_offset, &texts, sizeof texts);
    return true;
}

/* False with an exception set. */
static bool take(struct call *c, const struct option *o, PyObject *value)
{
    void *to = c->options + o->offset;
    const char *text = NULL;
    uint64_t n = 0;
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
        text = o->kind == TEXT     ? text_of(c, value, o->name)
               : o->kind == MOMENT ? moment_of(c, value, o->name)
                                   : path_of(c, value);
        memcpy(to, &text, sizeof text);
        return text != NULL;
    case SIZE:
        if (!size_of(c, value, o->name, &n))
            return false;
        memcpy(to, &n, sizeof n);
        return true;
    case PLUS:
        n = PyLong_AsUnsignedLongLong(value);
        if (PyErr_Occurred())
            return false;
        if (n >= INT64_MAX) {
            PyErr_Format(PyExc_OverflowError, "%s is too large", o->name);
            return false;
        }
        n++;
        memcpy(to, &n, sizeof n);
        return true;
    case COUNT: {
        n = PyLong_AsUnsignedLong(value);
        uint32_t count = (uint32_t)n;
        if (!PyErr_Occurred() && n > UINT32_MAX)
            PyErr_Format(PyExc_OverflowError, "%s is too large", o->name);
        memcpy(to, &count, sizeof count);
        return !PyErr_Occurred();
    }
    case TEXTS:
        return texts_of(c, value, o);
    case FLAG:
        break;
    }
    return true;
}

/* What every question takes. */
static const struct option about_options[] = {
    { "path", PATH, offsetof(struct vrs_about, path), 0 },
    { "user_root", PATH, offsetof(struct vrs_about, user_root), 0 },
    { "library", TEXT, offsetof(struct vrs_about, library), 0 },
    { NULL, TEXT, 0, 0 },
};

static const struct option *find_option(const struct option *o, PyObject *name)
{
    while (o->name != NULL && PyUnicode_CompareWithASCIIString(name, o->name) != 0)
        o++;
    return o->name == NULL ? NULL : o;
}

static bool take_keyword(struct call *c, PyObject *name, PyObject *value)
{
    const struct option *o = find_option(about_options, name);
    if (o != NULL) {
        struct option in_about = *o;
        in_about.offset += c->question->about;
        return take(c, &in_about, value);
    }
    if (PyUnicode_CompareWithASCIIString(name, "device") == 0) {
        struct vrs_device device = { 0 };
        if (value != Py_None && !device_of(c, value, &device))
            return false;
        memcpy(c->options + c->question->about + offsetof(struct vrs_about, device), &device,
               sizeof device);
        return true;
    }
    o = find_option(c->question->option, name);
    if (o == NULL) {
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R",
                     c->question->name, name);
        return false;
    }
    return take(c, o, value);
}

static bool take_keywords(struct call *c, PyObject *kwargs)
{
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (kwargs != NULL && PyDict_Next(kwargs, &at, &name, &value) != 0)
        if (!take_keyword(c, name, value))
            return false;
    if (c->question->threads != 0) {
        uint32_t threads;
        memcpy(&threads, c->options + c->question->threads, sizeof threads);
        threads = threads == 0 && !on_main_thread() ? 1 : threads;
        memcpy(c->options + c->question->threads, &threads, sizeof threads);
    }
    return true;
}

/* The recordings that are asked about, in use. */
struct subjects {
    const struct vrs_recording *a, *b;
    struct opened *of_a, *of_b;
};

static bool subjects_use(struct call *c, PyObject *self, PyObject *args, struct subjects *ret)
{
    Py_ssize_t wanted = c->question->of_two ? 1 : 0;
    *ret = (struct subjects){ .a = NULL };
    if (PyTuple_Size(args) != wanted) {
        PyErr_Format(PyExc_TypeError, "%s() takes %s; all else by keyword", c->question->name,
                     wanted == 1 ? "another recording" : "no positional argument");
        return false;
    }
    PyObject *other = wanted == 1 ? PyTuple_GetItem(args, 0) : NULL;
    if (other != NULL && !is_recording(c->state, other)) {
        PyErr_Format(PyExc_TypeError, "%s() takes a Recording, not %R", c->question->name,
                     Py_TYPE(other));
        return false;
    }
    ret->a = recording_use(self, &ret->of_a);
    if (ret->a != NULL && other != NULL)
        ret->b = recording_use(other, &ret->of_b);
    return ret->a != NULL && (other == NULL || ret->b != NULL);
}

static void subjects_leave(struct subjects *s)
{
    if (s->a != NULL)
        opened_leave(s->of_a);
    if (s->b != NULL)
        opened_leave(s->of_b);
}

static PyObject *ask(PyObject *self, PyObject *args, PyObject *kwargs, void *options,
                     const struct question *question)
{
    struct call c = {
        .state = core_state_of_type(Py_TYPE(self)),
        .question = question,
        .kept = PyList_New(0),
        .options = options,
    };
    struct subjects subjects = { .a = NULL };
    struct vrs_result *result = NULL;
    PyObject *made = NULL;
    if (c.kept != NULL && c.state != NULL && take_keywords(&c, kwargs) &&
        subjects_use(&c, self, args, &subjects)) {
        struct vrs_error err;
        PyThreadState *saved = PyEval_SaveThread();
        enum vrs_status status = question->ask(subjects.a, subjects.b, options, &result, &err);
        PyEval_RestoreThread(saved);
        struct vrs_device device;
        memcpy(&device, c.options + question->about + offsetof(struct vrs_about, device),
               sizeof device);
        if (status != VRS_OK)
            raise_error(c.state, &err, NULL);
        else if (PyErr_CheckSignals() != 0)
            vrs_result_free(result);
        else
            made = answer_make(c.state, result, device.plus_one);
    }
    subjects_leave(&subjects);
    Py_XDECREF(c.kept);
    return made;
}

/* The method of one question; `rest` are further members of struct question. */
#define ASK(verb, ...)                                                                             \
    static enum vrs_status call_##verb(const struct vrs_recording *a,                              \
                                       const struct vrs_recording *b, const void *options,         \
                                       struct vrs_result **ret, struct vrs_error *err)             \
    {                                                                                              \
        (void)b;                                                                                   \
        return vrs_##verb(a, options, ret, err);                                                   \
    }                                                                                              \
    ASK_BY(verb, __VA_ARGS__)

#define ASK_BY(verb, ...)                                                                          \
    PyObject *ask_##verb(PyObject *self, PyObject *args, PyObject *kwargs)                         \
    {                                                                                              \
        static const struct question question = { .name = #verb,                                   \
                                                  .ask = call_##verb,                              \
                                                  .option = verb##_options,                        \
                                                  .about = offsetof(struct vrs_##verb##_options,   \
                                                                    about),                        \
                                                  __VA_ARGS__ };                                   \
        struct vrs_##verb##_options options = { .size = sizeof options };                          \
        return ask(self, args, kwargs, &options, &question);                                       \
    }

#define IN(verb, member) offsetof(struct vrs_##verb##_options, member)
#define END                                                                                        \
    {                                                                                              \
        NULL, TEXT, 0, 0                                                                           \
    }
#define SIGNATURE(verb, options)                                                                   \
#verb "($self, /, *, " options "path=None, user_root=None, library=None, device=None)\n--\n\n"
#define ABOUT                                                                                      \
    "\n\npath: shown as the file's name. user_root: frames under this folder are the user's own."  \
    " library: frames whose path matches this glob are not. device: a number or \"cuda:N\"; None:" \
    " all. Raises Error."

static const struct option report_options[] = {
    { "timeline", FLAG, IN(report, timeline), 0 },
    { "quick", FLAG, IN(report, quick), 0 },
    { "trust", FLAG, IN(report, trust), 0 },
    { "part", FLAG, IN(report, part), 0 },
    { "rank", PLUS, IN(report, rank), 0 },
    { "one_clock", FLAG, IN(report, one_clock), 0 },
    { "peer_oom_us", PLUS, IN(report, peer_oom_us), 0 },
    { "curve", FLAG, IN(report, curve), 0 },
    END,
};
const char ask_report_doc[] =
    SIGNATURE(report,
              "timeline=False, quick=False, trust=False, part=False, rank=None, one_clock=False, "
              "peer_oom_us=None, curve=False, ") "What it is, how far it can be trusted, its peak "
                                                 "and what to do: `vramscope report`." ABOUT;
ASK(report, .of_two = false)

static const struct option peak_options[] = {
    { "at", MOMENT, IN(peak, at), 0 },
    { "by", TEXT, IN(peak, by), 0 },
    { "key", TEXT, IN(peak, key), 0 },
    { "categories", FLAG, IN(peak, categories), 0 },
    END,
};
const char ask_peak_doc[] = SIGNATURE(
    peak, "at=None, by=None, key=None, categories=False, ") "Who held the memory at one moment, in "
                                                            "bytes requested: `vramscope "
                                                            "peak`.\n\nat: an event's number, "
                                                            "\"start\", \"end\", \"peak\", "
                                                            "\"oom\", \"12.5s\", \"step:k\"." ABOUT;
ASK(peak, .of_two = false)

static const struct option oom_options[] = {
    { "message", TEXT, IN(oom, message), 0 },
    { "capacity", SIZE, IN(oom, capacity_bytes), 0 },
    END,
};
const char ask_oom_doc[] = SIGNATURE(
    oom,
    "message=None, capacity=None, ") "Why a request for memory failed: `vramscope oom`. verdict: "
                                     "whether one did.\n\nmessage: the text of the error. "
                                     "capacity: of the card, in bytes or as \"24GiB\"." ABOUT;
ASK(oom, .of_two = false)

static const struct option leaks_options[] = {
    { "capacity", SIZE, IN(leaks, capacity_bytes), 0 },
    END,
};
const char ask_leaks_doc[] =
    SIGNATURE(leaks, "capacity=None, ") "What grows from step to step: `vramscope leaks`." ABOUT;
ASK(leaks, .of_two = false)

static const struct option steps_options[] = { END };
const char ask_steps_doc[] =
    SIGNATURE(steps, "") "Where steps begin, their phases and peaks: `vramscope steps`." ABOUT;
ASK(steps, .of_two = false)

static const struct option fragments_options[] = {
    { "at", MOMENT, IN(fragments, at), 0 },
    { "all_metrics", FLAG, IN(fragments, all_metrics), 0 },
    END,
};
const char ask_fragments_doc[] = SIGNATURE(
    fragments, "at=None, all_metrics=False, ") "Reserved memory that can be neither used nor "
                                               "returned: `vramscope fragments`." ABOUT;
ASK(fragments, .of_two = false)

static const struct option categories_options[] = {
    { "at", MOMENT, IN(categories, at), 0 },
    { "rules", TEXT, IN(categories, rules), 0 },
    { "rules_name", TEXT, IN(categories, rules_name), 0 },
    END,
};
const char ask_categories_doc[] = SIGNATURE(
    categories,
    "at=None, rules=None, rules_name=None, ") "Parameters, gradients, optimizer state, "
                                              "activations: `vramscope categories`.\n\nrules: the "
                                              "text of a rule file, asked before the built-in "
                                              "ones." ABOUT;
ASK(categories, .of_two = false)

static const struct option advise_options[] = {
    { "waste", FLAG, IN(advise, waste), 0 },
    { "explain_silent", FLAG, IN(advise, explain_silent), 0 },
    { "capacity", SIZE, IN(advise, capacity_bytes), 0 },
    END,
};
const char ask_advise_doc[] = SIGNATURE(
    advise,
    "waste=False, explain_silent=False, capacity=None, ") "What to change, with the bytes it "
                                                          "frees: `vramscope advise`." ABOUT;
ASK(advise, .of_two = false)

static const struct option replay_options[] = {
    { "set", TEXTS, IN(replay, set), IN(replay, sets) },
    { "capacity", SIZE, IN(replay, capacity_bytes), 0 },
    { "sweep", FLAG, IN(replay, sweep), 0 },
    { "smallest", FLAG, IN(replay, smallest), 0 },
    { "drop", TEXTS, IN(replay, drop), IN(replay, drops) },
    { "scale", TEXTS, IN(replay, scale), IN(replay, scales) },
    { "free_early", TEXTS, IN(replay, free_early), IN(replay, free_earlies) },
    { "anyway", FLAG, IN(replay, anyway), 0 },
    { "keep_run", FLAG, IN(replay, keep_run), 0 },
    { "threads", COUNT, IN(replay, threads), 0 },
    END,
};
const char ask_replay_doc[] = SIGNATURE(
    replay,
    "set=(), capacity=None, sweep=False, smallest=False, drop=(), scale=(), free_early=(), "
    "anyway=False, keep_run=False, threads=None, ") "Whether the allocator's model reproduces it, "
                                                    "and what else would have happened: `vramscope "
                                                    "replay`." ABOUT;
ASK(replay, .threads = IN(replay, threads))

static const struct option diff_options[] = {
    { "b_path", PATH, IN(diff, b_path), 0 },
    { "at", MOMENT, IN(diff, at), 0 },
    { "to", MOMENT, IN(diff, to), 0 },
    { "weight", TEXT, IN(diff, weight), 0 },
    { "key", TEXT, IN(diff, key), 0 },
    { "per", TEXT, IN(diff, per), 0 },
    { "by", TEXT, IN(diff, by), 0 },
    { "threads", COUNT, IN(diff, threads), 0 },
    END,
};
const char ask_diff_doc[] =
    "diff($self, other, /, *, at=None, to=None, weight=None, key=None, per=None, by=None, "
    "threads=None, b_path=None, path=None, user_root=None, library=None, device=None)\n--\n\n"
    "What changed from this recording to another: `vramscope diff`." ABOUT;
static enum vrs_status call_diff(const struct vrs_recording *a, const struct vrs_recording *b,
                                 const void *options, struct vrs_result **ret,
                                 struct vrs_error *err)
{
    return vrs_diff(a, b, options, ret, err);
}
ASK_BY(diff, .threads = IN(diff, threads), .of_two = true)
