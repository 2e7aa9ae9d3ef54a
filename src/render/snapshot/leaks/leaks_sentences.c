/* leaks_sentences.c - sentences about what stays after each step: none grows, what classes mean. */
#include "render/snapshot/leaks/leaks_sentences.h"

#include <stddef.h>

#include "analysis/snapshot/steps/steps.h"
#include "render/answer/place.h"
#include "render/snapshot/leaks/leaks_rows.h"

/* Whether all that a site holds at the end was made in the last step. */
static bool is_of_last_step(const struct leaks *g, const struct leak_site *site)
{
    const struct steps *steps = &g->steps.steps;
    if (leaks_row_is_outgrown(g, site))
        return false;
    if (site->class == LEAK_CLASS_REPLACED)
        return true;
    return site->class == LEAK_CLASS_STABLE && site->survivors == 1 && site->survivor != NULL &&
           site->survivor[0].event >= (int64_t)steps->boundary[steps->count - 1].event;
}

/* "; model.py:71 forward carries 500.00 MiB of each step into the next": no leak, and yet held. */
static void put_carried(struct buf *to, const struct leaks *g, const char *kind, bool ascii)
{
    const struct leak_site *most = NULL;
    uint32_t last = g->moments - 1;
    for (uint32_t i = 0; i < g->sites; i++) {
        const struct leak_site *site = &g->site[i];
        if (is_of_last_step(g, site) && site->bytes[last] >= g->floor_bytes &&
            (most == NULL || site->bytes[last] > most->bytes[last]))
            most = site;
    }
    if (most == NULL)
        return;
    buf_text(to, "; ");
    place_words(to, most->site.culprit, ascii);
    buf_text(to, " carries ");
    human_bytes(to, (int64_t)most->bytes[last]);
    buf_format(to, " of each %s into the next", kind);
}

void leaks_none_words(struct buf *to, const struct leaks *g, const struct style *style)
{
    uint32_t steps = g->steps.steps.count;
    const char *kind = step_kind_names[g->steps.steps.kind];
    const char *kinds = g->steps.steps.kind == STEP_PASS ? "passes" : "steps";
    if (!g->end_compares) {
        buf_format(to,
                   "not known: %u %s, and the recording ends at another point of a %s than "
                   "they do, so too little can be compared",
                   steps, kinds, kind);
        return;
    }
    paint_on(to, style, PAINT_GOOD);
    buf_text(to, "none");
    paint_off(to, style);
    buf_format(to, ": in %u %s ", steps, kinds);
    if (g->sites_folded == 0) {
        buf_text(to, "no site");
    } else {
        buf_text(to, "none of the ");
        human_count(to, g->sites, style->ascii);
        buf_text(to, " largest sites");
    }
    buf_format(to, " leaves %smemory behind in each", g->too_small != 0 ? "much " : "");
    put_carried(to, g, kind, style->ascii);
}

void leaks_legend_words(struct buf *to, const struct leaks *g)
{
    static const char *const meaning[LEAK_CLASSES] = {
        [LEAK_CLASS_ONE_TIME] = "one time: came with the first step and stays",
        [LEAK_CLASS_REPLACED] = "replaced: the next step's takes its place",
        [LEAK_CLASS_PLATEAU] = "plateau: rose and stopped",
        [LEAK_CLASS_SAWTOOTH] = "sawtooth: rises and is freed again",
        [LEAK_CLASS_TOO_SMALL] = "too small: grows, by little",
    };
    bool has[LEAK_CLASSES] = { false }, grows = false, any = false;
    for (uint32_t i = 0; i < g->sites; i++) {
        bool outgrown = leaks_row_is_outgrown(g, &g->site[i]);
        grows = grows || outgrown;
        has[g->site[i].class] = has[g->site[i].class] || !outgrown;
    }
    if (grows)
        buf_text(to, "grows: each step's is larger than the last one's");
    any = grows;
    for (int i = 0; i < LEAK_CLASSES; i++)
        if (has[i] && meaning[i] != NULL) {
            buf_format(to, "%s%s", any ? "; " : "", meaning[i]);
            any = true;
        }
}

uint32_t leaks_stable_words(struct buf *to, const struct leaks *g, const char *before, bool ascii)
{
    uint32_t stable = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < g->sites; i++) {
        if (leaks_row_is_shown(g, &g->site[i]))
            continue;
        stable++;
        bytes += g->site[i].bytes[g->moments - 1];
    }
    if (stable == 0)
        return 0;
    buf_text(to, before);
    human_counted(to, stable, "stable site", ascii);
    buf_text(to, stable == 1 ? " holds " : " hold ");
    human_bytes(to, (int64_t)bytes);
    return stable;
}
