/* serve_pages.h - the pages of view --serve: each is made when it is opened and forgotten when
 * nobody reads it any more. */
#ifndef CLI_SERVE_PAGES_H
#define CLI_SERVE_PAGES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inputs.h"
#include "view.h"
#include "vramscope/snapshot.h"

/* Bytes that grow as they are written. */
struct gathered {
    char *at;
    size_t len, room;
};
/* The write of a vrs_sink; false when out of memory. */
bool gathered_write(void *gathered, const char *bytes, size_t len);
void gathered_free(struct gathered *g);

struct served_page {
    struct gathered html;
    struct vrs_error why; /* there is none; VRS_OK: there is */
    uint32_t readers;
    bool made;
};

struct served_pages {
    const struct view_settings *s;
    const struct inputs *inputs;
    struct served_page *page; /* of each input */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t making, held; /* pages that are being made; that or made */
    bool stopping;
};

/* False when out of memory; free it in any case. */
bool pages_init(struct served_pages *p, const struct view_settings *s, const struct inputs *inputs);
void pages_free(struct served_pages *p);

/* The page of an input.  Who asks for one that is being made waits for it; few are made at a time,
 * and few are in memory.  NULL: the server is ending.  Any thread; give it back when it is read. */
const struct served_page *pages_take(struct served_pages *p, uint32_t i);
void pages_give_back(struct served_pages *p, uint32_t i);

/* Lets no more pages be made.  False: some still are, which cannot be waited for. */
bool pages_stop(struct served_pages *p);

#endif
