/* test_protobuf.c - the wire format's own examples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/protobuf.h"

static void numbers_and_messages(void **state)
{
    (void)state;
    static const unsigned char wanted[] = {
        0x08, 0x96, 0x01,                                              /* 1: 150 */
        0x12, 0x07, 't',  'e',  's',  't',  'i',  'n',  'g',           /* 2: "testing" */
        0x1a, 0x03, 0x08, 0x96, 0x01,                                  /* 3: { 1: 150 } */
        0x82, 0x01, 0x00,                                              /* 16: "" */
        0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, /* 4: -1 */
    };
    struct buf b, inner;
    buf_init(&b, SIZE_MAX);
    buf_init(&inner, SIZE_MAX);
    proto_u64(&b, 1, 150);
    proto_str(&b, 2, S("testing"));
    proto_u64(&inner, 1, 150);
    proto_message(&b, 3, &inner);
    assert_int_equal(inner.len, 0);
    proto_message(&b, 16, &inner);
    proto_u64(&b, 4, (uint64_t)-1);
    assert_int_equal(b.len, sizeof wanted);
    assert_memory_equal(b.at, wanted, sizeof wanted);
    inner.failed = true;
    proto_message(&b, 1, &inner);
    assert_true(b.failed);
    buf_free(&b);
    buf_free(&inner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
