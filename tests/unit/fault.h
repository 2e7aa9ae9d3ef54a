/* fault.h - lets a test make one allocation fail.
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

extern atomic_long fault_left;

#endif
