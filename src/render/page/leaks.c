/* leaks.c - what stays from step to step, for the head of a page: the list of `vramscope leaks`. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/report/report.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/page/page.h"
#include "render/snapshot/leaks/leaks_rows.h"
#include "render/snapshot/leaks/leaks_sentences.h"
#include "render/write/human.h"
#include "render/write/json.h"

/* Of each row as many bars as can be told apart; of rows so many as anybody reads. */
enum { BARS_MOST = 24, ROWS_MOST = 64 };

/* A member of words; null where there are none. */
static void put_words(struct json *j, const char *key, struct buf *words)
{
    json_str(j, key, words->len > 0 ? buf_slice(words) : (str){ 0 });
    words->len = 0;
}

static void put_slope(struct json *j, const struct leaks *g, const struct leak_site *site)
{
    if (leaks_row_is_outgrown(g, site))
        json_u64(j, "slope_bytes", leaks_row_rise_bytes(g, site));
    else if (leak_grows(site))
        json_i64(j, "slope_bytes", site->slope_bytes);
    else
        json_null(j, "slope_bytes");
    json_u64(j, "every_steps", leak_grows(site) ? site->every_steps : 1);
    bool told = leak_grows(site) && site->kind != LEAK_UNKNOWN;
    json_text(j, "kind", told ? leak_kind_names[site->kind] : NULL);
}

static void put_row(struct json *j, const struct leaks *g, const struct leak_site *site,
                    struct buf *words)
{
    uint32_t last = g->moments - 1;
    json_line_object(j, NULL);
    json_str(j, "line", site->site.culprit);
    leaks_difference_words(words, g, site, leaks_row_difference(g, site), false);
    put_words(j, "more", words);
    json_text(j, "class", leaks_row_class(g, site));
    json_text(j, "category", category_names[site->category]);
    put_slope(j, g, site);
    json_u64(j, "bytes", site->bytes[last]);
    json_u64(j, "count", site->counts[last]);
    json_line_array(j, "between");
    for (uint32_t i = g->moments > BARS_MOST ? g->moments - BARS_MOST : 0; i < g->moments; i++)
        json_u64(j, NULL, site->bytes[i]);
    json_close(j);
    json_close(j);
}

/* How many rows are left out. */
static uint32_t put_rows(struct json *j, const struct leaks *g, struct buf *words)
{
    uint32_t rows = 0;
    json_array(j, "rows");
    for (uint32_t i = 0; i < g->sites; i++)
        if (leaks_row_is_shown(g, &g->site[i]) && rows++ < ROWS_MOST)
            put_row(j, g, &g->site[i], words);
    json_close(j);
    return rows > ROWS_MOST ? rows - ROWS_MOST : 0;
}

void page_put_leaks(struct json *j, const struct report_sections *sections)
{
    const struct leaks *g = sections == NULL ? NULL : sections->leaks;
    struct style style = { 0 };
    struct buf words;
    if (g == NULL || g->moments == 0) {
        json_null(j, "leaks");
        return;
    }
    buf_init(&words, SIZE_MAX / 2);
    json_object(j, "leaks");
    if (g->leaks + g->suspects == 0)
        leaks_none_words(&words, g, &style);
    put_words(j, "none", &words);
    leaks_legend_words(&words, g);
    put_words(j, "legend", &words);
    leaks_stable_words(&words, g, "", false);
    put_words(j, "stable", &words);
    json_u64(j, "moments", g->moments);
    json_u64(j, "left_out", put_rows(j, g, &words));
    json_close(j);
    buf_end(&words, j->out);
}
