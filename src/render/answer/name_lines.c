/* name_lines.c - a name, its type as the field abbreviates it, its shape. */
#include "render/answer/name_lines.h"

#include <stddef.h>

#include "base/str.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/text.h"

enum { FIGURE_WIDTH = 11 };

/* What people write for the types of PyTorch; others stand as they are. */
static str short_dtype(str dtype)
{
    static const struct {
        str name, shown;
    } known[] = {
        { { "bfloat16", 8 }, { "bf16", 4 } },
        { { "float16", 7 }, { "fp16", 4 } },
        { { "float32", 7 }, { "fp32", 4 } },
        { { "float64", 7 }, { "fp64", 4 } },
    };
    str prefix = S("torch.");
    if (str_starts(dtype, prefix))
        dtype = (str){ dtype.ptr + prefix.len, dtype.len - prefix.len };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_equal(dtype, known[i].name))
            return known[i].shown;
    return dtype;
}

void name_words(struct buf *to, const struct held_name *name, bool ascii)
{
    escape_text(to, name->name, ascii);
    if (name->dtype.ptr != NULL) {
        buf_text(to, "  ");
        escape_text(to, short_dtype(name->dtype), ascii);
    }
    if (name->shape.ptr != NULL) {
        buf_text(to, name->dtype.ptr != NULL ? " " : "  ");
        escape_text(to, name->shape, ascii);
    }
}

/* Figures stand under each other. */
static void put_line(struct buf *to, const struct style *style, uint32_t indent, uint64_t bytes,
                     str what)
{
    struct buf words;
    buf_init(&words, 1 << 14);
    human_bytes(&words, (int64_t)bytes);
    if (words.len < FIGURE_WIDTH)
        indent += FIGURE_WIDTH - (uint32_t)words.len;
    buf_text(&words, "  ");
    buf_str(&words, what);
    buf_repeat(to, S(" "), indent);
    /* What fits keeps the gap between a name and its type. */
    if (indent + words.len <= style->width || style->width == 0) {
        buf_str(to, buf_slice(&words));
        buf_char(to, '\n');
    } else {
        text_wrap(to, style, buf_slice(&words), indent, indent);
    }
    buf_end(&words, to);
}

void name_lines_put(struct buf *to, const struct style *style, uint32_t indent,
                    const struct held_names *names)
{
    uint64_t rest = names->bytes;
    struct buf what;
    buf_init(&what, 1 << 14);
    for (uint32_t i = 0; i < names->shown; i++) {
        what.len = 0;
        name_words(&what, &names->at[i], style->ascii);
        put_line(to, style, indent, names->at[i].bytes, buf_slice(&what));
        rest -= names->at[i].bytes < rest ? names->at[i].bytes : rest;
    }
    if (names->count > names->shown) {
        what.len = 0;
        human_counted(&what, names->count - names->shown, "more name", style->ascii);
        put_line(to, style, indent, rest, buf_slice(&what));
    }
    buf_end(&what, to);
}

void name_share_words(struct buf *to, const struct held_names *names, uint64_t live_bytes)
{
    human_share(to, share_ratio(names->bytes, live_bytes));
    buf_text(to, " of it, ");
    human_bytes(to, (int64_t)names->bytes);
    buf_text(to, names->count == 1 ? ", has a name" : ", have a name");
}
