/* view_page.c - the page of vramscope view: its name, and the file it becomes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "output.h"
#include "view.h"

char *view_default_name(const char *path, const char *ending)
{
    static const char *const endings[] = { ".gz", ".zst", ".pickle", ".pkl", ".json", ".html" };
    const char *base = strrchr(path, '/') == NULL ? path : strrchr(path, '/') + 1;
    size_t len = strlen(base);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t known = strlen(endings[i]);
        if (len > known && memcmp(base + len - known, endings[i], known) == 0)
            len -= known;
    }
    bool piped = strcmp(base, "-") == 0;
    size_t room = len + sizeof "vramscope" + strlen(ending);
    char *name = malloc(room);
    if (name != NULL && (piped || len == 0))
        snprintf(name, room, "vramscope%s", ending);
    else if (name != NULL)
        snprintf(name, room, "%.*s%s", (int)len, base, ending);
    return name;
}

struct vrs_view_options view_page_options(const struct view_settings *s, const char *const *paths)
{
    return (struct vrs_view_options){
        .size = sizeof(struct vrs_view_options),
        .paths = paths,
        .user_root = s->common.user_root,
        .library = s->common.library,
        .device = s->common.device,
        .editor = s->editor,
        .editor_path = s->editor_path,
    };
}

static int write_named(struct pages *p, const char *name)
{
    struct vrs_view_options o = view_page_options(p->s, p->path);
    struct vrs_error err;
    struct output output;
    if (output_open(&output, "-o", name) != EXIT_DONE)
        return EXIT_FAILED;
    struct vrs_sink sink = { output_write, &output };
    enum vrs_status status = vrs_view(p->recording, p->count, &o, &sink, &err);
    int ended = EXIT_DONE;
    if (status != VRS_OK && output.error == 0) {
        message_failure(p->path[0], &err);
        ended = failure_exit(status);
    }
    int closed = output_close(&output, status == VRS_OK);
    /* A name that the user did not give is the answer. */
    if (ended == EXIT_DONE && closed == EXIT_DONE && p->s->common.output == NULL)
        printf("%s: open it in a browser; it needs nothing else\n", name);
    return ended != EXIT_DONE ? ended : closed;
}

int view_write_page(struct pages *p)
{
    char *made =
        p->s->common.output == NULL ? view_default_name(p->inputs.at[0].path, ".html") : NULL;
    const char *name = p->s->common.output == NULL ? made : p->s->common.output;
    if (name == NULL) {
        message("out of memory");
        return EXIT_FAILED;
    }
    int ended = write_named(p, name);
    free(made);
    return ended;
}
