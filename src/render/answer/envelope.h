/* envelope.h - what every answer has: the file, the device, how far it can be trusted. */
#ifndef VRS_RENDER_ANSWER_ENVELOPE_H
#define VRS_RENDER_ANSWER_ENVELOPE_H

#include <stdint.h>

#include "analysis/snapshot/trust/trust.h"
#include "base/buf.h"
#include "model/file_facts.h"
#include "model/recording.h"
#include "render/write/human.h"
#include "render/write/json.h"

/* Columns of the word that a line of an answer begins with, as in "trust A  every check …". */
enum { ENVELOPE_LABEL = 9 };

/* The member "file". */
void envelope_file(struct json *j, const struct file_facts *file);

/* "run.pickle", "page.html #2" */
void envelope_name(struct buf *to, const struct style *style, const struct file_facts *file);

/* The first line of an answer: the name, what it is, the grade unless it is 0. */
void envelope_file_text(struct buf *to, const struct style *style, const struct file_facts *file,
                        uint32_t devices, char grade);
/* The same with how the file was written: "pickle protocol 4 in gzip". */
void envelope_source_text(struct buf *to, const struct style *style, const struct file_facts *file,
                          uint32_t devices);
void envelope_trust_text(struct buf *to, const struct style *style, const struct trust *trust);
/* The same behind another word of five letters than "trust". */
void envelope_trust_labelled(struct buf *to, const struct style *style, const char *label,
                             const struct trust *trust);

/* The grade and what it means, in place of what is wrong. */
void envelope_grade_text(struct buf *to, const struct style *style, const struct trust *trust);

/* Of a file that is not complete: "INCOMPLETE: cut at byte 812 in the traces" */
void envelope_cut_text(struct buf *to, const struct origin *o);

/* Of a recording without memory or events: that it is so, and how to make a better one. */
void envelope_nothing_text(struct buf *to, const struct style *style);

/* "device 1" on a line of its own, unless it is what a reader expects: device 0 alone. */
void envelope_heading_text(struct buf *to, const struct style *style, struct device_name name,
                           uint32_t devices);

/* "device 0", "host memory 0" */
void envelope_device_text(struct buf *to, struct device_name name);

/* "cuda:0", "host:0": as programs name them, and pictures */
void envelope_device_name(struct buf *to, struct device_name name);

/* The left word of a line, so that what follows stands in one column. */
void envelope_label(struct buf *to, const struct style *style, const char *label);

/* A label and words, which may be painted, on as many lines as they need.  Empties `words`. */
void envelope_words(struct buf *to, const struct style *style, const char *label,
                    struct buf *words);

#endif
