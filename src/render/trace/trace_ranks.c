/* trace_ranks.c - who was slow, who waited for whom, and how much of it nothing else hid. */
#include "render/trace/trace_ranks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"
#include "render/answer/envelope.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/row_table.h"
#include "render/write/text.h"

enum { ROWS_SHOWN = 8, RANKS_SHOWN = 64 };

static void put_ns(struct buf *to, int64_t ns)
{
    human_ns(to, ns > 0 ? (uint64_t)ns : 0);
}

static str cell_ns(struct cells *cells, int64_t ns)
{
    put_ns(&cells->text, ns);
    return cell_end(cells);
}

static str cell_signed(struct cells *cells, int64_t number)
{
    buf_format(&cells->text, "%lld", (long long)number);
    return cell_end(cells);
}

/* How ranks were told. */
static const char *by_words(static_text by)
{
    return strcmp(by, "distributed_info") == 0 ? "by distributedInfo in the files"
           : strcmp(by, "name") == 0           ? "by the names of the files"
                                               : "by processes of the host in the file";
}

/* The one that was slowest most often, and the one that waited most. */
static void put_sentence(struct buf *to, const struct style *style, const struct trace_ranks *r,
                         int64_t world_size)
{
    const struct trace_rank_row *slow = &r->row[0], *waits = &r->row[0];
    struct buf words;
    uint32_t compared = 0;
    buf_init(&words, SIZE_MAX / 2);
    for (uint32_t i = 0; i < r->rows; i++) {
        compared += r->row[i].slowest;
        slow = r->row[i].slowest > slow->slowest ? &r->row[i] : slow;
        waits = r->row[i].waiting_ns > waits->waiting_ns ? &r->row[i] : waits;
    }
    if (world_size > (int64_t)r->rows)
        buf_format(&words, "%u of %lld ranks (the others are not in these files)",
                   (unsigned)r->rows, (long long)world_size);
    else
        buf_format(&words, "%u ranks", (unsigned)r->rows);
    buf_format(&words, ", %s", by_words(r->by));
    if (compared > 0)
        buf_format(&words, "; rank %lld was the slowest in %u of %u step%s in which they differ",
                   (long long)slow->rank, (unsigned)slow->slowest, (unsigned)compared,
                   compared == 1 ? "" : "s");
    if (waits->waiting_ns > 0) {
        buf_format(&words, "; rank %lld waited longest for others, ", (long long)waits->rank);
        put_ns(&words, waits->waiting_ns);
        buf_text(&words, " or ");
        human_share(&words, waits->waiting);
        buf_text(&words, " of its time in collectives");
    }
    if (r->unmatched > 0) {
        buf_text(&words, "; ");
        human_counted(&words, r->unmatched, "collective", style->ascii);
        buf_text(&words, " not on all ranks left out");
    }
    envelope_words(to, style, "ranks", &words);
    buf_end(&words, to);
}

void trace_outsider_text(struct buf *to, const struct style *style, str path)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    buf_text(&words, "not compared: ");
    escape_text(&words, path, style->ascii);
    buf_text(&words, " is not of the job whose ranks others are; name the files of one job alone");
    envelope_words(to, style, "ranks", &words);
    buf_end(&words, to);
}

void trace_same_rank_text(struct buf *to, const struct style *style, const struct same_rank *same)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    escape_text(&words, same->path, style->ascii);
    buf_text(&words, " and ");
    escape_text(&words, same->other_path, style->ascii);
    buf_format(&words, " are both of rank %lld %s, so no ranks are compared; name one file of each",
               (long long)same->rank, by_words(same->by));
    envelope_words(to, style, "ranks", &words);
    buf_end(&words, to);
}

static void fill_rank(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct trace_ranks *r = from;
    const struct trace_rank_row *row = &r->row[i];
    cell[0] = cell_signed(cells, row->rank);
    cell[1] = cell_count(cells, row->steps);
    if (row->steps > 0)
        put_ns(&cells->text, row->median_step_ns);
    else
        buf_char(&cells->text, '-');
    cell[2] = cell_end(cells);
    cell[3] = cell_count(cells, row->slowest);
    cell[4] = cell_ns(cells, row->communication_ns);
    cell[5] = cell_ns(cells, row->exposed_communication_ns);
    cell[6] = cell_ns(cells, row->waiting_ns);
    if (row->path.ptr != NULL) {
        cell[7] = cell_text(cells, row->path);
        return;
    }
    buf_text(&cells->text, "process ");
    if (row->process.ptr != NULL)
        escape_text(&cells->text, row->process, cells->ascii);
    cell[7] = cell_end(cells);
}

static void fill_step(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct trace_ranks *r = from;
    const struct trace_rank_step_row *row = &r->step[i];
    cell[0] = cell_signed(cells, row->number);
    cell[1] = cell_ns(cells, row->shortest_ns);
    cell[2] = cell_ns(cells, row->longest_ns);
    cell[3] = cell_ns(cells, row->skew_ns);
    cell[4] = row->skew_ns > 0 ? cell_signed(cells, row->slowest) : S("-");
    cell[5] = cell_count(cells, row->ranks);
}

static void fill_collective(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct trace_ranks *r = from;
    const struct trace_rank_collective_row *row = &r->collective[i];
    cell[0] = cell_text(cells, row->name);
    cell[1] = cell_count(cells, row->calls);
    cell[2] = cell_ns(cells, row->ns);
    cell[3] = cell_ns(cells, row->waiting_ns);
    cell[4] = cell_ns(cells, row->most_waiting_ns);
}

static void put_table(struct buf *to, const struct style *style, const struct row_table *table)
{
    if (row_table(to, style, table))
        buf_char(to, '\n');
}

void trace_ranks_text(struct buf *to, const struct style *style, const struct trace_ranks *ranks,
                      int64_t world_size, uint32_t most)
{
    static const struct text_column rank_columns[] = {
        { "rank", true, false, 0, CUT_END },    { "steps", true, false, 0, CUT_END },
        { "median", true, false, 0, CUT_END },  { "slowest in", true, false, 0, CUT_END },
        { "collectives", true, false, 0, CUT_END },   { "exposed", true, false, 0, CUT_END },
        { "waiting", true, false, 0, CUT_END }, { "of", false, true, 8, CUT_START },
    };
    static const struct text_column step_columns[] = {
        { "step", true, false, 0, CUT_END },    { "shortest", true, false, 0, CUT_END },
        { "longest", true, false, 0, CUT_END }, { "skew", true, false, 0, CUT_END },
        { "slowest", true, false, 0, CUT_END }, { "ranks", true, false, 0, CUT_END },
    };
    static const struct text_column collective_columns[] = {
        { "collective", false, true, 16, CUT_MIDDLE },  { "calls", true, false, 0, CUT_END },
        { "all ranks", true, false, 0, CUT_END },       { "waiting", true, false, 0, CUT_END },
        { "at most at once", true, false, 0, CUT_END },
    };
    if (ranks == NULL || ranks->rows == 0)
        return;
    uint32_t ranks_most = most == 0 ? RANKS_SHOWN : most;
    most = most == 0 ? ROWS_SHOWN : most;
    put_sentence(to, style, ranks, world_size);
    buf_char(to, '\n');
    const struct row_table tables[] = {
        { ROW_TABLE_COLUMNS(rank_columns), ranks->rows, ranks_most, ranks, fill_rank, "row" },
        { ROW_TABLE_COLUMNS(step_columns), ranks->steps, most, ranks, fill_step, "row" },
        { ROW_TABLE_COLUMNS(collective_columns), ranks->collectives, most, ranks, fill_collective,
          "row" },
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        put_table(to, style, &tables[i]);
}
