/* core.h - what the files of the extension share: its state, its classes, and how they fail. */
#ifndef VRAMSCOPE_PYTHON_CORE_H
#define VRAMSCOPE_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "vramscope/snapshot.h"
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
    PyTypeObject *file, *recording, *column, *result;
    PyObject *error; /* class Error */
    PyObject *loads; /* of the standard json */

    /* Of the measuring half: meter.h. */
    PyTypeObject *backend, *profiler, *scope, *entry, *record, *scope_result;
    PyObject *innermost_get, *innermost_set; /* of the context variable that has the open scope */
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

/* What was opened, and who needs it: the file, its recordings while a call runs, and columns with
 * all their views.  The last one closes it. */
struct opened {
    struct vrs_file *file;
    atomic_size_t users, columns;
};
struct opened *opened_use(struct opened *o);
void opened_leave(struct opened *o);

/* Raises Error for what a call of the core failed with; `path` may be NULL.  Returns NULL. */
PyObject *raise_error(struct core_state *state, const struct vrs_error *why, PyObject *path);
/* The same for a mistake of the caller, with a text of ours. */
PyObject *raise_usage(struct core_state *state, const char *text);

/* file.c */
extern PyType_Spec file_spec, recording_spec;
PyObject *opened_from(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *file_only(PyObject *module, PyObject *args);

/* A recording for a call: NULL with ValueError set where it is closed.  Leave `*ret_opened` after
 * it. */
const struct vrs_recording *recording_use(PyObject *recording, struct opened **ret_opened);
bool is_recording(struct core_state *state, PyObject *object);

/* column.c */
extern PyType_Spec column_spec;
/* Takes one user of `opened` over, whatever comes. */
PyObject *column_make(struct core_state *state, struct opened *opened, const char *name,
                      const struct vrs_span *span);

/* result.c */
extern PyType_Spec result_spec;
/* Takes the result over, whatever comes; `device` is the one that was asked about, plus 1, or 0. */
PyObject *answer_make(struct core_state *state, struct vrs_result *result, int64_t device);
PyObject *result_merge(PyObject *module, PyObject *results);

/* sim.c */
extern PyType_Spec sim_spec, sim_handle_spec;
struct vrs_sim *sim_of(PyObject *object); /* of an object of class Sim, which keeps it */

/* A pool of Python's threads must not multiply into one of ours for each of its threads. */
bool on_main_thread(void);

/* statistics.c, analyzer.c: private functions of the module. */
extern PyMethodDef statistics_functions[], analyzer_functions[];

/* ask.c: the methods of a recording that ask about it, and their docstrings. */
#define CORE_QUESTIONS(X)                                                                          \
    X(report)                                                                                      \
    X(peak)                                                                                        \
    X(oom)                                                                                         \
    X(leaks)                                                                                       \
    X(steps)                                                                                       \
    X(fragments)                                                                                   \
    X(categories)                                                                                  \
    X(advise)                                                                                      \
    X(replay)                                                                                      \
    X(diff)
#define CORE_QUESTION(name)                                                                        \
    PyObject *ask_##name(PyObject *self, PyObject *args, PyObject *kwargs);                        \
    extern const char ask_##name##_doc[];
CORE_QUESTIONS(CORE_QUESTION)
#undef CORE_QUESTION

#endif
