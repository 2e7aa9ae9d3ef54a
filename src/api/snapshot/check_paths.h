/* check_paths.h - how answers of check call their files, so that they are equal on all machines.
 *
 * Of an absolute path the last part is shown; of several files of one name as many parts as tell
 * them apart, since ranks often have a folder each. */
#ifndef VRS_API_SNAPSHOT_CHECK_PATHS_H
#define VRS_API_SNAPSHOT_CHECK_PATHS_H

#include <stdbool.h>

#include "api/result.h"
#include "base/str.h"

/* Whether less of it is shown. */
bool check_path_is_cut(str path);

/* Cuts the path of a result's one answer, which has all of it, now and when results are joined. */
void check_path_cut(struct vrs_result *result);

#endif
