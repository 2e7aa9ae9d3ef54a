/* write.c - results as bytes. */
#include "api/result.h"
#include "render/render.h"
#include "render/snapshot_pickle.h"

enum { WIDTH_DEFAULT = 80 };

typedef void renderer(struct out *out, const struct answer_set *set, bool several,
                      const struct render_options *options);

static renderer *const renderers[][2] = {
    [RESULT_REPORT] = { [VRS_TEXT] = report_text, [VRS_JSON] = report_json },
    [RESULT_PEAK] = { [VRS_TEXT] = peak_text, [VRS_JSON] = peak_json },
    [RESULT_REPLAY] = { [VRS_TEXT] = replay_text, [VRS_JSON] = replay_json },
};

enum vrs_status vrs_write(const struct vrs_result *result, const struct vrs_write_options *options,
                          const struct vrs_sink *sink, struct vrs_error *err)
{
    struct vrs_write_options o = { 0 };
    options_take(&o, sizeof o, options);
    if (o.format == VRS_SNAPSHOT && result->run == NULL)
        return vrs_fail(err, VRS_USAGE,
                        "this answer keeps no run; only vrs_replay with keep_run does");
    if (o.format != VRS_TEXT && o.format != VRS_JSON && o.format != VRS_SNAPSHOT)
        return vrs_fail(err, VRS_USAGE,
                        "there is no format %d; VRS_TEXT, VRS_JSON and VRS_SNAPSHOT are written",
                        (int)o.format);
    struct render_options render = {
        .style = { o.width == 0 ? WIDTH_DEFAULT : o.width, o.colour, o.ascii },
        .picture = o.picture,
        .stacks = o.stacks,
        .rows = o.rows,
        .tool = vrs_version(),
    };
    struct out out = { .write = sink->write, .arg = sink->arg };
    buf_init(&out.text, SIZE_MAX / 2);
    enum vrs_status status = VRS_OK;
    if (o.format == VRS_SNAPSHOT)
        status = snapshot_pickle(&out, result->run, err);
    else
        renderers[result->set.kind][o.format](&out, &result->set, result->several, &render);
    out_flush(&out, 0);
    bool memory = out.text.failed, refused = out.refused;
    buf_free(&out.text);
    TRY(status);
    if (memory)
        return vrs_no_memory(err);
    return refused ? vrs_fail(err, VRS_IO, "the output could not be written") : VRS_OK;
}
