/* trace_findings.h - what the rules about a trace say, in sentences. */
#ifndef VRS_RENDER_TRACE_TRACE_FINDINGS_H
#define VRS_RENDER_TRACE_TRACE_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/rules.h"
#include "base/buf.h"
#include "base/field.h"
#include "render/write/human.h"

/* One finding for one line: "DATA-1: 415 ms of …; at most 83.0 ms a step to gain, 415 ms in the 5
 * recorded: give the loader …".  A page that has room for some leaves out those of
 * trace_finding_repeats. */
void trace_finding_words(struct buf *to, const struct style *style,
                         const struct trace_finding *finding);

/* Its text alone, with what it saw in its places. */
void trace_template_words(struct buf *to, const struct style *style,
                          const struct trace_finding *finding);

/* The three with most to gain, for a page, how many more there are, and what has them: `all`. */
void trace_findings_lead(struct buf *to, const struct style *style, const struct trace_report *r,
                         const char *all);

/* All findings, `most` of them, each with its culprit and advice; then, by their clauses, the rules
 * that are silent. */
void trace_findings_text(struct buf *to, const struct style *style, const struct trace_report *r,
                         uint32_t most);

/* The fields of FIELD_SENTENCE of a finding and of a silence. */
bool trace_finding_sentence(struct buf *to, const struct field *f, const void *row);

#endif
