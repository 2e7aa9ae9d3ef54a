/* error.h - what a failing call tells its caller. */
#ifndef VRAMSCOPE_ERROR_H
#define VRAMSCOPE_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum vrs_status {
    VRS_OK = 0,
    VRS_NOMEM,       /* memory ran out */
    VRS_IO,          /* the system failed a read or a write, or the caller cancelled */
    VRS_CORRUPT,     /* the input breaks the rules of its format */
    VRS_UNSUPPORTED, /* the input is something else, or a form that is not read */
    VRS_LIMIT,       /* a limit was reached: of struct vrs_limits, or of a match of an
                      * expression, which it names */
    VRS_USAGE        /* the caller asked for something that does not exist */
};

/* What went wrong, for a person.  The caller owns it; pass NULL to do without.  Only a
 * failing call writes it, and a failing call always does. */
struct vrs_error {
    enum vrs_status status;
    uint64_t offset;   /* byte offset in the (unpacked) input, or UINT64_MAX where there is none */
    char message[240]; /* one line, no newline, no "error:" prefix */
};

#ifdef __cplusplus
}
#endif
#endif
