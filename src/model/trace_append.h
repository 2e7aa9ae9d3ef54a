/* trace_append.h - the events of one trace behind those of another. */
#ifndef VRS_MODEL_TRACE_APPEND_H
#define VRS_MODEL_TRACE_APPEND_H

#include <stdbool.h>

#include "model/trace.h"

/* Puts what came of `from`'s list of events behind what is in `to`, which then is what one reader
 * of both, one after the other, would have made: ids of texts and rows of threads included.  The
 * header of `from` counts times alone.  False where memory or a limit does not allow it; `to` is
 * then fit only to be freed. */
bool trace_append(struct trace *to, const struct trace *from);

#endif
