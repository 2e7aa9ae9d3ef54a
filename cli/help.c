/* help.c - help for people and for man pages. */
#include "help.h"

#include <errno.h>
#include <string.h>

#include "message.h"
#include "options.h"

enum { HELP_WIDTH = 80, VERB_COLUMN = 13, OPTION_COLUMN = 26, EXAMPLE_COLUMN = 44 };

/* Words of `text` from column `at` on, wrapped to hang at `indent`. */
static void put_wrapped(FILE *out, const char *text, size_t indent)
{
    size_t at = indent;
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (at > indent && at + 1 + word > HELP_WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        }
        if (at > indent) {
            fputc(' ', out);
            at++;
        }
        fprintf(out, "%.*s", (int)word, text);
        at += word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* Lines of "what to type # meaning". */
static void put_examples(FILE *out, const char *examples)
{
    for (const char *line = examples; *line != '\0'; line += strspn(line, "\n")) {
        size_t len = strcspn(line, "\n");
        const char *mark = strstr(line, " # ");
        int typed = (int)(mark == NULL || mark > line + len ? len : (size_t)(mark - line));
        fprintf(out, "  %-*.*s", EXAMPLE_COLUMN, typed, line);
        if (mark != NULL && mark < line + len)
            fprintf(out, " %.*s", (int)(line + len - mark) - 3, mark + 3);
        fputc('\n', out);
        line += len;
    }
}

void help_overview(FILE *out)
{
    fputs("vramscope reads memory snapshots of PyTorch and says who held the memory.\n\n", out);
    put_examples(out, "vramscope report run.pickle # the one page: peak and culprits\n"
                      "vramscope peak run.pickle --stacks # the same, with whole stacks\n"
                      "vramscope peak run.pickle --at oom # what was alive when it failed\n"
                      "vramscope report ranks/ # one line for each rank\n");
    fputs("\nusage: vramscope VERB [options] FILE...\n\n", out);
    for (size_t i = 0; commands[i] != NULL; i++)
        fprintf(out, "  %-*s%s\n", VERB_COLUMN - 2, commands[i]->name, commands[i]->summary);
    fputs("\nA FILE is a snapshot (pickle, JSON or exported HTML page; also in gzip or zstd), a\n"
          "folder of them, or - for standard input. Nothing in a file is ever executed.\n\n"
          "vramscope help VERB has the options of a verb; vramscope --version the version.\n",
          out);
}

static void put_option(FILE *out, const struct option_spec *spec)
{
    char left[64];
    if (spec->letter != 0)
        snprintf(left, sizeof left, "  -%c, --%s", spec->letter, spec->name);
    else
        snprintf(left, sizeof left, "      --%s", spec->name);
    fputs(left, out);
    size_t len = strlen(left);
    if (spec->argument != NULL) {
        fprintf(out, "=%s", spec->argument);
        len += 1 + strlen(spec->argument);
    }
    if (len + 2 > OPTION_COLUMN) {
        fputc('\n', out);
        len = 0;
    }
    fprintf(out, "%*s", (int)(OPTION_COLUMN - len), "");
    put_wrapped(out, spec->help, OPTION_COLUMN);
}

void help_verb(FILE *out, const struct command *command)
{
    fprintf(out, "vramscope %s: %s\n\n", command->name, command->summary);
    put_examples(out, command->examples);
    fprintf(out, "\nusage: vramscope %s %s\n\n", command->name, command->synopsis);
    const struct option_spec *spec;
    for (size_t i = 0; (spec = option_at(command, i)) != NULL; i++)
        put_option(out, spec);
    fprintf(out, "\n%s", command->about);
}

/* scdoc takes these as markup. */
static void put_scd(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("_*\\<>#~", *text) != NULL)
            fputc('\\', out);
        fputc(*text, out);
    }
}

void help_scd(FILE *out, const struct command *command)
{
    fputs("# OPTIONS\n", out);
    const struct option_spec *spec;
    for (size_t i = 0; (spec = option_at(command, i)) != NULL; i++) {
        fputc('\n', out);
        if (spec->letter != 0)
            fprintf(out, "*-%c*, ", spec->letter);
        fprintf(out, "*--%s*", spec->name);
        if (spec->argument != NULL)
            fprintf(out, " _%s_", spec->argument);
        fputs("\n\t", out);
        put_scd(out, spec->help);
        fputs(".\n", out);
    }
}

int help_finish(void)
{
    if (fflush(stdout) == 0 || errno == EPIPE)
        return EXIT_DONE;
    message("standard output: %s", strerror(errno));
    return EXIT_FAILED;
}

bool verb_begins(const struct command *self, int argc, char **argv, void *settings,
                 int *ret_operands, int *ret_exit)
{
    const struct common *common = settings;
    *ret_exit = options_parse(self, argc, argv, settings, ret_operands);
    if (*ret_exit != EXIT_DONE)
        return false;
    if (!common->help)
        return true;
    help_verb(stdout, self);
    *ret_exit = help_finish();
    return false;
}
