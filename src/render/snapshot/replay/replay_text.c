/* replay_text.c - what the replay says of the recording, then a row for each question. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "allocator/replay/replay.h"
#include "allocator/whatif/questions.h"
#include "allocator/whatif/whatif.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "model/ids.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/answer/fields.h"
#include "render/answer/next.h"
#include "render/snapshot/renderers.h"
#include "render/snapshot/replay/replay_sentences.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

/* SENTENCES_MOST: rows, "same" among them, that are told in words beside the table. */
enum { LINE_INDENT = 4, QUESTION_INDENT = 2, SENTENCES_MOST = 2, BRIEF_ROWS = 8 };

/* A smaller difference is not seen in two digits of GiB. */
#define RANGE_LEAST ((uint64_t)10 << 20)

enum what_if_column {
    RESERVED,
    CHANGE,
    ACTIVE,
    ACTIVE_CHANGE,
    AT_LEAST,
    NEW_MEMORY,
    SUFFICES,
    OUTCOME,
    QUESTION,
    COLUMNS
};

#define SHOWN_OF_ROW(member) SHOWN(replay_row_type, struct replay_row, member)
static const struct shown_column all_columns[COLUMNS] = {
    [RESERVED] = { SHOWN_OF_ROW(answer.reserved.bytes), 0 },
    [CHANGE] = { SHOWN_OF_ROW(delta_reserved_bytes), 0 },
    [ACTIVE] = { SHOWN_OF_ROW(answer.active.bytes), 0 },
    [ACTIVE_CHANGE] = { SHOWN_OF_ROW(delta_active_bytes), 0 },
    [AT_LEAST] = { SHOWN_OF_ROW(answer.lower_bound_bytes), 0 },
    [NEW_MEMORY] = { SHOWN_OF_ROW(answer.new_memory), 0 },
    [SUFFICES] = { SHOWN_OF_ROW(smallest.bytes), 0 },
    [OUTCOME] = { COMPOSED("outcome", false), 0 },
    [QUESTION] = { SHOWN_OF_ROW(question), 16 },
};

/* What is put together for one device. */
struct text_context {
    const struct style *style;
    struct cells *cells;
    struct buf *words;   /* scratch for sentences */
    bool shown[COLUMNS]; /* of the table */
    bool one_capacity;   /* all rows have the same one, or none */
    bool many;           /* rows, as of a sweep: each is told briefly, and all together */
    bool question_below; /* it stands on a line of its own: it would be cut in the table */
    bool serves_all;     /* without a limit none can fail: that is said once */
    const struct replay_row **order; /* of the rows in text */
    str path;                        /* of the file, for the command with its limit */
};

static void put_words(struct buf *to, const struct text_context *s, const char *label)
{
    envelope_words(to, s->style, label, s->words);
}

/* ", 2 434 of 2 434 addresses"; nothing where there are none. */
static void add_part(const struct text_context *s, uint64_t equal, uint64_t of, const char *one,
                     const char *many)
{
    if (of == 0)
        return;
    buf_text(s->words, s->words->len == 0 ? "" : ", ");
    human_count(s->words, equal, s->style->ascii);
    buf_text(s->words, " of ");
    human_count(s->words, of, s->style->ascii);
    buf_format(s->words, " %s", of == 1 ? one : many);
}

/* `a` is NULL where the recording was not replayed. */
static void put_grade(struct buf *to, const struct text_context *s, const struct device_answer *d,
                      const struct agreement *a)
{
    struct buf *words = s->words;
    paint_on(words, s->style, PAINT_BOLD);
    envelope_device_text(words, d->name);
    paint_off(words, s->style);
    buf_text(words, ": ");
    bool exact = a != NULL && grade_is_exact(a->grade);
    paint_on(words, s->style, exact ? PAINT_GOOD : PAINT_BAD);
    if (a == NULL || (a->grade == GRADE_NONE && d->reasons > 0))
        buf_text(words, "not replayed");
    else
        replay_grade_words(words, a, s->style->ascii);
    paint_off(words, s->style);
    text_wrap(to, s->style, buf_slice(words), 0, ENVELOPE_LABEL);
    words->len = 0;
    if (a == NULL || a->grade == GRADE_NONE)
        return;
    add_part(s, a->addresses_equal, a->addresses, "address", "addresses");
    add_part(s, a->new_memory_equal, a->new_memory, "request for new memory",
             "requests for new memory");
    add_part(s, a->release_runs_equal, a->release_runs, "run of releases", "runs of releases");
    add_part(s, a->final_blocks_equal, a->final_blocks, "final block", "final blocks");
    add_part(s, a->snapshots_equal, a->snapshots, "snapshot event", "snapshot events");
    if (words->len > 0)
        put_words(to, s, "agrees");
}

static void put_first(struct buf *to, const struct text_context *s, const struct replay_result *d)
{
    if (d->agreement.first.kind == AGREES)
        return;
    buf_text(s->words, "first ");
    replay_disagreement_words(s->words, &d->agreement.first);
    put_words(to, s, "differs");
    buf_text(s->words, replay_likely(d));
    put_words(to, s, "likely");
}

static void put_start(struct buf *to, const struct text_context *s, const struct agreement *a)
{
    if (a->preexisting == 0)
        return;
    bool ascii = s->style->ascii;
    human_count(s->words, a->preexisting, ascii);
    buf_text(s->words, a->preexisting == 1 ? " block is older than the recording"
                                           : " blocks are older than the recording");
    if (a->inferred > 0) {
        buf_text(s->words, "; the place of ");
        human_count(s->words, a->inferred, ascii);
        buf_text(s->words, " was inferred");
    }
    if (a->corrected > 0 && a->grade != GRADE_CORRECTED) {
        buf_text(s->words, a->inferred > 0 ? ", the size of " : "; the size of ");
        human_count(s->words, a->corrected, ascii);
        buf_text(s->words, a->inferred > 0 ? " corrected" : " was corrected");
    }
    put_words(to, s, "start");
}

/* Who gave the cache back decides whether a question keeps it: only calls of the program stay. */
static void put_runs(struct buf *to, const struct text_context *s, const struct agreement *a)
{
    const struct {
        uint64_t count;
        const char *cause;
    } parts[] = {
        { a->runs_by_stack[RUN_EMPTY_CACHE], "by empty_cache" },
        { a->runs_by_stack[RUN_RETRY], "to serve a request" },
        { a->runs_by_sequence[RUN_EMPTY_CACHE], "probably by empty_cache" },
        { a->runs_by_sequence[RUN_RETRY], "probably to serve a request" },
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].count == 0)
            continue;
        buf_text(s->words, s->words->len == 0 ? "cached memory was released " : ", ");
        human_counted(s->words, parts[i].count, "time", s->style->ascii);
        buf_format(s->words, " %s", parts[i].cause);
    }
    if (s->words->len > 0)
        put_words(to, s, "releases");
}

static void put_peak(struct buf *to, const struct text_context *s, const struct replay_result *d)
{
    const struct agreement *a = &d->agreement;
    human_known_bytes(s->words, d->recorded_peak_bytes);
    buf_text(s->words, " reserved as recorded");
    if (grade_is_exact(a->grade)) {
        buf_text(s->words, ", ");
        human_bytes(s->words, a->active.peak_bytes);
        buf_text(s->words, " active in blocks");
    }
    put_words(to, s, "peak");
}

static int64_t end_of(const struct whatif_answer *a)
{
    return a->ran_out ? a->oom.event : a->served_oom_event >= 0 ? a->served_oom_event : INT64_MAX;
}

/* Peaks are those up to the end of a run, so only runs that end together are compared. */
static bool comparable(const struct replay_row *row, const struct replay_row *same)
{
    return end_of(&row->answer) == end_of(&same->answer);
}

/* "+1.00 GiB" */
static str change_cell(const struct text_context *s, int64_t delta, bool compared)
{
    if (!compared)
        return S("-");
    buf_text(&s->cells->text, delta > 0 ? "+" : "");
    return cell_bytes(s->cells, delta);
}

/* "20.67 GiB (19)": the capacity, and the retries it costs. */
static str needs_cell(const struct text_context *s, const struct replay_row *row)
{
    if (!row->has_smallest)
        return S("-");
    struct buf *text = &s->cells->text;
    human_known_bytes(text, row->smallest.bytes);
    buf_text(text, row->smallest.checked ? " (" : "? (");
    human_count(text, row->smallest.retries, s->style->ascii);
    buf_char(text, ')');
    return cell_end(s->cells);
}

static str question_cell(const struct text_context *s, const struct replay_row *row)
{
    struct buf *text = &s->cells->text;
    escape_text(text, row->question, s->style->ascii);
    if (!s->one_capacity && row->capacity_bytes != UNKNOWN_U64) {
        buf_text(text, " in ");
        human_known_bytes(text, row->capacity_bytes);
    }
    return cell_end(s->cells);
}

static str outcome_cell(const struct whatif_answer *a)
{
    if (a->ran_out)
        return S("runs out");
    return a->served_oom_event >= 0 ? S("ends early") : S("completes");
}

static void fill_row(const struct text_context *s, const struct replay_row *row,
                     const struct replay_row *same, str *cell)
{
    const struct whatif_answer *a = &row->answer;
    bool compared = comparable(row, same);
    str all[COLUMNS] = {
        [RESERVED] = cell_known_bytes(s->cells, a->reserved.bytes),
        [CHANGE] = change_cell(s, row->delta_reserved_bytes, compared),
        [ACTIVE] = cell_known_bytes(s->cells, a->active.bytes),
        [ACTIVE_CHANGE] = change_cell(s, row->delta_active_bytes, compared),
        [AT_LEAST] = cell_known_bytes(s->cells, a->lower_bound_bytes),
        [NEW_MEMORY] = cell_count(s->cells, a->new_memory),
        [SUFFICES] = needs_cell(s, row),
        [OUTCOME] = outcome_cell(a),
        [QUESTION] = question_cell(s, row),
    };
    if (row == same)
        all[CHANGE] = all[ACTIVE_CHANGE] = S("");
    for (uint32_t i = 0; i < COLUMNS; i++) {
        if (s->shown[i])
            *cell++ = all[i];
    }
}

/* Addresses of new segments are the model's own; where their order matters, both ends are told. */
static void add_range(const struct text_context *s, const struct replay_row *row)
{
    uint64_t one = row->answer.reserved.bytes, other = row->reserved_ascending_bytes;
    if (other == UNKNOWN_U64 || (one > other ? one - other : other - one) < RANGE_LEAST)
        return;
    buf_text(s->words, "reserves ");
    human_known_bytes(s->words, one < other ? one : other);
    buf_text(s->words, " to ");
    human_known_bytes(s->words, one < other ? other : one);
    buf_text(s->words, ", depending on where the device puts new segments");
}

/* The question where the table has no room for it, and sentences, on lines of their own. */
static bool fill_line(const struct text_context *s, const struct replay_row *row, str *cell)
{
    str question = s->question_below ? question_cell(s, row) : S("");
    struct buf *text = &s->cells->text;
    s->words->len = 0;
    if (question.len > 0) {
        buf_repeat(text, S(" "), QUESTION_INDENT);
        buf_str(text, question);
        buf_char(text, '\n');
    }
    add_range(s, row);
    size_t end = s->words->len;
    buf_text(s->words, end > 0 ? "; " : "");
    if (!s->serves_all || row->answer.ran_out)
        replay_end_words(s->words, row, s->many, s->style->ascii);
    if (end > 0 && s->words->len == end + 2)
        s->words->len = end;
    if (s->words->len == 0 && question.len == 0)
        return false;
    if (s->words->len > 0) {
        buf_repeat(text, S(" "), LINE_INDENT);
        text_wrap(text, s->style, buf_slice(s->words), LINE_INDENT, LINE_INDENT);
    }
    s->words->len = 0;
    cell_end_lines(s->cells, cell);
    return true;
}

/* The table with the columns that are shown; false when out of memory. */
static bool make_table(const struct text_context *s, const struct replay_result *d,
                       struct text_column column[COLUMNS], struct text_table *ret)
{
    uint32_t columns = 0, rows = 0;
    for (uint32_t i = 0; i < COLUMNS; i++) {
        if (!s->shown[i])
            continue;
        column[columns++] = shown_heading(&all_columns[i]);
    }
    str *cell = cells_array(s->cells, (size_t)d->rows * 2, columns);
    if (cell == NULL)
        return false;
    for (uint32_t i = 0; i < d->rows; i++) {
        fill_row(s, s->order[i], &d->row[0], cell + (size_t)rows++ * columns);
        rows += fill_line(s, s->order[i], cell + (size_t)rows * columns);
    }
    *ret = (struct text_table){ column, columns, rows, cell, 0 };
    return true;
}

/* What a line under the row or --json has as well gives way to the question. */
static void put_table(struct buf *to, struct text_context *s, const struct replay_result *d)
{
    static const enum what_if_column dispensable[] = { ACTIVE_CHANGE, NEW_MEMORY, AT_LEAST, OUTCOME,
                                                       ACTIVE };
    struct text_column column[COLUMNS];
    struct text_table table;
    for (uint32_t i = 0; i < COLUMNS; i++)
        s->shown[i] = true;
    s->shown[SUFFICES] = s->question_below = false;
    for (uint32_t i = 0; i < d->rows; i++)
        s->shown[SUFFICES] = s->shown[SUFFICES] || d->row[i].has_smallest;
    for (uint32_t i = 0; i <= sizeof dispensable / sizeof *dispensable; i++) {
        if (i > 0)
            s->shown[dispensable[i - 1]] = false;
        if (!make_table(s, d, column, &table))
            return;
        if (text_table_width(&table) <= s->style->width)
            break;
    }
    /* A setting that has lost a part cannot be copied. */
    if (text_table_width(&table) > s->style->width) {
        s->question_below = true;
        s->shown[QUESTION] = false;
        if (!make_table(s, d, column, &table))
            return;
    }
    text_table(to, s->style, &table);
}

/* What a question comes to, at the worse end of its range: what suffices where that was asked. */
static uint64_t figure_of(const struct replay_row *row)
{
    uint64_t one = row->answer.reserved.bytes, other = row->reserved_ascending_bytes;
    if (row->has_smallest)
        return row->smallest.bytes;
    return other != UNKNOWN_U64 && other > one ? other : one;
}

/* Whether a run went as far as that of the recorded settings may. */
static bool is_complete(const struct replay_row *row)
{
    return !row->answer.ran_out && figure_of(row) != UNKNOWN_U64;
}

static int by_figure(const void *a, const void *b)
{
    const struct replay_row *x = *(const struct replay_row *const *)a;
    const struct replay_row *y = *(const struct replay_row *const *)b;
    if (is_complete(x) != is_complete(y))
        return is_complete(x) ? -1 : 1;
    if (figure_of(x) != figure_of(y))
        return figure_of(x) < figure_of(y) ? -1 : 1;
    return x < y ? -1 : x > y; /* rows of one array */
}

/* The recorded settings, then, of many, those that need least; others as they were asked. */
static bool order_rows(struct text_context *s, const struct replay_result *d)
{
    s->order = arena_array(&s->cells->arena, const struct replay_row *, d->rows);
    for (uint32_t i = 0; s->order != NULL && i < d->rows; i++)
        s->order[i] = &d->row[i];
    if (s->order != NULL && s->many)
        qsort(s->order + 1, d->rows - 1, sizeof(*s->order), by_figure);
    return s->order != NULL;
}

/* "1.00 GiB less than", "as much as" */
static void add_compared(struct buf *words, uint64_t bytes, uint64_t same)
{
    if (bytes == same) {
        buf_text(words, "as much as");
        return;
    }
    human_known_bytes(words, bytes < same ? same - bytes : bytes - same);
    buf_text(words, bytes < same ? " less than" : " more than");
}

static void add_moment(struct buf *words, int64_t event)
{
    if (event < 0)
        buf_text(words, " at the start");
    else
        buf_format(words, " at event %lld", (long long)event);
}

static void add_needs(const struct text_context *s, const struct replay_row *row,
                      const struct replay_row *same)
{
    const struct capacity_answer *needs = &row->smallest;
    struct buf *words = s->words;
    buf_text(words, " A card that can give ");
    human_known_bytes(words, needs->bytes);
    buf_text(words, " is enough");
    if (row != same && same->has_smallest) {
        buf_text(words, ", ");
        add_compared(words, needs->bytes, same->smallest.bytes);
        buf_text(words, " with the recorded settings");
    }
    if (needs->retries > 0) {
        buf_text(words, ", at the cost of ");
        human_count(words, needs->retries, s->style->ascii);
        buf_text(words, needs->retries == 1 ? " retry that empties the cache"
                                            : " retries that empty the cache");
    }
    buf_char(words, '.');
}

/* One question in full sentences. */
static void put_sentences(struct buf *to, const struct text_context *s,
                          const struct replay_row *row, const struct replay_row *same)
{
    const struct whatif_answer *a = &row->answer;
    struct buf *words = s->words;
    buf_text(words, "With ");
    bool recorded = row == same || str_equal(row->question, S("same"));
    escape_text(words, recorded ? S("the recorded settings") : row->question, s->style->ascii);
    buf_text(words, end_of(a) == INT64_MAX ? " the peak" : ", as far as it runs, the peak");
    buf_text(words, " of reserved memory is ");
    human_known_bytes(words, a->reserved.bytes);
    add_moment(words, a->reserved.event);
    if (row != same && comparable(row, same)) {
        buf_text(words, ", ");
        add_compared(words, a->reserved.bytes, same->answer.reserved.bytes);
        buf_text(words, " without the change");
    }
    buf_text(words, "; that of active memory is ");
    human_known_bytes(words, a->active.bytes);
    add_moment(words, a->active.event);
    buf_text(words, ". It reserves new memory ");
    human_counted(words, a->new_memory, "time", s->style->ascii);
    if (a->retries > 0) {
        buf_text(words, " and has to release its cache ");
        if (a->retries == 1)
            buf_text(words, "once");
        else
            human_counted(words, a->retries, "time", s->style->ascii);
    }
    buf_char(words, '.');
    if (a->changed > 0) {
        buf_text(words, " The changed sites have ");
        human_counted(words, a->changed, "allocation", s->style->ascii);
        buf_text(words, ", of ");
        human_known_bytes(words, a->changed_bytes);
        buf_text(words, " in total.");
    }
    if (row->has_smallest)
        add_needs(s, row, same);
    text_wrap(to, s->style, buf_slice(words), 0, 0);
    to->failed = to->failed || words->failed;
    words->len = 0;
}

static void put_bound(struct buf *to, const struct text_context *s, const struct replay_result *d)
{
    struct buf *words = s->words;
    const struct replay_row *last = &d->row[d->rows - 1];
    if (s->shown[AT_LEAST]) {
        buf_text(words, "at least: what a perfect packing would still need");
        put_words(to, s, "note");
        return;
    }
    const struct replay_row *told = d->rows <= SENTENCES_MOST ? last : &d->row[0];
    buf_text(words, "a perfect packing of ");
    escape_text(words, told->question, s->style->ascii);
    buf_text(words, " would still need ");
    human_known_bytes(words, told->answer.lower_bound_bytes);
    if (told != last)
        buf_text(words, "; --json has it for each question");
    put_words(to, s, "note");
}

/* What must be known to read the table. */
static void put_notes(struct buf *to, const struct text_context *s, const struct replay_result *d)
{
    const struct whatif_answer *same = &d->row[0].answer;
    struct buf *words = s->words;
    if (same->active_start_bytes > 0 && same->active_start_bytes != UNKNOWN_U64) {
        human_known_bytes(words, same->active_start_bytes);
        buf_text(words, " of the active peak (");
        human_share(words, share_ratio(same->active_start_bytes, same->active.bytes));
        buf_text(words, ") is older than the recording: no setting changes its blocks");
        put_words(to, s, "note");
    }
    put_bound(to, s, d);
    if (!s->shown[SUFFICES])
        return;
    bool unsure = false;
    for (uint32_t i = 0; i < d->rows; i++)
        unsure = unsure || (d->row[i].has_smallest && !d->row[i].smallest.checked);
    buf_text(words, "suffices: a capacity at which the run completes, and in brackets how often it "
                    "must release its cache there");
    if (unsure)
        buf_text(words, "; ? marks one at which it fails again with a little more");
    put_words(to, s, "note");
}

/* "what if in 24.00 GiB (same: the recorded settings, nothing changed): every run completes" */
static void put_heading(struct buf *to, struct text_context *s, const struct replay_result *d)
{
    struct buf *words = s->words;
    bool complete = true;
    s->one_capacity = true;
    for (uint32_t i = 0; i < d->rows; i++) {
        complete = complete && end_of(&d->row[i].answer) == INT64_MAX;
        s->one_capacity = s->one_capacity && d->row[i].capacity_bytes == d->row[0].capacity_bytes;
    }
    paint_on(words, s->style, PAINT_BOLD);
    buf_text(words, "what if");
    if (s->one_capacity && d->row[0].capacity_bytes != UNKNOWN_U64) {
        buf_text(words, " in ");
        human_known_bytes(words, d->row[0].capacity_bytes);
    }
    paint_off(words, s->style);
    buf_text(words, d->certain ? "" : ", approximately");
    buf_text(words, " (same: the recorded settings, nothing changed)");
    buf_text(words, complete ? ": every run completes" : "");
    text_wrap(to, s->style, buf_slice(words), 0, 0);
    words->len = 0;
}

/* A recording that ran out, replayed without a limit: serving the request proves nothing. */
static void put_no_limit(struct buf *to, const struct text_context *s,
                         const struct replay_result *d)
{
    struct buf *words = s->words;
    uint64_t capacity = d->identities.recorded_capacity_bytes;
    if (!s->serves_all)
        return;
    buf_format(words,
               "none: without --capacity every row serves the request that failed in the "
               "recording (event %lld), and ends there",
               (long long)d->row[0].answer.served_oom_event);
    if (!d->has_identities || capacity == 0 || capacity == UNKNOWN_U64) {
        put_words(to, s, "limit");
        return;
    }
    buf_text(words, "; to see what fits in the ");
    human_known_bytes(words, capacity);
    buf_text(words, " that there were:");
    put_words(to, s, "limit");
    buf_text(words, s->many ? " --sweep --capacity " : " --capacity ");
    next_size(words, capacity);
    buf_char(words, '\0');
    envelope_label(to, s->style, "");
    if (!words->failed)
        next_command(to, s->style, "replay", s->path, words->at);
    words->len = 0;
    buf_char(to, '\n');
}

/* Of many questions on one device, those that do not run out where others do. */
static void put_verdict(struct buf *to, const struct text_context *s, const struct replay_result *d)
{
    enum { NAMED_MOST = 5 };
    uint32_t fits = 0, asked = 0;
    for (uint32_t i = 0; i < d->rows; i++) {
        if (d->row[i].capacity_bytes == UNKNOWN_U64)
            continue;
        asked++;
        if (d->row[i].answer.ran_out || fits++ >= NAMED_MOST)
            continue;
        buf_text(s->words, fits == 1 ? "" : ", ");
        escape_text(s->words, d->row[i].question, s->style->ascii);
    }
    if (fits > NAMED_MOST)
        buf_format(s->words, " and %u more", (unsigned)(fits - NAMED_MOST));
    if (fits == 0)
        buf_format(s->words, "none of the %u: each runs out", (unsigned)asked);
    if (fits < asked)
        put_words(to, s, "fits");
    s->words->len = 0;
}

/* Of many questions the one that helps most. */
static void put_best(struct buf *to, const struct text_context *s, const struct replay_result *d)
{
    const struct replay_row *best = s->order[1], *same = &d->row[0];
    struct buf *words = s->words;
    bool compared = comparable(best, same) || best->smallest_compared;
    if (!is_complete(best))
        return; /* none fits, which is said */
    if (compared && is_complete(same) && figure_of(best) >= figure_of(same)) {
        buf_format(words, "none of the %u needs less than same", (unsigned)(d->rows - 1));
        put_words(to, s, "best");
        return;
    }
    escape_text(words, best->question, s->style->ascii);
    buf_text(words, best->has_smallest ? ": " : " reserves ");
    human_known_bytes(words, figure_of(best));
    buf_text(words, best->has_smallest ? " suffice" : "");
    if (compared && is_complete(same)) {
        uint64_t less = figure_of(same) - figure_of(best);
        buf_text(words, ", ");
        human_known_bytes(words, less);
        buf_text(words, " (");
        human_share(words, share_ratio(less, figure_of(same)));
        buf_text(words, ") less than same");
    }
    put_words(to, s, "best");
}

/* Why the recorded settings do not come to what was recorded. */
static void put_unlike(struct buf *to, const struct text_context *s, const struct replay_result *d)
{
    const struct replay_row *same = &d->row[0];
    uint64_t reserved = same->answer.reserved.bytes;
    /* A model that is not exact may differ for reasons of its own. */
    if (reserved == UNKNOWN_U64 || reserved <= d->recorded_peak_bytes ||
        same->capacity_bytes != UNKNOWN_U64 || !grade_is_exact(d->agreement.grade))
        return;
    buf_text(s->words, "without a limit the recorded settings reserve ");
    human_known_bytes(s->words, reserved - d->recorded_peak_bytes);
    buf_text(s->words, " more than was recorded, as PyTorch never has to empty its cache");
    put_words(to, s, "note");
}

static void put_what_if(struct buf *to, struct text_context *s, const struct replay_result *d)
{
    s->many = d->rows > BRIEF_ROWS;
    s->serves_all = s->many;
    for (uint32_t i = 0; i < d->rows; i++)
        s->serves_all = s->serves_all && d->row[i].capacity_bytes == UNKNOWN_U64 &&
                        d->row[i].answer.served_oom_event >= 0;
    if (!order_rows(s, d)) {
        to->failed = true;
        return;
    }
    buf_char(to, '\n');
    put_heading(to, s, d);
    put_no_limit(to, s, d);
    put_table(to, s, d);
    if (d->rows <= SENTENCES_MOST) {
        buf_char(to, '\n');
        put_sentences(to, s, &d->row[d->rows - 1], &d->row[0]);
    }
    buf_char(to, '\n');
    if (s->many) {
        put_best(to, s, d);
        put_verdict(to, s, d);
    }
    put_unlike(to, s, d);
    put_notes(to, s, d);
}

static const char *const reason_labels[ANSWER_STATUSES] = {
    [ANSWER_OK] = "note",
    [ANSWER_PARTIAL] = "note",
    [ANSWER_NOT_APPLICABLE] = "reason",
    [ANSWER_NEEDS_TRACE] = "reason",
    [ANSWER_REFUSED] = "refused",
};

static void put_replay(struct buf *to, const struct text_context *s,
                       const struct replay_result *result)
{
    if (result->agreement.grade != GRADE_NONE) {
        put_first(to, s, result);
        put_start(to, s, &result->agreement);
        put_runs(to, s, &result->agreement);
        put_peak(to, s, result);
    }
    if (result->has_identities) {
        replay_identity_words(s->words, &result->identities);
        put_words(to, s, "check");
    }
}

static void put_device(struct buf *to, struct text_context *s, const struct device_answer *d)
{
    const struct replay_result *result = d->result;
    buf_char(to, '\n');
    put_grade(to, s, d, result == NULL ? NULL : &result->agreement);
    if (result != NULL)
        put_replay(to, s, result);
    for (uint32_t i = 0; i < d->reasons; i++) {
        escape_text(s->words, d->reason[i].text, s->style->ascii);
        put_words(to, s, reason_labels[d->status]);
    }
    if (result != NULL && result->rows > 0) {
        put_what_if(to, s, result);
        buf_char(to, '\n');
    }
    envelope_trust_text(to, s->style, &d->trust);
}

void replay_text(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options)
{
    (void)several;
    struct buf *to = &out->text;
    struct cells cells;
    struct buf words;
    cells_init(&cells, &options->style);
    buf_init(&words, SIZE_MAX / 2);
    struct text_context s = { .style = &options->style, .cells = &cells, .words = &words };
    for (uint32_t i = 0; i < set->count; i++) {
        const struct devices_answer *answer = &set->study[i];
        if (i > 0)
            buf_char(to, '\n');
        char grade = answer->devices == 1 ? answer->device[0].trust.grade : '\0';
        envelope_file_text(to, &options->style, &answer->file, answer->devices, grade);
        if (answer->devices == 0 && answer->file.origin.complete)
            envelope_nothing_text(to, &options->style);
        s.path = answer->file.path;
        for (uint32_t k = 0; k < answer->devices; k++) {
            struct arena_mark mark = arena_mark(&cells.arena);
            put_device(to, &s, &answer->device[k]);
            arena_release(&cells.arena, mark);
            out_flush(out, OUT_ENOUGH);
        }
    }
    buf_end(&words, to);
    cells_free(&cells, to);
}
