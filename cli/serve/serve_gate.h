/* serve_gate.h - who may ask view --serve for what: the host that a request names, the token in its
 * path, the page behind it. */
#ifndef CLI_SERVE_GATE_H
#define CLI_SERVE_GATE_H

#include <stdbool.h>
#include <stdint.h>

enum { TOKEN_BYTES = 16, TOKEN_TEXT = 2 * TOKEN_BYTES + 1 };

/* 128 random bits as hexadecimal digits; false where the system has none, which errno explains. */
bool gate_token(char ret[TOKEN_TEXT]);

/* Whether a Host header names this machine by its own names, with whatever port: a page of another
 * site reaches a loopback address only under a name of that site.  NULL is a request without. */
bool gate_host(const char *host);

enum {
    GATE_NOWHERE = -2, /* no token, or nothing of that name behind it */
    GATE_BARE = -1     /* the token without the slash that relative links need */
};

/* The page that a path (as it was sent, still percent-encoded) asks for: 0 for the first one, 1 to
 * `pages` for those under a number.  The token is compared in a time that does not depend on how
 * much of it is right. */
int64_t gate_page(const char *path, const char *token, uint32_t pages);

#endif
