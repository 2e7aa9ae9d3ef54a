/* host.c - /proc/self/statm, /proc/meminfo and the process's clock. */
#define _POSIX_C_SOURCE 200809L
#include "device/host.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* meminfo has some 1,500 bytes; what is wanted stands in the first 700. */
enum { FILE_BYTES = 4096, KIB = 1024 };

#define NS_PER_SECOND UINT64_C(1000000000)

static bool read_text(const char *path, char text[FILE_BYTES])
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t got = read(file, text, FILE_BYTES - 1);
    close(file);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* The number that stands behind blanks, and what follows it; UINT64_MAX: none does. */
static uint64_t number_at(const char **text)
{
    const char *at = *text;
    while (*at == ' ')
        at++;
    if (*at < '0' || *at > '9')
        return UINT64_MAX;
    uint64_t number = 0;
    for (; *at >= '0' && *at <= '9' && number < UINT64_MAX / KIB / 100; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    *text = at;
    return number;
}

/* "MemFree:   1234 kB" in bytes; `missing` where there is no such line. */
static uint64_t line_bytes(const char *text, const char *name, uint64_t missing)
{
    const char *at = strstr(text, name);
    if (at == NULL)
        return missing;
    at += strlen(name);
    uint64_t kib = number_at(&at);
    return kib == UINT64_MAX ? missing : kib * KIB;
}

static uint64_t machine_used(void)
{
    char text[FILE_BYTES];
    if (!read_text("/proc/meminfo", text))
        return UINT64_MAX;
    uint64_t total = line_bytes(text, "MemTotal:", UINT64_MAX);
    uint64_t unused = line_bytes(text, "\nMemFree:", UINT64_MAX);
    if (total == UINT64_MAX || unused == UINT64_MAX || unused > total)
        return UINT64_MAX;
    uint64_t cached = line_bytes(text, "\nBuffers:", 0) + line_bytes(text, "\nCached:", 0) +
                      line_bytes(text, "\nSReclaimable:", 0);
    return cached <= total - unused ? total - unused - cached : total - unused;
}

static void process_pages(struct host_reading *ret)
{
    char text[FILE_BYTES];
    long page = sysconf(_SC_PAGESIZE);
    if (page <= 0 || !read_text("/proc/self/statm", text))
        return;
    const char *at = text;
    uint64_t mapped = number_at(&at), resident = number_at(&at);
    if (mapped == UINT64_MAX || resident == UINT64_MAX)
        return;
    ret->mapped = mapped * (uint64_t)page;
    ret->rss = resident * (uint64_t)page;
}

void host_read(struct host_reading *ret)
{
    *ret = (struct host_reading){ UINT64_MAX, UINT64_MAX, machine_used(), UINT64_MAX };
    process_pages(ret);
    struct timespec used;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0)
        ret->cpu_ns = (uint64_t)used.tv_sec * NS_PER_SECOND + (uint64_t)used.tv_nsec;
}
