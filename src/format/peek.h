/* peek.h - whether an input is a profiler trace or a measurement, told by its first bytes, which
 * stay to be read.
 *
 * Snapshots and traces are both JSON, with names that say nothing: what decides is which keys stand
 * first; a list of lists of numbers is the memory timeline of a trace; a measurement says in its
 * first member that it is one.  An input of which that cannot be told is none of them here; its
 * reader then says what it is. */
#ifndef VRS_FORMAT_PEEK_H
#define VRS_FORMAT_PEEK_H

#include <stddef.h>

#include "base/fail.h"
#include "format/input/window.h"

struct peeked {
    struct source input;
    void *bytes; /* taken from an input that cannot be read twice; or NULL */
    size_t len, at;
};

enum peeked_kind { PEEKED_OTHER, PEEKED_TRACE, PEEKED_MEASUREMENT };

/* Looks at an input; `ret` is to be freed in any case, and its source read in the input's place. */
enum vrs_status peek_kind(struct source input, struct peeked *ret, enum peeked_kind *ret_kind,
                          struct vrs_error *err) MUST_CHECK;
void peeked_free(struct peeked *p);

struct source source_of_peeked(struct peeked *p);

#endif
