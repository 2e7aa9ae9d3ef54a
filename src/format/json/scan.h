/* scan.h - the tokens of JSON that stand without quotes: numbers, true, false, null. */
#ifndef VRS_FORMAT_JSON_SCAN_H
#define VRS_FORMAT_JSON_SCAN_H

#include "base/str.h"
#include "format/input/window.h"

/* Python's json module also writes NaN, Infinity and -Infinity: they are taken as null. */
enum json_literal { JSON_NULL, JSON_FALSE, JSON_TRUE };

enum json_scan {
    JSON_SCAN_WHOLE,
    JSON_SCAN_CUT,  /* the input ends, or fails, inside; the window stands at its end */
    JSON_SCAN_WRONG /* no such token; the window stays where it is */
};

/* The number at the window's front, as it is written; `*ret` lives as long as the window stays. */
enum json_scan json_scan_number(struct window *w, str *ret);

/* The word at the window's front. */
enum json_scan json_scan_literal(struct window *w, enum json_literal *ret);

#endif
