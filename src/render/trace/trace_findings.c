/* trace_findings.c - sentences of rules, whose {places} are filled with what they saw. */
#include "render/trace/trace_findings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/rules.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/str.h"
#include "render/answer/envelope.h"
#include "render/write/escape.h"
#include "render/write/text.h"

/* By the end of its name: times, sizes and shares as people read them. */
static void put_value(struct buf *to, const struct trace_evidence *e, bool ascii)
{
    str name = str_from(e->name);
    double value = e->value;
    uint64_t whole = value > 0 ? (uint64_t)i64_of_double(value) : 0;
    if (str_ends(name, S("_ns")) || str_ends(name, S("-ns"))) {
        human_ns(to, whole);
    } else if (str_ends(name, S("_bytes"))) {
        human_bytes(to, i64_of_double(value));
    } else if (str_ends(name, S("_per_step"))) {
        const double many = 1000;
        if (value < many)
            buf_fixed(to, value, 1);
        else
            human_count(to, (uint64_t)i64_of_double(value + 0.5), ascii);
    } else if (str_ends(name, S("_ratio"))) {
        human_share(to, value);
    } else {
        human_count(to, whole, ascii);
    }
}

static void put_place(struct buf *to, const struct trace_finding *f, str name, bool ascii)
{
    if (str_equal(name, S("culprit"))) {
        escape_text(to, f->culprit.ptr != NULL ? f->culprit : S("what ran longest"), ascii);
        return;
    }
    if (str_equal(name, S("line"))) {
        escape_text(to, f->line.ptr != NULL ? f->line : S("the program"), ascii);
        return;
    }
    for (uint32_t i = 0; i < f->evidences; i++)
        if (str_equal(name, str_from(f->evidence[i].name)))
            put_value(to, &f->evidence[i], ascii);
}

/* What stands before the next place, which is then named and left behind; false: there is none. */
static bool put_until_place(struct buf *to, str *rest, str *ret_name)
{
    size_t open = str_find(*rest, S("{")), close = str_find(*rest, S("}"));
    buf_str(to, (str){ rest->ptr, open });
    if (open == rest->len)
        return false;
    *ret_name = (str){ rest->ptr + open + 1, close - open - 1 };
    *rest = (str){ rest->ptr + close + 1, rest->len - close - 1 };
    return true;
}

static void put_workers(struct buf *to, const struct trace_finding *f, bool ascii)
{
    str rest = str_from(f->workers != NULL ? f->workers : ""), name = { NULL, 0 };
    while (put_until_place(to, &rest, &name))
        put_place(to, f, name, ascii);
}

/* Behind a 1, "call" for the "calls" of a template. */
static void put_noun_of_one(struct buf *to, str *rest)
{
    static const struct {
        str many, one;
    } nouns[] = {
        { { " calls", 6 }, { " call", 5 } }, { { " launches", 9 }, { " launch", 7 } },
        { { " copies", 7 }, { " copy", 5 } }, { { " fills", 6 }, { " fill", 5 } },
        { { " times", 6 }, { " time", 5 } }, { { " steps", 6 }, { " step", 5 } },
    };
    for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++) {
        if (!str_starts(*rest, nouns[i].many))
            continue;
        buf_str(to, nouns[i].one);
        *rest = (str){ rest->ptr + nouns[i].many.len, rest->len - nouns[i].many.len };
        return;
    }
}

static void put_template(struct buf *to, const struct trace_finding *f, static_text text,
                         bool ascii)
{
    str rest = str_from(text), name = { NULL, 0 };
    while (put_until_place(to, &rest, &name)) {
        size_t before = to->len;
        if (str_equal(name, S("workers")))
            put_workers(to, f, ascii);
        else
            put_place(to, f, name, ascii);
        if (to->len == before + 1 && to->at[before] == '1')
            put_noun_of_one(to, &rest);
    }
}

/* "busy_ratio 85.0 % is not below 70.0 % (gpu-low-busy_ratio)" */
static void put_clause(struct buf *to, const struct trace_silence *s, bool ascii)
{
    if (s->clause != NULL) {
        buf_text(to, s->clause);
        return;
    }
    static const char *const words[UNMETS] = {
        [NOT_ABOVE] = " is not above ",
        [NOT_BELOW] = " is not below ",
        [LESS_THAN] = " is less than ",
    };
    for (uint32_t i = 0; i < s->unmets; i++) {
        const struct unmet *u = &s->unmet[i];
        buf_text(to, i > 0 ? "; " : "");
        buf_text(to, u->seen.name);
        buf_char(to, ' ');
        put_value(to, &u->seen, ascii);
        buf_text(to, words[u->how]);
        put_value(to, &u->limit, ascii);
        buf_text(to, " (");
        buf_text(to, u->limit.name);
        buf_char(to, ')');
    }
}

bool trace_finding_sentence(struct buf *to, const struct field *f, const void *row)
{
    const struct trace_finding *finding = row;
    switch ((enum trace_sentence)f->sentence) {
    case TRACE_TEXT:
        put_template(to, finding, finding->text, false);
        return true;
    case TRACE_ADVICE_TEXT:
        put_template(to, finding, finding->advice, false);
        return true;
    case TRACE_CLAUSE:
        put_clause(to, row, false);
        return true;
    }
    return false;
}

enum { NAME_MOST = 60 };

/* What a late host was in, by the evidence that has its time. */
static const struct {
    const char *evidence, *words;
} late_words[] = {
    { "culprit_ns", "; while it was idle the host was longest in " },
    { "outside_ns", "; while it was idle the host was longest in code between operators" },
    { "unrecorded_ns", "; for the longest part of it no host event was recorded" },
};

/* "train.py(12): step"; of a path that fills a line the end is kept, by which files differ. */
static void put_line(struct buf *to, const struct style *style, str line)
{
    struct buf escaped;
    buf_init(&escaped, SIZE_MAX / 2);
    escape_text(&escaped, line, style->ascii);
    str text = buf_slice(&escaped);
    size_t word = str_find(text, S(" ")), room = style->width - ENVELOPE_LABEL;
    if (style->width > ENVELOPE_LABEL && escape_width((str){ text.ptr, word }) > room) {
        text_fit(to, style, (str){ text.ptr, word }, room, CUT_START);
        text = (str){ text.ptr + word, text.len - word };
    }
    buf_str(to, text);
    buf_end(&escaped, to);
}

/* "; above all aten::item in train.py(12): step" */
static void put_culprit(struct buf *to, const struct style *style, const struct trace_finding *f)
{
    enum { WORDS = sizeof late_words / sizeof *late_words };
    const struct trace_evidence *of_late = NULL;
    const char *words = "; above all ";
    for (uint32_t i = 0; i < f->evidences; i++) {
        for (size_t k = 0; k < WORDS; k++) {
            if (!str_equal(str_from(f->evidence[i].name), str_from(late_words[k].evidence)))
                continue;
            of_late = &f->evidence[i];
            words = late_words[k].words;
        }
    }
    if (f->culprit.ptr != NULL || of_late != NULL)
        buf_text(to, words);
    if (f->culprit.ptr != NULL) {
        struct buf name;
        buf_init(&name, SIZE_MAX / 2);
        escape_text(&name, f->culprit, style->ascii);
        text_fit(to, style, buf_slice(&name), NAME_MOST, CUT_MIDDLE);
        buf_end(&name, to);
    }
    if (of_late != NULL) {
        buf_text(to, " (");
        put_value(to, of_late, style->ascii);
        buf_char(to, ')');
    }
    if (f->line.ptr != NULL) {
        buf_text(to, " in ");
        put_line(to, style, f->line);
    }
}

/* "; at most 2.34 ms a step to gain, 11.7 ms in 5 steps" */
static void put_gain(struct buf *to, const struct style *style, const struct trace_finding *f)
{
    if (f->gain_ns < 0)
        return;
    buf_text(to, "; at most ");
    if (f->steps > 1) {
        human_ns(to, (uint64_t)f->gain_step_ns);
        buf_text(to, " a step to gain, ");
        human_ns(to, (uint64_t)f->gain_ns);
        buf_text(to, " in ");
        human_count(to, f->steps, style->ascii);
        buf_text(to, " steps");
        return;
    }
    human_ns(to, (uint64_t)f->gain_ns);
    buf_text(to, f->steps == 1 ? " to gain in the one step" : " to gain");
}

void trace_template_words(struct buf *to, const struct style *style,
                          const struct trace_finding *finding)
{
    put_template(to, finding, finding->text, style->ascii);
}

void trace_finding_words(struct buf *to, const struct style *style,
                         const struct trace_finding *finding)
{
    buf_text(to, finding->id);
    buf_text(to, ": ");
    put_template(to, finding, finding->text, style->ascii);
    put_culprit(to, style, finding);
    put_gain(to, style, finding);
    buf_text(to, ": ");
    put_template(to, finding, finding->advice, style->ascii);
}

static void put_finding(struct buf *to, const struct style *style, const struct trace_finding *f)
{
    enum { INDENT = 4 };
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    paint_on(to, style, f->severity == TRACE_PROBLEM ? PAINT_BAD : PAINT_BOLD);
    buf_text(to, f->id);
    paint_off(to, style);
    buf_format(to, " (%s)\n    ", trace_severity_names[f->severity]);
    put_template(&words, f, f->text, style->ascii);
    put_culprit(&words, style, f);
    put_gain(&words, style, f);
    text_wrap(to, style, buf_slice(&words), INDENT, INDENT);
    words.len = 0;
    buf_text(to, "    ");
    buf_text(&words, "to do: ");
    put_template(&words, f, f->advice, style->ascii);
    text_wrap(to, style, buf_slice(&words), INDENT, INDENT);
    buf_end(&words, to);
}

static void put_silence(struct buf *to, const struct style *style, const struct trace_silence *s)
{
    enum { AT = 16, INDENT = 4, ROOM = 44 };
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    put_clause(&words, s, style->ascii);
    if (style->width >= AT + ROOM) {
        buf_format(to, "  %-13s ", s->id);
        text_wrap(to, style, buf_slice(&words), AT, AT);
    } else {
        buf_format(to, "  %s\n    ", s->id);
        text_wrap(to, style, buf_slice(&words), INDENT, INDENT);
    }
    buf_end(&words, to);
}

void trace_findings_text(struct buf *to, const struct style *style, const struct trace_report *r,
                         uint32_t most)
{
    const struct trace_findings *f = &r->findings;
    if (f->findings == 0)
        buf_text(to, "no rule found anything\n");
    for (uint32_t i = 0; i < f->findings && i < most; i++)
        put_finding(to, style, &f->finding[i]);
    if (f->findings > most) {
        buf_text(to, "and ");
        human_counted(to, f->findings - most, "finding", style->ascii);
        buf_text(to, " more\n");
    }
    buf_text(to, "\nsilent rules\n");
    for (uint32_t i = 0; i < f->silents; i++)
        put_silence(to, style, &f->silent[i]);
    buf_char(to, '\n');
}

void trace_findings_lead(struct buf *to, const struct style *style, const struct trace_report *r,
                         const char *all)
{
    enum { FINDINGS_SHOWN = 3 };
    const struct trace_findings *f = &r->findings;
    struct buf words;
    uint32_t shown = 0;
    buf_init(&words, SIZE_MAX / 2);
    for (uint32_t i = 0; i < f->findings && shown < FINDINGS_SHOWN; i++) {
        if (!trace_finding_leads(f, i))
            continue;
        trace_finding_words(&words, style, &f->finding[i]);
        envelope_words(to, style, shown++ == 0 ? "findings" : "", &words);
    }
    if (f->findings > shown) {
        /* What never leads is a note. */
        buf_text(&words, shown > 0 ? "and " : "no problem found; ");
        if (shown > 0)
            buf_format(&words, "%u more", (unsigned)(f->findings - shown));
        else
            human_counted(&words, f->findings, "note", style->ascii);
        buf_format(&words, " (%s)", all);
        envelope_words(to, style, shown == 0 ? "findings" : "", &words);
    }
    buf_end(&words, to);
}
