/* oom_text.c - why a request for memory failed, proven with numbers, for people. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/oom/oom_measure.h"
#include "analysis/snapshot/oom/oom_program.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "analysis/snapshot/study/study.h"
#include "base/buf.h"
#include "base/str.h"
#include "model/ids.h"
#include "render/answer/answer.h"
#include "render/answer/device_answer.h"
#include "render/answer/envelope.h"
#include "render/answer/fields.h"
#include "render/answer/name_lines.h"
#include "render/answer/next.h"
#include "render/answer/place.h"
#include "render/snapshot/oom/oom_lines.h"
#include "render/snapshot/oom/oom_sentences.h"
#include "render/snapshot/renderers.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

enum { ROWS_DEFAULT = 20, OWNER_WIDTH = 100, NAMES_INDENT = 10 };

/* What is put together for one device. */
struct text_context {
    const struct style *style;
    struct cells cells;
    struct buf words; /* scratch for sentences */
    struct buf *to;
    const struct oom *oom;
    uint32_t rows;
};

static void put_words(struct text_context *s, const char *label)
{
    if (s->words.len > 0)
        envelope_words(s->to, s->style, label, &s->words);
}

static void put_heading(struct text_context *s, const char *heading)
{
    buf_char(s->to, '\n');
    paint_on(s->to, s->style, PAINT_BOLD);
    text_wrap(s->to, s->style, str_from(heading), 0, 0);
    paint_off(s->to, s->style);
}

/* Cells. */

/* The line of a site, and what is under it where that is another and there is room. */
static str site_cell(struct text_context *s, const struct site_ref *site)
{
    struct buf *text = &s->cells.text;
    escape_text(text, site->culprit, s->style->ascii);
    if (s->style->width >= OWNER_WIDTH && !str_equal(site->culprit, site->owner)) {
        buf_text(text, s->style->ascii ? " < " : " \u2190 ");
        escape_text(text, site->owner, s->style->ascii);
    }
    return cell_end(&s->cells);
}

static void put_table(struct text_context *s, struct shown_table table)
{
    table.arg = s;
    shown_table(s->to, s->style, &s->cells, &table);
}

static uint32_t at_most(uint32_t rows, uint32_t most)
{
    return rows < most ? rows : most;
}

static void put_more(struct text_context *s, uint32_t rows, uint32_t shown)
{
    if (shown == rows)
        return;
    buf_text(s->to, "and ");
    human_count(s->to, rows - shown, s->style->ascii);
    buf_text(s->to, " more (-n)\n");
}

/* The moment. */

static void put_request(struct text_context *s)
{
    const struct oom *oom = s->oom;
    const struct oom_figures *f = &oom->measured.figures;
    struct buf *words = &s->words;
    human_known_bytes(words, f->request);
    if (oom->basis == OOM_EVENT) {
        buf_format(words, " at event %lld", (long long)oom->event);
        if (oom->request_stack.n != 0) {
            buf_text(words, " by ");
            escape_text(words, oom->request_site.culprit, s->style->ascii);
        } else {
            buf_text(words, "; no stack says by which line");
        }
        if (oom->request_stack.n != 0 &&
            !str_equal(oom->request_site.culprit, oom->request_site.owner)) {
            buf_text(words, " in ");
            escape_text(words, oom->request_site.owner, s->style->ascii);
        }
    } else {
        buf_text(words,
                 oom->basis == OOM_LAST ? " after the last event" : ", known from the text alone");
    }
    if (f->segment != f->request && f->segment != UNKNOWN_U64) {
        buf_text(words, "; the allocator asked the card for ");
        human_known_bytes(words, f->segment);
    }
    if (oom->retries > 0)
        buf_format(words, "; tried %u times", (unsigned)oom->retries + 1);
    put_words(s, "request");
}

/* ", 12.00 GiB reserved"; nothing where that is not known. */
static void add_known(struct buf *words, const char *about, uint64_t bytes, const char *what)
{
    if (bytes == UNKNOWN_U64)
        return;
    buf_text(words, words->len == 0 ? "" : ", ");
    buf_text(words, about);
    human_known_bytes(words, bytes);
    buf_text(words, what);
}

static void put_state(struct text_context *s)
{
    const struct oom *oom = s->oom;
    const struct oom_figures *f = &oom->measured.figures;
    struct buf *words = &s->words;
    const char *about = oom->basis == OOM_TEXT_ALONE ? "~" : "";
    add_known(words, about, f->reserved, " reserved");
    add_known(words, about, f->device_free, " free on the card");
    if (oom->capacity_seen_bytes != UNKNOWN_U64) {
        buf_text(words, ", together ");
        human_known_bytes(words, oom->capacity_seen_bytes);
    }
    if (f->active != UNKNOWN_U64) {
        buf_text(words, words->len == 0 ? "of the reserved memory " : "; of the reserved memory ");
        buf_text(words, about);
        human_known_bytes(words, f->active);
        buf_text(words, oom->basis == OOM_TEXT_ALONE ? " is allocated" : " is active");
    }
    if (oom->basis != OOM_TEXT_ALONE && f->pending > 0 && f->pending != UNKNOWN_U64) {
        buf_text(words, " (");
        human_known_bytes(words, f->pending);
        buf_text(words, " of it freed, waiting for a stream)");
    }
    if (f->internal_free != UNKNOWN_U64) {
        buf_text(words, ", ");
        human_known_bytes(words, f->internal_free);
        buf_text(words, " free");
    }
    if (oom->measured.free_runs != UNKNOWN_U64 && oom->measured.free_runs > 0) {
        buf_text(words, " in ");
        human_counted(words, oom->measured.free_runs, "piece", s->style->ascii);
        buf_text(words, ", the largest usable one of ");
        human_known_bytes(words, f->largest_usable);
    }
    put_words(s, "state");
}

static void put_trend(struct text_context *s)
{
    const struct oom *oom = s->oom;
    struct buf *words = &s->words;
    if (oom->previous_step_bytes != UNKNOWN_U64) {
        human_known_bytes(words, oom->live_bytes);
        buf_text(words, " were in use, and ");
        human_known_bytes(words, oom->previous_step_bytes);
        buf_text(words, " at the same point of the step before");
    }
    put_words(s, "trend");
}

/* What was saved for the backward is no object of Python: at a failure in the forward most memory
 * has no name, and the share says so. */
static void put_named(struct text_context *s)
{
    const struct oom *oom = s->oom;
    if (oom->names.count == 0)
        return;
    human_known_bytes(&s->words, oom->live_bytes);
    buf_text(&s->words, " were in use; ");
    name_share_words(&s->words, &oom->names, oom->live_bytes);
    put_words(s, "names");
}

static void put_also(struct text_context *s)
{
    const struct oom_answer_of_tests *tests = &s->oom->tests;
    for (uint32_t i = 0; i < tests->also_trues; i++)
        buf_format(&s->words, "%s%s", i == 0 ? "" : ", ", oom_verdict_names[tests->also_true[i]]);
    if (s->words.len > 0)
        buf_text(&s->words, " alone would have been enough too");
    put_words(s, "also");
}

enum test_column { TEST, HOLDS, TEST_BYTES, MEANING, TEST_COLUMNS };

#define OF_TEST(member) SHOWN(oom_test_row_type, struct oom_test, member)
static const struct shown_column test_columns[TEST_COLUMNS] = {
    [TEST] = { OF_TEST(id), 0 },
    [HOLDS] = { OF_TEST(holds), 0 },
    [TEST_BYTES] = { OF_TEST(bytes), 0 },
    [MEANING] = { COMPOSED("what the bytes are", false), 16 },
};

static bool test_cell(void *arg, const void *row, uint32_t column, str *ret)
{
    static const str holds[] = {
        [OOM_NO] = { "no", 2 }, [OOM_YES] = { "yes", 3 }, [OOM_UNKNOWN] = { "unknown", 7 }
    };
    struct text_context *s = arg;
    const struct oom_test *test = row;
    bool decides = test->id == s->oom->tests.verdict && test->holds == OOM_YES;
    bool left = test->id == OOM_LIVE_EXCEEDS_CAPACITY && test->known && test->bytes < 0;
    /* The request would have fit, but not what the program needs next. */
    bool short_of = test->holds == OOM_YES && test->asked && !test->enough;
    if (column == HOLDS)
        *ret = decides ? S("YES") : short_of ? S("not enough") : holds[test->holds];
    else if (column == MEANING)
        *ret = left ? S("left, with all of these") : str_from(oom_test_words(test->id));
    else if (column == TEST_BYTES && left)
        *ret = cell_bytes(&s->cells, -test->bytes);
    else
        return false;
    return true;
}

static void put_tests(struct text_context *s)
{
    buf_char(s->to, '\n');
    put_table(s, (struct shown_table){ .column = test_columns,
                                       .columns = TEST_COLUMNS,
                                       SHOWN_ROWS(s->oom->tests.test, OOM_VERDICTS),
                                       .make = test_cell });
}

/* Evidence. */

enum place_column {
    POOL,
    STREAM,
    CLASS,
    RESERVED,
    ACTIVE,
    FREE,
    LARGEST,
    RETURNABLE,
    PLACE_COLUMNS
};

#define OF_PLACE(member) SHOWN(oom_place_row_type, struct oom_place, member)
static const struct shown_column place_columns[PLACE_COLUMNS] = {
    [POOL] = { OF_PLACE(pool_ids), 0 },
    [STREAM] = { OF_PLACE(stream), 6, true },
    [CLASS] = { OF_PLACE(small), 0 },
    [RESERVED] = { OF_PLACE(reserved_bytes), 0 },
    [ACTIVE] = { OF_PLACE(active_bytes), 0 },
    [FREE] = { OF_PLACE(free_bytes), 0 },
    [LARGEST] = { OF_PLACE(largest_free_bytes), 0 },
    [RETURNABLE] = { OF_PLACE(returnable_bytes), 0 },
};

static bool place_cell(void *arg, const void *row, uint32_t column, str *ret)
{
    struct text_context *s = arg;
    const struct oom_place *place = row;
    if (column != POOL)
        return false;
    if (place->pool != 0)
        buf_format(&s->cells.text, "%llu,%llu", (unsigned long long)place->pool_ids[0],
                   (unsigned long long)place->pool_ids[1]);
    else
        buf_text(&s->cells.text, "default");
    *ret = cell_end(&s->cells);
    return true;
}

/* One pool on one stream: what its two classes hold is said already. */
static bool lay_apart(const struct oom_evidence *e)
{
    for (uint32_t i = 1; i < e->places; i++)
        if (e->place[i].pool != e->place[0].pool || e->place[i].stream != e->place[0].stream)
            return true;
    return false;
}

static void put_places(struct text_context *s)
{
    const struct oom_evidence *e = &s->oom->evidence;
    uint32_t shown = at_most(e->places, s->rows);
    if (!lay_apart(e) && s->oom->tests.verdict != OOM_CACHED_NOT_RELEASABLE)
        return;
    put_heading(s, "where memory lay");
    put_table(s, (struct shown_table){ .column = place_columns,
                                       .columns = PLACE_COLUMNS,
                                       SHOWN_ROWS(e->place, shown),
                                       .make = place_cell });
    put_more(s, e->places, shown);
}

enum pin_column { PIN_FREE, PIN_ACTIVE, PIN_BLOCKS, PIN_SITE, PIN_COLUMNS };

#define OF_PIN(member) SHOWN(oom_pin_row_type, struct oom_pin, member)
static const struct shown_column pin_columns[PIN_COLUMNS] = {
    [PIN_FREE] = { OF_PIN(free_bytes), 0 },
    [PIN_ACTIVE] = { OF_PIN(active_bytes), 0 },
    [PIN_BLOCKS] = { OF_PIN(blocks), 0 },
    [PIN_SITE] = { COMPOSED("largest block", false), 16 },
};

static bool pin_cell(void *arg, const void *row, uint32_t column, str *ret)
{
    const struct oom_pin *pin = row;
    if (column == PIN_SITE)
        *ret = site_cell(arg, &pin->site);
    return column == PIN_SITE;
}

static void put_pins(struct text_context *s)
{
    const struct oom_evidence *e = &s->oom->evidence;
    if (s->oom->tests.verdict != OOM_FRAGMENTATION || e->pins == 0)
        return;
    put_heading(s, "segments in which blocks in use pin free memory");
    put_table(s, (struct shown_table){ .column = pin_columns,
                                       .columns = PIN_COLUMNS,
                                       SHOWN_ROWS(e->pin, e->pins),
                                       .make = pin_cell });
}

enum pending_column { WAITING, WAITING_COUNT, SINCE, WAITING_SITE, PENDING_COLUMNS };

#define OF_PENDING(member) SHOWN(oom_pending_row_type, struct oom_pending, member)
static const struct shown_column pending_columns[PENDING_COLUMNS] = {
    [WAITING] = { OF_PENDING(bytes), 0 },
    [WAITING_COUNT] = { OF_PENDING(count), 0 },
    [SINCE] = { OF_PENDING(oldest_event), 0 },
    [WAITING_SITE] = { COMPOSED("allocated by", false), 16 },
};

static bool pending_cell(void *arg, const void *row, uint32_t column, str *ret)
{
    const struct oom_pending *pending = row;
    if (column == SINCE && pending->oldest_event < 0)
        *ret = S("earlier");
    else if (column == WAITING_SITE)
        *ret = site_cell(arg, &pending->site);
    else
        return false;
    return true;
}

static void put_pending(struct text_context *s)
{
    const struct oom_evidence *e = &s->oom->evidence;
    uint32_t shown = at_most(e->pendings, s->rows);
    if (e->pendings == 0)
        return;
    put_heading(s, "freed, and waiting for another stream");
    put_table(s, (struct shown_table){ .column = pending_columns,
                                       .columns = PENDING_COLUMNS,
                                       SHOWN_ROWS(e->pending, shown),
                                       .make = pending_cell });
    put_more(s, e->pendings, shown);
}

enum site_column { SITE_BYTES, SITE_COUNT, SITE, SITE_COLUMNS };

#define OF_SITE(member) SHOWN(oom_site_row_type, struct oom_site, member)
static const struct shown_column site_columns[SITE_COLUMNS] = {
    [SITE_BYTES] = { OF_SITE(bytes), 0 },
    [SITE_COUNT] = { OF_SITE(count), 0 },
    [SITE] = { COMPOSED("allocated by", false), 16 },
};

static bool held_cell(void *arg, const void *row, uint32_t column, str *ret)
{
    const struct oom_site *site = row;
    if (column == SITE)
        *ret = site_cell(arg, &site->site);
    return column == SITE;
}

static void put_held_names(void *arg, const void *row, struct cells *cells)
{
    const struct text_context *s = arg;
    const struct oom_site *site = row;
    name_lines_put(&cells->text, s->style, NAMES_INDENT, &site->names);
}

static void put_site_table(struct text_context *s, const struct oom_sites *sites)
{
    uint32_t shown = at_most(sites->count, s->rows);
    put_table(s, (struct shown_table){ .column = site_columns,
                                       .columns = SITE_COLUMNS,
                                       SHOWN_ROWS(sites->at, shown),
                                       .make = held_cell,
                                       .under = put_held_names });
    put_more(s, sites->count, shown);
}

/* Whether the sites hold nothing but the category, which then has the same sites. */
static bool is_all_of_category(const struct oom *oom)
{
    const struct oom_sites *all = &oom->must_go, *some = &oom->must_go_category;
    if (!oom->has_category || all->count != some->count)
        return false;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct oom_site *x = &all->at[i], *y = &some->at[i];
        if (x->bytes != y->bytes || x->count != y->count ||
            !str_equal(x->site.culprit, y->site.culprit) ||
            !str_equal(x->site.owner, y->site.owner))
            return false;
    }
    return true;
}

/* The sites of one category that suffice; those of all categories stand above. */
static void put_must_go_category(struct text_context *s)
{
    const struct oom_sites *sites = &s->oom->must_go_category;
    buf_text(&s->words, "or, of one category alone, ");
    human_known_bytes(&s->words, sites->bytes);
    buf_text(&s->words, " of ");
    category_words(&s->words, str_from(category_names[s->oom->category]));
    buf_format(&s->words, " at %u line%s:", (unsigned)sites->count, sites->count == 1 ? "" : "s");
    put_words(s, "");
    put_site_table(s, sites);
}

static void put_must_go(struct text_context *s)
{
    const struct oom *oom = s->oom;
    struct buf *words = &s->words;
    if (oom->need_bytes == 0 || oom->basis == OOM_TEXT_ALONE ||
        oom->tests.verdict == OOM_SINGLE_REQUEST_TOO_LARGE)
        return;
    buf_char(s->to, '\n');
    if (!oom->must_go.enough) {
        buf_text(words, "even all that was alive would not have made enough room");
        put_words(s, "must go");
        return;
    }
    human_known_bytes(words, oom->need_bytes);
    buf_format(words, " for %s to fit; the largest line%s that hold%s that much", oom_must_fit(oom),
               oom->must_go.count == 1 ? "" : "s", oom->must_go.count == 1 ? "s" : "");
    bool same = is_all_of_category(oom);
    if (same) {
        buf_text(words, ", all of it ");
        category_words(words, str_from(category_names[oom->category]));
    }
    buf_char(words, ':');
    put_words(s, "must go");
    put_site_table(s, &oom->must_go);
    if (oom->has_category && !same)
        put_must_go_category(s);
}

static void put_earlier(struct text_context *s)
{
#define OF_EARLIER(member) SHOWN(oom_earlier_row_type, struct oom_earlier, member)
    static const struct shown_column columns[] = {
        { OF_EARLIER(event), 0 },
        { OF_EARLIER(request_bytes), 0 },
        { OF_EARLIER(retries), 0 },
        { OF_EARLIER(verdict), 0 },
    };
    const struct oom *oom = s->oom;
    uint32_t shown = at_most(oom->earliers, s->rows);
    if (shown == 0)
        return;
    /* The last ones, which lie nearest. */
    put_heading(s, "earlier out-of-memory events, after which the program went on");
    put_table(s, (struct shown_table){ .column = columns,
                                       .columns = sizeof columns / sizeof *columns,
                                       SHOWN_ROWS(oom->earlier + (oom->earliers - shown), shown) });
    put_more(s, oom->earliers, shown);
}

static void put_commands(struct text_context *s, str path, const struct buf *at,
                         const struct buf *replay)
{
    enum oom_verdict verdict = s->oom->tests.verdict;
    bool places = verdict >= OOM_CACHED_NOT_RELEASABLE && verdict <= OOM_PRIVATE_POOLS;
    const char *label = "next";
    if (at->failed || replay->failed)
        return;
    if (s->oom->program.lack == OOM_LACK_LEAK) {
        next_line(s->to, s->style, label, "leaks", path, "", "what grows");
        label = "";
    }
    if (s->oom->what_if.setting != NULL) {
        next_line(s->to, s->style, label, "replay", path, replay->at, "replay the setting");
        label = "";
    }
    if (places)
        next_line(s->to, s->style, label, "fragments", path, at->at, "what pins memory");
    else
        next_line(s->to, s->style, label, "peak", path, at->at, "all that was alive");
}

static void put_next(struct out *out, const struct device_answer *d,
                     const struct devices_answer *answer, const struct render_options *options)
{
    const struct oom *oom = d->result;
    struct text_context s = { .style = &options->style, .to = &out->text, .oom = oom };
    struct buf at, replay;
    if (oom->basis == OOM_TEXT_ALONE)
        return;
    buf_init(&at, 256);
    buf_init(&replay, 512);
    buf_format(&at, " --at %s", oom->basis == OOM_EVENT ? "oom" : "end");
    if (oom->what_if.setting != NULL) {
        buf_format(&replay, " --set %s --capacity ", oom->what_if.setting);
        next_size(&replay, oom->capacity_seen_bytes);
    }
    if (answer->devices > 1 || d->name.number != 0) {
        buf_format(&at, " --device %u", (unsigned)d->name.number);
        buf_format(&replay, " --device %u", (unsigned)d->name.number);
    }
    buf_char(&at, '\0');
    buf_char(&replay, '\0');
    put_commands(&s, answer->file.path, &at, &replay);
    buf_end(&at, s.to);
    buf_end(&replay, s.to);
}

static void put_result(struct out *out, const struct device_answer *device,
                       const struct devices_answer *answer, const struct render_options *options)
{
    (void)answer;
    struct text_context s = { .style = &options->style,
                              .to = &out->text,
                              .oom = device->result,
                              .rows = options->rows == 0 ? ROWS_DEFAULT : options->rows };
    cells_init(&s.cells, s.style);
    buf_init(&s.words, SIZE_MAX / 2);
    paint_on(&s.words, s.style, PAINT_BAD);
    oom_verdict_words(&s.words, s.oom, s.style->ascii);
    paint_off(&s.words, s.style);
    put_words(&s, "verdict");
    put_request(&s);
    put_state(&s);
    if (s.oom->tests.verdict != OOM_UNDECIDED)
        oom_confidence_words(&s.words, s.oom);
    put_words(&s, "sure");
    put_trend(&s);
    put_named(&s);
    put_also(&s);
    oom_what_if_words(&s.words, s.oom, false);
    put_words(&s, "what if");
    put_tests(&s);
    put_must_go(&s);
    put_places(&s);
    put_pins(&s);
    put_pending(&s);
    put_earlier(&s);
    buf_end(&s.words, s.to);
    cells_free(&s.cells, s.to);
}

void oom_text(struct out *out, const struct answer_set *set, bool several,
              const struct render_options *options)
{
    (void)several;
    static const struct device_text parts = { put_result, put_next };
    device_answers_text(out, set, options, &oom_lines, &parts);
}
