/* answer.h - what verbs about recordings have in common: read each, ask one thing, write. */
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "command.h"
#include "inputs.h"
#include "options.h"
#include "vramscope/measurement.h"
#include "vramscope/snapshot.h"
#include "vramscope/trace.h"

/* One analysis of one recording, by the verb's settings. */
typedef enum vrs_status analysis(const struct vrs_recording *recording, const char *path,
                                 const void *settings, struct vrs_result **ret,
                                 struct vrs_error *err);

/* The same of a profiler trace. */
typedef enum vrs_status trace_analysis(const struct vrs_trace *trace, const char *path,
                                       const void *settings, struct vrs_result **ret,
                                       struct vrs_error *err);

/* Fails with VRS_USAGE where the settings are words that make no sense of whatever recording. */
typedef enum vrs_status words_check(const void *settings, struct vrs_error *err);

/* `settings` begins with struct common; `write` has what only the verb knows of the form, its
 * format where that is not JSON. */
struct verb_question {
    analysis *ask;
    trace_analysis *ask_trace; /* NULL: the verb reads no traces */
    words_check *check; /* before any file is read; NULL: any words will do */
    void *settings;
    struct vrs_write_options write;
    /* What the verb has to say about the inputs before any is read: EXIT_DONE, or another exit
     * status with which all ends; or NULL. */
    int (*check_inputs)(const struct inputs *inputs, const void *settings);
    /* Of several inputs, when all have answered: told of each result, in the order of the inputs;
     * then whether what it hears of the others makes it ask this file anew.  Both or neither. */
    void (*observe)(void *settings, const char *path, const struct vrs_result *result);
    bool (*again)(const void *settings, const char *path, const struct vrs_result *result);
    /* The answer about a file that could not be read, for verbs whose documents tell of it; or
     * NULL.  `unread_beside`: it stands beside answers, never alone.
     */
    enum vrs_status (*unread)(const char *path, const struct vrs_error *why,
                              struct vrs_result **ret, struct vrs_error *err);
    bool unread_beside;
    /* What run.json, in a folder that is the only operand, adds to the answers about the files
     * there; or NULL. */
    enum vrs_status (*run)(const char *path, struct vrs_result **ret, struct vrs_error *err);
    bool *ret_several;    /* told before the first `ask`: there are several inputs; or NULL */
    bool strict;          /* what could not be decided is an exit status of its own; so is a file
                             of a folder that is no recording */
    const char *snapshot; /* also write the run of the one recording to this file; NULL: no */
};

/* All of a verb that is one question: reads its options into the settings and answers. */
int answer_run(const struct command *command, const struct verb_question *question, int argc,
               char **argv);

/* Parses nothing: `files` are the operands.  Answers every file it can and returns the exit
 * status; one bad file does not hide the good ones. */
int answer_files(const struct command *command, const struct verb_question *question, int count,
                 char *const *files);

/* An option of a verb that means something of memory snapshots alone, and in words what does it for
 * traces; NULL: nothing does. */
struct snapshot_option {
    const char *name, *instead;
};

/* Of a verb that reads traces too: VRS_USAGE where an option was given that means something of
 * memory snapshots alone, which would be ignored.  `own` is such an option of the verb itself, or
 * NULL. */
enum vrs_status answer_refuse_of_snapshots(const struct common *common,
                                           const struct snapshot_option *own,
                                           struct vrs_error *err);

/* The parts of it that verbs of another form share. */

/* `alone`: the only file, so that its progress is shown and one question may use all threads. */
enum vrs_status answer_open(const struct common *common, const char *path, bool alone,
                            struct vrs_file **ret, struct vrs_error *err);

/* The same of whatever the path holds, told by its bytes: one of the two is given. */
enum vrs_status answer_open_any(const struct common *common, const char *path, bool alone,
                                struct vrs_file **ret_file, struct vrs_trace **ret_trace,
                                struct vrs_error *err);

/* The same of all that two can be compared of. */
enum vrs_status answer_open_comparable(const struct common *common, const char *path, bool alone,
                                       struct vrs_comparable *ret, struct vrs_error *err);

/* The same of a path that is to hold a trace, and alone. */
enum vrs_status answer_open_trace(const struct common *common, const char *path,
                                  struct vrs_trace **ret, struct vrs_error *err);

/* Why a memory timeline has no part in an answer about other files. */
#define ANSWER_TIMELINE_ALONE                                                                      \
    "a memory timeline, which is left out beside other files; vramscope trace FILE answers it alone"

/* Writes to standard output or -o, in the form that `common` and `write` ask for.  What was written
 * well may still say no, EXIT_NO, or nothing, EXIT_UNDECIDED. */
int answer_write(const struct common *common, struct vrs_write_options write,
                 const struct vrs_result *result);

/* The same of several results, which are text but for one. */
int answer_write_all(const struct common *common, struct vrs_write_options write,
                     const struct vrs_result *const *results, uint32_t count);

/* Whether the output would replace an input, which it then has said. */
bool answer_output_is_input(const char *option, const char *output, const struct inputs *inputs);

#endif
