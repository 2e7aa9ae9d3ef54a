/* write.c - results as bytes. */
#include "api/result.h"
#include "render/answer/render.h"
#include "render/export/snapshot_pickle.h"

enum { WIDTH_DEFAULT = 80 };

typedef void renderer(struct out *out, const struct answer_set *set, bool several,
                      const struct render_options *options);

enum { FORMATS = VRS_SARIF + 1 };

static renderer *const renderers[RESULT_KINDS][FORMATS] = {
    [RESULT_REPORT] = { [VRS_TEXT] = report_text,
                        [VRS_JSON] = report_json,
                        [VRS_MARKDOWN] = report_markdown },
    [RESULT_PEAK] = { [VRS_TEXT] = peak_text, [VRS_JSON] = peak_json },
    [RESULT_REPLAY] = { [VRS_TEXT] = replay_text, [VRS_JSON] = replay_json },
    [RESULT_DIFF] = { [VRS_TEXT] = diff_text, [VRS_JSON] = diff_json },
    [RESULT_OOM] = { [VRS_TEXT] = oom_text, [VRS_JSON] = oom_json },
    [RESULT_LEAKS] = { [VRS_TEXT] = leaks_text, [VRS_JSON] = leaks_json },
    [RESULT_FRAGMENTS] = { [VRS_TEXT] = fragments_text, [VRS_JSON] = fragments_json },
    [RESULT_STEPS] = { [VRS_TEXT] = steps_text, [VRS_JSON] = steps_json },
    [RESULT_CATEGORIES] = { [VRS_TEXT] = categories_text, [VRS_JSON] = categories_json },
    [RESULT_ADVISE] = { [VRS_TEXT] = advise_text, [VRS_JSON] = advise_json },
    [RESULT_CHECK] = { [VRS_TEXT] = check_text,
                       [VRS_JSON] = check_json,
                       [VRS_JUNIT] = check_junit,
                       [VRS_MARKDOWN] = check_markdown,
                       [VRS_SARIF] = check_sarif },
};

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
    if (o.format != VRS_SNAPSHOT && renderers[result->set.kind][o.format] == NULL)
        return vrs_fail(err, VRS_USAGE,
                        "this answer has no such format; VRS_TEXT and VRS_JSON are "
                        "of all");
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
    return out_finish(&out, status, err);
}
