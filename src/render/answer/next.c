/* next.c - a command as a shell takes it, and what it is for. */
#include "render/answer/next.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"
#include "render/answer/envelope.h"
#include "render/write/escape.h"

enum { MEANING_COLUMN = 43 };

/* Whether a name can be shown, and typed as it is shown.  What was read from no file has a name in
 * brackets: "(stream)". */
static bool is_typable(str path, bool ascii)
{
    if (path.len == 0 || str_equal(path, S("-")) ||
        (str_starts(path, S("(")) && str_ends(path, S(")"))))
        return false;
    for (size_t at = 0; at < path.len;) {
        uint32_t point;
        at += utf8_decode((str){ path.ptr + at, path.len - at }, &point);
        /* U+FFFD stands for bytes that no longer are there. */
        if (point == 0xfffd || escape_needed(point) || (ascii && point > 0x7f))
            return false;
    }
    return true;
}

/* Whether a shell takes a name as it stands. */
static bool is_plain(str path)
{
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!word && (c == '\0' || strchr("_./+-=:@,%", c) == NULL))
            return false;
    }
    return true;
}

/* A file's name as a shell takes it, or what stands for it. */
static void put_typed(struct buf *to, str path, const char *placeholder, bool ascii)
{
    if (!is_typable(path, ascii)) {
        buf_text(to, placeholder);
        return;
    }
    bool plain = is_plain(path);
    buf_text(to, plain ? "" : "'");
    buf_text(to, path.ptr[0] == '-' ? "./" : ""); /* else it would be an option */
    for (size_t i = 0; i < path.len; i++) {
        if (path.ptr[i] == '\'')
            buf_text(to, "'\\''");
        else
            buf_char(to, path.ptr[i]);
    }
    buf_text(to, plain ? "" : "'");
}

void next_command(struct buf *to, const struct style *style, const char *verb, str path,
                  const char *options)
{
    bool named = str_find(str_from(options), S(" --device ")) < str_from(options).len;
    buf_format(to, "vramscope %s ", verb);
    put_typed(to, path, strcmp(verb, "diff") == 0 ? "BEFORE" : "FILE", style->ascii);
    buf_text(to, options);
    if (style->device > 0 && !named)
        buf_format(to, " --device %llu", (unsigned long long)style->device - 1);
}

void next_line(struct buf *to, const struct style *style, const char *label, const char *verb,
               str path, const char *options, const char *meaning)
{
    envelope_label(to, style, label);
    size_t from = to->len;
    next_command(to, style, verb, path, options);
    size_t len = escape_width((str){ to->at + from, to->len - from });
    size_t width = 2 + str_from(meaning).len;
    size_t column = len < MEANING_COLUMN ? MEANING_COLUMN : len + 2;
    /* What does not fit is left out: the command must stay one line to be typed. */
    if (ENVELOPE_LABEL + column + width <= style->width) {
        buf_repeat(to, S(" "), column - len);
        paint_on(to, style, PAINT_DIM);
        buf_format(to, "# %s", meaning);
        paint_off(to, style);
    }
    buf_char(to, '\n');
}

void next_size(struct buf *to, uint64_t bytes)
{
    const uint64_t mib = 1 << 20, gib = 1 << 30;
    uint64_t unit = bytes == 0 ? 1 : bytes % gib == 0 ? gib : bytes % mib == 0 ? mib : 1;
    const char *name = unit == gib ? "GiB" : unit == mib ? "MiB" : "";
    buf_format(to, "%llu%s", (unsigned long long)(bytes / unit), name);
}

void next_device(struct buf *options, struct device_name name, uint32_t devices)
{
    if (!name.host && (devices > 1 || name.number != 0))
        buf_format(options, " --device %u", (unsigned)name.number);
}
