/* device_answer.h - what answers of the common form share: the envelope, sites, stacks. */
#ifndef VRS_RENDER_ANSWER_DEVICE_ANSWER_H
#define VRS_RENDER_ANSWER_DEVICE_ANSWER_H

#include "analysis/snapshot/study/study.h"
#include "render/answer/answer.h"
#include "render/answer/document.h"
#include "render/answer/envelope.h"

/* The member `key`: { culprit, owner, stack }. */
void json_site(struct json *j, const char *key, const struct site_ref *site,
               struct stack_numbers *numbers);

/* What a verb writes of its own: the members of "result"; the lines under a device's heading and
 * trust.  Both may call out_flush between rows. */
typedef void device_answer_json_result(struct json *j, struct out *out, const void *result,
                                       struct stack_numbers *numbers,
                                       const struct render_options *options);
typedef void device_answer_text_result(struct out *out, const struct device_answer *device,
                                       const struct devices_answer *answer,
                                       const struct render_options *options);

/* vramscope.VERB/1 and vramscope.VERB-set/1. */
void device_answer_json(struct out *out, const struct answer_set *set, bool several,
                        const struct render_options *options, const char *verb,
                        device_answer_json_result *write);
void device_answer_text(struct out *out, const struct answer_set *set,
                        const struct render_options *options, device_answer_text_result *write);

#endif
