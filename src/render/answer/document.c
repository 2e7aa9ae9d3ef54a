/* document.c - begins, ends, and the stacks in between. */
#include "render/answer/document.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/field.h"
#include "base/sorted.h"
#include "base/table.h"
#include "model/ids.h"
#include "render/write/out.h"

void document_begin(struct json *j, struct out *out, const char *verb, bool several,
                    const struct render_options *options)
{
    struct buf name;
    buf_init(&name, 256);
    buf_format(&name, several ? "vramscope.%s-set/1" : "vramscope.%s/1", verb);
    json_start(j, &out->text);
    json_object(j, NULL);
    json_str(j, "schema", buf_slice(&name));
    json_text(j, "tool", options->tool);
    buf_end(&name, j->out);
}

void document_end(struct json *j)
{
    json_close(j);
    json_finish(j);
}

void document_files(struct json *j, struct out *out, const struct answer_set *set, bool several,
                    document_members *write, const void *arg)
{
    if (!several) {
        write(j, out, set, 0, arg);
        return;
    }
    json_array(j, "files");
    for (uint32_t i = 0; i < set->count; i++) {
        json_object(j, NULL);
        write(j, out, set, i, arg);
        json_close(j);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
}

const struct stack_texts *document_stacks(const struct row_type *document, const void *answer)
{
    for (uint32_t i = 0; i < document->fields; i++)
        if (document->field[i].type == FIELD_STACKS)
            return (const void *)((const char *)answer + document->field[i].offset);
    return NULL;
}

bool stack_numbers_init(struct stack_numbers *numbers, const struct stack_texts *stacks,
                        struct buf *to)
{
    *numbers = (struct stack_numbers){ .stacks = stacks };
    arena_init(&numbers->arena, SIZE_MAX / 2);
    numbers->number = arena_array(&numbers->arena, uint32_t, stacks->stacks);
    numbers->shown = arena_array(&numbers->arena, uint32_t, stacks->stacks);
    if (numbers->number != NULL && numbers->shown != NULL)
        return true;
    to->failed = true;
    stack_numbers_free(numbers);
    return false;
}

void stack_numbers_free(struct stack_numbers *numbers)
{
    arena_free(&numbers->arena);
}

static void json_stack_number(struct json *j, const char *key, uint32_t place,
                              struct stack_numbers *numbers)
{
    if (numbers->number[place] == 0) {
        numbers->shown[numbers->count++] = place;
        numbers->number[place] = numbers->count;
    }
    json_u64(j, key, numbers->number[place] - 1);
}

uint32_t stack_texts_place(const struct stack_texts *stacks, stack_id stack)
{
    uint32_t place;
    if (stacks->id == NULL)
        return stack.n < stacks->stacks ? stack.n : NO_ROW;
    SORTED_FIND(place, stacks->stacks, stacks->id[place] < stack.n);
    return place < stacks->stacks && stacks->id[place] == stack.n ? place : NO_ROW;
}

void json_stack(struct json *j, const char *key, stack_id stack, struct stack_numbers *numbers)
{
    uint32_t place = stack_texts_place(numbers->stacks, stack);
    if (place == NO_ROW)
        json_null(j, key);
    else
        json_stack_number(j, key, place, numbers);
}

/* An element: the frames of a stack, innermost first. */
static void json_frames(struct json *j, const struct stack_texts *stacks, uint32_t place)
{
    json_line_array(j, NULL);
    for (uint32_t k = stacks->first[place]; k < stacks->first[place + 1]; k++)
        json_str(j, NULL, stacks->frame[stacks->line[k]]);
    json_close(j);
}

void json_stacks(struct json *j, struct out *out, const struct stack_numbers *numbers)
{
    json_array(j, "stacks");
    for (uint32_t i = 0; i < numbers->count; i++) {
        json_frames(j, numbers->stacks, numbers->shown[i]);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
}
