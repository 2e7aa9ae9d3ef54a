/* rank_map.c - reads --rank-map: lines of a glob and a rank. */
#define _POSIX_C_SOURCE 200809L
#include "rank_map.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "message.h"
#include "text_file.h"

/* As names of files may have them. */
enum { RANK_MOST = 9999999 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The line between its blanks, without its comment: from a "#" that begins it or stands behind a
 * blank. */
static char *trimmed(char *line)
{
    for (char *at = line; *at != '\0'; at++)
        if (*at == '#' && (at == line || is_blank(at[-1])))
            *at = '\0';
    while (is_blank(*line))
        line++;
    size_t len = strlen(line);
    while (len > 0 && is_blank(line[len - 1]))
        line[--len] = '\0';
    return line;
}

/* The number behind the last blank, which ends the glob. */
static bool take_rank(char *line, int64_t *ret)
{
    char *digit = line + strlen(line);
    while (digit > line && digit[-1] >= '0' && digit[-1] <= '9')
        digit--;
    if (*digit == '\0' || digit == line || !is_blank(digit[-1]))
        return false;
    int64_t rank = 0;
    for (const char *at = digit; *at != '\0'; at++) {
        rank = rank * 10 + (*at - '0');
        if (rank > RANK_MOST)
            return false;
    }
    char *end = digit;
    while (end > line && is_blank(end[-1]))
        *--end = '\0';
    *ret = rank;
    return end > line;
}

static int take_line(struct rank_map *map, char *line, unsigned number)
{
    struct rank_line read = { .line = number };
    line = trimmed(line);
    if (*line == '\0')
        return EXIT_DONE;
    if (!take_rank(line, &read.rank)) {
        message("%s:%u: a line is a file and its rank, such as \"node0/*.pickle 3\"", map->name,
                number);
        return EXIT_USAGE;
    }
    read.glob = strncmp(line, "./", 2) == 0 ? line + 2 : line;
    for (uint32_t i = 0; i < map->count; i++) {
        if (strcmp(map->at[i].glob, read.glob) != 0)
            continue;
        message("%s:%u: %s stands in line %u already; leave one of them out", map->name, number,
                read.glob, map->at[i].line);
        return EXIT_USAGE;
    }
    map->at[map->count++] = read;
    return EXIT_DONE;
}

static int take_lines(struct rank_map *map)
{
    char *text = strncmp(map->text, "\xef\xbb\xbf", 3) == 0 ? map->text + 3 : map->text;
    size_t lines = 1;
    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    map->at = calloc(lines, sizeof *map->at);
    map->count = 0;
    if (map->at == NULL) {
        message("out of memory");
        return EXIT_FAILED;
    }
    for (unsigned number = 1; text != NULL; number++) {
        char *end = strchr(text, '\n');
        if (end != NULL)
            *end = '\0';
        int wrong = take_line(map, text, number);
        if (wrong != EXIT_DONE)
            return wrong;
        text = end == NULL ? NULL : end + 1;
    }
    if (map->count == 0) {
        message("%s has no line of a file and its rank", map->name);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

int rank_map_read(const char *name, struct rank_map *ret)
{
    *ret = (struct rank_map){ .name = name };
    if (name == NULL)
        return EXIT_DONE;
    int wrong = text_file_read("--rank-map", name, &ret->text);
    return wrong != EXIT_DONE ? wrong : take_lines(ret);
}

void rank_map_free(struct rank_map *map)
{
    free(map->text);
    free(map->at);
    *map = (struct rank_map){ 0 };
}

static bool fits(const char *glob, const char *path)
{
    if (fnmatch(glob, path, FNM_PATHNAME) == 0)
        return true;
    for (const char *at = strchr(path, '/'); at != NULL; at = strchr(at + 1, '/'))
        if (fnmatch(glob, at + 1, FNM_PATHNAME) == 0)
            return true;
    return false;
}

int64_t rank_map_find(const struct rank_map *map, const char *path)
{
    for (uint32_t i = 0; i < map->count; i++)
        if (fits(map->at[i].glob, path))
            return map->at[i].rank;
    return -1;
}

/* Which lines fit none of the files, such as one with a slip of the pen: their ranks are then those
 * of the names, which nobody would notice. */
static void say_idle(const struct rank_map *map, const struct inputs *inputs)
{
    enum { LINES_SHOWN = 8, LINE_TEXT = 16 };
    char text[LINES_SHOWN * LINE_TEXT] = "", more[LINE_TEXT + 8] = "";
    uint32_t idle = 0;
    size_t len = 0;
    for (uint32_t k = 0; k < map->count; k++) {
        uint32_t i = 0;
        while (i < inputs->count && !fits(map->at[k].glob, inputs->at[i].path))
            i++;
        if (i < inputs->count || idle++ >= LINES_SHOWN)
            continue;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%u", idle > 1 ? ", " : "",
                                map->at[k].line);
    }
    if (idle > LINES_SHOWN)
        snprintf(more, sizeof more, " and %u more", (unsigned)(idle - LINES_SHOWN));
    if (idle > 0)
        message("warning: --rank-map %s: none of the files fits line%s %s%s", map->name,
                idle > 1 ? "s" : "", text, more);
}

int rank_map_check(const struct rank_map *map, const struct inputs *inputs)
{
    if (map->name == NULL || inputs->count == 0)
        return EXIT_DONE;
    for (uint32_t i = 0; i < inputs->count; i++) {
        if (rank_map_find(map, inputs->at[i].path) < 0)
            continue;
        say_idle(map, inputs);
        return EXIT_DONE;
    }
    message("--rank-map %s: none of its lines fits any of the files", map->name);
    return EXIT_USAGE;
}
