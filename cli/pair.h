/* pair.h - what verbs that compare two recordings, traces or measurements share. */
#ifndef CLI_PAIR_H
#define CLI_PAIR_H

#include "command.h"
#include "vramscope/measurement.h"
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

/* And of two measurements. */
typedef enum vrs_status measurement_comparison(const struct vrs_measurement *a, const char *a_path,
                                               const struct vrs_measurement *b, const char *b_path,
                                               const void *settings, struct vrs_result **ret,
                                               struct vrs_error *err);

/* `settings` begins with struct common. */
struct pair_question {
    comparison *ask; /* NULL: the verb compares no snapshots */
    trace_comparison *ask_traces;
    measurement_comparison *ask_measurements;
    const void *settings;
    const char *one_refused; /* why one file is not enough; NULL: it is */
    const char *folder_refused; /* what is wanted in the place of a folder; NULL: it stands for its
                                   files */
};

/* Parses nothing: `files` are the operands, one or two of them.  Returns the exit status. */
int answer_pair(const struct command *command, const struct pair_question *question, int count,
                char *const *files);

#endif
