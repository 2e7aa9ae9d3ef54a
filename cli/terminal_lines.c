/* terminal_lines.c - escapes lines on their way to a terminal. */
#include "terminal_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "message.h"

static bool add(struct terminal_lines *lines, const char *bytes, size_t len)
{
    if (lines->room - lines->len <= len) {
        size_t room = 2 * (lines->len + len) + 256;
        char *more = realloc(lines->line, room);
        if (more == NULL)
            return false;
        lines->line = more;
        lines->room = room;
    }
    memcpy(lines->line + lines->len, bytes, len);
    lines->len += len;
    lines->line[lines->len] = '\0';
    return true;
}

bool terminal_lines_write(void *arg, const char *bytes, size_t len)
{
    struct terminal_lines *lines = arg;
    while (len > 0) {
        const char *end = memchr(bytes, '\n', len);
        size_t piece = end == NULL ? len : (size_t)(end - bytes);
        if (!add(lines, bytes, piece))
            return false;
        if (end == NULL)
            return true;
        /* A line of csv ends with both. */
        message_escaped(stdout, lines->line,
                        lines->len - (lines->len > 0 && lines->line[lines->len - 1] == '\r'));
        if (putchar('\n') == EOF)
            return false;
        lines->len = 0;
        bytes += piece + 1;
        len -= piece + 1;
    }
    return true;
}

int terminal_lines_end(struct terminal_lines *lines)
{
    free(lines->line);
    return help_finish();
}
