/* waste_text.c - lifetimes, byte-time and churn, for people. */
#include "render/snapshot/advise/advise.h"
#include "render/write/cells.h"

/* A table of three columns: a quantity, a remark, the line. */
struct listing {
    const char *heading, *quantity, *remark;
    void (*fill)(struct cells *cells, const struct waste *w, uint32_t row, str *cell);
};

enum { COLUMNS = 3 };

static void put_listing(struct buf *to, const struct style *style, const struct waste *w,
                        const struct listing *listing, uint32_t count, uint32_t most)
{
    uint32_t rows = count < most ? count : most;
    const struct text_column column[COLUMNS] = {
        { .heading = listing->quantity, .right = true },
        { .heading = listing->remark, .right = true },
        { .heading = "line", .flexible = true, .least = 12 },
    };
    struct cells cells;
    cells_init(&cells, style);
    str *cell = cells_array(&cells, rows, COLUMNS);
    for (uint32_t i = 0; cell != NULL && i < rows; i++)
        listing->fill(&cells, w, i, cell + (size_t)i * COLUMNS);
    struct text_table table = { column, COLUMNS, rows, cell, 2 };
    buf_char(to, '\n');
    text_wrap(to, style, str_from(listing->heading), 0, 0);
    if (cell != NULL)
        text_table(to, style, &table);
    cells_free(&cells, to);
}

static void fill_churn(struct cells *cells, const struct waste *w, uint32_t row, str *cell)
{
    cell[0] = cell_known_bytes(cells, w->churn[row].size_bytes);
    cell[1] = cell_count(cells, w->churn[row].count);
    cell[2] = cell_text(cells, w->churn[row].site.culprit);
}

static const struct listing churn = {
    "churn: the same size in the same function, freed and soon made again",
    "each",
    "times",
    fill_churn,
};

static void fill_byte_time(struct cells *cells, const struct waste *w, uint32_t row, str *cell)
{
    cell[0] = cell_share(cells, w->byte_time[row].share_ratio);
    cell[1] = cell_share(cells, w->byte_time[row].peak_share_ratio);
    cell[2] = cell_text(cells, w->byte_time[row].site.culprit);
}

static const struct listing byte_time = {
    "who holds bytes longest: shares of bytes times events, and of the peak",
    "byte-time",
    "peak",
    fill_byte_time,
};

static void fill_long(struct cells *cells, const struct waste *w, uint32_t row, str *cell)
{
    const struct long_temporary *of = &w->long_temporary[row];
    cell[0] = cell_known_bytes(cells, of->bytes);
    buf_format(&cells->text, "%lld to %lld", (long long)of->first_event, (long long)of->last_event);
    cell[1] = cell_end(cells);
    cell[2] = cell_text(cells, of->site.culprit);
}

static const struct listing long_temporaries = {
    "temporaries that live long: over a phase, or ten times the usual",
    "size",
    "events",
    fill_long,
};

static void fill_held(struct cells *cells, const struct waste *w, uint32_t row, str *cell)
{
    cell[0] = cell_known_bytes(cells, w->held_over[row].bytes);
    cell[1] = str_from(phase_names[w->held_over[row].phase]);
    cell[2] = cell_text(cells, w->held_over[row].site.culprit);
}

static const struct listing held_over = {
    "held through a phase in which their module asks for nothing",
    "size",
    "phase",
    fill_held,
};

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
        buf_format(&words, "%s%u %% within ", k == 0 ? "" : ", ", (unsigned)life_percent[k]);
        if (k < LIFE_POINTS - 1)
            human_count(&words, w->life_events[k], style->ascii);
        else
            human_counted(&words, w->life_events[k], "event", style->ascii);
    }
    buf_text(&words, "; ");
    human_counted(&words, w->censored_count, "allocation", style->ascii);
    buf_text(&words, ", ");
    human_known_bytes(&words, w->censored_bytes);
    buf_text(&words, w->censored_count == 1
                         ? ", was made before or never freed and is not counted"
                         : ", were made before or never freed and are not counted");
    put_line(to, style, "lives", &words);
}

static void put_device(struct buf *to, const struct style *style, const struct waste *w)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    human_known_bytes(&words, w->mapped_bytes);
    buf_text(&words, " asked of the device in ");
    human_counted(&words, w->mapped, "call", style->ascii);
    buf_text(&words, " after the first step, ");
    human_known_bytes(&words, w->returned_bytes);
    buf_text(&words, " given back in ");
    human_count(&words, w->returned, style->ascii);
    put_line(to, style, "device", &words);
}

static void put_facts(struct buf *to, const struct style *style, const struct waste *w)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    human_known_bytes(&words, w->all_bytes);
    buf_text(&words, " were asked for in the trace");
    if (w->churn_ratio >= 0) {
        buf_text(&words, ", ");
        buf_fixed(&words, w->churn_ratio, 1);
        buf_text(&words, " times the peak");
    }
    buf_text(&words, "; ");
    human_known_bytes(&words, w->slack_bytes);
    buf_format(&words, "%s of the blocks at the peak were not asked for",
               w->slack_exact ? "" : " or more");
    buf_char(to, '\n');
    put_line(to, style, "waste", &words);
}

void waste_text(struct buf *to, const struct style *style, const struct waste *w, uint32_t rows)
{
    put_facts(to, style, w);
    put_lives(to, style, w);
    put_device(to, style, w);
    put_listing(to, style, w, &byte_time, w->byte_times, rows);
    if (w->churns > 0)
        put_listing(to, style, w, &churn, w->churns, rows);
    if (w->long_temporaries > 0)
        put_listing(to, style, w, &long_temporaries, w->long_temporaries, rows);
    if (w->held_overs > 0)
        put_listing(to, style, w, &held_over, w->held_overs, rows);
}
