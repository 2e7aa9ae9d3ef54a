#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "made/answered.h"
#include "made/fault.h"
#include "vramscope/snapshot.h"

enum { FILES = 4 };

/* The paths of files with reports stand first. */
static const char *const paths[FILES] = { "jobs/a<b>_rank0.json", "jobs/a_rank1.json",
                                          "jobs/empty_rank2.json", "jobs/gone.json" };

static const char *recording_at(uint32_t i)
{
    if (i == 2)
        return "{\"segments\": [], \"device_traces\": [[]]}";
    return i == 0 ? recording_of_steps("free_it")
                  : recording_of_tensor("forward",
                                        ",{\"action\": \"oom\", \"addr\": 1048576, \"size\": 4096, "
                                        "\"stream\": 0, \"time_us\": 12}");
}

static struct vrs_result *report_of(uint32_t i)
{
    const char *text = recording_at(i);
    const struct vrs_recording *recording = NULL;
    struct vrs_file *file = NULL;
    struct vrs_result *result = NULL;
    struct vrs_report_options o = {
        .size = sizeof o, .about = { .path = paths[i] }, .part = true, .curve = true
    };
    assert_int_equal(vrs_open_bytes(text, strlen(text), "x", NULL, &file, NULL), VRS_OK);
    assert_int_equal(vrs_recording(file, 0, &recording, NULL), VRS_OK);
    assert_int_equal(vrs_report(recording, &o, &result, NULL), VRS_OK);
    vrs_close(file);
    return result;
}

static struct vrs_result *joined(void)
{
    struct vrs_result *part[3], *set = NULL;
    for (uint32_t i = 0; i < 3; i++)
        part[i] = report_of(i);
    const struct vrs_result *const parts[] = { part[0], part[1], part[2] };
    assert_int_equal(vrs_merge(parts, 3, &set, NULL), VRS_OK);
    for (uint32_t i = 0; i < 3; i++)
        vrs_result_free(part[i]);
    return set;
}

struct work {
    const struct vrs_result *set;
    struct written to;
};

static enum vrs_status write_index(void *arg)
{
    struct work *w = arg;
    const struct vrs_index_file file[FILES] = {
        { paths[0], "1", NULL },
        { paths[1], "2", NULL },
        { paths[2], "3", NULL },
        { paths[3], "4", "byte 7: <not> a memory snapshot" },
    };
    struct vrs_index_options o = { .size = sizeof o, .file = file, .files = FILES };
    struct vrs_sink sink = written_sink(&w->to);
    w->to.len = 0;
    return vrs_index(w->set, &o, &sink, NULL);
}

static void assert_in_order(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *at = strstr(text, words[i]);
        if (at == NULL)
            fail_msg("missing or out of order: %s", words[i]);
        text = at;
    }
}

static void rows_stand_by_their_peaks(void **state)
{
    (void)state;
    static struct work w;
    struct vrs_result *set = joined();
    w.set = set;
    assert_int_equal(write_index(&w), VRS_OK);
    static const char *const words[] = {
        "<h1>jobs/</h1>",
        "<tr><td><a href=\"1\">rank 0 cuda:0</a></td><td class=\"f\">a&lt;b&gt;_rank0.json</td>",
        "<svg viewBox=\"0 0 1200 240\"",
        "<tr><td><a href=\"2\">rank 1 cuda:0</a></td><td class=\"f\">a_rank1.json</td>",
        "<td class=\"n\" data-v=\"1000\">1000 B</td>",
        "<td class=\"b\" data-v=\"1\">▼ 1</td><td class=\"n\" data-v=\"",
        "<tr><td><a href=\"3\">empty_rank2.json no device</a></td><td "
        "class=\"f\">empty_rank2.json</td>",
        "Could not be read",
        "gone.json</span>: <span class=\"b\">byte 7: &lt;not&gt; a memory snapshot</span>",
        "</html>",
    };
    assert_in_order(w.to.at, words, sizeof words / sizeof *words);
    vrs_result_free(set);
}

/* A caller's list of files need not be that of the reports. */
static void rows_of_other_files_have_no_link(void **state)
{
    (void)state;
    static struct written to;
    const struct vrs_index_file other = { "/a/folder/with/a/long/name/x.json", "1", NULL };
    struct vrs_index_options o = { .size = sizeof o, .file = &other, .files = 1 };
    struct vrs_sink sink = written_sink(&to);
    struct vrs_result *set = joined();
    assert_int_equal(vrs_index(set, &o, &sink, NULL), VRS_OK);
    static const char *const words[] = {
        "<h1>/a/folder/with/a/long/name/</h1>",
        "<tr><td>rank 0 cuda:0</td><td class=\"f\">jobs/a&lt;b&gt;_rank0.json</td>",
        "</html>",
    };
    assert_in_order(to.at, words, sizeof words / sizeof *words);
    vrs_result_free(set);
}

static void same(void *arg)
{
    const struct work *w = arg;
    assert_non_null(strstr(w->to.at, "</html>"));
}

static void without_memory_it_fails(void **state)
{
    (void)state;
    static struct work w;
    struct vrs_result *set = joined();
    w.set = set;
    fault_each(write_index, same, &w);
    vrs_result_free(set);
}

static void it_is_of_joined_reports(void **state)
{
    (void)state;
    static struct work w;
    struct vrs_result *alone = report_of(0);
    w.set = alone;
    assert_int_equal(write_index(&w), VRS_USAGE);
    vrs_result_free(alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_stand_by_their_peaks),
        cmocka_unit_test(rows_of_other_files_have_no_link),
        cmocka_unit_test(without_memory_it_fails),
        cmocka_unit_test(it_is_of_joined_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
