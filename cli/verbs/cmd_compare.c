/* cmd_compare.c - vramscope compare. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command.h"
#include "help.h"
#include "message.h"
#include "options.h"
#include "pair.h"
#include "vramscope/measurement.h"
#include "vramscope/trace.h"

struct compare_settings {
    struct common common;
    const char *fail_over;
    uint64_t fail_over_millionths; /* plus 1, as the next */
    int64_t fail_over_ns;
};

#define IN(member) offsetof(struct compare_settings, member)

static const struct option_spec options[] = {
    { 0, "fail-over", "LIMIT",
      "exit with 1 where B's median step or call is above A's by more than a time, as 5ms, or a "
      "share of A's, as 5%",
      OPTION_TEXT, IN(fail_over), NULL },
    OPTION_ROWS("of traces show at most COUNT rows (default 10; in JSON all)"),
    OPTION_CSV("the times of measurements, the operators of traces"),
    { 0, "limit", "NAME=VALUE",
      "raise a limit on what a file may contain: nesting, string, strings, items, unpacked",
      OPTION_LIMIT, IN(common.limits), "nesting= string= strings= items= unpacked=" },
    { 0 },
};

/* The limit of --fail-over; plus 1, since none at all is a limit too. */
static bool read_limit(struct compare_settings *s)
{
    uint64_t limit = 0;
    int64_t ns = 0;
    if (s->fail_over == NULL)
        return true;
    if (vrs_share(s->fail_over, &limit))
        s->fail_over_millionths = limit + 1;
    else if (vrs_duration(s->fail_over, &ns) && ns < INT64_MAX)
        s->fail_over_ns = ns + 1;
    else
        return false;
    return true;
}

static enum vrs_status ask_traces(const struct vrs_trace *a, const char *a_path,
                                  const struct vrs_trace *b, const char *b_path,
                                  const void *settings, struct vrs_result **ret,
                                  struct vrs_error *err)
{
    const struct compare_settings *s = settings;
    const struct vrs_trace_diff_options o = { .size = sizeof o,
                                              .path = a_path,
                                              .b_path = b_path,
                                              .fail_over_ns = s->fail_over_ns,
                                              .fail_over_millionths = s->fail_over_millionths };
    return vrs_trace_diff(a, b, &o, ret, err);
}

static enum vrs_status ask_measurements(const struct vrs_measurement *a, const char *a_path,
                                        const struct vrs_measurement *b, const char *b_path,
                                        const void *settings, struct vrs_result **ret,
                                        struct vrs_error *err)
{
    const struct compare_settings *s = settings;
    const struct vrs_compare_options o = { .size = sizeof o,
                                           .path = a_path,
                                           .b_path = b_path,
                                           .fail_over_ns = s->fail_over_ns,
                                           .fail_over_millionths = s->fail_over_millionths };
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
    };
    return answer_pair(self, &question, files, argv);
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
             "Two memory snapshots are for vramscope diff.\n"
             "Exit status: 0 done, 1 above the limit of --fail-over, 2 usage, 3 a file or\n"
             "the system failed, 130 interrupted.\n",
    .examples = "vramscope compare before.json after.json # two measurements\n"
                "vramscope compare before.trace.json.gz after.trace.json.gz # two traces\n"
                "vramscope compare --fail-over 5% before.json after.json # for CI\n",
    .options = { options, output_options },
    .run = run,
};
