/* study_jobs.c - lanes, each of which takes the next job until none is left. */
#include "analysis/snapshot/study/study_jobs.h"

#include "base/pool.h"

/* What one more thread has. */
struct lane {
    struct study study;
    struct arena keep, scratch;
};

struct outcome {
    enum vrs_status status;
    struct vrs_error error;
};

struct running {
    struct study *s; /* is the first lane's */
    struct lane *lane;
    struct outcome *of; /* of each job */
    uint32_t jobs, next;
    struct lock *lock; /* of `next` */
    study_job *job;
    void *arg;
};

static void take_jobs(void *arg, uint32_t i)
{
    struct running *r = arg;
    struct study *s = i == 0 ? r->s : &r->lane[i - 1].study;
    for (;;) {
        lock_take(r->lock);
        uint32_t job = r->next < r->jobs ? r->next++ : r->jobs;
        lock_give(r->lock);
        if (job == r->jobs)
            return;
        r->of[job].status = r->job(r->arg, job, s, &r->of[job].error);
    }
}

static enum vrs_status begin_lane(struct study *s, struct lane *lane, struct vrs_error *err)
{
    lane->study = *s;
    arena_init(&lane->keep, SIZE_MAX / 2);
    arena_init(&lane->scratch, SIZE_MAX / 2);
    lane->study.keep = &lane->keep;
    lane->study.scratch = &lane->scratch;
    lane->study.shown = arena_array(&lane->scratch, bool, s->r->stacks.rows.len);
    if (lane->study.shown == NULL)
        return vrs_no_memory(err);
    return naming_again(s->naming, &lane->keep, &lane->scratch, &lane->study.naming, err);
}

/* What was made there becomes the study's; it is made once. */
static void end_lane(struct study *s, struct lane *lane)
{
    const struct study *from = &lane->study;
    for (uint32_t i = 0; from->shown != NULL && i < s->r->stacks.rows.len; i++)
        s->shown[i] = s->shown[i] || from->shown[i];
    study_adopt(s, from);
    arena_join(s->keep, &lane->keep);
    arena_join(s->scratch, &lane->scratch);
}

static enum vrs_status run_lanes(struct running *r, uint32_t lanes, struct vrs_error *err)
{
    struct study *s = r->s;
    enum vrs_status status = VRS_OK;
    uint32_t begun = 0;
    while (status == VRS_OK && begun + 1 < lanes)
        status = begin_lane(s, &r->lane[begun++], err);
    if (status == VRS_OK)
        pool_run(lanes, &(struct pool_work){ lanes, take_jobs, NULL, r });
    for (uint32_t i = 0; i < r->jobs && status == VRS_OK; i++) {
        status = r->of[i].status;
        if (status != VRS_OK && err != NULL)
            *err = r->of[i].error;
    }
    for (uint32_t i = 0; i < begun; i++)
        end_lane(s, &r->lane[i]);
    return status;
}

enum vrs_status study_jobs_run(struct study *s, uint32_t jobs, study_job *job, void *arg,
                               struct vrs_error *err)
{
    uint32_t worth = 1 + s->events / STUDY_JOBS_EVENTS, threads = pool_threads(s->threads);
    uint32_t lanes = threads < worth ? threads : worth;
    lanes = lanes < jobs ? lanes : jobs;
    if (lanes <= 1) {
        for (uint32_t i = 0; i < jobs; i++)
            TRY(job(arg, i, s, err));
        return VRS_OK;
    }
    struct running r = {
        .s = s,
        .lane = arena_array(s->scratch, struct lane, lanes - 1),
        .of = arena_array(s->scratch, struct outcome, jobs),
        .jobs = jobs,
        .lock = lock_make(s->scratch),
        .job = job,
        .arg = arg,
    };
    if (r.lane == NULL || r.of == NULL || r.lock == NULL) {
        lock_end(r.lock);
        return vrs_no_memory(err);
    }
    enum vrs_status status = run_lanes(&r, lanes, err);
    lock_end(r.lock);
    return status;
}
