/* source_names.h - the strings, frames and stacks that a device's page shows, under ids of its own.
 *
 * Ids are dense and ascend with those of the recording; 0 is none.  Text is that of people: names
 * are bounded, and each stack has its culprit and owner. */
#ifndef VRS_RENDER_PAGE_SOURCE_NAMES_H
#define VRS_RENDER_PAGE_SOURCE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/strings.h"

struct page_names {
    uint32_t *stack_id;        /* of each stack of the recording; 0: not shown */
    uint32_t *stack_row;       /* of each shown stack: that of the recording; row 0 is none */
    uint32_t *culprit, *owner; /* of each shown stack: string; 0 where it only calls another */
    uint32_t *line;            /* the same: frame of the culprit; 0: it is no line */
    uint32_t *site; /* the same: its site under K1, from 1 on; 0: nothing of it is left */
    uint32_t *module,
        *op; /* the same: its modules, the operator or backward node it runs; 0: none */
    /* The same: the operator of naming.h, its innermost line, the line that called its owner; 0:
     * none.  NULL before page_names_apart. */
    uint32_t *runs, *innermost, *called_from;
    uint32_t stacks;
    uint32_t *frame_id, *frame_row; /* the same of frames */
    uint8_t *frame_class;           /* of each shown frame: enum frame_class */
    uint32_t *function, *file;      /* of each shown frame: string */
    uint32_t frames;
    struct strings strings;
};

/* `shown` says of each stack whether something carries it.  Ends with page_names_end, also after a
 * failure. */
enum vrs_status page_names_make(const struct study *s, const bool *shown, struct page_names *ret,
                                struct vrs_error *err) MUST_CHECK;
void page_names_end(struct page_names *names);

/* Adds what tells stacks of one line apart where two devices are compared. */
enum vrs_status page_names_apart(const struct study *s, struct page_names *names,
                                 struct vrs_error *err) MUST_CHECK;

/* The id of a text, old or new. */
enum vrs_status page_names_text(struct page_names *names, str text, uint32_t *ret,
                                struct vrs_error *err) MUST_CHECK;

/* The same of as much of it as answers show: many frames may share one long name. */
enum vrs_status page_names_bounded(struct page_names *names, str text, uint32_t *ret,
                                   struct vrs_error *err) MUST_CHECK;

#endif
