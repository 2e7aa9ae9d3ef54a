/* head.c - the JSON that tells the page what its columns are, with the report inside. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/report/report.h"
#include "analysis/snapshot/steps/phases.h"
#include "base/buf.h"
#include "base/str.h"
#include "model/ids.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/page/column.h"
#include "render/page/fit_sentences.h"
#include "render/page/lines.h"
#include "render/page/page.h"
#include "render/page/window.h"
#include "render/write/json.h"
#include "render/write/out.h"

static void put_column(struct json *j, const struct page_packed *p)
{
    json_line_object(j, p->column->name);
    json_text(j, "type", page_type_names[p->column->type]);
    json_u64(j, "rows", p->rows);
    json_u64(j, "max", p->max);
    if (p->column->unit != NULL)
        json_text(j, "unit", p->column->unit);
    if (p->constant) {
        json_u64(j, "const", p->max);
        json_close(j);
        return;
    }
    json_u64(j, "block", p->block);
    json_u64(j, "at", p->at);
    json_u64(j, "len", p->len);
    json_u64(j, "planes", p->planes);
    json_line_array(j, "enc");
    if (p->column->change != PAGE_AS_IT_IS)
        json_text(j, NULL, "delta");
    if (p->column->change == PAGE_ZIGZAG)
        json_text(j, NULL, "zigzag");
    if (p->shuffled)
        json_text(j, NULL, "shuffle");
    json_text(j, NULL, "deflate");
    json_close(j);
    json_close(j);
}

static bool is_shown(const struct page_table *table)
{
    uint32_t c = 0;
    while (c < table->columns && table->column[c].left_out)
        c++;
    return c < table->columns;
}

void page_put_tables(struct json *j, const struct page_table *table, const char *const *names,
                     uint32_t tables)
{
    json_object(j, "tables");
    for (uint32_t t = 0; t < tables; t++, table++) {
        if (!is_shown(table))
            continue;
        json_object(j, names[t]);
        json_u64(j, "rows", table->rows);
        json_object(j, "columns");
        for (uint32_t c = 0; c < table->columns; c++)
            if (table->column[c].rows > 0 && !table->column[c].left_out)
                put_column(j, &table->column[c]);
        json_close(j);
        json_close(j);
    }
    json_close(j);
}

static void put_lists(struct json *j, const struct page_device *d)
{
    char text[48];
    json_line_array(j, "streams");
    for (uint32_t i = 0; i < d->streams; i++) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)d->stream[i]);
        json_text(j, NULL, text);
    }
    json_close(j);
    json_line_array(j, "pools");
    for (uint32_t i = 0; i < d->pools; i++) {
        snprintf(text, sizeof text, "(%llu, %llu)", (unsigned long long)d->pool[i][0],
                 (unsigned long long)d->pool[i][1]);
        json_text(j, NULL, text);
    }
    json_close(j);
    json_line_array(j, "categories");
    for (int i = 0; i < CATEGORIES; i++)
        json_text(j, NULL, category_names[i]);
    json_close(j);
    json_line_array(j, "phases");
    for (int i = 0; i < PHASES; i++)
        json_text(j, NULL, phase_names[i]);
    json_text(j, NULL, "unknown");
    json_close(j);
    json_line_array(j, "rules");
    for (uint32_t i = 0; i < d->rules; i++)
        json_text(j, NULL, d->rule[i]);
    json_close(j);
}

static void put_checks(struct json *j, const struct page_device *d)
{
    json_array(j, "check");
    for (uint32_t i = 0; i < d->checks; i++) {
        const struct page_check *c = &d->check[i];
        json_line_object(j, NULL);
        json_u64(j, "state", c->state);
        json_i64(j, "requested_bytes", c->requested_bytes);
        json_u64(j, "live", c->live);
        if (c->reserved_known)
            json_i64(j, "reserved_bytes", c->reserved_bytes);
        else
            json_null(j, "reserved_bytes");
        json_close(j);
    }
    json_close(j);
}

/* Which states the page has the allocations of, where that is not all. */
static void put_window(struct json *j, const struct page_device *d)
{
    if (!page_is_windowed(d)) {
        json_null(j, "window");
        return;
    }
    json_line_object(j, "window");
    json_u64(j, "first", d->first_state);
    json_u64(j, "last", d->last_state);
    json_u64(j, "of_allocations", d->allocations);
    json_close(j);
}

static uint64_t clipped(const struct page_device *d)
{
    uint64_t count = 0;
    for (int t = 0; t < PAGE_TABLES; t++)
        for (uint32_t c = 0; c < d->table[t].columns; c++)
            count += d->table[t].column[c].clipped;
    return count;
}

static void put_device(struct json *j, const struct page_device *d,
                       const struct report_device *report)
{
    struct buf name;
    buf_init(&name, SIZE_MAX / 2);
    envelope_device_name(&name, d->name);
    json_str(j, "name", buf_slice(&name));
    buf_end(&name, j->out);
    json_u64(j, "device", d->name.number);
    json_text(j, "kind", d->name.host ? "host" : "cuda");
    json_u64(j, "states", d->states);
    json_bool(j, "traced", d->traced);
    json_i64(j, "adjust_bytes", d->adjust_bytes);
    json_known(j, "capacity_bytes", d->capacity_bytes);
    json_u64(j, "clipped", clipped(d));
    const struct page_table *time = &d->table[PAGE_TIME];
    if (d->base_us == UNKNOWN_U64 || (time->columns > 0 && !is_shown(time))) {
        json_null(j, "time");
    } else {
        json_line_object(j, "time");
        json_u64(j, "base_us", d->base_us);
        json_u64(j, "unit_us", 1);
        json_close(j);
    }
    put_window(j, d);
    put_lists(j, d);
    put_checks(j, d);
    page_put_answer(j, report);
    page_put_oom(j, d, report->sections);
    page_put_leaks(j, report->sections);
    page_put_tables(j, d->table, page_table_names, PAGE_TABLES);
}

/* JSON has these characters only inside strings, where an escape means the same. */
void page_put_harmless(struct buf *to, str json)
{
    for (size_t i = 0; i < json.len; i++) {
        char c = json.ptr[i];
        if (c == '<' || c == '>' || c == '&')
            buf_format(to, "\\u%04x", (unsigned)c);
        else if ((unsigned char)c == 0xe2 && json.len - i > 2 &&
                 (unsigned char)json.ptr[i + 1] == 0x80 &&
                 ((unsigned char)json.ptr[i + 2] & 0xfe) == 0xa8) {
            buf_format(to, "\\u20%02x", (unsigned char)json.ptr[i + 2] == 0xa8 ? 0x28u : 0x29u);
            i += 2;
        } else {
            buf_char(to, c);
        }
    }
}

static void put_report(struct buf *to, const struct page *v, const struct page_file *file)
{
    struct render_options options = { .tool = v->tool };
    struct out out = out_into(to);
    file->report->kind->form[ANSWER_JSON](&out, file->report, false, &options);
    out_into_end(&out);
}

static void put_file(struct buf *to, const struct page *v, const struct page_file *file)
{
    struct json j;
    buf_text(to, "{ \"report\": ");
    put_report(to, v, file);
    if (!file->report->report[0].file.origin.complete)
        buf_format(to, ", \"cut_at_byte\": %llu",
                   (unsigned long long)file->report->report[0].file.origin.cut_offset);
    buf_text(to, ", \"devices\": [");
    for (uint32_t d = 0; d < file->devices; d++) {
        buf_text(to, d == 0 ? "" : ", ");
        json_start(&j, to);
        json_object(&j, NULL);
        put_device(&j, &file->device[d], &file->report->report[0].device[d]);
        json_close(&j);
        json_finish(&j);
    }
    buf_text(to, "] }");
}

static void put_options(struct buf *to, const struct page *v)
{
    struct json j;
    json_start(&j, to);
    json_object(&j, NULL);
    json_text(&j, "editor", v->editor);
    json_text(&j, "editor_path", v->editor_path);
    json_close(&j);
    json_finish(&j);
}

static void put_left_out(struct buf *to, const struct page *v)
{
    struct json j;
    json_start(&j, to);
    json_line_array(&j, NULL);
    for (int i = PAGE_NEEDED + 1; i < PAGE_SPARES; i++)
        if (v->left_out[i])
            json_text(&j, NULL, page_spare_words[i]);
    json_close(&j);
    json_finish(&j);
}

static void put_source(struct buf *to, const struct page *v)
{
    struct json j;
    json_start(&j, to);
    json_line_array(&j, NULL);
    for (uint32_t i = 0; i < v->lines.of.len; i++)
        page_line_put(&j, &v->lines.of.at[i]);
    json_close(&j);
    json_finish(&j);
}

void page_head(struct buf *to, const struct page *v)
{
    struct buf json;
    buf_init(&json, SIZE_MAX / 2);
    buf_format(&json, "{ \"schema\": \"vramscope.view/1\", \"tool\": \"%s\", \"files\": [",
               v->tool);
    for (uint32_t i = 0; i < v->files; i++) {
        buf_text(&json, i == 0 ? "" : ", ");
        put_file(&json, v, &v->file[i]);
    }
    buf_text(&json, "], \"options\": ");
    put_options(&json, v);
    buf_text(&json, ", \"left_out\": ");
    put_left_out(&json, v);
    buf_text(&json, ", \"source\": ");
    put_source(&json, v);
    page_many_head(&json, v);
    buf_text(&json, "}\n");
    page_put_harmless(to, buf_slice(&json));
    buf_end(&json, to);
}
