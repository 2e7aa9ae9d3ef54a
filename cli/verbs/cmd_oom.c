/* cmd_oom.c - vramscope oom. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "command.h"
#include "help.h"
#include "message.h"
#include "options.h"
#include "text_file.h"
#include "vramscope/snapshot.h"

struct oom_settings {
    struct common common;
    const char *message; /* as typed; from then on the text itself */
    uint64_t capacity;
};

#define IN(member) offsetof(struct oom_settings, member)

static const struct option_spec options[] = {
    { 0, "message", "TEXT",
      "the text of the error, or @FILE with it: it names the size of the card, the memory limit "
      "and what other programs hold",
      OPTION_TEXT, IN(message), NULL },
    { 0, "capacity", "SIZE", "the memory of the card, such as 80GiB", OPTION_SIZE, IN(capacity),
      NULL },
    OPTION_ROWS("show at most COUNT rows (default 20; in JSON all)"),
    OPTION_ALL_RANKS,
    OPTION_CSV("the lines that would have had to free memory"),
    { 0 },
};

static enum vrs_status ask(const struct vrs_recording *recording, const char *path,
                           const void *settings, struct vrs_result **ret, struct vrs_error *err)
{
    const struct oom_settings *s = settings;
    struct vrs_oom_options o = {
        COMMON_MEMBERS(o, &s->common, path),
        .message = s->message,
        .capacity_bytes = s->capacity,
    };
    return vrs_oom(recording, &o, ret, err);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct oom_settings settings = { 0 };
    int files = 0, ended = EXIT_DONE;
    if (!verb_begins(self, argc, argv, &settings, &files, &ended))
        return ended;
    char *text = NULL;
    if (settings.message != NULL && strcmp(settings.message, "-") == 0) {
        message("--message takes the text or @FILE; standard input is for a recording");
        return EXIT_USAGE;
    }
    if (settings.message != NULL && strcmp(settings.message, "@") == 0) {
        message("--message needs a value: the text or @FILE");
        return EXIT_USAGE;
    }
    if (settings.message != NULL && settings.message[0] == '@') {
        if (text_file_read("--message", settings.message + 1, &text) != EXIT_DONE)
            return EXIT_USAGE;
        settings.message = text;
    }
    const struct verb_question question = { .ask = ask, .settings = &settings };
    ended = answer_files(self, &question, files, argv);
    free(text);
    return ended;
}

const struct command cmd_oom = {
    .name = "oom",
    .summary = "why a request for memory failed, proven with numbers",
    .synopsis = "[options] FILE...",
    .about =
        "The verdict is the first remedy that would have made the request fit; every test is\n"
        "shown. Exit status: 0 done (also where the trace is cut or missing), 1 the trace has no\n"
        "out-of-memory event, 2 usage, 3 a file or the system failed, 130 interrupted.\n",
    .examples = "vramscope oom run.pickle # why the last request failed\n"
                "vramscope oom run.pickle --message @error.txt # with what the error says\n",
    .options = { options, replay_options, input_options, output_options },
    .run = run,
};
