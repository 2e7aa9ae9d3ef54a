/* pair.c - reads two files side by side, compares, writes. */
#include "pair.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "answer.h"
#include "command.h"
#include "inputs.h"
#include "message.h"
#include "options.h"
#include "terminal.h"
#include "vramscope/measurement.h"
#include "vramscope/snapshot.h"
#include "vramscope/trace.h"

struct pair_work {
    const struct common *common;
    const struct inputs *inputs;
    struct vrs_comparable opened[2];
    enum vrs_status status[2];
    struct vrs_error error[2];
};

/* A job of vrs_parallel. */
static void open_file(void *arg, uint32_t i)
{
    struct pair_work *w = arg;
    const char *path = w->inputs->at[i].path;
    bool alone = w->inputs->count == 1;
    w->status[i] = answer_open_comparable(w->common, path, alone, &w->opened[i], &w->error[i]);
}

static void file_done(void *arg, uint32_t done)
{
    const struct pair_work *w = arg;
    if (w->inputs->count > 1)
        progress_files(done, w->inputs->count);
}

/* The one recording of a file. */
static int only_recording(const struct vrs_file *file, const char *path,
                          const struct vrs_recording **ret)
{
    struct vrs_error err;
    uint32_t count = vrs_count(file);
    if (count != 1) {
        message("%s holds %u recordings, and one is compared with one", path, (unsigned)count);
        return EXIT_USAGE;
    }
    if (vrs_recording(file, 0, ret, &err) == VRS_OK)
        return EXIT_DONE;
    message_failure(path, &err);
    return EXIT_FAILED;
}

static int write_comparison(const struct pair_work *w, enum vrs_status status,
                            const struct vrs_error *err, struct vrs_result *result)
{
    if (status != VRS_OK) {
        message("%s", err->message);
        return failure_exit(status);
    }
    int written = answer_write(w->common, (struct vrs_write_options){ 0 }, result);
    vrs_result_free(result);
    return written;
}

static int compare_recordings(const struct pair_work *w, const struct pair_question *question,
                              uint32_t second)
{
    const struct vrs_recording *recording[2] = { NULL, NULL };
    const char *path[2];
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t from = i == 0 ? 0 : second;
        path[i] = w->inputs->at[from].path;
        int found = only_recording(w->opened[from].file, path[i], &recording[i]);
        if (found != EXIT_DONE)
            return found;
    }
    struct vrs_result *result = NULL;
    struct vrs_error err;
    enum vrs_status status = question->ask(recording[0], path[0], recording[1], path[1],
                                           question->settings, &result, &err);
    return write_comparison(w, status, &err, result);
}

static int compare_traces(const struct pair_work *w, const struct pair_question *question,
                          uint32_t second)
{
    struct vrs_result *result = NULL;
    struct vrs_error err;
    enum vrs_status status =
        question->ask_traces(w->opened[0].trace, w->inputs->at[0].path, w->opened[second].trace,
                             w->inputs->at[second].path, question->settings, &result, &err);
    return write_comparison(w, status, &err, result);
}

static int compare_measurements(const struct pair_work *w, const struct pair_question *question,
                                uint32_t second)
{
    struct vrs_result *result = NULL;
    struct vrs_error err;
    enum vrs_status status = question->ask_measurements(
        w->opened[0].measurement, w->inputs->at[0].path, w->opened[second].measurement,
        w->inputs->at[second].path, question->settings, &result, &err);
    return write_comparison(w, status, &err, result);
}

static const char *kind_of(const struct vrs_comparable *opened)
{
    return opened->trace != NULL         ? "profiler trace"
           : opened->measurement != NULL ? "measurement"
                                         : "memory snapshot";
}

/* Which of two files of different kinds is named first: what was timed. */
static int refuse_kinds(const struct pair_work *w, const struct pair_question *question,
                        uint32_t second)
{
    uint32_t first = w->opened[0].file == NULL ? 0 : second;
    uint32_t other = first == 0 ? second : 0;
    bool is_for_diff = question->ask == NULL && w->opened[other].file != NULL;
    message("%s is a %s and %s is a %s, which cannot be compared; name two of one kind%s",
            w->inputs->at[first].path, kind_of(&w->opened[first]), w->inputs->at[other].path,
            kind_of(&w->opened[other]),
            is_for_diff ? "; vramscope diff compares two snapshots" : "");
    return EXIT_USAGE;
}

/* One file is compared with itself. */
static int compare(const struct pair_work *w, const struct pair_question *question)
{
    uint32_t second = w->inputs->count - 1;
    const struct vrs_comparable *a = &w->opened[0], *b = &w->opened[second];
    if ((a->trace != NULL) != (b->trace != NULL) || (a->file != NULL) != (b->file != NULL))
        return refuse_kinds(w, question, second);
    if (a->trace != NULL)
        return compare_traces(w, question, second);
    if (a->measurement != NULL)
        return compare_measurements(w, question, second);
    if (question->ask != NULL)
        return compare_recordings(w, question, second);
    message("%s is a memory snapshot: vramscope diff says what changed between two of them",
            w->inputs->at[0].path);
    return EXIT_USAGE;
}

static int read_and_compare(const struct common *common, const struct inputs *inputs,
                            const struct pair_question *question)
{
    struct pair_work w = { .common = common, .inputs = inputs };
    struct vrs_error err;
    int exit_status = EXIT_DONE;
    progress_start("reading");
    if (vrs_parallel(common->threads, inputs->count, open_file, file_done, &w, &err) != VRS_OK) {
        message_failure("reading", &err);
        exit_status = EXIT_FAILED;
    }
    progress_hide();
    for (uint32_t i = 0; i < inputs->count; i++)
        if (w.status[i] != VRS_OK) {
            message_failure(inputs->at[i].path, &w.error[i]);
            exit_status = failures_exit(exit_status, failure_exit(w.status[i]));
        }
    if (exit_status == EXIT_DONE)
        exit_status = compare(&w, question);
    for (uint32_t i = 0; i < inputs->count; i++)
        vrs_close_comparable(&w.opened[i]);
    return exit_status;
}

/* Before a folder is listed: nobody can tell which of its files is meant. */
static int check_folders(const struct pair_question *question, int count, char *const *files)
{
    for (int i = 0; question->folder_refused != NULL && i < count; i++) {
        if (strcmp(files[i], "-") == 0 || !input_is_folder(files[i]))
            continue;
        message("%s is a folder; %s", files[i], question->folder_refused);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

/* Whether the arguments are what can be compared. */
static int check(const struct command *command, const struct pair_question *question,
                 const struct inputs *inputs)
{
    if (inputs->count == 0 || inputs->count > 2) {
        bool in_folders = false;
        for (uint32_t i = 0; i < inputs->count; i++)
            in_folders = in_folders || inputs->at[i].found;
        message("%s compares two files, and %u are named%s", command->name,
                (unsigned)inputs->count, in_folders ? ", those in folders counted" : "");
        return EXIT_USAGE;
    }
    if (inputs->count == 1 && question->one_refused != NULL) {
        message("%s", question->one_refused);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

int answer_pair(const struct command *command, const struct pair_question *question, int count,
                char *const *files)
{
    const struct common *common = question->settings;
    if (count == 0) {
        message("%s needs two FILEs (vramscope help %s)", command->name, command->name);
        return EXIT_USAGE;
    }
    struct inputs inputs = { .count = 0 };
    int exit_status = check_folders(question, count, files);
    if (exit_status == EXIT_DONE)
        exit_status = inputs_find_pair(count, files, &inputs);
    if (exit_status == EXIT_DONE)
        exit_status = check(command, question, &inputs);
    if (exit_status == EXIT_DONE && answer_output_is_input("-o", common->output, &inputs))
        exit_status = EXIT_USAGE;
    if (exit_status == EXIT_DONE)
        exit_status = read_and_compare(common, &inputs, question);
    inputs_free(&inputs);
    return exit_status;
}
