/* message.h - messages to a person, mostly on standard error. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stddef.h>
#include <stdio.h>
#include <vramscope/vramscope.h>

/* "vramscope: " and the text, which is escaped: it may quote a file. */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A name that a person reads, without what would move the cursor or turn the direction of text: as
 * the library's answers have it. */
void message_name(FILE *to, const char *name);

/* "vramscope: NAME: what went wrong" */
void message_failure(const char *name, const struct vrs_error *err);

/* `len` bytes as a terminal may be sent them: what could move its cursor or turn text is written
 * out.  A NUL stands behind them. */
void message_escaped(FILE *to, const char *text, size_t len);

/* The exit status of a failure: what was asked for cannot be had, or could not be done. */
int failure_exit(enum vrs_status status);

/* That of two files together, each with its own or EXIT_DONE. */
int failures_exit(int one, int other);

/* "vramscope: NAME: entry ENTRY: what went wrong"; an empty ENTRY, or NULL, is left out. */
void message_entry_failure(const char *name, const char *entry, const struct vrs_error *err);

/* The same without the name, as others show it: cut where it is longer than `room`. */
void message_reason(char *to, size_t room, const char *entry, const struct vrs_error *err);

#endif
