/* lines.h - the opcodes whose argument is text up to the end of a line: those of protocol 0, and
 * GLOBAL, which is refused. */
#ifndef VRS_FORMAT_PICKLE_LINES_H
#define VRS_FORMAT_PICKLE_LINES_H

#include "base/fail.h"
#include "format/pickle/pickle.h"

/* Takes `op`, an OP_FORM_LINE, at which the window stands, and hands on what it says. */
enum vrs_status pickle_line(struct pickle *p, unsigned op, enum pickle_step *ret,
                            struct vrs_error *err) MUST_CHECK;

/* A GLOBAL names a Python object: refuses it and says which, escaped. */
enum vrs_status pickle_global(struct pickle *p, struct vrs_error *err);

enum vrs_status pickle_bad_number(const struct pickle *p, struct vrs_error *err);

#endif
