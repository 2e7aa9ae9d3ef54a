/* junit.h - the parts of JUnit XML: text of a stranger's file, attributes, counts. */
#ifndef VRS_RENDER_WRITE_JUNIT_H
#define VRS_RENDER_WRITE_JUNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* Text of an element or attribute. */
void junit_text(struct buf *to, str text, bool ascii);
void junit_attribute(struct buf *to, const char *name, str value, bool ascii);

/* The counts of a suite, or of all, and the end of its tag. */
void junit_counts(struct buf *to, uint64_t tests, uint64_t failures, uint64_t errors,
                  uint64_t skipped);

#endif
