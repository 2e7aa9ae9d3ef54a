/* csv.h - cells of comma-separated values (RFC 4180).
 *
 * Text that a spreadsheet would take for a formula, and that is no number, gets an apostrophe
 * before it; a sign alone is no formula. */
#ifndef VRS_RENDER_WRITE_CSV_H
#define VRS_RENDER_WRITE_CSV_H

#include "base/buf.h"
#include "base/str.h"

#define CSV_LINE_END "\r\n"

/* Text, in quotes where it needs them. */
void csv_text(struct buf *to, str value);

#endif
