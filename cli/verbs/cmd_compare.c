/* cmd_compare.c - vramscope compare. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "command.h"
#include "help.h"
#include "inputs.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "pair.h"
#include "vramscope/measurement.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

struct compare_settings {
    struct common common;
    const char *fail_over;
    struct vrs_fail_over limit; /* of `fail_over` */
    struct option_list again;
    struct vrs_comparable repeat[VRS_REPEATS_MOST]; /* of `again`, opened */
    uint32_t repeats;
};

#define IN(member) offsetof(struct compare_settings, member)

static const struct option_spec options[] = {
    { 0, "fail-over", "LIMIT",
      "exit with 1 where B's median step or call is above A's by more than a time, as 5ms, or a "
      "share of A's, as 5%, whether or not that is more than the noise",
      OPTION_TEXT, IN(fail_over), NULL },
    { 0, "again", "FILE",
      "another measurement of A's program, unchanged: what its medians differ by from A's is noise "
      "too; may be repeated, 16 at most",
      OPTION_LIST, IN(again), NULL },
    OPTION_ROWS("show at most COUNT rows of each table (default: of traces 10, of measurements "
                "all; in JSON all)"),
    OPTION_CSV("the times of measurements, the operators of traces"),
    { 0, "limit", "NAME=VALUE",
      "raise a limit on what a file may contain: nesting, string, strings, items, unpacked",
      OPTION_LIMIT, IN(common.limits), "nesting= string= strings= items= unpacked=" },
    { 0 },
};

/* The limit of --fail-over, which is none of bytes: nothing here has a size. */
static bool read_limit(struct compare_settings *s)
{
    return s->fail_over == NULL ||
           (vrs_read_fail_over(s->fail_over, &s->limit) && s->limit.bytes == 0);
}

/* The repeats of `a`, opened; EXIT_DONE, else it has said why not. */
static int open_repeat(struct compare_settings *s, const char *path, const char *a)
{
    struct vrs_comparable *opened = &s->repeat[s->repeats];
    struct vrs_error err;
    if (!input_is_named(path))
        return EXIT_USAGE;
    if (strcmp(path, "-") == 0) {
        message("--again takes the name of a file, not standard input");
        return EXIT_USAGE;
    }
    if (input_is_folder(path)) {
        message("%s is a folder; --again takes the file of a measurement", path);
        return EXIT_USAGE;
    }
    if (a != NULL && strcmp(path, a) == 0) {
        message("%s is A itself; --again takes another measurement of A's program", path);
        return EXIT_USAGE;
    }
    if (output_replaces("-o", s->common.output, path))
        return EXIT_USAGE;
    enum vrs_status status = answer_open_comparable(&s->common, path, true, opened, &err);
    if (status != VRS_OK) {
        message_failure(path, &err);
        return failure_exit(status);
    }
    s->repeats++;
    if (opened->measurement != NULL)
        return EXIT_DONE;
    message("%s is a %s, and --again takes a measurement of A's program%s", path,
            opened->trace != NULL ? "profiler trace" : "memory snapshot",
            opened->trace != NULL ? "; traces are compared by their steps" : "");
    return EXIT_USAGE;
}

static int open_repeats(struct compare_settings *s, const char *a)
{
    int exit_status = EXIT_DONE;
    if (s->again.count > VRS_REPEATS_MOST) {
        message("--again may be given %d times at most, not %u", VRS_REPEATS_MOST,
                (unsigned)s->again.count);
        return EXIT_USAGE;
    }
    for (uint32_t i = 0; exit_status == EXIT_DONE && i < s->again.count; i++)
        exit_status = open_repeat(s, s->again.at[i], a);
    return exit_status;
}

static void close_repeats(struct compare_settings *s)
{
    for (uint32_t i = 0; i < s->repeats; i++)
        vrs_close_comparable(&s->repeat[i]);
}

static enum vrs_status refuse_again(struct vrs_error *err)
{
    snprintf(err->message, sizeof err->message,
             "--again is for measurements; A and B are profiler traces, which are compared by "
             "their steps");
    err->status = VRS_USAGE;
    err->offset = UINT64_MAX;
    return VRS_USAGE;
}

static enum vrs_status ask_traces(const struct vrs_trace *a, const char *a_path,
                                  const struct vrs_trace *b, const char *b_path,
                                  const void *settings, struct vrs_result **ret,
                                  struct vrs_error *err)
{
    const struct compare_settings *s = settings;
    if (s->repeats > 0)
        return refuse_again(err);
    const struct vrs_trace_diff_options o = { .size = sizeof o,
                                              .path = a_path,
                                              .b_path = b_path,
                                              .fail_over_ns = s->limit.ns,
                                              .fail_over_millionths = s->limit.millionths };
    return vrs_trace_diff(a, b, &o, ret, err);
}

static enum vrs_status ask_measurements(const struct vrs_measurement *a, const char *a_path,
                                        const struct vrs_measurement *b, const char *b_path,
                                        const void *settings, struct vrs_result **ret,
                                        struct vrs_error *err)
{
    const struct compare_settings *s = settings;
    const struct vrs_measurement *again[VRS_REPEATS_MOST];
    for (uint32_t i = 0; i < s->repeats; i++)
        again[i] = s->repeat[i].measurement;
    const struct vrs_compare_options o = { .size = sizeof o,
                                           .path = a_path,
                                           .b_path = b_path,
                                           .fail_over_ns = s->limit.ns,
                                           .fail_over_millionths = s->limit.millionths,
                                           .again = again,
                                           .again_paths = s->again.at,
                                           .again_count = s->repeats };
    return vrs_compare(a, b, &o, ret, err);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct compare_settings settings = { 0 };
    int files = 0, ended = EXIT_DONE;
    if (!verb_begins(self, argc, argv, &settings, &files, &ended))
        return ended;
    if (!read_limit(&settings)) {
        message("--fail-over takes a time, as 5ms, or a share of A's, as 5%%, not \"%s\"",
                settings.fail_over);
        return EXIT_USAGE;
    }
    const struct pair_question question = {
        .ask_traces = ask_traces,
        .ask_measurements = ask_measurements,
        .settings = &settings,
        .one_refused = "compare holds one file against another: name a FILE of before the change "
                       "and one of after it",
        .folder_refused = "compare takes two files, each a measurement or each a profiler trace",
    };
    int exit_status = open_repeats(&settings, files > 0 ? argv[0] : NULL);
    if (exit_status == EXIT_DONE)
        exit_status = answer_pair(self, &question, files, argv);
    close_repeats(&settings);
    return exit_status;
}

const struct command cmd_compare = {
    .name = "compare",
    .summary = "did a change help: two measurements or profiler traces",
    .synopsis = "[options] A B",
    .about = "A is from before the change, B from after it: the JSON of what\n"
             "measure_training() and its like gave in Python, of a diagnosis with such a\n"
             "measurement, or two profiler traces. B is called faster or slower where its\n"
             "median lies further from A's than the intervals of both reach, within noise\n"
             "where it does not, and no difference where all of that is within 1 %.\n"
             "An interval is of one run. What two runs of one program differ by is told by\n"
             "--again: A's program, measured once more.\n"
             "Two memory snapshots are for vramscope diff.\n"
             "Exit status: 0 done, 1 above the limit of --fail-over, 2 usage, 3 a file or\n"
             "the system failed, 130 interrupted.\n",
    .examples = "vramscope compare before.json after.json # two measurements\n"
                "vramscope compare --again before2.json before.json after.json # noise of runs\n"
                "vramscope compare before.trace.json.gz after.trace.json.gz # two traces\n"
                "vramscope compare --fail-over 5% before.json after.json # for CI\n",
    .options = { options, output_options },
    .run = run,
};
