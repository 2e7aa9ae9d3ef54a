/* parts.h - what several answers rest on, made when it is first asked for.
 *
 * A part lives in the study's `keep` unless said otherwise; a second question gets the same one. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CACHE_PARTS_H
#define VRS_ANALYSIS_SNAPSHOT_CACHE_PARTS_H

#include "analysis/snapshot/breakdown/category_table.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/study/counterfactual.h"
#include "analysis/snapshot/study/site_table.h"
#include "analysis/snapshot/timeline/timeline.h"

enum parts_use { PARTS_OF_REPORT, PARTS_OF_ADVICE, PARTS_USES };

/* Proves the study and makes, side by side, what the use asks for: timeline, growth, estimate,
 * fragments, sites and counterfactual, for a report the table of categories too.  Need not be
 * called: what is asked for later is then made one after the other. */
enum vrs_status parts_make(struct study *s, enum parts_use use, struct vrs_error *err) MUST_CHECK;

/* NULL in `*ret` where the device has no trace. */
enum vrs_status parts_timeline(struct study *s, const struct timeline **ret,
                               struct vrs_error *err) MUST_CHECK;

/* At the end of the recording; NULL in `*ret` where the layout is not known. */
enum vrs_status parts_fragments(struct study *s, const struct fragments **ret,
                                struct vrs_error *err) MUST_CHECK;

/* Of a device with a trace.  What the program can have is not looked at. */
enum vrs_status parts_growth(struct study *s, const struct leaks **ret,
                             struct vrs_error *err) MUST_CHECK;

enum vrs_status parts_estimate(struct study *s, const struct training_need **ret,
                               struct vrs_error *err) MUST_CHECK;

/* What the peak consists of, or the final state where there is no trace. */
enum vrs_status parts_categories(struct study *s, const struct category_table **ret,
                                 struct vrs_error *err) MUST_CHECK;

/* In the study's scratch: for as long as that is not released. */
enum vrs_status parts_counterfactual(struct study *s, struct counterfactual **ret,
                                     struct vrs_error *err) MUST_CHECK;

/* Allocations by line; in the study's scratch too. */
enum vrs_status parts_sites(struct study *s, const struct site_table **ret,
                            struct vrs_error *err) MUST_CHECK;

#endif
