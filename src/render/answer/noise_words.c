/* noise_words.c - the words of verdicts about a change, and the change in percent. */
#include "render/answer/noise_words.h"

#include <math.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/noise.h"
#include "render/write/human.h"

const char *const noise_verdict_words[NOISE_VERDICTS] = {
    [NOISE_SAME] = "no difference", [NOISE_WITHIN] = "within noise", [NOISE_FASTER] = "faster",
    [NOISE_SLOWER] = "slower",      [NOISE_NOT_JUDGED] = "",
};

void noise_change_ratio(struct buf *to, double ratio)
{
    const double many = 9, too_many = 9999, most = 1e15;
    if (isnan(ratio) || ratio > most) {
        buf_char(to, '-');
        return;
    }
    if (ratio >= too_many) {
        buf_text(to, "> x 9999");
        return;
    }
    if (ratio >= many) {
        buf_format(to, "x %.0f", ratio + 1);
        return;
    }
    buf_text(to, ratio > 0 ? "+" : ratio < 0 ? "-" : "");
    human_share(to, fabs(ratio));
}

void noise_limit_words(struct buf *to, const struct noise_limit *limit)
{
    buf_char(to, '+');
    if (limit->is_ratio)
        human_share(to, limit->ratio);
    else
        human_ns(to, (uint64_t)limit->ns);
}
