/* junit.c - writes text, attributes and counts of JUnit XML. */
#include "render/write/junit.h"

#include "render/write/escape.h"
#include "render/write/markup.h"

void junit_text(struct buf *to, str text, bool ascii)
{
    struct buf plain;
    buf_init(&plain, SIZE_MAX / 2);
    escape_text(&plain, text, ascii);
    markup_escaped(to, buf_slice(&plain));
    buf_end(&plain, to);
}

void junit_attribute(struct buf *to, const char *name, str value, bool ascii)
{
    buf_format(to, " %s=\"", name);
    junit_text(to, value, ascii);
    buf_char(to, '"');
}

void junit_counts(struct buf *to, uint64_t tests, uint64_t failures, uint64_t errors,
                  uint64_t skipped)
{
    buf_format(to, " tests=\"%llu\" failures=\"%llu\" errors=\"%llu\" skipped=\"%llu\">\n",
               (unsigned long long)tests, (unsigned long long)failures, (unsigned long long)errors,
               (unsigned long long)skipped);
}
