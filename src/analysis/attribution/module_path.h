/* module_path.h - which modules of a model a stack runs through. */
#ifndef VRS_ANALYSIS_ATTRIBUTION_MODULE_PATH_H
#define VRS_ANALYSIS_ATTRIBUTION_MODULE_PATH_H

#include "analysis/attribution/naming.h"
#include "base/buf.h"

/* Appends the files whose `forward` functions call one another, outermost first: "model.py >
 * block.py"; nothing where there is none.  Lines are left out, since they move between two versions
 * of a file. */
enum vrs_status module_path(const struct code *code, const struct naming *naming, stack_id stack,
                            struct arena *scratch, struct buf *to,
                            struct vrs_error *err) MUST_CHECK;

#endif
