/* view.c - recordings as a page: the report of each, and the columns of its studies. */
#include "analysis/snapshot/report/units.h"
#include "api/result.h"
#include "api/snapshot/report.h"
#include "api/snapshot/view_pairs.h"
#include "render/page/source.h"
#include "render/page/window.h"
#include "render/snapshot/answers.h"
#include "render/write/base64.h"
#include "render/write/human.h"
#include "vramscope/snapshot.h"

struct make_context {
    const struct vrs_view_options *o;
    struct arena arena; /* what the head of the page says */
    struct page_chunks blocks;
    struct page_file *file;
    struct kept_report **report; /* of each file */
    uint32_t files;
    const struct vrs_recording *const *recording;
    uint32_t recordings;
    uint32_t **row; /* of each file's devices: that of the recording */
    struct answer_set joined;
    const struct ranks *ranks;
    /* of all devices; NULL: fewer than two can be compared */ /* all reports, to be compared */
    struct page_pair *pair;
    uint32_t pairs;
    struct moment from, to; /* of the events that are asked for */
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
    return step;
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

/* The events that were asked for, while their study lives. */
static enum vrs_status take_range(struct make_context *m, const struct study *s,
                                  struct page_device *d, struct vrs_error *err)
{
    struct page_parts parts = { m->file, m->files, NULL, 0, &m->blocks };
    int64_t from = -1, to = -1;
    TRY(page_events_between(s, &m->from, &m->to, &from, &to, err));
    struct page_window window = { (uint32_t)(from + 1), (uint32_t)(to + 1) };
    return page_window_take(&parts, d, window, s->threads, err);
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
        .peak_step = peak_step(s),
        .start_known = s->curves.of[CURVE_RESERVED].start_known,
    };
    TRY(name_lists(r, s, &m->arena, d, err));
    TRY(look_at_oom(proven, d, err));
    TRY(page_tables(proven, &m->blocks, d, err));
    return has_range(m) ? take_range(m, s, d, err) : VRS_OK;
}

static str path_of(const struct make_context *m, uint32_t file)
{
    const char *path = m->o->paths == NULL ? NULL : m->o->paths[file];
    return path == NULL ? m->recording[file]->path : str_from(path);
}

/* The name of a file, after as many of its folders as tell it from the others: folders are not for
 * those who are given the page. */
static str told_path(const struct make_context *m, uint32_t file)
{
    str path = path_of(m, file);
    size_t from = path.len - str_base_name(path).len;
    for (uint32_t i = 0; i < m->recordings; i++) {
        str other = path_of(m, i);
        size_t same = 0; /* bytes at the end of both */
        while (same < path.len && same < other.len &&
               path.ptr[path.len - same - 1] == other.ptr[other.len - same - 1])
            same++;
        if (same == path.len && same == other.len)
            continue; /* this file, or once more */
        size_t at = path.len - same;
        /* All of the other is the end of this one: it takes one folder more. */
        if (same == other.len && path.ptr[at - 1] == '/')
            at--;
        while (at > 0 && path.ptr[at - 1] != '/')
            at--;
        from = at < from ? at : from;
    }
    return (str){ path.ptr + from, path.len - from };
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
            if (m->joined.report[f].device[d].unit != NULL)
                unit[units++] = (struct page_unit){ m->recording[f], m->row[f][d], f, d,
                                                    &m->file[f].device[d] };
    }
    if (units < 2)
        return VRS_OK;
    TRY(units_compare(m->joined.report, m->files, &m->arena, &m->ranks, err));
    return view_pairs_make(unit, units, m->o, &m->blocks, &m->arena, &m->pair, &m->pairs, err);
}

static enum vrs_status take_all(struct make_context *m, struct vrs_error *err)
{
    m->file = arena_array(&m->arena, struct page_file, m->recordings);
    m->report = arena_array(&m->arena, struct kept_report *, m->recordings);
    m->row = arena_array(&m->arena, uint32_t *, m->recordings);
    if (m->file == NULL || m->report == NULL || m->row == NULL || !page_chunks_init(&m->blocks))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < m->recordings; i++)
        TRY(take_named(m, err));
    return compare_all(m, err);
}

/* How many states the page has of the device that it has most of. */
static uint32_t most_states(const struct make_context *m)
{
    uint32_t most = 0;
    for (uint32_t f = 0; f < m->files; f++)
        for (uint32_t i = 0; i < m->file[f].devices; i++) {
            const struct page_device *d = &m->file[f].device[i];
            uint32_t states = d->last_state - d->first_state + 1;
            most = states > most ? states : most;
        }
    return most;
}

/* A device that the page has a part of; `windows` counts them. */
static const struct page_device *first_window(const struct make_context *m, uint32_t *windows)
{
    const struct page_device *first = NULL;
    *windows = 0;
    for (uint32_t f = 0; f < m->files; f++)
        for (uint32_t i = 0; i < m->file[f].devices; i++) {
            const struct page_device *d = &m->file[f].device[i];
            if (!page_is_windowed(d))
                continue;
            first = first == NULL ? d : first;
            ++*windows;
        }
    return first;
}

/* State p is that after event p - 1. */
static void put_window(struct buf *text, const struct make_context *m)
{
    uint32_t windows = 0;
    const struct page_device *d = first_window(m, &windows);
    if (d == NULL)
        return;
    buf_text(text, "holds only the allocations that live in ");
    if (windows > 1)
        buf_format(text, "at most %u events of each device", (unsigned)most_states(m));
    else if (d->first_state == 0)
        buf_format(text, "the first %u of %u events", (unsigned)d->last_state,
                   (unsigned)(d->states - 1));
    else
        buf_format(text, "events %u to %u of %u", (unsigned)(d->first_state - 1),
                   (unsigned)(d->last_state - 1), (unsigned)(d->states - 1));
    buf_text(text, has_range(m) ? ", as requested, " : ", around the peak, ");
}

/* What the page has to be called for what it lacks. */
static enum vrs_status say_left_out(const struct make_context *m, const struct page *page,
                                    uint64_t bytes, struct vrs_error *err)
{
    struct buf text, window;
    bool any = false;
    buf_init(&text, SIZE_MAX / 2);
    buf_init(&window, SIZE_MAX / 2);
    put_window(&window, m);
    buf_text(&text, "the page ");
    for (uint32_t i = 0; i < PAGE_SPARES; i++) {
        if (!page->left_out[i])
            continue;
        buf_format(&text, "%s%s", any ? ", " : "goes without ", page_spare_words[i]);
        any = true;
    }
    if (any)
        buf_text(&text, window.len > 0 ? ", and " : ", ");
    buf_str(&text, buf_slice(&window));
    buf_text(&text, any || window.len > 0 ? "to stay under " : "is larger than ");
    human_known_bytes(&text, m->o->most_bytes);
    if (bytes > m->o->most_bytes) {
        buf_text(&text, "; it has ");
        human_known_bytes(&text, bytes);
        buf_text(&text, ", since no allocation of these events is left out");
    }
    buf_char(&text, '\0');
    enum vrs_status status = text.failed || window.failed ? vrs_no_memory(err) : VRS_OK;
    if (status == VRS_OK)
        m->o->note(m->o->note_arg, text.at);
    buf_free(&text);
    buf_free(&window);
    return status;
}

static enum vrs_status refuse_size(uint64_t least, struct vrs_error *err)
{
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    human_known_bytes(&text, least);
    enum vrs_status status =
        text.failed ? vrs_no_memory(err)
                    : vrs_fail(err, VRS_USAGE,
                               "no page of these events is smaller than %.*s; say --max-size %llu, "
                               "or more",
                               (int)text.len, text.at, (unsigned long long)least);
    buf_free(&text);
    return status;
}

/* Holds fewer and fewer events around the peak, until the page is small enough or shows too few.
 * What `bytes` are too many is taken to lie evenly over the events. */
static enum vrs_status narrow(struct make_context *m, struct page_parts *parts,
                              const struct page *page, uint64_t *bytes, struct vrs_error *err)
{
    uint32_t states = most_states(m);
    while (*bytes > m->o->most_bytes && states > PAGE_WINDOW_LEAST) {
        uint64_t spare = 0, excess = *bytes - m->o->most_bytes;
        for (uint32_t f = 0; f < m->files; f++)
            for (uint32_t d = 0; d < m->file[f].devices; d++)
                spare += base64_length((size_t)page_window_bytes(&m->file[f].device[d]));
        double share = excess < spare ? 0.98 * (double)(spare - excess) / (double)spare : 0;
        states = (uint32_t)(share * states);
        if (states < PAGE_WINDOW_LEAST)
            states = PAGE_WINDOW_LEAST;
        for (uint32_t f = 0; f < m->files; f++)
            for (uint32_t i = 0; i < m->file[f].devices; i++) {
                struct page_device *d = &m->file[f].device[i];
                struct page_window window = page_window_around(d, states);
                TRY(page_window_take(parts, d, window, m->recording[f]->threads, err));
            }
        TRY(page_bytes(page, bytes, err));
    }
    return VRS_OK;
}

/* Leaves out what is needed least until the page is small enough. */
static enum vrs_status fit(struct make_context *m, struct page *page, struct vrs_error *err)
{
    struct page_parts parts = { m->file, m->files, m->pair, m->pairs, &m->blocks };
    uint64_t most = m->o->most_bytes, bytes = 0;
    bool any = false;
    if (most == 0)
        return VRS_OK;
    TRY(page_bytes(page, &bytes, err));
    for (uint32_t next = 0; next < PAGE_SPARES && bytes > most; next++) {
        any = true;
        if (next == PAGE_SPARES_BEFORE_EVENTS && !has_range(m))
            TRY(narrow(m, &parts, page, &bytes, err));
        if (bytes <= most)
            break;
        page->left_out[next] = page_leave_out(&parts, (enum page_spare)next);
        if (page->left_out[next])
            TRY(page_bytes(page, &bytes, err));
    }
    if (bytes > most && !m->o->may_be_larger)
        return refuse_size(bytes, err);
    return any && m->o->note != NULL ? say_left_out(m, page, bytes, err) : VRS_OK;
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
        .blocks = &m->blocks,
        .tool = vrs_version(),
        .editor = m->o->editor,
        .editor_path = m->o->editor_path,
    };
    TRY(fit(m, &page, err));
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
    struct make_context m = { .o = &o, .recording = recordings, .recordings = count };
    if (count == 0)
        return vrs_fail(err, VRS_USAGE, "a page needs a recording");
    TRY(moment_parse(str_from(o.from == NULL ? "start" : o.from), &m.from, err));
    TRY(moment_parse(str_from(o.to == NULL ? "end" : o.to), &m.to, err));
    arena_init(&m.arena, SIZE_MAX / 2);
    enum vrs_status status = take_all(&m, err);
    if (status == VRS_OK)
        status = write_page(&m, sink, err);
    for (uint32_t i = 0; i < m.files; i++)
        report_end(m.report[i]);
    page_chunks_free(&m.blocks);
    arena_free(&m.arena);
    return status;
}
