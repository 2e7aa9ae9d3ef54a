/* process.c - two lines of /proc/self/status, and a word of /proc/self/statm. */
#define _POSIX_C_SOURCE 200809L
#include "device/process.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file has some 1,500 bytes; what is wanted stands in the first 700. */
enum { STATUS_BYTES = 4096, STATM_BYTES = 256, KIB = 1024 };

/* The number after blanks, in units of so many bytes. */
static uint64_t number_at(const char *at, uint64_t unit)
{
    while (*at == ' ' || *at == '\t')
        at++;
    if (*at < '0' || *at > '9')
        return UINT64_MAX;
    uint64_t number = 0;
    for (; *at >= '0' && *at <= '9' && number < UINT64_MAX / unit / 10; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    return number * unit;
}

/* "Name:   1234 kB" in bytes. */
static uint64_t line_bytes(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at != NULL ? number_at(at + strlen(name), KIB) : UINT64_MAX;
}

/* The beginning of a file, ended by a zero; false: it cannot be read. */
static bool beginning(const char *path, char *text, size_t room)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t got = read(file, text, room - 1);
    close(file);
    if (got <= 0)
        return false;
    text[got] = '\0';
    return true;
}

void resident_init(struct resident *r)
{
    *r = (struct resident){ .file = -1 };
}

/* Whether the descriptor is that of the file that was opened: programs close what is not theirs. */
static bool is_ours(const struct resident *r)
{
    struct stat now;
    return r->file >= 0 && fstat(r->file, &now) == 0 && now.st_dev == r->file_system &&
           now.st_ino == r->inode;
}

static bool open_again(struct resident *r)
{
    struct stat made;
    r->file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (r->file < 0)
        return false;
    if (fstat(r->file, &made) != 0) {
        close(r->file);
        r->file = -1;
        return false;
    }
    r->file_system = made.st_dev;
    r->inode = made.st_ino;
    return true;
}

uint64_t resident_read(struct resident *r)
{
    char text[STATM_BYTES];
    long page = sysconf(_SC_PAGESIZE);
    if (page <= 0 || (!is_ours(r) && !open_again(r)))
        return UINT64_MAX;
    ssize_t got = pread(r->file, text, sizeof text - 1, 0);
    if (got <= 0)
        return UINT64_MAX;
    text[got] = '\0';
    const char *second = strchr(text, ' ');
    return second != NULL ? number_at(second, (uint64_t)page) : UINT64_MAX;
}

void resident_close(struct resident *r)
{
    if (is_ours(r))
        close(r->file);
    r->file = -1;
}

void process_memory(uint64_t *ret_rss, uint64_t *ret_rss_peak)
{
    char text[STATUS_BYTES];
    *ret_rss = *ret_rss_peak = UINT64_MAX;
    if (!beginning("/proc/self/status", text, sizeof text))
        return;
    *ret_rss = line_bytes(text, "\nVmRSS:");
    *ret_rss_peak = line_bytes(text, "\nVmHWM:");
}
