/* fragments_text.c - reserved memory that cannot be used, and the blocks that pin it, for people.
 */
#include "analysis/snapshot/layout/fragments.h"
#include "render/answer/device_answer.h"
#include "render/snapshot/renderers.h"
#include "render/write/cells.h"
#include "render/write/escape.h"

enum { PINS_DEFAULT = 10, GROUPS_MOST = 20, CELLS_MOST = 8 };

/* What is put together for one device. */
struct text_context {
    const struct style *style;
    struct buf *to;
    struct cells cells;
    struct buf words; /* of one paragraph */
};

static void put_words(struct text_context *s, const char *label)
{
    envelope_words(s->to, s->style, label, &s->words);
}

/* "1.41 GiB", then the words. */
static void add_bytes(struct text_context *s, uint64_t bytes, const char *words)
{
    human_known_bytes(&s->words, bytes);
    buf_text(&s->words, words);
}

static void put_moment(struct text_context *s, const struct fragments *f)
{
    if (f->at_end)
        buf_text(&s->words, "at the end of the recording");
    else if (f->at_event < 0)
        buf_text(&s->words, "at the start of the recording");
    else
        buf_format(&s->words, "after event %lld", (long long)f->at_event);
    put_words(s, "moment");
}

/* What matters first: how much is lost, and what is not. */
static void put_stranded(struct text_context *s, const struct fragments *f)
{
    const struct fragment_group *t = &f->total;
    const char *about = f->exact ? "" : "~";
    buf_text(&s->words, about);
    add_bytes(s, t->stranded_bytes,
              " free, and can be neither returned nor used by a request that "
              "is larger than the holes");
    if (t->reserved_bytes > 0) {
        buf_text(&s->words, ": ");
        human_share(&s->words, share_ratio(t->stranded_bytes, t->reserved_bytes));
        buf_text(&s->words, " of ");
        add_bytes(s, t->reserved_bytes, " reserved");
    }
    put_words(s, "stranded");
    if (t->returnable_bytes > 0) {
        buf_text(&s->words, about);
        add_bytes(s, t->returnable_bytes,
                  " free in whole segments or pages: torch.cuda.empty_cache() "
                  "returns it, so it is no fragmentation");
    } else {
        buf_text(&s->words, "nothing that torch.cuda.empty_cache() would return");
    }
    put_words(s, "cached");
    buf_text(&s->words, about);
    add_bytes(s, t->active_bytes, " in blocks in use");
    if (t->pending_bytes > 0) {
        buf_text(&s->words, ", ");
        add_bytes(s, t->pending_bytes, " of it freed and waiting for another stream");
    }
    if (t->slack_bytes > 0) {
        buf_text(&s->words, "; ");
        buf_text(&s->words, about);
        add_bytes(s, t->slack_bytes, " of it was not asked for but came with the block");
    }
    put_words(s, "active");
}

static str group_cell(struct text_context *s, const struct fragment_group *g)
{
    struct buf *text = &s->cells.text;
    buf_text(text, g->small ? "small" : "large");
    if (g->stream != 0)
        buf_format(text, ", stream %llu", (unsigned long long)g->stream);
    return cell_end(&s->cells);
}

static void fill_group(struct text_context *s, const struct fragment_group *g, bool all, str *cell)
{
    *cell++ = cell_known_bytes(&s->cells, g->stranded_bytes);
    *cell++ = cell_share(&s->cells, share_ratio(g->stranded_bytes, g->reserved_bytes));
    *cell++ = cell_known_bytes(&s->cells, g->returnable_bytes);
    *cell++ = cell_known_bytes(&s->cells, g->servable_bytes);
    *cell++ = cell_known_bytes(&s->cells, g->reserved_bytes);
    if (all)
        *cell++ = cell_share(&s->cells,
                             share_ratio(g->free_bytes - g->largest_free_bytes, g->free_bytes));
    *cell++ = group_cell(s, g);
}

/* Smaller streams and classes are folded: there may be thousands. */
static void put_groups(struct text_context *s, const struct fragments *f)
{
    static const struct text_column all[] = {
        { "stranded", true, false, 0, false }, { "share", true, false, 0, false },
        { "cached", true, false, 0, false },   { "serves", true, false, 0, false },
        { "reserved", true, false, 0, false }, { "1-largest/free", true, false, 0, false },
        { "part", false, true, 12, false },
    };
    struct text_column column[CELLS_MOST];
    uint32_t columns = 0, shown = f->groups < GROUPS_MOST ? f->groups : GROUPS_MOST;
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        if (i != 5 || f->all_metrics)
            column[columns++] = all[i];
    str *cell = cells_array(&s->cells, (size_t)shown + 1, columns);
    if (cell == NULL || shown == 0)
        return;
    for (uint32_t i = 0; i < shown; i++)
        fill_group(s, &f->group[i], f->all_metrics, cell + (size_t)i * columns);
    struct text_table table = { column, columns, shown, cell, 0 };
    buf_char(s->to, '\n');
    text_table(s->to, s->style, &table);
    if (f->groups > shown) {
        human_counted(s->to, f->groups - shown, "group", s->style->ascii);
        buf_text(s->to, " more, each with less stranded\n");
    }
}

/* "train.py:45 main (gradient)"; what every process has is not to be blamed on a line. */
static str by_cell(struct text_context *s, const struct fragment_culprit *by)
{
    struct buf *text = &s->cells.text;
    if (by->expected)
        buf_text(text, "workspace, expected: ");
    escape_text(text, by->site.culprit, s->style->ascii);
    if (!by->expected && by->category != CATEGORY_UNKNOWN)
        buf_format(text, " (%s)", category_names[by->category]);
    return cell_end(&s->cells);
}

static void put_pins(struct text_context *s, const struct fragments *f, uint32_t most)
{
    static const struct text_column column[] = {
        { "pinned", true, false, 0, false },
        { "in use", true, false, 0, false },
        { "blocks", true, false, 0, false },
        { "segment", true, false, 0, false },
        { "largest block made by", false, true, 16, false },
    };
    enum { COLUMNS = sizeof column / sizeof *column };
    uint32_t shown = f->pins < most ? f->pins : most, rows = shown;
    str *cell = cells_array(&s->cells, (size_t)shown + 1, COLUMNS);
    if (cell == NULL || shown == 0)
        return;
    uint64_t pinned = 0, active = 0, blocks = 0, total = 0;
    for (uint32_t i = 0; i < f->pins; i++) {
        const struct fragment_pin *p = &f->pin[i];
        str *row = cell + (size_t)i * COLUMNS;
        if (i < shown) {
            row[0] = cell_known_bytes(&s->cells, p->stranded_bytes);
            row[1] = cell_known_bytes(&s->cells, p->active_bytes);
            row[2] = cell_count(&s->cells, p->blocks);
            row[3] = cell_known_bytes(&s->cells, p->total_bytes);
            row[4] = by_cell(s, &p->by);
            continue;
        }
        pinned += p->stranded_bytes;
        active += p->active_bytes;
        blocks += p->blocks;
        total += p->total_bytes;
    }
    if (f->pins > shown) {
        str *row = cell + (size_t)rows++ * COLUMNS;
        row[0] = cell_known_bytes(&s->cells, pinned);
        row[1] = cell_known_bytes(&s->cells, active);
        row[2] = cell_count(&s->cells, blocks);
        row[3] = cell_known_bytes(&s->cells, total);
        row[4] = cell_other(&s->cells, f->pins - shown, "segment");
    }
    struct text_table table = { column, COLUMNS, rows, cell, 0 };
    buf_char(s->to, '\n');
    text_table(s->to, s->style, &table);
}

static str age_cell(struct text_context *s, int64_t age)
{
    return age < 0 ? S("older") : cell_count(&s->cells, (uint64_t)age);
}

static void put_moves_sum(struct text_context *s, const struct fragments *f)
{
    uint64_t moved = 0, returned = 0;
    for (uint32_t i = 0; i < f->moves; i++) {
        moved += f->move[i].bytes;
        returned += f->move[i].returned_bytes;
    }
    add_bytes(s, returned, " would be returned if ");
    if (f->moves == 1)
        buf_text(&s->words, "this block of ");
    else
        buf_format(&s->words, "these %u blocks of ", f->moves);
    add_bytes(s, moved, " lay elsewhere:");
    put_words(s, "moves");
}

static void put_moves(struct text_context *s, const struct fragments *f)
{
    static const struct text_column column[] = {
        { "returns", true, false, 0, false },
        { "if moved", true, false, 0, false },
        { "age", true, false, 0, false },
        { "block made by", false, true, 16, false },
    };
    enum { COLUMNS = sizeof column / sizeof *column };
    str *cell = cells_array(&s->cells, (size_t)f->moves + 1, COLUMNS);
    if (cell == NULL || f->moves == 0)
        return;
    for (uint32_t i = 0; i < f->moves; i++) {
        const struct fragment_move *m = &f->move[i];
        str *row = cell + (size_t)i * COLUMNS;
        row[0] = m->returned_bytes == 0 ? S("with next")
                                        : cell_known_bytes(&s->cells, m->returned_bytes);
        row[1] = cell_known_bytes(&s->cells, m->bytes);
        row[2] = age_cell(s, m->age_events);
        row[3] = by_cell(s, &m->by);
    }
    struct text_table table = { column, COLUMNS, f->moves, cell, 0 };
    buf_char(s->to, '\n');
    put_moves_sum(s, f);
    text_table(s->to, s->style, &table);
}

static void put_apart(struct text_context *s, const struct fragments *f)
{
    const struct {
        uint32_t all, shown;
    } pools = { f->pools, f->pools < GROUPS_MOST ? f->pools : GROUPS_MOST };
    if (f->pools + f->streams > 0)
        buf_char(s->to, '\n');
    for (uint32_t i = 0; i < pools.shown; i++) {
        const struct fragment_group *g = &f->pool[i];
        buf_format(&s->words, "(%llu, %llu): ", (unsigned long long)g->pool_ids[0],
                   (unsigned long long)g->pool_ids[1]);
        add_bytes(s, g->reserved_bytes, " reserved, ");
        add_bytes(s, g->active_bytes, " in use, ");
        add_bytes(s, g->free_bytes, " held for its graphs");
        put_words(s, "pool");
    }
    if (pools.all > pools.shown) {
        human_counted(&s->words, pools.all - pools.shown, "private pool", s->style->ascii);
        buf_text(&s->words, " more");
        put_words(s, "");
    }
    for (uint32_t i = 0; i < f->streams && i < GROUPS_MOST; i++) {
        buf_format(&s->words, "%llu: ", (unsigned long long)f->stream[i].stream);
        add_bytes(s, f->stream[i].bytes, " free, which only this stream can use; ");
        if (f->stream[i].last_event < 0)
            buf_text(&s->words, "it asked for none in this recording");
        else
            buf_format(&s->words, "it asked last at event %lld",
                       (long long)f->stream[i].last_event);
        put_words(s, "stream");
    }
}

/* The question that the figures raise. */
static void put_next(struct text_context *s, const struct device_answer *device,
                     const struct file_facts *file)
{
    const struct fragments *f = device->result;
    const struct fragment_group *t = &f->total;
    bool traced =
        device->trust.window != WINDOW_STATE_ONLY && device->trust.window != WINDOW_ONE_EVENT;
    if (!traced || f->expandable || t->stranded_bytes < t->reserved_bytes / 20 ||
        t->stranded_bytes == 0)
        return;
    buf_char(s->to, '\n');
    envelope_label(s->to, s->style, "next");
    buf_text(s->to, "vramscope replay ");
    envelope_name(s->to, s->style, file);
    buf_text(s->to, " --set expandable_segments:True\n");
}

static void put_result(struct out *out, const struct device_answer *device,
                       const struct devices_answer *answer, const struct render_options *options)
{
    const struct fragments *f = device->result;
    struct text_context s = { .style = &options->style, .to = &out->text };
    cells_init(&s.cells, s.style);
    buf_init(&s.words, SIZE_MAX / 2);
    put_moment(&s, f);
    put_stranded(&s, f);
    put_groups(&s, f);
    put_pins(&s, f, options->rows == 0 ? PINS_DEFAULT : options->rows);
    put_moves(&s, f);
    put_apart(&s, f);
    put_next(&s, device, &answer->file);
    buf_end(&s.words, s.to);
    cells_free(&s.cells, s.to);
}

void fragments_text(struct out *out, const struct answer_set *set, bool several,
                    const struct render_options *options)
{
    (void)several;
    device_answer_text(out, set, options, put_result);
}
