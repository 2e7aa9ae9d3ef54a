/* pair.h - what verbs that compare two recordings share. */
#ifndef CLI_PAIR_H
#define CLI_PAIR_H

#include "command.h"
#include "vramscope/snapshot.h"
#include "vramscope/trace.h"

/* One analysis of two recordings, by the verb's settings; `a` and `b` are one where one file was
 * named. */
typedef enum vrs_status comparison(const struct vrs_recording *a, const char *a_path,
                                   const struct vrs_recording *b, const char *b_path,
                                   const void *settings, struct vrs_result **ret,
                                   struct vrs_error *err);

/* The same of two profiler traces. */
typedef enum vrs_status trace_comparison(const struct vrs_trace *a, const char *a_path,
                                         const struct vrs_trace *b, const char *b_path,
                                         const void *settings, struct vrs_result **ret,
                                         struct vrs_error *err);

/* `settings` begins with struct common. */
struct pair_question {
    comparison *ask;
    trace_comparison *ask_traces; /* NULL: the verb reads no traces */
    const void *settings;
    const char *one_refused; /* why one file is not enough; NULL: it is */
};

/* Parses nothing: `files` are the operands, one or two of them.  Returns the exit status. */
int answer_pair(const struct command *command, const struct pair_question *question, int count,
                char *const *files);

#endif
