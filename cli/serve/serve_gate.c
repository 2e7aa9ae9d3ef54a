/* serve_gate.c - decisions about a request, from its text alone. */
#define _DEFAULT_SOURCE
#include "serve/serve_gate.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

enum { PORT_DIGITS = 5 };

bool gate_token(char ret[TOKEN_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char random[TOKEN_BYTES];
    ssize_t got;
    do
        got = getrandom(random, sizeof random, 0);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof random) /* so few bytes come whole or not at all */
        return false;
    for (size_t i = 0; i < TOKEN_BYTES; i++) {
        ret[2 * i] = digits[random[i] >> 4];
        ret[2 * i + 1] = digits[random[i] & 15];
    }
    ret[TOKEN_TEXT - 1] = '\0';
    return true;
}

/* Nothing, or a colon and digits. */
static bool is_port(const char *text)
{
    if (*text == '\0')
        return true;
    size_t digits = *text == ':' ? strspn(text + 1, "0123456789") : 0;
    return digits > 0 && digits <= PORT_DIGITS && text[1 + digits] == '\0';
}

bool gate_host(const char *host)
{
    static const char *const own[] = { "127.0.0.1", "[::1]", "localhost" };
    for (size_t i = 0; host != NULL && i < sizeof own / sizeof *own; i++) {
        size_t len = strlen(own[i]);
        if (strncasecmp(host, own[i], len) == 0 && is_port(host + len))
            return true;
    }
    return false;
}

static bool is_token(const char *text, const char *token)
{
    unsigned differs = 0;
    for (size_t i = 0; i < TOKEN_TEXT - 1; i++)
        differs |= (unsigned char)text[i] ^ (unsigned char)token[i];
    return differs == 0;
}

/* A number as the index writes it. */
static int64_t page_number(const char *text, uint32_t pages)
{
    uint64_t n = 0;
    if (*text < '1' || *text > '9')
        return GATE_NOWHERE;
    for (; *text >= '0' && *text <= '9' && n <= pages; text++)
        n = n * 10 + (uint64_t)(*text - '0');
    return *text == '\0' && n <= pages ? (int64_t)n : GATE_NOWHERE;
}

int64_t gate_page(const char *path, const char *token, uint32_t pages)
{
    if (strlen(path) < TOKEN_TEXT || path[0] != '/' || !is_token(path + 1, token))
        return GATE_NOWHERE;
    const char *behind = path + TOKEN_TEXT;
    if (*behind == '\0')
        return GATE_BARE;
    if (*behind != '/')
        return GATE_NOWHERE;
    return behind[1] == '\0' ? 0 : page_number(behind + 1, pages);
}
