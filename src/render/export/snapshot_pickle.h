/* snapshot_pickle.h - a recording as the file that PyTorch would have written of it.
 *
 * It holds what torch.cuda.memory._snapshot() returns, pickled as CPython does, so that PyTorch's
 * own tools open it.  What is not known is left out; stacks that are equal are one list. */
#ifndef VRS_RENDER_EXPORT_SNAPSHOT_PICKLE_H
#define VRS_RENDER_EXPORT_SNAPSHOT_PICKLE_H

#include "base/fail.h"
#include "model/recording.h"
#include "render/write/out.h"

/* VRS_UNSUPPORTED for a recording that is cut: a snapshot cannot say so and would look whole.
 * Nothing is then written.  Failures while writing are those of `out`, to be asked for there. */
enum vrs_status snapshot_pickle(struct out *out, const struct recording *r,
                                struct vrs_error *err) MUST_CHECK;

#endif
