/* view_page.c - vramscope view: the options of a page, and writing it. */
#define _XOPEN_SOURCE 700
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"
#include "source_line.h"
#include "view.h"
#include "vramscope/snapshot.h"

enum { PAGE_MOST = 64 << 20 };

static size_t line_text(const void *folder, const char *file, uint32_t line, char *to, size_t room)
{
    return source_line_read(folder, file, line, to, room);
}

/* What became of the lines that a page asked for. */
struct lines_told {
    uint32_t asked, found;
    char file[PATH_MAX]; /* of the first, as the recording names it */
    uint32_t line;
};

struct lines_asked {
    const char *folder;
    struct lines_told *told;
};

static size_t counted_text(const void *arg, const char *file, uint32_t line, char *to, size_t room)
{
    const struct lines_asked *asked = arg;
    struct lines_told *told = asked->told;
    size_t len = source_line_read(asked->folder, file, line, to, room);
    if (told->asked++ == 0) {
        snprintf(told->file, sizeof told->file, "%s", file);
        told->line = line;
    }
    told->found += len > 0;
    return len;
}

/* What stands in `file` behind a folder that is called `name`; NULL: it has none. */
static const char *behind_name(const char *file, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = file; len > 0 && (at = strstr(at, name)) != NULL; at++)
        if ((at == file || at[-1] == '/') && at[len] == '/')
            return at + len + 1;
    return NULL;
}

bool view_user_root_is_folder(const char *folder)
{
    struct stat facts;
    if (stat(folder, &facts) == 0 && S_ISDIR(facts.st_mode))
        return true;
    message("warning: --user-root %.1024s: no such folder on this machine: frames under it are "
            "your own code, and the page has no text of their lines",
            folder);
    return false;
}

/* Where the first line was looked for, as none was found; source_line.h has the places. */
static void say_nothing_found(const char *folder, const struct lines_told *told)
{
    char root[PATH_MAX];
    if (!view_user_root_is_folder(folder) || realpath(folder, root) == NULL)
        return;
    const char *file = told->file, *name = strrchr(root, '/') + 1;
    const char *rest = behind_name(file, name);
    if (rest == NULL && file[0] != '/')
        rest = file;
    if (told->asked == 0)
        message("warning: --user-root %.1024s: the recording names no line of your own code, so "
                "the page has no text of lines",
                folder);
    else if (rest != NULL)
        message("warning: --user-root %.1024s: the page has no text of lines, as none was found: "
                "line %u of %.1024s, for one, is not in %.1024s/%.1024s",
                folder, (unsigned)told->line, file, folder, rest);
    else if (source_line_behind(root, file) != NULL || source_line_behind(folder, file) != NULL)
        message("warning: --user-root %.1024s: the page has no text of lines, as none was found: "
                "line %u of %.1024s, for one, is not there",
                folder, (unsigned)told->line, file);
    else
        message("warning: --user-root %.1024s: the page has no text of lines, as none was found: "
                "%.1024s, for one, does not lie in it, and no folder of that path is called %s",
                folder, file, name);
}

struct vrs_view_options view_page_options(const struct view_settings *s, const char *const *paths)
{
    return (struct vrs_view_options){
        .size = sizeof(struct vrs_view_options),
        .paths = paths,
        .user_root = s->common.user_root,
        .library = s->common.library,
        .device = { s->common.device },
        .editor = s->editor,
        .editor_path = s->editor_path,
        .from = s->from,
        .to = s->to,
        .most_bytes = s->page_most != 0 ? s->page_most : PAGE_MOST,
        .may_be_larger = s->page_most == 0,
        .line_text = s->common.user_root == NULL ? NULL : line_text,
        .line_text_arg = s->common.user_root,
    };
}

static void say_note(void *arg, const char *text)
{
    (void)arg;
    message("warning: %s", text);
}

static enum vrs_status write_page(const struct pages *p, const struct vrs_sink *sink,
                                  struct vrs_error *err)
{
    struct vrs_view_options o = view_page_options(p->s, p->path);
    o.note = say_note;
    o.unread = p->unread;
    o.unreads = p->unreads;
    struct lines_told told = { 0 };
    struct lines_asked asked = { p->s->common.user_root, &told };
    if (o.line_text != NULL) {
        o.line_text = counted_text;
        o.line_text_arg = &asked;
    }
    enum vrs_status status = vrs_view(p->recording, p->count, &o, sink, err);
    if (status == VRS_OK && o.line_text != NULL && told.found == 0)
        say_nothing_found(asked.folder, &told);
    return status;
}

int view_write_page(const struct pages *p)
{
    return view_write_file(p, ".html", write_page, ": open it in a browser; it needs nothing else");
}
