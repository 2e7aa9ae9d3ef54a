/* core.h - what the files of the extension share: its state, its classes, and how they fail. */
#ifndef VRAMSCOPE_PYTHON_CORE_H
#define VRAMSCOPE_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "vramscope/snapshot.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

/* What stands in tables of the interpreter, which know neither const nor functions. */
#define SLOT(what) ((void *)(uintptr_t)(what))

/* A path that was asked for by this very str, which is kept so that no other has its place. */
enum { PATHS_KEPT = 512, STATS_LEAVES = 15 };
struct kept_path {
    PyObject *name;
    uint32_t parent, path;
};

/* One for each interpreter; objects hold a pointer to it. */
struct core_state {
    PyTypeObject *file, *recording, *trace, *column, *result;
    PyObject *error, *note; /* classes Error and VramscopeNote */

    /* Of the measuring half: meter.h. */
    PyTypeObject *backend, *profiler, *scope, *entry, *record, *scope_result, *sample;
    PyTypeObject *samples, *sampler, *reading, *tracker;
    struct sampler_object *samplers;         /* that run: the first of a list */
    bool samplers_end;                       /* they are ended at exit */
    PyObject *innermost_get, *innermost_set; /* of the context variable that has the open scope */
    atomic_size_t entries;                   /* that are open, of whatever context */
    PyObject *modules;                       /* sys.modules */
    PyObject *resolve;                       /* says what "auto" means; or NULL */
    uint64_t generation;                     /* of that answer */
    bool without_torch;                      /* it was given before torch was imported */
    struct kept_path paths[PATHS_KEPT];
    struct {
        PyObject *group, *member, *flat;
    } keys[STATS_LEAVES]; /* of torch's statistics */
    PyObject *key_all;
    PyTypeObject *sim, *sim_handle;
    PyObject *sim_out_of_memory; /* class OutOfMemoryError */
};
struct core_state *core_state_of(PyObject *module);
/* NULL with an exception set where the object is of none of our classes. */
struct core_state *core_state_of_type(PyTypeObject *type);

/* What was opened or answered, and who needs it: a file, a trace or a result, recordings while a
 * call runs, and columns with all their views.  The last one frees it. */
struct opened {
    struct vrs_file *file;
    struct vrs_trace *trace;
    struct vrs_result *result;
    PyThread_type_lock lock; /* for what one thread at a time may ask */
    char *path;              /* of the file; or NULL */
    atomic_size_t users, columns;
    atomic_size_t holders; /* of this struct: its users are one together */
};
/* Takes over the one of `what` that is not NULL, whatever comes; NULL with an exception set. */
struct opened_what {
    struct vrs_file *file;
    struct vrs_trace *trace;
    struct vrs_result *result;
};
struct opened *opened_make(struct opened_what what, const char *path);
struct opened *opened_use(struct opened *o);
void opened_leave(struct opened *o);
/* For who asks later whether there are users yet, without being one. */
struct opened *opened_hold(struct opened *o);
void opened_drop(struct opened *o);
/* True with one user more; false where the last one left. */
bool opened_use_again(struct opened *o);
/* Waits without the interpreter's lock. */
void opened_lock(struct opened *o);
void opened_unlock(struct opened *o);

/* failure.c */
/* Raises Error for what a call of the core failed with; `path` may be NULL.  Returns NULL. */
PyObject *raise_error(struct core_state *state, const struct vrs_error *why, PyObject *path);
/* The same of one argument of several, whose name stands in front; NULL: of none. */
PyObject *raise_error_of(struct core_state *state, const struct vrs_error *why, PyObject *path,
                         const char *argument);
/* The same for a mistake of the caller, with a text of ours. */
PyObject *raise_usage(struct core_state *state, const char *text);
/* The other way: of an Error, or of a text, which is of a file that could not be read.  False with
 * an exception set. */
bool error_of(struct core_state *state, PyObject *error, struct vrs_error *ret);

/* open.c */
PyObject *core_open(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_load(PyObject *module, PyObject *args, PyObject *kwargs);
bool on_main_thread(void);

/* file.c */
extern PyType_Spec file_spec, recording_spec;
/* Takes `opened` over, whatever comes; `path` is bytes, `shown` the same as str, or both NULL. */
PyObject *file_make(struct core_state *state, struct vrs_file *opened, PyObject *path,
                    PyObject *shown);
/* A recording for a call: NULL with ValueError set where it is closed.  Leave `*ret_opened` after
 * it. */
const struct vrs_recording *recording_use(PyObject *recording, struct opened **ret_opened);
bool is_recording(struct core_state *state, PyObject *object);
/* A method of collections.abc.Mapping, with what it finds by the object's own names. */
PyObject *mapping_mixin(PyObject *self, const char *method, PyObject *args);
/* For `with`: the object itself. */
PyObject *enter_self(PyObject *self, PyObject *unused);

/* trace.c */
extern PyType_Spec trace_spec;
/* The method on what was measured: a private function of the module. */
PyObject *trace_measured(PyObject *module, PyObject *args);
/* As file_make. */
PyObject *trace_make(struct core_state *state, struct vrs_trace *opened, PyObject *path,
                     PyObject *shown);

/* column.c */
extern PyType_Spec column_spec;
/* Takes one user of `opened` over, whatever comes. */
PyObject *column_make(struct core_state *state, struct opened *opened, const char *name,
                      const struct vrs_span *span);
/* Whether a value of it is not known, which only columns of results tell. */
bool column_has_unknown(PyObject *column);
enum vrs_type column_type(PyObject *column);

/* result.c */
extern PyType_Spec result_spec;
/* What an answer is about: a picture of it is drawn as long as others use it. */
struct drawn {
    struct opened *opened; /* NULL: there is no picture */
    const struct vrs_recording *recording;
    int64_t device; /* plus 1; 0: all */
};
/* Takes the result over, whatever comes; `kind` is the verb. */
PyObject *answer_make(struct core_state *state, struct vrs_result *result, const char *kind,
                      const struct drawn *about);
/* str() of what can be asked for report(): the text of that. */
PyObject *report_str(PyObject *asked);
/* The result for a call, locked: NULL with an exception set.  Unlock and leave it afterwards. */
struct opened *result_use(PyObject *result);
void result_leave(struct opened *o);
/* The names of its columns, while it is in use: a list, borrowed; NULL with an exception set. */
PyObject *result_names(PyObject *result, struct opened *o);
PyObject *result_merge(PyObject *module, PyObject *results);
PyObject *result_unread(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *result_report_run(PyObject *module, PyObject *path);
PyObject *result_kept(PyObject *module, PyObject *args);

/* sim.c */
extern PyType_Spec sim_spec, sim_handle_spec;
struct vrs_sim *sim_of(PyObject *object); /* of an object of class Sim, which keeps it */

/* objects.c */
PyObject *objects_model_size(PyObject *module, PyObject *args);
PyObject *objects_tensors(PyObject *module, PyObject *args);
PyObject *objects_cycles(PyObject *module, PyObject *args);
PyObject *objects_instances(PyObject *module, PyObject *args);
PyObject *objects_growth(PyObject *module, PyObject *args);
PyObject *objects_tensor_bytes(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *objects_step_parts(PyObject *module, PyObject *args);
/* profiler.c: of a recording of steps. */
PyObject *profiler_step_events(PyObject *module, PyObject *args);
PyObject *profiler_expected(PyObject *module, PyObject *args);

/* compare.c */
PyObject *core_compare(PyObject *module, PyObject *args);

/* For O&: a number; UINT64_MAX for None, which is not known. */
int number_into(PyObject *object, void *ret);

/* A pool of Python's threads must not multiply into one of ours for each of its threads. */
bool on_main_thread(void);

/* statistics.c, analyzer.c, chart.c: private functions of the module. */
extern PyMethodDef statistics_functions[], analyzer_functions[], chart_functions[];

/* ask.c: the methods of a recording that ask about it, and their docstrings. */
/* table.c: the lists of an answer as columns. */
PyObject *result_tables(PyObject *self, void *closure);
PyObject *result_table(PyObject *self, PyObject *name);
PyObject *result_to_pandas(PyObject *self, PyObject *name);

/* write.c: pages, pictures and other formats. */
#define CORE_WRITERS(X)                                                                            \
    X(view)                                                                                        \
    X(picture)                                                                                     \
    X(export)
#define CORE_WRITER(name) PyObject *write_##name(PyObject *self, PyObject *args, PyObject *kwargs);
CORE_WRITERS(CORE_WRITER)
#undef CORE_WRITER
PyObject *core_view(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_index(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *result_snapshot(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *recording_html(PyObject *self, PyObject *unused);
/* An SVG as str, "" where nothing can be drawn; NULL with an exception set. */
PyObject *picture_of(struct core_state *state, const struct drawn *about);
/* What notebooks show: a text, under a picture.  Takes both over, which may be NULL. */
PyObject *page_of(PyObject *text, PyObject *picture);

/* ask.c: the methods of a recording that ask about it. */
#define CORE_QUESTIONS(X)                                                                          \
    X(report)                                                                                      \
    X(peak)                                                                                        \
    X(oom)                                                                                         \
    X(leaks)                                                                                       \
    X(steps)                                                                                       \
    X(fragments)                                                                                   \
    X(categories)                                                                                  \
    X(advise)                                                                                      \
    X(check)                                                                                       \
    X(replay)                                                                                      \
    X(what_if)                                                                                     \
    X(diff)
#define CORE_QUESTION(name) PyObject *ask_##name(PyObject *self, PyObject *args, PyObject *kwargs);
CORE_QUESTIONS(CORE_QUESTION)
#undef CORE_QUESTION

#endif
