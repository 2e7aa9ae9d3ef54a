/* trust_page.h - the page of trust: every check with its outcome, and what the recording is. */
#ifndef VRS_RENDER_SNAPSHOT_REPORT_TRUST_PAGE_H
#define VRS_RENDER_SNAPSHOT_REPORT_TRUST_PAGE_H

#include "analysis/snapshot/report/report.h"
#include "render/answer/answer.h"
#include "render/write/out.h"

void trust_page_text(struct out *out, const struct report *report,
                     const struct render_options *options);

#endif
