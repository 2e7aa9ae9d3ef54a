/* output.c - standard output, or a temporary file renamed at the end. */
#define _XOPEN_SOURCE 700
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "message.h"

/* One output is open at a time.  Both paths are fixed before a signal may use them. */
static char target[PATH_MAX], temporary[PATH_MAX];
static volatile sig_atomic_t half_written;

static void ended(int signal_number)
{
    if (half_written)
        unlink(temporary);
    /* Ends a line of progress, if there is one. */
    if (isatty(STDERR_FILENO) == 1 && write(STDERR_FILENO, "\n", 1) < 0)
        _exit(128 + signal_number);
    _exit(128 + signal_number);
}

/* Whoever ends a program so may want its core: the signal comes once more, to what was before. */
static void crashed(int signal_number)
{
    if (half_written)
        unlink(temporary);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static bool holds(const int *list, size_t len, int signal_number)
{
    for (size_t i = 0; i < len; i++)
        if (list[i] == signal_number)
            return true;
    return false;
}

void output_signals(void)
{
    /* By default those stop the program, or do nothing; all others end it. */
    static const int harmless[] = { SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH };
    static const int of_crashes[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a write that fails */
    for (int n = 1; n <= SIGRTMAX; n++) {
        struct sigaction before, action = { .sa_handler = ended };
        sigfillset(&action.sa_mask);
        if (holds(harmless, sizeof harmless / sizeof *harmless, n))
            continue;
        if (holds(of_crashes, sizeof of_crashes / sizeof *of_crashes, n))
            action.sa_handler = crashed;
        /* nohup and the like stay in force, and what a sanitizer or profiler catches. */
        if (sigaction(n, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(n, &action, NULL);
    }
}

static int failed(const struct output *o, int error)
{
    const char *cure = error == ENOSPC || error == EDQUOT ? "; nothing was left behind" : "";
    if (o->name == NULL)
        message("standard output: %s%s", strerror(error), cure);
    else
        message("%s %s: cannot be written: %s%s", o->option, o->name, strerror(error), cure);
    return EXIT_FAILED;
}

/* A device, pipe or the like cannot be replaced, only written to. */
static int open_in_place(struct output *o)
{
    o->fd = open(o->name, O_WRONLY | O_CLOEXEC);
    return o->fd < 0 ? failed(o, errno) : EXIT_DONE;
}

static mode_t wanted_mode(bool exists, const struct stat *old)
{
    if (exists)
        return old->st_mode & 07777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

int output_open(struct output *o, const char *option, const char *path)
{
    *o = (struct output){ .fd = STDOUT_FILENO, .option = option };
    if (output_is_stream(path))
        return EXIT_DONE;
    o->name = path;
    struct stat old;
    bool exists = stat(path, &old) == 0;
    if (exists && S_ISDIR(old.st_mode))
        return failed(o, EISDIR);
    if (exists && !S_ISREG(old.st_mode))
        return open_in_place(o);

    /* The target of a symbolic link is replaced, not the link. */
    char real[PATH_MAX];
    if (!exists || realpath(path, real) == NULL)
        snprintf(real, sizeof real, "%s", path);
    int len = snprintf(target, sizeof target, "%s", real);
    const char *slash = strrchr(target, '/');
    int folder = slash == NULL ? 0 : (int)(slash - target) + 1;
    int more = snprintf(temporary, sizeof temporary, "%.*s.vramscope-XXXXXX", folder, target);
    if (len < 0 || (size_t)len >= sizeof target || more < 0 || (size_t)more >= sizeof temporary)
        return failed(o, ENAMETOOLONG);

    /* Between the file's birth and the flag no signal may come. */
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    o->fd = mkstemp(temporary);
    int error = errno;
    half_written = o->fd >= 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (o->fd < 0)
        return failed(o, error);
    o->temporary = true;
    if (fchmod(o->fd, wanted_mode(exists, &old)) != 0)
        o->error = errno;
    return EXIT_DONE;
}

const char *output_gathers(const struct output *o)
{
    return o->temporary ? temporary : NULL;
}

bool output_is_stream(const char *path)
{
    return path == NULL || strcmp(path, "-") == 0;
}

bool output_is_file(const char *output, const char *other)
{
    struct stat one, two;
    return stat(output, &one) == 0 && S_ISREG(one.st_mode) && stat(other, &two) == 0 &&
           one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

bool output_replaces(const char *option, const char *output, const char *input)
{
    if (output_is_stream(output) || output_is_stream(input) || !output_is_file(output, input))
        return false;
    message("%s %s would replace the recording it reads; name another file", option, output);
    return true;
}

bool output_write(void *output, const char *bytes, size_t len)
{
    struct output *o = output;
    while (len > 0 && o->error == 0) {
        ssize_t wrote = write(o->fd, bytes, len);
        if (wrote >= 0) {
            bytes += wrote;
            len -= (size_t)wrote;
        } else if (errno != EINTR) {
            o->error = errno;
        }
    }
    return o->error == 0;
}

int output_close(struct output *o, bool whole)
{
    if (o->name != NULL && close(o->fd) != 0 && o->error == 0)
        o->error = errno;
    if (o->temporary) {
        if (whole && o->error == 0 && rename(temporary, target) != 0)
            o->error = errno;
        if (!whole || o->error != 0)
            unlink(temporary);
        half_written = 0;
    }
    if (o->error == 0 || o->error == EPIPE)
        return EXIT_DONE;
    return failed(o, o->error);
}
