/* rare.c - looks at many actions at once. */
#include "model/rare.h"

enum { AT_ONCE = 32 };

/* No early end: compilers make a few vector instructions of it. */
static bool any_rare(const uint8_t action[AT_ONCE])
{
    uint8_t any = 0;
    for (uint32_t i = 0; i < AT_ONCE; i++)
        any |= action_rare(action[i]);
    return any != 0;
}

uint32_t rare_from(const uint8_t *action, uint32_t i, uint32_t end)
{
    while (i < end && end - i >= AT_ONCE && !any_rare(action + i))
        i += AT_ONCE;
    while (i < end && !action_rare(action[i]))
        i++;
    return i;
}

uint32_t rare_below(const uint8_t *action, uint32_t begin, uint32_t i)
{
    while (i > begin && i - begin >= AT_ONCE && !any_rare(action + i - AT_ONCE))
        i -= AT_ONCE;
    while (i > begin && !action_rare(action[i - 1]))
        i--;
    return i;
}
