/* report_parts.h - what a report says of a device, in text and in Markdown. */
#ifndef VRS_RENDER_SNAPSHOT_REPORT_REPORT_PARTS_H
#define VRS_RENDER_SNAPSHOT_REPORT_REPORT_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/report/report.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/terminal_chart.h"
#include "render/write/human.h"

bool report_device_is_empty(const struct report_device *d);
bool report_is_empty(const struct report *report);

/* The answer. */

bool report_ran_out(const struct report_device *d);

/* What grows most from step to step; NULL: nothing does. */
const struct leak_site *report_growth(const struct report_device *d);

/* "250.00 MiB more stay after each step at train.py:45 main" */
void report_growth_place(struct buf *to, const struct leak_site *site, bool ascii);

/* "Ran out of memory: …", "Memory grows: …" or "The peak is …", with its full stop; false: nothing
 * is wrong. */
bool report_headline_words(struct buf *to, const struct report_device *d, bool ascii);
/* The sentences under it. */
void report_detail_words(struct buf *to, const struct report_device *d, bool ascii);
/* "22.20 GiB at event 3159 (91.9 ms)" */
void report_moment_words(struct buf *to, const struct report_device *d);

/* What to do. */

enum { REPORT_FIXES = 3 };

/* The first of the advice; what frees nothing is no fix. */
uint32_t report_fixes(const struct report_device *d, const struct advice *shown[REPORT_FIXES]);
/* "~1.83 GiB", "4.52 GiB reserved" */
void report_fix_bytes(struct buf *to, const struct advice *fix);
/* Whose memory must shrink for the request that failed; false: nobody's, or that is not known. */
bool report_must_go_words(struct buf *to, const struct report_device *d);
/* How many bytes that takes; 0: none, or not known. */
uint64_t report_need_bytes(const struct report_device *d);
/* What all of them free, where that is less than their sum; false: it is not. */
bool report_together_words(struct buf *to, const struct report_device *d,
                           const struct advice *const *shown, uint32_t count);

/* One thing to do. */
struct report_item {
    struct buf words, bytes;  /* a sentence, escaped; what it frees, in words */
    str line;                 /* of the program, to be changed; "": it names none */
    const struct advice *fix; /* NULL: it is what must shrink for the request that failed */
};
enum { REPORT_ITEMS = REPORT_FIXES + 1 };

/* What to do, in order; how many things.  Ends with report_items_end, which fails `to` where one
 * of them had no memory. */
uint32_t report_items(const struct report_device *d, bool ascii,
                      struct report_item item[REPORT_ITEMS]);
void report_items_end(struct buf *to, struct report_item item[REPORT_ITEMS]);
/* All of that as a list; nothing where there is nothing to do. */
void report_fixes_text(struct buf *to, const struct style *style, const struct report *report,
                       const struct report_device *d);

/* The picture. */

/* `oom_event` has room for one of each of the device's. */
struct terminal_chart report_chart(const struct report_device *d, int64_t *oom_event);
void report_picture_text(struct buf *to, const struct report_device *d,
                         const struct render_options *options);

/* Who. */

bool report_has_categories(const struct report_device *d);
/* What the rows are of, and those behind the first `shown` as one more. */
const char *report_heading(const struct report_device *d);
struct report_row report_rest(const struct report_device *d, uint32_t shown);
void report_holders_heading(struct buf *to, const struct report_device *d);
/* "activation 95.7 %, …"; false: that is not known. */
bool report_made_of_words(struct buf *to, const struct report_device *d);
void report_holders_text(struct buf *to, const struct report_device *d,
                         const struct render_options *options);

/* What is reserved and not in use, where that is much; what grows. */
bool report_has_gap(const struct report_device *d);
bool report_gap_words(struct buf *to, const struct report_device *d);
bool report_growth_words(struct buf *to, const struct report_device *d, bool ascii);
/* These, and what is older than the recording or contradicts itself. */
void report_notes_text(struct buf *to, const struct style *style, const struct report_device *d);

/* The last lines. */
void report_next_text(struct buf *to, const struct style *style, const struct report *report);

/* One line for each device of several files, and their totals. */
void report_set_text(struct buf *to, const struct answer_set *set, const struct style *style);
/* The files that no line is about. */
void report_unread_text(struct buf *to, const struct report_set *set, const struct style *style);
/* The ranks of the job that no file is of. */
void report_missing_text(struct buf *to, const struct report_set *set, const struct style *style);

#endif
