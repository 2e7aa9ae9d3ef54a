/* trust.c - facts of a recording, its window, its grade, and all of it in words. */
#include "analysis/snapshot/trust/trust.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "allocator/replay/replay.h"
#include "analysis/snapshot/curves/live.h"
#include "base/size.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/named.h"
#include "model/recording.h"
#include "model/strings.h"

const char *const trust_window_names[WINDOWS] = {
    [WINDOW_COMPLETE] = "complete",     [WINDOW_LATE_START] = "late_start",
    [WINDOW_OVERFLOWED] = "overflowed", [WINDOW_OVERFLOW_SUSPECTED] = "overflow_suspected",
    [WINDOW_STATE_ONLY] = "state_only", [WINDOW_ONE_EVENT] = "one_event",
    [WINDOW_INCOMPLETE] = "incomplete",
};

/* The order of the codes, which breaks ties between items. */
enum trust_code {
    CODE_NO_HISTORY,
    CODE_INCOMPLETE,
    CODE_ONE_EVENT,
    CODE_STARTS_LATE,
    CODE_OVERFLOW,
    CODE_OVERFLOW_SUSPECTED,
    CODE_ORPHANS,
    CODE_UNPAIRED_REQUEST,
    CODE_SKIPPED_ACTIONS,
    CODE_DOUBLE_ALLOC,
    CODE_END_MISMATCH,
    CODE_NEGATIVE_START,
    CODE_SUMS,
    CODE_PEAK_ABOVE_RESERVED,
    CODE_NO_FRAMES,
    CODE_FREES_CARRY_ALLOC_STACK,
    CODE_PYTHON_ONLY,
    CODE_MIXED,
    CODE_NO_TIME,
    CODE_WRONG_TYPES,
    CODE_UNKNOWN_KEYS,
    CODE_UNKNOWN_ACTIONS,
    CODE_BASELINES_DIFFER,
    CODE_UNKNOWN_SEGMENT,
    CODE_TIME_BACKWARDS,
    CODE_CAPACITY_VARIES,
    CODE_NAMES,
    CODE_NAMES_LATER,
    CODE_NAMES_DROPPED,
    CODE_NAMES_UNDATED,
    CODE_BEGUN_BY_PROGRAM,
    CODE_REPLAY,
    CODES
};

static const char *const code_names[CODES] = {
    [CODE_NO_HISTORY] = "no_history",
    [CODE_INCOMPLETE] = "incomplete",
    [CODE_ONE_EVENT] = "one_event",
    [CODE_STARTS_LATE] = "starts_late",
    [CODE_OVERFLOW] = "overflow",
    [CODE_OVERFLOW_SUSPECTED] = "overflow_suspected",
    [CODE_ORPHANS] = "orphans",
    [CODE_UNPAIRED_REQUEST] = "unpaired_request",
    [CODE_SKIPPED_ACTIONS] = "skipped_actions",
    [CODE_DOUBLE_ALLOC] = "double_alloc",
    [CODE_END_MISMATCH] = "end_mismatch",
    [CODE_NEGATIVE_START] = "negative_start",
    [CODE_SUMS] = "sums",
    [CODE_PEAK_ABOVE_RESERVED] = "peak_above_reserved",
    [CODE_NO_FRAMES] = "no_frames",
    [CODE_FREES_CARRY_ALLOC_STACK] = "frees_carry_alloc_stack",
    [CODE_PYTHON_ONLY] = "python_only",
    [CODE_MIXED] = "mixed",
    [CODE_NO_TIME] = "no_time",
    [CODE_WRONG_TYPES] = "wrong_types",
    [CODE_UNKNOWN_KEYS] = "unknown_keys",
    [CODE_UNKNOWN_ACTIONS] = "unknown_actions",
    [CODE_BASELINES_DIFFER] = "baselines_differ",
    [CODE_UNKNOWN_SEGMENT] = "unknown_segment",
    [CODE_TIME_BACKWARDS] = "time_backwards",
    [CODE_CAPACITY_VARIES] = "capacity_varies",
    [CODE_NAMES] = "names",
    [CODE_NAMES_LATER] = "names_later",
    [CODE_NAMES_DROPPED] = "names_dropped",
    [CODE_NAMES_UNDATED] = "names_undated",
    [CODE_BEGUN_BY_PROGRAM] = "begun_by_program",
    [CODE_REPLAY] = "replay",
};

enum { COUNT_TEXTS = 4, COUNT_BYTES = 48 };

struct assessment {
    const struct recording *r;
    uint32_t device;
    const struct curves *curves;
    struct checks checks;
    struct arena *arena;
    struct trust trust;
    struct trust_item item[CODES];
    enum trust_code code[CODES]; /* of each item */
    struct recorded_stacks capture;
    char count_text[COUNT_TEXTS][COUNT_BYTES];
    uint32_t counts;
};

typedef unsigned long long ull; /* for printf alone */

static void bytes_text(char to[SIZE_TEXT], uint64_t bytes)
{
    if (bytes < 1024)
        snprintf(to, SIZE_TEXT, bytes == 1 ? "%u byte" : "%u bytes", (unsigned)bytes);
    else
        size_write(bytes, to);
}

/* "48 120", as answers write a count, with a narrow blank that no line ends at.  Texts that one
 * sentence takes do not share a place: no sentence has more than four. */
static const char *grouped(struct assessment *a, uint64_t count)
{
    char *to = a->count_text[a->counts++ % COUNT_TEXTS];
    uint64_t group = 1;
    while (count / group >= 1000)
        group *= 1000;
    int len = snprintf(to, COUNT_BYTES, "%llu", (ull)(count / group));
    while ((group /= 1000) != 0 && len > 0)
        len += snprintf(to + len, COUNT_BYTES - (size_t)len, "\u202f%03u",
                        (unsigned)(count / group % 1000));
    return to;
}

/* The word that goes with a count. */
static const char *word_for(uint64_t count, const char *one, const char *more)
{
    return count == 1 ? one : more;
}

static void add_item(struct assessment *a, enum trust_code code, struct breach finding, bool failed,
                     bool has_bytes, const char *format, ...) __attribute__((format(printf, 6, 7)));

static void add_item(struct assessment *a, enum trust_code code, struct breach finding, bool failed,
                     bool has_bytes, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t shown = len < 0 ? 0 : (size_t)len < sizeof text ? (size_t)len : sizeof text - 1;
    a->code[a->trust.items] = code;
    a->item[a->trust.items++] = (struct trust_item){
        .id = code_names[code],
        .text = arena_copy(a->arena, (str){ text, shown }),
        .count = finding.count,
        .worst_bytes = has_bytes ? finding.worst_bytes : UNKNOWN_U64,
        .first_event = finding.first_event,
        .failed = failed,
    };
}

static void add_failed(struct assessment *a, enum trust_code code, struct breach finding,
                       const char *what)
{
    char worst[32], total[32];
    if (finding.count == 0)
        return;
    bytes_text(worst, finding.worst_bytes);
    bytes_text(total, finding.total_bytes);
    if (finding.count == 1)
        add_item(a, code, finding, true, true, "%s (one case, %s)", what, worst);
    else
        add_item(a, code, finding, true, true, "%s (%s cases, %s in all, the worst %s)", what,
                 grouped(a, finding.count), total, worst);
}

static void add_sums(struct assessment *a)
{
    const struct breach *f = &a->checks.sums;
    uint32_t segments = a->r->devices.segments[a->device];
    char worst[32];
    if (f->count == 0)
        return;
    bytes_text(worst, f->worst_bytes);
    char why[128] = "sizes are no multiples of what the allocator makes";
    if (f->worst_bytes > 0)
        snprintf(why, sizeof why, "blocks, sizes or sums contradict each other by up to %s", worst);
    add_item(a, CODE_SUMS, *f, true, true,
             "%s of %s %s %s not add up: %s, first in the segment at 0x%llx; the file was edited",
             grouped(a, f->count), grouped(a, segments), word_for(segments, "segment", "segments"),
             word_for(f->count, "does", "do"), why, (ull)f->first_address);
}

static void add_negative_start(struct assessment *a)
{
    const struct breach *f = &a->checks.negative_start;
    char bytes[32];
    if (f->count == 0)
        return;
    bytes_text(bytes, f->worst_bytes);
    add_item(a, CODE_NEGATIVE_START, *f, true, true,
             "counted back from the final state, -%s would be in use at the start of the trace: "
             "final blocks or frees are missing",
             bytes);
}

static void add_baselines(struct assessment *a)
{
    const struct breach *f = &a->checks.baselines_differ;
    char bytes[32];
    if (f->count == 0)
        return;
    bytes_text(bytes, f->worst_bytes);
    add_item(
        a, CODE_BASELINES_DIFFER, *f, true, true,
        "the bytes in use before the first event differ by %s, counted forward and counted back",
        bytes);
}

static void add_above_reserved(struct assessment *a)
{
    const struct breach *f = &a->checks.above_reserved;
    char bytes[32];
    if (f->count == 0)
        return;
    bytes_text(bytes, f->worst_bytes);
    add_item(a, CODE_PEAK_ABOVE_RESERVED, *f, true, true,
             "more was requested than reserved after %s %s, by up to %s: sizes are not those of "
             "the program",
             grouped(a, f->count), word_for(f->count, "event", "events"), bytes);
}

static void add_capacity(struct assessment *a)
{
    const struct breach *f = &a->checks.capacity_varies;
    char bytes[32];
    if (f->count == 0)
        return;
    bytes_text(bytes, f->worst_bytes);
    add_item(a, CODE_CAPACITY_VARIES, *f, true, true,
             "reserved and free memory together differ by up to %s between %s failed requests: "
             "something else used the device",
             bytes, grouped(a, f->count));
}

static void add_times(struct assessment *a)
{
    const struct breach *none = &a->checks.no_time, *back = &a->checks.time_backwards;
    uint32_t events = a->r->devices.events[a->device];
    if (none->count != 0)
        add_item(a, CODE_NO_TIME, *none, false, false,
                 "%s of %s %s %s no time; events are shown by their number",
                 grouped(a, none->count), grouped(a, events), word_for(events, "event", "events"),
                 word_for(none->count, "carries", "carry"));
    if (back->count != 0)
        add_item(a, CODE_TIME_BACKWARDS, *back, true, false,
                 "events whose clock runs backwards: %s, first event %lld; the order of events "
                 "is that of the file",
                 grouped(a, back->count), (long long)back->first_event);
}

static void add_checks(struct assessment *a)
{
    const struct checks *c = &a->checks;
    add_sums(a);
    add_failed(a, CODE_END_MISMATCH, c->end_mismatch,
               "the trace leaves memory in use that the final state does not have, or has in "
               "another size");
    add_failed(a, CODE_UNPAIRED_REQUEST, c->unpaired_request,
               "frees were requested, never completed, and are not pending at the end");
    add_negative_start(a);
    add_baselines(a);
    add_above_reserved(a);
    add_failed(a, CODE_UNKNOWN_SEGMENT, c->unknown_segment,
               "allocations lie in no segment known at that point");
    add_failed(a, CODE_DOUBLE_ALLOC, c->double_alloc,
               "addresses were allocated while still in use; the older allocation was ended there");
    add_failed(a, CODE_SKIPPED_ACTIONS, c->skipped_actions,
               "frees have a request without a completion, or the reverse: actions were left out");
    add_times(a);
    add_capacity(a);
}

static bool setting_true(const struct recording *r, const char *name)
{
    uint32_t row = settings_find(r, str_from(name));
    return row != NO_ROW && r->settings.type[row] != SETTING_TEXT && r->settings.integer[row] != 0;
}

static uint64_t setting_count(const struct recording *r, const char *name)
{
    uint32_t row = settings_find(r, str_from(name));
    if (row == NO_ROW || r->settings.type[row] != SETTING_INT || r->settings.integer[row] < 0)
        return UNKNOWN_U64;
    return (uint64_t)r->settings.integer[row];
}

/* The flag is one for all devices, or a list by device. */
static bool overflow_is_stated(const struct assessment *a)
{
    char flag[48], entries[48];
    uint32_t number = a->r->devices.number[a->device];
    uint64_t events = a->r->devices.events[a->device];
    snprintf(flag, sizeof flag, "trace_alloc_overflowed.%u", number);
    snprintf(entries, sizeof entries, "trace_alloc_max_entries.%u", number);
    return setting_true(a->r, "trace_alloc_overflowed") || setting_true(a->r, flag) ||
           (events > 1 && (setting_count(a->r, "trace_alloc_max_entries") == events ||
                           setting_count(a->r, entries) == events));
}

/* 10^k, 2 * 10^k or 5 * 10^k: what people give as a capacity. */
static bool is_round(uint32_t n)
{
    if (n < 1000)
        return false;
    while (n % 10 == 0)
        n /= 10;
    return n == 1 || n == 2 || n == 5;
}

/* Allocations older than the trace. */
static struct breach find_older(const struct recording *r, uint32_t device)
{
    const struct allocations *a = &r->allocations;
    struct breach older = { .first_event = -1 };
    for (uint32_t i = 0; i < r->devices.allocations[device]; i++) {
        uint32_t row = r->devices.first_allocation[device] + i;
        if (a->alloc_event[row] == NO_ROW)
            breach_add(&older, known_or_0(a->size[row]), -1, UNKNOWN_U64);
    }
    return older;
}

static enum trust_window window_of(const struct assessment *a, const struct breach *older)
{
    uint32_t events = a->r->devices.events[a->device];
    const struct curve *of = a->curves->of;
    if (!a->r->origin.complete)
        return WINDOW_INCOMPLETE;
    if (events == 0)
        return WINDOW_STATE_ONLY;
    if (!device_traced(a->r, a->device))
        return WINDOW_ONE_EVENT;
    if (overflow_is_stated(a))
        return WINDOW_OVERFLOWED;
    if (is_round(events) && a->checks.orphans.count != 0)
        return WINDOW_OVERFLOW_SUSPECTED;
    /* By what was in use: a reserved segment that is empty hides nothing. */
    bool late = older->count != 0 || of[CURVE_REQUESTED].start_bytes > 0;
    return late ? WINDOW_LATE_START : WINDOW_COMPLETE;
}

static void add_incomplete(struct assessment *a)
{
    static const char *const parts[] = {
        [CUT_NONE] = "before its end",          [CUT_BEFORE] = "before its segments and events",
        [CUT_SEGMENTS] = "inside the segments", [CUT_TRACES] = "inside the events",
        [CUT_AFTER] = "after the events",
    };
    const struct origin *o = &a->r->origin;
    uint32_t events = a->r->devices.events[a->device];
    uint32_t segments = a->r->devices.segments[a->device];
    struct breach cut = { .count = 1, .first_event = -1 };
    add_item(a, CODE_INCOMPLETE, cut, false, false,
             "the file is cut at byte %llu%s, %s; %s %s and %s %s of this device were read",
             (ull)o->cut_offset, o->compression == COMPRESSION_NONE ? "" : " of the unpacked data",
             parts[o->cut_part <= CUT_AFTER ? o->cut_part : CUT_NONE], grouped(a, events),
             word_for(events, "event", "events"), grouped(a, segments),
             word_for(segments, "segment", "segments"));
}

static void add_late(struct assessment *a, const struct trust_basis *basis)
{
    const struct curve *of = a->curves->of;
    uint64_t in_use = (uint64_t)of[CURVE_REQUESTED].start_bytes;
    uint64_t unknown = basis->older_unknown_bytes;
    struct breach older = basis->older;
    char requested[32], reserved[32], without[32], stacks[96] = "";
    bytes_text(requested, in_use);
    bytes_text(reserved,
               of[CURVE_RESERVED].start_bytes < 0 ? 0 : (uint64_t)of[CURVE_RESERVED].start_bytes);
    bytes_text(without, unknown);
    if (unknown >= basis->older_bytes - unknown)
        snprintf(stacks, sizeof stacks, ", and the stacks of that memory are mostly unknown");
    else if (unknown > 0)
        snprintf(stacks, sizeof stacks, ", and %s of that memory have no stack", without);
    older.worst_bytes = in_use;
    add_item(a, CODE_STARTS_LATE, older, false, true,
             "%s were in use and %s reserved before the first event: the true peak may be earlier "
             "and higher%s",
             requested, reserved, stacks);
}

static void add_window(struct assessment *a, const struct trust_basis *basis)
{
    uint32_t events = a->r->devices.events[a->device];
    struct breach all = { .count = events, .first_event = -1 },
                  none = { .count = 1, .first_event = -1 };
    const struct curve *of = a->curves->of;
    bool anchored = (a->r->devices.parts[a->device] & PART_ANCHOR) != 0;
    if (!a->r->origin.complete)
        add_incomplete(a);
    if (events == 0 && a->r->origin.complete)
        add_item(a, CODE_NO_HISTORY, none, false, false,
                 "no events were recorded: only the final state is known");
    if (a->trust.window == WINDOW_ONE_EVENT)
        add_item(a, CODE_ONE_EVENT, all, false, false,
                 "the trace has one event, and memory is older than it: only the final state is "
                 "known");
    if (a->trust.window == WINDOW_OVERFLOWED)
        add_item(a, CODE_OVERFLOW, all, false, false,
                 "the recorder was full at %s events and dropped older ones", grouped(a, events));
    if (a->trust.window == WINDOW_OVERFLOW_SUSPECTED)
        add_item(a, CODE_OVERFLOW_SUSPECTED, all, false, false,
                 "exactly %s events are here, a usual capacity, and older memory is freed: events "
                 "were perhaps dropped; a late start looks the same in this file",
                 grouped(a, events));
    if (device_traced(a->r, a->device) && anchored && of[CURVE_REQUESTED].start_bytes > 0)
        add_late(a, basis);
}

static void add_orphans(struct assessment *a)
{
    struct breach f = a->checks.orphans;
    char bytes[32];
    if (f.count == 0)
        return;
    bytes_text(bytes, f.total_bytes);
    add_item(a, CODE_ORPHANS, f, a->trust.window == WINDOW_COMPLETE, true,
             "frees without an allocation in the trace: %s, of %s; where that memory was "
             "allocated is unknown",
             grouped(a, f.count), bytes);
}

static void add_capture(struct assessment *a)
{
    const struct recorded_stacks *c = &a->capture;
    struct breach f = { .first_event = -1 };
    uint64_t all = c->without_stack + c->with_native + c->python_only;
    f.count = c->without_stack;
    if (c->without_stack != 0)
        add_item(a, CODE_NO_FRAMES, f, false, false, "%s of %s %s %s no stack",
                 grouped(a, c->without_stack), grouped(a, all),
                 a->r->devices.events[a->device] == 0
                     ? word_for(all, "block in use", "blocks in use")
                     : word_for(all, "allocation", "allocations"),
                 word_for(c->without_stack, "carries", "carry"));
    f.count = c->frees_same;
    /* More than nine in ten: a program seldom frees most of its memory where it was made. */
    if (c->frees_same * 10 > c->frees * 9)
        add_item(a, CODE_FREES_CARRY_ALLOC_STACK, f, false, false,
                 "%s of %s %s the stack of %s allocation: where memory was freed is unknown",
                 grouped(a, c->frees_same), grouped(a, c->frees),
                 word_for(c->frees, "free carries", "frees carry"),
                 word_for(c->frees, "its", "their"));
    f.count = c->python_only;
    if (c->python_only != 0 && c->with_native == 0)
        add_item(a, CODE_PYTHON_ONLY, f, false, false,
                 "stacks hold Python frames only: allocations of the backward pass have none");
    else if (c->python_only != 0)
        add_item(a, CODE_MIXED, f, false, false, "%s %s Python frames only, %s also native ones",
                 grouped(a, c->python_only), word_for(c->python_only, "stack holds", "stacks hold"),
                 grouped(a, c->with_native));
}

/* How many bytes of a text from the file a sentence shows; no character is cut. */
static int shown_of(str name)
{
    int shown = name.len > 60 ? 60 : (int)name.len;
    while (shown > 0 && (size_t)shown < name.len && (name.ptr[shown] & 0xc0) == 0x80)
        shown--;
    return shown;
}

static void add_unknown(struct assessment *a, enum trust_code code, struct breach f,
                        const char *what, str name)
{
    add_item(a, code, f, false, false, "%s unknown to this program, ignored: %s, first \"%.*s\"",
             what, grouped(a, f.count), shown_of(name), name.len == 0 ? "" : name.ptr);
}

/* Keys are counted over the whole file: a dict is read before it is known whose it is. */
static void add_unknown_keys(struct assessment *a)
{
    const struct tallies *t = &a->r->tallies;
    struct breach f = { .first_event = -1 };
    str name = S("");
    for (uint32_t i = 0; i < t->rows.len; i++) {
        if (t->kind[i] != TALLY_UNKNOWN_KEY)
            continue;
        if (f.count == 0)
            name = strings_text(&a->r->code.strings, (string_id){ t->name[i] });
        f.count += t->count[i];
    }
    if (f.count != 0)
        add_unknown(a, CODE_UNKNOWN_KEYS, f, "keys", name);
}

/* Counted over the whole file, too.  What has a wrong type may be anything, so nothing that rests
 * on its absence is certain. */
static void add_wrong_types(struct assessment *a)
{
    const struct tallies *t = &a->r->tallies;
    struct breach f = { .first_event = -1 };
    for (uint32_t i = 0; i < t->rows.len; i++)
        f.count += t->kind[i] == TALLY_WRONG_TYPE ? t->count[i] : 0;
    a->trust.guessed = f.count != 0;
    if (f.count != 0)
        add_item(a, CODE_WRONG_TYPES, f, false, false,
                 "%s %s of a wrong type and %s taken as absent", grouped(a, f.count),
                 word_for(f.count, "value is", "values are"), word_for(f.count, "was", "were"));
}

/* Entries of the list of names, by what became of them. */
struct names_found {
    uint64_t count[NAMED_STANDINGS];
    struct breach unused; /* the file contradicts them */
    struct breach later;
};

/* Those of this device; and those of a device that the file lacks, which are told with each. */
static struct names_found find_names(const struct assessment *a)
{
    const struct recording *r = a->r;
    struct names_found found = { .unused.first_event = -1, .later.first_event = -1 };
    for (uint32_t i = 0; i < r->named.rows.len; i++) {
        uint32_t device = named_device(r, i);
        enum named_standing standing = r->named.standing[i];
        if (device != a->device && device != NO_ROW)
            continue;
        found.count[standing]++;
        if (standing == NAMED_HOLDS || standing == NAMED_REPEATED)
            continue;
        breach_add(standing == NAMED_LATER ? &found.later : &found.unused, r->named.bytes[i], -1,
                   r->named.address[i]);
    }
    return found;
}

/* A sentence that grows by its parts. */
struct sentence {
    char text[480];
    size_t len;
};

static void say(struct sentence *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct sentence *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(s->text + s->len, sizeof s->text - s->len, format, args);
    va_end(args);
    size_t left = sizeof s->text - s->len - 1;
    s->len += len < 0 ? 0 : (size_t)len < left ? (size_t)len : left;
}

static void say_unused(struct assessment *a, const struct names_found *found, struct sentence *s)
{
    static const char *const why[NAMED_STANDINGS] = {
        [NAMED_NOWHERE] = "where nothing is in use",
        [NAMED_INSIDE] = "inside a block, not at its start",
        [NAMED_TOO_LARGE] = "larger than what is there",
        [NAMED_DISPUTED] = "for memory that others call differently",
        [NAMED_NO_DEVICE] = "of a device that is not in the file",
    };
    uint64_t malformed = a->r->named_facts.flaws[FLAW_ENTRY];
    const char *before = "names that are not used: ";
    for (uint32_t i = 0; i < NAMED_STANDINGS; i++) {
        if (why[i] == NULL || found->count[i] == 0)
            continue;
        say(s, "%s%s %s", before, grouped(a, found->count[i]), why[i]);
        before = ", ";
    }
    if (malformed != 0)
        say(s, "%s%s malformed", before, grouped(a, malformed));
    if (found->unused.count != 0)
        say(s, "; the list is of another moment, or was edited");
}

/* What is wrong with the key itself; the whole file has one. */
static void say_flaws(struct assessment *a, struct sentence *s)
{
    static const char *const what[FLAWS] = {
        [FLAW_KEY] = "the key \"vramscope\" is no dict with a schema",
        [FLAW_NAMES] = "\"names\" is no dict",
        [FLAW_TENSORS] = "\"tensors\" is no list",
        [FLAW_STEPS] = "\"steps\" is no list of dicts of numbers",
        [FLAW_RECORDER] = "\"recorder\" is no dict with a text \"begun_by\"",
    };
    const struct named_facts *facts = &a->r->named_facts;
    uint64_t members = facts->flaws[FLAW_MEMBER];
    str schema = strings_text(&a->r->code.strings, facts->schema);
    if (facts->schema.n != 0)
        say(s, "the key \"vramscope\" is written for another version, \"%.*s\", and not used",
            shown_of(schema), schema.ptr);
    for (uint32_t i = 0; i < FLAWS; i++)
        if (what[i] != NULL && facts->flaws[i] != 0)
            say(s, "%s%s", s->len == 0 ? "" : "; ", what[i]);
    if (members != 0)
        say(s, "%s%s %s of a wrong type %s taken as absent", s->len == 0 ? "" : "; ",
            grouped(a, members), word_for(members, "member", "members"),
            word_for(members, "is", "are"));
}

/* What the process said of its memory where the rest of the file contradicts it, or where it cannot
 * be understood. */
static void add_names(struct assessment *a, const struct names_found *found)
{
    const struct named_facts *facts = &a->r->named_facts;
    struct breach f = found->unused;
    struct sentence s = { .len = 0 };
    for (uint32_t i = 0; i < FLAWS; i++)
        f.count += facts->flaws[i];
    f.count += facts->schema.n != 0;
    if (f.count == 0)
        return;
    say_unused(a, found, &s);
    say_flaws(a, &s);
    add_item(a, CODE_NAMES, f, false, found->unused.count != 0, "%s", s.text);
}

/* What the list of names does not say. */
static void add_names_missing(struct assessment *a, const struct names_found *found)
{
    const struct named_facts *facts = &a->r->named_facts;
    struct breach later = found->later, dropped = { .first_event = -1 }, undated = dropped;
    dropped.count = facts->dropped == UNKNOWN_U64 ? 0 : facts->dropped;
    undated.count = found->count[NAMED_HOLDS];
    if (later.count != 0)
        add_item(a, CODE_NAMES_LATER, later, false, true,
                 "%s %s of memory that was freed, or may have been made, after the list of names "
                 "was begun, and %s not used: other threads should rest while it is made",
                 grouped(a, later.count), word_for(later.count, "name is", "names are"),
                 word_for(later.count, "is", "are"));
    if (dropped.count != 0)
        add_item(a, CODE_NAMES_DROPPED, dropped, false, false,
                 "the list of names leaves out %s %s: without a name, or the smallest of too many",
                 grouped(a, dropped.count), word_for(dropped.count, "tensor", "tensors"));
    if (undated.count != 0 && a->r->devices.events[a->device] != 0 &&
        !named_datable(a->r, a->device))
        add_item(a, CODE_NAMES_UNDATED, undated, false, false,
                 "no times tell what was allocated after the list of names was begun: a name may "
                 "be of what was there before");
}

/* What a recording lacks may be what its program did not ask for. */
static void add_recorder(struct assessment *a)
{
    struct breach f = { .count = 1, .first_event = -1 };
    if (a->r->named_facts.foreign_recorder)
        add_item(a, CODE_BEGUN_BY_PROGRAM, f, false, false,
                 "the recording was begun by the program: its settings (entries, stacks) are not "
                 "those of vramscope");
}

static void add_unknown_actions(struct assessment *a)
{
    const struct recording *r = a->r;
    struct breach f = a->checks.unknown_actions;
    if (f.count == 0)
        return;
    uint32_t event = r->devices.first_event[a->device] + (uint32_t)f.first_event;
    string_id name = { r->contexts.action[r->events.context[event]] };
    add_unknown(a, CODE_UNKNOWN_ACTIONS, f, "actions", strings_text(&r->code.strings, name));
}

/* Nobody asked for a replay of a device that could have been replayed. */
static void add_not_replayed(struct assessment *a)
{
    const struct devices *d = &a->r->devices;
    struct breach f = { .count = d->events[a->device], .first_event = -1 };
    bool whole = (d->parts[a->device] & PART_ANCHOR) != 0;
    if (d->kind[a->device] == DEVICE_HOST || !whole || !device_traced(a->r, a->device))
        return;
    add_item(a, CODE_REPLAY, f, false, false,
             "not replayed through the allocator's model (%s %s): allocated and active bytes are "
             "lower bounds; --replay always does it",
             grouped(a, f.count), word_for(f.count, "event", "events"));
}

/* How well the model of the allocator reproduces the device; why it was not replayed, where no
 * other item says it. */
static void add_replay(struct assessment *a, const struct agreement *g)
{
    static const char *const gave_up[REFUSALS] = {
        [REFUSED_LANES] = "it has more streams and pools than the model follows",
        [REFUSED_WORK] = "its addresses differ too often from the model's",
        [REFUSED_BACKEND] = "another allocator was used",
    };
    struct breach f = { .count = a->r->devices.events[a->device], .first_event = -1 };
    if (g->refusal == REFUSED_ASKED)
        add_not_replayed(a);
    if (gave_up[g->refusal] != NULL)
        add_item(a, CODE_REPLAY, f, false, false,
                 "not replayed through the allocator's model, since %s: allocated and active bytes "
                 "are lower bounds",
                 gave_up[g->refusal]);
    if (g->refusal != REFUSED_NOT || g->addresses == 0)
        return;
    f.count = g->addresses - g->addresses_equal;
    f.first_event = g->first.kind == AGREES ? -1 : g->first.event;
    char all[48] = "the only address";
    if (g->addresses > 1)
        snprintf(all, sizeof all, "all %s addresses", grouped(a, g->addresses));
    if (grade_is_exact(g->grade) && g->ambiguous == 0)
        add_item(a, CODE_REPLAY, f, false, false,
                 "the allocator's model reproduces %s: allocated and active bytes are exact", all);
    else if (grade_is_exact(g->grade))
        add_item(a, CODE_REPLAY, f, false, false,
                 "the allocator's model reproduces %s, but %s %s older than the recording may be "
                 "up to 1 MiB larger: allocated and active bytes are lower bounds",
                 all, grouped(a, g->ambiguous), word_for(g->ambiguous, "block", "blocks"));
    else
        add_item(a, CODE_REPLAY, f, false, false,
                 "the allocator's model reproduces %s of %s %s: allocated and active bytes are "
                 "lower bounds; vramscope replay says where they differ",
                 grouped(a, g->addresses_equal), grouped(a, g->addresses),
                 word_for(g->addresses, "address", "addresses"));
}

/* Does a check of pairs or of the start find a hundredth of the peak wrong, or more? */
static bool is_large(const struct assessment *a)
{
    const struct checks *c = &a->checks;
    const struct breach *found[] = {
        &c->end_mismatch,     &c->unpaired_request, &c->negative_start,
        &c->baselines_differ, &c->double_alloc,     &c->skipped_actions
    };
    int64_t peak = a->curves->of[CURVE_REQUESTED].peak_bytes;
    uint64_t hundredth = peak <= 0 ? 0 : (uint64_t)peak / 100;
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        if (found[i]->count != 0 && found[i]->total_bytes >= hundredth)
            return true;
    return false;
}

/* Does one of them find anything at all? */
static bool differs(const struct checks *c)
{
    return c->end_mismatch.count != 0 || c->unpaired_request.count != 0 ||
           c->negative_start.count != 0 || c->baselines_differ.count != 0 ||
           c->double_alloc.count != 0 || c->skipped_actions.count != 0;
}

static char grade_of(const struct assessment *a)
{
    const struct checks *c = &a->checks;
    if (c->sums.count != 0 || c->above_reserved.count != 0 || c->unknown_segment.count != 0 ||
        is_large(a))
        return 'D';
    if (a->trust.differs || a->trust.window == WINDOW_INCOMPLETE)
        return 'C';
    return a->trust.window == WINDOW_COMPLETE && !a->trust.guessed ? 'A' : 'B';
}

static bool worse(const struct assessment *a, uint32_t x, uint32_t y)
{
    const struct trust_item *i = &a->item[x], *j = &a->item[y];
    uint64_t i_bytes = known_or_0(i->worst_bytes);
    uint64_t j_bytes = known_or_0(j->worst_bytes);
    if (i->failed != j->failed)
        return i->failed;
    return i_bytes != j_bytes ? i_bytes > j_bytes : a->code[x] < a->code[y];
}

static enum vrs_status finish(struct assessment *a, struct trust *ret, struct vrs_error *err)
{
    struct trust *trust = &a->trust;
    trust->item = arena_array(a->arena, struct trust_item, trust->items);
    if (trust->item == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < trust->items; i++) {
        uint32_t place = 0;
        for (uint32_t j = 0; j < trust->items; j++)
            place += j != i && worse(a, j, i);
        if (a->item[i].text.ptr == NULL)
            return vrs_no_memory(err);
        trust->item[place] = a->item[i];
    }
    trust->differs = differs(&a->checks);
    trust->cut = !a->curves->of[CURVE_REQUESTED].start_known;
    trust->grade = grade_of(a);
    *ret = *trust;
    return VRS_OK;
}

enum vrs_status trust_basis_find(const struct recording *r, uint32_t device,
                                 struct trust_basis *ret, struct vrs_error *err)
{
    TRY(checks_run(r, device, &ret->checks, err));
    TRY(recorded_stacks_of(r, device, &ret->capture, err));
    ret->older = find_older(r, device);
    ret->older_bytes = old_bytes(r, device, -1, &ret->older_unknown_bytes);
    return VRS_OK;
}

enum vrs_status trust_assess(const struct recording *r, uint32_t device,
                             const struct trust_basis *basis, const struct curves *curves,
                             const struct agreement *agreement, struct arena *arena,
                             struct trust *ret, struct vrs_error *err)
{
    struct assessment a = {
        .r = r,
        .device = device,
        .curves = curves,
        .arena = arena,
        .checks = basis->checks,
        .capture = basis->capture,
    };
    checks_add_curves(r, device, curves, &a.checks);
    a.trust.window = window_of(&a, &basis->older);
    add_checks(&a);
    add_window(&a, basis);
    add_orphans(&a);
    add_capture(&a);
    add_wrong_types(&a);
    add_unknown_keys(&a);
    add_unknown_actions(&a);
    struct names_found names = find_names(&a);
    add_names(&a, &names);
    add_names_missing(&a, &names);
    add_recorder(&a);
    if (agreement != NULL)
        add_replay(&a, agreement);
    return finish(&a, ret, err);
}

enum vrs_status trust_copy(const struct trust *from, struct arena *arena, struct trust *ret,
                           struct vrs_error *err)
{
    struct trust_item *item = arena_array(arena, struct trust_item, from->items);
    if (item == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < from->items; i++) {
        item[i] = from->item[i];
        item[i].text = arena_copy(arena, from->item[i].text);
        if (item[i].text.ptr == NULL)
            return vrs_no_memory(err);
    }
    *ret = *from;
    ret->item = item;
    return VRS_OK;
}
