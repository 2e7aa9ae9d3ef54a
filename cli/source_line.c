/* source_line.c - reads one line of a source file that a recording names. */
#define _XOPEN_SOURCE 700
#include "source_line.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    READ_MOST = 4 << 20,
    PATH_ROOM = PATH_MAX,
    NAME_MOST = 16 /* parts of a path that are called as the folder */
};

/* Whether what lies behind the root is called as source code is, and nothing on the way is hidden:
 * a recording of a stranger names files, and those with keys in them are none of its lines. */
static bool is_source(const char *below)
{
    static const char *const ends[] = { ".py",  ".pyi", ".pyx", ".pxd", ".c",  ".cc", ".cpp",
                                        ".cxx", ".cu",  ".cuh", ".h",   ".hpp" };
    const char *name = strrchr(below, '/');
    const char *end = strrchr(name == NULL ? below : name, '.');
    if (below[0] == '.' || strstr(below, "/.") != NULL || end == NULL)
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(end, ends[i]) == 0)
            return true;
    return false;
}

/* Whether the ".." of a path lead out of the folder that it begins in. */
static bool leads_out(const char *path)
{
    int depth = 0;
    while (*path != '\0' && depth >= 0) {
        size_t len = strcspn(path, "/");
        if (len == 2 && path[0] == '.' && path[1] == '.')
            depth--;
        else if (len > 0 && (len != 1 || path[0] != '.'))
            depth++;
        path += len + (path[len] == '/');
    }
    return depth < 0;
}

/* Whether `rest`, NULL for none, is a source file in `root` with all links followed; it is then
 * `found`.  Only such paths are resolved: to ask for others mounts what a stranger names. */
static bool lies_below(const char *root, const char *rest, char found[PATH_ROOM])
{
    char path[PATH_ROOM];
    size_t at = strlen(root);
    if (rest == NULL || leads_out(rest))
        return false;
    int len = snprintf(path, sizeof path, "%s/%s", root, rest);
    if (len < 0 || (size_t)len >= sizeof path || realpath(path, found) == NULL ||
        strncmp(found, root, at) != 0)
        return false;
    bool below = root[at - 1] == '/' || found[at] == '/';
    return below && is_source(found + at + (found[at] == '/'));
}

const char *source_line_behind(const char *folder, const char *file)
{
    size_t len = strlen(folder);
    while (len > 0 && folder[len - 1] == '/')
        len--;
    return strncmp(file, folder, len) == 0 && file[len] == '/' ? file + len + 1 : NULL;
}

/* Of a name that is relative to the working directory. */
static bool lies_from_here(const char *root, const char *file, char found[PATH_ROOM])
{
    char here[PATH_ROOM], path[2 * PATH_ROOM];
    if (getcwd(here, sizeof here) == NULL)
        return false;
    snprintf(path, sizeof path, "%s/%s", here, file);
    return lies_below(root, source_line_behind(root, path), found);
}

/* The same of what stands in `file` behind the name of the folder: the program may have run from a
 * copy of it elsewhere.  A stranger's path may have that name in each of its parts. */
static bool lies_behind_name(const char *root, const char *file, char found[PATH_ROOM])
{
    const char *name = strrchr(root, '/') + 1;
    size_t len = strlen(name);
    int named = 0;
    for (const char *at = file; len > 0 && (at = strstr(at, name)) != NULL; at++) {
        if ((at != file && at[-1] != '/') || at[len] != '/')
            continue;
        if (lies_below(root, at + len + 1, found))
            return true;
        if (++named == NAME_MOST)
            return false;
    }
    return false;
}

static bool find(const char *folder, const char *file, char found[PATH_ROOM])
{
    char root[PATH_ROOM];
    bool relative = file[0] != '/';
    /* What is longer opens nowhere. */
    if (file[0] == '\0' || strnlen(file, PATH_ROOM) == PATH_ROOM || realpath(folder, root) == NULL)
        return false;
    return lies_below(root, source_line_behind(folder, file), found) ||
           lies_below(root, source_line_behind(root, file), found) ||
           (relative && lies_from_here(root, file, found)) || lies_behind_name(root, file, found) ||
           (relative && lies_below(root, file, found));
}

/* A pipe or device is not waited for, nor a link followed that was not there before. */
static int open_regular(const char *path)
{
    struct stat facts;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Appends to the `len` bytes of a line what fits; blanks before it are passed over. */
static size_t append(char *to, size_t room, size_t len, const char *from, const char *end)
{
    while (len == 0 && from < end && (*from == ' ' || *from == '\t' || *from == '\f'))
        from++;
    size_t more = (size_t)(end - from) < room - len ? (size_t)(end - from) : room - len;
    memcpy(to + len, from, more);
    return len + more;
}

static size_t read_line(int fd, uint32_t line, char *to, size_t room)
{
    char part[16 * 1024];
    size_t len = 0, all = 0;
    uint32_t at = 1;
    for (ssize_t got; all < READ_MOST && (got = read(fd, part, sizeof part)) > 0;
         all += (size_t)got) {
        const char *from = part, *end = part + got;
        while (from < end) {
            const char *stop = memchr(from, '\n', (size_t)(end - from));
            if (at == line)
                len = append(to, room, len, from, stop == NULL ? end : stop);
            if (at == line && stop != NULL)
                return len;
            at += stop != NULL;
            from = stop == NULL ? end : stop + 1;
        }
    }
    return len;
}

size_t source_line_read(const char *folder, const char *file, uint32_t line, char *to, size_t room)
{
    char found[PATH_ROOM];
    int fd = find(folder, file, found) ? open_regular(found) : -1;
    if (fd < 0)
        return 0;
    size_t len = read_line(fd, line, to, room);
    close(fd);
    while (len > 0 && (to[len - 1] == '\r' || to[len - 1] == ' ' || to[len - 1] == '\t'))
        len--;
    /* A line with a NUL in it is none of a source file. */
    return memchr(to, '\0', len) != NULL ? 0 : len;
}
