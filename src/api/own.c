/* own.c - recognises files that vramscope wrote, by their generator mark. */
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
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        own = own || str_find(head, str_from(marks[i])) < head.len;
    arena_free(&arena);
    file_close(&file);
    return own;
}
