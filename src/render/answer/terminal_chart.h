/* terminal_chart.h - an area chart of memory over time, drawn with characters. */
#ifndef VRS_RENDER_ANSWER_TERMINAL_CHART_H
#define VRS_RENDER_ANSWER_TERMINAL_CHART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "render/write/human.h"

enum { CHART_ROWS = 8 };

struct terminal_chart {
    /* Maxima of equal spans of the recording's states; a character is the maximum of those it
     * stands for, so the peak is always there. */
    const int64_t *requested, *reserved;
    uint32_t spans;
    uint64_t states; /* events + 1; at least 2 */
    int64_t peak_event;
    const int64_t *oom_event;
    uint32_t ooms;
    uint64_t duration_us; /* UINT64_MAX: not known */
};

/* Whether no curve that is drawn is ever above 0, so that there is nothing to see. */
bool chart_area_is_empty(const struct terminal_chart *chart);
bool chart_line_is_empty(const struct terminal_chart *chart);

/* Eight rows with axes: requested as an area, reserved as a shade above it, the peak and the
 * ooms marked.  Uses style->width columns, at least 30. */
void chart_area(struct buf *to, const struct style *style, const struct terminal_chart *chart);

/* Requested as one line of `columns` characters, without a newline. */
void chart_line(struct buf *to, const struct style *style, const struct terminal_chart *chart,
                uint32_t columns);

#endif
