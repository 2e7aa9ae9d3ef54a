/* own_file.c - looks for the mark that a page or a picture bears.
 *
 * It stands near the beginning, in pictures behind a description of each device.  That of pages is
 * in src/format/detect.c as well, which the layers keep apart. */
#include "own_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool holds(const char *text, size_t len, const char *mark)
{
    size_t wanted = strlen(mark);
    for (size_t at = 0; at + wanted <= len; at++)
        if (memcmp(text + at, mark, wanted) == 0)
            return true;
    return false;
}

bool own_file(const char *path)
{
    enum { HEAD = 1 << 20 };
    static const char *const marks[] = { "<meta name=\"generator\" content=\"vramscope\">",
                                         "Drawn by vramscope ", "vramscope:plots" };
    bool own = false;
    char *head = malloc(HEAD);
    FILE *file = head == NULL ? NULL : fopen(path, "rb");
    size_t len = file == NULL ? 0 : fread(head, 1, HEAD, file);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        own = own || holds(head, len, marks[i]);
    if (file != NULL)
        fclose(file);
    free(head);
    return own;
}
