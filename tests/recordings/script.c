/* script.c - reading lines, loops, includes and numbers. */
#include "script.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRIPT_BYTES = 1 << 20 };

bool script_fail(const struct script_line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%u: ", line->path, line->number);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

/* Numbers. */

struct number_text {
    const char *at;
    unsigned depth;
    bool failed;
};

static uint64_t sum(struct number_text *t);

static double summary_of(struct number_text *t)
{
    static const char *const names[] = { "KiB", "MiB", "GiB", "TiB" };
    double unit = 1;
    for (unsigned i = 0; i < 4; i++) {
        unit *= 1024;
        if (strncmp(t->at, names[i], 3) == 0) {
            t->at += 3;
            return unit;
        }
    }
    return 1;
}

static uint64_t factor(struct number_text *t)
{
    if (*t->at == '(' && t->depth < SCRIPT_DEPTH) {
        t->depth++;
        t->at++;
        uint64_t value = sum(t);
        t->failed = t->failed || *t->at != ')';
        t->at += *t->at == ')';
        t->depth--;
        return value;
    }
    if (!isdigit((unsigned char)*t->at)) {
        t->failed = true;
        return 0;
    }
    char *end = NULL;
    double value = strtod(t->at, &end);
    t->at = end;
    value *= summary_of(t);
    t->failed = t->failed || !(value < 9e18);
    return t->failed ? 0 : (uint64_t)value;
}

static uint64_t product(struct number_text *t)
{
    uint64_t value = factor(t);
    while (!t->failed && *t->at != '\0' && strchr("*/%", *t->at) != NULL) {
        char what = *t->at++;
        uint64_t other = factor(t);
        if (what == '*') {
            value *= other;
        } else if (other == 0) {
            t->failed = true;
        } else {
            value = what == '/' ? value / other : value % other;
        }
    }
    return value;
}

static uint64_t sum(struct number_text *t)
{
    uint64_t value = product(t);
    while (!t->failed && (*t->at == '+' || *t->at == '-')) {
        char what = *t->at++;
        uint64_t other = product(t);
        value = what == '+' ? value + other : value - other;
    }
    return value;
}

bool script_number(const char *text, uint64_t *ret)
{
    struct number_text t = { .at = text };
    uint64_t value = sum(&t);
    if (t.failed || *t.at != '\0')
        return false;
    *ret = value;
    return true;
}

/* Lines. */

static const struct script_loop *find_loop(const struct script *s, const char *name, size_t len)
{
    for (unsigned i = s->loops; i > 0; i--)
        if (strlen(s->loop[i - 1].name) == len && memcmp(s->loop[i - 1].name, name, len) == 0)
            return &s->loop[i - 1];
    return NULL;
}

static size_t name_length(const char *text)
{
    size_t len = 0;
    while (isalnum((unsigned char)text[len]) || text[len] == '_')
        len++;
    return len;
}

/* Copies `from` with every $NAME replaced by its count; false where it is too long or unknown. */
static bool put_counts(const struct script *s, const struct script_line *line, const char *from,
                       char *to)
{
    size_t len = 0;
    while (*from != '\0') {
        size_t name = *from == '$' ? name_length(from + 1) : 0;
        char digits[24] = { *from, '\0' };
        if (name > 0) {
            const struct script_loop *loop = find_loop(s, from + 1, name);
            if (loop == NULL)
                return script_fail(line, "no loop is called %.*s", (int)name, from + 1);
            snprintf(digits, sizeof digits, "%llu", (unsigned long long)loop->count);
        }
        from += 1 + name;
        if (len + strlen(digits) >= SCRIPT_LINE)
            return script_fail(line, "the line is too long");
        memcpy(to + len, digits, strlen(digits));
        len += strlen(digits);
    }
    to[len] = '\0';
    return true;
}

/* Replaces every $(EXPRESSION), in place: a number is never longer than what it is made of, save
 * for a difference that is negative, which fails. */
static bool put_expressions(const struct script_line *line, char *text)
{
    for (char *at = strstr(text, "$("); at != NULL; at = strstr(at, "$(")) {
        char *end = at + 1;
        for (unsigned depth = 0; *end != '\0'; end++) {
            depth += *end == '(';
            depth -= *end == ')';
            if (depth == 0)
                break;
        }
        if (*end == '\0')
            return script_fail(line, "$( without its bracket");
        char kept = end[1], digits[24];
        uint64_t value;
        end[1] = '\0';
        bool good = script_number(at + 1, &value) && value < (uint64_t)1 << 62;
        end[1] = kept;
        snprintf(digits, sizeof digits, "%llu", good ? (unsigned long long)value : 0ull);
        if (!good || strlen(digits) > (size_t)(end + 1 - at))
            return script_fail(line, "not a number: %.*s", (int)(end + 1 - at), at);
        memmove(at + strlen(digits), end + 1, strlen(end + 1) + 1);
        memcpy(at, digits, strlen(digits));
    }
    return true;
}

static bool split(struct script_line *line, char *text)
{
    for (char *at = text; line->words < SCRIPT_WORDS;) {
        at += strspn(at, " \t");
        if (*at == '\0')
            break;
        line->word[line->words++] = at;
        at += strcspn(at, " \t");
        if (*at == '\0')
            break;
        *at++ = '\0';
    }
    return line->words > 0;
}

/* Without what begins with a # and without space at both ends. */
static void strip(char *text)
{
    for (char *at = text; *at != '\0'; at++)
        if (*at == '#' && (at == text || isspace((unsigned char)at[-1])))
            *at = '\0';
    size_t len = strlen(text);
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        text[--len] = '\0';
    size_t begin = strspn(text, " \t");
    memmove(text, text + begin, len - begin + 1);
}

/* One file, as lines. */
struct lines {
    const char *path;
    char **line;
    unsigned count;
};

static bool run_lines(struct script *s, const struct lines *l, unsigned first, unsigned end);

/* The line of the bracket that closes the loop which begins at `first`; `end` where there is none.
 */
static unsigned closing(const struct lines *l, unsigned first, unsigned end)
{
    unsigned depth = 0;
    for (unsigned i = first; i < end && (i == first || depth > 0); i++) {
        size_t len = strlen(l->line[i]);
        depth += len > 0 && l->line[i][len - 1] == '{';
        if (strcmp(l->line[i], "}") == 0 && --depth == 0)
            return i;
    }
    return end;
}

/* repeat COUNT [as NAME] { */
static bool run_loop(struct script *s, const struct lines *l, const struct script_line *line,
                     unsigned close)
{
    uint64_t count;
    bool named = line->words == 5 && strcmp(line->word[2], "as") == 0;
    const char *name = named ? line->word[3] : "i";
    if ((line->words != 3 && !named) || !script_number(line->word[1], &count))
        return script_fail(line, "wanted: repeat COUNT [as NAME] {");
    if (s->loops == SCRIPT_LOOPS)
        return script_fail(line, "more than %d loops in each other", SCRIPT_LOOPS);
    if (strlen(name) >= sizeof s->loop[0].name || name_length(name) != strlen(name))
        return script_fail(line, "not a name for a loop: %s", name);
    struct script_loop *loop = &s->loop[s->loops++];
    memcpy(loop->name, name, strlen(name) + 1);
    bool good = true;
    for (loop->count = 0; loop->count < count && good; loop->count++)
        good = run_lines(s, l, line->number, close);
    s->loops--;
    return good;
}

/* if NUMBER ==|!=|< NUMBER { */
static bool run_if(struct script *s, const struct lines *l, const struct script_line *line,
                   unsigned close)
{
    uint64_t left, right;
    if (line->words != 5 || !script_number(line->word[1], &left) ||
        !script_number(line->word[3], &right))
        return script_fail(line, "wanted: if NUMBER ==|!=|< NUMBER {");
    const char *what = line->word[2];
    bool equals = strcmp(what, "==") == 0, differs = strcmp(what, "!=") == 0;
    if (!equals && !differs && strcmp(what, "<") != 0)
        return script_fail(line, "not ==, != or <: %s", what);
    bool runs = equals ? left == right : differs ? left != right : left < right;
    return !runs || run_lines(s, l, line->number, close);
}

static bool run_block(struct script *s, const struct lines *l, const struct script_line *line,
                      unsigned end)
{
    unsigned close = closing(l, line->number - 1, end);
    if (close == end)
        return script_fail(line, "the line begins no block, or it has no }");
    return strcmp(line->word[0], "if") == 0 ? run_if(s, l, line, close)
                                            : run_loop(s, l, line, close);
}

/* The file beside the script, else in the library. */
static bool include(struct script *s, const struct script_line *line)
{
    char path[SCRIPT_LINE];
    const char *slash = strrchr(line->path, '/');
    int folder = slash == NULL ? 0 : (int)(slash + 1 - line->path);
    if (line->words != 2)
        return script_fail(line, "wanted: include FILE");
    int len = snprintf(path, sizeof path, "%.*s%s", folder, line->path, line->word[1]);
    FILE *found = len < SCRIPT_LINE ? fopen(path, "rb") : NULL;
    if (found != NULL)
        fclose(found);
    else if (s->library != NULL)
        len = snprintf(path, sizeof path, "%s/%s", s->library, line->word[1]);
    return len < SCRIPT_LINE && script_run(s, path);
}

static bool run_line(struct script *s, const struct lines *l, unsigned i, unsigned end,
                     bool *ret_block)
{
    char counted[SCRIPT_LINE], parted[SCRIPT_LINE];
    struct script_line line = { .path = l->path, .number = i + 1, .rest = "" };
    if (l->line[i][0] == '\0')
        return true;
    if (s->budget == 0)
        return script_fail(&line, "the script does not come to an end");
    s->budget--;
    if (!put_counts(s, &line, l->line[i], counted) || !put_expressions(&line, counted))
        return false;
    memcpy(parted, counted, strlen(counted) + 1);
    split(&line, parted);
    size_t first = strlen(line.word[0]);
    line.rest = counted + first + strspn(counted + first, " \t");
    *ret_block = strcmp(line.word[0], "repeat") == 0 || strcmp(line.word[0], "if") == 0;
    if (*ret_block)
        return run_block(s, l, &line, end);
    if (strcmp(line.word[0], "include") == 0)
        return include(s, &line);
    return s->take(s->arg, &line);
}

static bool run_lines(struct script *s, const struct lines *l, unsigned first, unsigned end)
{
    bool good = ++s->depth < SCRIPT_DEPTH;
    if (!good)
        fprintf(stderr, "%s: too deep\n", l->path);
    for (unsigned i = first; i < end && good; i++) {
        bool block = false;
        good = run_line(s, l, i, end, &block);
        if (good && block)
            i = closing(l, i, end);
    }
    s->depth--;
    return good;
}

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = file == NULL ? NULL : calloc(1, SCRIPT_BYTES);
    size_t len = text == NULL ? 0 : fread(text, 1, SCRIPT_BYTES - 1, file);
    if (text == NULL || ferror(file) || len == SCRIPT_BYTES - 1) {
        fprintf(stderr, "%s: cannot be read\n", path);
        free(text);
        text = NULL;
    }
    if (file != NULL)
        fclose(file);
    return text;
}

bool script_run(struct script *s, const char *path)
{
    char *text = read_all(path);
    char **line = text == NULL ? NULL : calloc(strlen(text) + 1, sizeof *line);
    bool good = line != NULL;
    struct lines l = { path, line, 0 };
    for (char *at = text, *next; good && at != NULL; at = next) {
        next = strchr(at, '\n');
        if (next != NULL)
            *next++ = '\0';
        strip(at);
        line[l.count++] = at;
    }
    good = good && run_lines(s, &l, 0, l.count);
    free(line);
    free(text);
    return good;
}
