/* fault.h - lets a test make one allocation fail, or have no more threads.
 *
 * Set `fault_left` to n and the n-th allocation from now (counted from 0) fails, once; the
 * counter is then -1, which is also the resting state in which nothing fails.  Only calls
 * from our own code count: the linker redirects those of the objects in the test program, not
 * those inside shared libraries.
 *
 * Atomic because the threads of a pool allocate too. */
#ifndef TESTS_UNIT_FAULT_H
#define TESTS_UNIT_FAULT_H

#include <stdatomic.h>

#include <vramscope/error.h>

extern atomic_long fault_left;

/* So many more threads can be begun, counted alike; -1, the resting state: any number. */
extern atomic_long fault_threads_left;

/* Calls `work` with its first allocation failing, then with its second, until it makes fewer.  A
 * call that was hit must fail with VRS_NOMEM, having given back whatever it got.
 *
 * Memory given back early is only a read, so some work survives.  `survived` is then what looks at
 * its outcome, and at that of the last call, which nothing hit; NULL: nothing is survived. */
void fault_each(enum vrs_status (*work)(void *arg), void (*survived)(void *arg), void *arg);
/* The same for work of thousands of allocations: of `step` one fails, in `make test-long` each. */
void fault_some(long step, enum vrs_status (*work)(void *arg), void (*survived)(void *arg),
                void *arg);

#endif
