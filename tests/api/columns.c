/* columns VERB FILE...: an answer as JSON and as columns, both by the public interface.
 *
 * Prints { "answer": …, "columns": [ { "name", "type", "values" } ] }; what is not known is null.
 * test_columns.py compares the two. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "vramscope/snapshot.h"

typedef enum vrs_status question(const struct vrs_recording *const *r, struct vrs_result **ret,
                                 struct vrs_error *err);

static const struct vrs_limit limits[] = {
    { "max-peak", "1GiB" },
    { "max-growth-per-step", "0" },
    { "max-stranded", "10MiB" },
    { "max-site", ".*=1MiB" },
    { "no-oom", "" },
    { "max-slack", "1MiB" },
    { "max-category", "activation=1MiB" },
};
enum { LIMITS = sizeof limits / sizeof *limits };

#define ASK(verb, ...)                                                                             \
    static enum vrs_status ask_##verb(const struct vrs_recording *const *r,                        \
                                      struct vrs_result **ret, struct vrs_error *err)              \
    {                                                                                              \
        struct vrs_##verb##_options options = { .size = sizeof options, __VA_ARGS__ };             \
        return vrs_##verb(r[0], &options, ret, err);                                               \
    }
ASK(report, .timeline = true, .trust = true)
ASK(peak, .categories = true)
ASK(oom, .about = { NULL, NULL, NULL, { 0 } })
ASK(leaks, .about = { NULL, NULL, NULL, { 0 } })
ASK(fragments, .about = { NULL, NULL, NULL, { 0 } })
ASK(steps, .about = { NULL, NULL, NULL, { 0 } })
ASK(categories, .about = { NULL, NULL, NULL, { 0 } })
ASK(advise, .waste = true)
ASK(check, .limit = limits, .limits = LIMITS)
ASK(replay, .sweep = true, .smallest = true)

static enum vrs_status ask_diff(const struct vrs_recording *const *r, struct vrs_result **ret,
                                struct vrs_error *err)
{
    return vrs_diff(r[0], r[1], NULL, ret, err);
}

static const struct {
    const char *name;
    question *ask;
    int files; /* that one answer is about */
} verbs[] = {
    { "report", ask_report, 1 },
    { "peak", ask_peak, 1 },
    { "oom", ask_oom, 1 },
    { "leaks", ask_leaks, 1 },
    { "fragments", ask_fragments, 1 },
    { "steps", ask_steps, 1 },
    { "categories", ask_categories, 1 },
    { "advise", ask_advise, 1 },
    { "check", ask_check, 1 },
    { "replay", ask_replay, 1 },
    { "diff", ask_diff, 2 },
};

static bool put(void *arg, const char *bytes, size_t len)
{
    return fwrite(bytes, 1, len, arg) == len;
}

static void put_string(const char *text, size_t len)
{
    putchar('"');
    for (size_t i = 0; i < len; i++)
        if (text[i] == '"' || text[i] == '\\')
            printf("\\%c", text[i]);
        else if ((unsigned char)text[i] < 0x20)
            printf("\\u%04x", (unsigned)text[i]);
        else
            putchar(text[i]);
    putchar('"');
}

static void put_unsigned(uint64_t value, uint64_t most)
{
    if (value == most)
        printf("null");
    else
        printf("%" PRIu64, value);
}

static void put_value(const struct vrs_result *result, const struct vrs_span *s, uint64_t i)
{
    size_t len;
    const char *text;
    if (s->valid != NULL && !s->valid[i] && s->type != VRS_LIST) {
        printf("null");
        return;
    }
    switch (s->type) {
    case VRS_U8:
        put_unsigned(((const uint8_t *)s->data)[i], UINT8_MAX);
        break;
    case VRS_U16:
        put_unsigned(((const uint16_t *)s->data)[i], UINT16_MAX);
        break;
    case VRS_U32:
        put_unsigned(((const uint32_t *)s->data)[i], UINT32_MAX);
        break;
    case VRS_U64:
        put_unsigned(((const uint64_t *)s->data)[i], UINT64_MAX);
        break;
    case VRS_LIST:
        printf("[%" PRIu64 ", %d]", ((const uint64_t *)s->data)[i], s->valid[i]);
        break;
    case VRS_I64:
        printf("%" PRId64, ((const int64_t *)s->data)[i]);
        break;
    case VRS_F64:
        printf("%.17g", ((const double *)s->data)[i]);
        break;
    case VRS_STRINGS:
        text = vrs_result_string(result, ((const uint32_t *)s->data)[i], &len);
        if (text == NULL)
            printf("null");
        else
            put_string(text, len);
        break;
    }
}

static int put_columns(struct vrs_result *result)
{
    static const char *const types[] = {
        [VRS_U8] = "u8",   [VRS_U16] = "u16", [VRS_U32] = "u32",         [VRS_U64] = "u64",
        [VRS_I64] = "i64", [VRS_F64] = "f64", [VRS_STRINGS] = "strings", [VRS_LIST] = "list"
    };
    const char *name;
    for (uint32_t i = 0; (name = vrs_result_column_name(result, i)) != NULL; i++) {
        struct vrs_span span, again;
        struct vrs_error err;
        if (vrs_result_column(result, name, &span, &err) != VRS_OK ||
            vrs_result_column(result, name, &again, &err) != VRS_OK || again.data != span.data) {
            fprintf(stderr, "%s: %s\n", name, err.message);
            return 3;
        }
        printf("%s\n{ \"name\": \"%s\", \"type\": \"%s\", \"values\": [", i == 0 ? "" : ",", name,
               types[span.type]);
        for (uint64_t k = 0; k < span.count; k++) {
            printf(k == 0 ? "" : ", ");
            put_value(result, &span, k);
        }
        printf("] }");
    }
    return 0;
}

static int fail(const char *name, const struct vrs_error *err)
{
    fprintf(stderr, "%s: %s\n", name, err->message);
    return 3;
}

static int show(struct vrs_result *result)
{
    struct vrs_sink sink = { put, stdout };
    struct vrs_write_options options = { .size = sizeof options, .format = VRS_JSON };
    struct vrs_error err;
    printf("{ \"answer\": ");
    if (vrs_write(result, &options, &sink, &err) != VRS_OK)
        return fail("vrs_write", &err);
    printf(", \"columns\": [");
    int status = put_columns(result);
    printf("] }\n");
    return status;
}

enum { FILES_MOST = 16 };

static int ask_all(question *ask, int files, char **name, int each)
{
    struct vrs_file *file[FILES_MOST] = { NULL };
    const struct vrs_recording *r[FILES_MOST];
    struct vrs_result *result[FILES_MOST] = { NULL }, *joined = NULL;
    struct vrs_error err;
    uint32_t results = 0;
    struct vrs_open_options open = { .size = sizeof open, .replay = VRS_REPLAY_ALWAYS };
    for (int i = 0; i < files; i++)
        if (vrs_open(name[i], &open, &file[i], &err) != VRS_OK ||
            vrs_recording(file[i], 0, &r[i], &err) != VRS_OK)
            return fail(name[i], &err);
    for (int i = 0; i + each <= files; i += each)
        if (ask(&r[i], &result[results++], &err) != VRS_OK)
            return fail(name[i], &err);
    if (results > 1 &&
        vrs_merge((const struct vrs_result *const *)result, results, &joined, &err) != VRS_OK)
        return fail("vrs_merge", &err);
    int status = show(joined != NULL ? joined : result[0]);
    for (uint32_t i = 0; i < results; i++)
        vrs_result_free(result[i]);
    vrs_result_free(joined);
    for (int i = 0; i < files; i++)
        vrs_close(file[i]);
    return status;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && argc - 2 <= FILES_MOST && i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i].name, argv[1]) == 0)
            return ask_all(verbs[i].ask, argc - 2, argv + 2, verbs[i].files);
    fprintf(stderr, "usage: columns VERB FILE...\n");
    return 2;
}
