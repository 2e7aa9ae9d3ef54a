/* view_serve.c - vramscope view --serve: pages over HTTP, on this machine alone. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "inputs.h"
#include "message.h"
#include "serve/serve_http.h"
#include "serve/serve_index.h"
#include "serve/serve_library.h"
#include "serve/serve_pages.h"
#include "terminal.h"
#include "view.h"

enum { WATCH_MS = 1000 };

static int stop_pipe[2];
static volatile sig_atomic_t stop_signal;

/* The first one ends the server in order, a second one at once. */
static void stop(int signal_number)
{
    int error = errno;
    if (stop_signal != 0)
        _exit(128 + signal_number);
    stop_signal = signal_number;
    if (write(stop_pipe[1], "", 1) < 0)
        _exit(128 + signal_number);
    errno = error;
}

static bool catch_signals(void)
{
    static const int deadly[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action = { .sa_handler = stop };
    if (pipe(stop_pipe) != 0) {
        message("a pipe cannot be made: %s", strerror(errno));
        return false;
    }
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        struct sigaction before;
        /* nohup and the like stay in force. */
        if (sigaction(deadly[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(deadly[i], &action, NULL);
    }
    return true;
}

/* Words that make no sense with --serve; EXIT_DONE where there are none. */
static int check_words(const struct view_settings *s)
{
    const char *picture = view_option_of_picture(s);
    if (!s->serve) {
        message("--port works only with --serve; add --serve, or leave --port out");
        return EXIT_USAGE;
    }
    if (s->common.output != NULL) {
        message("--serve writes no file; leave out -o %s, or --serve", s->common.output);
        return EXIT_USAGE;
    }
    if (picture != NULL) {
        message("%s works only with a picture, and --serve serves pages; leave out %s, or --serve",
                picture, picture);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

/* A page reads its file again whenever it is opened. */
static int check_inputs(const struct inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->count; i++) {
        const char *path = inputs->at[i].path;
        struct stat facts;
        bool piped = strcmp(path, "-") == 0;
        if (piped || (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))) {
            message("%s: --serve reads a file whenever its page is opened, and this can be read "
                    "only once; save it to a file first",
                    piped ? "standard input" : path);
            return EXIT_USAGE;
        }
    }
    return EXIT_DONE;
}

static int say_address(const struct server *server)
{
    errno = 0;
    printf("http://127.0.0.1:%u/%s/\n", (unsigned)server->port, server->token);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        message("standard output: %s; the address is printed there, and nobody else knows it",
                strerror(errno));
        return EXIT_FAILED;
    }
    if (terminal_is(STDERR_FILENO))
        fprintf(stderr,
                "Ctrl-C ends it. From another machine:\n"
                "  ssh -L 8000:127.0.0.1:%u HOST\n"
                "and there open http://127.0.0.1:8000/%s/\n",
                (unsigned)server->port, server->token);
    return EXIT_DONE;
}

static void wait_for_signal(struct server *server)
{
    struct pollfd signalled = { .fd = stop_pipe[0], .events = POLLIN };
    while (stop_signal == 0) {
        poll(&signalled, 1, WATCH_MS);
        server_watch(server);
    }
}

static int serve(struct server *server, uint32_t port)
{
    int ended = server_start(server, port);
    if (ended != EXIT_DONE)
        return ended;
    ended = catch_signals() ? say_address(server) : EXIT_FAILED;
    if (ended == EXIT_DONE) {
        wait_for_signal(server);
        ended = 128 + stop_signal;
    }
    bool idle = pages_stop(server->pages);
    if (terminal_is(STDERR_FILENO))
        fputc('\n', stderr);
    /* What a page is made of belongs to its thread; the system takes it back, and the sockets. */
    if (!idle)
        _exit(ended);
    server_stop(server);
    return ended;
}

/* Reads what is to be read before anybody may ask, then serves. */
static int serve_inputs(const struct view_settings *s, const struct inputs *inputs)
{
    struct gathered index = { 0 };
    struct served_pages pages;
    struct server server = { .pages = &pages, .index = inputs->several ? &index : NULL };
    /* Who lacks it is told at once, not when all files of a folder have been read. */
    if (!mhd_load())
        return EXIT_FAILED;
    int ended = inputs->several ? index_make(s, inputs, &index) : index_try(s, inputs);
    if (ended != EXIT_DONE) {
        gathered_free(&index);
        return ended;
    }
    if (pages_init(&pages, s, inputs)) {
        ended = serve(&server, s->port);
    } else {
        message("out of memory");
        ended = EXIT_FAILED;
    }
    pages_free(&pages);
    gathered_free(&index);
    return ended;
}

int view_serve(const struct view_settings *s, int count, char *const *names)
{
    struct inputs inputs;
    int ended = check_words(s);
    if (ended != EXIT_DONE)
        return ended;
    if (fcntl(STDOUT_FILENO, F_GETFD) < 0) {
        message("standard output is closed, and the address is printed there; let it go to a "
                "terminal or a file");
        return EXIT_FAILED;
    }
    if (s->common.user_root != NULL)
        (void)view_user_root_is_folder(s->common.user_root);
    ended = inputs_find(count, names, &inputs);
    inputs_sort(&inputs);
    /* A folder without recordings does not hide the others. */
    if (ended != EXIT_USAGE && inputs.count > 0)
        ended = check_inputs(&inputs) == EXIT_DONE ? serve_inputs(s, &inputs) : EXIT_USAGE;
    inputs_free(&inputs);
    return ended;
}
