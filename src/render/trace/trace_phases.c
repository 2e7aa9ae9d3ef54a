/* trace_phases.c - each phase with its time on the wall and on devices, and their shares. */
#include "render/trace/trace_phases.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/report.h"
#include "base/bytes.h"
#include "base/str.h"
#include "render/answer/envelope.h"
#include "render/write/cells.h"
#include "render/write/row_table.h"
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

const char *trace_phase_word(uint8_t phase)
{
    return phase == PHASE_RECOMPUTE ? "recompute (of checkpoints)"
           : phase == PHASE_UNKNOWN ? "launch not in the trace"
                                    : trace_phase_names[phase];
}

/* The phases of all steps, with their sums. */
struct phase_sums {
    const struct trace_phases *phases;
    int64_t wall, device;
    bool has_devices;
};

static void fill_phase(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct phase_sums *s = from;
    const struct trace_phase_row *row = &s->phases->row[i];
    cell[0] = str_from(trace_phase_word(row->phase));
    cell[1] = cell_of_ns(cells, row->wall_ns);
    cell[2] = cell_of_share(cells, row->wall_ns, s->wall);
    if (!s->has_devices)
        return;
    cell[3] = cell_of_ns(cells, row->device_ns);
    cell[4] = cell_of_share(cells, row->device_ns, s->device);
}

static void all_table(struct buf *to, const struct style *style, const struct trace_report *r,
                      uint32_t most)
{
    static const struct text_column columns[] = {
        { "phase", false, true, 12, CUT_END },  { "wall", true, false, 0, CUT_END },
        { "share", true, false, 0, CUT_END },   { "device", true, false, 0, CUT_END },
        { "share", true, false, 0, CUT_END },
    };
    enum { DEVICE_COLUMNS = 2 };
    const struct trace_phases *p = &r->phases;
    struct phase_sums sums = { .phases = p, .has_devices = r->devices > 0 };
    for (uint32_t i = 0; i < p->rows; i++) {
        sums.wall = i64_plus(sums.wall, p->row[i].wall_ns);
        sums.device = i64_plus(sums.device, p->row[i].device_ns);
    }
    struct row_table table = { ROW_TABLE_COLUMNS(columns), p->rows, most, &sums,
                               fill_phase, "phase" };
    table.columns -= sums.has_devices ? 0 : DEVICE_COLUMNS;
    row_table(to, style, &table);
}

static void fill_step(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    static const enum trace_phase order[] = { PHASE_DATA,     PHASE_FORWARD,   PHASE_RECOMPUTE,
                                              PHASE_BACKWARD, PHASE_OPTIMIZER, PHASE_OTHER };
    const struct trace_phases *p = from;
    cell[0] = cell_text(cells, p->step[i].step);
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        cell[k + 1] = cell_of_ns(cells, p->step[i].wall_ns[order[k]]);
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
    const struct row_table table = { ROW_TABLE_COLUMNS(columns), r->phases.steps, most, &r->phases,
                                     fill_step, "step" };
    row_table(to, style, &table);
}

static void put_title(struct buf *to, const struct style *style, const char *words)
{
    text_wrap(to, style, str_from(words), 0, 0);
}

void trace_phases_tables(struct buf *to, const struct style *style, const struct trace_report *r,
                         uint32_t most)
{
    if (r->phases.rows == 0) {
        struct buf words;
        buf_init(&words, SIZE_MAX / 2);
        buf_text(&words, "none: nothing was recorded that takes time");
        envelope_words(to, style, "phases", &words);
        buf_end(&words, to);
        return;
    }
    put_title(to, style, r->phases.of_steps ? "phases of all steps together"
                                            : "phases of the whole trace, which has no steps");
    all_table(to, style, r, most);
    if (r->phases.rows == 1 && r->phases.row[0].phase == PHASE_OTHER)
        table_note_text(to, style,
                        "no loader, optimizer or backward was recorded that would tell the phases");
    buf_char(to, '\n');
    if (r->phases.steps == 0)
        return;
    put_title(to, style, "phases of each step, on the wall");
    steps_table(to, style, r, most);
    buf_char(to, '\n');
}
