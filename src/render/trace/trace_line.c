/* trace_line.c - bars in eighths of a line, or characters of growing weight. */
#include "render/trace/trace_line.h"

#include <stddef.h>

#include "base/str.h"
#include "render/answer/envelope.h"

uint32_t trace_line_columns(const struct style *style, uint32_t values)
{
    enum { MARGIN = ENVELOPE_LABEL + 2, LEAST = 10 };
    uint32_t columns = style->width > MARGIN + LEAST ? style->width - MARGIN : LEAST;
    return columns < values ? columns : values;
}

void trace_line_bar(struct buf *to, const struct style *style, double height)
{
    static const char *const levels[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    static const char ascii[] = " .:-=+*#@";
    enum { LEVELS = sizeof levels / sizeof *levels };
    double level = height * (LEVELS - 1);
    uint32_t at = level > LEVELS - 1 ? LEVELS - 1 : (uint32_t)(level + 0.5);
    at = at == 0 && height > 0 ? 1 : at; /* a little is not nothing */
    if (style->ascii)
        buf_char(to, ascii[at]);
    else
        buf_text(to, levels[at]);
}

void trace_line_axis(struct buf *to, const struct style *style, uint32_t columns, uint64_t first_ns,
                     uint64_t last_ns)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    human_ns(&words, first_ns);
    size_t first = words.len;
    human_ns(&words, last_ns);
    size_t gap = columns > words.len ? columns - words.len : 1;
    envelope_label(to, style, "");
    paint_on(to, style, PAINT_DIM);
    buf_str(to, (str){ words.at, first });
    if (ENVELOPE_LABEL + words.len + gap <= style->width) {
        buf_repeat(to, S(" "), gap);
    } else {
        buf_char(to, '\n');
        envelope_label(to, style, "");
    }
    buf_str(to, (str){ words.at + first, words.len - first });
    paint_off(to, style);
    buf_char(to, '\n');
    buf_end(&words, to);
}
