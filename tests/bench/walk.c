/* walk.c - steps over every opcode of a pickle and does nothing else: the yardstick of the reader.
 *
 * No reader of the format can do less than find where each opcode begins, so the time of this
 * walk over the same bytes, through a window of the same size, is what the reader's own time is
 * divided by.  The walk is one switch over all opcodes; with --gets-first it asks for the
 * commonest opcodes before the others, which is faster.  With --pass it only adds the bytes up,
 * which is what reading them at all costs. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WINDOW_BYTES ((size_t)1 << 20)

/* The longest opcode without a string or a line: its byte and eight more. */
#define STEP_MAX 9u

struct window {
    int fd;
    bool ended; /* nothing comes after what the window holds */
    bool failed;
    uint64_t before; /* bytes of the file that have left the window */
    const uint8_t *at, *end;
    /* Steps read an opcode's length before they look at `end`, so there is room behind it. */
    uint8_t buf[WINDOW_BYTES + 16];
};

/* Moves what is left to the front and reads behind it until the window is full. */
static void refill(struct window *w)
{
    size_t left = (size_t)(w->end - w->at);
    w->before += (uint64_t)(w->at - w->buf);
    memmove(w->buf, w->at, left);
    while (left < WINDOW_BYTES && !w->ended) {
        ssize_t got = read(w->fd, w->buf + left, WINDOW_BYTES - left);
        if (got < 0 && errno == EINTR)
            continue;
        w->failed = got < 0;
        w->ended = got <= 0;
        left += got > 0 ? (size_t)got : 0;
    }
    w->at = w->buf;
    w->end = w->buf + left;
}

/* Steps over `len` bytes that may reach beyond the window; false where the file ends first. */
static bool skip(struct window *w, uint64_t len)
{
    while (len > (uint64_t)(w->end - w->at)) {
        len -= (uint64_t)(w->end - w->at);
        w->at = w->end;
        if (w->ended)
            return false;
        refill(w);
    }
    w->at += len;
    return true;
}

static bool skip_lines(struct window *w, unsigned lines)
{
    while (lines > 0) {
        const uint8_t *newline = memchr(w->at, '\n', (size_t)(w->end - w->at));
        w->at = newline ? newline + 1 : w->end;
        if (newline) {
            lines--;
        } else if (w->ended) {
            return false;
        } else {
            refill(w);
        }
    }
    return true;
}

static uint64_t little_endian(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = bytes; i > 0; i--)
        value = value << 8 | at[i - 1];
    return value;
}

/* Bytes of each opcode whose length never varies; 0 for the others and for what is none. */
static const uint8_t fixed_bytes[256] = {
    ['('] = 1,  ['0'] = 1,  ['1'] = 1,  ['2'] = 1,  ['N'] = 1,  ['Q'] = 1,  ['R'] = 1,  ['a'] = 1,
    ['b'] = 1,  ['d'] = 1,  ['e'] = 1,  ['l'] = 1,  ['o'] = 1,  ['s'] = 1,  ['t'] = 1,  ['u'] = 1,
    [']'] = 1,  ['}'] = 1,  [')'] = 1,  [0x81] = 1, [0x85] = 1, [0x86] = 1, [0x87] = 1, [0x88] = 1,
    [0x89] = 1, [0x8f] = 1, [0x90] = 1, [0x91] = 1, [0x92] = 1, [0x93] = 1, [0x94] = 1, [0x97] = 1,
    [0x98] = 1, ['K'] = 2,  ['h'] = 2,  ['q'] = 2,  [0x80] = 2, [0x82] = 2, ['M'] = 3,  [0x83] = 3,
    ['J'] = 5,  ['j'] = 5,  ['r'] = 5,  [0x84] = 5, ['G'] = 9,  [0x95] = 9,
};

enum how { HOW_STOP, HOW_END, HOW_UNKNOWN, HOW_ON };

/* Steps over the one opcode at `w->at`, of whatever kind. */
static enum how step_any(struct window *w)
{
    const uint8_t *at = w->at;
    uint64_t len;
    switch (*at) {
    case '.':
        w->at++;
        return HOW_STOP;
    case 0x8a: /* LONG1, then the strings with a length of one byte */
    case 0x8c:
    case 'U':
    case 'C':
        return skip(w, 2 + (uint64_t)at[1]) ? HOW_ON : HOW_END;
    case 'X':
    case 'T':
    case 'B':
    case 0x8b:
        return skip(w, 5 + little_endian(at + 1, 4)) ? HOW_ON : HOW_END;
    case 0x8d:
    case 0x8e:
    case 0x96:
        len = little_endian(at + 1, 8);
        return len <= UINT64_MAX - 9 && skip(w, 9 + len) ? HOW_ON : HOW_END;
    case 'F':
    case 'I':
    case 'L':
    case 'P':
    case 'S':
    case 'V':
    case 'g':
    case 'p':
        return skip_lines(w, 1) ? HOW_ON : HOW_END;
    case 'c':
    case 'i':
        return skip_lines(w, 2) ? HOW_ON : HOW_END;
    default:
        if (fixed_bytes[*at] == 0)
            return HOW_UNKNOWN;
        return skip(w, fixed_bytes[*at]) ? HOW_ON : HOW_END;
    }
}

/* Steps from `w->at` on while whole opcodes are sure to be in the window: one switch. */
static void step(struct window *w, uint64_t *count)
{
    const uint8_t *at = w->at;
    const uint8_t *limit = w->end - STEP_MAX;
    for (; at < limit; ++*count) {
        switch (*at) {
        case '(':
        case '0':
        case '1':
        case 'N':
        case 'a':
        case 'd':
        case 'e':
        case 'l':
        case 's':
        case 't':
        case 'u':
        case ']':
        case '}':
        case ')':
        case 0x85:
        case 0x86:
        case 0x87:
        case 0x88:
        case 0x89:
        case 0x94:
            at += 1;
            break;
        case 'K':
        case 'h':
        case 'q':
            at += 2;
            break;
        case 'M':
            at += 3;
            break;
        case 'J':
        case 'j':
        case 'r':
            at += 5;
            break;
        case 'G':
        case 0x95:
            at += 9;
            break;
        case 0x8a:
        case 0x8c:
            if (at[1] >= limit - at)
                goto out;
            at += 2 + at[1];
            break;
        default:
            goto out;
        }
    }
out:
    w->at = at;
}

/* The same, with the position in a register and the commonest opcodes asked for first: four
 * fifths of all are gets. */
static void step_gets_first(struct window *w, uint64_t *count)
{
    const uint8_t *at = w->at;
    const uint8_t *limit = w->end - STEP_MAX;
    uint64_t n = *count;
    while (at < limit) {
        if (*at == 'h') {
            at += 2;
        } else if (*at == 'j') {
            at += 5;
        } else if (fixed_bytes[*at] > 0) {
            at += fixed_bytes[*at];
        } else if ((*at == 0x8a || *at == 0x8c) && at[1] < limit - at) {
            at += 2 + at[1];
        } else {
            break;
        }
        n++;
    }
    w->at = at;
    *count = n;
}

static enum how walk(struct window *w, bool gets_first, uint64_t *count)
{
    for (;;) {
        if (!w->ended && w->end - w->at < (ptrdiff_t)(STEP_MAX + 1))
            refill(w);
        if (w->at == w->end)
            return HOW_END;
        if (w->end - w->at > (ptrdiff_t)STEP_MAX)
            (gets_first ? step_gets_first : step)(w, count);
        enum how how = step_any(w);
        if (how != HOW_UNKNOWN)
            ++*count;
        if (how != HOW_ON)
            return how;
    }
}

/* Adds up the bytes eight at a time: cheaper than any look at what they mean. */
static uint64_t pass(struct window *w)
{
    uint64_t sum = 0;
    do {
        refill(w);
        const uint8_t *at = w->at;
        for (; w->end - at >= 8; at += 8) {
            uint64_t word;
            memcpy(&word, at, sizeof word);
            sum += word;
        }
        for (; at < w->end; at++)
            sum += *at;
        w->at = w->end;
    } while (!w->ended);
    w->before += (uint64_t)(w->at - w->buf);
    w->at = w->buf;
    return sum;
}

int main(int argc, char **argv)
{
    static struct window window;
    bool only_pass = argc == 3 && strcmp(argv[1], "--pass") == 0;
    bool gets_first = argc == 3 && strcmp(argv[1], "--gets-first") == 0;
    if (argc != (only_pass || gets_first ? 3 : 2) ||
        (argv[argc - 1][0] == '-' && argv[argc - 1][1])) {
        fputs("usage: walk [--pass | --gets-first] FILE\n", stderr);
        return 2;
    }
    const char *path = argv[argc - 1];
    struct window *w = &window;
    w->fd = open(path, O_RDONLY);
    if (w->fd < 0) {
        fprintf(stderr, "walk: %s: %s\n", path, strerror(errno));
        return 3;
    }
    w->at = w->end = w->buf;
    uint64_t count = 0, sum = 0;
    enum how how = HOW_STOP;
    if (only_pass)
        sum = pass(w);
    else
        how = walk(w, gets_first, &count);
    uint64_t bytes = w->before + (uint64_t)(w->at - w->buf);
    close(w->fd);
    if (w->failed || how == HOW_END || how == HOW_UNKNOWN) {
        fprintf(stderr, "walk: %s: byte %" PRIu64 ": %s\n", path, bytes,
                w->failed        ? "cannot be read"
                : how == HOW_END ? "the file is cut"
                                 : "no opcode");
        return 3;
    }
    if (only_pass)
        printf("{ \"bytes\": %" PRIu64 ", \"sum\": %" PRIu64 " }\n", bytes, sum);
    else
        printf("{ \"bytes\": %" PRIu64 ", \"opcodes\": %" PRIu64 " }\n", bytes, count);
    return 0;
}
