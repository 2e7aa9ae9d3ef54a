/* limit.h - a limit for a change, out of the options of questions that compare. */
#ifndef VRS_API_LIMIT_H
#define VRS_API_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/noise.h"

/* Of a time and a share as options have them: plus 1, 0 where there is none.  False: neither was
 * asked for. */
bool limit_from(int64_t fail_over_ns, uint64_t fail_over_millionths, struct noise_limit *ret);

#endif
