/* report_picture_text.c - how the memory moved, drawn with characters. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/report/report.h"
#include "base/arena.h"
#include "base/buf.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/answer/terminal_chart.h"
#include "render/snapshot/report/report_parts.h"
#include "render/write/human.h"

struct terminal_chart report_chart(const struct report_device *d, int64_t *oom_event)
{
    for (uint32_t i = 0; i < d->ooms; i++)
        oom_event[i] = d->oom[i].event;
    return (struct terminal_chart){
        .requested = d->requested,
        .reserved = d->reserved,
        .spans = d->spans,
        .states = d->events + 1,
        .peak_event = d->curves.of[CURVE_REQUESTED].peak_event,
        .oom_event = oom_event,
        .ooms = d->ooms,
        .duration_us = d->duration_us,
    };
}

static void put_picture(struct buf *to, struct arena *arena, const struct report_device *d,
                        const struct render_options *options)
{
    const struct style *style = &options->style;
    int64_t *oom_event = arena_array(arena, int64_t, d->ooms + 1u);
    if (oom_event == NULL) {
        to->failed = true;
        return;
    }
    struct terminal_chart chart = report_chart(d, oom_event);
    if (options->picture ? chart_area_is_empty(&chart) : chart_line_is_empty(&chart))
        return;
    if (options->picture) {
        buf_char(to, '\n');
        paint_on(to, style, PAINT_BOLD);
        buf_text(to, style->ascii ? "Memory in use (#) and reserved (') at each event"
                                  : "Memory in use (█) and reserved (░) at each event");
        paint_off(to, style);
        buf_char(to, '\n');
        chart_area(to, style, &chart);
    } else {
        buf_char(to, '\n');
        envelope_label(to, style, "In use");
        chart_line(to, style, &chart, style->width - ENVELOPE_LABEL);
        buf_char(to, '\n');
    }
}

void report_picture_text(struct buf *to, const struct report_device *d,
                         const struct render_options *options)
{
    struct arena arena;
    if (!d->traced || d->events == 0)
        return;
    arena_init(&arena, SIZE_MAX / 2);
    put_picture(to, &arena, d, options);
    arena_free(&arena);
}
