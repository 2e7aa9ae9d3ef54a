/* sim_fork.c - holds all simulations while the process forks, so that none is cut in the middle.
 *
 * The only state of the extension that belongs to the process: a list of the simulations. */
#include "sim.h"

#include <pthread.h>
#include <stddef.h>

#include "vramscope/sim.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_object *first;

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
    for (struct sim_object *s = first; s != NULL; s = s->behind)
        vrs_sim_hold(s->sim);
}

/* Parent and child. */
static void after_fork(void)
{
    for (struct sim_object *s = first; s != NULL; s = s->behind)
        vrs_sim_let_go(s->sim);
    pthread_mutex_unlock(&lock);
}

static void attach(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

void sim_fork_join(struct sim_object *self)
{
    pthread_once(&once, attach);
    pthread_mutex_lock(&lock);
    self->before = NULL;
    self->behind = first;
    if (first != NULL)
        first->before = self;
    first = self;
    pthread_mutex_unlock(&lock);
}

void sim_fork_leave(struct sim_object *self)
{
    pthread_mutex_lock(&lock);
    if (self->behind != NULL)
        self->behind->before = self->before;
    if (self->before != NULL)
        self->before->behind = self->behind;
    else
        first = self->behind;
    pthread_mutex_unlock(&lock);
}
