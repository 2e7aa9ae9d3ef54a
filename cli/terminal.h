/* terminal.h - what the terminal can show, and the line of progress on it. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* COLUMNS where it is set, else the terminal's own width, else 80. */
uint32_t terminal_width(int fd);

bool terminal_is(int fd);

/* Whether the user's locale is UTF-8. */
bool terminal_utf8(void);

/* `when` is "always", "never" or "auto" (also NULL): a terminal, and neither NO_COLOR is set nor
 * the terminal dumb. */
bool terminal_colour(const char *when, int fd);

/* Progress: nothing in the first second, nothing unless standard error is a terminal. */
void progress_start(const char *what);
void progress_bytes(uint64_t done, uint64_t total); /* total 0: not known */
void progress_files(uint32_t done, uint32_t total);

/* Takes the line away; it comes back with the next call above. */
void progress_hide(void);

#endif
