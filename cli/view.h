/*
 * view.h - what the ways to look at recordings share: a page, a picture, a server.
 */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include "answer.h"
#include "inputs.h"

struct view_settings {
    struct common common;
    const char *editor, *editor_path;
};

/* What is read, and what of it the page shows. */
struct pages {
    const struct view_settings *s;
    struct inputs inputs;
    struct vrs_file **file;
    const struct vrs_recording **recording;
    const char **path;
    uint32_t count, room;
};

/* Writes the page of all that was read; the exit status. */
int view_write_page(struct pages *p);

#endif
