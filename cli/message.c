/* message.c - messages to a person, mostly on standard error. */
#define _POSIX_C_SOURCE 200809L
#include "message.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "terminal.h"

/* Reads one character of UTF-8; its length, or 0 where the bytes are none. */
static size_t character(const unsigned char *at, unsigned *ret)
{
    size_t len = at[0] < 0x80 ? 1 : at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : at[0] >= 0xc2 ? 2 : 0;
    unsigned code = len < 2 ? at[0] : at[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    *ret = code;
    return len;
}

/* Characters that move the cursor, colour the screen, show nothing or turn the direction of text:
 * those that the library escapes in its answers. */
static bool unsafe(unsigned code)
{
    static const unsigned ranges[][2] = {
        { 0x00, 0x1f },     { 0x7f, 0x9f },     { 0x61c, 0x61c },
        { 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f },
        { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

void message_escaped(FILE *to, const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + len;
    while (at < end) {
        unsigned code = 0;
        size_t bytes = character(at, &code);
        if (bytes == 0 || (bytes == 1 && unsafe(code))) {
            fprintf(to, "\\x%02x", *at++);
        } else if (unsafe(code)) {
            fprintf(to, "\\u{%x}", code);
            at += bytes;
        } else {
            fwrite(at, 1, bytes, to);
            at += bytes;
        }
    }
}

void message_name(FILE *to, const char *name)
{
    message_escaped(to, name, strlen(name));
}

static void line(const char *name, const char *entry, const char *text)
{
    progress_hide();
    fputs("vramscope: ", stderr);
    if (name != NULL) {
        message_name(stderr, name);
        fputs(": ", stderr);
    }
    if (entry != NULL && *entry != 0) {
        fputs("entry ", stderr);
        message_name(stderr, entry);
        fputs(": ", stderr);
    }
    message_name(stderr, text);
    fputc('\n', stderr);
}

void message(const char *format, ...)
{
    char text[PATH_MAX + 256]; /* a path and some words */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    line(NULL, NULL, text);
}

void message_failure(const char *name, const struct vrs_error *err)
{
    message_entry_failure(name, NULL, err);
}

void message_entry_failure(const char *name, const char *entry, const struct vrs_error *err)
{
    char text[sizeof err->message + 32];
    if (err->offset == UINT64_MAX)
        snprintf(text, sizeof text, "%s", err->message);
    else
        snprintf(text, sizeof text, "byte %llu: %s", (unsigned long long)err->offset, err->message);
    line(strcmp(name, "-") == 0 ? "standard input" : name, entry, text);
}

void message_reason(char *to, size_t room, const char *entry, const struct vrs_error *err)
{
    char where[32] = "";
    if (err->offset != UINT64_MAX)
        snprintf(where, sizeof where, "byte %llu: ", (unsigned long long)err->offset);
    bool named = entry != NULL && *entry != '\0';
    snprintf(to, room, "%s%.200s%s%s%s", named ? "entry " : "", named ? entry : "",
             named ? ": " : "", where, err->message);
}

int failure_exit(enum vrs_status status)
{
    return status == VRS_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

int failures_exit(int one, int other)
{
    if (one == EXIT_FAILED || other == EXIT_FAILED)
        return EXIT_FAILED;
    return one == EXIT_DONE ? other : one;
}
