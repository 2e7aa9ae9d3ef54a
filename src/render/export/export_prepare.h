/* export_prepare.h - columns of an export that are found before its rows are written. */
#ifndef VRS_RENDER_EXPORT_EXPORT_PREPARE_H
#define VRS_RENDER_EXPORT_EXPORT_PREPARE_H

#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "render/export/export.h"

/* The category of each allocation, which outlives the study; `of` stays NULL where nothing decides
 * it. */
enum vrs_status export_keep_categories(const struct study *s, struct arena *keep,
                                       struct export_categories *ret,
                                       struct vrs_error *err) MUST_CHECK;

/* Steps and phases, which outlive the study likewise. */
enum vrs_status export_keep_spans(const struct study *s, struct arena *keep,
                                  struct export_device *ret, struct vrs_error *err) MUST_CHECK;

/* Fills `used` and `used_count` of e. */
enum vrs_status export_find_stacks(struct arena *keep, struct exporting *e,
                                   struct vrs_error *err) MUST_CHECK;

/* Fills `name_of_block` of e. */
enum vrs_status export_find_names(struct arena *keep, struct exporting *e,
                                  struct vrs_error *err) MUST_CHECK;

#endif
