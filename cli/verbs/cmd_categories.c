/* cmd_categories.c - vramscope categories. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "answer.h"
#include "command.h"
#include "help.h"
#include "message.h"
#include "options.h"
#include "text_file.h"
#include "vramscope/snapshot.h"

struct categories_settings {
    struct common common;
    const char *at, *rules;
    bool print_rules;
    char *text; /* of the file of rules */
};

#define IN(member) offsetof(struct categories_settings, member)

static const struct option_spec options[] = {
    { 0, "at", "MOMENT",
      "an event's number, start, end, peak (default), oom or oom:K (the K-th), step:K or "
      "phase:NAME (its peak), or seconds after the first event as 12.5s",
      OPTION_TEXT, IN(at), "start end peak oom" },
    { 0, "rules", "FILE", "apply the rules of FILE before the built-in ones", OPTION_PATH,
      IN(rules), NULL },
    { 0, "print-rules", NULL,
      "print the built-in rules, in the form of a FILE for --rules, and exit", OPTION_FLAG,
      IN(print_rules), NULL },
    OPTION_ROWS("show at most COUNT rules of a category (default 3; in JSON all)"),
    OPTION_CSV("the categories"),
    { 0 },
};

static struct vrs_categories_options options_of(const struct categories_settings *s,
                                                const char *path)
{
    struct vrs_categories_options o = {
        COMMON_MEMBERS(o, &s->common, path),
        .at = s->at,
        .rules = s->text,
        .rules_name = s->rules,
    };
    return o;
}

static enum vrs_status ask(const struct vrs_recording *recording, const char *path,
                           const void *settings, struct vrs_result **ret, struct vrs_error *err)
{
    struct vrs_categories_options o = options_of(settings, path);
    return vrs_categories(recording, &o, ret, err);
}

static enum vrs_status check(const void *settings, struct vrs_error *err)
{
    struct vrs_categories_options words = options_of(settings, NULL);
    return vrs_categories_check(&words, err);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct categories_settings settings = { 0 };
    int files = 0, ended = EXIT_DONE;
    if (!verb_begins(self, argc, argv, &settings, &files, &ended))
        return ended;
    if (settings.print_rules && files > 0) {
        message("--print-rules prints the built-in rules and takes no FILE");
        return EXIT_USAGE;
    }
    if (settings.print_rules && settings.common.output != NULL) {
        message("--print-rules prints to standard output: use > instead of --output");
        return EXIT_USAGE;
    }
    if (settings.print_rules) {
        fputs(vrs_category_rules(), stdout);
        return help_finish();
    }
    if (settings.rules != NULL &&
        text_file_read("--rules", settings.rules, &settings.text) != EXIT_DONE)
        return EXIT_USAGE;
    const struct verb_question question = { .ask = ask, .check = check, .settings = &settings };
    ended = answer_files(self, &question, files, argv);
    free(settings.text);
    return ended;
}

const struct command cmd_categories = {
    .name = "categories",
    .summary = "parameters, gradients, optimizer state, activations and the rest",
    .synopsis = "[options] FILE...",
    .about =
        "Each allocation has a category, the rule that decided it and how sure it is. Then what\n"
        "training needs, parameters + optimizer state + max(gradients + optimizer temporaries,\n"
        "activations), is compared with the measured peak. Exit status: 0 done, 2 usage, 3 a file "
        "or the system failed, 130 interrupted.\n",
    .examples = "vramscope categories run.pickle # what the peak was made of\n"
                "vramscope categories run.pickle --at end # what stayed\n"
                "vramscope categories --print-rules # every rule that decides\n"
                "vramscope categories run.pickle --rules my.rules # your rules first\n",
    .options = { options, replay_options, input_options, output_options },
    .run = run,
};
