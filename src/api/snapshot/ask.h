/* ask.h - how an analysis of the common form, a result for each device, is asked of their
 * studies.
 */
#ifndef VRS_API_SNAPSHOT_ASK_H
#define VRS_API_SNAPSHOT_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "api/file.h"
#include "api/result.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/recording.h"
#include "render/answer/answer.h"

/* What the caller's options have in common. */
struct ask_options {
    const char *path, *user_root, *library;
    int64_t device; /* its number plus 1; 0: all */
};

/* The studies of the devices that are asked about, made while the replay runs. */
struct studies {
    const struct call *a;
    struct study_place place;
    struct study *of; /* of each device; empty where it is not asked about */
    bool bare;        /* no question needs more */
};

/* `rules` may be NULL: no category is decided. */
struct studies studies_of(struct call *a, const struct category_rules *rules,
                          struct naming *naming);

/* Begins them; `all` is a struct studies.  For call_prepare. */
enum vrs_status studies_begin(void *all, struct vrs_error *err) MUST_CHECK;

/* Fills what is the analysis's own: `result`, and where there is none or not all of it, `status`
 * and reasons (ask_reason).  `read` is the verb's, `parts` are empty at first. */
typedef enum vrs_status ask_question(struct parts *parts, const struct proven_study *proven,
                                     const void *read, struct device_answer *ret,
                                     struct vrs_error *err);

enum vrs_status ask_devices(const struct vrs_recording *recording, const struct answer_kind *kind,
                            const struct ask_options *common, ask_question *question,
                            const void *read, struct vrs_result **ret,
                            struct vrs_error *err) MUST_CHECK;

/* The same under these rules for categories; NULL: the built-in ones, as ask_devices. */
enum vrs_status ask_devices_ruled(const struct vrs_recording *recording,
                                  const struct answer_kind *kind, const struct ask_options *common,
                                  const struct category_rules *rules, ask_question *question,
                                  const void *read, struct vrs_result **ret,
                                  struct vrs_error *err) MUST_CHECK;

/* Whether a question needs the study of a device whole; else a bare one will do. */
typedef bool ask_needs(const struct recording *r, uint32_t device, const void *read);

/* The same for a verb that asks some questions of bare studies: all are, unless one device needs
 * more. */
enum vrs_status ask_devices_needing(const struct vrs_recording *recording,
                                    const struct answer_kind *kind,
                                    const struct ask_options *common, ask_needs *needs,
                                    ask_question *question, const void *read,
                                    struct vrs_result **ret, struct vrs_error *err) MUST_CHECK;

/* Adds a reason, a static id with a sentence, which is copied, and sets the status. */
enum vrs_status ask_reason(const struct study *s, struct device_answer *d,
                           enum answer_status status, const char *id, str text,
                           struct vrs_error *err) MUST_CHECK;

/* A moment that was not found: of a device that has none such that is the answer, with a reason;
 * any other failure is the call's. */
enum vrs_status ask_refuse_moment(const struct study *s, struct device_answer *d,
                                  const struct vrs_error *why, struct vrs_error *err) MUST_CHECK;

/* Where the file is cut, the answer is partial, and why. */
enum vrs_status ask_tell_cut(const struct study *s, struct device_answer *d,
                             struct vrs_error *err) MUST_CHECK;

#endif
