/* other_events.c - looks at 32 actions at a time, in a loop that compilers vectorise. */
#include "model/other_events.h"

enum { AT_ONCE = 32 };

/* No early end: compilers make a few vector instructions of it. */
static bool any_rare(const uint8_t action[AT_ONCE])
{
    uint8_t any = 0;
    for (uint32_t i = 0; i < AT_ONCE; i++)
        any |= action_is_other(action[i]);
    return any != 0;
}

bool other_event_next(const uint8_t *action, uint32_t *i, uint32_t end)
{
    uint32_t at = *i;
    while (at < end && end - at >= AT_ONCE && !any_rare(action + at))
        at += AT_ONCE;
    while (at < end && !action_is_other(action[at]))
        at++;
    *i = at;
    return at < end;
}

bool other_event_before(const uint8_t *action, uint32_t begin, uint32_t *i)
{
    uint32_t at = *i;
    while (at > begin && at - begin >= AT_ONCE && !any_rare(action + at - AT_ONCE))
        at -= AT_ONCE;
    while (at > begin && !action_is_other(action[at - 1]))
        at--;
    *i = at > begin ? at - 1 : at;
    return at > begin;
}
