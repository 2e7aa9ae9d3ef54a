/* profile_text.c - what a profiler has measured, for people: a row for each path, then what of it
 * is not exact and what is missing. */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "profiler/profile.h"
#include "render/answer/answer.h"
#include "render/answer/fields.h"
#include "render/profiler/profile_answer.h"
#include "render/write/cells.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"
#include "vramscope/profiler.h"

enum shown {
    PATH,
    KIND,
    DEVICE,
    CALLS,
    TOTAL,
    LONGEST,
    ON_DEVICE,
    START,
    END,
    PEAK,
    PEAK_DELTA,
    GROWTH,
    GROSS,
    TRANSIENT,
    COLUMNS
};
enum { WIDE = 120, NS_PER_US = 1000 };

#define ROW(member) SHOWN(profile_row_type, struct profile_row, member)

static const struct shown_column columns[COLUMNS] = {
    [PATH] = { COMPOSED("where", false), 16, .cut = CUT_START },
    [KIND] = { COMPOSED("", false), 0 },
    [DEVICE] = { ROW(device), 0 },
    [CALLS] = { ROW(calls), 0 },
    [TOTAL] = { COMPOSED("total", true), 0 },
    [LONGEST] = { COMPOSED("longest", true), 0 },
    [ON_DEVICE] = { COMPOSED("on device", true), 0 },
    [START] = { ROW(start), 0 },
    [END] = { ROW(end), 0 },
    [PEAK] = { COMPOSED("peak", true), 0 },
    [PEAK_DELTA] = { ROW(peak_delta), 0 },
    [GROWTH] = { ROW(growth), 0 },
    [GROSS] = { ROW(gross), 0 },
    [TRANSIENT] = { ROW(transient), 0 },
};

static bool is_lower_bound(const struct profile_row *row)
{
    const uint64_t *of = row->states.of;
    return of[VRS_SAMPLED] + of[VRS_LOST] + of[VRS_RACED] > 0;
}

struct table_arg {
    struct cells *cells;
    bool ascii;
};

static void put_peak(struct buf *to, const struct profile_row *row, bool ascii)
{
    if (row->peak == VRS_UNKNOWN) {
        buf_text(to, "-");
        return;
    }
    if (is_lower_bound(row))
        buf_text(to, ascii ? ">= " : "\xe2\x89\xa5 ");
    human_known_bytes(to, row->peak);
}

static bool make_cell(void *arg, const void *from, uint32_t column, str *ret)
{
    const struct table_arg *a = arg;
    const struct profile_row *row = from;
    struct buf *text = &a->cells->text;
    switch ((enum shown)column) {
    case PATH:
        *ret = cell_text(a->cells, row->path);
        return true;
    case KIND:
        *ret = row->kind[0] == 'c' ? S("at") : S("in");
        return true;
    case TOTAL:
        human_duration(text, row->total_ns / NS_PER_US);
        break;
    case LONGEST:
        human_duration(text, row->longest_ns / NS_PER_US);
        break;
    case ON_DEVICE:
        if (row->timed == 0)
            buf_text(text, "-");
        else
            human_duration(text, row->device_ns / NS_PER_US);
        break;
    case PEAK:
        put_peak(text, row, a->ascii);
        break;
    case DEVICE:
    case CALLS:
    case START:
    case END:
    case PEAK_DELTA:
    case GROWTH:
    case GROSS:
    case TRANSIENT:
    case COLUMNS:
        return false;
    }
    *ret = cell_end(a->cells);
    return true;
}

/* Devices where there are several, their time where it was asked for; in a narrow terminal what is
 * told by others. */
static uint32_t hidden_columns(const struct profile *s, uint32_t width)
{
    bool several = false, checkpoints = false, timed = false;
    for (uint32_t i = 0; i < s->rows; i++) {
        several = several || s->row[i].device != s->row[0].device;
        checkpoints = checkpoints || s->row[i].kind[0] == 'c';
        timed = timed || s->row[i].timed > 0;
    }
    uint32_t hidden = several ? 0 : 1u << DEVICE;
    hidden |= checkpoints ? 0 : 1u << KIND;
    hidden |= timed ? 0 : 1u << ON_DEVICE;
    if (width < WIDE)
        hidden |= 1u << LONGEST | 1u << START | 1u << END | 1u << GROSS;
    return hidden;
}

/* A sentence for each kind of figure that is not exact or not there. */
static void put_foot(struct buf *to, const struct style *style, const struct profile *s)
{
    const struct {
        uint64_t count;
        const char *one, *words;
    } foot[] = {
        { s->lower_bounds, "interval",
          " with a peak that is a lower bound (marked >=): somebody "
          "else reset the device's peak, or resets are forbidden." },
        { s->unknown, "interval",
          " of which the device told nothing: in no figure but calls and "
          "times." },
        { s->records_lost, "record",
          " overwritten: more were taken than are kept. The rows above "
          "have them all." },
        { s->scopes_lost, "result", " of scopes overwritten likewise." },
        { s->scopes_dropped, "scope", " never left, and in no row." },
    };
    for (uint32_t i = 0; i < sizeof foot / sizeof foot[0]; i++) {
        struct buf line;
        if (foot[i].count == 0)
            continue;
        buf_init(&line, SIZE_MAX / 2);
        human_counted(&line, foot[i].count, foot[i].one, style->ascii);
        buf_text(&line, foot[i].words);
        text_wrap(to, style, buf_slice(&line), 2, 2);
        buf_char(to, '\n');
        buf_end(&line, to);
    }
}

void profile_text(struct out *out, const struct answer_set *set, bool several,
                  const struct render_options *options)
{
    const struct profile *s = set->answers;
    struct buf *to = &out->text;
    struct cells cells;
    uint32_t rows = options->rows != 0 && options->rows < s->rows ? options->rows : s->rows;
    (void)several;
    cells_init(&cells, &options->style);
    struct table_arg arg = { &cells, options->style.ascii };
    struct shown_table table = { .column = columns,
                                 .columns = COLUMNS,
                                 .hidden = hidden_columns(s, options->style.width),
                                 SHOWN_ROWS(s->row, rows),
                                 .indent = 2,
                                 .make = make_cell,
                                 .arg = &arg };
    if (rows > 0)
        shown_table(to, &options->style, &cells, &table);
    else
        buf_text(to, "  nothing was measured\n");
    cells_free(&cells, to);
    if (rows < s->rows) {
        buf_text(to, "  ");
        human_counted(to, s->rows - rows, "more row", options->style.ascii);
        buf_char(to, '\n');
    }
    put_foot(to, &options->style, s);
}
