/* cmd_leaks.c - vramscope leaks. */
#include <stddef.h>
#include <stdint.h>

#include "answer.h"
#include "command.h"
#include "options.h"
#include "vramscope/snapshot.h"

struct leaks_settings {
    struct common common;
    uint64_t capacity;
};

#define IN(member) offsetof(struct leaks_settings, member)

static const struct option_spec options[] = {
    { 0, "capacity", "SIZE",
      "the memory that the program can use, such as 24GiB: also tells after how many steps it is "
      "full",
      OPTION_SIZE, IN(capacity), NULL },
    OPTION_ROWS("show at most COUNT rows (default 20; in JSON all)"),
    OPTION_ALL_RANKS,
    OPTION_CSV("the lines whose memory stays between steps"),
    { 0 },
};

static enum vrs_status ask(const struct vrs_recording *recording, const char *path,
                           const void *settings, struct vrs_result **ret, struct vrs_error *err)
{
    const struct leaks_settings *s = settings;
    struct vrs_leaks_options o = {
        COMMON_MEMBERS(o, &s->common, path),
        .capacity_bytes = s->capacity,
    };
    return vrs_leaks(recording, &o, ret, err);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct leaks_settings settings = { 0 };
    const struct verb_question question = { .ask = ask, .settings = &settings };
    return answer_run(self, &question, argc, argv);
}

const struct command cmd_leaks = {
    .name = "leaks",
    .summary = "what grows from step to step",
    .synopsis = "[options] FILE...",
    .about = "What stays after each step and keeps growing, and why it is or is not a leak.\n"
             "Exit status: 0 done, 2 usage, 3 a file or the system failed, 130 interrupted.\n",
    .examples = "vramscope leaks run.pickle # what grew, and where\n"
                "vramscope leaks run.pickle --capacity 24GiB # and when the card is full\n",
    .options = { options, replay_options, input_options, output_options },
    .run = run,
};
