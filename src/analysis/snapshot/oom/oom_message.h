/* oom_message.h - the figures in the text of an out-of-memory error, of any version of PyTorch.
 *
 * The text is a person's clipboard: broken into lines anywhere, with a traceback around it, or
 * hostile.  What is not recognised is unknown, and nothing else goes wrong. */
#ifndef VRS_ANALYSIS_SNAPSHOT_OOM_OOM_MESSAGE_H
#define VRS_ANALYSIS_SNAPSHOT_OOM_OOM_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"

/* Longer texts are read up to here. */
enum { OOM_MESSAGE_BYTES_MAX = 1 << 20 };

/* A size as it was printed: "10.94 MiB" is 11471421 bytes, give or take half of 0.01 MiB. */
struct said {
    uint64_t bytes; /* UNKNOWN_U64: not said */
    uint64_t slack; /* half a unit of the last place */
};

struct oom_message {
    bool any;                  /* something was recognised */
    int64_t device;            /* -1: not said */
    struct said tried;         /* asked of the device: 2 MiB, 20 MiB or a multiple of 2 MiB */
    struct said capacity;      /* of the card */
    struct said free;          /* on the card, whoever uses the rest */
    struct said process;       /* all of this process, PyTorch or not */
    struct said allowed;       /* the limit of set_per_process_memory_fraction */
    struct said allocated;     /* by PyTorch; free bytes of private pools are in it */
    struct said private_pools; /* free in private pools */
    struct said unallocated;   /* reserved, not allocated */
    struct said reserved;      /* in total: the old wordings */
    bool preemptive;           /* refused before the device was asked */
};

/* Nothing said. */
struct oom_message oom_message_none(void);

/* VRS_NOMEM is the only failure. */
enum vrs_status oom_message_read(str text, struct arena *scratch, struct oom_message *ret,
                                 struct vrs_error *err) MUST_CHECK;

/* What PyTorch had reserved, by the text: as said, or the sum of its parts. */
struct said oom_message_reserved(const struct oom_message *m);

/* Does a measured figure lie within what was printed?  True where either is unknown. */
bool said_agrees(struct said said, uint64_t measured);

static inline bool is_said(struct said said)
{
    return said.bytes != UNKNOWN_U64;
}

#endif
