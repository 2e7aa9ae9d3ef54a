#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/pool.h"
#include "made/fault.h"

enum { JOBS = 500 };

struct tally {
    uint32_t threads;
    uint32_t times[JOBS]; /* each job writes its own */
    bool wrong_thread[JOBS];
    uint32_t finished, last;
    int overlapping, wrong_order; /* of the calls of finished, which the pool serialises */
};

static void job(void *arg, uint32_t i, uint32_t thread)
{
    struct tally *t = arg;
    t->times[i]++;
    t->wrong_thread[i] = thread >= t->threads;
}

static void finished(void *arg, uint32_t jobs)
{
    struct tally *t = arg;
    t->overlapping++;
    t->wrong_order += jobs != t->last + 1 || t->overlapping != 1;
    t->last = jobs;
    t->finished++;
    t->overlapping--;
}

static void check_run(uint32_t threads, uint32_t jobs)
{
    struct tally t = { .threads = pool_threads(threads) };
    struct pool_work work = { jobs, job, finished, &t };
    pool_run(threads, &work);
    for (uint32_t i = 0; i < JOBS; i++)
        assert_int_equal(t.times[i], i < jobs ? 1 : 0);
    for (uint32_t i = 0; i < JOBS; i++)
        assert_false(t.wrong_thread[i]);
    assert_int_equal(t.finished, jobs);
    assert_int_equal(t.wrong_order, 0);
}

static void every_job_is_done_once(void **state)
{
    (void)state;
    check_run(1, 0);
    check_run(0, JOBS);
    check_run(1, JOBS);
    check_run(4, JOBS);
    check_run(4, 3);
    check_run(UINT32_MAX, JOBS); /* more than there can be */
}

static void finished_may_be_left_out(void **state)
{
    (void)state;
    struct tally t = { .finished = 0 };
    struct pool_work work = { 10, job, NULL, &t };
    pool_run(3, &work);
    assert_int_equal(t.times[9], 1);
}

static void jobs_are_done_without_threads(void **state)
{
    (void)state;
    for (long begun = 0; begun < 3; begun++) {
        fault_threads_left = begun;
        check_run(4, JOBS);
        assert_int_equal(fault_threads_left, 0);
    }
    fault_threads_left = -1;
}

enum { MEET = 3 };

/* Of each job where its thread may run; all are under way at once. */
struct placed {
    pthread_barrier_t all;
    cpu_set_t allowed[MEET];
    int failed[MEET];
};

static void see_where(void *arg, uint32_t i, uint32_t thread)
{
    struct placed *p = arg;
    (void)thread;
    pthread_barrier_wait(&p->all);
    p->failed[i] = sched_getaffinity(0, sizeof p->allowed[i], &p->allowed[i]);
}

static cpu_set_t allowed_here(void)
{
    cpu_set_t all;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    return all;
}

/* Threads may run where this one may, which nothing changes. */
static void check_places(void)
{
    struct placed p;
    cpu_set_t before = allowed_here();
    assert_int_equal(pthread_barrier_init(&p.all, NULL, MEET), 0);
    pool_run(MEET, &(struct pool_work){ MEET, see_where, NULL, &p });
    pthread_barrier_destroy(&p.all);
    for (uint32_t i = 0; i < MEET; i++) {
        assert_int_equal(p.failed[i], 0);
        assert_true(CPU_EQUAL(&p.allowed[i], &before));
    }
    cpu_set_t after = allowed_here();
    assert_true(CPU_EQUAL(&after, &before));
}

static void threads_may_run_where_their_caller_may(void **state)
{
    (void)state;
    cpu_set_t all = allowed_here(), one;
    for (int i = 0; i < 20; i++)
        check_places();
    size_t first = 0;
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    check_places();
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

enum { TURNS = 20000 };

struct counted {
    struct lock *lock;
    uint32_t count;
};

static void count_up(void *arg, uint32_t i, uint32_t thread)
{
    (void)i;
    (void)thread;
    struct counted *c = arg;
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        lock_take(c->lock);
        c->count++;
        lock_give(c->lock);
    }
}

static void a_lock_lets_one_in_at_a_time(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    struct counted c = { .lock = lock_make(&arena) };
    assert_non_null(c.lock);
    pool_run(4, &(struct pool_work){ 4, count_up, NULL, &c });
    lock_end(c.lock);
    arena_free(&arena);
    assert_int_equal(c.count, 4 * TURNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* The first, or another one's change of where this thread may run would not be seen. */
        cmocka_unit_test(threads_may_run_where_their_caller_may),
        cmocka_unit_test(every_job_is_done_once),
        cmocka_unit_test(finished_may_be_left_out),
        cmocka_unit_test(jobs_are_done_without_threads),
        cmocka_unit_test(a_lock_lets_one_in_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
