/* cmd_steps.c - vramscope steps. */
#include "answer.h"
#include "help.h"
#include "message.h"

struct steps_settings {
    struct common common;
};

#define IN(member) offsetof(struct steps_settings, member)

static const struct option_spec options[] = {
    { 'n', "rows", "COUNT", "show at most COUNT rows (default 20; in JSON all)", OPTION_COUNT,
      IN(common.rows), NULL },
    { 0, "replay", "WHEN",
      "replay the allocator, which makes active and allocated bytes exact: auto (default, up to "
      "200,000 events), always or never",
      OPTION_CHOICE, IN(common.replay), "auto always never" },
    { 0 },
};

static enum vrs_status ask(const struct vrs_recording *recording, const char *path,
                           const void *settings, struct vrs_result **ret, struct vrs_error *err)
{
    const struct steps_settings *s = settings;
    struct vrs_steps_options o = {
        .size = sizeof o,
        .path = path,
        .user_root = s->common.user_root,
        .library = s->common.library,
        .device = s->common.device,
    };
    return vrs_steps(recording, &o, ret, err);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct steps_settings settings = { 0 };
    int files = 0, ended = EXIT_DONE;
    if (!verb_begins(self, argc, argv, &settings, &files, &ended))
        return ended;
    struct question question = { .ask = ask, .settings = &settings };
    return answer_files(self, &question, files, argv);
}

const struct command cmd_steps = {
    .name = "steps",
    .summary = "steps and phases of training, and their peaks",
    .synopsis = "[options] FILE...",
    .about = "Data, forward, backward, optimizer: which part of the step holds the peak.\n"
             "Exit status: 0 done, 2 usage, 3 a file or the system failed, 130 interrupted.\n",
    .examples = "vramscope steps run.pickle # each step, each phase\n",
    .options = { options, input_options, output_options },
    .run = run,
};
