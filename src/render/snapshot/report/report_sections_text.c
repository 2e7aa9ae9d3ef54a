/* report_sections_text.c - verdict, categories, trends and advice of a report, for people. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/breakdown/category_table.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/report/findings.h"
#include "analysis/snapshot/report/report.h"
#include "base/buf.h"
#include "model/ids.h"
#include "render/answer/envelope.h"
#include "render/snapshot/advise/advise.h"
#include "render/snapshot/oom/oom_sentences.h"
#include "render/snapshot/report/report_sections.h"
#include "render/write/escape.h"
#include "render/write/human.h"

enum { CATEGORIES_SHOWN = 5, FIXES_SHOWN = 3 };

static void put_words(struct buf *to, const struct style *style, const char *label,
                      struct buf *words)
{
    envelope_words(to, style, label, words);
    to->failed = to->failed || words->failed;
}

void section_verdict_text(struct buf *to, const struct style *style,
                          const struct report_sections *sections)
{
    struct buf words;
    if (!sections->has_oom)
        return;
    const struct oom *oom = &sections->oom;
    buf_init(&words, SIZE_MAX / 2);
    paint_on(&words, style, PAINT_BAD);
    oom_verdict_words(&words, oom, style->ascii);
    paint_off(&words, style);
    put_words(to, style, "verdict", &words);
    if (oom->must_go.enough && oom->must_go.count > 0) {
        human_known_bytes(&words, oom->need_bytes);
        buf_format(&words, " for %s to fit; ", oom_must_fit(oom));
        escape_text(&words, oom->must_go.at[0].site.culprit, style->ascii);
        if (oom->must_go.count > 1) {
            buf_text(&words, " and ");
            human_counted(&words, oom->must_go.count - 1, "more line", style->ascii);
        }
        buf_text(&words, oom->must_go.count > 1 ? " hold " : " holds ");
        human_known_bytes(&words, oom->must_go.bytes);
        put_words(to, style, "must go", &words);
    }
    oom_what_if_words(&words, oom);
    if (words.len > 0)
        put_words(to, style, "what if", &words);
    buf_free(&words);
}

void section_made_of_text(struct buf *to, const struct style *style,
                          const struct report_sections *sections)
{
    const struct category_table *t = sections->categories;
    struct buf words;
    if (t->rows == 0 || (t->rows == 1 && t->row[0].category == CATEGORY_UNKNOWN))
        return;
    buf_init(&words, SIZE_MAX / 2);
    for (uint32_t i = 0; i < t->rows && i < CATEGORIES_SHOWN; i++) {
        buf_format(&words, "%s%s ", i == 0 ? "" : ", ", category_names[t->row[i].category]);
        human_known_bytes(&words, t->row[i].bytes);
        buf_text(&words, " (");
        human_share(&words, share_ratio(t->row[i].bytes, t->total_bytes));
        buf_char(&words, ')');
    }
    if (t->rows > CATEGORIES_SHOWN)
        buf_format(&words, ", %u more", (unsigned)(t->rows - CATEGORIES_SHOWN));
    put_words(to, style, "made of", &words);
    buf_free(&words);
}

static void put_growth(struct buf *words, const struct style *style, const struct leaks *g)
{
    const struct leak_site *site = &g->site[0];
    human_bytes(words, site->slope_bytes * site->every_steps);
    buf_text(words, " more in ");
    if (site->every_steps > 1)
        buf_format(words, "one of %u steps", (unsigned)site->every_steps);
    else
        buf_text(words, "each step");
    buf_text(words, " at ");
    escape_text(words, site->site.culprit, style->ascii);
    buf_format(words, "; allocations of %u steps are alive: %s", (unsigned)site->generations,
               leak_class_names[site->class]);
    if (site->kind != LEAK_UNKNOWN)
        buf_format(words, " (%s)", leak_kind_names[site->kind]);
}

void section_trends_text(struct buf *to, const struct style *style,
                         const struct report_sections *sections)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    const struct leaks *g = sections->leaks;
    if (g != NULL && g->leaks + g->suspects > 0 && g->sites > 0) {
        put_growth(&words, style, g);
        put_words(to, style, "grows", &words);
    }
    if (report_is_stranded(sections)) {
        human_known_bytes(&words, sections->fragments->total.stranded_bytes);
        buf_text(&words, " of reserved memory is free at the end, but can neither serve larger "
                         "requests nor be returned to the device (");
        human_share(&words, share_ratio(sections->fragments->total.stranded_bytes,
                                        sections->fragments->total.reserved_bytes));
        buf_text(&words,
                 sections->fragments->pools > 0 ? " of what lies outside private pools)" : ")");
        put_words(to, style, "stranded", &words);
    }
    buf_free(&words);
}

static void put_fix(struct buf *to, const struct style *style, const struct advice *advice,
                    uint32_t number)
{
    struct buf words, escaped;
    char label[16];
    buf_init(&words, SIZE_MAX / 2);
    buf_init(&escaped, SIZE_MAX / 2);
    snprintf(label, sizeof label, "fix %u", (unsigned)number);
    advice_saving(&words, advice);
    buf_text(&words, ": ");
    advice_words(&words, advice);
    escape_text(&escaped, buf_slice(&words), style->ascii);
    put_words(to, style, label, &escaped);
    buf_end(&words, to);
    buf_free(&escaped);
}

/* Puts a fix among those shown, most bytes first; of equal ones the first stays first. */
static void rank_fix(const struct advice **shown, uint32_t *count, const struct advice *fix)
{
    uint32_t at = *count;
    while (at > 0 && known_or_0(shown[at - 1]->saving_bytes) < known_or_0(fix->saving_bytes))
        at--;
    if (at == FIXES_SHOWN)
        return;
    *count += *count < FIXES_SHOWN;
    for (uint32_t i = *count - 1; i > at; i--)
        shown[i] = shown[i - 1];
    shown[at] = fix;
}

static uint32_t rank_fixes(const struct report_sections *sections,
                           const struct advice *shown[FIXES_SHOWN])
{
    uint32_t count = 0;
    for (uint32_t i = 0; sections->has_advice && i < sections->advise.advices; i++) {
        const struct advice *a = &sections->advise.advice[i];
        bool saves = a->source != SAVING_NONE && known_or_0(a->saving_bytes) > 0;
        if (saves || a->severity == SEVERITY_PROBLEM)
            rank_fix(shown, &count, a);
    }
    return count;
}

void section_advice_text(struct buf *to, const struct style *style,
                         const struct report_sections *sections)
{
    const struct advice *shown[FIXES_SHOWN];
    uint32_t count = rank_fixes(sections, shown);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0)
            buf_char(to, '\n');
        put_fix(to, style, shown[i], i + 1);
        sum += shown[i]->of_peak ? known_or_0(shown[i]->saving_bytes) : 0;
    }
    /* Savings that overlap do not add up. */
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    if (count > 1 && sections->advise.joint_saving_bytes > 0 &&
        sum > (uint64_t)sections->advise.joint_saving_bytes &&
        advice_joint(&words, &sections->advise))
        put_words(to, style, "together", &words);
    buf_end(&words, to);
}
