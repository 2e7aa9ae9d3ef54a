/* cmd_advise.c - vramscope advise. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "answer.h"
#include "command.h"
#include "help.h"
#include "message.h"
#include "options.h"
#include "vramscope/snapshot.h"

struct advise_settings {
    struct common common;
    bool waste, explain_silent;
    uint64_t capacity;
};

#define IN(member) offsetof(struct advise_settings, member)

static const struct option_spec options[] = {
    { 0, "waste", NULL,
      "also how long bytes live, who holds them longest, and what is freed and soon allocated "
      "again",
      OPTION_FLAG, IN(waste), NULL },
    { 0, "explain-silent", NULL, "also the rules that stay silent, each with its reason",
      OPTION_FLAG, IN(explain_silent), NULL },
    { 0, "capacity", "SIZE",
      "the memory of the card, such as 80GiB: tells whether memory was short although no request "
      "failed",
      OPTION_SIZE, IN(capacity), NULL },
    OPTION_ROWS("show at most COUNT rows (default 20; in JSON all)"),
    OPTION_ALL_RANKS,
    OPTION_CSV("the advice"),
    { 0 },
};

static enum vrs_status ask(const struct vrs_recording *recording, const char *path,
                           const void *settings, struct vrs_result **ret, struct vrs_error *err)
{
    const struct advise_settings *s = settings;
    struct vrs_advise_options o = {
        COMMON_MEMBERS(o, &s->common, path),
        .waste = s->waste,
        .explain_silent = s->explain_silent,
        .capacity_bytes = s->capacity,
    };
    return vrs_advise(recording, &o, ret, err);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct advise_settings settings = { 0 };
    const struct verb_question question = { .ask = ask, .settings = &settings };
    int files = 0, ended = EXIT_DONE;
    if (!verb_begins(self, argc, argv, &settings, &files, &ended))
        return ended;
    if (settings.common.csv && (settings.waste || settings.explain_silent)) {
        message("%s has no place in --csv; leave one of them out",
                settings.waste ? "--waste" : "--explain-silent");
        return EXIT_USAGE;
    }
    return answer_files(self, &question, files, argv);
}

const struct command cmd_advise = {
    .name = "advise",
    .summary = "what to change, and the bytes it frees",
    .synopsis = "[options] FILE...",
    .about = "Each rule names the line, the action and what the peak would have been.\n"
             "Exit status: 0 done, 2 usage, 3 a file or the system failed, 130 interrupted.\n",
    .examples = "vramscope advise run.pickle # what to change first\n"
                "vramscope advise --explain-silent run.pickle # and why not more\n"
                "vramscope advise --waste run.pickle # lifetimes and churn\n",
    .options = { options, replay_options, input_options, output_options },
    .run = run,
};
