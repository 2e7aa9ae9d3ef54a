/* number.h - decimal text as a number, whatever the locale of the program. */
#ifndef VRS_BASE_NUMBER_H
#define VRS_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* "-12": two's complement and whether it is negative.  False for what is not an integer of this
 * form, or does not fit 64 bits (unsigned, or signed where negative). */
bool number_integer(str text, uint64_t *ret_bits, bool *ret_negative);

/* "-1.5e3", as in JSON, but leading zeros and a missing whole or fraction part are taken too.
 * Exact where the digits make at most 2^53 and the scale is at most 10^22; else within one unit in
 * the last place. */
bool number_real(str text, double *ret);

#endif
