/* rank_of_path.c - looks for numbers behind "rank" and "_". */
#include "analysis/attribution/rank_of_path.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/frame_class.h"
#include "base/str.h"

enum { RANK_MOST = 9999999 /* a larger number is a date, not a rank */ };

/* Does `word`, in small letters or `capitals`, stand there? */
static bool stands_at(str text, size_t at, const char *word, const char *capitals)
{
    for (; *word != '\0'; word++, capitals++, at++)
        if (at >= text.len || (text.ptr[at] != *word && text.ptr[at] != *capitals))
            return false;
    return true;
}

/* The number at `at`; -1: none, or too large. */
static int64_t number_at(str text, size_t at)
{
    int64_t n = -1;
    for (; at < text.len && is_digit(text.ptr[at]); at++) {
        n = (n < 0 ? 0 : n) * 10 + (text.ptr[at] - '0');
        if (n > RANK_MOST)
            return -1;
    }
    return n;
}

static int64_t ranked(str text)
{
    int64_t found = -1;
    for (size_t i = 0; i < text.len; i++) {
        if (!stands_at(text, i, "rank", "RANK"))
            continue;
        size_t at = i + 4;
        at += at < text.len && (text.ptr[at] == '_' || text.ptr[at] == '-');
        int64_t n = number_at(text, at);
        found = n >= 0 ? n : found;
    }
    return found;
}

int64_t rank_of_path(str path)
{
    str name = path_base(path);
    str folders = { path.ptr, path.len - name.len };
    int64_t found = ranked(name);
    if (found < 0)
        found = ranked(folders);
    for (size_t i = name.len; found < 0 && i-- > 0;)
        if (name.ptr[i] == '_')
            found = number_at(name, i + 1);
    return found;
}
