/* nearest.c - the known name nearest to a misspelt one, by edit distance. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "command.h"

enum { LONGEST = 32 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: edits, with two neighbours swapped counting as one.  The texts are
 * a handful of letters, so the whole table is kept. */
static unsigned edits(const char *a, const char *b)
{
    size_t rows = strnlen(a, LONGEST), columns = strnlen(b, LONGEST);
    unsigned cost[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= rows; i++)
        cost[i][0] = (unsigned)i;
    for (size_t j = 0; j <= columns; j++)
        cost[0][j] = (unsigned)j;
    for (size_t i = 1; i <= rows; i++) {
        for (size_t j = 1; j <= columns; j++) {
            unsigned best = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = least(best, cost[i - 1][j] + 1);
            best = least(best, cost[i][j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, cost[i - 2][j - 2] + 1);
            cost[i][j] = best;
        }
    }
    return cost[rows][columns];
}

/* The beginning of a text in small letters, as all names are. */
static void lower(const char *text, char to[LONGEST + 1])
{
    size_t len = strnlen(text, LONGEST);
    memcpy(to, text, len);
    to[len] = '\0';
    for (size_t i = 0; i < len; i++)
        if (text[i] >= 'A' && text[i] <= 'Z')
            to[i] = (char)(text[i] - 'A' + 'a');
}

void nearest_offer(struct nearest *n, const char *name)
{
    char typed[LONGEST + 1];
    if (strlen(n->text) > LONGEST)
        return; /* no name is so long */
    lower(n->text, typed);
    /* The beginning of a name is most likely that name, however much is missing. */
    size_t len = strlen(n->text);
    unsigned distance = len > 0 && strncmp(name, typed, len) == 0 ? 0 : edits(typed, name);
    /* With more than about a third of its letters wrong it is another word. */
    unsigned most = len < 5 ? 1 : (unsigned)(len + 1) / 3;
    if (distance > most)
        return;
    if (n->best == NULL || distance < n->distance) {
        n->best = name;
        n->distance = distance;
    }
}
