/* options.c - reads a verb's arguments by its tables. */
#include "options.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

#define IN(member) offsetof(struct common, member)

const struct option_spec replay_options[] = {
    { 0, "replay", "WHEN",
      "replay the allocator, which makes active and allocated bytes exact: auto (default, up to "
      "200,000 events), always or never",
      OPTION_CHOICE, IN(replay), "auto always never" },
    { 0 },
};

const struct option_spec input_options[] = {
    { 0, "device", "NUMBER", "only this device", OPTION_DEVICE, IN(device), NULL },
    { 0, "user-root", "FOLDER", "frames under FOLDER are your own code, wherever it lies",
      OPTION_PATH, IN(user_root), NULL },
    { 0, "library", "GLOB", "frames whose path matches GLOB are not your own code", OPTION_TEXT,
      IN(library), NULL },
    { 0, "threads", "COUNT",
      "read at most COUNT files at a time (default: the number of processors; at most 64); with "
      "one file, use at most COUNT threads",
      OPTION_THREADS, IN(threads), NULL },
    { 0, "limit", "NAME=VALUE",
      "raise a limit on what a file may contain: nesting, string, strings, items, unpacked, frames",
      OPTION_LIMIT, IN(limits), "nesting= string= strings= items= unpacked= frames=" },
    { 0 },
};

const struct option_spec output_options[] = {
    { 'j', "json", NULL, "print JSON instead of text", OPTION_FLAG, IN(json), NULL },
    { 'o', "output", "FILE", "write to FILE, which appears only when it is whole", OPTION_PATH,
      IN(output), NULL },
    { 0, "color", "WHEN", "auto (default), always or never", OPTION_CHOICE, IN(colour),
      "auto always never" },
    { 0, "ascii", NULL, "draw with ASCII characters only", OPTION_FLAG, IN(ascii), NULL },
    { 'h', "help", NULL, "print a summary of these options", OPTION_FLAG, IN(help), NULL },
    { 0 },
};

static const struct {
    const char *name;
    size_t offset;
} limit_names[] = {
    { "nesting", offsetof(struct vrs_limits, nesting) },
    { "string", offsetof(struct vrs_limits, string_bytes) },
    { "strings", offsetof(struct vrs_limits, strings_bytes) },
    { "items", offsetof(struct vrs_limits, items) },
    { "unpacked", offsetof(struct vrs_limits, unpacked_bytes) },
    { "frames", offsetof(struct vrs_limits, frames) },
};

const struct option_spec *option_at(const struct command *command, size_t i)
{
    for (size_t group = 0; group < OPTION_GROUPS && command->options[group] != NULL; group++) {
        const struct option_spec *spec = command->options[group];
        for (; spec->name != NULL; spec++) {
            if (i-- == 0)
                return spec;
        }
    }
    return NULL;
}

static const struct option_spec *by_letter(const struct command *command, char letter)
{
    const struct option_spec *spec;
    for (size_t i = 0; (spec = option_at(command, i)) != NULL; i++) {
        if (spec->letter != 0 && spec->letter == letter)
            return spec;
    }
    return NULL;
}

static const struct option_spec *by_name(const struct command *command, const char *name,
                                         size_t len)
{
    const struct option_spec *spec;
    for (size_t i = 0; (spec = option_at(command, i)) != NULL; i++) {
        if (strlen(spec->name) == len && memcmp(spec->name, name, len) == 0)
            return spec;
    }
    return NULL;
}

static bool is_choice(const char *choices, const char *value)
{
    size_t len = strlen(value);
    for (const char *at = choices; *at != '\0'; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word == len && memcmp(at, value, len) == 0)
            return true;
        at += word;
    }
    return false;
}

static bool whole_number(const char *text, uint64_t most, uint64_t *ret)
{
    char *end = NULL;
    errno = 0;
    unsigned long long n = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    if (end == NULL || *end != '\0' || errno != 0 || n > most)
        return false;
    *ret = n;
    return true;
}

static int set_limit(struct vrs_limits *limits, const char *value)
{
    const char *equal = strchr(value, '=');
    size_t len = equal == NULL ? strlen(value) : (size_t)(equal - value);
    for (size_t i = 0; i < sizeof limit_names / sizeof *limit_names; i++) {
        const char *name = limit_names[i].name;
        if (strlen(name) != len || memcmp(name, value, len) != 0)
            continue;
        uint64_t n = 0;
        if (equal != NULL && equal[1] != '\0' && (!vrs_size(equal + 1, &n) || n == 0)) {
            message("--limit %s takes a number or a size from 1 to 2^64 - 1, not \"%.40s\"", name,
                    equal + 1);
            return EXIT_USAGE;
        }
        if (equal == NULL || n == 0) {
            message("--limit %s needs a value, such as %s=%s", name, name,
                    limit_names[i].offset == offsetof(struct vrs_limits, nesting) ? "128" : "4GiB");
            return EXIT_USAGE;
        }
        memcpy((char *)limits + limit_names[i].offset, &n, sizeof n);
        return EXIT_DONE;
    }
    message("there is no limit \"%.*s\"; limits are nesting, string, strings, items, unpacked and "
            "frames",
            (int)(len < 64 ? len : 64), value);
    return EXIT_USAGE;
}

/* A whole number from 1 to `most`. */
static int set_count(const struct option_spec *spec, const char *value, uint32_t most, void *to)
{
    uint64_t n = 0;
    if (!whole_number(value, most, &n) || n == 0) {
        message("--%s does not take \"%s\": a whole number from 1 to %u", spec->name, value,
                (unsigned)most);
        return EXIT_USAGE;
    }
    memcpy(to, &(uint32_t){ (uint32_t)n }, sizeof(uint32_t));
    return EXIT_DONE;
}

static int wrong_value(const struct option_spec *spec, const char *value, const char *wanted)
{
    message("--%s does not take \"%s\": %s", spec->name, value, wanted);
    return EXIT_USAGE;
}

static int add_value(const struct option_spec *spec, struct option_list *list, const char *value)
{
    if (list->count == OPTION_LIST_MOST) {
        message("--%s is given more than %d times; use several runs", spec->name, OPTION_LIST_MOST);
        return EXIT_USAGE;
    }
    list->at[list->count++] = value;
    return EXIT_DONE;
}

static int add_pair(const struct option_spec *spec, struct option_pairs *pairs, const char *value)
{
    if (pairs->count == OPTION_LIST_MOST) {
        message("more than %d limits; put them into a file", OPTION_LIST_MOST);
        return EXIT_USAGE;
    }
    pairs->at[pairs->count++] = (struct option_pair){ spec->name, value };
    return EXIT_DONE;
}

/* An option without an argument. */
static int take_bare(const struct option_spec *spec, void *to)
{
    assert(spec->argument == NULL);
    if (spec->kind == OPTION_PAIR)
        return add_pair(spec, to, NULL);
    assert(spec->kind == OPTION_FLAG);
    *(bool *)to = true;
    return EXIT_DONE;
}

/* Puts one value, NULL for an option that takes none, where its row says. */
static int take(const struct option_spec *spec, const char *value, void *settings)
{
    void *to = (char *)settings + spec->offset;
    if (value == NULL)
        return take_bare(spec, to);
    uint64_t n = 0;
    int64_t device;
    switch (spec->kind) {
    case OPTION_FLAG: /* takes none */
        break;
    case OPTION_CHOICE:
        if (!is_choice(spec->choices, value)) {
            message("--%s does not take \"%s\"; it is one of: %s", spec->name, value,
                    spec->choices);
            return EXIT_USAGE;
        }
        memcpy(to, &value, sizeof value);
        return EXIT_DONE;
    case OPTION_TEXT:
    case OPTION_PATH:
        memcpy(to, &value, sizeof value);
        return EXIT_DONE;
    case OPTION_COUNT:
        return set_count(spec, value, UINT32_MAX, to);
    case OPTION_THREADS:
        return set_count(spec, value, VRS_THREADS_MOST, to);
    case OPTION_PORT:
        return set_count(spec, value, UINT16_MAX, to);
    case OPTION_SIZE:
        if (!vrs_size(value, &n) || n == 0)
            return wrong_value(spec, value, "a size, such as 24GiB, 512MiB or a number of bytes");
        memcpy(to, &n, sizeof n);
        return EXIT_DONE;
    case OPTION_LIST:
        return add_value(spec, to, value);
    case OPTION_PAIR:
        return add_pair(spec, to, value);
    case OPTION_DEVICE:
        if (!whole_number(value, UINT32_MAX, &n))
            return wrong_value(spec, value, "a device's number, from 0");
        device = (int64_t)n + 1;
        memcpy(to, &device, sizeof device);
        return EXIT_DONE;
    case OPTION_LIMIT:
        return set_limit(to, value);
    }
    return EXIT_USAGE;
}

/* Answers an option that only another verb has; `typed` is "-s" or "--stacks".  False where none
 * has it. */
static bool say_whose(const char *typed)
{
    for (size_t i = 0; commands[i] != NULL; i++) {
        const struct option_spec *spec = typed[1] == '-'
                                             ? by_name(commands[i], typed + 2, strlen(typed + 2))
                                             : by_letter(commands[i], typed[1]);
        if (spec == NULL)
            continue;
        message("%s belongs to %s: vramscope %s %s%s%s ...", typed, commands[i]->name,
                commands[i]->name, typed, spec->argument == NULL ? "" : " ",
                spec->argument == NULL ? "" : spec->argument);
        return true;
    }
    return false;
}

static int unknown(const struct command *command, const char *name, size_t len)
{
    char typed[64] = "--";
    char *shown = typed + 2;
    if (len >= sizeof typed - 2)
        len = sizeof typed - 3;
    memcpy(shown, name, len);
    shown[len] = '\0';
    if (say_whose(typed))
        return EXIT_USAGE;
    struct nearest nearest = { .text = shown };
    const struct option_spec *spec;
    for (size_t i = 0; (spec = option_at(command, i)) != NULL; i++)
        nearest_offer(&nearest, spec->name);
    if (nearest.best == NULL)
        message("%s has no option --%s (vramscope help %s lists all)", command->name, shown,
                command->name);
    else
        message("%s has no option --%s; the nearest is --%s (vramscope help %s lists all)",
                command->name, shown, nearest.best, command->name);
    return EXIT_USAGE;
}

struct arguments {
    int count, at;
    char **value;
};

static int lacks_value(const struct option_spec *spec)
{
    message("--%s needs a value: %s", spec->name, spec->argument);
    return EXIT_USAGE;
}

/* The value of an option: behind its "=" (or its letter), else the next argument. */
static int needs_value(const struct option_spec *spec, const char *attached, struct arguments *args,
                       const char **ret)
{
    *ret = attached;
    if (spec->argument == NULL && attached != NULL) {
        message("--%s takes no value", spec->name);
        return EXIT_USAGE;
    }
    if (spec->argument == NULL)
        return EXIT_DONE;
    if (attached == NULL && args->at >= args->count)
        return lacks_value(spec);
    if (attached == NULL)
        *ret = args->value[args->at++];
    return spec->kind == OPTION_PATH && **ret == '\0' ? lacks_value(spec) : EXIT_DONE;
}

static int long_option(const struct command *command, const char *text, struct arguments *args,
                       void *settings)
{
    size_t len = strcspn(text, "=");
    const struct option_spec *spec = by_name(command, text, len);
    if (spec == NULL)
        return unknown(command, text, len);
    const char *value;
    int wrong = needs_value(spec, text[len] == '=' ? text + len + 1 : NULL, args, &value);
    return wrong != EXIT_DONE ? wrong : take(spec, value, settings);
}

/* "-j", "-jn5", "-n 5" */
static int short_options(const struct command *command, const char *text, struct arguments *args,
                         void *settings)
{
    for (; *text != '\0'; text++) {
        const struct option_spec *spec = by_letter(command, *text);
        if (spec == NULL && say_whose((char[]){ '-', *text, '\0' }))
            return EXIT_USAGE;
        if (spec == NULL) {
            message("%s has no option -%c (vramscope help %s lists all)", command->name, *text,
                    command->name);
            return EXIT_USAGE;
        }
        bool attached = spec->argument != NULL && text[1] != '\0';
        const char *value;
        int wrong = needs_value(spec, attached ? text + 1 : NULL, args, &value);
        if (wrong == EXIT_DONE)
            wrong = take(spec, value, settings);
        if (wrong != EXIT_DONE || attached)
            return wrong;
    }
    return EXIT_DONE;
}

int options_parse(const struct command *command, int argc, char **argv, void *settings,
                  int *ret_operands)
{
    struct arguments args = { .count = argc, .value = argv };
    int operands = 0;
    bool ended = false;
    while (args.at < args.count) {
        char *text = args.value[args.at++];
        int wrong = EXIT_DONE;
        if (ended || text[0] != '-' || text[1] == '\0')
            argv[operands++] = text; /* never ahead of what was read */
        else if (strcmp(text, "--") == 0)
            ended = true;
        else if (text[1] == '-')
            wrong = long_option(command, text + 2, &args, settings);
        else
            wrong = short_options(command, text + 1, &args, settings);
        if (wrong != EXIT_DONE)
            return wrong;
    }
    *ret_operands = operands;
    return EXIT_DONE;
}
