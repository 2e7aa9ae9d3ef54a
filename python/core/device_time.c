/* device_time.c - the device's time of scopes, between pairs of events that it comes to later.
 *
 * A pair is asked when somebody wants to know, and is never waited for.  The profiler has those
 * that are pending, oldest first and at most PENDING_MOST, and they alone have their events.  Any
 * call of an event may run other threads, which may end the pair meanwhile. */
#include "meter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramscope/profiler.h"

enum { PENDING_MOST = 1024, NS_PER_MS = 1000000, ASKED_BEFORE = 2 };
#define MS_MOST 1e13 /* 317 years: what an interval does not last */

struct timing {
    struct timing *next;         /* the one that was left after it */
    PyObject *begin, *end;       /* while it is pending */
    struct vrs_scope_result row; /* as told */
    uint32_t holders;
    bool pending;
};

void timing_leave(struct timing *t)
{
    if (t != NULL && --t->holders == 0)
        PyMem_Free(t);
}

static struct timing *hold(struct timing *t)
{
    t->holders++;
    return t;
}

/* Lets go of one that is in no list. */
static void release(struct timing *t)
{
    Py_DECREF(t->begin);
    Py_DECREF(t->end);
    timing_leave(t);
}

/* It is not pending any more, whatever is known. */
static void over(struct timings *all, struct timing *t)
{
    struct timing *before = NULL, *at = all->first;
    while (at != t) {
        before = at;
        at = at->next;
    }
    *(before != NULL ? &before->next : &all->first) = t->next;
    if (all->last == t)
        all->last = before;
    all->count--;
    t->pending = false;
    release(t);
}

/* event.query(): 1 the device has come to it, 0 not yet, -1 with an exception. */
static int is_done(PyObject *event)
{
    PyObject *answer = PyObject_CallMethod(event, "query", NULL);
    int done = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return done;
}

/* Nanoseconds between two events that the device has come to.  False with an exception. */
static bool between(PyObject *begin, PyObject *end, uint64_t *ret)
{
    PyObject *answer = PyObject_CallMethod(begin, "elapsed_time", "O", end);
    double ms = answer == NULL ? -1 : PyFloat_AsDouble(answer);
    Py_XDECREF(answer);
    if (PyErr_Occurred() != NULL)
        return false;
    if (!(ms >= 0 && ms < MS_MOST)) {
        PyErr_SetString(PyExc_ValueError, "the second event was before the first");
        return false;
    }
    *ret = (uint64_t)(ms * NS_PER_MS + 0.5);
    return true;
}

/* Whether it is over: the time is known, or never will be. */
static bool ask(struct profiler_object *p, struct timing *t)
{
    if (!t->pending)
        return true;
    PyObject *begin = Py_NewRef(t->begin), *end = Py_NewRef(t->end);
    uint64_t ns = VRS_UNKNOWN;
    int done = is_done(end);
    if (done > 0)
        done = is_done(begin); /* of another stream it may come later */
    if (done > 0 && !between(begin, end, &ns))
        done = -1;
    if (done < 0)
        exception_drop();
    if (done != 0 && t->pending) {
        if (done > 0)
            (void)vrs_scope_timed(p->profiler, &t->row, ns);
        else
            p->failed++;
        over(&p->timings, t);
    }
    Py_DECREF(begin);
    Py_DECREF(end);
    return !t->pending;
}

struct timing *timing_add(struct profiler_object *p, PyObject *begin, PyObject *end,
                          const struct vrs_scope_result *row)
{
    struct timings *all = &p->timings;
    bool done = true;
    for (int i = 0; i < ASKED_BEFORE && done && all->first != NULL; i++) {
        struct timing *oldest = hold(all->first);
        done = ask(p, oldest);
        timing_leave(oldest);
    }
    struct timing *t = PyMem_Malloc(sizeof *t);
    if (t == NULL) {
        Py_DECREF(begin);
        Py_DECREF(end);
        all->lost++;
        return NULL;
    }
    *t = (struct timing){ .begin = begin, .end = end, .row = *row, .holders = 2, .pending = true };
    *(all->last != NULL ? &all->last->next : &all->first) = t;
    all->last = t;
    if (++all->count > PENDING_MOST) {
        all->lost++;
        over(all, all->first);
    }
    return t;
}

bool timing_told(struct profiler_object *p, struct timing *t, struct vrs_scope_result *ret)
{
    bool told = ask(p, hold(t));
    if (told)
        *ret = t->row;
    timing_leave(t);
    return told;
}

void timings_ask(struct profiler_object *p)
{
    struct timing *pending[PENDING_MOST];
    uint32_t count = 0;
    for (struct timing *t = p->timings.first; t != NULL; t = t->next)
        pending[count++] = hold(t);
    for (uint32_t i = 0; i < count; i++) {
        (void)ask(p, pending[i]);
        timing_leave(pending[i]);
    }
}

int timings_visit(const struct timings *all, visitproc visit, void *arg)
{
    for (const struct timing *t = all->first; t != NULL; t = t->next) {
        Py_VISIT(t->begin);
        Py_VISIT(t->end);
    }
    return 0;
}

void timings_drop(struct timings *all)
{
    struct timing *first = all->first, *next;
    *all = (struct timings){ .lost = all->lost };
    for (struct timing *t = first; t != NULL; t = t->next)
        t->pending = false; /* all of them, before an event's end runs what others have */
    for (struct timing *t = first; t != NULL; t = next) {
        next = t->next;
        release(t);
    }
}
