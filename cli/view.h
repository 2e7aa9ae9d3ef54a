/* view.h - what the ways to look at recordings share: a page, a picture, a server. */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inputs.h"
#include "options.h"
#include "vramscope/snapshot.h"

struct view_settings {
    struct common common;
    bool serve;
    uint32_t port; /* 0: the system chooses */
    const char *from, *to;
    /* Of a picture. */
    bool svg, png, dark, detail;
    const char *view, *by, *at, *pixels;
    uint64_t capacity;
    const char *editor, *editor_path;
    uint64_t page_most; /* bytes; 0: the default */
};

/* What is read, and what of it the page shows. */
struct pages {
    const struct view_settings *s;
    struct inputs inputs;
    struct vrs_file **file;
    const struct vrs_recording **recording;
    const char **path;
    uint32_t count, room;
    struct vrs_unread_file *unread; /* which the page names; each `why` is owned */
    uint32_t unreads;
};

/* Whether a picture is asked for instead of a page. */
bool view_is_picture(const struct view_settings *s);

/* What the name of the file asks for, where no option does: x.png is a picture.  EXIT_DONE, or says
 * which of them contradict each other. */
int view_choose_format(struct view_settings *s);

/* An option of pictures that was given, --png and --svg among them; NULL: none. */
const char *view_option_of_picture(const struct view_settings *s);

/* EXIT_DONE, or says which options make no sense together, before any file is read. */
int view_check_picture(const struct view_settings *s, const struct inputs *inputs);

/* Writes the picture of the one recording that was read; the exit status. */
int view_write_picture(const struct pages *p);

/* Writes the page of all that was read; the exit status. */
int view_write_page(const struct pages *p);

/* Whether the folder of --user-root is there; else it has said that pages have no text of lines. */
bool view_user_root_is_folder(const char *folder);

/* What a page of recordings is asked for; `paths` has one for each. */
struct vrs_view_options view_page_options(const struct view_settings *s, const char *const *paths);

/* Writes what was read to -o, or to a file that is named after the first input, with `ending`,
 * where none from elsewhere has that name; it, and `said`, are then the answer.  The exit status.
 */
typedef enum vrs_status view_writer(const struct pages *p, const struct vrs_sink *sink,
                                    struct vrs_error *err);
int view_write_file(const struct pages *p, const char *ending, view_writer *write,
                    const char *said);

/* Serves pages of the operands until a signal ends it; the exit status. */
int view_serve(const struct view_settings *s, int count, char *const *names);

/* Whether that can be done here; else `why`, of `size` bytes, says what is missing. */
bool view_can_serve(char *why, size_t size);

#endif
