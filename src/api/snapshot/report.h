/* report.h - a report, with a look at the studies that it is made of. */
#ifndef VRS_API_SNAPSHOT_REPORT_H
#define VRS_API_SNAPSHOT_REPORT_H

#include "analysis/snapshot/study/study.h"
#include "vramscope/vramscope.h"

/* Is shown the study of a device when all of the report about it is made; what it takes of the
 * study's scratch ends when it returns. */
typedef enum vrs_status report_visitor(void *arg, struct study *s, struct vrs_error *err);

/* What is asked beside the report itself. */
struct report_look {
    report_visitor *visit; /* or NULL; else the report is neither quick nor part of a set */
    void *arg;             /* of it */
    bool compared;         /* the devices are units of a comparison, whatever the file holds */
};

/* As vrs_report.  `look` may be NULL. */
enum vrs_status report_make(const struct vrs_recording *recording,
                            const struct vrs_report_options *options,
                            const struct report_look *look, struct vrs_result **ret,
                            struct vrs_error *err);

#endif
