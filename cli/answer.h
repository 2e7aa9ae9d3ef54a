/* answer.h - what verbs about recordings have in common: read each, ask one thing, write. */
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include "options.h"

/* One analysis of one recording, by the verb's settings. */
typedef enum vrs_status analysis(const struct vrs_recording *recording, const char *path,
                                 const void *settings, struct vrs_result **ret,
                                 struct vrs_error *err);

/* `settings` begins with struct common; `write` has what only the verb knows of the form. */
struct question {
    analysis *ask;
    const void *settings;
    struct vrs_write_options write;
    const char *snapshot; /* also write the run of the one recording to this file; NULL: no */
};

/* Parses nothing: `files` are the operands.  Answers every file it can and returns the exit
 * status; one bad file does not hide the good ones. */
int answer_files(const struct command *command, const struct question *question, int count,
                 char *const *files);

#endif
