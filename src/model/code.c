/* code.c - the four tables, made and freed together. */
#include "model/code.h"

#include <stdbool.h>
#include <stdint.h>

bool code_init(struct code *c, uint32_t max_string_bytes)
{
    *c = (struct code){ .strings.rows.len = 0 };
    if (strings_init(&c->strings, max_string_bytes) && frames_init(&c->frames) &&
        fx_nodes_init(&c->fx_nodes) && stacks_init(&c->stacks))
        return true;
    code_free(c);
    return false;
}

void code_free(struct code *c)
{
    strings_free(&c->strings);
    frames_free(&c->frames);
    fx_nodes_free(&c->fx_nodes);
    stacks_free(&c->stacks);
}
