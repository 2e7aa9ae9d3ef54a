/* name_lines.c - a name, its type as the field abbreviates it, its shape; what does not fit stands
 * on lines of its own. */
#include "render/answer/name_lines.h"

#include <stddef.h>

#include "base/str.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/text.h"

/* Figures stand under each other, and names.  A name has at least so much of a line; a type that
 * does not fit behind it stands on the next, further in. */
enum { FIGURE_WIDTH = 11, GAP = 2, NAME_LEAST = 24, TYPE_INDENT = 2, NARROW_INDENT = 2 };

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

void name_type_words(struct buf *to, const struct held_name *name, bool ascii)
{
    if (name->dtype.ptr != NULL)
        escape_text(to, short_dtype(name->dtype), ascii);
    if (name->shape.ptr != NULL) {
        buf_text(to, name->dtype.ptr != NULL ? " " : "");
        escape_text(to, name->shape, ascii);
    }
}

/* The figure in its column; returns where the name stands, on the next line where there is little
 * room behind the figure. */
static size_t put_figure(struct buf *to, const struct style *style, uint32_t indent, uint64_t bytes)
{
    struct buf figure;
    buf_init(&figure, 64);
    human_bytes(&figure, (int64_t)bytes);
    size_t pad = figure.len < FIGURE_WIDTH ? FIGURE_WIDTH - figure.len : 0;
    size_t column = indent + pad + figure.len + GAP;
    bool narrow = column + NAME_LEAST > style->width;
    buf_repeat(to, S(" "), narrow ? NARROW_INDENT : indent + pad);
    buf_str(to, buf_slice(&figure));
    if (narrow) {
        column = NARROW_INDENT + GAP;
        buf_char(to, '\n');
    }
    buf_repeat(to, S(" "), narrow ? column : GAP);
    buf_end(&figure, to);
    return column;
}

/* A name and its type, or other words and no type. */
static void put_line(struct buf *to, const struct style *style, uint32_t indent, uint64_t bytes,
                     str name, str type)
{
    size_t column = put_figure(to, style, indent, bytes);
    size_t room = style->width > column ? style->width - column : 1;
    size_t taken = text_fit(to, style, name, room, CUT_MIDDLE);
    if (type.len > 0 && taken + GAP + escape_width(type) <= room) {
        buf_repeat(to, S(" "), GAP);
        buf_str(to, type);
    } else if (type.len > 0) {
        buf_char(to, '\n');
        buf_repeat(to, S(" "), column + TYPE_INDENT);
        text_fit(to, style, type, room > TYPE_INDENT ? room - TYPE_INDENT : 1, CUT_END);
    }
    buf_char(to, '\n');
}

void name_lines_put(struct buf *to, const struct style *style, uint32_t indent,
                    const struct held_names *names)
{
    uint64_t rest = names->bytes;
    struct buf name, type;
    buf_init(&name, 1 << 14);
    buf_init(&type, 1 << 14);
    for (uint32_t i = 0; i < names->shown; i++) {
        const struct held_name *one = &names->at[i];
        name.len = type.len = 0;
        escape_text(&name, one->name, style->ascii);
        name_type_words(&type, one, style->ascii);
        put_line(to, style, indent, held_name_bytes(one), buf_slice(&name), buf_slice(&type));
        rest -= held_name_bytes(one);
    }
    if (names->count > names->shown) {
        name.len = 0;
        human_counted(&name, names->count - names->shown, "more name", style->ascii);
        put_line(to, style, indent, rest, buf_slice(&name), S(""));
    }
    buf_end(&name, to);
    buf_end(&type, to);
}

void name_share_words(struct buf *to, const struct held_names *names, uint64_t live_bytes)
{
    human_share(to, share_ratio(names->bytes, live_bytes));
    buf_text(to, " of it, ");
    human_bytes(to, (int64_t)names->bytes);
    buf_text(to, names->count == 1 ? ", has a name" : ", have a name");
}
