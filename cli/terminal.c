/* terminal.c - width, colour and progress. */
#define _GNU_SOURCE
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH_LEAST = 20, WIDTH_DEFAULT = 80, WIDTH_MOST = 1000 };

static uint32_t sane_width(long width)
{
    return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : (uint32_t)width;
}

uint32_t terminal_width(int fd)
{
    const char *columns = getenv("COLUMNS");
    char *end = NULL;
    long width = columns == NULL ? 0 : strtol(columns, &end, 10);
    if (width > 0 && *end == '\0')
        return sane_width(width);
    struct winsize size = { 0 };
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return sane_width(size.ws_col);
    return WIDTH_DEFAULT;
}

bool terminal_is(int fd)
{
    return isatty(fd) == 1;
}

/* The order of setlocale, without its tables: the first that is set decides. */
bool terminal_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0')
            return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
    }
    return false;
}

bool terminal_colour(const char *when, int fd)
{
    if (when != NULL && strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return terminal_is(fd) && (no_color == NULL || no_color[0] == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

static struct {
    const char *what;
    int64_t start_ms, drawn_ms;
    bool wanted, drawn;
} line;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void progress_start(const char *what)
{
    progress_hide();
    line.what = what;
    line.start_ms = line.drawn_ms = now_ms();
    line.wanted = terminal_is(STDERR_FILENO);
}

/* Whether it is time to draw: after the first second, then ten times a second. */
static bool due(int64_t *ret_elapsed_ms)
{
    if (!line.wanted)
        return false;
    int64_t now = now_ms();
    *ret_elapsed_ms = now - line.start_ms;
    if (*ret_elapsed_ms < 1000 || now - line.drawn_ms < 100)
        return false;
    line.drawn_ms = now;
    line.drawn = true;
    return true;
}

static void draw_left(uint64_t done, uint64_t total, int64_t elapsed_ms)
{
    if (done > 0 && done < total) {
        double left = (double)elapsed_ms / 1000 * (double)(total - done) / (double)done;
        fprintf(stderr, ", %.0f s left", left < 1 ? 1 : left);
    }
    fputs("\033[K", stderr);
}

void progress_bytes(uint64_t done, uint64_t total)
{
    int64_t elapsed_ms;
    if (!due(&elapsed_ms))
        return;
    const double mib = 1 << 20;
    fprintf(stderr, "\r%s: %.0f", line.what, (double)done / mib);
    if (total > 0)
        fprintf(stderr, " of %.0f", (double)total / mib);
    fputs(" MiB", stderr);
    draw_left(done, total, elapsed_ms);
}

void progress_files(uint32_t done, uint32_t total)
{
    int64_t elapsed_ms;
    if (!due(&elapsed_ms))
        return;
    fprintf(stderr, "\r%s: %u of %u files", line.what, (unsigned)done, (unsigned)total);
    draw_left(done, total, elapsed_ms);
}

void progress_hide(void)
{
    if (line.drawn)
        fputs("\r\033[K", stderr);
    line.drawn = false;
}
