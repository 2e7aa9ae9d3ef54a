/* serve_http.h - view --serve as a web server: answers, their headers, and how long a connection
 * may keep one waiting. */
#ifndef CLI_SERVE_HTTP_H
#define CLI_SERVE_HTTP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "serve/serve_gate.h"
#include "serve/serve_pages.h"

struct MHD_Daemon;

enum { CONNECTIONS_MOST = 64 };

struct connection {
    int fd;
    bool open, answered; /* answered: its request is whole, and MHD's own limit holds */
    int64_t since_ms;    /* it has not asked for anything */
};

struct server {
    struct served_pages *pages;
    const struct gathered *index; /* NULL: the first page is that of the only file */
    char token[TOKEN_TEXT];
    uint16_t port;
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock; /* of the connections */
    struct connection connection[CONNECTIONS_MOST];
};

/* Serves `pages` at 127.0.0.1, with `port` 0 where the system chooses; both stay the caller's.
 * Only after mhd_load.  Returns EXIT_DONE, or EXIT_FAILED when it has said why. */
int server_start(struct server *server, uint32_t port);

/* To be called every second or so: ends connections that ask too slowly. */
void server_watch(struct server *server);

/* Closes all connections; only after pages_stop said that this does not have to wait. */
void server_stop(struct server *server);

#endif
