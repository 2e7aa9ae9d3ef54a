/* step_growth_text.c - growth from step to step, for people: a sentence, then the kinds of objects
 * that grew. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/objects/step_growth.h"
#include "base/buf.h"
#include "render/answer/answer.h"
#include "render/answer/fields.h"
#include "render/objects/object_answers.h"
#include "render/write/cells.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

enum { ROWS_DEFAULT = 20 };

enum { NAME = 3 };
static const struct shown_column columns[] = {
    { SHOWN(grown_kind_row_type, struct grown_kind, growth_bytes), 0 },
    { SHOWN(grown_kind_row_type, struct grown_kind, first_count), 0 },
    { SHOWN(grown_kind_row_type, struct grown_kind, last_count), 0 },
    [NAME] = { SHOWN(grown_kind_row_type, struct grown_kind, name), 12, .cut = CUT_START },
    { SHOWN(grown_kind_row_type, struct grown_kind, dtype), 0 },
    { SHOWN(grown_kind_row_type, struct grown_kind, shape), 8 },
    { SHOWN(grown_kind_row_type, struct grown_kind, device), 0 },
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* "5 steps added 100.00 MiB, 20.00 MiB at a time, in each step" */
static void put_growth(struct buf *to, const struct step_growth *g, bool ascii)
{
    const struct step_trend *trend = g->trend;
    uint64_t distance = (uint64_t)trend->rises_every * g->every;
    human_counted(to, g->steps, "step", ascii);
    buf_text(to, " added ");
    human_bytes(to, trend->growth_bytes);
    if (trend->rises_every == 0)
        return;
    buf_text(to, ", ");
    human_bytes(to, trend->slope_bytes * (int64_t)trend->rises_every);
    if (distance == 1)
        buf_text(to, " in each");
    else
        buf_format(to, " in every %llu", (unsigned long long)distance);
}

static void put_undecided(struct buf *to, const struct step_growth *g, bool ascii)
{
    buf_text(to, "not decided: ");
    if (g->bytes == NULL) {
        buf_text(to, "what the device has allocated is not known");
        return;
    }
    buf_format(to, "%u of ", g->steps);
    human_counted(to, g->wanted, "step", ascii);
    buf_text(to, " after the warm-up");
}

static void put_sentence(struct buf *to, const struct step_growth *g, bool ascii)
{
    switch ((enum step_growth_class)g->class) {
    case STEP_GROWTH_UNDECIDED:
        put_undecided(to, g, ascii);
        break;
    case STEP_GROWTH_LEAK:
    case STEP_GROWTH_SUSPECT:
        buf_text(to, "memory grows: ");
        put_growth(to, g, ascii);
        if (g->class == STEP_GROWTH_SUSPECT)
            buf_text(to, "; so few steps do not tell whether it goes on");
        break;
    case STEP_GROWTH_TOO_SMALL:
        buf_text(to, "no growth that matters: ");
        put_growth(to, g, ascii);
        buf_text(to, ", less than ");
        human_bytes(to, (int64_t)g->least_bytes);
        break;
    case STEP_GROWTH_PLATEAU:
        buf_text(to, "no growth: memory rose, then stopped; ");
        put_growth(to, g, ascii);
        break;
    case STEP_GROWTH_SAWTOOTH:
        buf_text(to, "no growth: memory rises and is given back");
        break;
    case STEP_GROWTH_STABLE:
    case STEP_GROWTH_CLASSES:
        buf_text(to, "no growth: ");
        put_growth(to, g, ascii);
        break;
    }
}

/* "held by reference cycles: …", "after a collection of garbage 100.00 MiB of it were left" */
static void put_collection(struct buf *to, const struct step_collection *c)
{
    int64_t left = c->growth_bytes > 0 ? c->growth_bytes : 0;
    buf_text(to, c->held_by_cycles ? "held by reference cycles: " : "");
    buf_text(to, "after one collection of garbage ");
    human_bytes(to, left);
    buf_text(to, " of the growth was left");
    if (c->held_by_cycles)
        buf_text(to, "; vramscope.watch_cycles() shows the cycles");
}

/* "objects at the end of step 3 and of step 8; 20.00 MiB of the growth belongs to none …" */
static void put_census(struct buf *to, const struct step_census *census)
{
    buf_format(to, "objects at the end of step %u and of step %u", census->from_step,
               census->to_step);
    if (census->invisible_bytes <= 0)
        return;
    buf_text(to, "; ");
    human_bytes(to, census->invisible_bytes);
    buf_text(to, " of the growth belongs to none that Python can reach");
}

static void put_rows(struct buf *to, const struct step_growth *g,
                     const struct render_options *options)
{
    uint32_t most = options->rows == 0 ? ROWS_DEFAULT : options->rows;
    uint32_t shown = g->rows < most ? g->rows : most;
    bool named = false;
    struct cells cells;
    for (uint32_t i = 0; i < shown; i++)
        named = named || g->row[i].name.len > 0;
    cells_init(&cells, &options->style);
    struct shown_table table = { .column = columns,
                                 .columns = COLUMNS,
                                 .hidden = named ? 0 : 1u << NAME,
                                 SHOWN_ROWS(g->row, shown),
                                 .indent = 2,
                                 .arg = &cells };
    if (shown > 0)
        shown_table(to, &options->style, &cells, &table);
    cells_free(&cells, to);
    if (shown < g->rows) {
        buf_text(to, "  ");
        human_counted(to, g->rows - shown, "more row", options->style.ascii);
        buf_char(to, '\n');
    }
}

void step_growth_text(struct out *out, const struct answer_set *set, bool several,
                      const struct render_options *options)
{
    const struct step_growth *g = set->answers;
    struct buf *to = &out->text, words;
    (void)several;
    buf_init(&words, SIZE_MAX / 2);
    put_sentence(&words, g, options->style.ascii);
    text_wrap(to, &options->style, buf_slice(&words), 0, 2);
    words.len = 0;
    if (g->freed) {
        buf_text(&words, g->census != NULL
                             ? "what grew has been freed since"
                             : "as much has been freed since: what grew, or something else");
        text_wrap(to, &options->style, buf_slice(&words), 0, 2);
    } else if (g->trend != NULL && g->trend->grows && g->collection != NULL) {
        put_collection(&words, g->collection);
        text_wrap(to, &options->style, buf_slice(&words), 0, 2);
    }
    words.len = 0;
    if (g->census != NULL && !g->freed) {
        buf_char(to, '\n');
        put_census(&words, g->census);
        text_wrap(to, &options->style, buf_slice(&words), 0, 2);
        put_rows(to, g, options);
    }
    buf_end(&words, to);
}
