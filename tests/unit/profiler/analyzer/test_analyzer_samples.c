#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/analyzer/calls.h"
#include "profiler/analyzer/collectives.h"
#include "profiler/analyzer/findings.h"
#include "profiler/analyzer/first_cause.h"
#include "profiler/analyzer/gaps.h"
#include "profiler/analyzer/samples.h"
#include "profiler/analyzer/thresholds.h"

#define GIB (INT64_C(1) << 30)
#define MS INT64_C(1000000)

enum { COUNT = 24 };

/* Samples of one test: those of two ranks in turn. */
struct made {
    int64_t time_ns[COUNT], world[COUNT], interval[COUNT];
    int64_t used[COUNT], total[COUNT], reserved[COUNT], allocated[COUNT];
    uint32_t rank[COUNT], job[COUNT];
    uint8_t sampled[COUNT], marked[COUNT];
};

static const int64_t numbers[] = { 0, 1 };

/* Each 100 ms; rank 1 has a clock that is 10 s ahead. */
static struct made made(void)
{
    struct made m;
    memset(&m, 0, sizeof m);
    for (uint32_t i = 0; i < COUNT; i++) {
        m.rank[i] = i % 2;
        m.job[i] = 1;
        m.time_ns[i] = i / 2 * 100 * MS + i % 2 * 10000 * MS;
        m.world[i] = 2;
        m.interval[i] = 100;
        m.reserved[i] = m.allocated[i] = 4 * GIB;
        m.used[i] = 5 * GIB;
        m.total[i] = 80 * GIB;
        m.sampled[i] = 1;
    }
    return m;
}

static struct samples samples_of(const struct made *m)
{
    return (struct samples){ .count = COUNT,
                             .time_ns = m->time_ns,
                             .ranks = 2,
                             .rank = m->rank,
                             .rank_number = numbers,
                             .job = m->job,
                             .world_size = m->world,
                             .interval_ms = m->interval,
                             .used = m->used,
                             .total = m->total,
                             .reserved = m->reserved,
                             .allocated = m->allocated,
                             .sampled = m->sampled,
                             .marked = m->marked };
}

static const struct collective_limits medium = { 6,        128.0 * (1 << 20), 0.04, 2.5, 150 * MS,
                                                 120 * MS, 120 * MS,          0.5,  0.5 };

static const double *defaults(void)
{
    static double value[THRESHOLD_COUNT];
    for (int i = 0; i < THRESHOLD_COUNT; i++)
        value[i] = threshold_table[i].value;
    return value;
}

static int64_t count_of(const struct finding *row, const char *name)
{
    for (uint32_t i = 0; i < row->figures; i++)
        if (strcmp(row->figure[i].name, name) == 0) {
            assert_true(row->figure[i].whole);
            return row->figure[i].count;
        }
    fail_msg("%s has no figure %s", row->kind, name);
    return 0;
}

static void samples_keep_the_order_of_one_time(void **state)
{
    (void)state;
    struct sample_at at[] = { { 5, 0 }, { 3, 1 }, { 5, 2 }, { INT64_MIN, 3 }, { 3, 4 } };
    const uint32_t wanted[] = { 3, 1, 4, 0, 2 };
    samples_sort(at, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(at[i].sample, wanted[i]);
}

static void what_is_not_known_is_dropped(void **state)
{
    (void)state;
    struct made m = made();
    m.used[3] = BYTES_UNKNOWN;
    m.reserved[4] = BYTES_UNKNOWN;
    m.total[5] = BYTES_UNKNOWN;
    m.total[6] = 0;
    struct samples samples = samples_of(&m);
    struct findings found;
    uint32_t dropped;
    findings_init(&found);
    gaps_find(&samples, defaults(), &found, &dropped);
    assert_int_equal(dropped, 4);
    first_cause_find(&samples, defaults(), &found, &dropped);
    assert_int_equal(dropped, 1);
    collectives_find(&samples, &medium, &found, &dropped);
    assert_int_equal(dropped, 2);
    findings_free(&found);
}

/* Rank 1 jumps at its fourth sample, rank 0 at its sixth. */
static void the_first_to_jump_is_found_on_one_clock(void **state)
{
    (void)state;
    struct made m = made();
    for (uint32_t i = 0; i < COUNT; i++)
        if (i / 2 >= (i % 2 == 1 ? 3 : 5))
            m.used[i] += 10 * GIB;
    struct samples samples = samples_of(&m);
    struct findings found;
    uint32_t dropped;
    findings_init(&found);
    first_cause_find(&samples, defaults(), &found, &dropped);
    assert_int_equal(found.rows.len, 5);
    assert_int_equal(count_of(&found.rows.at[0], "cluster_onset_ns"), 500 * MS);
    assert_int_equal(count_of(&found.rows.at[1], "offset_ns"), 0);
    assert_int_equal(count_of(&found.rows.at[2], "offset_ns"), 10000 * MS);
    assert_int_equal(count_of(&found.rows.at[2], "skewed"), 1);
    const struct finding *first = &found.rows.at[3];
    assert_string_equal(first->kind, "first_cause");
    assert_int_equal(first->severity, SEVERITY_CRITICAL);
    assert_int_equal(count_of(first, "rank"), 1);
    assert_int_equal(count_of(first, "jumped_ns"), 10300 * MS);
    assert_int_equal(count_of(first, "lead_ns"), 200 * MS);
    findings_free(&found);
}

static void a_gap_at_a_marker_is_a_collective(void **state)
{
    (void)state;
    struct made m = made();
    for (uint32_t i = 0; i < COUNT; i++) {
        m.time_ns[i] = i / 2 * 100 * MS;
        m.used[i] += i / 2 % 3;
    }
    m.used[10] = m.used[11] = 30 * GIB;
    m.marked[10] = m.marked[11] = 1;
    struct samples samples = samples_of(&m);
    struct findings found;
    uint32_t dropped;
    findings_init(&found);
    collectives_find(&samples, &medium, &found, &dropped);
    assert_int_equal(found.rows.len, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct finding *row = &found.rows.at[i];
        assert_string_equal(row->kind, "collective_confident");
        assert_int_equal(count_of(row, "rank"), i);
        assert_int_equal(count_of(row, "interval_start_ns"), 380 * MS);
        assert_int_equal(count_of(row, "interval_end_ns"), 620 * MS);
        assert_int_equal(count_of(row, "peak_gap_bytes"), 26 * GIB);
        assert_int_equal(count_of(row, "reasons"), COLLECTIVE_OUTLIER | COLLECTIVE_MARKED |
                                                       COLLECTIVE_SYNCHRONOUS |
                                                       COLLECTIVE_DIVERGENT);
    }
    findings_free(&found);
}

/* Neither an overflow nor a division by zero, which the sanitizers would tell. */
static void figures_may_be_anything(void **state)
{
    (void)state;
    const int64_t odd[] = { INT64_MAX, INT64_MIN + 1, BYTES_UNKNOWN, 0, -1, INT64_MAX - 1, 7 };
    const struct collective_limits limits[] = {
        medium,
        { 0, 0, 0, -INFINITY, INT64_MAX, INT64_MAX, INT64_MAX, 0, 0 },
        { 1, 0, 0, 0, 0, 0, 0, 0, 0 },
    };
    for (uint32_t turn = 0; turn < 42; turn++) {
        struct made m = made();
        for (uint32_t i = 0; i < COUNT; i++) {
            m.time_ns[i] = odd[(i + turn) % 7];
            m.used[i] = odd[(i * 3 + turn) % 7];
            m.reserved[i] = odd[(i * 5 + turn / 7) % 7];
            m.allocated[i] = odd[(i * 2 + turn) % 7];
            m.total[i] = odd[(i * 4 + turn) % 7];
            m.world[i] = odd[(i * 6 + turn) % 7];
            m.interval[i] = odd[(i + turn / 7) % 7];
            m.job[i] = i % 3;
            m.marked[i] = i % 5 == 0;
        }
        struct samples samples = samples_of(&m);
        struct findings found;
        uint32_t dropped;
        findings_init(&found);
        gaps_find(&samples, defaults(), &found, &dropped);
        first_cause_find(&samples, defaults(), &found, &dropped);
        for (int i = 0; i < 3; i++)
            collectives_find(&samples, &limits[i], &found, &dropped);
        assert_false(found.failed);
        findings_free(&found);
    }
}

static void no_samples_have_no_findings(void **state)
{
    (void)state;
    struct samples none = { 0 };
    struct findings found;
    uint32_t dropped = 7;
    findings_init(&found);
    gaps_find(&none, defaults(), &found, &dropped);
    first_cause_find(&none, defaults(), &found, &dropped);
    collectives_find(&none, &medium, &found, &dropped);
    assert_int_equal(dropped, 0);
    assert_int_equal(found.rows.len, 0);
    assert_false(found.failed);
    findings_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_keep_the_order_of_one_time),
        cmocka_unit_test(what_is_not_known_is_dropped),
        cmocka_unit_test(the_first_to_jump_is_found_on_one_clock),
        cmocka_unit_test(a_gap_at_a_marker_is_a_collective),
        cmocka_unit_test(figures_may_be_anything),
        cmocka_unit_test(no_samples_have_no_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
