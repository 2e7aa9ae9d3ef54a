/* terminal_lines.h - lines for a terminal, with the control characters of a file escaped. */
#ifndef CLI_TERMINAL_LINES_H
#define CLI_TERMINAL_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* Begins as all zero. */
struct terminal_lines {
    char *line; /* begun, a NUL behind it */
    size_t len, room;
};

/* The write of a vrs_sink: whole lines go to standard output, escaped. */
bool terminal_lines_write(void *lines, const char *bytes, size_t len);

/* Frees the lines.  Returns EXIT_DONE, or EXIT_FAILED when it has said why standard output took
 * less than it was sent. */
int terminal_lines_end(struct terminal_lines *lines);

#endif
