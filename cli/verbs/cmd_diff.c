/* cmd_diff.c - vramscope diff. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "help.h"
#include "message.h"
#include "options.h"
#include "pair.h"
#include "vramscope/measurement.h"
#include "vramscope/snapshot.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

struct diff_settings {
    struct common common;
    const char *at, *to, *by, *weight, *key, *per, *fail_over;
    int64_t to_device;
    struct vrs_fail_over limit; /* of `fail_over` */
};

#define IN(member) offsetof(struct diff_settings, member)

static const struct option_spec options[] = {
    { 0, "at", "MOMENT",
      "the moment at which both are compared: an event's number, start, end, peak (default), "
      "oom:K, step:K or phase:NAME (its peak), 12.5s",
      OPTION_TEXT, IN(at), "start end peak oom" },
    { 0, "to", "MOMENT", "another moment for B; with one FILE, compare --at with this one",
      OPTION_TEXT, IN(to), "start end peak oom" },
    { 0, "by", "GROUP",
      "what a row is: stack (default), one place in the program on both sides; line (or culprit), "
      "owner or category, of which the stacks of each are added up; of traces what operators are "
      "matched by besides their names: shapes, module, phase, stack:FRAMES, such as shapes,module",
      OPTION_TEXT, IN(by), "stack line culprit owner category shapes module phase" },
    { 0, "weight", "WEIGHT",
      "live (default): bytes alive at the moment; alloc_bytes: bytes of all allocations up to it, "
      "or in step:K; allocs: the number of those; byte_events: bytes times the events that they "
      "live",
      OPTION_CHOICE, IN(weight), "live alloc_bytes allocs byte_events" },
    { 0, "key", "KEY",
      "what must be equal in the first stage of matching stacks: K0 (default) everything, K1 file, "
      "line and function, K2 file and function",
      OPTION_CHOICE, IN(key), "K0 K1 K2" },
    { 0, "per", "UNIT",
      "compare figures divided by the number of steps (step) or by the bytes of parameters "
      "(parameter_byte)",
      OPTION_CHOICE, IN(per), "step parameter_byte" },
    { 0, "to-device", "NUMBER", "the device of B (default: as in A)", OPTION_DEVICE, IN(to_device),
      NULL },
    { 0, "fail-over", "LIMIT",
      "exit with 1 where B's total is above A's by more than a size, as 512MiB, or a share of A's, "
      "as 5%; of traces B's median step, by a time, as 5ms, or a share",
      OPTION_TEXT, IN(fail_over), NULL },
    OPTION_ROWS("show at most COUNT rows (default 20, of traces 10, of measurements all; in JSON "
                "all)"),
    { 's', "stacks", NULL,
      "print the stacks of both sides under each row: frames of Python, the operator and the node "
      "of autograd",
      OPTION_FLAG, IN(common.stacks), NULL },
    OPTION_ALL_FRAMES,
    { 0, "replay", "WHEN",
      "replay the allocator, which finds the slack in blocks: auto (default, up to 200,000 "
      "events), always or never",
      OPTION_CHOICE, IN(common.replay), "auto always never" },
    OPTION_CSV("the lines that changed"),
    { 0 },
};

static struct vrs_diff_options options_of(const struct diff_settings *s)
{
    return (struct vrs_diff_options){
        .size = sizeof(struct vrs_diff_options),
        .about = { NULL, s->common.user_root, s->common.library, { s->common.device } },
        .b_device = { s->to_device },
        .at = s->at,
        .to = s->to,
        .by = s->by,
        .weight = s->weight,
        .key = s->key,
        .per = s->per,
        .fail_over_bytes = s->limit.bytes,
        .fail_over_millionths = s->limit.millionths,
        .threads = s->common.threads,
    };
}

static enum vrs_status refuse(struct vrs_error *err, const char *why)
{
    snprintf(err->message, sizeof err->message, "%s", why);
    err->status = VRS_USAGE;
    err->offset = UINT64_MAX;
    return VRS_USAGE;
}

static enum vrs_status ask(const struct vrs_recording *a, const char *a_path,
                           const struct vrs_recording *b, const char *b_path, const void *settings,
                           struct vrs_result **ret, struct vrs_error *err)
{
    const struct diff_settings *s = settings;
    struct vrs_diff_options o = options_of(s);
    if (s->limit.ns != 0)
        return refuse(err, "--fail-over takes a time for profiler traces and measurements; for "
                           "memory snapshots it takes a size or a share");
    o.about.path = a_path;
    o.b_path = b_path;
    return vrs_diff(a, b, &o, ret, err);
}

/* Which option is of snapshots alone; NULL: none that is there. */
static const char *snapshot_option(const struct diff_settings *s)
{
    return s->weight != NULL      ? "--weight"
           : s->key != NULL       ? "--key"
           : s->per != NULL       ? "--per"
           : s->to_device != 0    ? "--to-device"
           : s->common.device != 0 ? "--device"
           : s->common.replay != NULL ? "--replay"
           : s->common.stacks     ? "--stacks"
           : s->common.all_frames ? "--all-frames"
           : s->common.user_root != NULL ? "--user-root"
           : s->common.library != NULL   ? "--library"
                                         : NULL;
}

/* Refuses what the files, which are no snapshots, have no use for.  `option`: one of those that are
 * not of snapshots alone; NULL: none was given. */
static enum vrs_status refuse_options(const struct diff_settings *s, const char *option,
                                      const char *files, struct vrs_error *err)
{
    const char *of_snapshots = snapshot_option(s);
    char words[120];
    if (of_snapshots != NULL) {
        snprintf(words, sizeof words, "%s is for memory snapshots; A and B are %s", of_snapshots,
                 files);
        return refuse(err, words);
    }
    if (option != NULL) {
        snprintf(words, sizeof words, "%s cannot be used with %s, which A and B are", option,
                 files);
        return refuse(err, words);
    }
    if (s->limit.bytes != 0) {
        snprintf(words, sizeof words,
                 "--fail-over takes a size for memory snapshots; for %s it takes a time, as 5ms, "
                 "or a share",
                 files);
        return refuse(err, words);
    }
    return VRS_OK;
}

static enum vrs_status ask_traces(const struct vrs_trace *a, const char *a_path,
                                  const struct vrs_trace *b, const char *b_path,
                                  const void *settings, struct vrs_result **ret,
                                  struct vrs_error *err)
{
    const struct diff_settings *s = settings;
    enum vrs_status status = refuse_options(s, NULL, "profiler traces", err);
    if (status != VRS_OK)
        return status;
    struct vrs_trace_diff_options o = { .size = sizeof o,
                                        .path = a_path,
                                        .b_path = b_path,
                                        .at = s->at,
                                        .to = s->to,
                                        .fail_over_ns = s->limit.ns,
                                        .fail_over_millionths = s->limit.millionths,
                                        .by = s->by };
    return vrs_trace_diff(a, b, &o, ret, err);
}

static enum vrs_status ask_measurements(const struct vrs_measurement *a, const char *a_path,
                                        const struct vrs_measurement *b, const char *b_path,
                                        const void *settings, struct vrs_result **ret,
                                        struct vrs_error *err)
{
    const struct diff_settings *s = settings;
    const char *option = s->at != NULL   ? "--at"
                         : s->to != NULL ? "--to"
                         : s->by != NULL ? "--by"
                                         : NULL;
    enum vrs_status status = refuse_options(s, option, "measurements", err);
    if (status != VRS_OK)
        return status;
    struct vrs_compare_options o = { .size = sizeof o,
                                     .path = a_path,
                                     .b_path = b_path,
                                     .fail_over_ns = s->limit.ns,
                                     .fail_over_millionths = s->limit.millionths };
    return vrs_compare(a, b, &o, ret, err);
}

/* Steps of snapshots are counted from 1, those of traces are as in their names: which it is, shows
 * when the files are open. */
static bool step_of_trace(const char *moment)
{
    return moment != NULL && strcmp(moment, "step:0") == 0;
}

/* Likewise what rows are matched by. */
static bool by_of_traces(const char *by)
{
    const struct vrs_trace_diff_options words = { .size = sizeof words, .by = by };
    struct vrs_error err;
    return by != NULL && vrs_trace_diff_check(&words, &err) == VRS_OK;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct diff_settings settings = { 0 };
    int files = 0, ended = EXIT_DONE;
    if (!verb_begins(self, argc, argv, &settings, &files, &ended))
        return ended;
    struct vrs_error err;
    if (settings.fail_over != NULL &&
        !vrs_read_fail_over(settings.fail_over, &settings.limit)) {
        message("--fail-over takes a size, as 512MiB, a time, as 5ms, or a share of A's total, as "
                "5%%, not \"%s\"",
                settings.fail_over);
        return EXIT_USAGE;
    }
    struct vrs_diff_options words = options_of(&settings);
    words.at = step_of_trace(words.at) ? NULL : words.at;
    words.to = step_of_trace(words.to) ? NULL : words.to;
    words.by = by_of_traces(words.by) ? NULL : words.by;
    if (vrs_diff_check(&words, &err) != VRS_OK) {
        message("%s", err.message);
        return EXIT_USAGE;
    }
    struct pair_question question = { .ask = ask,
                                      .ask_traces = ask_traces,
                                      .ask_measurements = ask_measurements,
                                      .settings = &settings };
    if (settings.to == NULL && settings.to_device == 0)
        question.one_refused =
            "diff compares two recordings, or two moments of one: name another FILE, or "
            "--to MOMENT";
    return answer_pair(self, &question, files, argv);
}

const struct command cmd_diff = {
    .name = "diff",
    .summary = "what changed between two recordings, or two moments of one",
    .synopsis = "[options] A B",
    .about = "Deltas are B less A and add up to that of the totals. Sites are matched by\n"
             "their whole stacks, then by file, line and function of each frame, then\n"
             "without the line, then by likeness, which is shown with its score; what is\n"
             "left is new or gone.\n"
             "Of two profiler traces, or two steps of one, medians of a step are compared,\n"
             "row by row of the same name, and a change is called faster or slower only\n"
             "where it is more than noise. Two measurements are compared as by compare,\n"
             "which alone has --again.\n"
             "Exit status: 0 done, 1 above the limit of --fail-over, 2 usage, 3 a file or\n"
             "the system failed, 130 interrupted.\n",
    .examples = "vramscope diff before.pickle after.pickle # peak against peak\n"
                "vramscope diff run.pickle --at step:2 --to step:3 # two steps of one run\n"
                "vramscope diff a.pickle b.pickle --weight allocs --per step # churn\n"
                "vramscope diff a.trace.json.gz b.trace.json.gz # steps of two profiler traces\n"
                "vramscope diff main.pickle pr.pickle --fail-over 2% # for CI\n",
    .options = { options, input_options, output_options },
    .run = run,
};
