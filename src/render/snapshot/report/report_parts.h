/* report_parts.h - what a report says of a device, in text and in Markdown. */
#ifndef VRS_RENDER_SNAPSHOT_REPORT_REPORT_PARTS_H
#define VRS_RENDER_SNAPSHOT_REPORT_REPORT_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/report/report.h"
#include "base/buf.h"
#include "render/answer/terminal_chart.h"
#include "render/write/human.h"

/* `oom_event` has room for one of each of the device's. */
struct terminal_chart report_chart(const struct report_device *d, int64_t *oom_event);

/* The line of the peak, and that of a device without a trace; `words` is empty before and after. */
void report_peak_text(struct buf *to, struct buf *words, const struct style *style,
                      const struct report_device *d);
void report_state_text(struct buf *to, struct buf *words, const struct style *style,
                       const struct report_device *d);

/* What the rows are of, and those behind the first `shown` as one more. */
const char *report_heading(const struct report_device *d);
struct report_row report_rest(const struct report_device *d, uint32_t shown);

bool report_device_is_empty(const struct report_device *d);
bool report_is_empty(const struct report *report);

#endif
