/* advise_sentences.c - the sentences of advice. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
    if (!advice->has_site || advice->site.stack.n == 0) {
        buf_text(to, "a line that was not recorded");
        return;
    }
    buf_str(to, advice->at_owner ? advice->site.owner : advice->site.culprit);
    if (advice->at_owner) {
        buf_text(to, " (under ");
        buf_str(to, advice->site.culprit);
        buf_text(to, ")");
    }
}

static void put_bytes(struct buf *to, const struct advice *advice)
{
    human_known_bytes(to, advice->bytes);
}

static void put_setting(struct buf *to, const struct advice *advice)
{
    buf_text(to, advice->setting == NULL ? "a setting" : advice->setting);
}

static void put_before(struct buf *to, const struct advice *advice)
{
    human_known_bytes(to, advice->verification.before_bytes);
}

static void put_after(struct buf *to, const struct advice *advice)
{
    human_known_bytes(to, advice->verification.after_bytes);
}

static void put_peaks(struct buf *to, const struct advice *advice)
{
    if (advice->recorded_peak_bytes == 0)
        return;
    buf_text(to, " (and reserves ");
    human_known_bytes(to, advice->changed_peak_bytes);
    buf_text(to, " at the most, where ");
    human_known_bytes(to, advice->recorded_peak_bytes);
    buf_text(to, " were reserved)");
}

static void put_reserved(struct buf *to, const struct advice *advice)
{
    human_known_bytes(to, advice->gap.reserved_bytes);
}

static void put_active(struct buf *to, const struct advice *advice)
{
    human_known_bytes(to, advice->gap.active_bytes);
}

static void put_moment(struct buf *to, const struct advice *advice)
{
    if (advice->gap.at_end)
        buf_text(to, "at the end");
    else
        put_first_event(to, advice);
}

/* What becomes of the bytes that are reserved and not in use. */
static void put_gap(struct buf *to, const struct advice *advice)
{
    const struct advice_gap *gap = &advice->gap;
    const char *before = "";
    if (gap->returnable_bytes > 0) {
        buf_text(to, "torch.cuda.empty_cache() would return ");
        human_known_bytes(to, gap->returnable_bytes);
        buf_text(to, " to the device");
        before = "; ";
    }
    if (gap->stranded_bytes > 0) {
        buf_text(to, before);
        human_known_bytes(to, gap->stranded_bytes);
        buf_text(to, " of the segments in use can neither be returned nor serve larger requests");
        if (advice->has_site) {
            buf_text(to, ", most beside blocks of ");
            put_line(to, advice);
        }
        before = "; ";
    }
    if (gap->held_bytes > 0) {
        buf_text(to, before);
        human_known_bytes(to, gap->held_bytes);
        buf_text(to, " are held for private pools (CUDA graphs)");
    }
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
    { PLACE("reserved"), put_reserved }, { PLACE("active"), put_active },
    { PLACE("gap"), put_gap },           { PLACE("moment"), put_moment },
    { PLACE("peaks"), put_peaks },       { PLACE("setting"), put_setting },
    { PLACE("before"), put_before },     { PLACE("after"), put_after },
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

static_text advice_saved_of(const struct advice *advice)
{
    if (advice->source != SAVING_VERIFIED)
        return "";
    const char *figure = advice->verification.figure;
    return figure != NULL && strcmp(figure, "capacity_needed_bytes") == 0 ? " of a card"
                                                                          : " reserved";
}

void advice_saving(struct buf *to, const struct advice *advice)
{
    if (known_or_0(advice->saving_bytes) == 0 || advice->source == SAVING_NONE) {
        buf_text(to, severity_names[advice->severity]);
        return;
    }
    buf_text(to, advice->at_most                      ? "frees up to ~"
                 : advice->source == SAVING_ESTIMATED ? "frees ~"
                                                      : "frees ");
    human_known_bytes(to, advice->saving_bytes);
    buf_text(to, advice_saved_of(advice));
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
