/* waste_text.c - lifetimes, byte-time and churn, for people. */
#include "render/advise.h"
#include "render/escape.h"
#include "render/text.h"

/* Rows of three cells: a quantity, a remark, the line. */
struct sheet {
    struct arena arena;
    struct buf text;
    str *cell;
    uint32_t rows, most;
    const struct style *style;
};

static bool begin(struct sheet *s, const struct style *style, uint32_t rows, uint32_t most)
{
    *s = (struct sheet){ .most = rows < most ? rows : most, .style = style };
    arena_init(&s->arena, SIZE_MAX / 2);
    buf_init(&s->text, SIZE_MAX / 2);
    s->cell = arena_array(&s->arena, str, 3 * (size_t)s->most);
    return s->cell != NULL;
}

static void end(struct buf *to, struct sheet *s, const char *quantity, const char *remark)
{
    const struct text_column column[] = {
        { .heading = quantity, .right = true },
        { .heading = remark, .right = true },
        { .heading = "line", .flexible = true, .least = 12 },
    };
    struct text_table table = { column, 3, s->rows, s->cell, 2 };
    if (s->cell == NULL || s->text.failed)
        to->failed = true;
    else
        text_table(to, s->style, &table);
    buf_free(&s->text);
    arena_free(&s->arena);
}

/* The cells of the next row; what is in `text` since `from` belongs to the first. */
static void put_cell(struct sheet *s, uint32_t column, size_t from)
{
    s->cell[3 * (size_t)s->rows + column] = text_keep(&s->arena, &s->text, from);
}

static void put_site(struct sheet *s, const struct site_ref *site)
{
    size_t from = s->text.len;
    escape_text(&s->text, site->culprit, s->style->ascii);
    put_cell(s, 2, from);
    s->rows++;
}

static void put_churn(struct buf *to, const struct style *style, const struct waste *w,
                      uint32_t most)
{
    struct sheet s;
    buf_text(to, "\nchurn: the same size in the same function, freed and soon made again\n");
    if (begin(&s, style, w->churns, most))
        for (uint32_t i = 0; i < s.most; i++) {
            size_t from = s.text.len;
            human_known_bytes(&s.text, w->churn[i].size_bytes);
            put_cell(&s, 0, from);
            from = s.text.len;
            human_count(&s.text, w->churn[i].count, style->ascii);
            put_cell(&s, 1, from);
            put_site(&s, &w->churn[i].site);
        }
    end(to, &s, "each", "times");
}

static void put_byte_time(struct buf *to, const struct style *style, const struct waste *w,
                          uint32_t most)
{
    struct sheet s;
    buf_text(to, "\nwho holds bytes longest: shares of bytes times events, and of the peak\n");
    if (begin(&s, style, w->byte_times, most))
        for (uint32_t i = 0; i < s.most; i++) {
            size_t from = s.text.len;
            human_share(&s.text, w->byte_time[i].share_ratio);
            put_cell(&s, 0, from);
            from = s.text.len;
            human_share(&s.text, w->byte_time[i].peak_share_ratio);
            put_cell(&s, 1, from);
            put_site(&s, &w->byte_time[i].site);
        }
    end(to, &s, "byte-time", "peak");
}

static void put_long(struct buf *to, const struct style *style, const struct waste *w,
                     uint32_t most)
{
    struct sheet s;
    buf_text(to, "\ntemporaries that live long: over a phase, or ten times the usual\n");
    if (begin(&s, style, w->long_temporaries, most))
        for (uint32_t i = 0; i < s.most; i++) {
            const struct long_temporary *row = &w->long_temporary[i];
            size_t from = s.text.len;
            human_known_bytes(&s.text, row->bytes);
            put_cell(&s, 0, from);
            from = s.text.len;
            buf_format(&s.text, "%lld to %lld", (long long)row->first_event,
                       (long long)row->last_event);
            put_cell(&s, 1, from);
            put_site(&s, &row->site);
        }
    end(to, &s, "size", "events");
}

static void put_held(struct buf *to, const struct style *style, const struct waste *w,
                     uint32_t most)
{
    struct sheet s;
    buf_text(to, "\nheld through a phase in which their module asks for nothing\n");
    if (begin(&s, style, w->held_overs, most))
        for (uint32_t i = 0; i < s.most; i++) {
            size_t from = s.text.len;
            human_known_bytes(&s.text, w->held_over[i].bytes);
            put_cell(&s, 0, from);
            from = s.text.len;
            buf_text(&s.text, phase_names[w->held_over[i].phase]);
            put_cell(&s, 1, from);
            put_site(&s, &w->held_over[i].site);
        }
    end(to, &s, "size", "phase");
}

static void put_line(struct buf *to, const struct style *style, const char *label,
                     struct buf *words)
{
    envelope_words(to, style, label, words);
    to->failed = to->failed || words->failed;
    buf_free(words);
}

static void put_lives(struct buf *to, const struct style *style, const struct waste *w)
{
    struct buf words;
    if (w->life_events[0] == UNKNOWN_U64)
        return;
    buf_init(&words, SIZE_MAX / 2);
    for (int k = 0; k < LIFE_POINTS; k++) {
        buf_format(&words, "%s%u %% within ", k == 0 ? "" : ", ", (unsigned)life_percent[k]);
        human_count(&words, w->life_events[k], style->ascii);
    }
    buf_text(&words, " events; ");
    human_count(&words, w->censored_count, style->ascii);
    buf_text(&words, " allocations, ");
    human_known_bytes(&words, w->censored_bytes);
    buf_text(&words, ", were made before or never freed and are not counted");
    put_line(to, style, "lives", &words);
}

static void put_device(struct buf *to, const struct style *style, const struct waste *w)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    human_known_bytes(&words, w->mapped_bytes);
    buf_text(&words, " asked of the device in ");
    human_count(&words, w->mapped, style->ascii);
    buf_text(&words, " calls after the first step, ");
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
    if (w->churn_ratio >= 0)
        buf_format(&words, ", %.1f times the peak", w->churn_ratio);
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
    put_byte_time(to, style, w, rows);
    if (w->churns > 0)
        put_churn(to, style, w, rows);
    if (w->long_temporaries > 0)
        put_long(to, style, w, rows);
    if (w->held_overs > 0)
        put_held(to, style, w, rows);
}
