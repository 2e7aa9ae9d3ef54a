/* task_list.c - tasks as jobs of the pool, and the first of them that failed. */
#include "base/task_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"

/* The failure of the first task in the list among those that one thread did. */
struct outcome {
    enum vrs_status status;
    uint32_t task;
    struct vrs_error error;
};

struct running {
    const struct task_list *list;
    const uint64_t *needs; /* NULL */
    struct outcome of[THREADS_MOST];
    bool undone[POOL_NEEDS_MOST]; /* tasks that failed or were not begun; with needs */
};

/* Whether what a task needs is there. */
static bool has_needs(const struct running *r, uint32_t i)
{
    for (uint32_t needed = 0; needed < i; needed++)
        if ((r->needs[i] >> needed & 1) != 0 && r->undone[needed])
            return false;
    return true;
}

/* Without needs a thread takes tasks in their order, and none behind a failure can be the first.
 * With needs whatever has what it needs is done: which tasks fail does not depend on threads. */
static bool may_begin(const struct running *r, uint32_t i, const struct outcome *own)
{
    return r->needs == NULL ? own->status == VRS_OK : has_needs(r, i);
}

static void do_task(void *arg, uint32_t i, uint32_t thread)
{
    struct running *r = arg;
    struct outcome *own = &r->of[thread];
    struct vrs_error error;
    bool begins = may_begin(r, i, own);
    enum vrs_status status = begins ? r->list->task(r->list->arg, i, thread, &error) : VRS_OK;
    if (status != VRS_OK && (own->status == VRS_OK || i < own->task))
        *own = (struct outcome){ status, i, error };
    if (r->needs != NULL)
        r->undone[i] = !begins || status != VRS_OK;
}

enum vrs_status task_list_run(uint32_t threads, const struct task_list *list, struct vrs_error *err)
{
    return task_list_run_needing(threads, list, NULL, err);
}

enum vrs_status task_list_run_needing(uint32_t threads, const struct task_list *list,
                                      const uint64_t *needs, struct vrs_error *err)
{
    struct running r;
    const struct outcome *first = NULL;
    r.list = list;
    r.needs = needs;
    for (uint32_t i = 0; i < THREADS_MOST; i++)
        r.of[i].status = VRS_OK;
    pool_run_needing(threads, &(struct pool_work){ list->tasks, do_task, NULL, &r }, needs);
    for (uint32_t i = 0; i < THREADS_MOST; i++)
        if (r.of[i].status != VRS_OK && (first == NULL || r.of[i].task < first->task))
            first = &r.of[i];
    if (first == NULL)
        return VRS_OK;
    if (err != NULL)
        *err = first->error;
    return first->status;
}
