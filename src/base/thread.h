/* thread.h - a thread that begins beside its caller, on another processor.
 *
 * Schedulers that keep work together begin a new thread on its caller's processor, where one of the
 * two waits until the next tick parts them: up to 4 ms, a fifth of what a file of 12 MB takes. */
#ifndef VRS_BASE_THREAD_H
#define VRS_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

enum { THREAD_SET_BYTES = 128 };

/* Lives where its caller keeps it, from thread_begin to thread_join. */
struct thread {
    pthread_t id;
    void (*run)(void *arg);
    void *arg;
    int kept_off; /* the processor it does not begin on, or -1 */
    int began_on; /* the one it does, or -1; known once it has ended */
    /* Where it may go from there, which is where its caller may: a cpu_set_t. */
    unsigned char allowed[THREAD_SET_BYTES];
};

/* Begins run(arg) on another processor than this one, where the caller may use another.  False: no
 * thread can be had. */
bool thread_begin(struct thread *t, void (*run)(void *arg), void *arg);

/* Waits until it has ended. */
void thread_join(struct thread *t);

#endif
