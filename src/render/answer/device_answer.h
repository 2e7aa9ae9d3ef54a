/* device_answer.h - the text of answers of the common form, device by device. */
#ifndef VRS_RENDER_ANSWER_DEVICE_ANSWER_H
#define VRS_RENDER_ANSWER_DEVICE_ANSWER_H

#include "render/answer/answer.h"
#include "render/answer/device_pages.h"
#include "render/write/out.h"

/* What a verb writes of its own about a device that has a result.  It may call out_flush between
 * rows. */
typedef void device_answer_text_part(struct out *out, const struct device_answer *device,
                                     const struct devices_answer *answer,
                                     const struct render_options *options);

/* The answer stands first; how far to trust it comes after it, then the commands to type next. */
struct device_text {
    device_answer_text_part *result;
    device_answer_text_part *next; /* NULL: no verb tells more */
};

/* The same, of many devices a line each, by which the worst are chosen. */
void device_answers_text(struct out *out, const struct answer_set *set,
                         const struct render_options *options, const struct device_lines *lines,
                         const struct device_text *write);

void device_answer_text(struct out *out, const struct answer_set *set,
                        const struct render_options *options, const struct device_text *write);

#endif
