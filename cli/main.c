/* main.c - finds the verb and runs it. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <vramscope/vramscope.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "command.h"
#include "help.h"
#include "message.h"
#include "output.h"

/* A file where the verb should be, most likely to be looked at. */
static bool say_report(const char *name)
{
    struct stat facts;
    if (stat(name, &facts) != 0)
        return false;
    message("a verb comes first; did you mean: vramscope report %s (of a profiler trace: vramscope "
            "trace %s)",
            name, name);
    return true;
}

/* An option without a verb; these two need none. */
static int option_unknown(const char *name)
{
    struct nearest nearest = { .text = name + strspn(name, "-") };
    nearest_offer(&nearest, "version");
    nearest_offer(&nearest, "help");
    if (*nearest.text != '\0' && nearest.best != NULL)
        message("there is no option %s; the nearest is --%s", name, nearest.best);
    else
        message("a verb comes first: vramscope VERB [options] FILE... (vramscope help lists all)");
    return EXIT_USAGE;
}

int command_unknown(const char *name)
{
    struct nearest nearest = { .text = name };
    for (size_t i = 0; commands[i] != NULL; i++)
        nearest_offer(&nearest, commands[i]->name);
    if (nearest.best == NULL)
        message("there is no verb \"%s\" (vramscope help lists all)", name);
    else
        message("there is no verb \"%s\"; the nearest is \"%s\" (vramscope help lists all)", name,
                nearest.best);
    return EXIT_USAGE;
}

static int version(void)
{
    printf("vramscope %s\n", vrs_version());
    return help_finish();
}

/* Columns and scratch are large and come one after another.  Without this glibc keeps what was
 * freed once, and a file takes a tenth to a sixth more memory, in the same time. */
static void give_memory_back(void)
{
#ifdef __GLIBC__
    enum { LARGE = 128 * 1024 };
    mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
}

int main(int argc, char **argv)
{
    give_memory_back();
    output_signals();
    const char *verb = argc < 2 ? "--help" : argv[1];
    if (strcmp(verb, "--version") == 0 || strcmp(verb, "-V") == 0)
        return version();
    if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0) {
        help_overview(stdout);
        return help_finish();
    }
    const struct command *command = command_find(verb);
    if (command != NULL)
        return command->run(command, argc - 2, argv + 2);
    if (verb[0] == '-')
        return option_unknown(verb);
    return say_report(verb) ? EXIT_USAGE : command_unknown(verb);
}
