/* own.c - recognises files that vramscope wrote, by their generator mark or their schema. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/generator_mark.h"
#include "base/str.h"
#include "vramscope/vramscope.h"

/* In pictures it stands behind a description of each device. */
enum { HEAD = 1 << 20 };

static size_t read_head(struct file *file, char *to)
{
    size_t len = 0, got = 1;
    while (len < HEAD && got > 0) {
        if (file_read(file, to + len, HEAD - len, &got, NULL) != VRS_OK)
            return 0;
        len += got;
    }
    return len;
}

static str after_space(str s)
{
    while (s.len > 0 && memchr(" \t\r\n", *s.ptr, 4) != NULL)
        s = (str){ s.ptr + 1, s.len - 1 };
    return s;
}

/* Whether a JSON document says first that its schema is one of ours; a snapshot has none. */
static bool is_answer(str head)
{
    static const char *const parts[] = { "{", "\"schema\"", ":", "\"vramscope." };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        str part = str_from(parts[i]);
        head = after_space(head);
        if (!str_starts(head, part))
            return false;
        head = (str){ head.ptr + part.len, head.len - part.len };
    }
    return true;
}

bool vrs_is_own(const char *path)
{
    static const char *const marks[] = { GENERATOR_MARK_PAGE, GENERATOR_MARK_SVG,
                                         GENERATOR_MARK_PNG };
    struct file file = { 0 };
    bool own = false;
    if (strcmp(path, "-") == 0 || file_open(path, &file, NULL) != VRS_OK)
        return false;
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    char *text = arena_array(&arena, char, HEAD);
    str head = { text, text == NULL ? 0 : read_head(&file, text) };
    own = is_answer(head);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        own = own || str_find(head, str_from(marks[i])) < head.len;
    arena_free(&arena);
    file_close(&file);
    return own;
}
