/* fragments_text.c - reserved memory that cannot be used, and the blocks that pin it, for people.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/memory_group.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/trust/trust.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/device_answer.h"
#include "render/answer/envelope.h"
#include "render/answer/fields.h"
#include "render/answer/name_lines.h"
#include "render/answer/next.h"
#include "render/answer/place.h"
#include "render/snapshot/renderers.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"

enum { PINS_DEFAULT = 10, GROUPS_MOST = 20, WIDE = 100, NAMES_INDENT = 10 };

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
              " free, but can neither be returned to the device nor serve requests larger than the "
              "holes");
    if (t->reserved_bytes > 0) {
        buf_text(&s->words, ": ");
        human_share(&s->words, share_ratio(t->stranded_bytes, t->reserved_bytes));
        buf_text(&s->words, " of ");
        add_bytes(s, t->reserved_bytes,
                  f->pools > 0 ? " reserved outside private pools" : " reserved");
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
        buf_text(&s->words, ", ");
        buf_text(&s->words, about);
        add_bytes(s, t->slack_bytes, " of it more than was requested (rounding)");
    }
    put_words(s, "active");
}

enum group_column { STRANDED, SHARE, CACHED, SERVES, RESERVED, NAIVE, PART, GROUP_COLUMNS };

#define OF_GROUP(member) SHOWN(fragment_group_row_type, struct fragment_group, member)
static const struct shown_column group_columns[GROUP_COLUMNS] = {
    [STRANDED] = { OF_GROUP(stranded_bytes), 0 }, [SHARE] = { OF_GROUP(stranded_ratio), 0 },
    [CACHED] = { OF_GROUP(returnable_bytes), 0 }, [SERVES] = { OF_GROUP(servable_bytes), 0 },
    [RESERVED] = { OF_GROUP(reserved_bytes), 0 }, [NAIVE] = { OF_GROUP(naive_ratio), 0 },
    [PART] = { COMPOSED("part", false), 12 },
};

static bool group_cell(void *arg, const void *row, uint32_t column, str *ret)
{
    struct text_context *s = arg;
    const struct fragment_group *g = row;
    struct buf *text = &s->cells.text;
    /* Where nothing is reserved there is no share of it. */
    if (column == SHARE && g->reserved_bytes == 0) {
        *ret = S("-");
    } else if (column == NAIVE) {
        *ret = cell_share(&s->cells, g->naive_ratio);
    } else if (column == PART) {
        buf_text(text, memory_class_names[g->small]);
        if (g->stream != 0)
            buf_format(text, ", stream %llu", (unsigned long long)g->stream);
        *ret = cell_end(&s->cells);
    } else {
        return false;
    }
    return true;
}

/* Smaller streams and classes are folded: there may be thousands. */
static void put_groups(struct text_context *s, const struct fragments *f)
{
    uint32_t shown = f->groups < GROUPS_MOST ? f->groups : GROUPS_MOST;
    struct shown_table table = {
        .column = group_columns,
        .columns = GROUP_COLUMNS,
        .hidden = f->all_metrics ? 0 : 1u << NAIVE,
        SHOWN_ROWS(f->group, shown),
        .make = group_cell,
        .arg = s,
    };
    if (shown == 0)
        return;
    buf_char(s->to, '\n');
    shown_table(s->to, s->style, &s->cells, &table);
    if (f->groups > shown) {
        human_counted(s->to, f->groups - shown, "more group", s->style->ascii);
        buf_text(s->to, ", each with less stranded\n");
    }
}

/* "train.py:45" of "train.py:45 main"; other names as they are. */
static str without_function(str name)
{
    size_t end = name.len;
    while (end > 0 && name.ptr[end - 1] != ' ')
        end--;
    if (end < 2 || name.ptr[0] == '(')
        return name;
    return (str){ name.ptr, end - 1 };
}

/* "train.py:45 main (gradient)"; what every process has is not to be blamed on a line. */
static str by_cell(struct text_context *s, const struct fragment_culprit *by, bool brief)
{
    struct buf *text = &s->cells.text;
    if (by->expected)
        buf_text(text, "workspace, expected: ");
    /* Where there is little room, the category is worth more than the function's name. */
    str name = by->site.culprit;
    if (brief && !by->expected && by->category != CATEGORY_UNKNOWN)
        name = without_function(name);
    escape_text(text, name, s->style->ascii);
    if (!by->expected && by->category != CATEGORY_UNKNOWN) {
        buf_text(text, " (");
        category_words(text, str_from(category_names[by->category]));
        buf_char(text, ')');
    }
    return cell_end(&s->cells);
}

enum pin_column { PINNED, IN_USE, BLOCKS, SEGMENT, PIN_MADE_BY, PIN_COLUMNS };

#define OF_PIN(member) SHOWN(fragment_pin_row_type, struct fragment_pin, member)
static const struct shown_column pin_columns[PIN_COLUMNS] = {
    [PINNED] = { OF_PIN(stranded_bytes), 0 },
    [IN_USE] = { OF_PIN(active_bytes), 0 },
    [BLOCKS] = { OF_PIN(blocks), 0 },
    [SEGMENT] = { OF_PIN(total_bytes), 0 },
    [PIN_MADE_BY] = { COMPOSED("largest block allocated by", false), 16 },
};

static bool pin_cell(void *arg, const void *row, uint32_t column, str *ret)
{
    const struct fragment_pin *p = row;
    if (column == PIN_MADE_BY)
        *ret = by_cell(arg, &p->by, ((struct text_context *)arg)->style->width < WIDE);
    return column == PIN_MADE_BY;
}

static void put_pin_names(void *arg, const void *row, struct cells *cells)
{
    const struct text_context *s = arg;
    const struct fragment_pin *p = row;
    name_lines_put(&cells->text, s->style, NAMES_INDENT, &p->names);
}

/* The row of the pins from `first` on. */
static void fill_others(struct text_context *s, const struct fragments *f, uint32_t first,
                        str *cell)
{
    struct fragment_pin sum = { 0 };
    for (uint32_t i = first; i < f->pins; i++) {
        sum.stranded_bytes += f->pin[i].stranded_bytes;
        sum.active_bytes += f->pin[i].active_bytes;
        sum.blocks += f->pin[i].blocks;
        sum.total_bytes += f->pin[i].total_bytes;
    }
    for (uint32_t k = 0; k < PIN_MADE_BY; k++)
        cell[k] = shown_cell(&s->cells, &pin_columns[k], &sum);
    cell[PIN_MADE_BY] = cell_other(&s->cells, f->pins - first, "segment");
}

static void put_pins(struct text_context *s, const struct fragments *f, uint32_t most)
{
    uint32_t shown = f->pins < most ? f->pins : most;
    str others[PIN_COLUMNS];
    struct shown_table table = {
        .column = pin_columns,
        .columns = PIN_COLUMNS,
        SHOWN_ROWS(f->pin, shown),
        .last = others,
        .lasts = f->pins > shown,
        .make = pin_cell,
        .under = put_pin_names,
        .arg = s,
    };
    if (shown == 0)
        return;
    if (f->pins > shown)
        fill_others(s, f, shown, others);
    buf_char(s->to, '\n');
    shown_table(s->to, s->style, &s->cells, &table);
}

static void put_moves_sum(struct text_context *s, const struct fragments *f)
{
    uint64_t moved = 0, returned = 0;
    for (uint32_t i = 0; i < f->moves; i++) {
        moved += f->move[i].bytes;
        returned += f->move[i].returned_bytes;
    }
    buf_text(&s->words, "without ");
    if (f->moves == 1)
        buf_text(&s->words, "this block (");
    else
        buf_format(&s->words, "these %u blocks (", f->moves);
    add_bytes(s, moved, "), ");
    add_bytes(s, returned > moved ? returned - moved : 0,
              f->moves == 1 ? " more could be returned: allocate it earlier, or free it before:"
                            : " more could be returned: allocate them earlier, or free them "
                              "before:");
    put_words(s, "pinned");
}

enum move_column { RETURNS, MOVED, AGE, MOVE_MADE_BY, MOVE_COLUMNS };

#define OF_MOVE(member) SHOWN(fragment_move_row_type, struct fragment_move, member)
static const struct shown_column move_columns[MOVE_COLUMNS] = {
    [RETURNS] = { OF_MOVE(returned_bytes), 0 },
    [MOVED] = { OF_MOVE(bytes), 0 },
    [AGE] = { OF_MOVE(age_events), 0 },
    [MOVE_MADE_BY] = { COMPOSED("allocated by", false), 16 },
};

static bool move_cell(void *arg, const void *row, uint32_t column, str *ret)
{
    const struct fragment_move *m = row;
    if (column == RETURNS && m->returned_bytes == 0)
        *ret = S("same segment");
    else if (column == AGE && m->age_events < 0)
        *ret = S("older");
    else if (column == MOVE_MADE_BY)
        *ret = by_cell(arg, &m->by, false);
    else
        return false;
    return true;
}

static void put_move_name(void *arg, const void *row, struct cells *cells)
{
    const struct text_context *s = arg;
    const struct fragment_move *m = row;
    name_lines_put(&cells->text, s->style, NAMES_INDENT, &m->names);
}

static void put_moves(struct text_context *s, const struct fragments *f)
{
    struct shown_table table = {
        .column = move_columns,
        .columns = MOVE_COLUMNS,
        SHOWN_ROWS(f->move, f->moves),
        .make = move_cell,
        .under = put_move_name,
        .arg = s,
    };
    if (f->moves == 0)
        return;
    buf_char(s->to, '\n');
    put_moves_sum(s, f);
    shown_table(s->to, s->style, &s->cells, &table);
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
        human_counted(&s->words, pools.all - pools.shown, "more private pool", s->style->ascii);
        put_words(s, "");
    }
    for (uint32_t i = 0; i < f->streams && i < GROUPS_MOST; i++) {
        buf_format(&s->words, "%llu: ", (unsigned long long)f->stream[i].stream);
        add_bytes(s, f->stream[i].bytes, " free, which only this stream can use; ");
        if (f->stream[i].last_event < 0)
            buf_text(&s->words, "it requested none in this recording");
        else
            buf_format(&s->words, "its last request is event %lld",
                       (long long)f->stream[i].last_event);
        put_words(s, "stream");
    }
}

/* The question that the figures raise. */
static void put_next(struct out *out, const struct device_answer *device,
                     const struct devices_answer *answer, const struct render_options *options)
{
    const struct fragments *f = device->result;
    const struct fragment_group *t = &f->total;
    bool traced =
        device->trust.window != WINDOW_STATE_ONLY && device->trust.window != WINDOW_ONE_EVENT;
    if (!traced || f->expandable || t->stranded_bytes < t->reserved_bytes / 20 ||
        t->stranded_bytes == 0)
        return;
    next_line(&out->text, &options->style, "next", "replay", answer->file.path,
              " --set expandable_segments:True", "replay the setting");
}

static void put_result(struct out *out, const struct device_answer *device,
                       const struct devices_answer *answer, const struct render_options *options)
{
    const struct fragments *f = device->result;
    struct text_context s = { .style = &options->style, .to = &out->text };
    (void)answer;
    cells_init(&s.cells, s.style);
    buf_init(&s.words, SIZE_MAX / 2);
    put_moment(&s, f);
    put_stranded(&s, f);
    put_groups(&s, f);
    put_pins(&s, f, options->rows == 0 ? PINS_DEFAULT : options->rows);
    put_moves(&s, f);
    put_apart(&s, f);
    buf_end(&s.words, s.to);
    cells_free(&s.cells, s.to);
}

void fragments_text(struct out *out, const struct answer_set *set, bool several,
                    const struct render_options *options)
{
    (void)several;
    static const struct device_text parts = { put_result, put_next };
    device_answer_text(out, set, options, &parts);
}
