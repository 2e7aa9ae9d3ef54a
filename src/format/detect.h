/* detect.h - what an input is, told by its first bytes; file names say nothing. */
#ifndef VRS_FORMAT_DETECT_H
#define VRS_FORMAT_DETECT_H

#include <stdbool.h>

#include "base/fail.h"
#include "format/input/window.h"

enum form {
    FORM_GZIP,
    FORM_ZSTD,
    FORM_PICKLE,
    FORM_JSON,
    FORM_HTML,
    FORM_OTHER, /* see detect_refuse */
};

/* Looks without taking; but in front of JSON and HTML a byte order mark and white space go. */
enum form detect_form(struct window *w);

/* Whether a page was written by vramscope, for people: it has columns and no recording. */
bool detect_is_view(struct window *page);

/* What was asked for. */
enum wanted { WANTED_SNAPSHOT, WANTED_TRACE, WANTED_MEASUREMENT };

/* Says what FORM_OTHER is and what to do about it; always fails. */
enum vrs_status detect_refuse(struct window *w, enum wanted wanted,
                              struct vrs_error *err) MUST_CHECK;

#endif
