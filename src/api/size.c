/* size.c - sizes as people type them, the same wherever one is asked for. */
#include "base/size.h"

#include "vramscope/vramscope.h"

bool vrs_size(const char *text, uint64_t *ret)
{
    return size_read(str_from(text), ret);
}
