#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/pool.h"
#include "base/task_list.h"
#include "made/fault.h"

enum { TASKS = 300, NONE = TASKS };

struct tally {
    uint32_t threads;
    uint32_t fails, fails_too; /* tasks */
    uint32_t times[TASKS];     /* each task writes its own */
    struct {
        uint32_t under_way, last; /* of one thread, which has one task at a time, in order */
        bool wrong;
    } of[THREADS_MOST];
};

static enum vrs_status task(void *arg, uint32_t i, uint32_t thread, struct vrs_error *err)
{
    struct tally *t = arg;
    if (thread >= t->threads)
        return vrs_fail(err, VRS_CORRUPT, "thread %u of %u", (unsigned)thread,
                        (unsigned)t->threads);
    t->of[thread].wrong |= t->of[thread].under_way++ != 0 || (i > 0 && t->of[thread].last >= i);
    t->of[thread].last = i;
    t->times[i]++;
    t->of[thread].under_way--;
    if (i == t->fails || i == t->fails_too)
        return vrs_fail(err, VRS_LIMIT, "task %u", (unsigned)i);
    return VRS_OK;
}

static enum vrs_status run(struct tally *t, uint32_t threads, uint32_t tasks, struct vrs_error *err)
{
    t->threads = pool_threads(threads);
    enum vrs_status status = task_list_run(threads, &(struct task_list){ tasks, task, t }, err);
    for (uint32_t i = 0; i < THREADS_MOST; i++)
        assert_false(t->of[i].wrong);
    return status;
}

static void check_done(uint32_t threads, uint32_t tasks)
{
    struct tally t = { .fails = NONE, .fails_too = NONE };
    struct vrs_error err = { .status = VRS_OK };
    assert_int_equal(run(&t, threads, tasks, &err), VRS_OK);
    assert_int_equal(err.status, VRS_OK);
    for (uint32_t i = 0; i < TASKS; i++)
        assert_int_equal(t.times[i], i < tasks ? 1 : 0);
}

static void every_task_is_done_once(void **state)
{
    (void)state;
    check_done(1, 0);
    check_done(0, TASKS);
    check_done(1, TASKS);
    check_done(4, TASKS);
    check_done(4, 3);
    check_done(UINT32_MAX, TASKS); /* more than there can be */
    fault_threads_left = 1;
    check_done(4, TASKS);
    fault_threads_left = -1;
}

static void check_failure(uint32_t threads, uint32_t fails, uint32_t fails_too)
{
    char message[sizeof((struct vrs_error *)0)->message];
    struct tally t = { .fails = fails, .fails_too = fails_too };
    struct vrs_error err;
    uint32_t first = fails < fails_too ? fails : fails_too;
    snprintf(message, sizeof message, "task %u", (unsigned)first);
    assert_int_equal(run(&t, threads, TASKS, &err), VRS_LIMIT);
    assert_int_equal(err.status, VRS_LIMIT);
    assert_string_equal(err.message, message);
    for (uint32_t i = 0; i <= first; i++)
        assert_int_equal(t.times[i], 1);
    if (pool_threads(threads) == 1)
        for (uint32_t i = first + 1; i < TASKS; i++)
            assert_int_equal(t.times[i], 0);
}

static void the_first_in_the_list_that_fails_tells_why(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads < 8; threads++) {
        check_failure(threads, 0, NONE);
        check_failure(threads, TASKS - 1, NONE);
        check_failure(threads, 7, 8);
        check_failure(threads, 200, 100);
    }
    struct tally t = { .fails = 3, .fails_too = NONE };
    assert_int_equal(run(&t, 2, TASKS, NULL), VRS_LIMIT);
}

enum { MEET = 3 };

/* All are under way at once, and then all fail. */
struct meeting {
    pthread_barrier_t all;
    uint32_t times[MEET]; /* of each thread */
};

static enum vrs_status meet_and_fail(void *arg, uint32_t i, uint32_t thread, struct vrs_error *err)
{
    struct meeting *m = arg;
    pthread_barrier_wait(&m->all);
    if (thread < MEET)
        m->times[thread]++;
    return vrs_fail(err, VRS_LIMIT, "task %u", (unsigned)i);
}

static void threads_have_numbers_of_their_own(void **state)
{
    (void)state;
    for (uint32_t turn = 0; turn < 50; turn++) {
        struct meeting m = { .times = { 0 } };
        struct vrs_error err;
        assert_int_equal(pthread_barrier_init(&m.all, NULL, MEET), 0);
        struct task_list list = { MEET, meet_and_fail, &m };
        assert_int_equal(task_list_run(MEET, &list, &err), VRS_LIMIT);
        pthread_barrier_destroy(&m.all);
        assert_string_equal(err.message, "task 0");
        for (uint32_t i = 0; i < MEET; i++)
            assert_int_equal(m.times[i], 1);
    }
}

/* Each adds its bit to what it sees when it begins. */
struct needing {
    struct lock *lock;
    uint64_t done, seen[POOL_NEEDS_MOST], fails; /* a bit for each task */
    uint32_t times[POOL_NEEDS_MOST];
};

static enum vrs_status see_and_add(void *arg, uint32_t i, uint32_t thread, struct vrs_error *err)
{
    struct needing *n = arg;
    (void)thread;
    lock_take(n->lock);
    n->seen[i] = n->done;
    n->times[i]++;
    lock_give(n->lock);
    if ((n->fails >> i & 1) != 0)
        return vrs_fail(err, VRS_LIMIT, "task %u", (unsigned)i);
    lock_take(n->lock);
    n->done |= UINT64_C(1) << i;
    lock_give(n->lock);
    return VRS_OK;
}

static uint64_t draw(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *random >> 33;
}

/* Needs drawn at random, those of needs among them. */
static void draw_needs(uint64_t *random, uint64_t *needs, uint32_t tasks)
{
    for (uint32_t i = 0; i < tasks; i++) {
        needs[i] = 0;
        for (uint32_t before = 0; before < i; before++)
            if (draw(random) % 8 == 0)
                needs[i] |= UINT64_C(1) << before | needs[before];
    }
}

static void check_needs(struct needing *n, uint32_t threads, uint32_t tasks, const uint64_t *needs)
{
    const struct task_list list = { tasks, see_and_add, n };
    struct vrs_error err;
    enum vrs_status status = task_list_run_needing(threads, &list, needs, &err);
    uint32_t first = tasks; /* of those that fail */
    for (uint32_t i = tasks; i-- > 0;) {
        bool needs_failed = (needs[i] & n->fails) != 0;
        assert_int_equal(n->times[i], !needs_failed);
        if (needs_failed)
            continue;
        assert_int_equal(needs[i] & ~n->seen[i], 0);
        first = (n->fails >> i & 1) != 0 ? i : first;
    }
    assert_int_equal(status, first < tasks ? VRS_LIMIT : VRS_OK);
    if (first < tasks) {
        char words[24];
        snprintf(words, sizeof words, "task %u", (unsigned)first);
        assert_string_equal(err.message, words);
    }
}

static void a_task_begins_when_what_it_needs_is_done(void **state)
{
    uint64_t random = 7, needs[POOL_NEEDS_MOST];
    struct arena arena;
    (void)state;
    arena_init(&arena, SIZE_MAX / 2);
    struct lock *lock = lock_make(&arena);
    assert_non_null(lock);
    for (uint32_t turn = 0; turn < 200; turn++) {
        uint32_t tasks = (uint32_t)(draw(&random) % (POOL_NEEDS_MOST + 1));
        draw_needs(&random, needs, tasks);
        uint64_t fails = turn % 3 == 0 ? 0 : draw(&random) & draw(&random) & draw(&random);
        for (uint32_t threads = 1; threads < 5; threads++) {
            struct needing n = { .lock = lock, .fails = fails };
            check_needs(&n, threads, tasks, needs);
        }
    }
    lock_end(lock);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_is_done_once),
        cmocka_unit_test(the_first_in_the_list_that_fails_tells_why),
        cmocka_unit_test(threads_have_numbers_of_their_own),
        cmocka_unit_test(a_task_begins_when_what_it_needs_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
