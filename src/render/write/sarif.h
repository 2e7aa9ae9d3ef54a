/* sarif.h - texts of SARIF 2.1.0. */
#ifndef VRS_RENDER_WRITE_SARIF_H
#define VRS_RENDER_WRITE_SARIF_H

#include "base/buf.h"
#include "base/str.h"

extern const char sarif_schema[];

/* In messages brackets are links and braces arguments. */
void sarif_message(struct buf *to, str text);

/* A path as a relative reference; what is not plain is a percent and two digits. */
void sarif_uri(struct buf *to, str path);

#endif
