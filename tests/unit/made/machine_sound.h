/* machine_sound.h - whether a machine's tables, sets, links and sums agree. */
#ifndef TESTS_UNIT_MACHINE_SOUND_H
#define TESTS_UNIT_MACHINE_SOUND_H

#include "allocator/machine/machine.h"

/* What is wrong, in a few words; NULL: nothing.  Of a machine that is not out of memory. */
const char *machine_fault(const struct machine *m);

#endif
