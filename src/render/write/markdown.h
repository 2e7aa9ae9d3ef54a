/* markdown.h - text of a file for a pull request.
 *
 * It becomes character references wherever Markdown or HTML could see markup in it, so that a name
 * can neither break a table nor mention a person. */
#ifndef VRS_RENDER_WRITE_MARKDOWN_H
#define VRS_RENDER_WRITE_MARKDOWN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

void markdown_text(struct buf *to, str text, bool ascii);

/* Names of code stand in <code>, where nothing is a link or a mention. */
void markdown_code(struct buf *to, str text, bool ascii);

#endif
