/* view.c - recordings as a page: the report of each, and the columns of its studies. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/categories/categories.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/ranks/ranks.h"
#include "analysis/snapshot/report/report.h"
#include "analysis/snapshot/report/units.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/moment.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "api/file.h"
#include "api/result.h"
#include "api/snapshot/report.h"
#include "api/snapshot/view_pairs.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/file_facts.h"
#include "model/ids.h"
#include "model/recording.h"
#include "render/answer/answer.h"
#include "render/page/column.h"
#include "render/page/fit.h"
#include "render/page/lines.h"
#include "render/page/page.h"
#include "render/page/source.h"
#include "render/page/unread.h"
#include "render/page/window.h"
#include "render/snapshot/answers.h"
#include "render/write/out.h"
#include "vramscope/snapshot.h"

struct make_context {
    const struct vrs_view_options *o;
    struct arena arena; /* what the head of the page says */
    struct page_chunks chunks;
    struct page_file *file;
    struct kept_report **report; /* of each file */
    uint32_t files;
    const struct vrs_recording *const *recording;
    uint32_t recordings;
    uint32_t **row;            /* of each file's devices: that of the recording */
    struct answer_set joined;  /* all reports, to be compared */
    const struct ranks *ranks; /* of all devices; NULL: fewer than two can be compared */
    struct page_pair *pair;
    uint32_t pairs;
    struct page_lines lines; /* of all files; without texts where nobody gives them */
    struct report_set unread;
    struct moment from, to;  /* of the events that are asked for */
};

static enum vrs_status name_lists(const struct recording *r, const struct study *s,
                                  struct arena *arena, struct page_device *d, struct vrs_error *err)
{
    d->streams = r->streams.rows.len;
    d->pools = r->pools.rows.len;
    d->rules = s->categories.rules;
    uint64_t *stream = arena_array(arena, uint64_t, d->streams);
    uint64_t(*pool)[2] = arena_take_array(arena, d->pools, sizeof *pool);
    d->rule = category_rule_names(&s->categories, arena);
    if (stream == NULL || pool == NULL || d->rule == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < d->streams; i++)
        stream[i] = r->streams.handle[i];
    for (uint32_t i = 0; i < d->pools; i++) {
        pool[i][0] = r->pools.first[i];
        pool[i][1] = r->pools.second[i];
    }
    d->stream = stream;
    d->pool = (const uint64_t(*)[2])pool;
    return VRS_OK;
}

/* The step that holds the requested peak; 0: none. */
static uint32_t peak_step(const struct study *s)
{
    int64_t peak = s->curves.of[CURVE_REQUESTED].peak_event;
    uint32_t step = 0;
    if (s->steps.source == STEPS_NONE || peak < 0 || peak > (int64_t)s->steps.end_event)
        return 0;
    while (step < s->steps.count && s->steps.boundary[step].event <= peak)
        step++;
    return step != 0 && peak > (int64_t)s->steps.boundary[step - 1].end_event ? 0 : step;
}

/* Where memory lay when a request failed last, which lives as long as the report. */
static enum vrs_status look_at_oom(const struct proven_study *proven, struct page_device *d,
                                   struct vrs_error *err)
{
    const struct study *s = proven->study;
    const struct recording *r = s->r;
    const uint8_t *action = r->events.action + r->devices.first_event[s->device];
    struct fragments *found = NULL;
    uint32_t i = s->events;
    while (i > 0 && action[i - 1] != ACTION_OOM)
        i--;
    if (i > 0)
        TRY(fragments_compute(proven, (int64_t)i - 1, &found, err));
    d->at_oom = found;
    return VRS_OK;
}

static bool has_range(const struct make_context *m)
{
    return m->o->from != NULL || m->o->to != NULL;
}

/* The events that were asked for. */
static enum vrs_status take_range(struct make_context *m, const struct study *s,
                                  struct page_device *d, struct vrs_error *err)
{
    int64_t from = -1, to = -1;
    TRY(page_events_between(s, &m->from, &m->to, &from, &to, err));
    return page_window_take(d, (struct page_window){ (uint32_t)(from + 1), (uint32_t)(to + 1) },
                            err);
}

static enum vrs_status take_device(struct make_context *m, struct page_file *file,
                                   const struct proven_study *proven, struct vrs_error *err)
{
    const struct study *s = proven->study;
    const struct recording *r = s->r;
    m->row[m->files - 1][file->devices] = s->device;
    struct page_device *d = &file->device[file->devices++];
    uint64_t first =
        s->events == 0 ? UNKNOWN_U64 : r->events.time_us[r->devices.first_event[s->device]];
    *d = (struct page_device){
        .name = device_name_of(r, s->device),
        .states = s->events + 1,
        .last_state = s->events,
        .base_us = first,
        .capacity_bytes = UNKNOWN_U64,
        .traced = s->traced,
        .compared = m->recordings > 1 || r->devices.rows.len > 1,
        .peak_step = peak_step(s),
        .start_known = s->curves.of[CURVE_RESERVED].start_known,
    };
    TRY(name_lists(r, s, &m->arena, d, err));
    TRY(look_at_oom(proven, d, err));
    TRY(page_tables(proven, &m->chunks, d, err));
    if (m->o->line_text != NULL)
        TRY(page_lines_add(d, &m->lines, err));
    return has_range(m) ? take_range(m, s, d, err) : VRS_OK;
}

static str path_of(const struct make_context *m, uint32_t file)
{
    const char *path = m->o->paths == NULL ? NULL : m->o->paths[file];
    return path == NULL ? m->recording[file]->path : str_from(path);
}

/* Where in `path` that begins which tells it from another file. */
static size_t told_from(str path, str other)
{
    size_t same = 0; /* bytes at the end of both */
    while (same < path.len && same < other.len &&
           path.ptr[path.len - same - 1] == other.ptr[other.len - same - 1])
        same++;
    if (same == path.len && same == other.len)
        return path.len; /* this file, or once more */
    size_t at = path.len - same;
    /* All of the other is the end of this one: it takes one folder more. */
    if (same == other.len && path.ptr[at - 1] == '/')
        at--;
    while (at > 0 && path.ptr[at - 1] != '/')
        at--;
    return at;
}

/* The name of a file, after as many of its folders as tell it from the others: folders are not for
 * those who are given the page. */
static str told(const struct make_context *m, str path)
{
    size_t from = path.len - str_base_name(path).len;
    for (uint32_t i = 0; i < m->recordings + m->o->unreads; i++) {
        bool read = i < m->recordings;
        size_t at = told_from(path, read ? path_of(m, i)
                                         : str_from(m->o->unread[i - m->recordings].path));
        from = at < from ? at : from;
    }
    return (str){ path.ptr + from, path.len - from };
}

static str told_path(const struct make_context *m, uint32_t file)
{
    return told(m, path_of(m, file));
}

/* What the page says of files that could not be read. */
static enum vrs_status take_unread(struct make_context *m, struct vrs_error *err)
{
    struct unread_file *file = arena_array(&m->arena, struct unread_file, m->o->unreads);
    if (file == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < m->o->unreads; i++) {
        const struct vrs_unread_file *one = &m->o->unread[i];
        file[i].path = result_text(&m->arena, told(m, str_from(one->path)));
        file[i].why = result_text(&m->arena, str_from(one->why));
        if (file[i].path.ptr == NULL || file[i].why.ptr == NULL)
            return vrs_no_memory(err);
    }
    m->unread = (struct report_set){ .unread = file, .unreads = m->o->unreads };
    return VRS_OK;
}

static enum vrs_status take_file(struct make_context *m, struct vrs_error *err)
{
    const struct vrs_recording *recording = m->recording[m->files];
    uint32_t devices = recording->model->devices.rows.len;
    struct vrs_report_options o = {
        .size = sizeof o,
        .about = { told_path(m, m->files).ptr, m->o->user_root, m->o->library, m->o->device },
    };
    struct page_file *file = &m->file[m->files];
    file->device = arena_array(&m->arena, struct page_device, devices);
    m->row[m->files] = arena_array(&m->arena, uint32_t, devices);
    if (file->device == NULL || m->row[m->files] == NULL)
        return vrs_no_memory(err);
    struct kept_report **kept = &m->report[m->files];
    TRY(report_begin(recording, &o, m->recordings > 1, &m->arena, kept, err));
    file->report = report_answers(*kept);
    m->files++;
    for (uint32_t i = 0; i < file->report->report[0].devices; i++)
        TRY(take_device(m, file, report_study(*kept, i), err));
    return VRS_OK;
}

/* The same; of several files a complaint says which. */
static enum vrs_status take_named(struct make_context *m, struct vrs_error *err)
{
    struct vrs_error why;
    uint32_t file = m->files;
    enum vrs_status status = take_file(m, &why);
    if (status == VRS_USAGE && m->recordings > 1)
        return vrs_fail(err, status, "%s: %s", told_path(m, file).ptr, why.message);
    if (status != VRS_OK && err != NULL)
        *err = why;
    return status;
}

/* All devices that hold memory, beside each other. */
static enum vrs_status compare_all(struct make_context *m, struct vrs_error *err)
{
    uint32_t units = 0, devices = 0;
    for (uint32_t f = 0; f < m->files; f++)
        devices += m->file[f].devices;
    struct page_unit *unit = arena_array(&m->arena, struct page_unit, devices);
    m->joined = (struct answer_set){
        .kind = &report_answer,
        .count = m->files,
        .report = arena_array(&m->arena, struct report, m->files),
    };
    if (unit == NULL || m->joined.report == NULL)
        return vrs_no_memory(err);
    for (uint32_t f = 0; f < m->files; f++) {
        m->joined.report[f] = m->file[f].report->report[0];
        for (uint32_t d = 0; d < m->file[f].devices; d++)
            if (m->joined.report[f].device[d].summary != NULL)
                unit[units++] = (struct page_unit){ m->recording[f], m->row[f][d], f, d,
                                                    &m->file[f].device[d] };
    }
    if (units < 2)
        return VRS_OK;
    TRY(units_compare(m->joined.report, m->files, &m->arena, &m->ranks, err));
    return view_pairs_make(unit, units, m->o, &m->chunks, &m->arena, &m->pair, &m->pairs, err);
}

static enum vrs_status take_all(struct make_context *m, struct vrs_error *err)
{
    m->file = arena_array(&m->arena, struct page_file, m->recordings);
    m->report = arena_array(&m->arena, struct kept_report *, m->recordings);
    m->row = arena_array(&m->arena, uint32_t *, m->recordings);
    if (m->file == NULL || m->report == NULL || m->row == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < m->recordings; i++)
        TRY(take_named(m, err));
    TRY(compare_all(m, err));
    TRY(take_unread(m, err));
    if (m->o->line_text == NULL)
        return VRS_OK;
    return page_lines_read(&m->lines, m->o->line_text, m->o->line_text_arg, &m->arena, err);
}

static enum vrs_status write_page(struct make_context *m, const struct vrs_sink *sink,
                                  struct vrs_error *err)
{
    struct out out = { .write = sink->write, .arg = sink->arg };
    struct page page = {
        .file = m->file,
        .files = m->files,
        .pair = m->pair,
        .pairs = m->pairs,
        .ranks = m->ranks,
        .chunks = &m->chunks,
        .tool = vrs_version(),
        .editor = m->o->editor,
        .editor_path = m->o->editor_path,
        .lines = m->lines,
        .unread = m->unread,
    };
    struct page_limits limits = {
        .most_bytes = m->o->most_bytes,
        .may_be_larger = m->o->may_be_larger,
        .asked = has_range(m),
        .threads = m->recording[0]->threads,
        .note = m->o->note,
        .note_arg = m->o->note_arg,
    };
    TRY(page_fit(&page, &limits, err));
    buf_init(&out.text, SIZE_MAX / 2);
    page_write(&out, &page);
    return out_finish(&out, VRS_OK, err);
}

enum vrs_status vrs_view(const struct vrs_recording *const *recordings, uint32_t count,
                         const struct vrs_view_options *options, const struct vrs_sink *sink,
                         struct vrs_error *err)
{
    struct vrs_view_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct make_context m = {
        .o = &o, .recording = recordings, .recordings = count, .lines.of.max = UINT32_MAX
    };
    if (count == 0)
        return vrs_fail(err, VRS_USAGE, "a page needs a recording");
    TRY(moment_parse(str_from(o.from == NULL ? "start" : o.from), &m.from, err));
    TRY(moment_parse(str_from(o.to == NULL ? "end" : o.to), &m.to, err));
    arena_init(&m.arena, SIZE_MAX / 2);
    page_chunks_init(&m.chunks);
    enum vrs_status status = take_all(&m, err);
    if (status == VRS_OK)
        status = write_page(&m, sink, err);
    for (uint32_t i = 0; i < m.files; i++) {
        for (uint32_t d = 0; d < m.file[i].devices; d++)
            page_tables_end(&m.file[i].device[d]);
        report_end(m.report[i]);
    }
    vec_free(&m.lines.of);
    page_chunks_free(&m.chunks);
    arena_free(&m.arena);
    return status;
}

enum vrs_status vrs_view_unread(const char *path, const struct vrs_error *why, const char *index,
                                const struct vrs_sink *sink, struct vrs_error *err)
{
    struct out out = { .write = sink->write, .arg = sink->arg };
    buf_init(&out.text, SIZE_MAX / 2);
    page_unread(&out.text, str_from(path), why, index);
    return out_finish(&out, VRS_OK, err);
}
