/* advise_sentences.c - the sentences of advice. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/advise/advise.h"
#include "base/buf.h"
#include "base/field.h"
#include "base/str.h"
#include "model/ids.h"
#include "render/snapshot/advise/advise.h"
#include "render/write/human.h"

static void put_calls(struct buf *to, const struct advice *advice)
{
    const char *what = advice->mapped ? "mapping" : "cudaMalloc call";
    buf_format(to, "%u %s%s for ", (unsigned)advice->calls, what, advice->calls == 1 ? "" : "s");
    human_known_bytes(to, advice->call_bytes);
}

static void put_first_event(struct buf *to, const struct advice *advice)
{
    if (advice->at_events == 0)
        buf_text(to, "once");
    else if (advice->at_event[0] < 0)
        buf_text(to, "before the first event");
    else
        buf_format(to, "at event %lld", (long long)advice->at_event[0]);
}

static void put_line(struct buf *to, const struct advice *advice)
{
    buf_str(to, advice->has_site ? advice->site.culprit : S("an unknown line"));
}

static void put_bytes(struct buf *to, const struct advice *advice)
{
    human_known_bytes(to, advice->bytes);
}

static void put_how(struct buf *to, const struct advice *advice)
{
    buf_text(to, advice->source == SAVING_VERIFIED
                     ? "a replay of this run with it reserves that much less"
                     : "verify with vramscope replay --set expandable_segments:True");
}

/* The places of a sentence: see struct advice. */
static const struct {
    str name;
    void (*put)(struct buf *to, const struct advice *advice);
} places[] = {
#define PLACE(name)                                                                                \
    {                                                                                              \
        "{" name "}", sizeof "{" name "}" - 1                                                      \
    }
    { PLACE("line"), put_line },         { PLACE("bytes"), put_bytes },
    { PLACE("event"), put_first_event }, { PLACE("device"), put_calls },
    { PLACE("how"), put_how },
#undef PLACE
};
enum { PLACES = sizeof places / sizeof *places };

static void put_template(struct buf *to, const char *text, const struct advice *advice)
{
    str rest = str_from(text);
    while (rest.len > 0) {
        size_t taken = 1;
        uint32_t i = 0;
        while (i < PLACES && !str_starts(rest, places[i].name))
            i++;
        if (i < PLACES) {
            places[i].put(to, advice);
            taken = places[i].name.len;
        } else {
            buf_char(to, *rest.ptr);
        }
        rest = (str){ rest.ptr + taken, rest.len - taken };
    }
}

void advice_words(struct buf *to, const struct advice *advice)
{
    put_template(to, advice->text, advice);
}

bool advice_cost(struct buf *to, const struct advice *advice)
{
    if (advice->cost == NULL)
        return false;
    put_template(to, advice->cost, advice);
    return true;
}

bool advise_sentence(struct buf *to, const struct field *f, const void *row)
{
    if (f->sentence == ADVICE_COST)
        return advice_cost(to, row);
    advice_words(to, row);
    return true;
}

void advice_saving(struct buf *to, const struct advice *advice)
{
    if (advice->saving_bytes == UNKNOWN_U64 || advice->source == SAVING_NONE) {
        buf_text(to, severity_names[advice->severity]);
        return;
    }
    if (advice->saving_bytes == 0) {
        buf_text(to, "frees nothing at the peak");
        return;
    }
    buf_text(to, advice->at_most                      ? "frees up to ~"
                 : advice->source == SAVING_ESTIMATED ? "frees ~"
                                                      : "frees ");
    human_known_bytes(to, advice->saving_bytes);
}

bool advice_joint(struct buf *to, const struct advise *a)
{
    if (a->joint_rules < 2 || a->joint_saving_bytes <= 0)
        return false;
    buf_text(to, "the peak would be ");
    human_bytes(to, a->joint_peak_bytes);
    if (a->joint_peak_event < 0)
        buf_text(to, " at the start, ");
    else
        buf_format(to, " at event %lld, ", (long long)a->joint_peak_event);
    human_bytes(to, a->joint_saving_bytes);
    buf_text(to, " less; the savings of two rules may overlap");
    return true;
}
