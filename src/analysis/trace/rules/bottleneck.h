/* bottleneck.h - the kind of bottleneck that a trace shows, by the order in which reasons count. */
#ifndef VRS_ANALYSIS_TRACE_RULES_BOTTLENECK_H
#define VRS_ANALYSIS_TRACE_RULES_BOTTLENECK_H

#include <stdint.h>

#include "analysis/trace/rules/rules.h"
#include "base/field.h"

struct rule_facts;

enum bottleneck_kind {
    BOTTLENECK_UNKNOWN,
    BOTTLENECK_DATA,   /* the loading of data takes longer than the computing */
    BOTTLENECK_DEVICE, /* what runs on the device */
    BOTTLENECK_HOST,   /* what the device waits for */
    BOTTLENECK_MIXED,  /* neither alone */
    BOTTLENECK_KINDS
};
extern const char *const bottleneck_kind_names[BOTTLENECK_KINDS];

/* The kind, and in `why` the sentence, the numbers that were seen and the thresholds they were held
 * against, as of a finding; its other members mean nothing. */
struct bottleneck {
    uint8_t kind; /* enum bottleneck_kind */
    struct trace_finding why;
};

/* The first that holds: a device that is busy for more than gpu-high-busy_ratio; loading that takes
 * longer than computing; a device that is busy for less than gpu-low-busy_ratio and mostly had
 * nothing to do, for the data loader or for another reason of the host; else none alone.  Unknown
 * where the trace does not tell it. */
void bottleneck_judge(const struct rule_facts *f, struct bottleneck *ret);

extern const struct row_type bottleneck_row_type;

#endif
