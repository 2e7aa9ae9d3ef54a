/* dribble.h - a source over memory that gives few bytes at a time, or fails at a place. */
#ifndef TESTS_UNIT_DRIBBLE_H
#define TESTS_UNIT_DRIBBLE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "format/input/window.h"

struct dribble {
    const uint8_t *at;
    size_t left;
    size_t step; /* bytes a read; 0: all */
    bool fails;  /* at the end, instead of ending */
    uint32_t reads;
};

static inline enum vrs_status dribble_read(void *self, uint8_t *to, size_t len, size_t *ret,
                                           struct vrs_error *err)
{
    struct dribble *d = self;
    d->reads++;
    if (d->left == 0 && d->fails)
        return vrs_fail(err, VRS_IO, "the disk is on fire");
    if (len > d->left)
        len = d->left;
    if (d->step != 0 && len > d->step)
        len = d->step;
    if (len > 0)
        memcpy(to, d->at, len);
    d->at += len;
    d->left -= len;
    *ret = len;
    return VRS_OK;
}

static inline struct source dribble_source(struct dribble *d)
{
    return (struct source){ .read = dribble_read, .self = d };
}

#endif
