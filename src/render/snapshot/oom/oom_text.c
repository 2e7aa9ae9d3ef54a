/* oom_text.c - why a request for memory failed, proven with numbers, for people. */
#include "analysis/snapshot/oom/oom.h"
#include "render/answer/device_answer.h"
#include "render/answer/next.h"
#include "render/snapshot/oom/oom_sentences.h"
#include "render/snapshot/renderers.h"
#include "render/write/cells.h"
#include "render/write/escape.h"

enum { ROWS_DEFAULT = 20, OWNER_WIDTH = 100 };

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

static str signed_cell(struct text_context *s, const struct oom_test *test)
{
    return test->known ? cell_bytes(&s->cells, test->bytes) : S("-");
}

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

static void put_table(struct text_context *s, const struct text_column *column, uint32_t columns,
                      uint32_t rows, const str *cell)
{
    struct text_table table = { column, columns, rows, cell, 0 };
    text_table(s->to, s->style, &table);
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
        buf_format(words, " at event %lld by ", (long long)oom->event);
        escape_text(words, oom->request_site.culprit, s->style->ascii);
        if (!str_equal(oom->request_site.culprit, oom->request_site.owner)) {
            buf_text(words, " in ");
            escape_text(words, oom->request_site.owner, s->style->ascii);
        }
    } else {
        buf_text(words, oom->basis == OOM_LAST ? " after the last event" : ", by the text alone");
    }
    if (f->segment != f->request && f->segment != UNKNOWN_U64) {
        buf_text(words, "; the card was asked for ");
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
    if (oom_capacity_seen(f) != UNKNOWN_U64) {
        buf_text(words, ", together ");
        human_known_bytes(words, oom_capacity_seen(f));
    }
    add_known(words, about, f->active,
              oom->basis == OOM_TEXT_ALONE ? " of it allocated" : " of it active");
    if (oom->basis != OOM_TEXT_ALONE && f->pending > 0 && f->pending != UNKNOWN_U64) {
        buf_text(words, " (");
        human_known_bytes(words, f->pending);
        buf_text(words, " waiting to be free)");
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
        buf_text(words, "at the same place of the step before ");
        human_known_bytes(words, oom->previous_step_bytes);
        buf_text(words, " were in use, now ");
        human_known_bytes(words, oom->live_bytes);
    }
    if (oom->steps_of_growth >= 0) {
        buf_text(words, words->len > 0 ? "; ~" : "~");
        buf_fixed(words, oom->steps_of_growth, 1);
        buf_text(words, " steps of steady growth led here (vramscope leaks)");
    }
    put_words(s, "trend");
}

static void put_also(struct text_context *s)
{
    for (uint32_t v = 0; v < OOM_VERDICTS; v++) {
        if (!s->oom->tests.also_true[v])
            continue;
        buf_format(&s->words, "%s%s", s->words.len == 0 ? "" : ", ", oom_verdict_names[v]);
    }
    if (s->words.len > 0)
        buf_text(&s->words, " alone would have sufficed too");
    put_words(s, "also");
}

static void put_tests(struct text_context *s)
{
    static const struct text_column column[] = {
        { "test", false, false, 0, false },
        { "holds", false, false, 0, false },
        { "bytes", true, false, 0, false },
        { "which are", false, true, 16, false },
    };
    static const str holds[] = {
        [OOM_NO] = { "no", 2 }, [OOM_YES] = { "yes", 3 }, [OOM_UNKNOWN] = { "unknown", 7 }
    };
    const struct oom_answer_of_tests *tests = &s->oom->tests;
    str *cell = cells_array(&s->cells, OOM_VERDICTS, 4);
    if (cell == NULL)
        return;
    for (uint32_t v = 0; v < OOM_VERDICTS; v++) {
        str *row = cell + (size_t)v * 4;
        row[0] = str_from(oom_verdict_names[v]);
        row[1] = v == (uint32_t)tests->verdict ? S("YES") : holds[tests->test[v].holds];
        row[2] = signed_cell(s, &tests->test[v]);
        row[3] = str_from(oom_test_words((enum oom_verdict)v));
    }
    buf_char(s->to, '\n');
    put_table(s, column, 4, OOM_VERDICTS, cell);
}

/* Evidence. */

static str pool_cell(struct text_context *s, const struct oom_place *place)
{
    if (place->pool == 0)
        return S("default");
    buf_format(&s->cells.text, "%llu,%llu", (unsigned long long)place->pool_ids[0],
               (unsigned long long)place->pool_ids[1]);
    return cell_end(&s->cells);
}

/* The handle of a stream is an address: shown as one, unless it is small. */
static str stream_cell(struct text_context *s, uint64_t stream)
{
    buf_format(&s->cells.text, stream < 1 << 16 ? "%llu" : "0x%llx", (unsigned long long)stream);
    return cell_end(&s->cells);
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
    static const struct text_column column[] = {
        { "pool", false, false, 0, false },   { "stream", false, true, 6, true },
        { "class", false, false, 0, false },  { "reserved", true, false, 0, false },
        { "active", true, false, 0, false },  { "free", true, false, 0, false },
        { "largest", true, false, 0, false }, { "returnable", true, false, 0, false },
    };
    const struct oom_evidence *e = &s->oom->evidence;
    uint32_t shown = e->places < s->rows ? e->places : s->rows;
    bool asked = lay_apart(e) || s->oom->tests.verdict == OOM_CACHED_NOT_RELEASABLE;
    str *cell = asked ? cells_array(&s->cells, shown, 8) : NULL;
    if (cell == NULL)
        return;
    for (uint32_t i = 0; i < shown; i++) {
        const struct oom_place *place = &e->place[i];
        str *row = cell + (size_t)i * 8;
        row[0] = pool_cell(s, place);
        row[1] = stream_cell(s, place->stream);
        row[2] = place->small ? S("small") : S("large");
        row[3] = cell_known_bytes(&s->cells, place->reserved_bytes);
        row[4] = cell_known_bytes(&s->cells, place->active_bytes);
        row[5] = cell_known_bytes(&s->cells, place->free_bytes);
        row[6] = cell_known_bytes(&s->cells, place->largest_free_bytes);
        row[7] = cell_known_bytes(&s->cells, place->returnable_bytes);
    }
    put_heading(s, "where memory lay");
    put_table(s, column, 8, shown, cell);
    put_more(s, e->places, shown);
}

static void put_pins(struct text_context *s)
{
    static const struct text_column column[] = {
        { "free", true, false, 0, false },
        { "active", true, false, 0, false },
        { "blocks", true, false, 0, false },
        { "largest block", false, true, 16, false },
    };
    const struct oom_evidence *e = &s->oom->evidence;
    str *cell = s->oom->tests.verdict != OOM_FRAGMENTATION || e->pins == 0
                    ? NULL
                    : cells_array(&s->cells, e->pins, 4);
    if (cell == NULL)
        return;
    for (uint32_t i = 0; i < e->pins; i++) {
        str *row = cell + (size_t)i * 4;
        row[0] = cell_known_bytes(&s->cells, e->pin[i].free_bytes);
        row[1] = cell_known_bytes(&s->cells, e->pin[i].active_bytes);
        row[2] = cell_count(&s->cells, e->pin[i].blocks);
        row[3] = site_cell(s, &e->pin[i].site);
    }
    put_heading(s, "segments whose blocks hold free memory back");
    put_table(s, column, 4, e->pins, cell);
}

static void put_pending(struct text_context *s)
{
    static const struct text_column column[] = {
        { "waiting", true, false, 0, false },
        { "count", true, false, 0, false },
        { "since event", true, false, 0, false },
        { "allocated by", false, true, 16, false },
    };
    const struct oom_evidence *e = &s->oom->evidence;
    uint32_t shown = e->pendings < s->rows ? e->pendings : s->rows;
    str *cell = e->pendings == 0 ? NULL : cells_array(&s->cells, shown, 4);
    if (cell == NULL)
        return;
    for (uint32_t i = 0; i < shown; i++) {
        str *row = cell + (size_t)i * 4;
        row[0] = cell_known_bytes(&s->cells, e->pending[i].bytes);
        row[1] = cell_count(&s->cells, e->pending[i].count);
        row[2] = cell_event(&s->cells, e->pending[i].oldest_event, "earlier");
        row[3] = site_cell(s, &e->pending[i].site);
    }
    put_heading(s, "freed, and waiting for another stream");
    put_table(s, column, 4, shown, cell);
    put_more(s, e->pendings, shown);
}

static void put_site_table(struct text_context *s, const struct oom_sites *sites)
{
    static const struct text_column column[] = {
        { "bytes", true, false, 0, false },
        { "count", true, false, 0, false },
        { "allocated by", false, true, 16, false },
    };
    uint32_t shown = sites->count < s->rows ? sites->count : s->rows;
    str *cell = cells_array(&s->cells, shown, 3);
    if (cell == NULL)
        return;
    for (uint32_t i = 0; i < shown; i++) {
        str *row = cell + (size_t)i * 3;
        row[0] = cell_known_bytes(&s->cells, sites->at[i].bytes);
        row[1] = cell_count(&s->cells, sites->at[i].count);
        row[2] = site_cell(s, &sites->at[i].site);
    }
    put_table(s, column, 3, shown, cell);
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
    buf_format(&s->words, "or %s alone, of %u site%s with ", category_names[s->oom->category],
               (unsigned)sites->count, sites->count == 1 ? "" : "s");
    human_known_bytes(&s->words, sites->bytes);
    buf_char(&s->words, ':');
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
        buf_text(words, "all that was alive together would not have made room for it");
        put_words(s, "must go");
        return;
    }
    human_known_bytes(words, oom->need_bytes);
    buf_format(words, " for this request to fit; the largest site%s that hold%s so much",
               oom->must_go.count == 1 ? "" : "s", oom->must_go.count == 1 ? "s" : "");
    bool same = is_all_of_category(oom);
    if (same)
        buf_format(words, ", all of it %s", category_names[oom->category]);
    buf_char(words, ':');
    put_words(s, "must go");
    put_site_table(s, &oom->must_go);
    if (oom->has_category && !same)
        put_must_go_category(s);
}

static void put_earlier(struct text_context *s)
{
    static const struct text_column column[] = {
        { "event", true, false, 0, false },
        { "request", true, false, 0, false },
        { "retries", true, false, 0, false },
        { "verdict", false, false, 0, false },
    };
    const struct oom *oom = s->oom;
    uint32_t shown = oom->earliers < s->rows ? oom->earliers : s->rows;
    str *cell = shown == 0 ? NULL : cells_array(&s->cells, shown, 4);
    if (cell == NULL)
        return;
    /* The last ones, which lie nearest. */
    for (uint32_t i = 0; i < shown; i++) {
        const struct oom_earlier *earlier = &oom->earlier[oom->earliers - shown + i];
        str *row = cell + (size_t)i * 4;
        row[0] = cell_event(&s->cells, earlier->event, "earlier");
        row[1] = cell_known_bytes(&s->cells, earlier->request_bytes);
        row[2] = cell_count(&s->cells, earlier->retries);
        row[3] = earlier->verdict == OOM_UNDECIDED ? S("-")
                                                   : str_from(oom_verdict_names[earlier->verdict]);
    }
    put_heading(s, "it ran out before, and went on");
    put_table(s, column, 4, shown, cell);
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
    buf_char(s->to, '\n');
    if (s->oom->what_if.setting != NULL) {
        next_line(s->to, s->style, label, "replay", path, replay->at, "the setting, asked");
        label = "";
    }
    if (places)
        next_line(s->to, s->style, label, "fragments", path, at->at, "what holds it back");
    else
        next_line(s->to, s->style, label, "peak", path, at->at, "all that was alive");
}

static void put_next(struct text_context *s, const struct device_answer *d, uint32_t devices,
                     const struct file_facts *file)
{
    const struct oom *oom = s->oom;
    struct buf at, replay;
    if (oom->basis == OOM_TEXT_ALONE)
        return;
    buf_init(&at, 256);
    buf_init(&replay, 512);
    buf_format(&at, " --at %s", oom->basis == OOM_EVENT ? "oom" : "end");
    if (oom->what_if.setting != NULL)
        buf_format(&replay, " --set %s --capacity %llu", oom->what_if.setting,
                   (unsigned long long)oom_capacity_seen(&oom->measured.figures));
    if (devices > 1 || d->name.number != 0) {
        buf_format(&at, " --device %u", (unsigned)d->name.number);
        buf_format(&replay, " --device %u", (unsigned)d->name.number);
    }
    buf_char(&at, '\0');
    buf_char(&replay, '\0');
    put_commands(s, file->path, &at, &replay);
    buf_end(&at, s->to);
    buf_end(&replay, s->to);
}

static void put_result(struct out *out, const struct device_answer *device,
                       const struct devices_answer *answer, const struct render_options *options)
{
    struct text_context s = { .style = &options->style,
                              .to = &out->text,
                              .oom = device->result,
                              .rows = options->rows == 0 ? ROWS_DEFAULT : options->rows };
    cells_init(&s.cells, s.style);
    buf_init(&s.words, SIZE_MAX / 2);
    buf_char(s.to, '\n');
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
    put_also(&s);
    oom_what_if_words(&s.words, s.oom);
    put_words(&s, "what if");
    put_tests(&s);
    put_must_go(&s);
    put_places(&s);
    put_pins(&s);
    put_pending(&s);
    put_earlier(&s);
    put_next(&s, device, answer->devices, &answer->file);
    buf_end(&s.words, s.to);
    cells_free(&s.cells, s.to);
}

void oom_text(struct out *out, const struct answer_set *set, bool several,
              const struct render_options *options)
{
    (void)several;
    device_answer_text(out, set, options, put_result);
}
