/* module_path.h - which modules of a model a stack runs through. */
#ifndef VRS_ANALYSIS_ATTRIBUTION_MODULE_PATH_H
#define VRS_ANALYSIS_ATTRIBUTION_MODULE_PATH_H

#include "analysis/attribution/naming.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "model/code.h"

/* What is told of each module.  Lines move between two versions of a file; files alone do not. */
enum module_detail {
    MODULE_FILES, /* "model.py > block.py" */
    MODULE_LINES  /* "model.py:84 > block.py:31" */
};

/* Appends the `forward` functions that call one another, outermost first, those that would be told
 * alike next to each other once; nothing where there is none. */
enum vrs_status module_path(const struct code *code, const struct naming *naming, stack_id stack,
                            enum module_detail detail, struct arena *scratch, struct buf *to,
                            struct vrs_error *err) MUST_CHECK;

#endif
