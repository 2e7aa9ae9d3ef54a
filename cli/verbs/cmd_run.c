/* cmd_run.c - vramscope run: finds a Python that has the package, and becomes its `run`. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "help.h"
#include "message.h"
#include "options.h"

extern char **environ;

/* Options are read by the package, which has the same; here they are what help prints. */
struct run_settings {
    struct common common;
    const char *folder, *stacks, *on_oom, *interval, *ranks, *wait;
    uint32_t history, max_dumps;
    uint64_t max_bytes;
    bool report, no_report, view, monitor, children, strict;
};

#define IN(member) offsetof(struct run_settings, member)

static const struct option_spec options[] = {
    { 'o', "output", "DIR",
      "the folder for snapshots, new or empty (default: a new one of host, time and process)",
      OPTION_PATH,
      IN(folder), NULL },
    { 0, "history", "COUNT",
      "keep the newest COUNT events of each device (default 100000; 0: leave the recorder alone)",
      OPTION_COUNT, IN(history), NULL },
    { 0, "stacks", "WHICH",
      "frames of python (default), all with those of C++, which is slow, or none", OPTION_CHOICE,
      IN(stacks), "python all none" },
    { 0, "on-oom", "WHAT",
      "when memory runs out: snapshot (default), note for the figures alone, or off", OPTION_CHOICE,
      IN(on_oom), "snapshot note off" },
    { 0, "max-dumps", "COUNT", "keep at most COUNT snapshots, the newest (default 5)", OPTION_COUNT,
      IN(max_dumps), NULL },
    { 0, "max-bytes", "SIZE", "keep at most SIZE of them, the newest always (default 256MiB)",
      OPTION_SIZE, IN(max_bytes), NULL },
    { 0, "report", NULL,
      "at the end write a snapshot and a report of it, which is printed too: of all ranks together",
      OPTION_FLAG, IN(report), NULL },
    { 0, "no-report", NULL, "print nothing at a normal end, as is the default", OPTION_FLAG,
      IN(no_report), NULL },
    { 0, "view", NULL, "at the end write a snapshot and its page, index.html", OPTION_FLAG,
      IN(view), NULL },
    { 0, "monitor", NULL,
      "sample the device while the program runs: a status line on a terminal, and a file",
      OPTION_FLAG, IN(monitor), NULL },
    { 0, "interval", "TIME", "how often --monitor samples, from 1ms to 1h (default 1s)",
      OPTION_TEXT, IN(interval), NULL },
    { 0, "ranks", "LIST", "the ranks that record: all (default), or numbers such as 0,4-7",
      OPTION_TEXT, IN(ranks), NULL },
    { 0, "children", NULL, "record Python processes that the program begins, too", OPTION_FLAG,
      IN(children), NULL },
    { 0, "wait", "TIME",
      "with a report or a page, rank 0 waits for the other ranks, no longer than TIME (default "
      "10s)",
      OPTION_TEXT, IN(wait), NULL },
    { 0, "strict", NULL, "exit 3 where the program could only run unrecorded", OPTION_FLAG,
      IN(strict), NULL },
    { 'h', "help", NULL, "print a summary of these options", OPTION_FLAG, IN(common.help), NULL },
    { 0 },
};

static const char probe[] =
    "import importlib.util, sys; sys.exit(importlib.util.find_spec('vramscope') is None)";

/* Whether this Python is there and has the package. */
static bool has_package(const char *python)
{
    char *const words[] = { (char *)(uintptr_t)python, (char *)(uintptr_t) "-c",
                            (char *)(uintptr_t)probe, NULL };
    pid_t child = 0;
    int status = 0;
    if (posix_spawnp(&child, python, NULL, NULL, words, environ) != 0)
        return false;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return false;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool beside_itself(char *path, size_t room)
{
    ssize_t len = readlink("/proc/self/exe", path, room - 1);
    if (len <= 0)
        return false;
    path[len] = '\0';
    char *name = strrchr(path, '/');
    size_t left = room - (size_t)(name + 1 - path);
    return (size_t)snprintf(name + 1, left, "python3") < left && access(path, X_OK) == 0;
}

/* The first that has the package: beside this program, of the virtual environment, of PATH. */
static const char *find_python(char *path, size_t room)
{
    const char *venv = getenv("VIRTUAL_ENV");
    if (beside_itself(path, room) && has_package(path))
        return path;
    if (venv != NULL && (size_t)snprintf(path, room, "%s/bin/python", venv) < room &&
        access(path, X_OK) == 0 && has_package(path))
        return path;
    return has_package("python3") ? "python3" : NULL;
}

static int run(const struct command *self, int argc, char **argv)
{
    char path[PATH_MAX];
    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
        help_verb(stdout, self);
        return help_finish();
    }
    const char *python = find_python(path, sizeof path);
    if (python == NULL) {
        message("run needs the package vramscope in Python: pip install vramscope");
        return EXIT_FAILED;
    }
    const char *const before[] = { python, "-m", "vramscope", "run" };
    enum { BEFORE = sizeof before / sizeof *before };
    char **words = calloc((size_t)argc + BEFORE + 1, sizeof *words);
    if (words == NULL) {
        message("run: %s", strerror(ENOMEM));
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < BEFORE; i++)
        words[i] = (char *)(uintptr_t)before[i];
    for (int i = 0; i < argc; i++)
        words[BEFORE + i] = argv[i];
    signal(SIGPIPE, SIG_DFL);
    execvp(python, words);
    message("%s: %s", python, strerror(errno));
    free(words);
    return EXIT_FAILED;
}

const struct command cmd_run = {
    .name = "run",
    .summary = "a Python program that tells why its memory ran out",
    .synopsis = "[options] SCRIPT [ARG...]",
    .about =
        "SCRIPT is a file, a folder, a zip file or - (standard input), or -m MODULE, or -c CODE,\n"
        "as Python has it. The program runs as without vramscope; its exit status is the\n"
        "program's. Where the package is missing it is 3, for wrong options 2.\n",
    .examples = "vramscope run train.py --epochs 3 # an unchanged script\n"
                "vramscope run -o night -m trainer # snapshots in the folder night\n"
                "vramscope run --report --view train.py # also when nothing fails\n"
                "torchrun --nproc-per-node 8 -m vramscope run train.py # each rank, one folder\n",
    .options = { options },
    .run = run,
};
