/* cmd_report.c - vramscope report. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "answer.h"
#include "command.h"
#include "help.h"
#include "inputs.h"
#include "message.h"
#include "options.h"
#include "rank_map.h"
#include "vramscope/snapshot.h"
#include "vramscope/trace.h"

struct report_settings {
    struct common common;
    bool trust, quick, markdown;
    bool several; /* one of several inputs */
    const char *rank_map;
    bool same_host;
    struct rank_map map; /* what is made of it */
    /* Of several files on one host: when memory ran out for the last time, in which, and in
     * another one; UINT64_MAX: never. */
    uint64_t oom_us, other_oom_us;
    const char *oom_path;
};

static const struct option_spec options[] = {
    OPTION_ROWS("show at most COUNT culprits of each device (default 8)"),
    { 0, "trust", NULL,
      "every check with its outcome and what the file contains, instead of the usual page",
      OPTION_FLAG, offsetof(struct report_settings, trust), NULL },
    { 0, "quick", NULL,
      "only the file, the curves and who held the peak: no verdict, categories, steps or advice",
      OPTION_FLAG, offsetof(struct report_settings, quick), NULL },
    { 0, "markdown", NULL,
      "the verdict, the ten lines that held most and a sparkline as Markdown, for a pull request",
      OPTION_FLAG, offsetof(struct report_settings, markdown), NULL },
    { 0, "rank-map", "FILE",
      "with several files: FILE has lines of a glob and a rank, as node0/*.pickle 3; other files "
      "are ranked by their names",
      OPTION_PATH, offsetof(struct report_settings, rank_map), NULL },
    { 0, "same-host", NULL,
      "with several files: they were recorded on one host, so their times may be compared",
      OPTION_FLAG, offsetof(struct report_settings, same_host), NULL },
    OPTION_CSV("the figures of each device"),
    { 0 },
};

/* When a file other than this one last ran out of memory. */
static uint64_t peer_oom_us(const struct report_settings *s, const char *path)
{
    return path == s->oom_path ? s->other_oom_us : s->oom_us;
}

static void observe(void *settings, const char *path, const struct vrs_result *result)
{
    struct report_settings *s = settings;
    uint64_t oom_us, last_us;
    vrs_report_times(result, &oom_us, &last_us);
    if (!s->same_host || oom_us == UINT64_MAX)
        return;
    if (s->oom_us == UINT64_MAX || oom_us > s->oom_us) {
        s->other_oom_us = path == s->oom_path ? s->other_oom_us : s->oom_us;
        s->oom_us = oom_us;
        s->oom_path = path;
    } else if (path != s->oom_path && (s->other_oom_us == UINT64_MAX || oom_us > s->other_oom_us)) {
        s->other_oom_us = oom_us;
    }
}

static bool again(const void *settings, const char *path, const struct vrs_result *result)
{
    uint64_t oom_us, last_us, peer_us = peer_oom_us(settings, path);
    vrs_report_times(result, &oom_us, &last_us);
    return peer_us != UINT64_MAX && last_us != UINT64_MAX && last_us > peer_us;
}

static enum vrs_status ask(const struct vrs_recording *recording, const char *path,
                           const void *settings, struct vrs_result **ret, struct vrs_error *err)
{
    const struct report_settings *s = settings;
    /* How memory moved, of one input: a set of ranks would be mostly points. */
    struct vrs_report_options o = {
        COMMON_MEMBERS(o, &s->common, path),
        .timeline = s->common.json && !s->several,
        .trust = s->trust,
        .quick = s->quick,
        .part = s->several && !s->markdown,
        .rank = rank_map_find(&s->map, path) + 1,
        .one_clock = s->same_host,
        .peer_oom_us = peer_oom_us(s, path) + 1, /* of none 0 */
    };
    return vrs_report(recording, &o, ret, err);
}

/* The page of `vramscope trace`. */
static enum vrs_status ask_trace(const struct vrs_trace *trace, const char *path,
                                 const void *settings, struct vrs_result **ret,
                                 struct vrs_error *err)
{
    const struct report_settings *s = settings;
    const struct snapshot_option own = { .name = s->markdown ? "--markdown"
                                                 : s->trust  ? "--trust"
                                                 : s->quick  ? "--quick"
                                                             : NULL };
    if (answer_refuse_of_snapshots(&s->common, own.name != NULL ? &own : NULL, err) != VRS_OK)
        return VRS_USAGE;
    struct vrs_trace_options o = { .size = sizeof o, .path = path };
    return vrs_trace_report(trace, &o, ret, err);
}

/* Markdown is a form of the usual page. */
static bool forms_agree(const struct report_settings *s)
{
    if (s->common.csv && s->trust) {
        message("--trust has no place in --csv; leave one of them out");
        return false;
    }
    const char *other = s->common.json  ? "--json"
                        : s->common.csv ? "--csv"
                        : s->trust      ? "--trust"
                                        : NULL;
    if (s->markdown && other != NULL)
        message("--markdown and %s are two forms; choose one", other);
    return !s->markdown || other == NULL;
}

static int check_inputs(const struct inputs *inputs, const void *settings)
{
    const struct report_settings *s = settings;
    return rank_map_check(&s->map, inputs);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct report_settings settings = { .oom_us = UINT64_MAX, .other_oom_us = UINT64_MAX };
    int files = 0, ended = EXIT_DONE;
    if (!verb_begins(self, argc, argv, &settings, &files, &ended))
        return ended;
    if (!forms_agree(&settings))
        return EXIT_USAGE;
    ended = rank_map_read(settings.rank_map, &settings.map);
    struct verb_question question = {
        .ask = ask,
        .ask_trace = ask_trace,
        .check_inputs = check_inputs,
        .observe = observe,
        .again = again,
        .settings = &settings,
        .write = { .picture = true, .format = settings.markdown ? VRS_MARKDOWN : VRS_TEXT },
        .ret_several = &settings.several,
        .unread = vrs_report_unread,
        .unread_beside = true,
        .run = vrs_report_run,
    };
    if (ended == EXIT_DONE)
        ended = answer_files(self, &question, files, argv);
    rank_map_free(&settings.map);
    return ended;
}

const struct command cmd_report = {
    .name = "report",
    .summary = "one page: what failed, who held the peak, what grows, what to change",
    .synopsis = "[options] FILE...",
    .about = "Several files, or a folder: one line for each, then the totals. Exit status: 0 done\n"
             "(also for a cut file, which is marked as incomplete), 2 usage, 3 a file or the\n"
             "system failed, 130 interrupted.\n",
    .examples = "vramscope report run.pickle # one page in the terminal\n"
                "vramscope report ranks/ # one line for each rank, then which is the worst\n"
                "vramscope report ranks/ --rank-map ranks.txt # which file is which rank\n"
                "vramscope report --trust run.pickle # how far to believe the numbers\n"
                "vramscope report --json run.pickle.gz # for programs\n"
                "vramscope report --markdown run.pickle # for a pull request\n"
                "zcat run.gz | vramscope report - # from a pipe\n",
    .options = { options, replay_options, input_options, output_options },
    .run = run,
};
