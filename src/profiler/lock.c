/* lock.c - a mutex held for a few instructions guards who holds the lock. */
#define _POSIX_C_SOURCE 200809L
#include "profiler/lock.h"

#include <errno.h>
#include <time.h>

#include "profiler/clock.h"

bool read_lock_init(struct read_lock *l)
{
    *l = (struct read_lock){ .held = false };
    if (pthread_mutex_init(&l->guard, NULL) != 0)
        return false;
    if (timed_cond_init(&l->given))
        return true;
    pthread_mutex_destroy(&l->guard);
    return false;
}

void read_lock_end(struct read_lock *l)
{
    pthread_cond_destroy(&l->given);
    pthread_mutex_destroy(&l->guard);
}

/* With the guard held. */
static enum lock_answer look(struct read_lock *l)
{
    if (l->held)
        return pthread_equal(l->holder, pthread_self()) ? LOCK_MINE : LOCK_BUSY;
    l->held = true;
    l->holder = pthread_self();
    return LOCK_TAKEN;
}

enum lock_answer read_lock_try(struct read_lock *l)
{
    pthread_mutex_lock(&l->guard);
    enum lock_answer answer = look(l);
    pthread_mutex_unlock(&l->guard);
    return answer;
}

enum lock_answer read_lock_wait(struct read_lock *l, uint64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    ns += (uint64_t)until.tv_nsec;
    until.tv_sec += (time_t)(ns / NS_PER_SECOND);
    until.tv_nsec = (long)(ns % NS_PER_SECOND);

    pthread_mutex_lock(&l->guard);
    enum lock_answer answer = look(l);
    l->waiting++;
    for (bool late = false; answer == LOCK_BUSY && !late; answer = look(l))
        late = pthread_cond_timedwait(&l->given, &l->guard, &until) == ETIMEDOUT;
    l->waiting--;
    pthread_mutex_unlock(&l->guard);
    return answer;
}

void read_lock_give(struct read_lock *l)
{
    pthread_mutex_lock(&l->guard);
    l->held = false;
    if (l->waiting != 0)
        pthread_cond_signal(&l->given);
    pthread_mutex_unlock(&l->guard);
}

void read_lock_renew(struct read_lock *l)
{
    /* What the guard and the condition were in the middle of is the parent's. */
    bool mine = l->held && pthread_equal(l->holder, pthread_self());
    if (!read_lock_init(l))
        return;
    l->held = mine;
    l->holder = pthread_self();
}
