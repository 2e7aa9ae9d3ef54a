/* serve_pages.c - the pages that a server holds: each made once for all who read it. */
#define _POSIX_C_SOURCE 200809L
#include "serve/serve_pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "message.h"
#include "vramscope/snapshot.h"

enum {
    MAKING_MOST = 2, /* each holds a recording and all that is asked about it */
    HELD_MOST = 8    /* pages on their way to slow readers */
};

bool gathered_write(void *gathered, const char *bytes, size_t len)
{
    struct gathered *g = gathered;
    if (g->room - g->len < len) {
        size_t room = g->room + g->room / 2 + 4096;
        if (room - g->len < len)
            room = g->len + len;
        char *grown = room < g->len ? NULL : realloc(g->at, room);
        if (grown == NULL)
            return false;
        g->at = grown;
        g->room = room;
    }
    memcpy(g->at + g->len, bytes, len);
    g->len += len;
    return true;
}

void gathered_free(struct gathered *g)
{
    free(g->at);
    *g = (struct gathered){ 0 };
}

bool pages_init(struct served_pages *p, const struct view_settings *s, const struct inputs *inputs)
{
    *p = (struct served_pages){ .s = s, .inputs = inputs };
    p->page = calloc(inputs->count, sizeof *p->page);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    return p->page != NULL;
}

void pages_free(struct served_pages *p)
{
    for (uint32_t i = 0; p->page != NULL && i < p->inputs->count; i++)
        gathered_free(&p->page[i].html);
    free(p->page);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}

/* Lines of two pages do not mix. */
static void say_failure(struct served_pages *p, const char *path, const char *entry,
                        const struct vrs_error *err)
{
    pthread_mutex_lock(&p->lock);
    message_entry_failure(path, entry, err);
    pthread_mutex_unlock(&p->lock);
}

/* All entries of a file that can be read are in its page. */
static enum vrs_status write_entries(struct served_pages *p, const struct vrs_file *file,
                                     const char *path, struct gathered *html, struct vrs_error *err)
{
    uint32_t count = 0, entries = vrs_count(file);
    const struct vrs_recording **recording = calloc(entries + 1u, sizeof(*recording));
    const char **paths = calloc(entries + 1u, sizeof(*paths));
    enum vrs_status status = recording == NULL || paths == NULL ? VRS_NOMEM : VRS_OK;
    if (status == VRS_NOMEM)
        *err = (struct vrs_error){ VRS_NOMEM, UINT64_MAX, "out of memory" };
    if (status == VRS_OK && entries == 0) {
        *err = (struct vrs_error){ VRS_CORRUPT, UINT64_MAX, "there is no recording in it" };
        status = VRS_CORRUPT;
    }
    for (uint32_t i = 0; status != VRS_NOMEM && i < entries; i++) {
        enum vrs_status read = vrs_recording(file, i, &recording[count], err);
        if (read == VRS_OK) {
            paths[count++] = path;
        } else {
            say_failure(p, path, vrs_entry_name(file, i), err);
            status = read;
        }
    }
    if (status != VRS_NOMEM && count > 0) {
        struct vrs_view_options o = view_page_options(p->s, paths);
        struct vrs_sink sink = { gathered_write, html };
        status = vrs_view(recording, count, &o, &sink, err);
    }
    free(recording);
    free(paths);
    return status;
}

static void make(struct served_pages *p, uint32_t i, struct served_page *page)
{
    const char *path = p->inputs->at[i].path;
    struct vrs_limits limits = p->s->common.limits;
    limits.size = sizeof limits;
    struct vrs_open_options options = {
        .size = sizeof options,
        .limits = &limits,
        .threads = p->s->common.threads,
    };
    struct vrs_file *file = NULL;
    struct vrs_error err;
    enum vrs_status status = vrs_open(path, &options, &file, &err);
    if (status == VRS_OK)
        status = write_entries(p, file, path, &page->html, &err);
    vrs_close(file);
    if (status == VRS_OK)
        return;
    say_failure(p, path, NULL, &err);
    gathered_free(&page->html);
    page->why = err;
}

/* Holds the lock, but not while it makes the page. */
static bool make_in_turn(struct served_pages *p, uint32_t i)
{
    struct served_page *page = &p->page[i];
    while (!p->stopping && (p->making >= MAKING_MOST || p->held >= HELD_MOST))
        pthread_cond_wait(&p->changed, &p->lock);
    if (p->stopping)
        return false;
    p->making++;
    p->held++;
    pthread_mutex_unlock(&p->lock);
    make(p, i, page);
    pthread_mutex_lock(&p->lock);
    p->making--;
    page->made = true;
    pthread_cond_broadcast(&p->changed);
    return true;
}

const struct served_page *pages_take(struct served_pages *p, uint32_t i)
{
    struct served_page *page = &p->page[i];
    pthread_mutex_lock(&p->lock);
    bool there = true;
    if (page->readers++ == 0)
        there = make_in_turn(p, i);
    while (there && !page->made && !p->stopping)
        pthread_cond_wait(&p->changed, &p->lock);
    there = there && page->made;
    pthread_mutex_unlock(&p->lock);
    return there ? page : NULL;
}

void pages_give_back(struct served_pages *p, uint32_t i)
{
    struct served_page *page = &p->page[i];
    pthread_mutex_lock(&p->lock);
    if (--page->readers == 0) {
        gathered_free(&page->html);
        *page = (struct served_page){ .made = false };
        p->held--;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
}

bool pages_stop(struct served_pages *p)
{
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    bool idle = p->making == 0;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return idle;
}
