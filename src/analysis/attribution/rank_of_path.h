/* rank_of_path.h - the rank that the name of a file tells. */
#ifndef VRS_ANALYSIS_ATTRIBUTION_RANK_OF_PATH_H
#define VRS_ANALYSIS_ATTRIBUTION_RANK_OF_PATH_H

#include <stdint.h>

#include "base/str.h"

/* The last "rank3", "rank-3", "rank_3" in a file's name, else in its folders', else the last "_3"
 * in its name; -1: none. */
int64_t rank_of_path(str path);

#endif
