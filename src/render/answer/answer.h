/* answer.h - what answers of every kind are: about which file and device, and how they are written.
 *
 * An answer is free of the recording it came from.  Everything lives in one arena, which belongs to
 * whoever made the answer.  Text is as in the file; renderers escape it. */
#ifndef VRS_RENDER_ANSWER_ANSWER_H
#define VRS_RENDER_ANSWER_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/trust/trust.h"
#include "base/buf.h"
#include "base/field.h"
#include "base/str.h"
#include "model/file_facts.h"
#include "render/write/human.h"
#include "render/write/out.h"

/* What a frame is to the reader of a stack. */
enum frame_part {
    FRAME_PART_NATIVE, /* of the interpreter, or a library in C++ */
    FRAME_PART_PYTHON,
    FRAME_PART_NODE,     /* runs a node of the autograd graph */
    FRAME_PART_OPERATOR, /* runs an operator */
    FRAME_PART_MEMORY    /* runs one that only makes memory for another */
};

/* Many stacks, each frame's text once. */
struct stack_texts {
    uint32_t *id; /* of each stack its stack_id, ascending; NULL: its id is its row here */
    str *frame;
    str *brief;    /* of each frame that runs something: "native:bmm", "autograd:MmBackward0" */
    uint8_t *part; /* of each frame: enum frame_part */
    uint32_t frames;
    uint32_t *first; /* of stack i in `line`; stacks + 1 of them */
    uint32_t *line;  /* rows of `frame`, innermost first */
    uint32_t stacks;
};

enum answer_status {
    ANSWER_OK,
    ANSWER_PARTIAL,
    ANSWER_NOT_APPLICABLE,
    ANSWER_NEEDS_TRACE,
    ANSWER_NEEDS_STACKS,
    ANSWER_REFUSED,
    ANSWER_STATUSES
};

struct answer_reason {
    static_text id;
    str text;
};

/* The answer of an analysis that has the common form: a result for each device, whose stacks are
 * named by their stack_id. */
struct device_answer {
    struct device_name name;
    enum answer_status status;
    struct answer_reason *reason;
    uint32_t reasons;
    struct trust trust;
    const void *result; /* of the kind; NULL where the status says why there is none */
};

struct devices_answer {
    struct file_facts file;
    str whole_path; /* of which `file.path` is the end; or ptr NULL: it is as it was given */
    str unread;     /* why the file could not be read, which then has only its path; or ptr NULL */
    struct device_answer *device;
    uint32_t devices;
    struct stack_texts stacks;
};

struct answer_kind;

/* Answers of one kind for several files. */
struct answer_set {
    const struct answer_kind *kind;
    union {
        void *answers;
        struct report *report;
        struct diff_answer *diff;
        struct devices_answer *study;
    };
    uint32_t count;
    const void *more; /* what several answers together have besides; NULL: nothing */
};

/* What every renderer is asked for. */
struct render_options {
    struct style style;
    bool picture;     /* an area, else one line */
    bool stacks;      /* stacks under the rows of text */
    bool all_frames;  /* of them also the frames of the interpreter and of libraries in C++ */
    bool all_ranks;   /* a page for each of many devices, not of the worst alone */
    uint32_t rows;    /* 0: the verb's default */
    const char *tool; /* version */
    /* Is told, line by line, what ANSWER_CSV has no place for; NULL: nobody is. */
    void (*note)(void *arg, const char *text);
    void *note_arg;
};

/* One answer, or with `several` a set of them.  Failures are those of `out`. */
typedef void answer_renderer(struct out *out, const struct answer_set *set, bool several,
                             const struct render_options *options);

enum answer_form {
    ANSWER_TEXT,
    ANSWER_JSON,
    ANSWER_CSV,
    ANSWER_JUNIT,
    ANSWER_MARKDOWN,
    ANSWER_SARIF,
    ANSWER_FORMS
};

/* Writes the sentence `f` of a row; false: there is none, which is null. */
typedef bool field_sentence(struct buf *to, const struct field *f, const void *row);

/* What answers of a verb are made of and how they are written; a constant in each verb's folder of
 * render, and nothing else has to know the verb. */
struct answer_kind {
    const char *verb;
    size_t bytes; /* of one answer */
    /* One answer: its fields are the members of the JSON behind "schema" and "tool". */
    const struct row_type *document;
    const struct row_type *set;    /* of what a set has besides, its `more` */
    const struct row_type *result; /* what fields of a row type of NULL are: that of a device */
    field_sentence *sentence;      /* NULL: no field is one */
    answer_renderer *form[ANSWER_FORMS]; /* NULL: there is no such form */
    bool shows_names; /* results point to names of the recording, which the answer then keeps */
};

#endif
