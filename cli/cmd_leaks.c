/* cmd_leaks.c - vramscope leaks. */
#include "answer.h"
#include "help.h"
#include "message.h"

struct leaks_settings {
    struct common common;
    uint64_t capacity;
};

#define IN(member) offsetof(struct leaks_settings, member)

static const struct option_spec options[] = {
    { 0, "capacity", "SIZE",
      "what the program can have, such as 24GiB: also tells after how many steps it is full",
      OPTION_SIZE, IN(capacity), NULL },
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
    const struct leaks_settings *s = settings;
    struct vrs_leaks_options o = {
        .size = sizeof o,
        .path = path,
        .user_root = s->common.user_root,
        .library = s->common.library,
        .device = s->common.device,
        .capacity_bytes = s->capacity,
    };
    return vrs_leaks(recording, &o, ret, err);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct leaks_settings settings = { 0 };
    int files = 0, ended = EXIT_DONE;
    if (!verb_begins(self, argc, argv, &settings, &files, &ended))
        return ended;
    struct question question = { .ask = ask, .settings = &settings };
    return answer_files(self, &question, files, argv);
}

const struct command cmd_leaks = {
    .name = "leaks",
    .summary = "what grows from step to step",
    .synopsis = "[options] FILE...",
    .about = "What stays after each step and keeps growing, and why it is or is not a leak.\n"
             "Exit status: 0 done, 2 usage, 3 a file or the system failed, 130 interrupted.\n",
    .examples = "vramscope leaks run.pickle # what grew, and where it was made\n"
                "vramscope leaks run.pickle --capacity 24GiB # and when the card is full\n",
    .options = { options, input_options, output_options },
    .run = run,
};
