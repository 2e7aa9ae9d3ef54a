/* report_fixes_text.c - what to do, as a numbered list with what each thing frees. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/oom/oom_program.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "analysis/snapshot/report/report.h"
#include "base/buf.h"
#include "base/str.h"
#include "model/ids.h"
#include "render/answer/next.h"
#include "render/snapshot/advise/advise.h"
#include "render/snapshot/report/report_parts.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/text.h"

enum {
    INDENT = 5, /* "  1  " */
    GAP = 3     /* between words and bytes */
};

uint32_t report_fixes(const struct report_device *d, const struct advice *shown[REPORT_FIXES])
{
    uint32_t count = 0;
    if (d->sections == NULL || !d->sections->has_advice)
        return 0;
    for (uint32_t i = 0; i < d->sections->advise.advices && count < REPORT_FIXES; i++) {
        const struct advice *a = &d->sections->advise.advice[i];
        if (a->source != SAVING_NONE && known_or_0(a->saving_bytes) > 0)
            shown[count++] = a;
    }
    return count;
}

void report_fix_bytes(struct buf *to, const struct advice *fix)
{
    buf_text(to, fix->at_most ? "up to ~" : fix->source == SAVING_ESTIMATED ? "~" : "");
    human_known_bytes(to, fix->saving_bytes);
    buf_text(to, advice_saved_of(fix));
}

/* Nobody can make smaller what no line of Python is known to hold. */
static bool is_line(str culprit)
{
    return !str_starts(culprit, S("autograd:")) && !str_starts(culprit, S("native:")) &&
           !str_starts(culprit, S("(no stack)"));
}

/* Enough was free: the setting that would have served the request, unless a fix names it. */
static bool serving_words(struct buf *to, const struct report_device *d)
{
    const struct advice *fix[REPORT_FIXES];
    uint32_t fixes = report_fixes(d, fix);
    const char *setting = d->sections->oom.what_if.setting;
    for (uint32_t i = 0; i < fixes && setting != NULL; i++)
        if (fix[i]->setting != NULL && strcmp(fix[i]->setting, setting) == 0)
            setting = NULL;
    if (setting == NULL)
        return false;
    buf_format(to,
               "set PYTORCH_CUDA_ALLOC_CONF=%s in the environment: replayed with it, this request "
               "is served.",
               setting);
    return true;
}

/* All that a request can ever be given: the card, or what could be reserved of it. */
static uint64_t all_there_is(const struct oom *oom)
{
    const struct oom_figures *f = &oom->measured.figures;
    bool card = f->total != UNKNOWN_U64 && f->request > f->total;
    return card ? f->total : (uint64_t)oom->tests.test[OOM_SINGLE_REQUEST_TOO_LARGE].bytes;
}

static bool too_large_words(struct buf *to, const struct oom *oom)
{
    if (!is_line(oom->request_site.culprit))
        return false;
    buf_text(to, "make what ");
    buf_str(to, oom->request_site.culprit);
    buf_text(to, " asks for in one piece smaller (a smaller batch, a shorter sequence, or the "
                 "work in chunks): it asks for ");
    human_known_bytes(to, oom->measured.figures.request);
    buf_text(to, ", and ");
    human_known_bytes(to, all_there_is(oom));
    buf_text(to, " is all there is.");
    return true;
}

uint64_t report_need_bytes(const struct report_device *d)
{
    const struct oom *oom = &d->sections->oom;
    if (oom->tests.verdict != OOM_SINGLE_REQUEST_TOO_LARGE)
        return oom->need_bytes;
    uint64_t all = all_there_is(oom), request = oom->measured.figures.request;
    return request > all ? request - all : 0;
}

bool report_must_go_words(struct buf *to, const struct report_device *d)
{
    const struct report_sections *sections = d->sections;
    if (sections == NULL || !sections->has_oom)
        return false;
    if (sections->oom.tests.verdict == OOM_SINGLE_REQUEST_TOO_LARGE)
        return too_large_words(to, &sections->oom);
    if (sections->oom.need_bytes == 0)
        return serving_words(to, d);
    const struct oom_sites *sites = &sections->oom.must_go;
    if (!sites->enough || sites->count == 0)
        return false;
    /* The largest line is that of gradients or parameters, which nobody can make smaller. */
    if (sections->oom.program.lack == OOM_LACK_STATE) {
        buf_text(to, "the optimizer's state takes at least ");
        human_known_bytes(to, sections->oom.program.state_left_bytes);
        buf_text(to, " more: choose an optimizer with less (8-bit, or without momentum), shard "
                     "its state, or keep it on the host.");
        return true;
    }
    const struct oom_site *site = &sites->at[0];
    if (!is_line(site->site.culprit))
        return false;
    buf_text(to, "make ");
    buf_str(to, site->site.culprit);
    buf_text(to, " smaller: it holds ");
    human_known_bytes(to, site->bytes);
    buf_text(to, " in ");
    human_counted(to, site->count, "allocation", true);
    if (sites->count > 1) {
        buf_text(to, ", and not all that is needed: ");
        human_counted(to, sites->count - 1, "more line", true);
        buf_text(to, " must give, too");
    }
    buf_char(to, '.');
    return true;
}

/* A numbered item: words on the left, bytes at the right end of its last line. */
static void put_item(struct buf *to, const struct style *style, uint32_t number,
                     const struct report_item *item, uint32_t right)
{
    struct style narrow = *style;
    struct buf lines;
    size_t width = escape_width(buf_slice(&item->bytes));
    if (style->width > INDENT + GAP + 2 * right)
        narrow.width = style->width - right - GAP;
    buf_init(&lines, SIZE_MAX / 2);
    buf_format(to, "  %u  ", (unsigned)number);
    text_wrap(&lines, &narrow, buf_slice(&item->words), INDENT, INDENT);
    str text = buf_slice(&lines);
    text.len -= text.len > 0; /* its newline */
    size_t last = text.len;
    while (last > 0 && text.ptr[last - 1] != '\n')
        last--;
    size_t used = escape_width((str){ text.ptr + last, text.len - last });
    used += last == 0 ? INDENT : 0;
    buf_str(to, text);
    if (used + GAP + width > style->width) {
        buf_char(to, '\n');
        used = 0;
    }
    buf_repeat(to, S(" "), used + width < style->width ? style->width - used - width : 0);
    buf_str(to, buf_slice(&item->bytes));
    buf_char(to, '\n');
    to->failed = to->failed || item->words.failed || item->bytes.failed;
    buf_end(&lines, to);
}

static void put_heading(struct buf *to, const struct style *style)
{
    str left = S("What to do"), right = S("frees");
    buf_char(to, '\n');
    paint_on(to, style, PAINT_BOLD);
    buf_str(to, left);
    paint_off(to, style);
    buf_repeat(to, S(" "),
               style->width > left.len + right.len ? style->width - left.len - right.len : 1);
    paint_on(to, style, PAINT_DIM);
    buf_str(to, right);
    paint_off(to, style);
    buf_char(to, '\n');
}

bool report_together_words(struct buf *to, const struct report_device *d,
                           const struct advice *const *shown, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += shown[i]->of_peak ? known_or_0(shown[i]->saving_bytes) : 0;
    /* Savings that overlap do not add up. */
    return count > 1 && d->sections->advise.joint_saving_bytes > 0 &&
           sum > (uint64_t)d->sections->advise.joint_saving_bytes &&
           advice_joint(to, &d->sections->advise);
}

/* The line that the request's failure says must shrink; "" where it names none. */
static str must_go_line(const struct oom *oom)
{
    if (oom->tests.verdict == OOM_SINGLE_REQUEST_TOO_LARGE)
        return oom->request_site.culprit;
    if (oom->need_bytes == 0 || oom->program.lack == OOM_LACK_STATE || oom->must_go.count == 0)
        return S("");
    return oom->must_go.at[0].site.culprit;
}

/* What must shrink for the request that failed, of which no fix need tell; false: nothing. */
static bool make_must_go(const struct report_device *d, bool ascii, struct report_item *item)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    bool is = report_must_go_words(&words, d);
    if (is) {
        uint64_t need = report_need_bytes(d);
        escape_text(&item->words, buf_slice(&words), ascii);
        human_known_bytes(&item->bytes, need != 0 ? need : d->sections->oom.what_if.left_bytes);
        buf_text(&item->bytes, need != 0 ? " needed" : " free then");
        item->line = must_go_line(&d->sections->oom);
    }
    buf_end(&words, &item->words);
    return is;
}

static void make_fix(const struct advice *fix, bool ascii, struct report_item *item)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    advice_words(&words, fix);
    escape_text(&item->words, buf_slice(&words), ascii);
    buf_end(&words, &item->words);
    report_fix_bytes(&item->bytes, fix);
    item->fix = fix;
    if (fix->has_site)
        item->line = fix->site.culprit;
}

uint32_t report_items(const struct report_device *d, bool ascii,
                      struct report_item item[REPORT_ITEMS])
{
    const struct advice *fix[REPORT_FIXES];
    uint32_t fixes = report_fixes(d, fix);
    for (uint32_t i = 0; i < REPORT_ITEMS; i++) {
        item[i] = (struct report_item){ .line = S("") };
        buf_init(&item[i].words, SIZE_MAX / 2);
        buf_init(&item[i].bytes, 1 << 12);
    }
    uint32_t count = make_must_go(d, ascii, &item[0]);
    for (uint32_t i = 0; i < fixes; i++)
        make_fix(fix[i], ascii, &item[count++]);
    return count;
}

void report_items_end(struct buf *to, struct report_item item[REPORT_ITEMS])
{
    for (uint32_t i = 0; i < REPORT_ITEMS; i++) {
        buf_end(&item[i].words, to);
        buf_end(&item[i].bytes, to);
    }
}

/* The command that prints what a fix is said to save, where there is one. */
static void put_verification(struct buf *to, const struct style *style, const struct report *report,
                             const struct report_device *d, const struct advice *fix)
{
    const struct advice_verification *v = &fix->verification;
    struct buf options;
    if (v->verb == NULL)
        return;
    buf_init(&options, 256);
    buf_format(&options, "%s%s", v->options[0] == '\0' ? "" : " ", v->options);
    next_device(&options, d->name, report->devices);
    buf_char(&options, '\0');
    if (!options.failed) {
        buf_text(to, "     verify: ");
        next_command(to, style, v->verb, report->file.path, options.at);
        buf_char(to, '\n');
    }
    buf_end(&options, to);
}

void report_fixes_text(struct buf *to, const struct style *style, const struct report *report,
                       const struct report_device *d)
{
    const struct advice *fix[REPORT_FIXES];
    struct report_item item[REPORT_ITEMS];
    struct buf words;
    uint32_t fixes = report_fixes(d, fix), right = 0;
    uint32_t count = report_items(d, style->ascii, item);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t width = (uint32_t)escape_width(buf_slice(&item[i].bytes));
        right = width > right ? width : right;
    }
    if (count > 0)
        put_heading(to, style);
    for (uint32_t i = 0; i < count; i++) {
        put_item(to, style, i + 1, &item[i], right);
        /* What must go comes before the fixes, and no command tells it. */
        if (item[i].fix != NULL)
            put_verification(to, style, report, d, item[i].fix);
    }
    report_items_end(to, item);
    buf_init(&words, SIZE_MAX / 2);
    if (report_together_words(&words, d, fix, fixes)) {
        buf_text(to, "     Together: ");
        text_wrap(to, style, buf_slice(&words), INDENT + 10, INDENT);
    }
    buf_end(&words, to);
}
