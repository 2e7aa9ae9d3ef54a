/* device_pages.c - compares devices by one figure each, and chooses whose pages follow. */
#include "render/answer/device_pages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/table.h"
#include "model/file_facts.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/text.h"

enum {
    PAGES_ALL = 3,  /* so many are all printed */
    PAGES_WORST = 2 /* of more, so many */
};

/* A device among all, with what its line says. */
struct place {
    const struct devices_answer *answer;
    const struct device_answer *device; /* NULL: the file has none */
    struct device_line line;
    str words;
};

struct choosing {
    const struct answer_set *set;
    const struct render_options *options;
    const struct device_lines *lines;
    struct place *place; /* of each device, and of each file without any */
    uint32_t places, devices;
    size_t folder; /* that the paths of all files share, with its slash */
    bool numbers;  /* some file has several devices */
    struct cells cells;
};

/* The folder that all paths of the set share, with its slash. */
static size_t common_folder(const struct answer_set *set)
{
    str first = set->study[0].file.path;
    size_t shared = first.len;
    for (uint32_t i = 1; i < set->count; i++) {
        str path = set->study[i].file.path;
        size_t at = 0;
        while (at < shared && at < path.len && path.ptr[at] == first.ptr[at])
            at++;
        shared = at;
    }
    while (shared > 0 && first.ptr[shared - 1] != '/')
        shared--;
    return shared;
}

/* Why there is no page to speak of, or what the verb says of it. */
static void describe(struct choosing *c, struct place *p)
{
    struct buf *words = &c->cells.text;
    p->line = (struct device_line){ UINT64_MAX, false };
    if (p->device == NULL)
        buf_text(words, "no events and no memory");
    else if (p->device->result != NULL)
        c->lines->words(words, p->device, c->options->style.ascii, &p->line);
    else if (p->device->reasons > 0)
        escape_text(words, p->device->reason[0].text, c->options->style.ascii);
    p->words = cell_end(&c->cells);
}

static bool collect(struct choosing *c, struct arena *arena)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < c->set->count; i++) {
        const struct devices_answer *answer = &c->set->study[i];
        c->devices += answer->devices;
        c->numbers = c->numbers || answer->devices > 1;
        most += answer->devices == 0 ? 1 : answer->devices;
    }
    c->place = arena_array(arena, struct place, most);
    if (c->place == NULL)
        return false;
    for (uint32_t i = 0; i < c->set->count; i++) {
        const struct devices_answer *answer = &c->set->study[i];
        for (uint32_t k = 0; k < answer->devices || (k == 0 && answer->devices == 0); k++) {
            struct place *p = &c->place[c->places++];
            p->answer = answer;
            p->device = answer->devices == 0 ? NULL : &answer->device[k];
            describe(c, p);
        }
    }
    return true;
}

/* The worst that is not shown yet; NO_ROW: none is left that matters. */
static uint32_t find_worst(const struct choosing *c, const bool *shown)
{
    uint32_t worst = NO_ROW, device = 0;
    const struct place *best = NULL;
    for (uint32_t i = 0; i < c->places; i++) {
        const struct place *p = &c->place[i];
        uint32_t at = device;
        device += p->device != NULL;
        if (p->device == NULL || !p->line.matters || shown[at])
            continue;
        uint64_t bytes = p->line.bytes == UINT64_MAX ? 0 : p->line.bytes;
        if (best == NULL || bytes > (best->line.bytes == UINT64_MAX ? 0 : best->line.bytes)) {
            best = p;
            worst = at;
        }
    }
    return worst;
}

static void put_name(struct choosing *c, struct buf *to, const struct place *p)
{
    struct file_facts named = p->answer->file;
    named.path.ptr += c->folder;
    named.path.len -= c->folder;
    envelope_name(to, &c->options->style, &named);
}

static void put_table(struct choosing *c, struct buf *to)
{
    const struct text_column column[] = {
        { "file", false, true, 12, CUT_START },
        { "device", true, false, 0, CUT_END },
        { c->lines->figure, true, false, 0, CUT_END },
        { c->lines->meaning, false, true, 16, c->lines->cut },
    };
    enum { COLUMNS = sizeof column / sizeof *column };
    str *cell = cells_array(&c->cells, c->places, COLUMNS);
    if (cell == NULL)
        return;
    for (uint32_t i = 0; i < c->places; i++) {
        const struct place *p = &c->place[i];
        str *at = cell + (size_t)i * COLUMNS;
        put_name(c, &c->cells.text, p);
        at[0] = cell_end(&c->cells);
        if (p->device != NULL)
            buf_format(&c->cells.text, "%s%u", p->device->name.host ? "host " : "",
                       (unsigned)p->device->name.number);
        at[1] = cell_end(&c->cells);
        at[2] = cell_known_bytes(&c->cells, p->line.bytes);
        at[3] = p->words;
    }
    if (c->folder > 0) {
        escape_text(to, (str){ c->set->study[0].file.path.ptr, c->folder }, c->cells.ascii);
        buf_char(to, '\n');
    }
    struct text_table table = { column, COLUMNS, c->places, cell, 0 };
    text_table(to, &c->options->style, &table);
}

/* "worst    run_rank3.pickle, device 0: 390.00 MiB, …" */
static void put_worst(struct choosing *c, struct buf *to, uint32_t worst)
{
    uint32_t device = 0;
    struct buf words;
    for (uint32_t i = 0; i < c->places; i++) {
        const struct place *p = &c->place[i];
        if (p->device == NULL || device++ != worst)
            continue;
        buf_init(&words, SIZE_MAX / 2);
        put_name(c, &words, p);
        if (c->numbers) {
            buf_text(&words, ", ");
            envelope_device_text(&words, p->device->name);
        }
        buf_text(&words, ": ");
        if (p->line.bytes != UINT64_MAX) {
            human_bytes(&words, (int64_t)p->line.bytes);
            buf_format(&words, " %s%s", c->lines->figure, p->words.len > 0 ? ", " : "");
        }
        buf_str(&words, p->words);
        envelope_words(to, &c->options->style, "worst", &words);
        buf_end(&words, to);
    }
}

/* How many pages follow, and how to have the others. */
static void put_rest(const struct choosing *c, struct buf *to, uint32_t shown)
{
    struct buf words;
    if (shown == c->devices)
        return;
    buf_init(&words, 256);
    if (shown == 0)
        buf_text(&words, "none is worth reading; ");
    else
        buf_format(&words, "%s; ",
                   shown == 1 ? "that of the worst follows" : "those of the worst follow");
    buf_format(&words, "--all-ranks prints all %u", (unsigned)c->devices);
    envelope_words(to, &c->options->style, "pages", &words);
    buf_end(&words, to);
}

static void choose(struct choosing *c, struct device_pages *pages, struct buf *to)
{
    bool all = c->options->all_ranks || c->devices <= PAGES_ALL;
    bool *shown = arena_array(&pages->arena, bool, c->devices);
    if (shown == NULL) {
        to->failed = true;
        return;
    }
    uint32_t worst = find_worst(c, shown), count = 0;
    put_worst(c, to, worst);
    put_table(c, to);
    for (; worst != NO_ROW && count < PAGES_WORST; count++) {
        shown[worst] = true;
        worst = find_worst(c, shown);
    }
    pages->shown = all ? NULL : shown;
    pages->summarised = true;
    put_rest(c, to, all ? c->devices : count);
}

void device_pages_begin(struct device_pages *pages, struct buf *to, const struct answer_set *set,
                        const struct render_options *options, const struct device_lines *lines)
{
    struct choosing c = { .set = set, .options = options, .lines = lines };
    *pages = (struct device_pages){ .shown = NULL };
    arena_init(&pages->arena, SIZE_MAX / 2);
    if (set->count == 0 || (set->count == 1 && set->study[0].devices < 2))
        return;
    cells_init(&c.cells, &options->style);
    c.folder = common_folder(set);
    if (collect(&c, &pages->arena))
        choose(&c, pages, to);
    else
        to->failed = true;
    cells_free(&c.cells, to);
}

void device_pages_free(struct device_pages *pages)
{
    arena_free(&pages->arena);
}

bool device_pages_show(const struct device_pages *pages, uint32_t place)
{
    return pages->shown == NULL || pages->shown[place];
}

bool device_pages_show_file(const struct device_pages *pages, uint32_t place, uint32_t devices)
{
    if (devices == 0)
        return !pages->summarised;
    for (uint32_t k = 0; k < devices; k++)
        if (device_pages_show(pages, place + k))
            return true;
    return false;
}
