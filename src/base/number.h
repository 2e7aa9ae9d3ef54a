/* number.h - numbers as text, whatever the locale. */
#ifndef VRS_BASE_NUMBER_H
#define VRS_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* A decimal integer, all of `text`, from -2^63 to 2^64 - 1: 64 bits and whether they are two's
 * complement of a negative number.  False otherwise. */
bool number_integer(str text, uint64_t *ret_bits, bool *ret_negative);

/* The value of the decimal digits at the front of `text`, NUMBER_DIGITS at most; returns how many
 * there are. */
enum { NUMBER_DIGITS = 19 };
size_t number_digits(str text, uint64_t *ret);

/* The number of eight digits, each the value of a byte of `digits`, the first the lowest: pairs, then
 * pairs of pairs. */
static inline uint64_t number_of_eight(uint64_t digits)
{
    const uint64_t lanes = UINT64_C(0x000000ff000000ff);
    digits = digits * 10 + (digits >> 8);
    return ((digits & lanes) * (100 + (UINT64_C(1000000) << 32)) +
            (digits >> 16 & lanes) * (1 + (UINT64_C(10000) << 32))) >> 32;
}

/* One to eight hexadecimal digits, all of `text`. */
bool number_hex(str text, uint32_t *ret);

/* A decimal fraction, with or without exponent, all of `text` (at most 400 bytes). */
bool number_real(str text, double *ret);

/* `text` begins with a number as printf wrote it: gives that a point for what the locale has in its
 * place. */
void number_set_point(char *text);

#endif
