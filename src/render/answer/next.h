/* next.h - the commands to type next, with which an answer ends. */
#ifndef VRS_RENDER_ANSWER_NEXT_H
#define VRS_RENDER_ANSWER_NEXT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "model/file_facts.h"
#include "render/write/human.h"

/* "next     vramscope peak run.pickle --stacks   # whole stacks": one line to be typed, the
 * meaning left out where it does not fit.  `options` begins with a blank or is empty.  For a name
 * that cannot be typed FILE stands, or BEFORE where it is the first of two.  Where one device was
 * asked about, so does the command. */
void next_line(struct buf *to, const struct style *style, const char *label, const char *verb,
               str path, const char *options, const char *meaning);

/* The command alone: "vramscope peak run.pickle --stacks". */
void next_command(struct buf *to, const struct style *style, const char *verb, str path,
                  const char *options);

/* A size as an option takes it, exact and short: "24124MiB", "1000". */
void next_size(struct buf *to, uint64_t bytes);

/* Appends " --device 1" to options where the command would else mean another device, or several. */
void next_device(struct buf *options, struct device_name name, uint32_t devices);

#endif
