/* view.c - recordings as a page: the report of each, and while its studies live, its columns. */
#include "render/view.h"
#include "api/report.h"
#include "api/result.h"
#include <string.h>

struct making {
    const struct vrs_view_options *o;
    struct arena arena; /* what the head of the page says */
    struct view_blocks blocks;
    struct view_file *file;
    struct vrs_result **report; /* of each file */
    uint32_t files;
};

static enum vrs_status name_lists(const struct recording *r, const struct study *s,
                                  struct arena *arena, struct view_device *d, struct vrs_error *err)
{
    d->streams = r->streams.rows.len;
    d->pools = r->pools.rows.len;
    d->rules = s->categories.rules;
    uint64_t *stream = arena_array(arena, uint64_t, d->streams);
    uint64_t(*pool)[2] = arena_take_array(arena, d->pools, sizeof *pool);
    const char **rule = arena_array(arena, const char *, d->rules);
    if (stream == NULL || pool == NULL || rule == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < d->streams; i++)
        stream[i] = r->streams.handle[i];
    for (uint32_t i = 0; i < d->pools; i++) {
        pool[i][0] = r->pools.first[i];
        pool[i][1] = r->pools.second[i];
    }
    for (uint32_t i = 0; i < d->rules; i++) {
        str kept = arena_copy(arena, str_from(s->categories.rule_names[i]));
        if (kept.ptr == NULL)
            return vrs_no_memory(err);
        rule[i] = kept.ptr;
    }
    d->stream = stream;
    d->pool = (const uint64_t(*)[2])pool;
    d->rule = rule;
    return VRS_OK;
}

static enum vrs_status take_device(void *arg, struct study *s, struct vrs_error *err)
{
    struct making *m = arg;
    const struct recording *r = s->r;
    struct view_file *file = &m->file[m->files];
    struct view_device *d = &file->device[file->devices++];
    uint64_t first =
        s->events == 0 ? UNKNOWN_U64 : r->events.time_us[r->devices.first_event[s->device]];
    *d = (struct view_device){
        .name = device_name_of(r, s->device),
        .states = s->events + 1,
        .base_us = first,
        .capacity_bytes = UNKNOWN_U64,
        .traced = s->traced,
        .start_known = s->curves.of[CURVE_RESERVED].start_known,
    };
    TRY(name_lists(r, s, &m->arena, d, err));
    return view_tables(s, &m->blocks, d, err);
}

/* The name of a file without its folders, which are not for those who are given the page. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL || slash[1] == '\0' ? path : slash + 1;
}

static enum vrs_status take_file(struct making *m, const struct vrs_recording *recording,
                                 const char *path, struct vrs_error *err)
{
    struct vrs_report_options o = {
        .size = sizeof o,
        .path = base_name(path == NULL ? recording->path.ptr : path),
        .user_root = m->o->user_root,
        .library = m->o->library,
        .device = m->o->device,
    };
    struct view_file *file = &m->file[m->files];
    file->device = arena_array(&m->arena, struct view_device, recording->model->devices.rows.len);
    if (file->device == NULL)
        return vrs_no_memory(err);
    TRY(report_make(recording, &o, take_device, m, &m->report[m->files], err));
    file->report = &m->report[m->files]->set;
    m->files++;
    return VRS_OK;
}

static enum vrs_status take_all(struct making *m, const struct vrs_recording *const *recordings,
                                uint32_t count, struct vrs_error *err)
{
    m->file = arena_array(&m->arena, struct view_file, count);
    m->report = arena_array(&m->arena, struct vrs_result *, count);
    if (m->file == NULL || m->report == NULL || !view_blocks_init(&m->blocks))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++)
        TRY(take_file(m, recordings[i], m->o->paths == NULL ? NULL : m->o->paths[i], err));
    return VRS_OK;
}

static enum vrs_status write_page(const struct making *m, const struct vrs_sink *sink,
                                  struct vrs_error *err)
{
    struct out out = { .write = sink->write, .arg = sink->arg };
    struct viewing viewing = {
        .file = m->file,
        .files = m->files,
        .blocks = &m->blocks,
        .tool = vrs_version(),
        .editor = m->o->editor,
        .editor_path = m->o->editor_path,
    };
    buf_init(&out.text, SIZE_MAX / 2);
    view_page(&out, &viewing);
    return out_finish(&out, VRS_OK, err);
}

enum vrs_status vrs_view(const struct vrs_recording *const *recordings, uint32_t count,
                         const struct vrs_view_options *options, const struct vrs_sink *sink,
                         struct vrs_error *err)
{
    struct vrs_view_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct making m = { .o = &o };
    if (count == 0)
        return vrs_fail(err, VRS_USAGE, "a page needs a recording");
    arena_init(&m.arena, SIZE_MAX / 2);
    enum vrs_status status = take_all(&m, recordings, count, err);
    if (status == VRS_OK)
        status = write_page(&m, sink, err);
    for (uint32_t i = 0; i < m.files; i++)
        vrs_result_free(m.report[i]);
    view_blocks_free(&m.blocks);
    arena_free(&m.arena);
    return status;
}
