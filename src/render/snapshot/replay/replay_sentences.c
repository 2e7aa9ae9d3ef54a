/* replay_sentences.c - what a replay found, in words. */
#include "render/snapshot/replay/replay_sentences.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/replay/replay.h"
#include "allocator/whatif/whatif.h"
#include "base/buf.h"
#include "base/field.h"
#include "model/ids.h"
#include "render/write/escape.h"
#include "render/write/human.h"

static const char *const refusals[REFUSALS] = {
    [REFUSED_NOT] = "this recording cannot be replayed",
    [REFUSED_NO_EVENTS] = "there is nothing to replay: the recording has no trace",
    [REFUSED_CUT] = "the file is cut, and without its final state it cannot be replayed",
    [REFUSED_HOST] = "host memory is counted, not replayed",
    [REFUSED_INCONSISTENT] = "the file contradicts itself, so it cannot be replayed",
    [REFUSED_LANES] = "the recording has more streams and pools than the model follows",
    [REFUSED_WORK] = "the model disagreed so often that the replay was given up",
    [REFUSED_BACKEND] = "the recording was made by another allocator, which is not modelled",
    [REFUSED_ASKED] = "the recording was not replayed",
};

void replay_grade_words(struct buf *to, const struct agreement *agreement, bool ascii)
{
    switch (agreement->grade) {
    case GRADE_EXACT:
        buf_text(to, "the model reproduces this recording exactly");
        return;
    case GRADE_CORRECTED:
        buf_text(to, "the model reproduces this recording exactly, after ");
        human_count(to, agreement->corrected, ascii);
        buf_format(to, " block%s older than it %s given another size",
                   agreement->corrected == 1 ? "" : "s",
                   agreement->corrected == 1 ? "was" : "were");
        return;
    case GRADE_MOSTLY:
        buf_text(to, "the model reproduces most of this recording");
        return;
    case GRADE_POOR:
        buf_text(to, "the model does not reproduce this recording");
        if (agreement->refusal != REFUSED_NOT)
            buf_format(to, "; %s", refusals[agreement->refusal]);
        return;
    case GRADE_NONE:
    case GRADES:
        break;
    }
    buf_text(to, refusals[agreement->refusal]);
}

static void put_address(struct buf *to, uint64_t address)
{
    if (address == UNKNOWN_U64)
        buf_text(to, "an unknown address");
    else
        buf_format(to, "0x%llx", (unsigned long long)address);
}

/* Both sizes, to the byte where they would read alike. */
static void put_two_sizes(struct buf *to, const char *before, uint64_t expected,
                          const char *between, uint64_t recorded)
{
    buf_text(to, before);
    human_known_bytes(to, expected);
    if (expected != UNKNOWN_U64)
        buf_format(to, " (%llu)", (unsigned long long)expected);
    buf_text(to, between);
    human_known_bytes(to, recorded);
    if (recorded != UNKNOWN_U64)
        buf_format(to, " (%llu)", (unsigned long long)recorded);
}

static void put_size_at(struct buf *to, uint64_t bytes, uint64_t address)
{
    if (bytes != UNKNOWN_U64) {
        human_known_bytes(to, bytes);
        buf_char(to, ' ');
    }
    buf_text(to, "at ");
    put_address(to, address);
}

static void put_segment(struct buf *to, const struct first_disagreement *f)
{
    if (f->kind == SEGMENT_NOT_ASKED) {
        buf_text(to, "new memory was reserved, ");
        put_size_at(to, f->recorded_bytes, f->recorded_address);
        buf_text(to, ", where the model has a free block that fits, at ");
        put_address(to, f->expected_address);
    } else if (f->kind == SEGMENT_MISSING) {
        buf_text(to, "the model needs new memory, ");
        human_known_bytes(to, f->expected_bytes);
        buf_text(to, ", where the recording reserved none and has a block at ");
        put_address(to, f->recorded_address);
    } else {
        buf_text(to, "the model reserves new memory, ");
        put_size_at(to, f->expected_bytes, f->expected_address);
        buf_text(to, "; recorded was ");
        put_size_at(to, f->recorded_bytes, f->recorded_address);
    }
}

static void put_block(struct buf *to, const struct first_disagreement *f)
{
    if (f->expected_address == UNKNOWN_U64) {
        buf_text(to, "the recording ends with a block, ");
        put_size_at(to, f->recorded_bytes, f->recorded_address);
        buf_text(to, ", that the model does not have");
    } else if (f->expected_bytes == f->recorded_bytes) {
        buf_text(to, "the block of ");
        put_size_at(to, f->recorded_bytes, f->recorded_address);
        buf_text(to, " is in use in one of model and recording, and free or pending in the other");
    } else {
        buf_text(to, "the model has a block, ");
        put_size_at(to, f->expected_bytes, f->expected_address);
        buf_text(to, ", where the recording has ");
        put_size_at(to, f->recorded_bytes, f->recorded_address);
    }
}

void replay_disagreement_words(struct buf *to, const struct first_disagreement *f)
{
    if (f->kind == FINAL_DIFFERS)
        buf_text(to, "at the end: ");
    else
        buf_format(to, "at event %lld: ", (long long)f->event);
    switch (f->kind) {
    case WRONG_ADDRESS:
        buf_text(to, "the model allocates at ");
        put_address(to, f->expected_address);
        buf_text(to, " where ");
        put_address(to, f->recorded_address);
        buf_text(to, " was recorded");
        break;
    case ADDRESS_TAKEN:
        buf_text(to, "the recorded address ");
        put_address(to, f->recorded_address);
        buf_text(to, " is in use in the model");
        break;
    case SEGMENT_NOT_ASKED:
    case SEGMENT_MISSING:
    case SEGMENT_DIFFERS:
        put_segment(to, f);
        break;
    case UNKNOWN_FREE:
        buf_text(to, "a free of memory that the model does not have, ");
        put_size_at(to, f->recorded_bytes, f->recorded_address);
        break;
    case SIZE_CLASH:
        buf_text(to, "the block at ");
        put_address(to, f->recorded_address);
        put_two_sizes(to, " was requested with ", f->expected_bytes, " and is freed with ",
                      f->recorded_bytes);
        break;
    case RELEASE_IMPOSSIBLE:
        buf_text(to, "a segment is released that is in use in the model, ");
        put_size_at(to, f->recorded_bytes, f->recorded_address);
        break;
    case RELEASE_DIFFERS:
        put_two_sizes(to, "the model releases ", f->expected_bytes, ", recorded was ",
                      f->recorded_bytes);
        break;
    case SNAPSHOT_DIFFERS:
        put_two_sizes(to, "the model has ", f->expected_bytes, " in use, the snapshot event ",
                      f->recorded_bytes);
        break;
    case FINAL_DIFFERS:
        put_block(to, f);
        break;
    case AGREES:
    case DISAGREEMENTS:
        break;
    }
}

/* A block was handed out that the model would not have chosen. */
static const char *likely_start(const struct replay_result *result)
{
    if (result->overflowed)
        return "the trace lost its oldest events, so what was cached at its start is a guess; "
               "record with a larger max_entries";
    if (result->agreement.preexisting > 0)
        return "memory older than the recording, whose state at the start is worked out backwards; "
               "start recording before the first allocation";
    return "settings that were changed while it ran, or events that were not recorded";
}

const char *replay_likely(const struct replay_result *result)
{
    const struct agreement *a = &result->agreement;
    bool choice = a->first.kind >= WRONG_ADDRESS && a->first.kind <= SEGMENT_DIFFERS;
    if (choice && a->addresses > 1 && a->addresses_equal < a->addresses / 2)
        return "settings that the file does not contain, another version of PyTorch, or another "
               "allocator";
    switch (a->first.kind) {
    case WRONG_ADDRESS:
    case ADDRESS_TAKEN:
        return likely_start(result);
    case SEGMENT_NOT_ASKED:
    case SEGMENT_MISSING:
        return "garbage collection, a memory limit, a pool that the file does not name, or another "
               "thread that freed memory in between";
    case SEGMENT_DIFFERS:
        return "a segment size set with large_segment_size_mb, or another version of PyTorch";
    case UNKNOWN_FREE:
    case SIZE_CLASH:
        return "events that were left out of the recording (skip_actions), or a shortened file";
    case RELEASE_IMPOSSIBLE:
    case RELEASE_DIFFERS:
        return "garbage collection, the end of a pool, or the capture of a graph, which release "
               "only a part of the cache";
    case SNAPSHOT_DIFFERS:
        return "events that were left out of the recording (skip_actions)";
    case FINAL_DIFFERS:
        return "events lost before the end, or a shortened file";
    case AGREES:
    case DISAGREEMENTS:
        break;
    }
    return NULL;
}

bool replay_sentence(struct buf *to, const struct field *f, const void *row)
{
    (void)f; /* there is one */
    const char *likely = replay_likely(row);
    if (likely != NULL)
        buf_text(to, likely);
    return likely != NULL;
}

static void put_parting(struct buf *to, int64_t event)
{
    if (event >= 0)
        buf_format(to, " from event %lld on", (long long)event);
}

/* A driver may place new segments in another order than the model does. */
static void put_ranges(struct buf *to, const struct identities *i)
{
    if (!i->reproduces_ascending)
        buf_text(to, " (where they depend on the addresses that the driver gives, a range is "
                     "shown)");
}

void replay_identity_words(struct buf *to, const struct identities *i)
{
    if (!i->reproduces) {
        buf_text(to, "left to itself, the model reserves other amounts than recorded");
        put_parting(to, i->parted_event);
        buf_text(to, ", so answers are approximate");
        return;
    }
    buf_text(to, "left to itself, the model reserves exactly what was recorded");
    if (i->reproduces_at_capacity) {
        buf_text(to, ", also when it is given only ");
        human_known_bytes(to, i->recorded_capacity_bytes);
        buf_text(to, ": the answers can be trusted");
        put_ranges(to, i);
        return;
    }
    put_ranges(to, i);
    buf_text(to, "; when it is given only ");
    human_known_bytes(to, i->recorded_capacity_bytes);
    if (i->first_oom_at_capacity >= -1 && i->parted_at_capacity_event < 0)
        buf_format(to, " it runs out at event %lld", (long long)i->first_oom_at_capacity);
    else
        buf_text(to, " it does not");
    put_parting(to, i->parted_at_capacity_event);
    buf_text(to, ", so answers are approximate, and which capacity suffices is not known");
}

static void put_oom(struct buf *to, const struct replay_row *row, bool ascii)
{
    const struct oom_answer *o = &row->answer.oom;
    if (o->event < 0) {
        buf_text(to, "does not fit at the start: ");
        human_known_bytes(to, o->active_bytes);
        buf_text(to, " in use and ");
        human_known_bytes(to, o->stranded_bytes);
        buf_text(to, " that cannot be returned");
        return;
    }
    buf_format(to, "runs out at event %lld: ", (long long)o->event);
    if (row->oom_culprit.len > 0) {
        escape_text(to, row->oom_culprit, ascii);
        buf_text(to, " requests ");
    } else {
        buf_text(to, "an unknown line requests ");
    }
    human_known_bytes(to, o->want_bytes);
    if (o->segment_bytes != o->want_bytes) {
        buf_text(to, " (a segment of ");
        human_known_bytes(to, o->segment_bytes);
        buf_char(to, ')');
    }
    buf_text(to, " with ");
    human_known_bytes(to, o->reserved_bytes);
    buf_text(to, " reserved, ");
    human_known_bytes(to, o->active_bytes);
    buf_text(to, " of it active; the largest free block for it has ");
    human_known_bytes(to, o->largest_free_bytes);
    buf_text(to, "; releasing the whole cache returns ");
    human_known_bytes(to, o->returnable_bytes);
    buf_text(to, ", and ");
    human_known_bytes(to, o->stranded_bytes);
    buf_text(to, " more can neither be used nor returned");
}

static void put_brief_oom(struct buf *to, const struct oom_answer *oom)
{
    if (oom->event < 0) {
        buf_text(to, "cannot hold even what was in use at the start");
        return;
    }
    buf_format(to, "runs out at event %lld: ", (long long)oom->event);
    human_known_bytes(to, oom->want_bytes);
    buf_text(to, " requested, the largest free block has ");
    human_known_bytes(to, oom->largest_free_bytes);
}

void replay_end_words(struct buf *to, const struct replay_row *row, bool brief, bool ascii)
{
    if (row->answer.ran_out && brief)
        put_brief_oom(to, &row->answer.oom);
    else if (row->answer.ran_out)
        put_oom(to, row, ascii);
    else if (row->answer.served_oom_event >= 0 && brief)
        buf_format(to,
                   "serves the request that failed in the recording (event %lld), and ends there",
                   (long long)row->answer.served_oom_event);
    else if (row->answer.served_oom_event >= 0)
        buf_format(to,
                   "serves the request of event %lld, which failed in the recording; what the "
                   "program would have done next is not in the file, so the run ends there",
                   (long long)row->answer.served_oom_event);
}
