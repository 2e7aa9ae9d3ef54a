/* write.c - results as bytes. */
#include <stddef.h>
#include <stdint.h>

#include "api/file.h"
#include "api/result.h"
#include "base/buf.h"
#include "base/fail.h"
#include "render/answer/answer.h"
#include "render/export/snapshot_pickle.h"
#include "render/write/out.h"
#include "vramscope/vramscope.h"

enum { WIDTH_DEFAULT = 80 };

/* The forms of answers by the public name; a snapshot is none of them. */
static const enum answer_form forms[] = {
    [VRS_TEXT] = ANSWER_TEXT,      [VRS_JSON] = ANSWER_JSON,   [VRS_CSV] = ANSWER_CSV,
    [VRS_SNAPSHOT] = ANSWER_FORMS, [VRS_JUNIT] = ANSWER_JUNIT, [VRS_MARKDOWN] = ANSWER_MARKDOWN,
    [VRS_SARIF] = ANSWER_SARIF,
};
enum { FORMATS = sizeof forms / sizeof *forms };

enum vrs_status vrs_write(const struct vrs_result *result, const struct vrs_write_options *options,
                          const struct vrs_sink *sink, struct vrs_error *err)
{
    struct vrs_write_options o = { 0 };
    options_take(&o, sizeof o, options);
    if (o.format == VRS_SNAPSHOT && result->run == NULL)
        return vrs_fail(err, VRS_USAGE,
                        "this answer keeps no run; only vrs_replay with keep_run does");
    if ((unsigned)o.format >= FORMATS)
        return vrs_fail(err, VRS_USAGE, "there is no format %d; enum vrs_format has them",
                        (int)o.format);
    answer_renderer *render_as =
        o.format == VRS_SNAPSHOT ? NULL : result->set.kind->form[forms[o.format]];
    if (o.format != VRS_SNAPSHOT && render_as == NULL)
        return vrs_fail(err, VRS_USAGE,
                        "this answer has no such format; VRS_TEXT, VRS_JSON "
                        "and VRS_CSV are of all");
    struct render_options render = {
        .style = { o.width == 0 ? WIDTH_DEFAULT : o.width, o.colour, o.ascii, o.device },
        .picture = o.picture,
        .stacks = o.stacks || o.all_frames,
        .all_frames = o.all_frames,
        .all_ranks = o.all_ranks,
        .rows = o.rows,
        .tool = vrs_version(),
        .note = o.note,
        .note_arg = o.note_arg,
    };
    struct out out = { .write = sink->write, .arg = sink->arg };
    buf_init(&out.text, SIZE_MAX / 2);
    enum vrs_status status = VRS_OK;
    if (o.format == VRS_SNAPSHOT)
        status = snapshot_pickle(&out, result->run, err);
    else
        render_as(&out, &result->set, result->several, &render);
    return out_finish(&out, status, err);
}
