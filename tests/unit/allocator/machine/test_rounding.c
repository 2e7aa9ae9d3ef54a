#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allocator/machine/rounding.h"
#include "allocator/replay/recorded.h"
#include "made/sample.h"
#include "model/recording.h"

static void requests_are_rounded_by_the_settings(void **state)
{
    (void)state;
    static const struct {
        int64_t divisions;
        uint64_t request, block;
    } cases[] = {
        { 0, 0, 512 },
        { 0, 1, 512 },
        { 0, 512, 512 },
        { 0, 513, 1024 },
        { 0, (uint64_t)1 << 62, (uint64_t)1 << 62 },
        { 0, UINT64_MAX - 1, UINT64_MAX - 1 },
        { 1, 1200, 1536 },
        { 4, 1200, 1536 },
        { 4, 2048, 2048 },
        { 4, 3000, 3072 },
        { 4, (1 << 20) + 1, 1310720 },
        { 4, (5 << 20) + 1, 6 << 20 },
        { 8, 4096, 4096 },
        { 8, 4097, 4608 },
        { 3, 3000, 3072 },
        { -4, 3000, 3072 },
        { (int64_t)1 << 62, 3000, 3072 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recording r;
        sample_init(&r);
        sample_setting(&r, "roundup_power2_divisions.1", cases[i].divisions);
        sample_setting(&r, "roundup_power2_divisions.4", cases[i].divisions);
        struct rounding rounding = rounding_of(&r);
        assert_int_equal(rounding_apply(&rounding, cases[i].request), cases[i].block);
        recording_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_rounded_by_the_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
