/* serve_index.c - reports of all files, joined and written as one page. */
#define _POSIX_C_SOURCE 200809L
#include "serve/serve_index.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "answer.h"
#include "command.h"
#include "inputs.h"
#include "message.h"
#include "options.h"
#include "terminal.h"
#include "view.h"
#include "vramscope/snapshot.h"

enum { REASON_TEXT = 512 };

/* What one file gave. */
struct indexed {
    struct vrs_result **result; /* of each entry that could be read */
    uint32_t results, failures;
    char reason[REASON_TEXT]; /* of the first failure */
    char href[16];
};

struct indexing {
    const struct view_settings *s;
    const struct inputs *inputs;
    struct indexed *file;
};

static void fail(struct indexed *file, const char *entry, const struct vrs_error *err)
{
    if (file->failures++ == 0)
        message_reason(file->reason, sizeof file->reason, entry, err);
}

static void ask_entry(const struct indexing *x, const struct vrs_file *opened, uint32_t i,
                      const char *path, struct indexed *file)
{
    const struct vrs_recording *recording = NULL;
    struct vrs_report_options o = {
        COMMON_MEMBERS(o, &x->s->common, path),
        .part = true,
        .curve = true,
    };
    struct vrs_error err;
    enum vrs_status status = vrs_recording(opened, i, &recording, &err);
    if (status == VRS_OK)
        status = vrs_report(recording, &o, &file->result[file->results], &err);
    if (status == VRS_OK)
        file->results++;
    else
        fail(file, vrs_entry_name(opened, i), &err);
}

/* A job of vrs_parallel: touches nothing but its own file. */
static void ask_file(void *arg, uint32_t i)
{
    const struct indexing *x = arg;
    const char *path = x->inputs->at[i].path;
    struct indexed *file = &x->file[i];
    struct vrs_file *opened = NULL;
    struct vrs_error err;
    if (answer_open(&x->s->common, path, false, &opened, &err) != VRS_OK) {
        fail(file, NULL, &err);
        return;
    }
    file->result = calloc(vrs_count(opened) + 1u, sizeof(*file->result));
    if (file->result == NULL) {
        err = (struct vrs_error){ VRS_NOMEM, UINT64_MAX, "out of memory" };
        fail(file, NULL, &err);
    }
    for (uint32_t k = 0; file->result != NULL && k < vrs_count(opened); k++)
        ask_entry(x, opened, k, path, file);
    vrs_close(opened);
}

static void file_done(void *arg, uint32_t done)
{
    const struct indexing *x = arg;
    progress_files(done, x->inputs->count);
}

/* Says what failed; the results that there are, in the order of the files. */
static uint32_t gather(struct indexing *x, const struct vrs_result **results)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->inputs->count; i++) {
        struct indexed *file = &x->file[i];
        snprintf(file->href, sizeof file->href, "%u", (unsigned)i + 1);
        for (uint32_t k = 0; k < file->results; k++)
            results[count++] = file->result[k];
        if (file->failures > 0)
            message("%s: %s", x->inputs->at[i].path, file->reason);
        if (file->failures > 1)
            message("%s: %u more of its entries failed", x->inputs->at[i].path,
                    (unsigned)file->failures - 1);
    }
    return count;
}

static enum vrs_status write_index(const struct indexing *x,
                                   const struct vrs_result *const *results, uint32_t count,
                                   struct gathered *ret, struct vrs_error *err)
{
    struct vrs_index_file *file = calloc(x->inputs->count, sizeof *file);
    if (file == NULL) {
        *err = (struct vrs_error){ VRS_NOMEM, UINT64_MAX, "out of memory" };
        return VRS_NOMEM;
    }
    for (uint32_t i = 0; i < x->inputs->count; i++) {
        const struct indexed *from = &x->file[i];
        file[i].path = x->inputs->at[i].path;
        file[i].href = from->href;
        file[i].failure = from->failures > 0 ? from->reason : NULL;
    }
    struct vrs_index_options o = { .size = sizeof o, .file = file, .files = x->inputs->count };
    struct vrs_sink sink = { gathered_write, ret };
    struct vrs_result *joined = NULL;
    enum vrs_status status = vrs_merge(results, count, &joined, err);
    if (status == VRS_OK)
        status = vrs_index(joined, &o, &sink, err);
    vrs_result_free(joined);
    free(file);
    return status;
}

/* One more result behind the others: what run.json, in a folder that is the only operand, knows. */
static struct vrs_result *add_run(const struct inputs *inputs, const struct vrs_result **results,
                                  uint32_t *count)
{
    struct vrs_result *run = NULL;
    struct vrs_error err;
    if (inputs->run == NULL)
        return NULL;
    if (vrs_report_run(inputs->run, &run, &err) == VRS_OK)
        results[(*count)++] = run;
    else
        message("warning: %s: %s; ranks without a snapshot are not named", inputs->run,
                err.message);
    return run;
}

/* Writes the index of what could be read; `results` has room for that and what add_run adds. */
static int join_results(struct indexing *x, const struct vrs_result **results,
                        struct gathered *ret)
{
    struct vrs_error err;
    uint32_t count = gather(x, results);
    if (count == 0) {
        message("none of the files could be read, so there is nothing to serve");
        return EXIT_FAILED;
    }
    struct vrs_result *run = add_run(x->inputs, results, &count);
    enum vrs_status status = write_index(x, results, count, ret, &err);
    if (status != VRS_OK)
        message_failure("the index", &err);
    vrs_result_free(run);
    return status == VRS_OK ? EXIT_DONE : EXIT_FAILED;
}

static int join(struct indexing *x, struct gathered *ret)
{
    uint64_t room = 2;
    for (uint32_t i = 0; i < x->inputs->count; i++)
        room += x->file[i].results;
    const struct vrs_result **results = calloc(room, sizeof(*results));
    if (results == NULL) {
        struct vrs_error err = { VRS_NOMEM, UINT64_MAX, "out of memory" };
        message_failure("the index", &err);
        return EXIT_FAILED;
    }
    int ended = join_results(x, results, ret);
    free(results);
    return ended;
}

int index_make(const struct view_settings *s, const struct inputs *inputs, struct gathered *ret)
{
    struct indexing x = { .s = s, .inputs = inputs };
    struct vrs_error err = { VRS_NOMEM, UINT64_MAX, "out of memory" };
    int ended = EXIT_FAILED;
    x.file = calloc(inputs->count, sizeof *x.file);
    progress_start("reading");
    if (x.file == NULL ||
        vrs_parallel(s->common.threads, inputs->count, ask_file, file_done, &x, &err) != VRS_OK)
        message_failure("reading", &err);
    else
        ended = join(&x, ret);
    progress_hide();
    for (uint32_t i = 0; x.file != NULL && i < inputs->count; i++) {
        for (uint32_t k = 0; k < x.file[i].results; k++)
            vrs_result_free(x.file[i].result[k]);
        free(x.file[i].result);
    }
    free(x.file);
    return ended;
}

int index_try(const struct view_settings *s, const struct inputs *inputs)
{
    const char *path = inputs->at[0].path;
    struct vrs_file *file = NULL;
    struct vrs_error err;
    uint32_t readable = 0;
    progress_start("reading");
    if (answer_open(&s->common, path, true, &file, &err) != VRS_OK)
        message_failure(path, &err);
    for (uint32_t i = 0; file != NULL && i < vrs_count(file); i++) {
        const struct vrs_recording *recording = NULL;
        if (vrs_recording(file, i, &recording, &err) == VRS_OK)
            readable++;
        else
            message_entry_failure(path, vrs_entry_name(file, i), &err);
    }
    progress_hide();
    vrs_close(file);
    return readable > 0 ? EXIT_DONE : EXIT_FAILED;
}
