/* serve_http.c - libmicrohttpd's callbacks: one thread for each connection, which may wait for its
 * page. */
#define _POSIX_C_SOURCE 200809L
#include "serve/serve_http.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <microhttpd.h>

#include "command.h"
#include "message.h"
#include "serve/serve_library.h"
#include "vramscope/snapshot.h"

enum {
    ASKING_MOST_MS = 10000, /* from its beginning, or the answer before, to the end of a request */
    IDLE_MOST_S = 60,       /* no byte of an answer is taken */
    MEMORY_MOST = 16 * 1024 /* of one connection: its request line and headers */
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* What an answer is of: each kind has its own policy. */
enum kind {
    KIND_WORDS, /* text or a page without style */
    KIND_PAGE   /* whose own policy names its style and program; so does that of an index */
};

static void put_headers(struct MHD_Response *response, enum kind kind)
{
    static const char *const policies[] = {
        [KIND_WORDS] = "default-src 'none'; base-uri 'none'; form-action 'none'; "
                       "frame-ancestors 'none'",
        [KIND_PAGE] = "frame-ancestors 'none'",
    };
    static const char *const headers[][2] = {
        { "Cache-Control", "no-store" },
        { "X-Content-Type-Options", "nosniff" },
        { "Referrer-Policy", "no-referrer" },
        { "X-Frame-Options", "DENY" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        mhd.add_response_header(response, headers[i][0], headers[i][1]);
    mhd.add_response_header(response, "Content-Security-Policy", policies[kind]);
}

/* Takes the response over. */
static enum MHD_Result queue(struct MHD_Connection *c, unsigned status, enum kind kind,
                             const char *type, struct MHD_Response *response)
{
    if (response == NULL)
        return MHD_NO;
    put_headers(response, kind);
    mhd.add_response_header(response, "Content-Type", type);
    enum MHD_Result queued = mhd.queue_response(c, status, response);
    mhd.destroy_response(response);
    return queued;
}

/* A few words; `name` and `value` are one more header, or NULL. */
static enum MHD_Result answer_words(struct MHD_Connection *c, unsigned status, const char *words,
                                    const char *name, const char *value)
{
    struct MHD_Response *response = mhd.create_response_from_buffer(
        strlen(words), (void *)(uintptr_t)words, MHD_RESPMEM_MUST_COPY);
    if (response != NULL && name != NULL)
        mhd.add_response_header(response, name, value);
    return queue(c, status, KIND_WORDS, "text/plain; charset=utf-8", response);
}

/* The one line that the terminal has too, and the way back where there is an index. */
static enum MHD_Result answer_failure(const struct server *s, struct MHD_Connection *c,
                                      const char *path, const struct vrs_error *why)
{
    struct gathered html = { 0 };
    struct vrs_sink sink = { gathered_write, &html };
    struct MHD_Response *response = NULL;
    if (vrs_view_unread(path, why, s->index == NULL ? NULL : "./", &sink, NULL) == VRS_OK)
        response = mhd.create_response_from_buffer(html.len, html.at, MHD_RESPMEM_MUST_COPY);
    gathered_free(&html);
    return queue(c, MHD_HTTP_INTERNAL_SERVER_ERROR, KIND_WORDS, "text/html; charset=utf-8",
                 response);
}

/* A page on its way to one reader. */
struct reading {
    struct server *server;
    const struct served_page *page;
    uint32_t input;
};

static ssize_t read_page(void *arg, uint64_t at, char *to, size_t most)
{
    const struct reading *r = arg;
    size_t left = r->page->html.len - (size_t)at;
    size_t len = left < most ? left : most;
    memcpy(to, r->page->html.at + at, len);
    return (ssize_t)len;
}

static void end_reading(void *arg)
{
    struct reading *r = arg;
    pages_give_back(r->server->pages, r->input);
    free(r);
}

static enum MHD_Result answer_page(struct server *s, struct MHD_Connection *c, uint32_t input)
{
    enum { PART = 64 * 1024 };
    /* Making may take longer than a connection may be idle; the limit begins again after it. */
    mhd.set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    const struct served_page *page = pages_take(s->pages, input);
    mhd.set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)IDLE_MOST_S);
    if (page == NULL)
        return MHD_NO;
    if (page->why.status != VRS_OK) {
        enum MHD_Result failed = answer_failure(s, c, s->pages->inputs->at[input].path, &page->why);
        pages_give_back(s->pages, input);
        return failed;
    }
    struct reading *reading = malloc(sizeof *reading);
    struct MHD_Response *response = NULL;
    if (reading != NULL) {
        *reading = (struct reading){ s, page, input };
        response = mhd.create_response_from_callback(page->html.len, PART, read_page, reading,
                                                     end_reading);
    }
    if (response == NULL) {
        free(reading);
        pages_give_back(s->pages, input);
        return MHD_NO;
    }
    return queue(c, MHD_HTTP_OK, KIND_PAGE, "text/html; charset=utf-8", response);
}

struct host {
    const char *name;
    unsigned count;
};

static enum MHD_Result look_for_host(void *arg, enum MHD_ValueKind kind, const char *key,
                                     const char *value)
{
    struct host *host = arg;
    (void)kind;
    if (strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0) {
        host->name = value;
        host->count++;
    }
    return MHD_YES;
}

static bool is_read(const char *method)
{
    return strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
}

static enum MHD_Result answer_request(struct server *s, struct MHD_Connection *c, const char *path,
                                      const char *method)
{
    struct host host = { 0 };
    mhd.get_connection_values(c, MHD_HEADER_KIND, look_for_host, &host);
    if (host.count != 1 || !gate_host(host.name))
        return answer_words(c, MHD_HTTP_FORBIDDEN,
                            "the Host of a request must be 127.0.0.1, [::1] or localhost\n", NULL,
                            NULL);
    int64_t page = gate_page(path, s->token, s->index == NULL ? 0 : s->pages->inputs->count);
    if (page == GATE_NOWHERE)
        return answer_words(c, MHD_HTTP_NOT_FOUND, "there is nothing here\n", NULL, NULL);
    if (!is_read(method))
        return answer_words(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are answered\n",
                            MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (page == GATE_BARE) {
        char target[TOKEN_TEXT + 2];
        snprintf(target, sizeof target, "/%s/", s->token);
        return answer_words(c, MHD_HTTP_MOVED_PERMANENTLY, "the address ends in a slash\n",
                            MHD_HTTP_HEADER_LOCATION, target);
    }
    if (page == 0 && s->index != NULL)
        return queue(
            c, MHD_HTTP_OK, KIND_PAGE, "text/html; charset=utf-8",
            mhd.create_response_from_buffer(s->index->len, s->index->at, MHD_RESPMEM_PERSISTENT));
    return answer_page(s, c, page == 0 ? 0 : (uint32_t)page - 1);
}

/* The connection's own place; NULL where there was none. */
static struct connection *place_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        mhd.get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static void set_answered(struct server *s, struct MHD_Connection *c, bool answered)
{
    struct connection *place = place_of(c);
    if (place == NULL)
        return;
    pthread_mutex_lock(&s->lock);
    place->answered = answered;
    place->since_ms = now_ms();
    pthread_mutex_unlock(&s->lock);
}

/* Is called with the target of a request before it is parted into path and query. */
static void *on_target(void *arg, const char *target, struct MHD_Connection *c)
{
    struct server *s = arg;
    struct connection *place = place_of(c);
    if (place == NULL)
        return NULL;
    pthread_mutex_lock(&s->lock);
    place->target_bytes = strlen(target);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* What refuses a request before anybody looks at what it asks for; 0: nothing does.  MHD hands
 * texts over without their lengths.  It parts the request line in place, so that the version stands
 * behind the whole target: where that is further than its first NUL, there is more behind it. */
static unsigned refused_by(struct server *s, struct MHD_Connection *c, const char *path,
                           const char *version)
{
    const struct connection *place = place_of(c);
    uintptr_t from = (uintptr_t)path, to = (uintptr_t)version;
    if (place == NULL)
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    pthread_mutex_lock(&s->lock);
    bool ending = place->ending;
    size_t bytes = place->target_bytes;
    pthread_mutex_unlock(&s->lock);
    if (to > from && to - from < MEMORY_MOST && to - from != bytes + 1)
        return MHD_HTTP_BAD_REQUEST;
    return ending ? MHD_HTTP_SERVICE_UNAVAILABLE : 0;
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned status)
{
    if (status == MHD_HTTP_BAD_REQUEST)
        return answer_words(c, status, "there is a NUL in the path\n", MHD_HTTP_HEADER_CONNECTION,
                            "close");
    return answer_words(c, status, "too many connections are open; try again\n",
                        MHD_HTTP_HEADER_CONNECTION, "close");
}

/* Is called when a request's headers are whole, with each part of its body, and at its end.  An
 * answer at the first call ends the connection, so there only what is refused gets one. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **context)
{
    struct server *s = arg;
    bool first = *context == NULL, part = *upload_size > 0;
    (void)upload;
    *context = s;
    *upload_size = 0;
    if (is_read(method) && (first || part))
        return MHD_YES;
    set_answered(s, c, true);
    unsigned refused = refused_by(s, c, path, version);
    return refused != 0 ? refuse(c, refused) : answer_request(s, c, path, method);
}

static void on_completed(void *arg, struct MHD_Connection *c, void **context,
                         enum MHD_RequestTerminationCode how)
{
    (void)context;
    (void)how;
    set_answered(arg, c, false);
}

/* Ends a connection that has not asked for anything; its thread then closes it. */
static void give_up(struct connection *place)
{
    place->ending = true;
    shutdown(place->fd, SHUT_RDWR);
}

/* Whoever opens connections and asks nothing keeps nobody out: of too many the one that has been
 * silent for longest is given up.  Where all others are being answered, this one is too many. */
static void make_room(struct server *s, struct connection *newest)
{
    struct connection *oldest = NULL;
    size_t open = 0;
    for (size_t i = 0; i < CONNECTION_PLACES; i++) {
        struct connection *c = &s->connection[i];
        if (!c->open || c->ending)
            continue;
        open++;
        if (c != newest && !c->answered && (oldest == NULL || c->since_ms < oldest->since_ms))
            oldest = c;
    }
    if (open <= CONNECTIONS_MOST)
        return;
    if (oldest != NULL)
        give_up(oldest);
    else
        newest->ending = true;
}

static struct connection *take_place(struct server *s, struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        mhd.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct connection *place = NULL;
    for (size_t i = 0; i < CONNECTION_PLACES && place == NULL; i++)
        place = s->connection[i].open ? NULL : &s->connection[i];
    if (place == NULL || info == NULL)
        return NULL;
    *place = (struct connection){ .fd = info->connect_fd, .open = true, .since_ms = now_ms() };
    make_room(s, place);
    return place;
}

static void on_connection(void *arg, struct MHD_Connection *c, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct server *s = arg;
    pthread_mutex_lock(&s->lock);
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *context = take_place(s, c);
    /* The socket is closed after this, so its number is nobody else's up to here. */
    else if (*context != NULL)
        ((struct connection *)*context)->open = false;
    pthread_mutex_unlock(&s->lock);
}

/* Paths are compared as they were sent: what is encoded is none of ours. */
static size_t leave_encoded(void *arg, struct MHD_Connection *c, char *text)
{
    (void)arg;
    (void)c;
    return strlen(text);
}

static int bind_failed(uint32_t port, int error)
{
    if (error == EADDRINUSE)
        message("--port %u: another program has it; name another one, or leave --port out and the "
                "system chooses",
                (unsigned)port);
    else if (error == EACCES)
        message("--port %u: ports below 1024 are the system's; name a higher one", (unsigned)port);
    else
        message("127.0.0.1 cannot be listened at: %s", strerror(error));
    return -1;
}

/* A listening socket, its port in `*ret_port`; -1 when it has said why there is none. */
static int listen_at(uint32_t port, uint16_t *ret_port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t len = sizeof address;
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return bind_failed(port, errno);
    /* A server that has just ended does not keep its port. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, CONNECTION_PLACES) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) != 0) {
        int error = errno;
        close(fd);
        return bind_failed(port, error);
    }
    *ret_port = ntohs(address.sin_port);
    return fd;
}

int server_start(struct server *s, uint32_t port)
{
    if (!gate_token(s->token)) {
        message("the system has no random bits for an address: %s", strerror(errno));
        return EXIT_FAILED;
    }
    int fd = listen_at(port, &s->port);
    if (fd < 0)
        return EXIT_FAILED;
    pthread_mutex_init(&s->lock, NULL);
    s->daemon = mhd.start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
            MHD_USE_ITC,
        0, NULL, NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTION_PLACES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_MOST_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_MOST, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, s, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_encoded, NULL, MHD_OPTION_URI_LOG_CALLBACK, on_target,
        s, MHD_OPTION_END);
    if (s->daemon == NULL) {
        message("the server cannot be started: %s",
                errno == 0 ? "no reason given" : strerror(errno));
        close(fd);
        pthread_mutex_destroy(&s->lock);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

void server_watch(struct server *s)
{
    int64_t now = now_ms();
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < CONNECTION_PLACES; i++) {
        struct connection *c = &s->connection[i];
        if (c->open && !c->answered && now - c->since_ms > ASKING_MOST_MS)
            give_up(c);
    }
    pthread_mutex_unlock(&s->lock);
}

void server_stop(struct server *s)
{
    mhd.stop_daemon(s->daemon);
    pthread_mutex_destroy(&s->lock);
}
