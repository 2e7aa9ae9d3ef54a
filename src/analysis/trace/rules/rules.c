/* rules.c - asks every rule, and puts what they found in order. */
#include "analysis/trace/rules/rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/trace/figures/figures.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/bottleneck.h"
#include "analysis/trace/rules/facts.h"
#include "analysis/trace/rules/judge.h"
#include "base/arena.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"

const char *const trace_severity_names[TRACE_SEVERITIES] = {
    [TRACE_PROBLEM] = "problem",
    [TRACE_ADVICE] = "advice",
    [TRACE_NOTE] = "note",
};

/* What a rule says of what it saw. */

void judge_note(struct judging *j, static_text name, double value)
{
    struct trace_finding *found = j->found;
    for (uint32_t i = 0; i < found->evidences; i++)
        if (str_equal(str_from(found->evidence[i].name), str_from(name)))
            return;
    if (found->evidences < EVIDENCE_MOST)
        found->evidence[found->evidences++] = (struct trace_evidence){ name, value };
}

static void note_limit(struct trace_finding *found, struct trace_evidence against)
{
    for (uint32_t i = 0; i < found->limits; i++)
        if (str_equal(str_from(found->limit[i].name), str_from(against.name)))
            return;
    if (found->limits < LIMITS_MOST)
        found->limit[found->limits++] = against;
}

static bool judge(struct judging *j, static_text name, double value, enum trace_threshold limit,
                  bool holds, enum unmet_how how)
{
    struct trace_evidence against = { trace_thresholds[limit].name, j->f->limits->at[limit] };
    judge_note(j, name, value);
    note_limit(j->found, against);
    if (!holds && j->silent->unmets < LIMITS_MOST)
        j->silent->unmet[j->silent->unmets++] =
            (struct unmet){ { name, value }, against, (uint8_t)how };
    return holds;
}

bool judge_above(struct judging *j, static_text name, double value, enum trace_threshold limit)
{
    return judge(j, name, value, limit, value > j->f->limits->at[limit], NOT_ABOVE);
}

bool judge_from(struct judging *j, static_text name, double value, enum trace_threshold limit)
{
    return judge(j, name, value, limit, value >= j->f->limits->at[limit], LESS_THAN);
}

bool judge_below(struct judging *j, static_text name, double value, enum trace_threshold limit)
{
    return judge(j, name, value, limit, value < j->f->limits->at[limit], NOT_BELOW);
}

bool judge_no(struct judging *j, static_text clause)
{
    j->silent->clause = clause;
    return false;
}

void judge_culprit(struct judging *j, uint32_t row)
{
    if (row == NO_ROW)
        return;
    j->found->culprit = rule_owner(j->f, row);
    uint32_t host = span_is_work(j->f->study->trace->spans.kind[row])
                        ? j->f->study->links.launch[row]
                        : row;
    j->found->line = rule_line(j->f, host);
}

/* Why a rule cannot be asked; NULL: it can. */
static static_text missing(const struct rule_facts *f, uint8_t needs)
{
    const struct trace_report *r = f->report;
    if ((needs & NEED_TORCH) != 0 && !figures_are_of_torch(&r->figures))
        return "the trace is not one of torch.profiler";
    if ((needs & NEED_DEVICE) != 0 && f->card == NULL)
        return r->capture.devices > 0 ? "a GPU is listed, but nothing ran on it"
                                      : "no device activity was recorded";
    if ((needs & NEED_STEPS) != 0 && f->steps == 0)
        return r->steps > 0 ? "no step is whole" : "the trace has no steps";
    if ((needs & NEED_CALLS) != 0 && f->launches.count == 0)
        return "no launch lies in a step";
    if ((needs & NEED_MEMORY) != 0 && !f->memory.is_known)
        return "no totals of a device's memory were recorded";
    return NULL;
}

/* Most to be gained first; those without a bound behind them, by severity. */
static int by_gain(const void *a, const void *b)
{
    const struct trace_finding *x = a, *y = b;
    if ((x->gain_ns < 0) != (y->gain_ns < 0))
        return x->gain_ns < 0 ? 1 : -1;
    if (x->gain_ns != y->gain_ns)
        return x->gain_ns > y->gain_ns ? -1 : 1;
    if (x->severity != y->severity)
        return x->severity < y->severity ? -1 : 1;
    return str_compare(str_from(x->id), str_from(y->id));
}

bool trace_finding_repeats(const struct trace_findings *f, uint32_t i)
{
    const struct trace_finding *one = &f->finding[i];
    for (uint32_t k = 0; k < i && one->gain_ns >= 0; k++)
        if (f->finding[k].gain_ns == one->gain_ns &&
            str_equal(f->finding[k].culprit, one->culprit))
            return true;
    return false;
}

enum leading { LEADS_NEVER, LEADS_FOR_LITTLE, LEADS_AS_JUDGEMENT, LEADS_FIRST };

static enum leading leading_of(const struct trace_findings *f, uint32_t i)
{
    const struct trace_finding *one = &f->finding[i];
    if (trace_finding_repeats(f, i))
        return LEADS_NEVER;
    if (one->severity == TRACE_NOTE)
        return str_starts(str_from(one->id), S("GPU-")) ? LEADS_AS_JUDGEMENT : LEADS_NEVER;
    bool is_little = one->gain_ns >= 0 && (double)one->gain_ns < f->least_ns;
    return is_little ? LEADS_FOR_LITTLE : LEADS_FIRST;
}

bool trace_finding_leads(const struct trace_findings *f, uint32_t i)
{
    enum leading best = LEADS_NEVER;
    bool some_little = false;
    for (uint32_t k = 0; k < f->findings; k++) {
        enum leading one = leading_of(f, k);
        some_little = some_little || one == LEADS_FOR_LITTLE;
        best = one > best ? one : best;
    }
    /* A judgement alone is what the page says above. */
    if (best == LEADS_AS_JUDGEMENT && !some_little)
        return false;
    return best != LEADS_NEVER && leading_of(f, i) == best;
}

/* Texts of the trace, which is gone when the report is read. */
static bool keep(struct arena *arena, str *text)
{
    if (text->ptr == NULL)
        return true;
    *text = arena_copy(arena, *text);
    return text->ptr != NULL;
}

/* What a rule knows by its name alone was called by lines of the program, too. */
static bool find_line(const struct rule_facts *f, struct trace_finding *found)
{
    return found->culprit.ptr == NULL || found->line.ptr != NULL ||
           rule_line_of_name(f, found->culprit, &found->line);
}

/* A page tells beside it how long one step takes. */
static void part_gain(const struct rule_facts *f, struct trace_finding *found)
{
    found->gain_step_ns = -1;
    if (found->gain_ns < 0 || f->steps == 0 || found->gain_ns > f->steps_ns)
        return;
    found->steps = f->steps;
    found->gain_step_ns = found->gain_ns / f->steps + (found->gain_ns % f->steps > 0);
}

static bool ask_all(const struct rule_facts *f, struct arena *arena, struct trace_findings *ret)
{
    ret->finding = arena_array(arena, struct trace_finding, RULES_MOST);
    ret->silent = arena_array(arena, struct trace_silence, RULES_MOST);
    if (ret->finding == NULL || ret->silent == NULL)
        return false;
    for (const struct rule_row *rule = rule_rows; rule->id != NULL; rule++) {
        struct trace_finding found = { .id = rule->id,
                                       .severity = rule->severity,
                                       .text = rule->text,
                                       .advice = rule->advice,
                                       .gain_ns = -1 };
        struct trace_silence silent = { .id = rule->id, .clause = missing(f, rule->needs) };
        struct judging j = { f, &found, &silent };
        bool speaks = silent.clause == NULL && rule->rule(&j);
        part_gain(f, &found);
        if (!speaks)
            ret->silent[ret->silents++] = silent;
        else if (find_line(f, &found) && keep(arena, &found.culprit) && keep(arena, &found.line))
            ret->finding[ret->findings++] = found;
        else
            return false;
    }
    qsort(ret->finding, ret->findings, sizeof *ret->finding, by_gain);
    return true;
}

bool trace_findings_make(const struct trace_study *s, const struct trace_limits *limits,
                         struct arena *arena, struct trace_report *ret)
{
    struct trace_limits usual;
    struct rule_facts facts;
    struct arena scratch;
    trace_limits_init(&usual);
    arena_init(&scratch, SIZE_MAX / 2);
    bool ok = rule_facts_make(s, limits != NULL ? limits : &usual, ret, &scratch, &facts) &&
              ask_all(&facts, arena, &ret->findings);
    if (ok)
        bottleneck_judge(&facts, &ret->bottleneck);
    if (ok)
        ret->findings.least_ns = facts.limits->at[LEAD_GAIN] * (double)facts.judged_ns;
    arena_free(&scratch);
    return ok;
}
