/* place.c - names that programs read, turned into words. */
#include "render/answer/place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"

/* Our own names are of these letters; others may hold anything. */
static bool is_our_name(str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] != '_' && (name.ptr[i] < 'a' || name.ptr[i] > 'z'))
            return false;
    return true;
}

void category_words(struct buf *to, str category)
{
    if (!is_our_name(category)) {
        escape_text(to, category, true);
        return;
    }
    for (size_t i = 0; i < category.len; i++)
        buf_char(to, category.ptr[i] == '_' ? ' ' : category.ptr[i]);
}

/* The bytes of "size:8519680", which leaks and peaks are grouped by where no stack tells more. */
static bool read_size(str name, uint64_t *ret)
{
    const str label = S("size:");
    *ret = 0;
    if (!str_starts(name, label) || name.len == label.len || name.len > label.len + 18)
        return false;
    for (size_t i = label.len; i < name.len; i++) {
        if (name.ptr[i] < '0' || name.ptr[i] > '9')
            return false;
        *ret = *ret * 10 + (uint64_t)(name.ptr[i] - '0');
    }
    return true;
}

void place_words(struct buf *to, str name, bool ascii)
{
    const str none = S("(no stack) ");
    uint64_t bytes;
    if (str_starts(name, none)) {
        buf_str(to, none);
        category_words(to, (str){ name.ptr + none.len, name.len - none.len });
    } else if (read_size(name, &bytes)) {
        buf_text(to, "(no stack, ");
        human_bytes(to, (int64_t)bytes);
        buf_text(to, " each)");
    } else {
        escape_text(to, name, ascii);
    }
}

str place_text_cell(struct cells *cells, str name)
{
    place_words(&cells->text, name, cells->ascii);
    return cell_end(cells);
}
