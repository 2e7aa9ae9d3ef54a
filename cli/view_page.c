/* view_page.c - vramscope view: the options of a page, and writing it. */
#include <stddef.h>
#include <stdint.h>

#include "message.h"
#include "source_line.h"
#include "view.h"
#include "vramscope/snapshot.h"

enum { PAGE_MOST = 64 << 20 };

static size_t line_text(const void *folder, const char *file, uint32_t line, char *to, size_t room)
{
    return source_line_read(folder, file, line, to, room);
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
    return vrs_view(p->recording, p->count, &o, sink, err);
}

int view_write_page(const struct pages *p)
{
    return view_write_file(p, ".html", write_page, ": open it in a browser; it needs nothing else");
}
