/* pprof.h - the messages of a profile as pprof reads it, which snapshots and traces are written as.
 *
 * A message is built in `message`, one inside it in `inner`; both are empty between two. */
#ifndef VRS_RENDER_EXPORT_PPROF_H
#define VRS_RENDER_EXPORT_PPROF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/out.h"

enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14
};
enum sample_field { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };

struct pprof {
    struct out *out;
    struct buf message, inner;
    uint32_t words; /* rows of strings so far */
};

void pprof_init(struct pprof *p, struct out *out);
void pprof_free(struct pprof *p);
bool pprof_failed(const struct pprof *p);

/* Writes `message` as this member of the profile. */
void pprof_flush(struct pprof *p, uint32_t field);

/* The row of a new string. */
uint32_t pprof_string(struct pprof *p, str text);
/* A type of values: rows of strings. */
void pprof_type(struct pprof *p, uint32_t type, uint32_t unit);
/* Into the sample that is being built: rows of strings. */
void pprof_label(struct pprof *p, uint32_t key, uint32_t word);

/* A function and the place in it that samples name, which have the same number, from 1. */
struct pprof_place {
    uint64_t id;
    uint32_t name, file, line; /* the first two are rows of strings */
    bool has_file, has_line;
    bool begins_there; /* the line is that of the function, too */
};
void pprof_place(struct pprof *p, const struct pprof_place *place);

/* Rows of strings for the tool's name and for what is to be said of the file, 0 where `cut` is
 * empty. */
struct pprof_comments {
    uint32_t tool, cut;
};
struct pprof_comments pprof_comment_words(struct pprof *p, const char *tool, str cut);
void pprof_comments(struct pprof *p, struct pprof_comments comments);

#endif
