/* setting.c - parts the lines of a file of settings. */
#include "base/setting.h"

#include <stddef.h>
#include <string.h>

#include "base/utf8.h"

str setting_trimmed(str text)
{
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = (str){ text.ptr + 1, text.len - 1 };
    while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t' ||
                            text.ptr[text.len - 1] == '\r'))
        text.len--;
    return text;
}

/* The line without its comment: from a "#" that begins it or stands behind a blank. */
static str without_comment(str line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] == '#' && (i == 0 || line.ptr[i - 1] == ' ' || line.ptr[i - 1] == '\t'))
            return (str){ line.ptr, i };
    return line;
}

static enum vrs_status read_line(str line, unsigned number, setting_taker *take, void *arg,
                                 struct vrs_error *err)
{
    if (!utf8_valid(line) || memchr(line.ptr, '\0', line.len) != NULL)
        return vrs_fail(err, VRS_USAGE, "this is not a text file; a line is \"max-peak = 24GiB\"");
    line = setting_trimmed(without_comment(line));
    if (line.len == 0)
        return VRS_OK;
    size_t equal = str_find(line, S("="));
    str name = setting_trimmed((str){ line.ptr, equal });
    str value = equal == line.len ? S("")
                                  : setting_trimmed((str){ line.ptr + equal + 1,
                                                           line.len - equal - 1 });
    return take(arg, number, name, value, err);
}

enum vrs_status settings_read(str file, str text, setting_taker *take, void *arg,
                              struct vrs_error *err)
{
    text = utf8_without_mark(text);
    file = str_path_end(file);
    for (unsigned number = 1; text.len > 0; number++) {
        size_t len = str_find(text, S("\n"));
        struct vrs_error why;
        enum vrs_status status =
            len == 0 ? VRS_OK : read_line((str){ text.ptr, len }, number, take, arg, &why);
        if (status == VRS_USAGE)
            return vrs_fail(err, VRS_USAGE, "%.*s:%u: %s", (int)file.len, file.ptr, number,
                            why.message);
        if (status != VRS_OK)
            return vrs_no_memory(err);
        len += len < text.len;
        text = (str){ text.ptr + len, text.len - len };
    }
    return VRS_OK;
}
