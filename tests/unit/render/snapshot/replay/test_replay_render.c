#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "allocator/replay/replay.h"
#include "allocator/whatif/questions.h"
#include "allocator/whatif/whatif.h"
#include "analysis/snapshot/trust/trust.h"
#include "api/result.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"
#include "render/answer/answer.h"
#include "render/answer/fields.h"
#include "render/snapshot/answers.h"
#include "render/snapshot/renderers.h"
#include "render/snapshot/replay/replay_sentences.h"
#include "render/write/escape.h"
#include "render/write/out.h"
#include "vramscope/vramscope.h"

#define MIBS(n) ((uint64_t)(n) << 20)

enum { SWEEP_ROWS = 16, HUGE_SHIFT = 62 };

/* One answer made by hand, and what it points to. */
struct made {
    struct devices_answer answer;
    struct device_answer device;
    struct replay_result result;
    struct replay_row row[SWEEP_ROWS];
    struct answer_reason reason;
};

static struct whatif_answer completed(uint64_t reserved, uint64_t active)
{
    return (struct whatif_answer){
        .reserved = { reserved, 391 },
        .active = { active, 390 },
        .requested = { active, 390 },
        .new_memory = 40,
        .lower_bound_bytes = active,
        .served_oom_event = -1,
        .same_curve = true,
        .parted_event = -1,
    };
}

static struct replay_row asked(const char *question, uint64_t reserved, uint64_t active)
{
    return (struct replay_row){
        .question = str_from(question),
        .answer = completed(reserved, active),
        .reserved_ascending_bytes = reserved,
        .capacity_bytes = UNKNOWN_U64,
    };
}

static void needs(struct replay_row *row, uint64_t bytes, uint64_t retries)
{
    row->has_smallest = true;
    row->smallest = (struct capacity_answer){ bytes, retries, true, true };
}

static struct agreement agreed(enum replay_grade grade)
{
    return (struct agreement){
        .grade = grade,
        .addresses = 2434,
        .addresses_equal = 2434,
        .new_memory = 175,
        .new_memory_equal = 175,
        .final_blocks = 1,
        .final_blocks_equal = 1,
        .active = { 0, (int64_t)MIBS(800), (int64_t)MIBS(10), 390, 390 },
    };
}

static void make(struct made *m, enum replay_grade grade)
{
    memset(m, 0, sizeof *m);
    m->device = (struct device_answer){
        .status = ANSWER_OK,
        .reason = &m->reason,
        .trust = { .grade = 'A', .window = WINDOW_COMPLETE },
        .result = &m->result,
    };
    m->result = (struct replay_result){
        .events = 5000,
        .agreement = agreed(grade),
        .recorded_peak_bytes = MIBS(1000),
        .row = m->row,
    };
    m->answer = (struct devices_answer){
        .file = { .path = S("run.pickle"),
                  .entry = { NULL, 0 },
                  .origin = { .size_bytes = 4096, .pickle_protocol = 2, .complete = true },
                  .events = 5000 },
        .device = &m->device,
        .devices = 1,
    };
}

static void identical(struct made *m)
{
    m->result.has_identities = true;
    m->result.identities = (struct identities){
        .reproduces = true,
        .reproduces_ascending = true,
        .reproduces_at_capacity = true,
        .recorded_capacity_bytes = MIBS(1024),
        .first_oom_at_capacity = -2,
        .parted_event = -1,
        .parted_at_capacity_event = -1,
    };
}

static void ask(struct made *m, struct replay_row row)
{
    m->row[m->result.rows++] = row;
}

static void differs(struct made *m, enum disagreement kind)
{
    m->result.agreement.first =
        (struct first_disagreement){ kind, 1204, 0x7f0000000200, 0x7f0000400000, 512, 1024 };
}

static void refuse(struct made *m, const char *id, str text)
{
    m->device.status = ANSWER_REFUSED;
    m->reason = (struct answer_reason){ id, text };
    m->device.reasons = 1;
}

static void make_exact(struct made *m)
{
    make(m, GRADE_EXACT);
}

static void make_corrected(struct made *m)
{
    make(m, GRADE_CORRECTED);
    struct agreement *a = &m->result.agreement;
    a->preexisting = 664;
    a->inferred = 438;
    a->corrected = 3;
    a->release_runs = a->release_runs_equal = 28;
    a->runs_by_stack[RUN_EMPTY_CACHE] = 26;
    a->runs_by_sequence[RUN_RETRY] = 2;
    identical(m);
    m->result.identities.reproduces_ascending = false;
}

static void make_mostly(struct made *m)
{
    make(m, GRADE_MOSTLY);
    m->result.agreement.addresses_equal = 2430;
    m->result.agreement.preexisting = 1;
    m->result.agreement.corrected = 1;
    differs(m, WRONG_ADDRESS);
    identical(m);
    m->result.identities.reproduces_at_capacity = false;
    m->result.identities.parted_at_capacity_event = 2000;
    ask(m, asked("same", MIBS(1000), MIBS(800)));
    ask(m, asked("expandable_segments:True", MIBS(900), MIBS(800)));
}

static void make_poor(struct made *m)
{
    make(m, GRADE_POOR);
    m->result.agreement.addresses_equal = 12;
    differs(m, SEGMENT_MISSING);
    refuse(m, "poor_agreement",
           S("the model does not reproduce this recording, so what it says of other settings would "
             "be a guess; --anyway asks nevertheless"));
}

static void make_none(struct made *m)
{
    make(m, GRADE_NONE);
    m->result.agreement = (struct agreement){ .refusal = REFUSED_NO_EVENTS };
    m->device.status = ANSWER_NEEDS_TRACE;
    m->device.result = NULL;
    m->reason = (struct answer_reason){ "no_trace", S("the recording has no trace") };
    m->device.reasons = 1;
}

static void make_one(struct made *m)
{
    make(m, GRADE_EXACT);
    identical(m);
    ask(m, asked("same", MIBS(1000), MIBS(800)));
    ask(m, asked("expandable_segments:True", MIBS(860), MIBS(800)));
    m->row[0].answer.active_start_bytes = MIBS(200);
    m->row[1].answer.retries = 2;
    needs(&m->row[0], MIBS(960), 1);
    needs(&m->row[1], MIBS(812), 19);
}

static void make_several(struct made *m)
{
    make_one(m);
    ask(m, asked("--drop train.py:12 forward", MIBS(600), MIBS(500)));
    m->row[2].reserved_ascending_bytes = MIBS(640);
    needs(&m->row[2], MIBS(520), 4);
    m->row[2].smallest.checked = false;
}

static void run_out(struct replay_row *row, const char *culprit)
{
    row->answer.ran_out = true;
    row->answer.oom = (struct oom_answer){ 391,       MIBS(100), MIBS(110), MIBS(700),
                                           MIBS(650), MIBS(20),  MIBS(4),   MIBS(46) };
    row->oom_culprit = str_from(culprit);
    row->capacity_bytes = MIBS(720);
}

static void make_oom(struct made *m)
{
    make(m, GRADE_EXACT);
    identical(m);
    ask(m, asked("same", MIBS(700), MIBS(690)));
    ask(m, asked("max_split_size_mb:64", MIBS(700), MIBS(650)));
    ask(m, asked("--scale train.py:12=0.5", MIBS(700), MIBS(650)));
    ask(m, asked("--drop train.py:30", MIBS(720), MIBS(710)));
    run_out(&m->row[1], "train.py:12 forward");
    run_out(&m->row[2], "");
    run_out(&m->row[3], "");
    m->row[3].answer.oom.event = -1;
    m->row[0].capacity_bytes = MIBS(720);
}

static void make_served(struct made *m)
{
    make(m, GRADE_EXACT);
    identical(m);
    ask(m, asked("same", MIBS(1000), MIBS(800)));
    ask(m, asked("--drop train.py:30", MIBS(900), MIBS(700)));
    m->row[1].answer.served_oom_event = 4999;
}

static void make_sweep(struct made *m)
{
    static const char *const settings[SWEEP_ROWS] = {
        "same",
        "expandable_segments:True",
        "expandable_segments:False",
        "max_split_size_mb:64",
        "max_split_size_mb:128",
        "max_split_size_mb:256",
        "max_split_size_mb:512",
        "roundup_power2_divisions:1",
        "roundup_power2_divisions:2",
        "roundup_power2_divisions:4",
        "roundup_power2_divisions:8",
        "roundup_power2_divisions:16",
        "garbage_collection_threshold:0.6",
        "garbage_collection_threshold:0.8",
        "garbage_collection_threshold:0.9",
        "large_segment_size_mb:40",
    };
    make(m, GRADE_EXACT);
    identical(m);
    for (uint32_t i = 0; i < SWEEP_ROWS; i++) {
        ask(m, asked(settings[i], MIBS(1000 + 37 * i), MIBS(800 + i)));
        needs(&m->row[i], MIBS(820 + 2 * i), i * 100);
    }
    m->row[3].reserved_ascending_bytes = MIBS(980);
}

/* Nothing of a stranger's text reaches a terminal as it is. */
static void make_hostile(struct made *m)
{
    make_oom(m);
    m->answer.file.path = S("\033]0;x\007\u202e.pickle");
    m->row[1].question = S("--drop \033[31m\"<b>\xff\n'\\");
    m->row[1].oom_culprit = S("\x1b[2J<script>:1 \u202ef\t");
    m->reason = (struct answer_reason){ "note", S("a\rb \x7f c") };
    m->device.reasons = 1;
    m->device.status = ANSWER_PARTIAL;
}

static void make_tiny(struct made *m)
{
    make(m, GRADE_EXACT);
    m->result.agreement = (struct agreement){ .grade = GRADE_EXACT };
    m->result.recorded_peak_bytes = 0;
    ask(m, asked("same", 0, 0));
    ask(m, asked("x", 1, 0));
    m->row[0].answer.reserved.event = m->row[0].answer.active.event = -1;
}

static void make_huge(struct made *m)
{
    uint64_t huge = UINT64_C(1) << HUGE_SHIFT;
    make(m, GRADE_EXACT);
    identical(m);
    m->result.agreement.addresses = m->result.agreement.addresses_equal = huge;
    m->result.recorded_peak_bytes = huge;
    ask(m, asked("same", huge, huge));
    ask(m, asked("x", 0, huge - 1));
    needs(&m->row[0], huge, huge);
    m->row[1].reserved_ascending_bytes = huge;
}

static const struct {
    const char *name;
    void (*make)(struct made *m);
    bool ordinary; /* its lines fit any terminal */
} cases[] = {
    { "exact", make_exact, true },     { "corrected", make_corrected, true },
    { "mostly", make_mostly, true },   { "poor", make_poor, true },
    { "none", make_none, true },       { "one", make_one, true },
    { "several", make_several, true }, { "oom", make_oom, true },
    { "served", make_served, true },   { "sweep", make_sweep, true },
    { "hostile", make_hostile, true }, { "tiny", make_tiny, true },
    { "huge", make_huge, false },
};
enum { CASES = sizeof cases / sizeof *cases };

static bool keep(void *arg, const char *bytes, size_t len)
{
    buf_bytes(arg, bytes, len);
    return true;
}

typedef void renderer(struct out *out, const struct answer_set *set, bool several,
                      const struct render_options *options);

/* What a renderer writes, ended by a NUL; the caller frees `to`. */
static void render(renderer *write, struct made *m, bool several, uint32_t width, bool colour,
                   struct buf *to)
{
    struct render_options options = { .style = { width, colour, true }, .tool = vrs_version() };
    struct answer_set set = { .kind = &replay_answer, .count = 1 };
    set.study = &m->answer;
    buf_init(to, 1 << 20);
    struct out out = { .write = keep, .arg = to };
    buf_init(&out.text, SIZE_MAX / 2);
    write(&out, &set, several, &options);
    out_flush(&out, 0);
    assert_false(out.text.failed);
    buf_free(&out.text);
    buf_char(to, '\0');
    assert_false(to->failed);
}

static void make_case(const char *name, struct made *m)
{
    for (size_t i = 0; i < CASES; i++) {
        if (strcmp(cases[i].name, name) == 0) {
            cases[i].make(m);
            replay_conclude(&m->result);
            return;
        }
    }
    fail_msg("no case %s", name);
}

/* From the device on, or from the questions on. */
static void text_is(const char *name, uint32_t width, const char *expected)
{
    struct made m;
    struct buf text;
    make_case(name, &m);
    render(replay_text, &m, false, width, false, &text);
    const char *at =
        strstr(text.at, str_starts(str_from(expected), S("what")) ? "what if" : "device");
    assert_non_null(at);
    assert_string_equal(at, expected);
    buf_free(&text);
}

static void check_has(const char *name, const char *expected)
{
    struct made m;
    struct buf text;
    make_case(name, &m);
    render(answer_json, &m, false, 0, false, &text);
    if (strstr(text.at, expected) == NULL)
        fail_msg("%s lacks %s", text.at, expected);
    buf_free(&text);
}

static void no_line_is_wider_than_the_terminal(void **state)
{
    (void)state;
    static const uint32_t widths[] = { 80, 100, 119, 120, 200 };
    for (size_t i = 0; i < CASES; i++) {
        for (size_t k = 0; cases[i].ordinary && k < sizeof widths / sizeof *widths; k++) {
            struct made m;
            struct buf text;
            cases[i].make(&m);
            render(replay_text, &m, false, widths[k], true, &text);
            for (const char *line = text.at; *line != '\0';) {
                size_t len = strcspn(line, "\n");
                if (escape_width((str){ line, len }) > widths[k])
                    fail_msg("%s at %u: %.*s", cases[i].name, (unsigned)widths[k], (int)len, line);
                line += len + (line[len] == '\n');
            }
            buf_free(&text);
        }
    }
}

/* Whatever a file says, what is written has no control character but the newline. */
static void hostile_text_is_escaped(void **state)
{
    (void)state;
    renderer *const writers[] = { replay_text, answer_json };
    for (size_t i = 0; i < 2; i++) {
        struct made m;
        struct buf text;
        make_hostile(&m);
        render(writers[i], &m, false, 80, false, &text);
        for (size_t k = 0; k + 1 < text.len; k++)
            assert_true(text.at[k] == '\n' || (text.at[k] >= ' ' && text.at[k] < 0x7f));
        buf_free(&text);
    }
}

static void agreement_is_told_in_words(void **state)
{
    (void)state;
    text_is("exact", 80,
            "device 0: the model reproduces this recording exactly\n"
            "agrees   2,434 of 2,434 addresses, 175 of 175 requests for new memory, 1 of 1\n"
            "         final block\n"
            "peak     1000.00 MiB reserved as recorded, 800.00 MiB active in blocks\n"
            "trust A  every check passes and nothing is older than the recording\n");
    text_is("corrected", 80,
            "device 0: the model reproduces this recording exactly, after 3 blocks older than\n"
            "         it were given another size\n"
            "agrees   2,434 of 2,434 addresses, 175 of 175 requests for new memory, 28 of 28\n"
            "         runs of releases, 1 of 1 final block\n"
            "start    664 blocks are older than the recording; the place of 438 was inferred\n"
            "releases cached memory was released 26 times by empty_cache, 2 times probably to\n"
            "         serve a request\n"
            "peak     1000.00 MiB reserved as recorded, 800.00 MiB active in blocks\n"
            "check    left to itself, the model reserves exactly what was recorded, also when\n"
            "         it is given only 1.00 GiB: the answers can be trusted (where they\n"
            "         depend on the addresses that the driver gives, a range is shown)\n"
            "trust A  every check passes and nothing is older than the recording\n");
    text_is("poor", 80,
            "device 0: the model does not reproduce this recording\n"
            "agrees   12 of 2,434 addresses, 175 of 175 requests for new memory, 1 of 1 final\n"
            "         block\n"
            "differs  first at event 1204: the model needs new memory, 512 B, where the\n"
            "         recording reserved none and has a block at 0x7f0000400000\n"
            "likely   settings that the file does not contain, another version of PyTorch, or\n"
            "         another allocator\n"
            "peak     1000.00 MiB reserved as recorded\n"
            "refused  the model does not reproduce this recording, so what it says of other\n"
            "         settings would be a guess; --anyway asks nevertheless\n"
            "trust A  every check passes and nothing is older than the recording\n");
    text_is("none", 80,
            "device 0: not replayed\n"
            "reason   the recording has no trace\n"
            "trust A  every check passes and nothing is older than the recording\n");
}

static void one_question_is_answered_in_sentences(void **state)
{
    (void)state;
    text_is("mostly", 80,
            "device 0: the model reproduces most of this recording\n"
            "agrees   2,430 of 2,434 addresses, 175 of 175 requests for new memory, 1 of 1\n"
            "         final block\n"
            "differs  first at event 1204: the model allocates at 0x7f0000000200 where\n"
            "         0x7f0000400000 was recorded\n"
            "likely   memory older than the recording, whose state at the start is worked out\n"
            "         backwards; start recording before the first allocation\n"
            "start    1 block is older than the recording; the size of 1 was corrected\n"
            "peak     1000.00 MiB reserved as recorded\n"
            "check    left to itself, the model reserves exactly what was recorded; when it\n"
            "         is given only 1.00 GiB it does not from event 2000 on, so answers are\n"
            "         approximate, and which capacity suffices is not known\n"
            "\n"
            "what if, approximately (same: the recorded settings, nothing changed): every run\n"
            "completes\n"
            "   reserved      to same      active  outcome    question\n"
            "1000.00 MiB               800.00 MiB  completes  same\n"
            " 900.00 MiB  -100.00 MiB  800.00 MiB  completes  expandable_segments:True\n"
            "\n"
            "With expandable_segments:True the peak of reserved memory is 900.00 MiB at event\n"
            "391, 100.00 MiB less than without the change; that of active memory is\n"
            "800.00 MiB at event 390. It reserves new memory 40 times.\n"
            "\n"
            "note     a perfect packing of expandable_segments:True would still need\n"
            "         800.00 MiB\n"
            "\n"
            "trust A  every check passes and nothing is older than the recording\n");
    text_is("one", 80,
            "what if (same: the recorded settings, nothing changed): every run completes\n"
            "   reserved      to same      active         suffices  question\n"
            "1000.00 MiB               800.00 MiB   960.00 MiB (1)  same\n"
            " 860.00 MiB  -140.00 MiB  800.00 MiB  812.00 MiB (19)  expandable_segments:True\n"
            "\n"
            "With expandable_segments:True the peak of reserved memory is 860.00 MiB at event\n"
            "391, 140.00 MiB less than without the change; that of active memory is\n"
            "800.00 MiB at event 390. It reserves new memory 40 times and has to release its\n"
            "cache 2 times. A card that can give 812.00 MiB is enough, 148.00 MiB less than\n"
            "with the recorded settings, at the cost of 19 retries that empty the cache.\n"
            "\n"
            "note     200.00 MiB of the active peak (25.0 %) is older than the recording: no\n"
            "         setting changes its blocks\n"
            "note     a perfect packing of expandable_segments:True would still need\n"
            "         800.00 MiB\n"
            "note     suffices: a capacity at which the run completes, and in brackets how\n"
            "         often it must release its cache there\n"
            "\n"
            "trust A  every check passes and nothing is older than the recording\n");
    text_is("tiny", 80,
            "what if, approximately (same: the recorded settings, nothing changed): every run\n"
            "completes\n"
            "reserved  to same  active  to same  at least  segments  outcome    question\n"
            "     0 B              0 B                0 B        40  completes  same\n"
            "     1 B     +1 B     0 B      0 B       0 B        40  completes  x\n"
            "\n"
            "With x the peak of reserved memory is 1 B at event 391, 1 B more than without\n"
            "the change; that of active memory is 0 B at event 390. It reserves new memory 40\n"
            "times.\n"
            "\n"
            "note     at least: what a perfect packing would still need\n"
            "\n"
            "trust A  every check passes and nothing is older than the recording\n");
}

static void many_questions_are_a_table(void **state)
{
    (void)state;
    text_is("several", 80,
            "what if (same: the recorded settings, nothing changed): every run completes\n"
            "   reserved      to same         suffices  question\n"
            "1000.00 MiB                960.00 MiB (1)  same\n"
            " 860.00 MiB  -140.00 MiB  812.00 MiB (19)  expandable_segments:True\n"
            " 600.00 MiB  -400.00 MiB  520.00 MiB? (4)  --drop train.py:12 forward\n"
            "    reserves 600.00 MiB to 640.00 MiB, depending on where the device puts new\n"
            "    segments\n"
            "\n"
            "note     200.00 MiB of the active peak (25.0 %) is older than the recording: no\n"
            "         setting changes its blocks\n"
            "note     a perfect packing of same would still need 800.00 MiB; --json has it\n"
            "         for each question\n"
            "note     suffices: a capacity at which the run completes, and in brackets how\n"
            "         often it must release its cache there; ? marks one at which it fails\n"
            "         again with a little more\n"
            "\n"
            "trust A  every check passes and nothing is older than the recording\n");
    text_is(
        "several", 200,
        "what if (same: the recorded settings, nothing changed): every run completes\n"
        "   reserved      to same      active      to same    at least  segments         suffices  "
        "outcome    question\n"
        "1000.00 MiB               800.00 MiB               800.00 MiB        40   960.00 MiB (1)  "
        "completes  same\n"
        " 860.00 MiB  -140.00 MiB  800.00 MiB          0 B  800.00 MiB        40  812.00 MiB (19)  "
        "completes  expandable_segments:True\n"
        " 600.00 MiB  -400.00 MiB  500.00 MiB  -300.00 MiB  500.00 MiB        40  520.00 MiB? (4)  "
        "completes  --drop train.py:12 forward\n"
        "    reserves 600.00 MiB to 640.00 MiB, depending on where the device puts new segments\n"
        "\n"
        "note     200.00 MiB of the active peak (25.0 %) is older than the recording: no setting "
        "changes its blocks\n"
        "note     at least: what a perfect packing would still need\n"
        "note     suffices: a capacity at which the run completes, and in brackets how often it "
        "must release its cache there; ? marks one at which it fails again with a little more\n"
        "\n"
        "trust A  every check passes and nothing is older than the recording\n");
}

static void a_sweep_names_the_best(void **state)
{
    (void)state;
    text_is("sweep", 80,
            "what if (same: the recorded settings, nothing changed): every run completes\n"
            "   reserved      to same            suffices  question\n"
            "1000.00 MiB                   820.00 MiB (0)  same\n"
            "   1.01 GiB   +37.00 MiB    822.00 MiB (100)  expandable_segments:True\n"
            "   1.05 GiB   +74.00 MiB    824.00 MiB (200)  expandable_segments:False\n"
            "   1.08 GiB  +111.00 MiB    826.00 MiB (300)  max_split_size_mb:64\n"
            "    reserves 980.00 MiB to 1.08 GiB, depending on where the device puts new\n"
            "    segments\n"
            "   1.12 GiB  +148.00 MiB    828.00 MiB (400)  max_split_size_mb:128\n"
            "   1.16 GiB  +185.00 MiB    830.00 MiB (500)  max_split_size_mb:256\n"
            "   1.19 GiB  +222.00 MiB    832.00 MiB (600)  max_split_size_mb:512\n"
            "   1.23 GiB  +259.00 MiB    834.00 MiB (700)  roundup_power2_divisions:1\n"
            "   1.27 GiB  +296.00 MiB    836.00 MiB (800)  roundup_power2_divisions:2\n"
            "   1.30 GiB  +333.00 MiB    838.00 MiB (900)  roundup_power2_divisions:4\n"
            "   1.34 GiB  +370.00 MiB  840.00 MiB (1,000)  roundup_power2_divisions:8\n"
            "   1.37 GiB  +407.00 MiB  842.00 MiB (1,100)  roundup_power2_divisions:16\n"
            "   1.41 GiB  +444.00 MiB  844.00 MiB (1,200)  garbage_collection_threshold:0.6\n"
            "   1.45 GiB  +481.00 MiB  846.00 MiB (1,300)  garbage_collection_threshold:0.8\n"
            "   1.48 GiB  +518.00 MiB  848.00 MiB (1,400)  garbage_collection_threshold:0.9\n"
            "   1.52 GiB  +555.00 MiB  850.00 MiB (1,500)  large_segment_size_mb:40\n"
            "\n"
            "best     none of the 15 needs less than same\n"
            "note     a perfect packing of same would still need 800.00 MiB; --json has it\n"
            "         for each question\n"
            "note     suffices: a capacity at which the run completes, and in brackets how\n"
            "         often it must release its cache there\n"
            "\n"
            "trust A  every check passes and nothing is older than the recording\n");
}

static void a_run_that_ends_early_says_where(void **state)
{
    (void)state;
    text_is("oom", 80,
            "what if in 720.00 MiB (same: the recorded settings, nothing changed)\n"
            "  reserved  to same      active    at least  outcome    question\n"
            "700.00 MiB           690.00 MiB  690.00 MiB  completes  same\n"
            "700.00 MiB        -  650.00 MiB  650.00 MiB  runs out   max_split_size_mb:64\n"
            "    runs out at event 391: train.py:12 forward requests 100.00 MiB (a segment of\n"
            "    110.00 MiB) with 700.00 MiB reserved, 650.00 MiB of it active; the largest\n"
            "    free block for it has 20.00 MiB; releasing the whole cache returns 4.00 MiB,\n"
            "    and 46.00 MiB more can neither be used nor returned\n"
            "700.00 MiB        -  650.00 MiB  650.00 MiB  runs out   --scale train.py:12=0.5\n"
            "    runs out at event 391: an unknown line requests 100.00 MiB (a segment of\n"
            "    110.00 MiB) with 700.00 MiB reserved, 650.00 MiB of it active; the largest\n"
            "    free block for it has 20.00 MiB; releasing the whole cache returns 4.00 MiB,\n"
            "    and 46.00 MiB more can neither be used nor returned\n"
            "720.00 MiB        -  710.00 MiB  710.00 MiB  runs out   --drop train.py:30\n"
            "    does not fit at the start: 650.00 MiB in use and 46.00 MiB that cannot be\n"
            "    returned\n"
            "\n"
            "note     at least: what a perfect packing would still need\n"
            "\n"
            "trust A  every check passes and nothing is older than the recording\n");
    text_is("served", 80,
            "what if (same: the recorded settings, nothing changed)\n"
            "   reserved  to same      active    at least  outcome     question\n"
            "1000.00 MiB           800.00 MiB  800.00 MiB  completes   same\n"
            " 900.00 MiB        -  700.00 MiB  700.00 MiB  ends early  --drop train.py:30\n"
            "    serves the request of event 4999, which failed in the recording; what the\n"
            "    program would have done next is not in the file, so the run ends there\n"
            "\n"
            "With --drop train.py:30, as far as it runs, the peak of reserved memory is\n"
            "900.00 MiB at event 391; that of active memory is 700.00 MiB at event 390. It\n"
            "reserves new memory 40 times.\n"
            "\n"
            "note     at least: what a perfect packing would still need\n"
            "\n"
            "trust A  every check passes and nothing is older than the recording\n");
}

static void strange_text_and_numbers_are_shown_whole(void **state)
{
    (void)state;
    text_is("hostile", 80,
            "what if in 720.00 MiB (same: the recorded settings, nothing changed)\n"
            "  reserved  to same      active  outcome    question\n"
            "700.00 MiB           690.00 MiB  completes  same\n"
            "700.00 MiB        -  650.00 MiB  runs out   --drop \\x1b[31m\"<b>\\xff\\x0a'\\\n"
            "    runs out at event 391: \\x1b[2J<script>:1 \\u{202e}f\\x09 requests 100.00 MiB\n"
            "    (a segment of 110.00 MiB) with 700.00 MiB reserved, 650.00 MiB of it active;\n"
            "    the largest free block for it has 20.00 MiB; releasing the whole cache\n"
            "    returns 4.00 MiB, and 46.00 MiB more can neither be used nor returned\n"
            "700.00 MiB        -  650.00 MiB  runs out   --scale train.py:12=0.5\n"
            "    runs out at event 391: an unknown line requests 100.00 MiB (a segment of\n"
            "    110.00 MiB) with 700.00 MiB reserved, 650.00 MiB of it active; the largest\n"
            "    free block for it has 20.00 MiB; releasing the whole cache returns 4.00 MiB,\n"
            "    and 46.00 MiB more can neither be used nor returned\n"
            "720.00 MiB        -  710.00 MiB  runs out   --drop train.py:30\n"
            "    does not fit at the start: 650.00 MiB in use and 46.00 MiB that cannot be\n"
            "    returned\n"
            "\n"
            "note     a perfect packing of same would still need 690.00 MiB; --json has it\n"
            "         for each question\n"
            "\n"
            "trust A  every check passes and nothing is older than the recording\n");
    text_is("huge", 80,
            "what if (same: the recorded settings, nothing changed): every run completes\n"
            "reserved    to same    active                              suffices  question\n"
            "4.00 EiB             4.00 EiB  4.00 EiB (4,611,686,018,427,387,904)  same\n"
            "     0 B  -4.00 EiB  4.00 EiB                                     -  x\n"
            "    reserves 0 B to 4.00 EiB, depending on where the device puts new segments\n"
            "\n"
            "With x the peak of reserved memory is 0 B at event 391, 4.00 EiB less than\n"
            "without the change; that of active memory is 4.00 EiB at event 390. It reserves\n"
            "new memory 40 times.\n"
            "\n"
            "note     a perfect packing of x would still need 4.00 EiB\n"
            "note     suffices: a capacity at which the run completes, and in brackets how\n"
            "         often it must release its cache there\n"
            "\n"
            "trust A  every check passes and nothing is older than the recording\n");
}

static void every_disagreement_is_explained(void **state)
{
    (void)state;
    static const uint64_t unknown[] = { 0, UNKNOWN_U64 };
    for (size_t k = 0; k < 2; k++) {
        for (int kind = WRONG_ADDRESS; kind < DISAGREEMENTS; kind++) {
            struct made m;
            struct buf words;
            make(&m, GRADE_MOSTLY);
            differs(&m, (enum disagreement)kind);
            m.result.agreement.first.expected_address |= unknown[k];
            m.result.agreement.first.recorded_bytes |= unknown[k];
            buf_init(&words, 1 << 12);
            replay_disagreement_words(&words, &m.result.agreement.first);
            assert_false(words.failed);
            assert_true(words.len > sizeof "at event 1204: ");
            assert_non_null(replay_likely(&m.result));
            buf_free(&words);
        }
    }
}

/* What programs lean on; tests/command checks all of it by the schema. */
static void fields_have_their_names(void **state)
{
    (void)state;
    check_has("exact", "\"schema\": \"vramscope.replay/1\"");
    check_has("exact", "\"first_disagreement\": null");
    check_has("exact", "\"what_if\": []");
    check_has("mostly", "\"kind\": \"wrong_address\"");
    check_has("mostly", "\"expected_address\": 139637976728064");
    check_has("mostly", "\"certain\": false");
    check_has("poor", "\"status\": \"refused\"");
    check_has("poor", "\"id\": \"poor_agreement\"");
    check_has("none", "\"status\": \"needs_trace\"");
    check_has("none", "\"result\": null");
    check_has("one", "\"delta_reserved_bytes\": -146800640");
    check_has("one", "\"capacity_needed_bytes\": 851443712");
    check_has("one", "\"delta_capacity_needed_bytes\": -155189248");
    check_has("several", "\"peak_reserved_ascending_bytes\": 671088640");
    check_has("several", "\"capacity_checked\": false");
    check_has("oom", "\"culprit\": \"train.py:12 forward\"");
    check_has("oom", "\"culprit\": null");
    check_has("served", "\"served_oom_event\": 4999");
    check_has("huge", "\"peak_reserved_bytes\": 4611686018427387904");
}

/* Answers of several files outlive the results they were joined from. */
static void a_set_outlives_its_parts(void **state)
{
    (void)state;
    struct made m;
    struct buf alone, joined;
    struct vrs_result *part = result_make(&replay_answer, 1), *set = NULL;
    assert_non_null(part);
    make_case("hostile", &m);
    part->set.study[0] = m.answer;
    const struct vrs_result *const parts[] = { part };
    assert_int_equal(vrs_merge(parts, 1, &set, NULL), VRS_OK);
    vrs_result_free(part);
    render(answer_json, &m, true, 0, false, &alone);
    buf_init(&joined, 1 << 20);
    struct vrs_write_options options = { .size = sizeof options, .format = VRS_JSON };
    struct vrs_sink sink = { keep, &joined };
    assert_int_equal(vrs_write(set, &options, &sink, NULL), VRS_OK);
    buf_char(&joined, '\0');
    assert_string_equal(joined.at, alone.at);
    buf_free(&joined);
    buf_free(&alone);
    vrs_result_free(set);
}

int main(int argc, char **argv)
{
    if (argc > 2) { /* CASE WIDTH: for a person; CASE 0, CASE 1: the JSON, of one or of a set */
        struct made m;
        struct buf text;
        uint32_t width = (uint32_t)strtoul(argv[2], NULL, 10);
        make_case(argv[1], &m);
        render(width < 2 ? answer_json : replay_text, &m, width == 1, width, false, &text);
        fputs(text.at, stdout);
        buf_free(&text);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_line_is_wider_than_the_terminal),
        cmocka_unit_test(hostile_text_is_escaped),
        cmocka_unit_test(agreement_is_told_in_words),
        cmocka_unit_test(one_question_is_answered_in_sentences),
        cmocka_unit_test(many_questions_are_a_table),
        cmocka_unit_test(a_sweep_names_the_best),
        cmocka_unit_test(a_run_that_ends_early_says_where),
        cmocka_unit_test(strange_text_and_numbers_are_shown_whole),
        cmocka_unit_test(every_disagreement_is_explained),
        cmocka_unit_test(fields_have_their_names),
        cmocka_unit_test(a_set_outlives_its_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
