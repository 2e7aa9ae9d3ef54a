#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/pool.h"
#include "profiler/lock.h"

enum { MS = 1000000, LONG_NS = 1000000000 };

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * LONG_NS + (uint64_t)t.tv_nsec;
}

/* What another thread is told. */
struct asked {
    struct read_lock *lock;
    uint64_t wait_ns; /* 0: it only tries */
    enum lock_answer answer;
};

static void *ask(void *arg)
{
    struct asked *a = arg;
    a->answer = a->wait_ns == 0 ? read_lock_try(a->lock) : read_lock_wait(a->lock, a->wait_ns);
    if (a->answer == LOCK_TAKEN)
        read_lock_give(a->lock);
    return NULL;
}

static enum lock_answer told_elsewhere(struct read_lock *l, uint64_t wait_ns)
{
    struct asked a = { .lock = l, .wait_ns = wait_ns };
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, ask, &a), 0);
    pthread_join(thread, NULL);
    return a.answer;
}

static void the_holder_is_told_that_it_holds(void **state)
{
    (void)state;
    struct read_lock l;
    assert_true(read_lock_init(&l));
    assert_int_equal(told_elsewhere(&l, 0), LOCK_TAKEN);
    assert_int_equal(read_lock_try(&l), LOCK_TAKEN);
    assert_int_equal(read_lock_try(&l), LOCK_MINE);
    assert_int_equal(read_lock_wait(&l, LONG_NS), LOCK_MINE);
    assert_int_equal(told_elsewhere(&l, 0), LOCK_BUSY);
    read_lock_give(&l);
    assert_int_equal(told_elsewhere(&l, 0), LOCK_TAKEN);
    read_lock_end(&l);
}

static void who_waits_gives_up(void **state)
{
    (void)state;
    struct read_lock l;
    assert_true(read_lock_init(&l));
    assert_int_equal(read_lock_try(&l), LOCK_TAKEN);
    uint64_t begun = now_ns();
    assert_int_equal(told_elsewhere(&l, 50 * MS), LOCK_BUSY);
    assert_in_range(now_ns() - begun, 50 * MS, (uint64_t)60 * LONG_NS);
    assert_int_equal(l.waiting, 0);
    read_lock_give(&l);
    read_lock_end(&l);
}

static void who_waits_gets_it(void **state)
{
    (void)state;
    struct read_lock l;
    struct asked a = { .lock = &l, .wait_ns = (uint64_t)60 * LONG_NS };
    pthread_t thread;
    assert_true(read_lock_init(&l));
    assert_int_equal(read_lock_try(&l), LOCK_TAKEN);
    assert_int_equal(pthread_create(&thread, NULL, ask, &a), 0);
    nanosleep(&(struct timespec){ .tv_nsec = 20 * MS }, NULL);
    read_lock_give(&l);
    pthread_join(thread, NULL);
    assert_int_equal(a.answer, LOCK_TAKEN);
    read_lock_end(&l);
}

enum { THREADS = 8, TURNS = 5000 };

struct counted {
    struct read_lock lock;
    uint32_t count;
};

static void count_up(void *arg, uint32_t i, uint32_t thread)
{
    (void)i;
    (void)thread;
    struct counted *c = arg;
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        while (read_lock_wait(&c->lock, LONG_NS) != LOCK_TAKEN)
            ;
        c->count++;
        read_lock_give(&c->lock);
    }
}

static void one_thread_holds_it_at_a_time(void **state)
{
    (void)state;
    struct counted c = { .count = 0 };
    assert_true(read_lock_init(&c.lock));
    pool_run(THREADS, &(struct pool_work){ THREADS, count_up, NULL, &c });
    assert_int_equal(c.count, THREADS * TURNS);
    read_lock_end(&c.lock);
}

struct held {
    struct read_lock lock;
    pthread_barrier_t taken, forked;
};

static void *hold(void *arg)
{
    struct held *h = arg;
    (void)read_lock_try(&h->lock);
    pthread_barrier_wait(&h->taken);
    pthread_barrier_wait(&h->forked);
    read_lock_give(&h->lock);
    return NULL;
}

/* In a child: whether the answer after renewal is this one. */
static void check_child(struct read_lock *l, enum lock_answer expected)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        read_lock_renew(l);
        _exit(read_lock_try(l) == expected ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_child_frees_what_another_thread_held(void **state)
{
    (void)state;
    static struct held h;
    pthread_t thread;
    assert_true(read_lock_init(&h.lock));
    assert_int_equal(pthread_barrier_init(&h.taken, NULL, 2), 0);
    assert_int_equal(pthread_barrier_init(&h.forked, NULL, 2), 0);
    assert_int_equal(pthread_create(&thread, NULL, hold, &h), 0);
    pthread_barrier_wait(&h.taken);
    check_child(&h.lock, LOCK_TAKEN);
    pthread_barrier_wait(&h.forked);
    pthread_join(thread, NULL);
    assert_int_equal(read_lock_try(&h.lock), LOCK_TAKEN);
    check_child(&h.lock, LOCK_MINE);
    read_lock_give(&h.lock);
    pthread_barrier_destroy(&h.taken);
    pthread_barrier_destroy(&h.forked);
    read_lock_end(&h.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_holder_is_told_that_it_holds),
        cmocka_unit_test(who_waits_gives_up),
        cmocka_unit_test(who_waits_gets_it),
        cmocka_unit_test(one_thread_holds_it_at_a_time),
        cmocka_unit_test(a_child_frees_what_another_thread_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
