#include "made/answered.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "made/fault.h"

enum { STEPS = 5, BLOCK = 2048, SEGMENT = 2 << 20, AT = 4096, STEPS_BEGIN = 11 };

/* Writing. */

static bool take(void *arg, const char *bytes, size_t len)
{
    struct written *to = arg;
    if (len > sizeof to->at - 1 - to->len)
        return false;
    memcpy(to->at + to->len, bytes, len);
    to->len += len;
    to->at[to->len] = '\0';
    return true;
}

struct vrs_sink written_sink(struct written *to)
{
    return (struct vrs_sink){ take, to };
}

static void hear(void *arg, const char *text)
{
    (void)arg;
    (void)text;
}

static enum vrs_status write_all(const struct asking *a, struct vrs_result *const *of,
                                 struct written *to)
{
    static const struct vrs_write_options usual[] = {
        { .size = sizeof usual[0], .format = VRS_TEXT },
        { .size = sizeof usual[0], .format = VRS_JSON },
        { .size = sizeof usual[0], .format = VRS_CSV, .note = hear },
    };
    const struct vrs_write_options *way = a->ways == 0 ? usual : a->way;
    size_t ways = a->ways == 0 ? sizeof usual / sizeof *usual : a->ways;
    struct vrs_sink sink = written_sink(to);
    enum vrs_status status = VRS_OK;
    for (int i = 0; i < ANSWERS_MOST && of[i] != NULL; i++)
        for (size_t k = 0; k < ways && status == VRS_OK; k++)
            status = vrs_write(of[i], &way[k], &sink, NULL);
    return status;
}

/* Asking. */

enum vrs_status answer(const struct asking *a, struct written *to)
{
    struct vrs_file *file = NULL;
    const struct vrs_recording *r = NULL;
    struct vrs_result *got[ANSWERS_MOST] = { NULL };
    to->len = 0;
    to->at[0] = '\0';
    struct vrs_open_options options = { .size = sizeof options, .threads = a->threads };
    enum vrs_status status =
        vrs_open_bytes(a->recording, strlen(a->recording), "run.json", &options, &file, NULL);
    if (status == VRS_OK)
        status = vrs_recording(file, 0, &r, NULL);
    if (status == VRS_OK)
        status = a->ask(r, got);
    vrs_close(file);
    if (status == VRS_OK)
        status = write_all(a, got, to);
    for (int i = 0; i < ANSWERS_MOST; i++)
        vrs_result_free(got[i]);
    return status;
}

const char *answered(const struct asking *a)
{
    static struct written text;
    assert_int_equal(answer(a, &text), VRS_OK);
    assert_true(text.len > 0);
    return text.at;
}

struct attempt {
    const struct asking *asking;
    const char *whole;
    struct written text;
};

static enum vrs_status attempt(void *arg)
{
    struct attempt *t = arg;
    return answer(t->asking, &t->text);
}

static void is_whole(void *arg)
{
    const struct attempt *t = arg;
    assert_string_equal(t->text.at, t->whole);
}

void answered_without_memory(const struct asking *a)
{
    static struct attempt t;
    t.asking = a;
    t.whole = answered(a);
    fault_each(attempt, is_whole, &t);
}

/* Recordings. */

static struct {
    char at[1 << 16];
    size_t len;
} made;

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int len = vsnprintf(made.at + made.len, sizeof made.at - made.len, format, list);
    va_end(list);
    assert_true(len > 0 && made.len + (size_t)len < sizeof made.at);
    made.len += (size_t)len;
}

/* The segment, its blocks in use, the rest of it, and the event that made it, after which others
 * may follow. */
static void begin(int blocks, int size, int requested)
{
    made.len = 0;
    add("{\"segments\": [{\"device\": 0, \"address\": %d, \"total_size\": %d,"
        " \"allocated_size\": %d, \"active_size\": %d, \"requested_size\": %d, \"stream\": 0,"
        " \"segment_type\": \"small\", \"blocks\": [",
        AT, SEGMENT, blocks * size, blocks * size, blocks * requested);
    for (int i = 0; i < blocks; i++)
        add("{\"address\": %d, \"size\": %d, \"requested_size\": %d,"
            " \"state\": \"active_allocated\", \"frames\": []}, ",
            AT + i * size, size, requested);
    add("{\"address\": %d, \"size\": %d, \"requested_size\": 0, \"state\": \"inactive\","
        " \"frames\": []}]}], \"device_traces\": [[{\"action\": \"segment_alloc\", \"addr\": %d,"
        " \"size\": %d, \"stream\": 0, \"time_us\": 10, \"frames\": []}",
        AT + blocks * size, SEGMENT - blocks * size, AT, SEGMENT);
}

static void event(const char *action, int address, int size, int time, const char *function,
                  const char *file)
{
    add(", {\"action\": \"%s\", \"addr\": %d, \"size\": %d, \"stream\": 0, \"time_us\": %d,"
        " \"frames\": [{\"name\": \"%s\", \"filename\": \"/home/user/%s.py\", \"line\": 7}]}",
        action, address, size, time, function, file);
}

/* The events of the steps, and the time after the last. */
static int add_steps(const char *freeing)
{
    static const char *const places[] = { "load", "keep", "work" };
    int time = STEPS_BEGIN;
    begin(STEPS, BLOCK, BLOCK);
    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < 3; k++) {
            int address = AT + BLOCK * (k == 1 ? i : i + k + 1);
            event("alloc", address, BLOCK, time++, places[k], places[k]);
            if (k == 1)
                continue;
            event("free_requested", address, BLOCK, time++, freeing, "work");
            event("free_completed", address, BLOCK, time++, freeing, "work");
        }
    return time;
}

const char *recording_of_steps(const char *freeing)
{
    add_steps(freeing);
    add("]]}");
    return made.at;
}

const char *recording_of_marked_steps(const char *freeing)
{
    int each = (add_steps(freeing) - STEPS_BEGIN) / STEPS;
    add("]], \"external_annotations\": [");
    for (int i = 0; i < 2 * STEPS; i++)
        add("{\"name\": \"step %d\", \"stage\": \"%s\", \"device\": 0, \"time_us\": %d}%s", i / 2,
            i % 2 == 0 ? "START" : "END", STEPS_BEGIN + (i + 1) / 2 * each,
            i + 1 < 2 * STEPS ? "," : "]}");
    return made.at;
}

const char *recording_of_tensor(const char *function, const char *more_events)
{
    begin(1, 1024, 1000);
    event("alloc", AT, 1000, 11, function, "model");
    add("%s]]}", more_events);
    return made.at;
}
