/* help.c - help for people, as wide as their terminal, and for man pages. */
#define _POSIX_C_SOURCE 200809L
#include "help.h"

#include <errno.h>
#include <string.h>

#include "message.h"
#include "options.h"
#include "terminal.h"

enum {
    VERB_COLUMN = 13,
    OPTION_COLUMN = 26,
    EXAMPLE_COLUMN = 47,
    NARROW_COLUMN = 8, /* instead, where a meaning would have less than LEAST_ROOM */
    TYPED_COLUMN = 4,  /* of what is typed, from its second line on */
    LEAST_ROOM = 24,
};

struct page {
    FILE *out;
    size_t width, at; /* the column that is next */
};

static struct page page_on(FILE *out)
{
    return (struct page){ .out = out, .width = terminal_width(fileno(out)) };
}

/* Characters; all of ours are one column wide. */
static size_t columns_of(const char *text, size_t len)
{
    size_t columns = 0;
    for (size_t i = 0; i < len; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

static void put(struct page *p, const char *text, size_t len)
{
    fwrite(text, 1, len, p->out);
    p->at += columns_of(text, len);
}

static void put_text(struct page *p, const char *text)
{
    put(p, text, strlen(text));
}

static void end_line(struct page *p)
{
    fputc('\n', p->out);
    p->at = 0;
}

static void pad_to(struct page *p, size_t column)
{
    while (p->at < column)
        put(p, " ", 1);
}

static size_t word_len(const char *text, const char *end)
{
    size_t len = 0;
    while (text + len < end && strchr(" \n", text[len]) == NULL)
        len++;
    return len;
}

/* Bytes of an option with the value that follows it; of one word where there is none. */
static size_t pair_len(const char *text, const char *end)
{
    size_t word = word_len(text, end);
    bool has_value = *text == '-' && text + word + 1 < end && text[word + 1] != '-';
    return has_value ? word + 1 + word_len(text + word + 1, end) : word;
}

/* Words from where the line stands on, wrapped to hang at `indent`.  Where they are `typed`, a
 * shell goes on behind a line that ends, and an option stays with its value where there is room.
 * Returns whether a line ended. */
static bool wrap_words(struct page *p, const char *text, size_t len, size_t indent, bool typed)
{
    bool broken = false;
    const char *gap = "", *tail = typed ? " \\" : "", *end = text + len;
    while (text < end) {
        size_t word = word_len(text, end), pair = typed ? pair_len(text, end) : 0;
        if (pair > word && indent + columns_of(text, pair) + strlen(tail) <= p->width)
            word = pair;
        size_t behind = text + word < end ? strlen(tail) : 0;
        if (p->at > indent && p->at + strlen(gap) + columns_of(text, word) + behind > p->width) {
            put_text(p, tail);
            end_line(p);
            pad_to(p, indent);
            gap = "";
            broken = true;
        }
        put_text(p, gap);
        put(p, text, word);
        gap = " ";
        for (text += word; text < end && strchr(" \n", *text) != NULL;)
            text++;
    }
    return broken;
}

static void put_words(struct page *p, const char *text, size_t len, size_t indent)
{
    wrap_words(p, text, len, indent, false);
    end_line(p);
}

/* What the beginning of the line means, in a column of its own. */
static void put_meaning(struct page *p, const char *text, size_t len, size_t column)
{
    if (column + LEAST_ROOM > p->width)
        column = NARROW_COLUMN;
    if (p->at >= column)
        end_line(p);
    pad_to(p, column);
    put_words(p, text, len, column);
}

/* Lines of "what to type # meaning". */
static void put_examples(struct page *p, const char *examples)
{
    for (const char *line = examples; *line != '\0'; line += strspn(line, "\n")) {
        size_t len = strcspn(line, "\n");
        const char *mark = strstr(line, " # ");
        bool meant = mark != NULL && mark < line + len;
        size_t typed = meant ? (size_t)(mark - line) : len;
        put_text(p, "  ");
        bool broken = wrap_words(p, line, typed, TYPED_COLUMN, true);
        if (broken || !meant)
            end_line(p);
        if (meant && p->at + 2 > EXAMPLE_COLUMN && p->at + len - typed - 1 <= p->width) {
            put_text(p, "  ");
            put_words(p, mark + 3, len - typed - 3, 0);
        } else if (meant) {
            put_meaning(p, mark + 3, len - typed - 3, EXAMPLE_COLUMN);
        }
        line += len;
    }
}

/* A line that stays as it is where it fits; else what stands behind its last gap of several blanks
 * hangs there. */
static void put_indented(struct page *p, const char *line, size_t len)
{
    bool wide = columns_of(line, len) > p->width;
    size_t hang = 0;
    for (size_t i = 2; wide && i < len; i++)
        if (line[i - 2] == ' ' && line[i - 1] == ' ' && line[i] != ' ')
            hang = i;
    put(p, line, wide ? hang : len);
    if (wide)
        put_words(p, line + hang, len - hang, hang);
    else
        end_line(p);
}

/* Paragraphs, of which blank and indented lines are lines of their own. */
static void put_prose(struct page *p, const char *text)
{
    while (*text != '\0') {
        const char *end = text;
        do
            end += strcspn(end, "\n") + 1;
        while (strchr(" \n", *text) == NULL && strchr(" \n", *end) == NULL);
        if (strchr(" \n", *text) == NULL)
            put_words(p, text, (size_t)(end - text), 0);
        else
            put_indented(p, text, (size_t)(end - text) - 1);
        p->at = 0;
        text = end;
    }
}

void help_overview(FILE *out)
{
    struct page p = page_on(out);
    put_prose(&p, "vramscope reads memory snapshots and profiler traces of PyTorch, and says who "
                  "held the memory and where the time went.\n\n");
    put_examples(&p, "vramscope report run.pickle # one page: the peak and who held it\n"
                     "vramscope peak run.pickle --stacks # the same, with their stacks\n"
                     "vramscope peak run.pickle --at oom # what was alive when it failed\n"
                     "vramscope report ranks/ # one line for each rank\n"
                     "vramscope trace run.pt.trace.json.gz # how busy the GPU was, and why not\n");
    put_prose(&p, "\nusage: vramscope VERB [options] FILE...\n\n");
    for (size_t i = 0; commands[i] != NULL; i++) {
        put_text(&p, "  ");
        put_text(&p, commands[i]->name);
        put_meaning(&p, commands[i]->summary, strlen(commands[i]->summary), VERB_COLUMN);
    }
    put_prose(&p,
              "\n"
              "A FILE is a snapshot (pickle, JSON or exported HTML page) or a profiler trace "
              "(JSON), each also in gzip or zstd; a folder of them, or - for standard input. "
              "report, diff, check and export read both, trace and diagnose traces alone, the "
              "others snapshots. Nothing in a file is ever executed.\n"
              "\n"
              "vramscope help VERB lists a verb's options; vramscope --version the version.\n");
}

static void put_option(struct page *p, const struct option_spec *spec)
{
    if (spec->letter != 0) {
        put_text(p, "  -");
        put(p, &spec->letter, 1);
        put_text(p, ", --");
    } else {
        put_text(p, "      --");
    }
    put_text(p, spec->name);
    if (spec->argument != NULL) {
        put_text(p, "=");
        put_text(p, spec->argument);
    }
    put_meaning(p, spec->help, strlen(spec->help), OPTION_COLUMN);
}

void help_verb(FILE *out, const struct command *command)
{
    struct page p = page_on(out);
    put_text(&p, "vramscope ");
    put_text(&p, command->name);
    put_text(&p, ": ");
    put_words(&p, command->summary, strlen(command->summary), 0);
    end_line(&p);
    put_examples(&p, command->examples);
    end_line(&p);
    put_text(&p, "usage: vramscope ");
    put_text(&p, command->name);
    put_text(&p, " ");
    put_words(&p, command->synopsis, strlen(command->synopsis), NARROW_COLUMN);
    end_line(&p);
    const struct option_spec *spec;
    for (size_t i = 0; (spec = option_at(command, i)) != NULL; i++)
        put_option(&p, spec);
    end_line(&p);
    put_prose(&p, command->about);
}

/* scdoc takes these as markup. */
static void put_scd(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("_*\\<>#~", *text) != NULL)
            fputc('\\', out);
        fputc(*text, out);
    }
}

void help_scd(FILE *out, const struct command *command)
{
    fputs("# OPTIONS\n", out);
    const struct option_spec *spec;
    for (size_t i = 0; (spec = option_at(command, i)) != NULL; i++) {
        fputc('\n', out);
        if (spec->letter != 0)
            fprintf(out, "*-%c*, ", spec->letter);
        fprintf(out, "*--%s*", spec->name);
        if (spec->argument != NULL)
            fprintf(out, " _%s_", spec->argument);
        fputs("\n\t", out);
        put_scd(out, spec->help);
        fputs(".\n", out);
    }
}

int help_finish(void)
{
    /* What did not fit into the buffer was written, and perhaps not, before. */
    bool written = ferror(stdout) == 0;
    if ((fflush(stdout) == 0 && written) || errno == EPIPE)
        return EXIT_DONE;
    message("standard output: %s", strerror(errno));
    return EXIT_FAILED;
}

/* Whether the forms of output can be had together. */
static bool forms_agree(const struct common *common)
{
    if (common->csv && common->json)
        message("--json and --csv are two forms; choose one");
    else if (common->csv && (common->stacks || common->all_frames))
        message("%s has no place in --csv; leave one of them out",
                common->stacks ? "--stacks" : "--all-frames");
    else
        return true;
    return false;
}

bool verb_begins(const struct command *self, int argc, char **argv, void *settings,
                 int *ret_operands, int *ret_exit)
{
    const struct common *common = settings;
    *ret_exit = options_parse(self, argc, argv, settings, ret_operands);
    if (*ret_exit != EXIT_DONE)
        return false;
    if (!common->help) {
        *ret_exit = forms_agree(common) ? EXIT_DONE : EXIT_USAGE;
        return *ret_exit == EXIT_DONE;
    }
    help_verb(stdout, self);
    *ret_exit = help_finish();
    return false;
}
