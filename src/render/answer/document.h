/* document.h - the JSON that stands around an answer: what it is, of which files, with which
 * stacks.
 *
 *     document_begin(&j, out, "peak", several, options);
 *     document_files(&j, out, set, several, put_members, options);
 *     document_end(&j); */
#ifndef VRS_RENDER_ANSWER_DOCUMENT_H
#define VRS_RENDER_ANSWER_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/field.h"
#include "model/ids.h"
#include "render/answer/answer.h"
#include "render/write/json.h"
#include "render/write/out.h"

/* Opens vramscope.VERB/1, or with `several` vramscope.VERB-set/1. */
void document_begin(struct json *j, struct out *out, const char *verb, bool several,
                    const struct render_options *options);
void document_end(struct json *j);

/* Writes the members that belong to the i-th answer of a set; `arg` is the caller's. */
typedef void document_members(struct json *j, struct out *out, const struct answer_set *set,
                              uint32_t i, const void *arg);

/* The members of the one answer, or with `several` the member "files" with those of each. */
void document_files(struct json *j, struct out *out, const struct answer_set *set, bool several,
                    document_members *write, const void *arg);

/* The place of a stack among an answer's, which are found by their ids; NO_ROW where it is not. */
uint32_t stack_texts_place(const struct stack_texts *stacks, stack_id stack);

/* The stacks that a document names, in an answer of it; NULL: it names none. */
const struct stack_texts *document_stacks(const struct row_type *document, const void *answer);

/* The stacks of one answer, numbered in the order in which they come into sight. */
struct stack_numbers {
    const struct stack_texts *stacks;
    struct arena arena;
    uint32_t *number; /* of each, plus 1; 0: not in sight */
    uint32_t *shown;  /* by number */
    uint32_t count;
};

/* False when out of memory, which then is a failure of `to`, and nothing is left to free. */
bool stack_numbers_init(struct stack_numbers *numbers, const struct stack_texts *stacks,
                        struct buf *to);
void stack_numbers_free(struct stack_numbers *numbers);

/* The member `key`: the number of a stack by its id; null where the answer has no text of it. */
void json_stack(struct json *j, const char *key, stack_id stack, struct stack_numbers *numbers);
/* The member "stacks": those in sight, by number. */
void json_stacks(struct json *j, struct out *out, const struct stack_numbers *numbers);

#endif
