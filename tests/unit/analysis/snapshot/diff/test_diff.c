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

#define FRAME(name, file, line)                                                                    \
    "{\"name\": \"" name "\", \"filename\": \"" file "\", \"line\": " line "}"
#define MAIN FRAME("main", "/home/user/train.py", "9")
#define ALLOC(address, size, frames)                                                               \
    "{\"action\": \"alloc\", \"addr\": " address ", \"size\": " size                               \
    ", \"stream\": 0, \"time_us\": 11, \"frames\": [" frames "]}"
#define BLOCK(address, size)                                                                       \
    "{\"address\": " address ", \"size\": " size ", \"requested_size\": " size                     \
    ", \"state\": \"active_allocated\", \"frames\": []}"
#define RECORDING(sum, blocks, free_at, free_size, events)                                         \
    "{\"segments\": [{\"device\": 0, \"address\": 4096, \"total_size\": 2097152,"                  \
    " \"allocated_size\": " sum ", \"active_size\": " sum ", \"requested_size\": " sum             \
    ", \"stream\": 0, \"segment_type\": \"small\", \"blocks\": [" blocks                           \
    ", {\"address\": " free_at ", \"size\": " free_size                                            \
    ", \"requested_size\": 0, \"state\": \"inactive\", \"frames\": []}]}],"                        \
    " \"device_traces\": [["                                                                       \
    "{\"action\": \"segment_alloc\", \"addr\": 4096, \"size\": 2097152, \"stream\": 0,"            \
    " \"time_us\": 10, \"frames\": []}, " events "]]}"

/* Three sites: one that stays, one whose line and callee change, one that goes. */
static const char before_text[] = RECORDING(
    "2560", BLOCK("4096", "1024") ", " BLOCK("5120", "1024") ", " BLOCK("6144", "512"), "6656",
    "2094592",
    ALLOC("4096", "1024", FRAME("load", "/home/user/model.py", "7") ", " MAIN) ", " ALLOC(
        "5120", "1024",
        FRAME("softmax", "/home/user/model.py", "30") ", " FRAME(
            "attend", "/home/user/model.py",
            "40") ", " MAIN) ", " ALLOC("6144", "512", FRAME("lost", "/home/user/lost.py", "1")));
static const char after_text[] = RECORDING(
    "4096", BLOCK("4096", "1024") ", " BLOCK("5120", "2048") ", " BLOCK("7168", "1024"), "8192",
    "2093056",
    ALLOC("4096", "1024", FRAME("load", "/home/user/model.py", "7") ", " MAIN) ", " ALLOC(
        "5120", "2048",
        FRAME("softmax", "/home/user/model.py", "31") ", " FRAME(
            "focus", "/home/user/model.py", "44") ", " MAIN) ", " ALLOC("7168", "1024", ""));

struct two {
    struct vrs_file *file[2];
    const struct vrs_recording *recording[2];
};

static enum vrs_status open_two(struct two *t)
{
    const char *text[2] = { before_text, after_text };
    static const char *const name[2] = { "before.json", "after.json" };
    *t = (struct two){ .file = { NULL, NULL } };
    enum vrs_status status = VRS_OK;
    for (int i = 0; i < 2 && status == VRS_OK; i++) {
        status = vrs_open_bytes(text[i], strlen(text[i]), name[i], NULL, &t->file[i], NULL);
        if (status == VRS_OK)
            status = vrs_recording(t->file[i], 0, &t->recording[i], NULL);
    }
    return status;
}

static void close_two(struct two *t)
{
    vrs_close(t->file[0]);
    vrs_close(t->file[1]);
}

/* What the answer to a question says, in JSON. */
static void ask(struct vrs_diff_options options, struct written *text)
{
    struct two two;
    struct vrs_result *result = NULL;
    struct vrs_error err = { .message = "" };
    options.size = sizeof options;
    assert_int_equal(open_two(&two), VRS_OK);
    enum vrs_status status = vrs_diff(two.recording[0], two.recording[1], &options, &result, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(status, VRS_OK);
    /* The answer outlives the files. */
    close_two(&two);
    struct vrs_sink sink = written_sink(text);
    struct vrs_write_options json = { .size = sizeof json, .format = VRS_JSON };
    text->len = 0;
    assert_int_equal(vrs_write(result, &json, &sink, NULL), VRS_OK);
    vrs_result_free(result);
}

static void says(const struct written *text, const char *words)
{
    if (strstr(text->at, words) == NULL)
        fail_msg("\"%s\" is not in %s", words, text->at);
}

static void rows_are_matched_in_stages(void **state)
{
    (void)state;
    static struct written text;
    ask((struct vrs_diff_options){ .at = NULL }, &text);
    says(&text, "\"total_delta_bytes\": 1536");
    says(&text, "\"name\": \"model.py:7 load\", \"a_name\": null, \"owner\": \"model.py:7 load\", "
                "\"innermost\": \"model.py:7 load\", "
                "\"called_from\": \"train.py:9 main\", \"operator\": null, \"stage\": \"M0\"");
    says(&text, "\"name\": \"model.py:31 softmax\", \"a_name\": \"model.py:30 softmax\", ");
    says(&text, "\"called_from\": \"model.py:44 focus\", \"operator\": null, "
                "\"stage\": \"M3\", \"score_ratio\": 0.69");
    says(&text, "\"name\": \"lost.py:1 lost\", \"a_name\": null, \"owner\": \"lost.py:1 lost\", ");
    says(&text, "\"called_from\": null, \"operator\": null, \"stage\": \"M4\"");
    says(&text, "\"name\": \"unattributed\", \"a_name\": null, \"owner\": null, ");
    says(&text, "\"status\": \"gone\"");
    says(&text, "\"path\": \"before.json\"");
    ask((struct vrs_diff_options){ .at = "start", .to = "0" }, &text);
    says(&text, "\"total_delta_bytes\": 0");
    says(&text, "\"rows\": []");
}

static void a_limit_gives_a_verdict(void **state)
{
    (void)state;
    struct two two;
    assert_int_equal(open_two(&two), VRS_OK);
    static const struct {
        uint64_t bytes, millionths;
        enum vrs_verdict verdict;
    } cases[] = {
        { 0, 0, VRS_NO_VERDICT }, { 1536 + 1, 0, VRS_YES },   { 1535 + 1, 0, VRS_NO },
        { 1, 0, VRS_NO },         { 0, 600000 + 1, VRS_YES }, { 0, 599999 + 1, VRS_NO },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vrs_result *result = NULL;
        struct vrs_diff_options options = { .size = sizeof options,
                                            .fail_over_bytes = cases[i].bytes,
                                            .fail_over_millionths = cases[i].millionths };
        assert_int_equal(vrs_diff(two.recording[0], two.recording[1], &options, &result, NULL),
                         VRS_OK);
        assert_int_equal(vrs_verdict(result), cases[i].verdict);
        vrs_result_free(result);
    }
    close_two(&two);
}

static void refused(struct vrs_diff_options options, const char *words)
{
    struct two two;
    struct vrs_result *result = NULL;
    struct vrs_error err = { .message = "" };
    options.size = sizeof options;
    assert_int_equal(open_two(&two), VRS_OK);
    assert_int_equal(vrs_diff(two.recording[0], two.recording[1], &options, &result, &err),
                     VRS_USAGE);
    assert_null(result);
    if (strstr(err.message, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.message, words);
    close_two(&two);
}

static void what_makes_no_sense_is_usage(void **state)
{
    (void)state;
    refused((struct vrs_diff_options){ .at = "noon" }, "no moment is called \"noon\"");
    refused((struct vrs_diff_options){ .to = "noon" }, "no moment is called \"noon\"");
    refused((struct vrs_diff_options){ .weight = "grams" }, "grams");
    refused((struct vrs_diff_options){ .key = "K3" }, "K3");
    refused((struct vrs_diff_options){ .per = "litre" }, "litre");
    refused((struct vrs_diff_options){ .to = "step:2" }, "B: device 0: no complete steps");
    refused((struct vrs_diff_options){ .to = "7" }, "B: device 0 has events 0 to 3");
    refused((struct vrs_diff_options){ .per = "step" }, "no complete steps to divide by");
    refused((struct vrs_diff_options){ .about.device = vrs_device_of(7) }, "no device 7");
    struct vrs_diff_options options = { .size = sizeof options, .to = "step:2" };
    assert_int_equal(vrs_diff_check(&options, NULL), VRS_OK);
    options.to = "step:0";
    assert_int_equal(vrs_diff_check(&options, NULL), VRS_USAGE);
}

static void comparisons_are_not_joined(void **state)
{
    (void)state;
    struct two two;
    struct vrs_result *result = NULL, *set = NULL;
    assert_int_equal(open_two(&two), VRS_OK);
    assert_int_equal(vrs_diff(two.recording[0], two.recording[1], NULL, &result, NULL), VRS_OK);
    const struct vrs_result *const parts[] = { result };
    assert_int_equal(vrs_merge(parts, 1, &set, NULL), VRS_USAGE);
    vrs_result_free(result);
    close_two(&two);
}

/* From bytes to text; frees whatever it got. */
static enum vrs_status whole_way(void *arg)
{
    struct written *text = arg;
    struct two two;
    struct vrs_result *result = NULL;
    struct vrs_sink sink = written_sink(text);
    struct vrs_diff_options options = { .size = sizeof options, .weight = "byte_events" };
    struct vrs_write_options json = { .size = sizeof json, .format = VRS_JSON };
    struct vrs_write_options plain = { .size = sizeof plain, .width = 120, .stacks = true };
    text->len = 0;
    enum vrs_status status = open_two(&two);
    if (status == VRS_OK)
        status = vrs_diff(two.recording[0], two.recording[1], &options, &result, NULL);
    if (status == VRS_OK)
        status = vrs_write(result, &json, &sink, NULL);
    if (status == VRS_OK)
        status = vrs_write(result, &plain, &sink, NULL);
    vrs_result_free(result);
    close_two(&two);
    return status;
}

static struct written whole;

static void is_whole(void *arg)
{
    const struct written *text = arg;
    assert_string_equal(text->at, whole.at);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static struct written text;
    assert_int_equal(whole_way(&whole), VRS_OK);
    fault_each(whole_way, is_whole, &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_matched_in_stages),
        cmocka_unit_test(a_limit_gives_a_verdict),
        cmocka_unit_test(what_makes_no_sense_is_usage),
        cmocka_unit_test(comparisons_are_not_joined),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
