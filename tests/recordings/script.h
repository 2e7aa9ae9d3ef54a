/* script.h - the lines of a script, with its files included and its loops unrolled.
 *
 * Every line that is none of those is handed on as words.  `#` after a space or at the beginning
 * ends a line; `$NAME` is the count of the loop of that name, `$(EXPRESSION)` a number. */
#ifndef TESTS_RECORDINGS_SCRIPT_H
#define TESTS_RECORDINGS_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

enum { SCRIPT_WORDS = 32, SCRIPT_LINE = 4096, SCRIPT_LOOPS = 8, SCRIPT_DEPTH = 16 };

struct script_line {
    const char *path;
    unsigned number; /* from 1 */
    char *word[SCRIPT_WORDS];
    unsigned words;   /* what comes after the last word is in `rest` alone */
    const char *rest; /* all after the first word and the space behind it */
};

struct script_loop {
    char name[32];
    uint64_t count;
};

struct script {
    const char *library; /* a folder in which to look for what is included, too; or NULL */
    bool (*take)(void *arg, const struct script_line *line); /* false: stop, it has said why */
    void *arg;
    struct script_loop loop[SCRIPT_LOOPS];
    unsigned loops;
    unsigned depth;  /* of files and loops in each other */
    uint64_t budget; /* lines that may still be taken */
};

/* False when the script has an error, which stderr then knows. */
bool script_run(struct script *s, const char *path);

/* Says what is wrong with a line, on stderr; always false. */
bool script_fail(const struct script_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A number or size: `4MiB`, `1.5GiB`, `512`, with + - * / % and round brackets, no spaces. */
bool script_number(const char *text, uint64_t *ret);

#endif
