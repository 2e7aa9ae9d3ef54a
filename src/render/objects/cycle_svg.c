/* cycle_svg.c - two columns of boxes: the cycle, and the way from its first object to the tensor.
 */
#include "render/objects/cycle_svg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/objects/object_answers.h"
#include "render/write/markup.h"

enum {
    LEFT = 48, /* room for the arrow back */
    TOP = 56,
    WIDTH = 300,
    HEIGHT = 30,
    DOWN = 54, /* from box to box */
    ACROSS = 380,
    ENDS = 8 /* boxes at either end of a long column */
};

static uint32_t boxes_of(uint32_t types)
{
    return types > 2 * ENDS ? 2 * ENDS + 1 : types;
}

static void put_arrow(struct buf *to, uint32_t x, uint32_t y)
{
    buf_format(to, "<path d=\"M%u %uv%u\" marker-end=\"url(#end)\"/>\n", (unsigned)x, (unsigned)y,
               (unsigned)(DOWN - HEIGHT - 2));
}

static void put_box(struct buf *to, uint32_t x, uint32_t y, str type, bool strong)
{
    buf_format(to,
               "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" rx=\"4\"%s/>\n"
               "<text x=\"%u\" y=\"%u\">",
               (unsigned)x, (unsigned)y, WIDTH, HEIGHT, strong ? " class=\"tensor\"" : "",
               (unsigned)(x + WIDTH / 2), (unsigned)(y + 20));
    markup_text(to, type);
    buf_text(to, "</text>\n");
}

/* Types as boxes below each other, with an arrow between two. */
static void put_column(struct buf *to, uint32_t x, uint32_t y, const str *type, uint32_t types,
                       bool ends_in_tensor)
{
    uint32_t boxes = boxes_of(types);
    for (uint32_t i = 0; i < boxes; i++) {
        bool hidden = boxes < types && i == ENDS;
        uint32_t at = i <= ENDS || boxes == types ? i : types - (boxes - i);
        put_box(to, x, y + i * DOWN, hidden ? S("\u2026") : type[at],
                ends_in_tensor && i + 1 == boxes);
        if (i + 1 < boxes)
            put_arrow(to, x + WIDTH / 2, y + i * DOWN + HEIGHT);
    }
}

/* From the last box of the cycle back to the first. */
static void put_back(struct buf *to, uint32_t boxes)
{
    buf_format(to, "<path d=\"M%u %uH20V%uH%u\" marker-end=\"url(#end)\"/>\n", LEFT,
               (unsigned)(TOP + (boxes - 1) * DOWN + HEIGHT / 2 + (boxes == 1 ? 8 : 0)),
               TOP + HEIGHT / 2 - 4, LEFT - 2);
}

void cycle_svg(struct buf *to, const struct cycle_row *cycle)
{
    uint32_t loop = boxes_of(cycle->loops - 1), way = boxes_of(cycle->ways - 1);
    uint32_t longest = loop > way ? loop : way;
    buf_format(to,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
               "font-family=\"sans-serif\" font-size=\"13\">\n<title>",
               LEFT + ACROSS + WIDTH + 20, (unsigned)(TOP + longest * DOWN));
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    cycle_sentence(&words, NULL, cycle);
    markup_text(to, buf_slice(&words));
    buf_end(&words, to);
    buf_text(to, "</title>\n<style>rect{fill:#eef2f7;stroke:#44546a}rect.tensor{fill:#f6dcc4}"
                 "text{fill:#1b2530;text-anchor:middle}path{fill:none;stroke:#44546a}</style>\n"
                 "<defs><marker id=\"end\" markerWidth=\"8\" markerHeight=\"8\" refX=\"6\" "
                 "refY=\"3\" orient=\"auto\"><path d=\"M0 0L6 3L0 6z\"/></marker></defs>\n"
                 "<rect x=\"0\" y=\"0\" width=\"100%\" height=\"100%\" style=\"fill:#fff;"
                 "stroke:none\"/>\n");
    buf_format(to, "<text x=\"%u\" y=\"32\">cycle</text>\n", LEFT + WIDTH / 2);
    put_column(to, LEFT, TOP, cycle->loop, cycle->loops - 1, cycle->ways == 1);
    put_back(to, loop);
    if (cycle->ways > 1) {
        buf_format(to,
                   "<text x=\"%u\" y=\"32\">holds</text>\n"
                   "<path d=\"M%u %uh%u\" marker-end=\"url(#end)\"/>\n",
                   LEFT + ACROSS + WIDTH / 2, LEFT + WIDTH, TOP + HEIGHT / 2, ACROSS - WIDTH - 2);
        put_column(to, LEFT + ACROSS, TOP, cycle->way + 1, cycle->ways - 1, true);
    }
    buf_text(to, "</svg>\n");
}
