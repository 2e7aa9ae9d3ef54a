/* answered.h - the public way, from the bytes of a recording to the text of answers about it. */
#ifndef TESTS_UNIT_ANSWERED_H
#define TESTS_UNIT_ANSWERED_H

#include <stddef.h>
#include <stdint.h>

#include <vramscope/vramscope.h>

enum { ANSWERS_MOST = 4, ANSWER_BYTES = 1 << 18 };

/* What was written so far, with a NUL behind it. */
struct written {
    char at[ANSWER_BYTES];
    size_t len;
};
struct vrs_sink written_sink(struct written *to);

struct asking {
    const char *recording; /* as JSON, of the name run.json */

    /* Fills elements of `answer`, all of which were NULL.  Those that a failing call filled are
     * freed as well. */
    enum vrs_status (*ask)(const struct vrs_recording *r, struct vrs_result *answer[ANSWERS_MOST]);

    /* Every answer is written in each of these ways; none: as text, and as JSON. */
    const struct vrs_write_options *way;
    size_t ways;
    uint32_t threads; /* that may work on the recording; 0: one for each processor */
};

/* Opens, asks, closes, and then writes: answers outlive their file.  Gives back whatever it got. */
enum vrs_status answer(const struct asking *a, struct written *to);

/* The text of the answers, up to the next call. */
const char *answered(const struct asking *a);

/* The whole way with every allocation failing in turn.  Where that is survived the text is the
 * same. */
void answered_without_memory(const struct asking *a);

/* Recordings of one segment.  The text stands in the same memory at each call of either. */

/* Five steps, each of which computes something and keeps one block of 2,048 bytes more, of
 * keep.py:7.  What is freed is freed by this function. */
const char *recording_of_steps(const char *freeing);

/* The same, each step within an annotation. */
const char *recording_of_marked_steps(const char *freeing);

/* A tensor of 1,000 bytes, which this function of model.py:7 makes, and these events after it, each
 * with a comma before it; their times go on at 12. */
const char *recording_of_tensor(const char *function, const char *more_events);

#endif
