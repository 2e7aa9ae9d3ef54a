/* fuzz_text.h - what the targets of texts share: one small recording that is asked by them.
 *
 * Whatever a stranger's text is, it is refused with words or used to the end: asked, and written as
 * text and as JSON. */
#ifndef TESTS_FUZZ_FUZZ_TEXT_H
#define TESTS_FUZZ_FUZZ_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vramscope/vramscope.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

/* The bytes with a NUL behind them, as the API takes texts: what stands behind a NUL is not seen.
 */
static inline char *fuzz_copy(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL, "out of memory");
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

#define FUZZ_FRAME(function, file)                                                                 \
    "{\"name\": \"" function "\", \"filename\": \"" file "\", \"line\": 7}"
#define FUZZ_EVENT(action, address, size, frames)                                                  \
    ", {\"action\": \"" action "\", \"addr\": " address ", \"size\": " size                        \
    ", \"stream\": 0, \"time_us\": 12, \"frames\": [" frames "]}"
#define FUZZ_MAIN FUZZ_FRAME("main", "/home/user/train.py")

/* A name as long as those of templates, of letters that leave many ways open. */
#define FUZZ_AB "abbabaabbaababbabaababbaabbabaababbabaabbaababba"
#define FUZZ_LONG FUZZ_AB FUZZ_AB FUZZ_AB FUZZ_AB FUZZ_AB FUZZ_AB FUZZ_AB FUZZ_AB

#define FUZZ_OPTIMIZER "/venv/lib/python3/site-packages/torch/optim/optimizer.py"
#define FUZZ_INIT FUZZ_FRAME("__init__", "/home/user/kv_cache.py") ", " FUZZ_MAIN
#define FUZZ_MM FUZZ_FRAME("at::_ops::mm::call()", "??")
#define FUZZ_MODEL FUZZ_FRAME("forward", "C:\\\\user\\\\model.py") ", " FUZZ_MAIN
#define FUZZ_ENGINE FUZZ_FRAME("torch::autograd::Engine::run()", "??")
#define FUZZ_ZERO FUZZ_FRAME("zero_grad", FUZZ_OPTIMIZER) ", " FUZZ_MAIN
#define FUZZ_DONE FUZZ_EVENT("free_completed", "6144", "512", "")

#define FUZZ_CACHE FUZZ_EVENT("alloc", "4096", "1000", FUZZ_INIT)
#define FUZZ_FORWARD FUZZ_EVENT("alloc", "5120", "1024", FUZZ_MM ", " FUZZ_MODEL)
#define FUZZ_BACKWARD                                                                              \
    FUZZ_EVENT("alloc", "6144", "512", FUZZ_ENGINE)                                                \
    FUZZ_EVENT("free_requested", "6144", "512", FUZZ_ZERO) FUZZ_DONE
#define FUZZ_LATER                                                                                 \
    FUZZ_EVENT("alloc", "6144", "512", FUZZ_FRAME(FUZZ_LONG, "/home/user/long.py")) FUZZ_DONE

/* A forward, its backward, a step of the optimizer, a cache; then memory runs out. */
static const char fuzz_recording_text[] =
    "{\"segments\": [{\"device\": 0, \"address\": 4096, \"total_size\": 2097152,"
    " \"allocated_size\": 2048, \"active_size\": 2048, \"requested_size\": 2024, \"stream\": 0,"
    " \"segment_type\": \"small\", \"blocks\": ["
    "{\"address\": 4096, \"size\": 1024, \"requested_size\": 1000,"
    " \"state\": \"active_allocated\", \"frames\": []},"
    "{\"address\": 5120, \"size\": 1024, \"requested_size\": 1024,"
    " \"state\": \"active_allocated\", \"frames\": []},"
    "{\"address\": 6144, \"size\": 2095104, \"requested_size\": 0, \"state\": \"inactive\","
    " \"frames\": []}]}], \"device_traces\": [["
    "{\"action\": \"segment_alloc\", \"addr\": 4096, \"size\": 2097152, \"stream\": 0,"
    " \"time_us\": 10, \"frames\": []}" FUZZ_CACHE FUZZ_FORWARD FUZZ_BACKWARD FUZZ_LATER
    ", {\"action\": \"oom\", \"device_free\": 512, \"size\": 2097152, \"stream\": 0,"
    " \"time_us\": 13, \"frames\": []}]]}";

/* The recording, read at the first call and kept. */
static inline const struct vrs_recording *fuzz_recording(void)
{
    static struct vrs_file *file;
    const struct vrs_recording *r = NULL;
    if (file == NULL)
        require(vrs_open_bytes(fuzz_recording_text, sizeof fuzz_recording_text - 1, "run.json",
                               NULL, &file, NULL) == VRS_OK,
                "the recording cannot be read");
    require(vrs_recording(file, 0, &r, NULL) == VRS_OK, "there is no recording");
    return r;
}

static inline bool fuzz_swallow(void *arg, const char *bytes, size_t len)
{
    size_t *written = arg;
    require(memchr(bytes, '\x1b', len) == NULL, "an escape reached the terminal");
    *written += len;
    return true;
}

/* In these formats; frees the answer. */
static inline void fuzz_write(struct vrs_result *result, const enum vrs_format *formats,
                              size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t written = 0;
        struct vrs_sink sink = { fuzz_swallow, &written };
        struct vrs_write_options way = { .size = sizeof way, .format = formats[i] };
        require(vrs_write(result, &way, &sink, NULL) == VRS_OK, "an answer is not written");
        require(written > 0, "an answer is empty");
    }
    vrs_result_free(result);
}

static inline void fuzz_write_both(struct vrs_result *result)
{
    static const enum vrs_format both[] = { VRS_TEXT, VRS_JSON };
    fuzz_write(result, both, 2);
}

/* A call that did not work was refused, in words on one line. */
static inline void fuzz_refused(enum vrs_status status, const struct vrs_error *err)
{
    require(status == VRS_USAGE && err->status == status, "fails otherwise than by usage");
    require(err->message[0] != '\0', "a refusal without words");
    require(memchr(err->message, '\0', sizeof err->message) != NULL, "a message without an end");
}

/* Did an expression take too long on the recording?  Then the answer failed by its name. */
static inline bool fuzz_took_too_long(enum vrs_status status, const struct vrs_error *err,
                                      const char *begin)
{
    if (status != VRS_LIMIT)
        return false;
    require(err->status == status && strncmp(err->message, begin, strlen(begin)) == 0,
            "a limit that does not say whose");
    return true;
}

#endif
