/* cmd_steps.c - vramscope steps. */
#include "answer.h"
#include "command.h"
#include "options.h"
#include "vramscope/snapshot.h"

static const struct option_spec options[] = {
    OPTION_ROWS("show at most COUNT rows (default 20; in JSON all)"),
    OPTION_CSV("the phases"),
    { 0 },
};

static enum vrs_status ask(const struct vrs_recording *recording, const char *path,
                           const void *settings, struct vrs_result **ret, struct vrs_error *err)
{
    const struct common *common = settings;
    struct vrs_steps_options o = { COMMON_MEMBERS(o, common, path) };
    return vrs_steps(recording, &o, ret, err);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct common settings = { 0 };
    const struct verb_question question = { .ask = ask, .settings = &settings };
    return answer_run(self, &question, argc, argv);
}

const struct command cmd_steps = {
    .name = "steps",
    .summary = "steps and phases of training, and their peaks",
    .synopsis = "[options] FILE...",
    .about = "Data, forward, backward, optimizer: which part of the step holds the peak.\n"
             "Exit status: 0 done, 2 usage, 3 a file or the system failed, 130 interrupted.\n",
    .examples = "vramscope steps run.pickle # each step, each phase\n",
    .options = { options, replay_options, input_options, output_options },
    .run = run,
};
