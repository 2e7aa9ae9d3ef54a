/* oom_sentences.c - one sentence for each verdict. */
#include "render/snapshot/oom/oom_sentences.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/replay/replay.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/oom/oom_program.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "analysis/snapshot/oom/oom_what_if.h"
#include "analysis/snapshot/steps/phases.h"
#include "base/buf.h"
#include "model/ids.h"
#include "render/write/escape.h"
#include "render/write/human.h"

/* A text's own figures are rounded; so is what is made of them. */
static void add(struct buf *to, const struct oom *oom, uint64_t bytes)
{
    if (oom->basis == OOM_TEXT_ALONE || (oom->basis != OOM_NOTHING && !oom->exact))
        buf_char(to, '~');
    human_known_bytes(to, bytes);
}

static void limit_words(struct buf *to, const struct oom *oom)
{
    const struct oom_figures *f = &oom->measured.figures;
    buf_text(to, "A memory limit refused the request, not the card: ");
    if (f->allowed != UNKNOWN_U64) {
        add(to, oom, f->reserved);
        buf_text(to, " reserved plus ");
        human_known_bytes(to, f->segment);
        buf_text(to, " more exceed the ");
        add(to, oom, f->allowed);
        buf_text(to, " that the process is allowed");
        if (f->device_free == UNKNOWN_U64)
            return;
        buf_text(to, ", while ");
    }
    if (f->device_free == UNKNOWN_U64) {
        buf_text(to, "the request was refused before the card was asked");
        return;
    }
    human_known_bytes(to, f->device_free);
    buf_text(to, " of the card were free for a request of ");
    human_known_bytes(to, f->segment);
}

static void too_large_words(struct buf *to, const struct oom *oom)
{
    const struct oom_figures *f = &oom->measured.figures;
    uint64_t most = oom->capacity_seen_bytes;
    bool card = f->total != UNKNOWN_U64 && f->request > f->total;
    buf_text(to, "This one request is too large, whatever else is freed: ");
    human_known_bytes(to, f->request);
    if (card) {
        buf_text(to, " on a card of ");
        human_known_bytes(to, f->total);
        return;
    }
    if (most > 0) {
        buf_text(to, " is ");
        buf_fixed(to, (double)f->request / (double)most, 2);
        buf_text(to, " times the ");
        human_known_bytes(to, most);
        buf_text(to, " that PyTorch could reserve in all");
    } else {
        buf_text(to, ", and PyTorch could reserve nothing");
    }
    buf_text(to, f->total == UNKNOWN_U64 ? ", with memory outside PyTorch unchanged"
                                         : ", even with all memory outside PyTorch freed");
}

static void cached_words(struct buf *to, const struct oom *oom)
{
    const struct oom_figures *f = &oom->measured.figures;
    buf_text(to, "Cached memory could have been returned to the card, but was not: ");
    add(to, oom, f->returnable);
    buf_text(to, " were free in whole segments or pages; with the ");
    human_known_bytes(to, f->device_free);
    buf_text(to, " free on the card that is enough for the ");
    human_known_bytes(to, f->segment);
    buf_text(to, " requested");
}

static void fragmentation_words(struct buf *to, const struct oom *oom, bool ascii)
{
    const struct oom_figures *f = &oom->measured.figures;
    buf_text(to, "Fragmentation: ");
    add(to, oom, f->internal_free);
    buf_text(to, " were free inside reserved memory and ");
    human_known_bytes(to, f->device_free);
    buf_text(to, " on the card, enough for the ");
    human_known_bytes(to, f->request);
    buf_text(to, " requested");
    if (oom->basis == OOM_TEXT_ALONE) {
        buf_text(to, ", but not in one piece (or still waiting to be freed, or on another stream)");
        return;
    }
    buf_text(to, ", but in ");
    human_counted(to, oom->measured.free_runs, "piece", ascii);
    buf_text(to, ", the largest usable one of ");
    add(to, oom, f->largest_usable);
}

/* "What was freed on another stream …": memory that is there, and not for this request. */
static void elsewhere_words(struct buf *to, const struct oom *oom, const char *where,
                            uint64_t bytes, const char *rest)
{
    const struct oom_figures *f = &oom->measured.figures;
    buf_text(to, where);
    add(to, oom, bytes);
    buf_text(to, rest);
    buf_text(to, ". Together with the ");
    add(to, oom, f->internal_free);
    buf_text(to, " free for this request and ");
    human_known_bytes(to, f->device_free);
    buf_text(to, " on the card, the ");
    human_known_bytes(to, f->request);
    buf_text(to, " requested would have fit");
}

static void outside_words(struct buf *to, const struct oom *oom)
{
    const struct oom_figures *f = &oom->measured.figures;
    uint64_t process = oom->outside_process_bytes, others = oom->other_processes_bytes;
    buf_text(to, "Memory outside PyTorch takes ~");
    human_known_bytes(to, oom_outside(f));
    buf_text(to, " of the card's ");
    human_known_bytes(to, f->total);
    if (process != UNKNOWN_U64 && others != UNKNOWN_U64) {
        buf_text(to, " (~");
        human_known_bytes(to, process);
        buf_text(to, " in this process, ~");
        human_known_bytes(to, others);
        buf_text(to, " in others)");
    }
    buf_text(to, "; without it the request of ");
    human_known_bytes(to, f->request);
    buf_text(to, " would have fit");
}

/* "…, when 62.86 MiB were free, most of it in pieces": on the card and inside what is reserved. */
static void free_words(struct buf *to, const struct oom *oom)
{
    add(to, oom, oom->program.free_bytes);
    buf_text(to, " were free, ");
    add(to, oom, oom->measured.figures.internal_free);
    buf_text(to, " of them in pieces");
}

/* "by 30.00 MiB a step, most of it at run.py:25 remember": a site that grows in every second step
 * alone adds twice its rate then. */
static void growth_words(struct buf *to, const struct oom_program *p, bool ascii)
{
    bool most = (uint64_t)p->grows->slope_bytes > p->growth_bytes / 2;
    buf_text(to, "by ");
    human_known_bytes(to, p->growth_bytes);
    buf_text(to, p->growth_in_each ? " a step" : " a step on average");
    buf_text(to, most ? ", most of it at " : ", the largest part at ");
    escape_text(to, p->grows->site.culprit, ascii);
}

static void leak_words(struct buf *to, const struct oom *oom, bool ascii, bool whole)
{
    const struct oom_program *p = &oom->program;
    if (whole) {
        buf_text(to, p->growth_sure ? "Memory grows " : "Memory may grow ");
        growth_words(to, p, ascii);
        buf_text(to, ". ");
    }
    free_words(to, oom);
    buf_text(to, "; with all of it in one piece this request would have fit, and ");
    add(to, oom, p->left_bytes);
    buf_text(to, " would have been left");
}

static void state_words(struct buf *to, const struct oom *oom, bool ascii, bool whole)
{
    const struct oom_program *p = &oom->program;
    buf_text(to, whole ? "The state of the optimizer does not fit: its first step had made the "
                         "state of "
                       : "The optimizer's first step had made the state of ");
    human_counted(to, p->stated, "parameter", ascii);
    buf_text(to, ", and the state of the others takes at least ");
    human_known_bytes(to, p->state_left_bytes);
    buf_text(to, " more. ");
    free_words(to, oom);
}

static void next_words(struct buf *to, const struct oom *oom, bool whole)
{
    buf_text(to, whole ? "The program needs more than it can have: in earlier steps it took up to "
                       : "In earlier steps the program took up to ");
    human_known_bytes(to, oom->program.next_bytes);
    buf_text(to, " from this request on. ");
    free_words(to, oom);
}

static void full_words(struct buf *to, const struct oom *oom, bool whole)
{
    const struct oom_figures *f = &oom->measured.figures;
    if (whole) {
        buf_text(to, oom->program.nearly_full ? "The program holds too much: "
                                              : "No piece of the free memory is large enough: ");
        add(to, oom, f->active);
        buf_text(to, " were in use and only ");
    }
    add(to, oom, f->internal_free);
    buf_text(to, whole ? " free inside reserved memory, in pieces"
                       : " were free inside reserved memory, in pieces");
    if (f->device_free > 0) {
        buf_text(to, ", and ");
        human_known_bytes(to, f->device_free);
        buf_text(to, " on the card");
    }
    buf_text(to, ". In one piece, the free memory would have served the request and left ");
    add(to, oom, oom->program.left_bytes);
    buf_text(to, " for all that follows");
}

static void live_words(struct buf *to, const struct oom *oom, bool ascii, bool whole)
{
    const struct oom_figures *f = &oom->measured.figures;
    switch (oom->program.lack) {
    case OOM_LACK_LEAK:
        leak_words(to, oom, ascii, whole);
        return;
    case OOM_LACK_STATE:
        state_words(to, oom, ascii, whole);
        return;
    case OOM_LACK_NEXT:
        next_words(to, oom, whole);
        return;
    case OOM_LACK_FREE:
        full_words(to, oom, whole);
        return;
    case OOM_LACK_NONE:
    case OOM_LACKS:
        break;
    }
    buf_text(to, oom->short_by_bytes > 0 ? "The program holds too much: " : "");
    add(to, oom, f->active);
    buf_text(to, " in use plus ");
    human_known_bytes(to, f->request);
    buf_text(to, " requested");
    if (oom->short_by_bytes <= 0) {
        buf_text(to, " fit into the ");
        human_known_bytes(to, oom->capacity_seen_bytes);
        buf_text(to, " that PyTorch could reserve, and yet the request failed");
        return;
    }
    buf_text(to, " are ");
    add(to, oom, (uint64_t)oom->short_by_bytes);
    buf_text(to, " more than the ");
    add(to, oom, oom->capacity_seen_bytes);
    buf_text(to, " that PyTorch could reserve");
}

static void verdict_words(struct buf *to, const struct oom *oom, bool ascii, bool whole)
{
    const struct oom_figures *f = &oom->measured.figures;
    switch (oom->tests.verdict) {
    case OOM_CAPACITY_LIMIT:
        limit_words(to, oom);
        break;
    case OOM_SINGLE_REQUEST_TOO_LARGE:
        too_large_words(to, oom);
        break;
    case OOM_CACHED_NOT_RELEASABLE:
        cached_words(to, oom);
        break;
    case OOM_FRAGMENTATION:
        fragmentation_words(to, oom, ascii);
        break;
    case OOM_PENDING_FREE:
        elsewhere_words(
            to, oom, "Freed memory was still waiting for another stream: ", f->pending,
            " are freed but not yet reusable, because another stream may still read them");
        break;
    case OOM_OTHER_STREAM:
        elsewhere_words(to, oom, "The free memory belongs to other streams: ", f->other_stream_free,
                        " lie there, which requests of this stream can never use");
        break;
    case OOM_PRIVATE_POOLS:
        elsewhere_words(to, oom, "The free memory belongs to private pools: ",
                        f->private_free != UNKNOWN_U64 && f->private_free > 0 ? f->private_free
                                                                              : f->said_private,
                        " lie in pools of CUDA graphs or of the program");
        break;
    case OOM_OUTSIDE_PYTORCH:
        outside_words(to, oom);
        break;
    case OOM_LIVE_EXCEEDS_CAPACITY:
        live_words(to, oom, ascii, whole);
        break;
    case OOM_UNDECIDED:
        buf_text(to, "Why memory ran out cannot be told: too little is known");
        break;
    }
    buf_char(to, '.');
}

void oom_verdict_words(struct buf *to, const struct oom *oom, bool ascii)
{
    verdict_words(to, oom, ascii, true);
}

void oom_detail_words(struct buf *to, const struct oom *oom, bool ascii)
{
    verdict_words(to, oom, ascii, false);
}

const char *oom_must_fit(const struct oom *oom)
{
    if (oom->program.lack == OOM_LACK_STATE)
        return "the rest of the optimizer's state";
    return oom->program.lack == OOM_LACK_NEXT ? "what follows" : "this request";
}

const char *oom_test_words(enum oom_verdict test)
{
    static const char *const words[OOM_VERDICTS] = {
        [OOM_CAPACITY_LIMIT] = "free on the card",
        [OOM_SINGLE_REQUEST_TOO_LARGE] = "all, if everything were freed",
        [OOM_CACHED_NOT_RELEASABLE] = "card + returnable cache",
        [OOM_FRAGMENTATION] = "card + free in pool and stream",
        [OOM_PENDING_FREE] = "+ freed, waiting for a stream",
        [OOM_OTHER_STREAM] = "+ free on other streams",
        [OOM_PRIVATE_POOLS] = "+ free in other pools",
        [OOM_OUTSIDE_PYTORCH] = "+ outside PyTorch, less 1 GiB",
        [OOM_LIVE_EXCEEDS_CAPACITY] = "missing, with all of these",
    };
    return words[test];
}

void oom_confidence_words(struct buf *to, const struct oom *oom)
{
    const struct oom_figures *f = &oom->measured.figures;
    buf_text(to, confidence_names[oom->confidence]);
    if (oom->confidence == CONFIDENCE_HIGH)
        return;
    buf_text(to, ": ");
    if (oom->basis == OOM_TEXT_ALONE)
        buf_text(to, "only the text of the error is known, not the state of memory");
    else if (oom->tests.verdict == OOM_LIVE_EXCEEDS_CAPACITY && oom->confidence == CONFIDENCE_LOW)
        buf_text(to, "by these figures the request should have fit");
    else if (oom_text_differs(oom))
        buf_text(to, "the text of the error describes another failure");
    else if (!oom->exact)
        buf_text(to, "no replay proves where memory lay");
    else if (oom->tests.verdict == OOM_CAPACITY_LIMIT)
        buf_text(to, "the limit itself is not known; the text of the error has it (--message)");
    else if (oom->tests.verdict == OOM_FRAGMENTATION)
        buf_text(to, "no earlier step tells what the program would have needed next");
    else if (f->total == UNKNOWN_U64)
        buf_text(to, "how much of the card other programs held is not known (--message or "
                     "--capacity tells)");
    else
        buf_text(to, "too little is known about memory outside PyTorch");
}

void oom_what_if_words(struct buf *to, const struct oom *oom, bool first)
{
    const struct oom_what_if *w = &oom->what_if;
    const char *agreement = replay_grade_names[w->agreement];
    if (w->tried == 0)
        return;
    if (w->setting == NULL) {
        buf_format(to,
                   "%s allocator setting would have served it (%u tried; the replay of this "
                   "recording is %s)",
                   first ? "No" : "no", (unsigned)w->tried, agreement);
    } else {
        buf_format(to, "%s %s this request is served, and ", first ? "With" : "with", w->setting);
        human_known_bytes(to, w->left_bytes);
        buf_text(to, " are then free (at most ");
        human_known_bytes(to, w->reserved_peak_bytes);
        buf_format(to, " reserved; the replay of this recording is %s)", agreement);
    }
    buf_text(to, first ? "." : "");
}

/* What the program needs and could not have, in short. */
static void live_headline(struct buf *to, const struct oom *oom, bool ascii)
{
    switch (oom->program.lack) {
    case OOM_LACK_LEAK:
        buf_text(to, oom->program.growth_sure ? "memory grows " : "memory may grow ");
        growth_words(to, &oom->program, ascii);
        return;
    case OOM_LACK_STATE:
        buf_text(to, "the state of the optimizer does not fit");
        return;
    case OOM_LACK_NEXT:
        buf_text(to, "the program needs more than it can have");
        return;
    case OOM_LACK_FREE:
        if (oom->program.nearly_full) {
            buf_text(to, "nearly all that the card had for it is in use");
            return;
        }
        buf_text(to, "no piece of the free memory is large enough, and only ");
        add(to, oom, oom->measured.figures.internal_free);
        buf_text(to, " of it lies inside reserved memory");
        return;
    case OOM_LACK_NONE:
    case OOM_LACKS:
        break;
    }
    if (oom->short_by_bytes <= 0) {
        buf_text(to, "by these figures the request fits, and why it failed is not known");
        return;
    }
    buf_text(to, "the program needs ");
    add(to, oom, (uint64_t)oom->short_by_bytes);
    buf_text(to, " more than the card had for it");
}

void oom_headline_words(struct buf *to, const struct oom *oom, bool ascii)
{
    static const char *const words[OOM_VERDICTS + 1] = {
        [OOM_CAPACITY_LIMIT] = "a memory limit refused the request, not the card",
        [OOM_SINGLE_REQUEST_TOO_LARGE] = "this one request is larger than all there is",
        [OOM_CACHED_NOT_RELEASABLE] = "cached memory was not given back to the card",
        [OOM_FRAGMENTATION] = "enough was free, in pieces that are each too small",
        [OOM_PENDING_FREE] = "freed memory was still waiting for another stream",
        [OOM_OTHER_STREAM] = "the free memory belongs to other streams",
        [OOM_PRIVATE_POOLS] = "the free memory belongs to private pools",
        [OOM_OUTSIDE_PYTORCH] = "what was missing is held outside PyTorch",
        [OOM_UNDECIDED] = "why cannot be told, too little is known",
    };
    if (oom->tests.verdict == OOM_LIVE_EXCEEDS_CAPACITY)
        live_headline(to, oom, ascii);
    else
        buf_text(to, words[oom->tests.verdict]);
}

/* " in the forward of step 3" */
static void place_words(struct buf *to, const struct oom *oom)
{
    static const char *const words[PHASES] = {
        [PHASE_FORWARD] = "the forward",
        [PHASE_RECOMPUTE] = "the recomputation",
        [PHASE_BACKWARD] = "the backward",
        [PHASE_OPTIMIZER] = "the optimizer",
    };
    const char *phase = words[oom->phase];
    if (phase != NULL)
        buf_format(to, " in %s", phase);
    if (oom->step > 0)
        buf_format(to, "%s step %u", phase != NULL ? " of" : " in", (unsigned)oom->step);
}

void oom_request_words(struct buf *to, const struct oom *oom, bool ascii)
{
    const struct oom_figures *f = &oom->measured.figures;
    if (oom->request_stack.n != 0)
        escape_text(to, oom->request_site.culprit, ascii);
    else
        buf_text(to, "The program");
    buf_text(to, " asked for ");
    human_known_bytes(to, f->request);
    place_words(to, oom);
    if (f->active != UNKNOWN_U64 && oom->capacity_seen_bytes != UNKNOWN_U64) {
        buf_text(to, ", when ");
        add(to, oom, f->active);
        buf_text(to, " of ");
        add(to, oom, oom->capacity_seen_bytes);
        buf_text(to, " were in use");
    }
    buf_format(to, " (event %lld).", (long long)oom->event);
}
