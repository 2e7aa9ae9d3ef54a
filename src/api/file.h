/* file.h - what the public handles are. */
#ifndef VRS_API_FILE_H
#define VRS_API_FILE_H

#include "allocator/replay.h"
#include "model/recording.h"
#include "vramscope/vramscope.h"

struct vrs_recording {
    struct recording *model;
    struct agreement *agreement; /* of each device: what replaying it found */
    str path;                    /* as it was opened */
    str entry;                   /* ptr NULL: the file is one recording */
};

/* Copies a caller's options, whose first member is their size (0: as this library knows them),
 * over zeroed ones of ours: what an older caller does not have keeps its default, what a newer
 * one has more is not looked at.  `from` may be NULL. */
void options_take(void *to, size_t size, const void *from);

/* Text of a caller; NULL is empty. */
str text_or_empty(const char *text);

#endif
