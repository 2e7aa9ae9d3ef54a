/* trace_rewrite.c - reads a trace and writes it, or a part of it, as a profiler would have. */
#define _POSIX_C_SOURCE 200809L
#include "trace_rewrite.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "inputs.h"
#include "message.h"
#include "output.h"
#include "terminal.h"
#include "vramscope/trace.h"

bool trace_rewrite_wanted(const struct trace_rewrite *r)
{
    return r->repair || r->slice != NULL || r->drop_python || r->min_duration != NULL;
}

/* The name would say that it is packed, which it is not. */
static const char *packing_of(const char *output)
{
    static const char *const ends[] = { ".gz", ".zst" };
    size_t len = output == NULL ? 0 : strlen(output);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (len > strlen(ends[i]) && strcmp(output + len - strlen(ends[i]), ends[i]) == 0)
            return ends[i];
    return NULL;
}

static bool read_words(const struct common *common, const struct trace_rewrite *r, int files,
                       struct vrs_trace_rewrite_options *ret)
{
    struct vrs_error err;
    *ret = (struct vrs_trace_rewrite_options){ .size = sizeof *ret,
                                               .steps = r->slice,
                                               .drop_python = r->drop_python };
    if (!r->repair && r->slice == NULL)
        message("%s is of --slice STEPS and --repair; name one of the two",
                r->drop_python ? "--drop-python" : "--min-duration");
    else if (common->json || common->csv)
        message("--%s writes a trace, not %s; leave one of them out",
                r->repair ? "repair" : "slice", common->json ? "--json" : "--csv");
    else if (packing_of(common->output) != NULL)
        message(
            "-o %s: a trace is written as plain JSON; leave \"%s\" out, or leave -o out and pipe "
            "it to gzip or zstd",
            common->output, packing_of(common->output));
    else if (output_is_stream(common->output) && terminal_is(STDOUT_FILENO))
        message("--%s writes a whole trace, which a terminal would show; name a file with -o, or "
                "pipe it",
                r->repair ? "repair" : "slice");
    else if (files != 1)
        message("--%s takes one FILE", r->repair ? "repair" : "slice");
    else if (r->min_duration != NULL && !vrs_duration(r->min_duration, &ret->min_duration_ns))
        message("--min-duration takes a time, as 5us or 1ms, not \"%s\"", r->min_duration);
    else if (vrs_trace_rewrite_check(ret, &err) != VRS_OK)
        message("--slice: %s", err.message);
    else
        return true;
    return false;
}

static bool read_progress(void *arg, uint64_t done, uint64_t total)
{
    (void)arg;
    progress_bytes(done, total);
    return true;
}

static int write_trace(const struct common *common, const struct vrs_trace *trace,
                       const struct vrs_trace_rewrite_options *options, const char *path)
{
    struct output output;
    struct vrs_error err;
    if (output_open(&output, "-o", common->output) != EXIT_DONE)
        return EXIT_FAILED;
    struct vrs_sink sink = { output_write, &output };
    enum vrs_status status = vrs_trace_rewrite(trace, options, &sink, &err);
    /* The output knows best why a write failed. */
    if (status != VRS_OK && output.error == 0) {
        message_failure(path, &err);
        output_close(&output, false);
        return failure_exit(status);
    }
    return output_close(&output, status == VRS_OK);
}

int trace_rewrite_run(const struct common *common, const struct trace_rewrite *r, int files,
                      char *const *names)
{
    struct vrs_trace_rewrite_options options;
    struct vrs_limits limits = common->limits;
    struct vrs_open_options open = { .size = sizeof open,
                                     .limits = &limits,
                                     .progress = read_progress };
    struct vrs_trace *trace = NULL;
    struct vrs_error err;
    if (files == 1 && !output_is_stream(names[0]) && input_is_folder(names[0])) {
        message("%s is a folder; --repair and --slice take one FILE of it at a time", names[0]);
        return EXIT_USAGE;
    }
    if (!read_words(common, r, files, &options) || !input_is_named(names[0]) ||
        output_replaces("-o", common->output, names[0]))
        return EXIT_USAGE;
    limits.size = sizeof limits;
    progress_start("reading");
    enum vrs_status status = vrs_open_trace(names[0], &open, &trace, &err);
    progress_hide();
    if (status != VRS_OK) {
        message_failure(names[0], &err);
        return EXIT_FAILED;
    }
    int written = write_trace(common, trace, &options, names[0]);
    vrs_close_trace(trace);
    return written;
}
