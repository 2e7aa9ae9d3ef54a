/* file.h - the structs behind the public handles. */
#ifndef VRS_API_FILE_H
#define VRS_API_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/replay/prove.h"
#include "base/fail.h"
#include "base/pool.h"
#include "base/str.h"
#include "model/recording.h"
#include "vramscope/vramscope.h"

/* The proof of a recording, worked out when it is first asked for. */
struct proving {
    uint64_t events_max; /* devices of more are not replayed; none is where `rounded_only` */
    struct lock *lock;   /* of all below until `done`, but not of `rounded_only` */
    bool done;
    struct proof proof; /* its agreements say what is refused even before */
};

struct vrs_recording {
    const struct recording *model;
    struct proving *proving; /* NULL: the recording could not be read */
    uint32_t threads;        /* for one question; 0: one for each processor */
    str path;                /* as it was opened */
    str entry;               /* ptr NULL: the file is one recording */
};

/* Replays what was not yet, if it is to be: the proof is final then. */
enum vrs_status recording_prove(const struct vrs_recording *recording,
                                struct vrs_error *err) MUST_CHECK;

/* Copies a caller's options, whose first member is their size (0: as this library knows them),
 * over zeroed ones of ours: what an older caller does not have keeps its default, what a newer
 * one has more is not looked at.  `from` may be NULL. */
void options_take(void *to, size_t size, const void *from);

/* Text of a caller; NULL is empty. */
str text_or_empty(const char *text);

#endif
