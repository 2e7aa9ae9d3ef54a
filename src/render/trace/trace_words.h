/* trace_words.h - the sentences about a trace; each appends nothing where there is none to say. */
#ifndef VRS_RENDER_TRACE_TRACE_WORDS_H
#define VRS_RENDER_TRACE_TRACE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/write/human.h"

/* "2 events without a time, which were left out".  `one`: what the file is a list of. */
void trace_damage_words(struct buf *to, const struct style *style, const struct trace_file *file,
                        const struct damage_row *damage, const char *one);

/* Why a file that is not complete is not: "the file ends too early". */
const char *trace_incomplete_words(const struct trace_file *file);

/* A name of the file, which may be longer than a sentence bears. */
void trace_name(struct buf *to, const struct style *style, str name);

/* "device 0 (NVIDIA H100)" */
void trace_device_words(struct buf *to, const struct style *style, const struct trace_device *d);

/* Whether a device is so busy that the time is in what runs there. */
bool trace_time_is_on_devices(const struct trace_report *r);

/* How busy each device was and what it waited for most; or what there is instead of devices. */
void trace_verdict_words(struct buf *to, const struct style *style, const struct trace_report *r);
/* Idle time by class, and that of a late host by reason. */
void trace_idle_words(struct buf *to, const struct style *style, const struct trace_report *r);
void trace_late_words(struct buf *to, const struct style *style, const struct trace_report *r);
void trace_steps_words(struct buf *to, const struct style *style, const struct trace_report *r);
void trace_memory_words(struct buf *to, const struct style *style, const struct trace_report *r);
/* How much of the device time could not be led back to the host's code. */
void trace_links_words(struct buf *to, const struct style *style, const struct trace_report *r);

/* What a class of gaps, a reason and a kind of step are called. */
const char *trace_gap_word(uint8_t kind);
const char *trace_reason_word(uint8_t reason);
const char *trace_step_word(uint8_t kind);
/* "GPU 0", "host", by the numbers that memory events have. */
void trace_memory_device(struct buf *to, int64_t device_type, int64_t number);

#endif
