/* waste_text.c - lifetimes, byte-time and churn, for people. */
#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/advise/waste.h"
#include "analysis/snapshot/study/site_fields.h"
#include "analysis/snapshot/study/study.h"
#include "base/buf.h"
#include "base/str.h"
#include "model/ids.h"
#include "render/answer/envelope.h"
#include "render/answer/fields.h"
#include "render/snapshot/advise/advise.h"
#include "render/write/cells.h"
#include "render/write/human.h"
#include "render/write/text.h"

/* A table of three columns: a quantity, a remark, the line. */
static void put_listing(struct buf *to, const struct style *style, const char *heading,
                        struct shown_table table, uint32_t most)
{
    struct cells cells;
    cells_init(&cells, style);
    table.columns = 3;
    table.rows = table.rows < most ? table.rows : most;
    table.indent = 2;
    table.arg = &cells;
    buf_char(to, '\n');
    text_wrap(to, style, str_from(heading), 0, 0);
    shown_table(to, style, &cells, &table);
    cells_free(&cells, to);
}

#define LINE(type)                                                                                 \
    {                                                                                              \
        SHOWN_IN(type, site, site_row_type, struct site_ref, culprit), 12, .heading = "line"       \
    }

static void put_churn(struct buf *to, const struct style *style, const struct waste *w,
                      uint32_t most)
{
    static const struct shown_column columns[] = {
        { SHOWN(churn_row_type, struct churn, size_bytes), 0 },
        { SHOWN(churn_row_type, struct churn, count), 0 },
        LINE(struct churn),
    };
    if (w->churns > 0)
        put_listing(
            to, style, "churn: the same size in the same function, freed and soon allocated again",
            (struct shown_table){ .column = columns, SHOWN_ROWS(w->churn, w->churns) }, most);
}

static void put_byte_time(struct buf *to, const struct style *style, const struct waste *w,
                          uint32_t most)
{
    static const struct shown_column columns[] = {
        { SHOWN(byte_time_row_type, struct byte_time, share_ratio), 0 },
        { SHOWN(byte_time_row_type, struct byte_time, peak_share_ratio), 0 },
        LINE(struct byte_time),
    };
    put_listing(
        to, style, "who holds bytes longest: share of byte-time (bytes times events), and of peak",
        (struct shown_table){ .column = columns, SHOWN_ROWS(w->byte_time, w->byte_times) }, most);
}

enum long_column { SIZE, EVENTS };

static bool long_cell(void *arg, const void *row, uint32_t column, str *ret)
{
    struct cells *cells = arg;
    const struct long_temporary *of = row;
    if (column != EVENTS)
        return false;
    buf_format(&cells->text, "%lld to %lld", (long long)of->first_event, (long long)of->last_event);
    *ret = cell_end(cells);
    return true;
}

static void put_long(struct buf *to, const struct style *style, const struct waste *w,
                     uint32_t most)
{
    static const struct shown_column columns[] = {
        [SIZE] = { SHOWN(long_temporary_row_type, struct long_temporary, bytes), 0 },
        [EVENTS] = { COMPOSED("events", true), 0 },
        LINE(struct long_temporary),
    };
    if (w->long_temporaries > 0)
        put_listing(to, style,
                    "temporaries that live long: past their phase, or ten times as long as usual",
                    (struct shown_table){ .column = columns,
                                          SHOWN_ROWS(w->long_temporary, w->long_temporaries),
                                          .make = long_cell },
                    most);
}

static void put_held(struct buf *to, const struct style *style, const struct waste *w,
                     uint32_t most)
{
    static const struct shown_column columns[] = {
        { SHOWN(held_over_row_type, struct held_over, bytes), 0 },
        { SHOWN(held_over_row_type, struct held_over, phase), 0, .right = true },
        LINE(struct held_over),
    };
    if (w->held_overs > 0)
        put_listing(
            to, style, "held through a phase in which their module allocates nothing",
            (struct shown_table){ .column = columns, SHOWN_ROWS(w->held_over, w->held_overs) },
            most);
}

static void put_line(struct buf *to, const struct style *style, const char *label,
                     struct buf *words)
{
    envelope_words(to, style, label, words);
    buf_end(words, to);
}

static void put_lives(struct buf *to, const struct style *style, const struct waste *w)
{
    struct buf words;
    if (w->life_events[0] == UNKNOWN_U64)
        return;
    buf_init(&words, SIZE_MAX / 2);
    for (int k = 0; k < LIFE_POINTS; k++) {
        if (k == 0)
            buf_format(&words, "%u %% of allocations live at most ", (unsigned)life_percent[k]);
        else
            buf_format(&words, ", %u %% ", (unsigned)life_percent[k]);
        if (k < LIFE_POINTS - 1)
            human_count(&words, w->life_events[k], style->ascii);
        else
            human_counted(&words, w->life_events[k], "event", style->ascii);
    }
    buf_text(&words, "; ");
    human_counted(&words, w->censored_count, "allocation", style->ascii);
    buf_text(&words, " of ");
    human_known_bytes(&words, w->censored_bytes);
    buf_text(&words, w->censored_count == 1
                         ? ", older than the trace or never freed, is not counted"
                         : ", older than the trace or never freed, are not counted");
    put_line(to, style, "lives", &words);
}

static void put_device(struct buf *to, const struct style *style, const struct waste *w)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    human_known_bytes(&words, w->mapped_bytes);
    buf_text(&words, " reserved from the device in ");
    human_counted(&words, w->mapped, "call", style->ascii);
    buf_text(&words, " after the first step, ");
    human_known_bytes(&words, w->returned_bytes);
    buf_text(&words, " returned in ");
    human_count(&words, w->returned, style->ascii);
    put_line(to, style, "device", &words);
}

static void put_facts(struct buf *to, const struct style *style, const struct waste *w)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    human_known_bytes(&words, w->all_bytes);
    buf_text(&words, " were requested in the trace");
    if (w->churn_ratio >= 0) {
        buf_text(&words, ", ");
        buf_fixed(&words, w->churn_ratio, 1);
        buf_text(&words, " times the peak");
    }
    buf_text(&words, "; ");
    human_known_bytes(&words, w->slack_bytes);
    buf_format(&words, "%s of the blocks at the peak are slack, beyond what was requested",
               w->slack_exact ? "" : " or more");
    buf_char(to, '\n');
    put_line(to, style, "waste", &words);
}

void waste_text(struct buf *to, const struct style *style, const struct waste *w, uint32_t rows)
{
    put_facts(to, style, w);
    put_lives(to, style, w);
    put_device(to, style, w);
    put_byte_time(to, style, w, rows);
    put_churn(to, style, w, rows);
    put_long(to, style, w, rows);
    put_held(to, style, w, rows);
}
