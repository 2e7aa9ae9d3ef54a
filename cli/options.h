/* options.h - reads a verb's arguments by its tables. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vramscope/snapshot.h>

#include "command.h"

/* What every verb that reads recordings takes; the first member of its settings. */
struct common {
    bool help, json, csv, ascii, stacks, all_frames, all_ranks;
    const char *output; /* NULL or "-": standard output */
    const char *colour;
    uint32_t rows;    /* 0: the verb's own default */
    uint32_t threads; /* 0: one for each processor */
    int64_t device;   /* its number plus 1; 0: all */
    const char *user_root, *library;
    const char *replay; /* when opening replays: "auto", "always", "never"; NULL: auto */
    struct vrs_limits limits;
};

/* The groups that such a verb lists after its own options; the first only where a replay makes its
 * answer exact. */
extern const struct option_spec replay_options[], input_options[], output_options[];

/* The row of --csv: `rows` is what each line is about. */
#define OPTION_CSV(rows)                                                                           \
    {                                                                                              \
        0, "csv", NULL, "print " rows " as comma-separated values", OPTION_FLAG,                   \
            offsetof(struct common, csv), NULL                                                     \
    }

/* What text about many devices leaves out otherwise. */
#define OPTION_ALL_RANKS                                                                           \
    {                                                                                              \
        0, "all-ranks", NULL,                                                                      \
            "of more than three files or devices print every page, not those of the worst alone",  \
            OPTION_FLAG, offsetof(struct common, all_ranks), NULL                                  \
    }

/* What a stack in text leaves out otherwise. */
#define OPTION_ALL_FRAMES                                                                          \
    {                                                                                              \
        0, "all-frames", NULL,                                                                     \
            "print stacks with all their frames, those of the interpreter and of libraries in "    \
            "C++ "                                                                                 \
            "too",                                                                                 \
            OPTION_FLAG, offsetof(struct common, all_frames), NULL                                 \
    }

/* The row of -n, whose default is the verb's own. */
#define OPTION_ROWS(help)                                                                          \
    {                                                                                              \
        'n', "rows", "COUNT", help, OPTION_COUNT, offsetof(struct common, rows), NULL              \
    }

/* What the options of each analysis in vramscope.h begin with: `o` are these, `common` is what was
 * typed, `name` the path. */
#define COMMON_MEMBERS(o, common, name)                                                            \
    .size = sizeof(o),                                                                             \
    .about = { (name), (common)->user_root, (common)->library, { (common)->device } }

/* Fills `settings`, which the caller has zeroed, and moves what is no option to the front of
 * `argv`.  Returns EXIT_DONE, or EXIT_USAGE when it has said what is wrong. */
int options_parse(const struct command *command, int argc, char **argv, void *settings,
                  int *ret_operands);

/* The i-th option of a verb through all groups; NULL behind the last. */
const struct option_spec *option_at(const struct command *command, size_t i);

#endif
