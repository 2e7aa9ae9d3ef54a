/* Opcodes as a sink gets them, refused ones by their name and place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "format/pickle/pickle.h"
#include "format/pickle/pickle_ops.h"
#include "made/dribble.h"
#include "made/fault.h"

/* A sink that writes down what it is handed, with the place of the opcode: "2:7d 3:28 4:s=a". */
struct record {
    struct buf opcodes;
    const struct pickle *p;
    uint32_t calls;
    uint32_t fails_at; /* the call that fails, from 1 on; 0: none does */
};

static void begin_note(struct record *r)
{
    if (r->opcodes.len != 0)
        buf_char(&r->opcodes, ' ');
    buf_u64(&r->opcodes, r->p->offset);
    buf_char(&r->opcodes, ':');
}

static enum vrs_status end_note(struct record *r, struct vrs_error *err)
{
    if (r->opcodes.failed)
        return vrs_no_memory(err);
    if (++r->calls == r->fails_at)
        return vrs_fail_at(err, VRS_USAGE, r->p->offset, "enough");
    return VRS_OK;
}

static enum vrs_status plain(void *self, unsigned op, struct vrs_error *err)
{
    struct record *r = self;
    begin_note(r);
    buf_format(&r->opcodes, "%02x", op);
    return end_note(r, err);
}

static enum vrs_status integer(void *self, uint64_t bits, bool negative, struct vrs_error *err)
{
    struct record *r = self;
    begin_note(r);
    if (negative)
        buf_format(&r->opcodes, "i=%lld", (long long)bits);
    else
        buf_format(&r->opcodes, "i=%llu", (unsigned long long)bits);
    return end_note(r, err);
}

static enum vrs_status real(void *self, double number, struct vrs_error *err)
{
    struct record *r = self;
    begin_note(r);
    buf_text(&r->opcodes, "f=");
    buf_real(&r->opcodes, number, 17);
    return end_note(r, err);
}

static enum vrs_status string(void *self, str text, struct vrs_error *err)
{
    struct record *r = self;
    begin_note(r);
    buf_text(&r->opcodes, "s=");
    buf_str(&r->opcodes, text.len < 100 ? text : S("long"));
    return end_note(r, err);
}

static enum vrs_status put(void *self, uint64_t entry, struct vrs_error *err)
{
    struct record *r = self;
    begin_note(r);
    buf_format(&r->opcodes, "put=%llu", (unsigned long long)entry);
    return end_note(r, err);
}

static enum vrs_status get(void *self, uint64_t entry, struct vrs_error *err)
{
    struct record *r = self;
    begin_note(r);
    buf_format(&r->opcodes, "get=%llu", (unsigned long long)entry);
    return end_note(r, err);
}

struct outcome {
    enum vrs_status status;
    struct vrs_error err;
    enum pickle_step end;
    int protocol; /* -1: not known */
    uint64_t offset;
    struct record record;
};

static enum vrs_status read_all(struct pickle *p, struct outcome *o)
{
    TRY(pickle_protocol(p, &o->protocol, &o->end, &o->err));
    while (o->end == PICKLE_ON)
        TRY(pickle_step(p, &o->end, &o->err));
    return VRS_OK;
}

static void read_source(struct dribble d, uint32_t fails_at, const struct limits *limits,
                        struct outcome *o)
{
    struct window w;
    struct pickle p;
    *o = (struct outcome){ .record = { .p = &p, .fails_at = fails_at }, .protocol = -1 };
    buf_init(&o->record.opcodes, 1 << 20);
    const struct pickle_sink sink = {
        .self = &o->record,
        .kind = "shopping list",
        .plain = plain,
        .integer = integer,
        .real = real,
        .string = string,
        .put = put,
        .get = get,
    };
    o->status = window_init(&w, dribble_source(&d), &o->err);
    if (o->status != VRS_OK)
        return;
    pickle_init(&p, &w, limits, &sink);
    o->status = read_all(&p, o);
    o->offset = window_offset(&w);
    pickle_free(&p);
    window_free(&w);
}

static void read_some(const void *bytes, size_t len, size_t step, struct outcome *o)
{
    struct dribble d = { .at = bytes, .left = len, .step = step };
    read_source(d, 0, &default_limits, o);
}

static void outcome_free(struct outcome *o)
{
    buf_free(&o->record.opcodes);
}

static void check_opcodes(const char *bytes, size_t len, int protocol, const char *wanted)
{
    for (size_t step = 0; step < 4; step++) {
        struct outcome o;
        read_some(bytes, len, step, &o);
        if (o.status != VRS_OK)
            fail_msg("%s: %s", wanted, o.err.message);
        str got = buf_slice(&o.record.opcodes);
        if (o.end != PICKLE_STOP || !str_equal(got, str_from(wanted)))
            fail_msg("%.*s, not %s", (int)got.len, got.ptr, wanted);
        assert_int_equal(o.protocol, protocol);
        assert_int_equal(o.offset, len);
        outcome_free(&o);
    }
}
#define CHECK(bytes, protocol, wanted) check_opcodes(bytes, sizeof(bytes) - 1, protocol, wanted)

static void opcodes_without_an_argument_stand_for_themselves(void **state)
{
    (void)state;
    CHECK("\x80\x04}\x94(])\x85\x86\x87tldsuaeN\x88\x89"
          "01.",
          4,
          "2:7d 3:94 4:28 5:5d 6:29 7:85 8:86 9:87 10:74 11:6c 12:64 13:73 14:75 15:61 16:65 "
          "17:4e 18:88 19:89 20:30 21:31");
}

static void the_protocol_is_that_of_the_first_byte(void **state)
{
    (void)state;
    CHECK("\x80\x05N.", 5, "2:4e");
    CHECK("(l.", 0, "0:28 1:6c");
    CHECK("].", 1, "0:5d");
    CHECK("}.", 1, "0:7d");
    CHECK("\x80\x04\x95\x02\0\0\0\0\0\0\0N.", 4, "11:4e");
}

static void forms_of_one_thing_are_one_opcode(void **state)
{
    (void)state;
    CHECK("\x80\x02K\xffM\xff\xffJ\xff\xff\xff\xffJ\1\0\0\0.", 2,
          "2:i=255 4:i=65535 7:i=-1 12:i=1");
    CHECK("\x80\x02\x8a\0\x8a\1\xfe\x8a\5\0\0\0\0\1\x8b\2\0\0\0\1\1.", 2,
          "2:i=0 4:i=-2 7:i=4294967296 14:i=257");
    CHECK("\x80\x02\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0.", 2, "2:i=18446744073709551615");
    CHECK("\x80\x02\x8a\x09\0\0\0\0\0\0\0\x80\xff.", 2, "2:i=-9223372036854775808");
    CHECK("(I5\nL-6L\nL7\nI01\nI00\nI+1\r\n.", 0, "0:28 1:i=5 4:i=-6 9:i=7 12:88 16:89 20:i=1");
    CHECK("\x80\x02G\x3f\xf8\0\0\0\0\0\0F-2.5\n.", 2, "2:f=1.5 11:f=-2.5");
    CHECK("\x80\x02\x8c\1aX\2\0\0\0bc\x8d\1\0\0\0\0\0\0\0dVe\\u0041\n\x8c\0.", 2,
          "2:s=a 5:s=bc 12:s=d 22:s=eA 31:s=");
    CHECK("\x80\x02q\5r\0\1\0\0p7\nh\5j\0\1\0\0g7\n.", 2,
          "2:put=5 4:put=256 9:put=7 12:get=5 14:get=256 19:get=7");
}

/* Bytes, where they are refused, with which status. */
struct bad {
    const char *bytes;
    size_t len;
    uint64_t offset;
    enum vrs_status status;
    const char *says;
};
#define BAD(bytes, offset, status, says)                                                           \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, offset, status, says                                             \
    }

static void what_is_refused_is_named_with_its_place(void **state)
{
    (void)state;
    static const struct bad bad[] = {
        BAD("\x80\x06}.", 1, VRS_UNSUPPORTED, "protocol 6"),
        BAD("\x80\x04}\x80\x04.", 3, VRS_UNSUPPORTED, "PROTO (0x80)"),
        BAD("\x80\x04N\xff.", 3, VRS_CORRUPT, "opcode 0xff; is this a shopping list?"),
        BAD("\x80\x02Ncos\nsystem\n.", 3, VRS_UNSUPPORTED,
            "the object os.system; this is not a shopping list, and nothing was executed"),
        BAD("\x80\x02"
            "ctorch.jit._pickle\nrestore_type_tag\n",
            2, VRS_UNSUPPORTED, "a fork of PyTorch left type tags on"),
        BAD("\x80\x02NR.", 3, VRS_UNSUPPORTED,
            "REDUCE (0x52) is refused: no shopping list needs it, and nothing was executed"),
        BAD("\x80\x02\x8a\x0a"
            "0123456789.",
            2, VRS_CORRUPT, "10 bytes; is this a shopping list?"),
        BAD("\x80\x02\x8a\x09\0\0\0\0\0\0\0\0\1.", 2, VRS_CORRUPT, "64 bits"),
        BAD("\x80\x02\x8a\x09\0\0\0\0\0\0\0\0\xff.", 2, VRS_CORRUPT, "64 bits"),
        BAD("\x80\x02\x8b\xff\xff\xff\xff.", 2, VRS_CORRUPT, "4294967295 bytes"),
        BAD("\x80\x04\x95\0\0\0\0\0\0\0\x80}.", 2, VRS_CORRUPT, "frame of 2^63"),
        BAD("\x80\x04\x8d\0\0\0\0\0\0\0\x80.", 2, VRS_LIMIT, "--limit string"),
        BAD("(I12x\n.", 1, VRS_CORRUPT, "number of at most 64 bits; is this a shopping list?"),
        BAD("(L99999999999999999999L\n.", 1, VRS_CORRUPT, "number"),
        BAD("(Fabc\n.", 1, VRS_CORRUPT, "number"),
        BAD("(p-1\n.", 1, VRS_CORRUPT, "number"),
        BAD("(gx\n.", 1, VRS_CORRUPT, "number"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (size_t step = 0; step < 3; step++) {
            struct outcome o;
            read_some(bad[i].bytes, bad[i].len, step, &o);
            if (o.status != bad[i].status || o.err.offset != bad[i].offset ||
                strstr(o.err.message, bad[i].says) == NULL)
                fail_msg("case %zu: status %d at %lld: %s", i, (int)o.status,
                         (long long)o.err.offset, o.err.message);
            outcome_free(&o);
        }
    }
}

/* Every byte is an opcode that is taken, or one that is refused where it stands. */
static void no_byte_is_passed_over(void **state)
{
    (void)state;
    static const char taken[] = ".\x95(}])dlt\x85\x86\x87suaeJKM\x8a\x8bILGFN\x88\x89\x8cX\x8dV"
                                "\x94qrphjg01";
    for (unsigned op = 0; op < 256; op++) {
        char bytes[20] = { (char)0x80, 4, (char)op, 0, 0, 0, 0, 0, 0, 0, 0, 0, '1', '\n' };
        bool takes = memchr(taken, (int)op, sizeof taken - 1) != NULL;
        struct outcome o;
        read_some(bytes, sizeof bytes, 0, &o);
        bool refused = o.status != VRS_OK && o.err.offset == 2;
        if (pickle_op_form(op) == OP_FORM_LINE)
            refused = false; /* the line is no number */
        if (takes == refused)
            fail_msg("0x%02x: status %d at %lld: %s", op, (int)o.status, (long long)o.err.offset,
                     o.err.message);
        outcome_free(&o);
    }
}

static void lines_and_strings_have_limits(void **state)
{
    (void)state;
    struct limits limits = default_limits;
    limits.string_bytes = 5;
    static const struct bad bad[] = {
        BAD("(V123456\n", 1, VRS_LIMIT, "a line of more than 5 bytes; see --limit string"),
        BAD("(X\6\0\0\0"
            "123456",
            1, VRS_LIMIT, "a string of 6 bytes, longer than 5"),
        BAD("(\x8c\x06"
            "123456",
            1, VRS_LIMIT, "see --limit string"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct outcome o;
        struct dribble d = { .at = (const uint8_t *)bad[i].bytes, .left = bad[i].len };
        read_source(d, 0, &limits, &o);
        if (o.status != bad[i].status || o.err.offset != bad[i].offset ||
            strstr(o.err.message, bad[i].says) == NULL)
            fail_msg("case %zu: status %d at %lld: %s", i, (int)o.status, (long long)o.err.offset,
                     o.err.message);
        outcome_free(&o);
    }
    static char line[70000];
    memset(line, '1', sizeof line);
    line[0] = 'I';
    struct outcome o;
    read_some(line, sizeof line, 0, &o);
    assert_int_equal(o.status, VRS_LIMIT);
    assert_non_null(strstr(o.err.message, "65536 bytes; is this a shopping list?"));
    outcome_free(&o);
}

#define SAMPLE                                                                                     \
    "\x80\x04\x95\x09\0\0\0\0\0\0\0}\x94(\x8c\1ah\0M\1\2V\\u20ac\nG\x3f\xf8\0\0\0\0\0\0X\3\0\0\0"  \
    "abc\x8a\2\1\1L12345L\nF1.5\nI01\nq\1)u."

enum { SAMPLE_OPCODES = 16 };

static void cut_anywhere_the_whole_opcodes_came(void **state)
{
    (void)state;
    static const char sample[] = SAMPLE;
    struct outcome whole;
    read_some(sample, sizeof sample - 1, 0, &whole);
    assert_int_equal(whole.status, VRS_OK);
    assert_int_equal(whole.record.calls, SAMPLE_OPCODES);
    str all = buf_slice(&whole.record.opcodes);
    uint32_t calls = 0;
    for (size_t len = 0; len < sizeof sample - 1; len++) {
        struct outcome o;
        read_some(sample, len, len % 3, &o);
        assert_int_equal(o.status, VRS_OK);
        assert_int_equal(o.end, PICKLE_CUT);
        assert_true(o.offset <= len);
        assert_true(o.record.calls >= calls && o.record.calls <= calls + 1);
        calls = o.record.calls;
        assert_true(calls == 0 || str_starts(all, buf_slice(&o.record.opcodes)));
        outcome_free(&o);
    }
    assert_int_equal(calls, SAMPLE_OPCODES);
    outcome_free(&whole);
}

static void what_the_sink_fails_with_ends_the_reading(void **state)
{
    (void)state;
    static const char sample[] = SAMPLE;
    for (uint32_t n = 1; n <= SAMPLE_OPCODES; n++) {
        struct outcome o;
        struct dribble d = { .at = (const uint8_t *)sample, .left = sizeof sample - 1 };
        read_source(d, n, &default_limits, &o);
        assert_int_equal(o.status, VRS_USAGE);
        assert_int_equal(o.record.calls, n);
        outcome_free(&o);
    }
}

/* A string that no window holds: gathered from several. */
enum { LONG_BYTES = WINDOW_BYTES + 100 };
static char longer[LONG_BYTES + 9];

static void make_longer(void)
{
    static const char head[] = { 'N', 'X', 100, 0, 4, 0 }; /* 2^18 + 100 */
    memset(longer, 'x', sizeof longer);
    memcpy(longer, head, sizeof head);
    longer[sizeof head + LONG_BYTES] = '.';
}

static void strings_may_be_longer_than_the_window(void **state)
{
    (void)state;
    make_longer();
    check_opcodes(longer, LONG_BYTES + 7, 1, "0:4e 1:s=long");
    struct outcome o;
    read_some(longer, LONG_BYTES, 0, &o);
    assert_int_equal(o.status, VRS_OK);
    assert_int_equal(o.end, PICKLE_CUT);
    assert_int_equal(o.record.calls, 1);
    outcome_free(&o);
}

static enum vrs_status read_both(void *arg)
{
    static const char sample[] = SAMPLE;
    struct outcome *o = arg;
    read_some(sample, sizeof sample - 1, 5, o);
    bool whole = o->end == PICKLE_STOP && o->record.calls == SAMPLE_OPCODES;
    outcome_free(o);
    TRY(o->status);
    assert_true(whole);
    read_some(longer, LONG_BYTES + 7, 0, o);
    whole = o->end == PICKLE_STOP && o->record.calls == 2;
    outcome_free(o);
    TRY(o->status);
    assert_true(whole);
    return VRS_OK;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct outcome o;
    make_longer();
    fault_each(read_both, NULL, &o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opcodes_without_an_argument_stand_for_themselves),
        cmocka_unit_test(the_protocol_is_that_of_the_first_byte),
        cmocka_unit_test(forms_of_one_thing_are_one_opcode),
        cmocka_unit_test(what_is_refused_is_named_with_its_place),
        cmocka_unit_test(no_byte_is_passed_over),
        cmocka_unit_test(lines_and_strings_have_limits),
        cmocka_unit_test(cut_anywhere_the_whole_opcodes_came),
        cmocka_unit_test(what_the_sink_fails_with_ends_the_reading),
        cmocka_unit_test(strings_may_be_longer_than_the_window),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
