/* same.h - whether two recordings hold the same, whatever their interned rows are numbered. */
#ifndef TESTS_UNIT_SAME_H
#define TESTS_UNIT_SAME_H

#include "model/recording.h"

/* Ends the test at the first row and column that differ.  Every column of the tables that are not
 * interned is compared, ids by what they stand for; of tallies those of unknown actions alone,
 * since keys that were counted are not kept.  Origins are facts about bytes, and may differ. */
void same_recording(const struct recording *a, const struct recording *b);

#endif
