/* page.c - writes the page: the parts that the build made, and the recording between them. */
#include "render/page/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "render/answer/answer.h"
#include "render/snapshot/report/report_parts.h"
#include "render/write/base64.h"
#include "render/write/human.h"
#include "render/write/markup.h"

/* Made by tools/bundle of viewer/: what stands before the title, the report, the head, and the
 * cover; then before the other blocks, and behind them. */
extern const char view_before_title[], view_before_report[], view_before_head[],
    view_before_cover[], view_before_blocks[], view_after_blocks[];

struct page_device *page_device_at(const struct page *v, uint32_t i)
{
    for (uint32_t k = 0; k < v->files; k++) {
        if (i < v->file[k].devices)
            return &v->file[k].device[i];
        i -= v->file[k].devices;
    }
    return NULL;
}

enum { WIDTH = 100 };

/* What a terminal would show: it stays where there is no JavaScript. */
static void put_report(struct buf *to, const struct page *v, const struct page_file *file)
{
    struct render_options options = { .tool = v->tool, .picture = true, .style.width = WIDTH };
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    struct out out = out_into(&text);
    file->report->kind->form[ANSWER_TEXT](&out, file->report, false, &options);
    out_into_end(&out);
    buf_text(to, "<pre>");
    markup_escaped(to, buf_slice(&text));
    buf_text(to, "</pre>");
    buf_end(&text, to);
}

/* What stands under the table of several files in a terminal. */
static void put_unread(struct buf *to, const struct page *v)
{
    struct style style = { .width = WIDTH };
    struct buf text;
    if (v->unread.unreads == 0)
        return;
    buf_init(&text, SIZE_MAX / 2);
    report_unread_text(&text, &v->unread, &style);
    buf_text(to, "<pre>");
    markup_escaped(to, buf_slice(&text));
    buf_text(to, "</pre>");
    buf_end(&text, to);
}

/* `counted`: its letters are only counted. */
static void put_block(struct out *out, const struct page *v, uint32_t i, uint64_t *counted)
{
    enum { AT_ONCE = 12 * 1024 }; /* a multiple of three */
    char part[AT_ONCE];
    if (counted != NULL) {
        *counted += base64_length((size_t)v->chunks->block.at[i].len);
        return;
    }
    for (uint64_t at = 0; at < v->chunks->block.at[i].len; at += AT_ONCE) {
        base64_put(&out->text, part, page_block_read(v->chunks, i, at, part, AT_ONCE));
        out_flush(out, OUT_ENOUGH);
    }
}

static void put_page(struct out *out, const struct page *v, uint64_t *counted)
{
    struct buf *to = &out->text;
    buf_text(to, view_before_title);
    markup_text(to, v->file[0].report->report[0].file.path);
    buf_text(to, " - vramscope");
    buf_text(to, view_before_report);
    for (uint32_t i = 0; i < v->files; i++)
        put_report(to, v, &v->file[i]);
    put_unread(to, v);
    buf_text(to, view_before_head);
    page_head(to, v);
    buf_text(to, view_before_cover);
    put_block(out, v, 0, counted);
    buf_text(to, view_before_blocks);
    for (uint32_t i = 1; i < v->chunks->block.len; i++) {
        buf_format(to, "<script type=\"application/octet-stream\" id=\"b%u\">", (unsigned)i);
        put_block(out, v, i, counted);
        buf_text(to, "</script><script>vrs_block()</script>\n");
    }
    buf_text(to, view_after_blocks);
}

void page_write(struct out *out, const struct page *v)
{
    put_page(out, v, NULL);
}

static bool count_bytes(void *arg, const char *bytes, size_t len)
{
    (void)bytes;
    *(uint64_t *)arg += len;
    return true;
}

enum vrs_status page_bytes(const struct page *v, uint64_t *ret, struct vrs_error *err)
{
    uint64_t texts = 0, blocks = 0;
    struct out out = { .write = count_bytes, .arg = &texts };
    buf_init(&out.text, SIZE_MAX / 2);
    put_page(&out, v, &blocks);
    TRY(out_finish(&out, VRS_OK, err));
    *ret = texts + blocks;
    return VRS_OK;
}
