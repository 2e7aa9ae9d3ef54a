/* cmd_check.c - vramscope check. */
#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "command.h"
#include "help.h"
#include "inputs.h"
#include "message.h"
#include "options.h"
#include "text_file.h"
#include "vramscope/snapshot.h"
#include "vramscope/trace.h"

struct check_settings {
    struct common common;
    struct option_pairs pairs;
    const char *budget, *rules, *baseline, *format;
    bool strict, allow_estimates;
    /* What is made of them. */
    struct vrs_limit limit[OPTION_LIST_MOST];
    char *budget_text, *rules_text;
    const struct vrs_recording *baseline_recording;
};

#define IN(member) offsetof(struct check_settings, member)
#define LIMIT(name, argument, help)                                                                \
    {                                                                                              \
        0, name, argument, help, OPTION_PAIR, IN(pairs), NULL                                      \
    }

static const struct option_spec limits[] = {
    LIMIT("max-peak", "SIZE", "most bytes in use at any event"),
    LIMIT("max-peak-active", "SIZE",
          "most bytes in active blocks, including those that wait to be freed"),
    LIMIT("max-reserved", "SIZE", "most bytes reserved; without a trace those at the end"),
    LIMIT("max-end", "SIZE", "bytes in use at the end"),
    LIMIT("max-growth-per-step", "SIZE", "bytes that leaks add in each step"),
    LIMIT("max-step-peak", "SIZE", "most bytes in use in any complete step"),
    LIMIT("max-stranded", "SIZE", "free bytes at the end that can neither be used nor returned"),
    LIMIT("max-slack", "SIZE", "slack at the peak: bytes of blocks beyond what was requested"),
    LIMIT("max-pending", "SIZE", "most bytes that wait for another stream to be freed"),
    LIMIT("max-category", "NAME=SIZE", "bytes of a category at the peak, as activation=8GiB"),
    LIMIT("max-site", "REGEX=SIZE",
          "bytes at the peak of all culprits and owners that match, as model.py:12=2GiB"),
    LIMIT("max-device-peak", "D=SIZE", "most bytes in use on device D, as 0=24GiB"),
    LIMIT("headroom", "SIZE", "bytes of --capacity that the reserved peak must leave free"),
    LIMIT("capacity", "SIZE", "the memory of the device that PyTorch can reserve, for --headroom"),
    LIMIT("no-oom", NULL, "no out-of-memory event"),
    LIMIT("no-retry", NULL, "no release of cached memory to serve a request"),
    LIMIT("max-unknown-share", "SHARE",
          "share of the peak without a stack, as 25%; not the category unknown"),
    LIMIT("max-delta", "SIZE|SHARE", "growth of the peak against --baseline, as 100MiB or 2%"),
    LIMIT("max-site-delta", "SIZE", "growth of any site (place in the program) against --baseline"),
    LIMIT("no-new-site", "SIZE", "no site of more than SIZE that --baseline does not have"),
    LIMIT("tolerance", "SIZE|SHARE",
          "growth that counts as noise, added to the last three limits (default 0)"),
    LIMIT("min-busy", "SHARE",
          "of a profiler trace: least share that a device is busy, as 70%, of the time of the "
          "steps, without steps from its first work to its last"),
    LIMIT("max-idle", "SHARE", "of a trace: largest share that a device is idle"),
    LIMIT("max-step", "TIME",
          "of a trace: longest median of a step, with the device work that it launched, as 120ms"),
    LIMIT("max-memory-peak", "SIZE",
          "of a trace: most bytes that its memory events have in use on a device"),
    { 0, "budget", "FILE", "more limits, lines of NAME = VALUE; options replace them", OPTION_PATH,
      IN(budget), NULL },
    { 0, "baseline", "FILE",
      "a recording to compare with; a SIZE may then be a share of its figure, as 105%", OPTION_PATH,
      IN(baseline), NULL },
    { 0, "rules", "FILE", "for --max-category: apply the rules of FILE before the built-in ones",
      OPTION_PATH, IN(rules), NULL },
    { 0, "strict", NULL,
      "exit with 4 where a limit could not be decided, the trust is D, or a file of a folder is no "
      "recording",
      OPTION_FLAG, IN(strict), NULL },
    { 0, "allow-estimates", NULL, "let estimates fail a limit, too", OPTION_FLAG,
      IN(allow_estimates), NULL },
    { 0, "format", "FORMAT",
      "text (default), json, csv, junit, markdown or sarif, whose paths are relative to "
      "--user-root: "
      "without it code scanning cannot find the file",
      OPTION_CHOICE, IN(format), "text json csv junit markdown sarif" },
    { 0, "replay", "WHEN",
      "replay the allocator, which makes active bytes and slack exact: auto (default, up to "
      "200,000 events), always or never",
      OPTION_CHOICE, IN(common.replay), "auto always never" },
    OPTION_CSV("the limits"),
    { 0 },
};

static struct vrs_check_options options_of(const struct check_settings *s, const char *path)
{
    struct vrs_check_options o = {
        COMMON_MEMBERS(o, &s->common, path),
        .limit = s->limit,
        .limits = s->pairs.count,
        .budget = s->budget_text,
        .budget_name = s->budget,
        .rules = s->rules_text,
        .rules_name = s->rules,
        .baseline = s->baseline_recording,
        .strict = s->strict,
        .allow_estimates = s->allow_estimates,
    };
    return o;
}

static enum vrs_status ask(const struct vrs_recording *recording, const char *path,
                           const void *settings, struct vrs_result **ret, struct vrs_error *err)
{
    struct vrs_check_options o = options_of(settings, path);
    return vrs_check(recording, &o, ret, err);
}

static struct vrs_trace_check_options trace_options_of(const struct check_settings *s,
                                                       const char *path)
{
    return (struct vrs_trace_check_options){
        .size = sizeof(struct vrs_trace_check_options),
        .path = path,
        .limit = s->limit,
        .limits = s->pairs.count,
        .strict = s->strict,
        .budget = s->budget_text,
        .budget_name = s->budget,
    };
}

static enum vrs_format format_of(const char *name)
{
    static const struct {
        const char *name;
        enum vrs_format format;
    } formats[] = {
        { "json", VRS_JSON },         { "csv", VRS_CSV },     { "junit", VRS_JUNIT },
        { "markdown", VRS_MARKDOWN }, { "sarif", VRS_SARIF },
    };
    for (size_t i = 0; name != NULL && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return formats[i].format;
    return VRS_TEXT;
}

static const struct snapshot_option baseline_option = {
    "--baseline", "vramscope diff A B --fail-over 5% compares two traces"
};

/* An option of its own that was given and means nothing of a trace; NULL: none. */
static const struct snapshot_option *snapshot_option(const struct check_settings *s)
{
    static const struct snapshot_option
        rules = { "--rules", "--max-memory-peak limits the memory of a trace, whatever is in it" },
        estimates = { "--allow-estimates",
                      "no limit of traces is judged by an estimate; leave it out" };
    return s->baseline != NULL  ? &baseline_option
           : s->rules != NULL   ? &rules
           : s->allow_estimates ? &estimates
                                : NULL;
}

static enum vrs_status ask_trace(const struct vrs_trace *trace, const char *path,
                                 const void *settings, struct vrs_result **ret,
                                 struct vrs_error *err)
{
    const struct check_settings *s = settings;
    if (answer_refuse_of_snapshots(&s->common, snapshot_option(s), err) != VRS_OK)
        return VRS_USAGE;
    struct vrs_trace_check_options o = trace_options_of(s, path);
    return vrs_trace_check(trace, &o, ret, err);
}

/* Words that make no sense are said before any file is read. */
static int read_words(struct check_settings *s)
{
    struct vrs_error err;
    const char *brief = s->common.json ? "json" : s->common.csv ? "csv" : s->format;
    if (s->format != NULL && strcmp(s->format, brief) != 0) {
        message("--%s is short for --format %s, not for --format %s", brief, brief, s->format);
        return EXIT_USAGE;
    }
    for (uint32_t i = 0; i < s->pairs.count; i++)
        s->limit[i] = (struct vrs_limit){ s->pairs.at[i].name, s->pairs.at[i].value };
    if (s->budget != NULL && text_file_read("--budget", s->budget, &s->budget_text) != EXIT_DONE)
        return EXIT_USAGE;
    if (s->rules != NULL && text_file_read("--rules", s->rules, &s->rules_text) != EXIT_DONE)
        return EXIT_USAGE;
    struct vrs_check_options words = options_of(s, NULL);
    if (vrs_check_check(&words, s->baseline != NULL, &err) == VRS_OK)
        return EXIT_DONE;
    message("%s", err.message);
    return EXIT_USAGE;
}

/* Its own answer must not replace what the next one is compared with. */
static bool output_is_baseline(const struct check_settings *s)
{
    struct inputs inputs = { 0 };
    char *name = strdup(s->baseline);
    bool same = false;
    if (name != NULL && inputs_find(1, &name, &inputs) == EXIT_DONE)
        same = answer_output_is_input("-o", s->common.output, &inputs);
    inputs_free(&inputs);
    free(name);
    return same;
}

static int open_baseline(struct check_settings *s, struct vrs_file **ret)
{
    struct vrs_error err;
    if (s->baseline == NULL)
        return EXIT_DONE;
    if (output_is_baseline(s))
        return EXIT_USAGE;
    struct vrs_trace *trace = NULL;
    if (answer_open_any(&s->common, s->baseline, false, ret, &trace, &err) != VRS_OK) {
        message_failure(s->baseline, &err);
        return EXIT_FAILED;
    }
    if (trace != NULL) {
        vrs_close_trace(trace);
        message("--baseline takes a memory snapshot, and %s is a profiler trace: %s", s->baseline,
                baseline_option.instead);
        return EXIT_USAGE;
    }
    if (vrs_count(*ret) != 1) {
        message("--baseline %s holds several recordings, and one is compared with", s->baseline);
        return EXIT_USAGE;
    }
    if (vrs_recording(*ret, 0, &s->baseline_recording, &err) != VRS_OK) {
        message_failure(s->baseline, &err);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct check_settings settings = { 0 };
    struct vrs_file *baseline = NULL;
    int files = 0, ended = EXIT_DONE;
    if (!verb_begins(self, argc, argv, &settings, &files, &ended))
        return ended;
    ended = read_words(&settings);
    if (ended == EXIT_DONE)
        ended = open_baseline(&settings, &baseline);
    struct verb_question question = {
        .ask = ask,
        .ask_trace = ask_trace,
        .settings = &settings,
        .write = { .format = format_of(settings.format) },
        .strict = settings.strict,
        .unread = vrs_check_unread,
    };
    if (ended == EXIT_DONE)
        ended = answer_files(self, &question, files, argv);
    vrs_close(baseline);
    free(settings.budget_text);
    free(settings.rules_text);
    return ended;
}

const struct command cmd_check = {
    .name = "check",
    .summary = "whether a recording stays within its limits, for CI",
    .synopsis = "[options] FILE...",
    .about =
        "One line for each limit: PASS, FAIL or INCONCLUSIVE. A limit fails when its value\n"
        "is larger; an equal one holds. What cannot be decided is never called passed:\n"
        "nor is a limit of snapshots on a profiler trace, or one of traces on a snapshot.\n"
        "Exit status: 0 all limits hold, 1 one is exceeded, 2 usage, 3 a file or the\n"
        "system failed, 4 with --strict: none is exceeded, one could not be decided or checked,\n"
        "130 interrupted.\n",
    .examples = "vramscope check run.pickle --max-peak 24GiB # the peak of one run\n"
                "vramscope check run.pickle --no-oom # it never ran out\n"
                "vramscope check ranks/ --budget limits.txt # limits from a file\n"
                "vramscope check run.pt.trace.json.gz --min-busy 70% # of a profiler trace\n"
                "vramscope check b.pickle --baseline a.pickle --max-delta 2% # growth\n",
    .options = { limits, input_options, output_options },
    .run = run,
};
