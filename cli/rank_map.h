/* rank_map.h - --rank-map: which rank of a job a file is of, as a person wrote it down. */
#ifndef CLI_RANK_MAP_H
#define CLI_RANK_MAP_H

#include <stdint.h>

#include "inputs.h"

/* A line "GLOB RANK"; the first whose glob fits the end of a path, as many parts of it as the glob
 * has, gives the file its rank. */
struct rank_line {
    char *glob; /* in `text` */
    int64_t rank;
    unsigned line;
};

struct rank_map {
    const char *name; /* of the file; NULL: no map */
    char *text;
    struct rank_line *at;
    uint32_t count;
};

/* Reads a map, to be freed also when that fails.  Returns EXIT_DONE, or EXIT_USAGE or EXIT_FAILED
 * when it has said why. */
int rank_map_read(const char *name, struct rank_map *ret);
void rank_map_free(struct rank_map *map);

/* -1: no line fits. */
int64_t rank_map_find(const struct rank_map *map, const char *path);

/* EXIT_USAGE, which it has explained, where a map fits none of the files; warns of lines that
 * fit none. */
int rank_map_check(const struct rank_map *map, const struct inputs *inputs);

#endif
