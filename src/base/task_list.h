/* task_list.h - a task list: the parts of one question, run in parallel.
 *
 * The next thread that is free begins the first of the tasks that may begin, and the list is done
 * when all of them are.  A task may need what those before it leave: it may begin when they are
 * done.  Which thread does a task, and when, must not be seen in what it leaves. */
#ifndef VRS_BASE_TASK_LIST_H
#define VRS_BASE_TASK_LIST_H

#include <stdint.h>

#include "base/fail.h"

struct task_list {
    uint32_t tasks;
    /* Does the i-th.  `thread` is below the number of threads, 0 the caller's: what a thread has of
     * its own can be found by it. */
    enum vrs_status (*task)(void *arg, uint32_t i, uint32_t thread, struct vrs_error *err);
    void *arg;
};

/* Does them on at most `threads` threads, as pool_run.  The error is that of the first in the list
 * that fails; a thread that met one begins no more. */
enum vrs_status task_list_run(uint32_t threads, const struct task_list *list,
                              struct vrs_error *err) MUST_CHECK;

/* The same with needs, as pool_run_needing.  What needs a task that failed or was not begun is not
 * begun; all others are done, so the error is the same on any number of threads. */
enum vrs_status task_list_run_needing(uint32_t threads, const struct task_list *list,
                                      const uint64_t *needs, struct vrs_error *err) MUST_CHECK;

#endif
