/* cmd_peak.c - vramscope peak. */
#include <stddef.h>

#include "answer.h"
#include "command.h"
#include "options.h"
#include "vramscope/snapshot.h"

struct peak_settings {
    struct common common;
    const char *at, *by, *key;
};

#define IN(member) offsetof(struct peak_settings, member)

static const struct option_spec options[] = {
    { 0, "at", "MOMENT",
      "an event's number, start, end, peak (default), oom or oom:K (the K-th), step:K or "
      "phase:NAME (its peak), or seconds after the first event as 12.5s",
      OPTION_TEXT, IN(at), "start end peak oom" },
    { 0, "by", "GROUPING",
      "line or culprit (default), owner, site, file, function, module, category, size, pool, "
      "stream, age, or of memory that the recorded program named: name or path (the module in the "
      "name)",
      OPTION_CHOICE, IN(by),
      "line culprit owner site file function module category size pool stream age name path" },
    { 0, "key", "KEY",
      "what must be equal for two stacks to be one site: K0 everything, K1 (default) file, line "
      "and function, K2 file and function, K3 function",
      OPTION_CHOICE, IN(key), "K0 K1 K2 K3" },
    OPTION_ROWS("show at most COUNT rows (default 20; in JSON all)"),
    { 's', "stacks", NULL,
      "print the stack under each row: frames of Python, the operator and the node of autograd",
      OPTION_FLAG, IN(common.stacks), NULL },
    OPTION_ALL_FRAMES,
    OPTION_ALL_RANKS,
    OPTION_CSV("the lines that held memory"),
    { 0 },
};

static struct vrs_peak_options options_of(const struct peak_settings *s, const char *path)
{
    struct vrs_peak_options o = {
        COMMON_MEMBERS(o, &s->common, path),           .at = s->at, .by = s->by, .key = s->key,
        .categories = s->common.json || s->common.csv,
    };
    return o;
}

static enum vrs_status ask(const struct vrs_recording *recording, const char *path,
                           const void *settings, struct vrs_result **ret, struct vrs_error *err)
{
    struct vrs_peak_options o = options_of(settings, path);
    return vrs_peak(recording, &o, ret, err);
}

static enum vrs_status check(const void *settings, struct vrs_error *err)
{
    struct vrs_peak_options words = options_of(settings, NULL);
    return vrs_peak_check(&words, err);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct peak_settings settings = { 0 };
    const struct verb_question question = { .ask = ask, .check = check, .settings = &settings };
    return answer_run(self, &question, argc, argv);
}

const struct command cmd_peak = {
    .name = "peak",
    .summary = "who held the memory at the peak, or at any moment",
    .synopsis = "[options] FILE...",
    .about =
        "Rows, other and adjust add up to the total exactly. A culprit is the innermost line\n"
        "of your own code in a stack; an owner may also be a library's. By name and by path,\n"
        "(no name) is memory that the program did not name, and (no module) what a name without\n"
        "a dot has. Exit status: 0 done, 2 usage, 3 a file or the system failed, 130\n"
        "interrupted.\n",
    .examples = "vramscope peak run.pickle # twenty lines that held most\n"
                "vramscope peak run.pickle --stacks -n 3 # with their whole stacks\n"
                "vramscope peak run.pickle --by owner # the function under your line\n"
                "vramscope peak run.pickle --by category # parameters, activations, …\n"
                "vramscope peak run.pickle --at end # what stayed\n",
    .options = { options, replay_options, input_options, output_options },
    .run = run,
};
