/* command.h - struct command, one verb of the command line: its options, help and functions.
 *
 * One struct command for each verb, each in its own cmd_VERB.c and listed in commands.c.  Help,
 * the OPTIONS of the man page and the completions are printed from it, so they cannot disagree.
 *
 * Options are data too: each says what it takes and where the value goes in the verb's settings,
 * a struct of its own whose first member is `struct common`. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_FLAG,    /* bool */
    OPTION_TEXT,    /* const char * */
    OPTION_PATH,    /* const char *, the name of a file or folder: not empty */
    OPTION_CHOICE,  /* const char *, one of `choices` */
    OPTION_COUNT,   /* uint32_t, at least 1 */
    OPTION_THREADS, /* uint32_t, 1 to VRS_THREADS_MOST */
    OPTION_PORT,    /* uint32_t, 1 to 65535 */
    OPTION_SIZE,    /* uint64_t: bytes, at least 1 */
    OPTION_LIST,    /* struct option_list: may stand more than once */
    OPTION_PAIR,    /* struct option_pairs, which several options share; may stand more than once */
    OPTION_DEVICE,  /* int64_t: a device's number plus 1 */
    OPTION_LIMIT    /* struct vrs_limits: NAME=VALUE */
};

/* The values of an option that may stand more than once, in their order. */
enum { OPTION_LIST_MOST = 64 };
struct option_list {
    const char *at[OPTION_LIST_MOST];
    uint32_t count;
};

/* Options with their values, in their order; an option without an argument has no value. */
struct option_pair {
    const char *name, *value;
};
struct option_pairs {
    struct option_pair at[OPTION_LIST_MOST];
    uint32_t count;
};

/* An array of these ends with a row without a name. */
struct option_spec {
    char letter; /* or 0 */
    const char *name;
    const char *argument; /* what help calls the value; NULL: it takes none */
    const char *help;
    enum option_kind kind;
    size_t offset;       /* in the verb's settings */
    const char *choices; /* with a blank between them: all values of a choice, of others those
                          * that completions offer; or NULL */
};

/* The exit codes.  1 and 4 belong to verbs that judge; a signal ends with 128 plus its number. */
enum { EXIT_DONE = 0, EXIT_NO = 1, EXIT_USAGE = 2, EXIT_FAILED = 3, EXIT_UNDECIDED = 4 };

enum { OPTION_GROUPS = 4 };

struct command {
    const char *name;
    const char *summary;  /* one line, no full stop */
    const char *synopsis; /* what stands behind the name */
    const char *about;    /* paragraphs for help; lines at most 78 wide */
    const char *examples; /* lines to type, each with its meaning after " # " */
    const struct option_spec *options[OPTION_GROUPS]; /* NULL where there are fewer */
    int (*run)(const struct command *self, int argc, char **argv);
};

/* All verbs in the order of a user's day; NULL ends it. */
extern const struct command *const commands[];

const struct command *command_find(const char *name);

/* Answers an unknown verb, with the nearest one where one is near; EXIT_USAGE. */
int command_unknown(const char *name);

/* Of the names offered, the one that `text` was most likely meant to be; `best` is NULL where none
 * is near enough to be that. */
struct nearest {
    const char *text, *best;
    unsigned distance;
};
void nearest_offer(struct nearest *n, const char *name);

#endif
