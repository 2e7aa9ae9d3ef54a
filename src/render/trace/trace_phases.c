/* trace_phases.c - each phase with its time on the wall and on devices, and their shares. */
#include "render/trace/trace_phases.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/report.h"
#include "base/bytes.h"
#include "base/str.h"
#include "render/write/cells.h"
#include "render/write/text.h"

static str cell_of_ns(struct cells *cells, int64_t ns)
{
    human_ns(&cells->text, ns > 0 ? (uint64_t)ns : 0);
    return cell_end(cells);
}

static str cell_of_share(struct cells *cells, int64_t part, int64_t whole)
{
    return cell_share(cells, part < 0 || whole <= 0 ? -1 : (double)part / (double)whole);
}

static const char *phase_word(uint8_t phase)
{
    return phase == PHASE_RECOMPUTE ? "recompute (of checkpoints)"
           : phase == PHASE_UNKNOWN ? "launch not in the trace"
                                    : trace_phase_names[phase];
}

static void all_table(struct buf *to, const struct style *style, const struct trace_report *r)
{
    static const struct text_column columns[] = {
        { "phase", false, true, 12, CUT_END },  { "wall", true, false, 0, CUT_END },
        { "share", true, false, 0, CUT_END },   { "device", true, false, 0, CUT_END },
        { "share", true, false, 0, CUT_END },
    };
    enum { COLUMNS = sizeof columns / sizeof *columns, HOST_COLUMNS = 3 };
    const struct trace_phases *p = &r->phases;
    const uint32_t shown = r->devices > 0 ? COLUMNS : HOST_COLUMNS;
    int64_t wall = 0, device = 0;
    struct cells cells;
    for (uint32_t i = 0; i < p->rows; i++) {
        wall = i64_plus(wall, p->row[i].wall_ns);
        device = i64_plus(device, p->row[i].device_ns);
    }
    cells_init(&cells, style);
    str *cell = cells_array(&cells, p->rows, shown);
    for (uint32_t i = 0; i < p->rows && cell != NULL; i++) {
        str *at = cell + (size_t)i * shown;
        const struct trace_phase_row *row = &p->row[i];
        at[0] = str_from(phase_word(row->phase));
        at[1] = cell_of_ns(&cells, row->wall_ns);
        at[2] = cell_of_share(&cells, row->wall_ns, wall);
        if (shown == COLUMNS) {
            at[3] = cell_of_ns(&cells, row->device_ns);
            at[4] = cell_of_share(&cells, row->device_ns, device);
        }
    }
    if (cell != NULL)
        text_table(to, style, &(struct text_table){ columns, shown, p->rows, cell, 2 });
    cells_free(&cells, to);
}

static void steps_table(struct buf *to, const struct style *style, const struct trace_report *r,
                        uint32_t most)
{
    static const struct text_column columns[] = {
        { "step", false, true, 12, CUT_MIDDLE },    { "data", true, false, 0, CUT_END },
        { "forward", true, false, 0, CUT_END },     { "recompute", true, false, 0, CUT_END },
        { "backward", true, false, 0, CUT_END },    { "optimizer", true, false, 0, CUT_END },
        { "other", true, false, 0, CUT_END },
    };
    static const enum trace_phase order[] = { PHASE_DATA,     PHASE_FORWARD,   PHASE_RECOMPUTE,
                                              PHASE_BACKWARD, PHASE_OPTIMIZER, PHASE_OTHER };
    enum { COLUMNS = sizeof columns / sizeof *columns };
    uint32_t shown = r->phases.steps < most ? r->phases.steps : most;
    struct cells cells;
    cells_init(&cells, style);
    str *cell = cells_array(&cells, shown, COLUMNS);
    for (uint32_t i = 0; i < shown && cell != NULL; i++) {
        str *at = cell + (size_t)i * COLUMNS;
        at[0] = cell_text(&cells, r->phases.step[i].step);
        for (uint32_t k = 0; k + 1 < COLUMNS; k++)
            at[k + 1] = cell_of_ns(&cells, r->phases.step[i].wall_ns[order[k]]);
    }
    if (cell != NULL)
        text_table(to, style, &(struct text_table){ columns, COLUMNS, shown, cell, 2 });
    cells_free(&cells, to);
    if (shown < r->phases.steps) {
        buf_text(to, "  and ");
        human_counted(to, r->phases.steps - shown, "step", style->ascii);
        buf_text(to, " more\n");
    }
}

void trace_phases_tables(struct buf *to, const struct style *style, const struct trace_report *r,
                         uint32_t most)
{
    if (r->phases.rows == 0) {
        buf_text(to, "phases   none: nothing was recorded that takes time\n");
        return;
    }
    buf_text(to, r->phases.of_steps ? "phases of all steps together\n"
                                    : "phases of the whole trace, which has no steps\n");
    all_table(to, style, r);
    if (r->phases.rows == 1 && r->phases.row[0].phase == PHASE_OTHER)
        buf_text(to, "  no loader, optimizer or backward was recorded that would tell the phases\n");
    buf_char(to, '\n');
    if (r->phases.steps == 0)
        return;
    buf_text(to, "phases of each step, on the wall\n");
    steps_table(to, style, r, most);
    buf_char(to, '\n');
}
