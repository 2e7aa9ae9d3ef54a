/* cmd_diagnose.c - vramscope diagnose. */
#include <stddef.h>
#include <stdint.h>

#include "answer.h"
#include "command.h"
#include "options.h"
#include "vramscope/trace.h"

struct diagnose_settings {
    struct common common;
    struct option_list thresholds;
};

static const struct option_spec options[] = {
    { 0, "threshold", "NAME=VALUE",
      "compare with VALUE in rules, instead of the threshold's own; may be repeated", OPTION_LIST,
      offsetof(struct diagnose_settings, thresholds), NULL },
    { 0, "limit", "NAME=VALUE",
      "raise a limit on what a file may contain: nesting, string, strings, items, unpacked",
      OPTION_LIMIT, offsetof(struct common, limits), "nesting= string= strings= items= unpacked=" },
    { 0 },
};

static struct vrs_trace_options options_of(const struct diagnose_settings *s, const char *path)
{
    return (struct vrs_trace_options){ .size = sizeof(struct vrs_trace_options),
                                       .path = path,
                                       .sections = VRS_TRACE_METHOD,
                                       .thresholds = s->thresholds.at,
                                       .threshold_count = s->thresholds.count };
}

static enum vrs_status ask(const struct vrs_recording *recording, const char *path,
                           const void *settings, struct vrs_result **ret, struct vrs_error *err)
{
    (void)recording;
    (void)path;
    (void)settings;
    (void)ret;
    *err = (struct vrs_error){ VRS_UNSUPPORTED, UINT64_MAX,
                               "a memory snapshot, which has no times of work; vramscope report "
                               "says what it tells, and diagnose is for profiler traces" };
    return VRS_UNSUPPORTED;
}

static enum vrs_status ask_trace(const struct vrs_trace *trace, const char *path,
                                 const void *settings, struct vrs_result **ret,
                                 struct vrs_error *err)
{
    struct vrs_trace_options o = options_of(settings, path);
    return vrs_trace_report(trace, &o, ret, err);
}

static enum vrs_status check(const void *settings, struct vrs_error *err)
{
    struct vrs_trace_options o = options_of(settings, NULL);
    return vrs_trace_report_check(&o, err);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct diagnose_settings settings = { 0 };
    struct verb_question question = {
        .ask = ask, .ask_trace = ask_trace, .check = check, .settings = &settings
    };
    return answer_run(self, &question, argc, argv);
}

const struct command cmd_diagnose = {
    .name = "diagnose",
    .summary = "what slows training down, in four phases, from a profiler trace",
    .synopsis = "[options] FILE...",
    .about = "Goes through the method in its order: the baseline, the kind of bottleneck, the\n"
             "component (phases and modules), the operation; then says what to change and what\n"
             "that gains at most, what was not recorded and how to record it, and the command\n"
             "that proves a change.  Exit status: 0 done, 2 usage, 3 a file or the system\n"
             "failed, 130 interrupted.\n",
    .examples = "vramscope diagnose run.pt.trace.json.gz # one page: what to change first\n"
                "vramscope diagnose --json run.pt.trace.json.gz # for programs: bottleneck.kind\n"
                "vramscope diff run.pt.trace.json.gz after.pt.trace.json.gz # did it help?\n",
    .options = { options, output_options },
    .run = run,
};
