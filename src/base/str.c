/* str.c - comparing and searching slices. */
#include "base/str.h"

int str_compare(str a, str b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common == 0 ? 0 : memcmp(a.ptr, b.ptr, common);
    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool str_is_one_of(str s, const str *of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal(s, of[i]))
            return true;
    return false;
}

bool str_is_one_of_texts(str s, const static_text *of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal(s, str_from(of[i])))
            return true;
    return false;
}

size_t str_find(str s, str needle)
{
    if (needle.len == 0)
        return 0;
    for (size_t at = 0; at + needle.len <= s.len; at++) {
        const char *hit = memchr(s.ptr + at, needle.ptr[0], s.len - at - needle.len + 1);
        if (hit == NULL)
            return s.len;
        at = (size_t)(hit - s.ptr);
        if (memcmp(hit, needle.ptr, needle.len) == 0)
            return at;
    }
    return s.len;
}

str str_base_name(str path)
{
    size_t at = path.len;
    while (at > 0 && path.ptr[at - 1] != '/')
        at--;
    return at == path.len ? path : (str){ path.ptr + at, path.len - at };
}

str str_path_end(str path)
{
    if (path.len <= PATH_SHOWN)
        return path;
    str end = { path.ptr + path.len - PATH_SHOWN, PATH_SHOWN };
    size_t folder = str_find(end, S("/"));
    if (folder + 1 < end.len)
        end = (str){ end.ptr + folder + 1, end.len - folder - 1 };
    /* Not in the middle of a character. */
    while (end.len > 0 && ((unsigned char)end.ptr[0] & 0xC0) == 0x80)
        end = (str){ end.ptr + 1, end.len - 1 };
    return end;
}
