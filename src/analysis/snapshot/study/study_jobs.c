/* study_jobs.c - lanes, one for each thread, and what the jobs left in them. */
#include "analysis/snapshot/study/study_jobs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/pool.h"
#include "base/task_list.h"

/* What one more thread has. */
struct lane {
    struct proven_study proven;
    struct study study; /* its own */
    struct arena keep, scratch;
};

struct running {
    const struct proven_study *proven; /* is the caller's lane */
    struct lane *lane;
    study_job *job;
    void *arg;
};

static enum vrs_status do_job(void *arg, uint32_t i, uint32_t thread, struct vrs_error *err)
{
    const struct running *r = arg;
    const struct proven_study *p = thread == 0 ? r->proven : &r->lane[thread - 1].proven;
    return r->job(r->arg, i, p, err);
}

static enum vrs_status begin_lane(const struct proven_study *proven, struct lane *lane,
                                  struct vrs_error *err)
{
    const struct study *s = proven->study;
    lane->study = *s;
    lane->proven = *proven;
    lane->proven.study = &lane->study;
    arena_init(&lane->keep, SIZE_MAX / 2);
    arena_init(&lane->scratch, SIZE_MAX / 2);
    lane->study.keep = &lane->keep;
    lane->study.scratch = &lane->scratch;
    lane->study.shown = arena_array(&lane->scratch, bool, s->r->code.stacks.rows.len);
    if (lane->study.shown == NULL)
        return vrs_no_memory(err);
    return naming_again(s->naming, &lane->keep, &lane->scratch, &lane->study.naming, err);
}

/* What was made there becomes the study's. */
static void end_lane(const struct study *s, struct lane *lane)
{
    const struct study *from = &lane->study;
    for (uint32_t i = 0; from->shown != NULL && i < s->r->code.stacks.rows.len; i++)
        s->shown[i] = s->shown[i] || from->shown[i];
    arena_join(s->keep, &lane->keep);
    arena_join(s->scratch, &lane->scratch);
}

enum vrs_status study_jobs_run(const struct proven_study *proven, uint32_t jobs, study_job *job,
                               void *arg, struct vrs_error *err)
{
    const struct study *s = proven->study;
    uint32_t worth = 1 + s->events / STUDY_JOBS_EVENTS, threads = pool_threads(s->threads);
    uint32_t lanes = threads < worth ? threads : worth;
    lanes = lanes < jobs ? lanes : jobs;
    uint32_t more = lanes > 1 ? lanes - 1 : 0, begun = 0;
    struct running r = { proven, arena_array(s->scratch, struct lane, more), job, arg };
    enum vrs_status status = r.lane == NULL ? vrs_no_memory(err) : VRS_OK;
    while (status == VRS_OK && begun < more)
        status = begin_lane(proven, &r.lane[begun++], err);
    if (status == VRS_OK)
        status = task_list_run(1 + more, &(struct task_list){ jobs, do_job, &r }, err);
    for (uint32_t i = 0; i < begun; i++)
        end_lane(s, &r.lane[i]);
    return status;
}
