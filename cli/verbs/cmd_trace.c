/* cmd_trace.c - vramscope trace. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "command.h"
#include "help.h"
#include "inputs.h"
#include "message.h"
#include "options.h"
#include "terminal.h"
#include "trace_rewrite.h"
#include "trace_stats.h"
#include "vramscope/trace.h"

struct trace_settings {
    struct common common;
    bool ops, kernels, gaps, steps, memory, calls, modules, tree, phases, launches, findings;
    bool as_framework, stats, strict;
    struct option_list thresholds;
    struct trace_rewrite rewrite;
    const char *min_share;
    const char *by;
};

#define IN(member) offsetof(struct trace_settings, member)

static const struct option_spec options[] = {
    { 0, "ops", NULL,
      "print operators, ranges and calls: the rows of key_averages() of torch.profiler",
      OPTION_FLAG, IN(ops), NULL },
    { 0, "by", "PARTS",
      "with --ops: a row of its own for what an operator was called with or in: shapes, module, "
      "phase, step, stack, or several of them, as shapes,phase; stack:3 looks at the three "
      "innermost frames alone",
      OPTION_TEXT, IN(by), "shapes module phase step stack" },
    { 0, "kernels", NULL, "print what ran on the devices, and the copies", OPTION_FLAG, IN(kernels),
      NULL },
    { 0, "gaps", NULL, "print why the devices waited, and the longest gaps", OPTION_FLAG, IN(gaps),
      NULL },
    { 0, "steps", NULL, "print the steps of the training loop", OPTION_FLAG, IN(steps), NULL },
    { 0, "memory", NULL, "print what the allocators had in use", OPTION_FLAG, IN(memory), NULL },
    { 0, "calls", NULL, "print the calls of the runtime and the driver", OPTION_FLAG, IN(calls),
      NULL },
    { 0, "findings", NULL, "print what to change, what it gains at most, and why rules are silent",
      OPTION_FLAG, IN(findings), NULL },
    { 0, "phases", NULL, "print the time of forward, backward, optimizer and data", OPTION_FLAG,
      IN(phases), NULL },
    { 0, "launches", NULL, "print how long launches took and how much was queued", OPTION_FLAG,
      IN(launches), NULL },
    { 0, "threshold", "NAME=VALUE",
      "compare with VALUE in rules, instead of the threshold's own; NAME as --findings has it in "
      "brackets, such as gpu-low-busy_ratio=0.5; may be repeated",
      OPTION_LIST, IN(thresholds), NULL },
    { 0, "modules", NULL, "print what each module took, forward and backward", OPTION_FLAG,
      IN(modules), NULL },
    { 0, "tree", NULL, "print the call tree: who called what, and what it cost", OPTION_FLAG,
      IN(tree), NULL },
    { 0, "min-share", "SHARE",
      "with --tree: leave out paths with less than SHARE of the time, such as 0.5% (default 1%)",
      OPTION_TEXT, IN(min_share), NULL },
    { 0, "framework-exact", NULL,
      "with Python frames in the trace, leave out of the time of a range the operators that a "
      "Python function inside it called, as key_averages() does",
      OPTION_FLAG, IN(as_framework), NULL },
    OPTION_ROWS("print at most COUNT rows of each table (default 5 on the page and the 10 longest "
                "gaps, else all; of gaps no more than the 100 longest are kept)"),
    OPTION_CSV("the one part that was asked for, or the operators,"),
    OPTIONS_TRACE_REWRITE(struct trace_settings, rewrite),
    { 0, "stats", NULL,
      "also print to standard error how fast each file was read and how much memory it took",
      OPTION_FLAG, IN(stats), NULL },
    { 0, "strict", NULL, "exit with 3 where a file is damaged or ends too early", OPTION_FLAG,
      IN(strict), NULL },
    { 0, "limit", "NAME=VALUE",
      "raise a limit on what a file may contain: nesting, string, strings, items, unpacked",
      OPTION_LIMIT, offsetof(struct common, limits), "nesting= string= strings= items= unpacked=" },
    { 0 },
};

static uint32_t sections_of(const struct trace_settings *s)
{
    return (s->ops ? (uint32_t)VRS_TRACE_OPS : 0) | (s->kernels ? (uint32_t)VRS_TRACE_KERNELS : 0) |
           (s->gaps ? (uint32_t)VRS_TRACE_GAPS : 0) | (s->steps ? (uint32_t)VRS_TRACE_STEPS : 0) |
           (s->memory ? (uint32_t)VRS_TRACE_MEMORY : 0) |
           (s->calls ? (uint32_t)VRS_TRACE_CALLS : 0) |
           (s->findings ? (uint32_t)VRS_TRACE_FINDINGS : 0) |
           (s->phases ? (uint32_t)VRS_TRACE_PHASES : 0) |
           (s->launches ? (uint32_t)VRS_TRACE_LAUNCHES : 0) |
           (s->modules ? (uint32_t)VRS_TRACE_MODULES : 0) |
           (s->tree ? (uint32_t)VRS_TRACE_TREE : 0);
}

static bool read_progress(void *arg, uint64_t done, uint64_t total)
{
    (void)arg;
    progress_bytes(done, total);
    return true;
}

static struct vrs_trace_options options_of(const struct trace_settings *s, const char *path)
{
    return (struct vrs_trace_options){ .size = sizeof(struct vrs_trace_options),
                                       .path = path,
                                       .sections = sections_of(s),
                                       .as_framework = s->as_framework,
                                       .thresholds = s->thresholds.at,
                                       .threshold_count = s->thresholds.count,
                                       .min_share = s->min_share,
                                       .by = s->by };
}

/* What was answered of a damaged file may still not be good enough. */
static int judge_damage(const struct trace_settings *s, const char *path,
                        const struct vrs_trace *trace)
{
    if (!s->strict || vrs_trace_damages(trace) == 0)
        return EXIT_DONE;
    struct vrs_error err = { VRS_CORRUPT, UINT64_MAX,
                             "damaged or incomplete, and --strict does not ignore that" };
    message_failure(path, &err);
    return EXIT_FAILED;
}

/* One file's answer; result NULL where it has said why there is none. */
struct file_answer {
    struct vrs_result *result;
    const struct input *input;
    bool is_timeline;
};

/* What lies in a folder beside the traces is no failure. */
static void say_failure(const struct input *input, const struct vrs_error *err, int *ret_status)
{
    message_failure(input->path, err);
    if (!input->found || err->status != VRS_UNSUPPORTED)
        *ret_status = failures_exit(*ret_status, failure_exit(err->status));
}

static struct file_answer ask(const struct trace_settings *s, const struct input *input,
                              int *ret_status)
{
    const char *path = input->path;
    struct vrs_limits limits = s->common.limits;
    limits.size = sizeof limits;
    struct vrs_open_options open = { .size = sizeof open,
                                     .limits = &limits,
                                     .progress = read_progress };
    struct vrs_trace_options about = options_of(s, path);
    struct vrs_trace *trace = NULL;
    struct file_answer answer = { .input = input };
    struct vrs_error err;
    struct trace_stats stats = { .begun = trace_stats_now() };
    progress_start("reading");
    enum vrs_status status = vrs_open_trace(path, &open, &trace, &err);
    stats.read = trace_stats_now();
    if (status == VRS_OK)
        status = vrs_trace_report(trace, &about, &answer.result, &err);
    stats.answered = trace_stats_now();
    progress_hide();
    if (status == VRS_OK && s->stats)
        trace_stats_say(path, trace, &stats);
    if (status == VRS_OK)
        *ret_status = failures_exit(*ret_status, judge_damage(s, path, trace));
    answer.is_timeline = trace != NULL && vrs_trace_is_timeline(trace);
    vrs_close_trace(trace);
    if (status != VRS_OK)
        say_failure(input, &err, ret_status);
    return answer;
}

/* Memory timelines have an answer of their own: beside traces they are left out.  Returns how many
 * answers there are, which then stand first. */
static uint32_t part_timelines(struct file_answer *answers, uint32_t count, int *ret_status)
{
    const struct vrs_error alone = { VRS_UNSUPPORTED, UINT64_MAX, ANSWER_TIMELINE_ALONE };
    uint32_t kept = 0, timelines = 0;
    for (uint32_t i = 0; i < count; i++)
        timelines += answers[i].is_timeline;
    for (uint32_t i = 0; i < count; i++) {
        if (timelines < count && answers[i].is_timeline) {
            say_failure(answers[i].input, &alone, ret_status);
            vrs_result_free(answers[i].result);
        } else {
            answers[kept++] = answers[i];
        }
    }
    return kept;
}

/* Writes one answer, or several as one. */
static int write_answers(const struct trace_settings *s, const struct file_answer *answers,
                         uint32_t count, bool several)
{
    const struct vrs_write_options write = { .size = sizeof write };
    if (count == 1 && !several)
        return answer_write(&s->common, write, answers[0].result);
    const struct vrs_result **results = calloc(count, sizeof *results);
    struct vrs_result *joined = NULL;
    struct vrs_error err;
    if (results == NULL) {
        message("out of memory");
        return EXIT_FAILED;
    }
    for (uint32_t i = 0; i < count; i++)
        results[i] = answers[i].result;
    enum vrs_status status = vrs_merge(results, count, &joined, &err);
    int exit_status =
        status == VRS_OK ? answer_write(&s->common, write, joined) : failure_exit(err.status);
    if (status != VRS_OK)
        message_failure("joining", &err);
    vrs_result_free(joined);
    free(results);
    return exit_status;
}

/* Answers each file that can be read, and writes all of them as one. */
static int answer_all(const struct trace_settings *s, const struct inputs *inputs)
{
    int exit_status = EXIT_DONE;
    uint32_t count = 0;
    struct file_answer *answers = calloc(inputs->count, sizeof *answers);
    if (answers == NULL) {
        message("out of memory");
        return EXIT_FAILED;
    }
    for (uint32_t i = 0; i < inputs->count; i++) {
        answers[count] = ask(s, &inputs->at[i], &exit_status);
        count += answers[count].result != NULL;
    }
    count = part_timelines(answers, count, &exit_status);
    if (count == 0 && exit_status == EXIT_DONE) {
        message("none of the files is a trace");
        exit_status = EXIT_FAILED;
    }
    if (count > 0)
        exit_status = failures_exit(exit_status, write_answers(s, answers, count, inputs->several));
    for (uint32_t i = 0; i < count; i++)
        vrs_result_free(answers[i].result);
    free(answers);
    return exit_status;
}

/* Whether rules have each threshold; names those there are where one is not. */
static bool thresholds_known(const struct trace_settings *s)
{
    for (uint32_t i = 0; i < s->thresholds.count; i++) {
        const char *given = s->thresholds.at[i], *name;
        size_t len = strcspn(given, "="), at = 0;
        while ((name = vrs_trace_threshold(at)) != NULL &&
               (strlen(name) != len || strncmp(name, given, len) != 0))
            at++;
        if (name != NULL)
            continue;
        message("no rule has a threshold \"%.*s\"; there are:", (int)len, given);
        for (at = 0; (name = vrs_trace_threshold(at)) != NULL; at++)
            fprintf(stderr, "  %s\n", name);
        return false;
    }
    return true;
}

/* Whether the options make sense together, and their words of whatever trace: said before a file is
 * opened, which may be large. */
static bool words_make_sense(const struct trace_settings *s)
{
    const uint32_t sections = sections_of(s);
    const struct vrs_trace_options words = options_of(s, NULL);
    struct vrs_error err;
    if (s->min_share != NULL && !s->tree)
        message("--min-share is about the call tree; ask for it with --tree");
    else if (s->by != NULL && !s->ops)
        message("--by is about the table of operators; ask for it with --ops");
    else if (s->common.csv && s->tree)
        message("--csv has no tree; vramscope export --to csv -t paths writes the whole of it");
    else if (s->common.csv && (sections & (sections - 1)) != 0)
        message("--csv writes one table: ask for one part, such as --kernels, or none");
    else if (trace_rewrite_wanted(&s->rewrite) && sections != 0)
        message("--repair and --slice write a trace, which has no parts; leave one of them out");
    else if (trace_rewrite_wanted(&s->rewrite) && s->strict)
        message("--repair and --slice take a damaged trace, and --strict none; leave one of them "
                "out");
    else if (!thresholds_known(s))
        return false;
    else if (vrs_trace_report_check(&words, &err) != VRS_OK)
        message("%s", err.message);
    else
        return true;
    return false;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct trace_settings settings = { 0 };
    int files = 0, ended = EXIT_DONE;
    struct inputs inputs;
    if (!verb_begins(self, argc, argv, &settings, &files, &ended))
        return ended;
    if (!words_make_sense(&settings))
        return EXIT_USAGE;
    if (files == 0) {
        message("%s needs a FILE, a folder, or - for standard input (vramscope help %s)",
                self->name, self->name);
        return EXIT_USAGE;
    }
    if (trace_rewrite_wanted(&settings.rewrite))
        return trace_rewrite_run(&settings.common, &settings.rewrite, files, argv);
    int found = inputs_find(files, argv, &inputs);
    inputs_sort(&inputs);
    inputs_say_left_out(&inputs);
    if (found == EXIT_USAGE || answer_output_is_input("-o", settings.common.output, &inputs))
        found = EXIT_USAGE;
    else if (inputs.count > 0)
        found = failures_exit(found, answer_all(&settings, &inputs));
    inputs_free(&inputs);
    return found;
}

const struct command cmd_trace = {
    .name = "trace",
    .summary = "where the time goes, from a profiler trace",
    .synopsis = "[options] FILE...",
    .about =
        "Reads a trace of torch.profiler (Chrome Trace Event JSON, plain, in gzip or zstd)\n"
        "and says how busy the GPU was, why it was idle and who is to blame, which steps,\n"
        "operators and kernels took the time.  A FILE may be a folder, which is searched for\n"
        "traces, or - for standard input.\n"
        "Of a memory timeline, as export_memory_timeline() of torch.profiler writes it (.json\n"
        "and .raw.json, plain or packed): the peak and what each category had of it, and the\n"
        "curve.  It has no operators, steps or devices: options for those are refused.\n"
        "vramscope diff compares two traces, check holds limits against one, diagnose goes\n"
        "through the method, export writes tables and flame graphs; report is for memory\n"
        "snapshots.\n"
        "Exit status: 0 done, 2 usage, 3 a file or the system failed, or with --strict a\n"
        "file is damaged, 130 interrupted.\n",
    .examples = "vramscope trace run.pt.trace.json.gz # the page\n"
                "vramscope trace run.pt.trace.json.gz --gaps # why the GPU was idle\n"
                "vramscope trace run.pt.trace.json.gz --ops -n 30 # thirty operators\n"
                "vramscope trace run.pt.trace.json.gz --ops --by shapes # by what went in\n"
                "vramscope trace run.pt.trace.json.gz --slice 3..5 -o small.json # three steps\n"
                "vramscope trace memory.raw.json.gz # a memory timeline, by category\n",
    .options = { options, output_options },
    .run = run,
};
