/* serve_http.h - view --serve as a web server: answers, their headers, and how long a connection
 * may keep one waiting. */
#ifndef CLI_SERVE_HTTP_H
#define CLI_SERVE_HTTP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "serve/serve_gate.h"
#include "serve/serve_pages.h"

struct MHD_Daemon;

/* CONNECTIONS_ENDING: places beside them, for those given up that are not closed yet, and for those
 * that are told to come back later. */
enum { CONNECTIONS_MOST = 64, CONNECTIONS_ENDING = 64 };
enum { CONNECTION_PLACES = CONNECTIONS_MOST + CONNECTIONS_ENDING };

struct connection {
    int fd;
    bool open, answered; /* answered: its request is whole, and MHD's own limit holds */
    bool ending;         /* given up, or one too many: it keeps nobody else out */
    int64_t since_ms;    /* it has not asked for anything */
    size_t target_bytes; /* of its request's target, up to a NUL */
};

struct server {
    struct served_pages *pages;
    const struct gathered *index; /* NULL: the first page is that of the only file */
    char token[TOKEN_TEXT];
    uint16_t port;
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock; /* of the connections */
    struct connection connection[CONNECTION_PLACES];
};

/* Serves `pages` at 127.0.0.1, with `port` 0 where the system chooses; both stay the caller's.
 * Only after mhd_load.  Returns EXIT_DONE, or EXIT_FAILED when it has said why. */
int server_start(struct server *server, uint32_t port);

/* To be called every second or so: ends connections that ask too slowly. */
void server_watch(struct server *server);

/* Closes all connections; only after pages_stop said that this does not have to wait. */
void server_stop(struct server *server);

#endif
