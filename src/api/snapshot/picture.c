/* picture.c - a recording as one picture in a file. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/report/report.h"
#include "analysis/snapshot/study/moment.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "api/file.h"
#include "api/result.h"
#include "api/snapshot/report.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/file_facts.h"
#include "render/page/page.h"
#include "render/picture/picture_layout.h"
#include "render/picture/scene.h"
#include "render/write/out.h"
#include "vramscope/snapshot.h"

struct drawing {
    struct scene scene;
    struct picture_options options;
    bool svg;
    struct arena arena;
};

static uint32_t find_name(const char *name, const char *const *names, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && !str_equal(str_from(name), str_from(names[i])))
        i++;
    return i;
}

static enum vrs_status read_names(const struct vrs_picture_options *o, struct drawing *d,
                                  struct vrs_error *err)
{
    struct scene_options *read = &d->scene.asked;
    if (o->view != NULL)
        read->view = (enum scene_view)find_name(o->view, scene_view_names, SCENE_VIEWS);
    if (read->view == SCENE_VIEWS)
        return vrs_fail(err, VRS_USAGE, "a picture shows groups, stack or map, not \"%.40s\"",
                        o->view);
    if (o->by != NULL)
        read->by = (enum scene_by)find_name(o->by, scene_by_names, SCENE_BYS);
    if (read->by == SCENE_BYS)
        return vrs_fail(
            err, VRS_USAGE,
            "a picture is by category, line (or culprit), owner, module, site, file, function, "
            "phase, pool, stream, size, age, name or path, not \"%.40s\"",
            o->by);
    return VRS_OK;
}

static enum vrs_status read_moment(const char *text, bool *has, struct moment *ret,
                                   struct vrs_error *err)
{
    *has = text != NULL;
    return text == NULL ? VRS_OK : moment_parse(str_from(text), ret, err);
}

static enum vrs_status read_options(const struct vrs_picture_options *o, struct drawing *d,
                                    struct vrs_error *err)
{
    struct scene_options *read = &d->scene.asked;
    *d = (struct drawing){
        .options = { { o->width, o->height }, o->dark, o->detail },
        .svg = o->format == VRS_SVG,
    };
    if (o->format != VRS_SVG && o->format != VRS_PNG)
        return vrs_fail(err, VRS_USAGE, "a picture is VRS_SVG or VRS_PNG");
    if ((o->width == 0) != (o->height == 0))
        return vrs_fail(err, VRS_USAGE, "a size has a width and a height");
    TRY(read_names(o, d, err));
    if (o->detail && (!d->svg || read->view != SCENE_GROUPS))
        return vrs_fail(err, VRS_USAGE,
                        "detail works only with an SVG of groups; other pictures show every "
                        "allocation already");
    if (o->capacity_bytes > 0 && read->view == SCENE_MAP)
        return vrs_fail(err, VRS_USAGE,
                        "a capacity is a line over bytes in use, but a map shows addresses");
    read->capacity = (double)o->capacity_bytes;
    TRY(read_moment(o->at, &read->has_at, &read->at, err));
    TRY(read_moment(o->from, &read->has_from, &read->from, err));
    return read_moment(o->to, &read->has_to, &read->to, err);
}

enum vrs_status vrs_picture_check(const struct vrs_picture_options *options, struct vrs_error *err)
{
    struct vrs_picture_options o = { 0 };
    struct drawing ignored;
    options_take(&o, sizeof o, options);
    return read_options(&o, &ignored, err);
}

/* Whether the colours of its groups depend on the line that the report is about: names of some
 * groupings have no file in them, ever. */
static bool has_lines(const struct drawing *d)
{
    enum scene_by by = d->scene.asked.by;
    return by != SCENE_CATEGORY && by != SCENE_PHASE && by != SCENE_POOL && by != SCENE_STREAM &&
           by != SCENE_SIZE && by != SCENE_AGE;
}

static enum vrs_status take_device(struct drawing *d, const struct proven_study *proven,
                                   const struct report_device *report, struct vrs_error *err)
{
    str line = S("");
    const struct study *s = proven->study;
    struct scene_device *to = &d->scene.device[d->scene.devices];
    if (has_lines(d))
        TRY(page_wrong_line(report, &line, err));
    TRY(scene_take(&d->scene, proven, line, &d->arena, to, err));
    to->name = device_name_of(s->r, s->device);
    if (d->scene.asked.capacity > 0)
        to->capacity = to->name.host ? 0 : d->scene.asked.capacity;
    to->cursor_us = micros_after_first(s->r, s->device, (int64_t)to->cursor - 1);
    d->scene.devices++;
    return VRS_OK;
}

static enum vrs_status write_picture(struct drawing *d, const struct vrs_sink *sink,
                                     struct vrs_error *err)
{
    struct out out = { .write = sink->write, .arg = sink->arg };
    buf_init(&out.text, SIZE_MAX / 2);
    enum vrs_status status = d->svg ? picture_svg(&out, &d->scene, &d->options, err)
                                    : picture_png(&out, &d->scene, &d->options, err);
    return out_finish(&out, status, err);
}

static enum vrs_status draw(struct drawing *d, const struct vrs_recording *recording,
                            const struct vrs_picture_options *o, const struct vrs_sink *sink,
                            struct vrs_error *err)
{
    /* The page of trust is the report that needs a study and no analysis that rests on it; what
     * is wrong, which pictures that have lines show, is known to a whole one alone. */
    struct vrs_report_options report_options = {
        .size = sizeof report_options,
        .about = o->about,
        .trust = !has_lines(d),
    };
    struct kept_report *kept;
    d->scene.tool = vrs_version();
    d->scene.device =
        arena_array(&d->arena, struct scene_device, recording->model->devices.rows.len);
    if (d->scene.device == NULL)
        return vrs_no_memory(err);
    TRY(report_begin(recording, &report_options, false, &d->arena, &kept, err));
    const struct report *report = &report_answers(kept)->report[0];
    enum vrs_status status = VRS_OK;
    d->scene.file = report->file;
    for (uint32_t i = 0; i < report->devices && status == VRS_OK; i++)
        status = take_device(d, report_study(kept, i), &report->device[i], err);
    if (status == VRS_OK)
        status = write_picture(d, sink, err);
    report_end(kept);
    return status;
}

enum vrs_status vrs_picture(const struct vrs_recording *recording,
                            const struct vrs_picture_options *options, const struct vrs_sink *sink,
                            struct vrs_error *err)
{
    struct vrs_picture_options o = { 0 };
    struct drawing d;
    options_take(&o, sizeof o, options);
    TRY(read_options(&o, &d, err));
    arena_init(&d.arena, SIZE_MAX / 2);
    enum vrs_status status = draw(&d, recording, &o, sink, err);
    arena_free(&d.arena);
    return status;
}
