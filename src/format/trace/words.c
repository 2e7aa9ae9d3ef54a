/* words.c - the spelling of each word; a trace has some ten keys an event, so lengths go first. */
#include "format/trace/words.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"
#include "model/trace.h"

static const str keys[TRACE_KEYS] = {
    [KEY_OTHER] = { "", 0 },
    [KEY_TRACE_EVENTS] = { "traceEvents", 11 },
    [KEY_DEVICE_PROPERTIES] = { "deviceProperties", 16 },
    [KEY_DISTRIBUTED] = { "distributedInfo", 15 },
    [KEY_RECORD_SHAPES] = { "record_shapes", 13 },
    [KEY_PROFILE_MEMORY] = { "profile_memory", 14 },
    [KEY_WITH_STACK] = { "with_stack", 10 },
    [KEY_WITH_MODULES] = { "with_modules", 12 },
    [KEY_WITH_FLOPS] = { "with_flops", 10 },
    [KEY_BASE_NS] = { "baseTimeNanoseconds", 19 },
    [KEY_CUT_AT] = { TRACE_CUT_KEY, sizeof(TRACE_CUT_KEY) - 1 },
    [KEY_SEGMENTS] = { "segments", 8 },
    [KEY_DEVICE_TRACES] = { "device_traces", 13 },
    [KEY_PH] = { "ph", 2 },
    [KEY_CAT] = { "cat", 3 },
    [KEY_NAME] = { "name", 4 },
    [KEY_PID] = { "pid", 3 },
    [KEY_TID] = { "tid", 3 },
    [KEY_TS] = { "ts", 2 },
    [KEY_DUR] = { "dur", 3 },
    [KEY_ID] = { "id", 2 },
    [KEY_ARGS] = { "args", 4 },
    [KEY_EXTERNAL_ID] = { "External id", 11 },
    [KEY_EXTERNAL_ID_LOWER] = { "external id", 11 },
    [KEY_CORRELATION] = { "correlation", 11 },
    [KEY_BYTES] = { "Bytes", 5 },
    [KEY_BYTES_LOWER] = { "bytes", 5 },
    [KEY_ADDRESS] = { "Addr", 4 },
    [KEY_DEVICE_TYPE] = { "Device Type", 11 },
    [KEY_DEVICE_ID] = { "Device Id", 9 },
    [KEY_TOTAL_ALLOCATED] = { "Total Allocated", 15 },
    [KEY_TOTAL_RESERVED] = { "Total Reserved", 14 },
    [KEY_LABELS] = { "labels", 6 },
    [KEY_SEQUENCE] = { "Sequence number", 15 },
    [KEY_FORWARD_THREAD] = { "Fwd thread id", 13 },
    [KEY_CALL_STACK] = { "Call stack", 10 },
    [KEY_INPUT_DIMS] = { "Input Dims", 10 },
    [KEY_INPUT_DIMS_2021] = { "Input dims", 10 },
    [KEY_TOTAL_GLOBAL_MEM] = { "totalGlobalMem", 14 },
    [KEY_COMPUTE_MAJOR] = { "computeMajor", 12 },
    [KEY_COMPUTE_MINOR] = { "computeMinor", 12 },
    [KEY_NUM_SMS] = { "numSms", 6 },
    [KEY_RANK] = { "rank", 4 },
    [KEY_WORLD_SIZE] = { "world_size", 10 },
    [KEY_BACKEND] = { "backend", 7 },
};

/* A key of each length and first character: most that nobody asks for meet none. */
enum { KEY_LENGTHS = 20, LETTERS = 64 };
#define LETTER(c) ((c) & (LETTERS - 1))
static const uint8_t first_of[KEY_LENGTHS][LETTERS] = {
    [2] = { [LETTER('t')] = KEY_TS, [LETTER('p')] = KEY_PH, [LETTER('i')] = KEY_ID },
    [3] = { [LETTER('c')] = KEY_CAT,
            [LETTER('p')] = KEY_PID,
            [LETTER('t')] = KEY_TID,
            [LETTER('d')] = KEY_DUR },
    [4] = { [LETTER('n')] = KEY_NAME,
            [LETTER('a')] = KEY_ARGS,
            [LETTER('A')] = KEY_ADDRESS,
            [LETTER('r')] = KEY_RANK },
    [5] = { [LETTER('B')] = KEY_BYTES, [LETTER('b')] = KEY_BYTES_LOWER },
    [6] = { [LETTER('l')] = KEY_LABELS, [LETTER('n')] = KEY_NUM_SMS },
    [7] = { [LETTER('b')] = KEY_BACKEND },
    [8] = { [LETTER('s')] = KEY_SEGMENTS },
    [9] = { [LETTER('D')] = KEY_DEVICE_ID },
    [10] = { [LETTER('I')] = KEY_INPUT_DIMS,
             [LETTER('C')] = KEY_CALL_STACK,
             [LETTER('w')] = KEY_WITH_STACK },
    [11] = { [LETTER('E')] = KEY_EXTERNAL_ID,
             [LETTER('e')] = KEY_EXTERNAL_ID_LOWER,
             [LETTER('c')] = KEY_CORRELATION,
             [LETTER('D')] = KEY_DEVICE_TYPE,
             [LETTER('t')] = KEY_TRACE_EVENTS },
    [12] = { [LETTER('w')] = KEY_WITH_MODULES, [LETTER('c')] = KEY_COMPUTE_MAJOR },
    [13] = { [LETTER('F')] = KEY_FORWARD_THREAD,
             [LETTER('r')] = KEY_RECORD_SHAPES,
             [LETTER('d')] = KEY_DEVICE_TRACES },
    [14] = { [LETTER('T')] = KEY_TOTAL_RESERVED,
             [LETTER('p')] = KEY_PROFILE_MEMORY,
             [LETTER('t')] = KEY_TOTAL_GLOBAL_MEM },
    [15] = { [LETTER('S')] = KEY_SEQUENCE,
             [LETTER('T')] = KEY_TOTAL_ALLOCATED,
             [LETTER('d')] = KEY_DISTRIBUTED },
    [16] = { [LETTER('d')] = KEY_DEVICE_PROPERTIES },
    [18] = { [LETTER('r')] = KEY_CUT_AT },
    [19] = { [LETTER('b')] = KEY_BASE_NS },
};

/* Another one of the same length and first character. */
static const uint8_t next_of[TRACE_KEYS] = {
    [KEY_INPUT_DIMS] = KEY_INPUT_DIMS_2021,
    [KEY_WITH_STACK] = KEY_WITH_FLOPS,
    [KEY_WITH_FLOPS] = KEY_WORLD_SIZE,
    [KEY_COMPUTE_MAJOR] = KEY_COMPUTE_MINOR,
};

/* Two texts of one length, two at least and short: words of the machine from either end. */
static bool equal(const char *a, const char *b, size_t len)
{
    uint64_t first[2], last[2];
    uint32_t front[2], back[2];
    if (len > 2 * sizeof *first)
        return memcmp(a, b, len) == 0;
    if (len >= sizeof *first) {
        memcpy(&first[0], a, sizeof *first);
        memcpy(&first[1], b, sizeof *first);
        memcpy(&last[0], a + len - sizeof *last, sizeof *last);
        memcpy(&last[1], b + len - sizeof *last, sizeof *last);
        return first[0] == first[1] && last[0] == last[1];
    }
    if (len >= sizeof *front) {
        memcpy(&front[0], a, sizeof *front);
        memcpy(&front[1], b, sizeof *front);
        memcpy(&back[0], a + len - sizeof *back, sizeof *back);
        memcpy(&back[1], b + len - sizeof *back, sizeof *back);
        return front[0] == front[1] && back[0] == back[1];
    }
    return a[0] == b[0] && a[1] == b[1] && a[len - 1] == b[len - 1];
}

/* Whether the tables lack a key; for an assertion. */
static bool is_missed(str text)
{
    for (uint32_t k = KEY_OTHER + 1; k < TRACE_KEYS; k++)
        if (str_equal(keys[k], text))
            return true;
    return false;
}

enum trace_key trace_key_of(str text)
{
    uint8_t key = KEY_OTHER;
    if (text.len < KEY_LENGTHS && text.len > 0)
        key = first_of[text.len][LETTER((uint8_t)text.ptr[0])];
    for (; key != KEY_OTHER; key = next_of[key])
        if (equal(keys[key].ptr, text.ptr, text.len))
            return (enum trace_key)key;
    assert(!is_missed(text));
    (void)is_missed;
    return KEY_OTHER;
}

static const struct {
    str category;
    enum span_kind kind;
} kinds[] = {
    { { "cpu_op", 6 }, SPAN_OP },
    { { "operator", 8 }, SPAN_OP },
    { { "user_annotation", 15 }, SPAN_ANNOTATION },
    { { "gpu_user_annotation", 19 }, SPAN_GPU_ANNOTATION },
    { { "kernel", 6 }, SPAN_KERNEL },
    { { "gpu_memcpy", 10 }, SPAN_MEMCPY },
    { { "memcpy", 6 }, SPAN_MEMCPY },
    { { "gpu_memset", 10 }, SPAN_MEMSET },
    { { "memset", 6 }, SPAN_MEMSET },
    { { "runtime", 7 }, SPAN_RUNTIME },
    { { "driver", 6 }, SPAN_DRIVER },
    { { "python_function", 15 }, SPAN_PYTHON },
    { { "python", 6 }, SPAN_PYTHON },
    { { "overhead", 8 }, SPAN_OVERHEAD },
    { { "cuda_sync", 9 }, SPAN_SYNC },
    { { "cuda_event", 10 }, SPAN_CUDA_EVENT },
    { { "trace", 5 }, SPAN_WINDOW },
};

enum span_kind trace_kind_of(str category)
{
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_equal(kinds[i].category, category))
            return kinds[i].kind;
    if (str_ends(category, S("_runtime")))
        return SPAN_RUNTIME;
    return str_ends(category, S("_driver")) ? SPAN_DRIVER : SPAN_OTHER;
}
