/* out.c - handing over. */
#include "render/out.h"

void out_flush(struct out *out, size_t least)
{
    if (out->refused) {
        out->text.len = 0; /* what follows is not wanted either */
        return;
    }
    if (out->text.failed || out->text.len < least || out->text.len == 0)
        return;
    out->refused = !out->write(out->arg, out->text.at, out->text.len);
    out->text.len = 0;
}
