/* task_list.c - tasks as jobs of the pool, and the first of them that failed. */
#include "base/task_list.h"

#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"

/* What one thread met.  It takes tasks in their order, so its first failure is its lowest. */
struct outcome {
    enum vrs_status status;
    uint32_t task;
    struct vrs_error error;
};

struct running {
    const struct task_list *list;
    struct outcome of[THREADS_MOST];
};

static void do_task(void *arg, uint32_t i, uint32_t thread)
{
    struct running *r = arg;
    struct outcome *own = &r->of[thread];
    if (own->status != VRS_OK)
        return;
    own->status = r->list->task(r->list->arg, i, thread, &own->error);
    own->task = i;
}

enum vrs_status task_list_run(uint32_t threads, const struct task_list *list, struct vrs_error *err)
{
    struct running r;
    const struct outcome *first = NULL;
    r.list = list;
    for (uint32_t i = 0; i < THREADS_MOST; i++)
        r.of[i].status = VRS_OK;
    pool_run(threads, &(struct pool_work){ list->tasks, do_task, NULL, &r });
    for (uint32_t i = 0; i < THREADS_MOST; i++)
        if (r.of[i].status != VRS_OK && (first == NULL || r.of[i].task < first->task))
            first = &r.of[i];
    if (first == NULL)
        return VRS_OK;
    if (err != NULL)
        *err = first->error;
    return first->status;
}
