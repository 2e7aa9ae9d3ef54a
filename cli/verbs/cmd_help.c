/* cmd_help.c - vramscope help. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "help.h"
#include "message.h"
#include "options.h"

struct help_settings {
    struct common common;
    const char *as;
};

static const struct option_spec options[] = {
    { 0, "as", "FORM",
      "text (default), scd (the OPTIONS of the man page), or the completions of bash, zsh or fish",
      OPTION_CHOICE, offsetof(struct help_settings, as), "text scd bash zsh fish" },
    { 'h', "help", NULL, "print a summary of these options", OPTION_FLAG,
      offsetof(struct common, help), NULL },
    { 0 },
};

static int print(const struct command *verb, const char *as)
{
    if (strcmp(as, "bash") == 0) {
        help_bash(stdout);
    } else if (strcmp(as, "zsh") == 0) {
        help_zsh(stdout);
    } else if (strcmp(as, "fish") == 0) {
        help_fish(stdout);
    } else if (strcmp(as, "scd") == 0) {
        if (verb == NULL) {
            message("help --as=scd needs a verb");
            return EXIT_USAGE;
        }
        help_scd(stdout, verb);
    } else if (verb != NULL) {
        help_verb(stdout, verb);
    } else {
        help_overview(stdout);
    }
    return help_finish();
}

static int run(const struct command *self, int argc, char **argv)
{
    struct help_settings settings = { 0 };
    int operands = 0;
    int wrong = options_parse(self, argc, argv, &settings, &operands);
    if (wrong != EXIT_DONE)
        return wrong;
    if (operands > 1) {
        message("help takes one verb at a time");
        return EXIT_USAGE;
    }
    const struct command *verb = operands == 0 ? NULL : command_find(argv[0]);
    if (operands == 1 && verb == NULL)
        return command_unknown(argv[0]);
    if (settings.common.help)
        verb = self;
    return print(verb, settings.as == NULL ? "text" : settings.as);
}

const struct command cmd_help = {
    .name = "help",
    .summary = "how to use a verb",
    .synopsis = "[--as=FORM] [VERB]",
    .about = "Completions: put `source <(vramscope help --as=bash)` into ~/.bashrc; for zsh write\n"
             "them to a file _vramscope in a folder of $fpath, for fish to\n"
             "~/.config/fish/completions/vramscope.fish.\n",
    .examples = "vramscope help peak # the options of one verb\n"
                "vramscope help --as=bash # completions for all of them\n",
    .options = { options },
    .run = run,
};
