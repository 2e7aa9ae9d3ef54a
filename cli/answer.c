/* answer.c - runs a verb over its inputs: reads each, asks, merges the answers, writes them. */
#define _POSIX_C_SOURCE 200809L
#include "answer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "help.h"
#include "inputs.h"
#include "message.h"
#include "output.h"
#include "terminal.h"
#include "terminal_lines.h"
#include "vramscope/measurement.h"
#include "vramscope/snapshot.h"
#include "vramscope/trace.h"

enum { ENTRIES_SHOWN = 5 };

/* What one file gave: a result for each of its entries, or the reason why none. */
struct answer {
    enum vrs_status status;
    struct vrs_error error;
    struct vrs_result **result; /* NULL where that entry failed */
    struct vrs_error *entry_error;
    char **entry_name; /* of those that failed; NULL where memory ran out as well */
    uint32_t count;
    bool is_trace; /* the file is a profiler trace, of which there is one result */
    bool is_timeline; /* or the memory timeline of one, likewise */
    struct vrs_result *unread; /* that stands for the file where it could not be read; or NULL */
};

struct work {
    const struct verb_question *question;
    const struct common *common;
    struct inputs inputs;
    struct answer *answer;
    struct vrs_result *run; /* of run.json; or NULL */
};

static bool read_progress(void *arg, uint64_t done, uint64_t total)
{
    (void)arg;
    progress_bytes(done, total);
    return true;
}

/* Room for the results of `count` entries; false where there is none, which `a` then says. */
static bool make_room(struct answer *a, uint32_t count)
{
    a->result = calloc(count, sizeof(*a->result));
    a->entry_error = calloc(count, sizeof(*a->entry_error));
    a->entry_name = calloc(count, sizeof(*a->entry_name));
    if (count > 0 && (a->result == NULL || a->entry_error == NULL || a->entry_name == NULL)) {
        a->status = VRS_NOMEM;
        a->error = (struct vrs_error){ VRS_NOMEM, UINT64_MAX, "out of memory" };
        return false;
    }
    a->count = count;
    return true;
}

static void ask_entries(struct work *w, const struct vrs_file *file, const char *path,
                        struct answer *a)
{
    uint32_t count = vrs_count(file);
    if (!make_room(a, count))
        return;
    for (uint32_t i = 0; i < count; i++) {
        const struct vrs_recording *recording = NULL;
        enum vrs_status status = vrs_recording(file, i, &recording, &a->entry_error[i]);
        if (status == VRS_OK)
            w->question->ask(recording, path, w->question->settings, &a->result[i],
                             &a->entry_error[i]);
        if (a->result[i] == NULL)
            a->entry_name[i] = strdup(vrs_entry_name(file, i));
    }
}

static enum vrs_replay_when replay_when(const char *word)
{
    if (word == NULL || strcmp(word, "auto") == 0)
        return VRS_REPLAY_AUTO;
    return strcmp(word, "always") == 0 ? VRS_REPLAY_ALWAYS : VRS_REPLAY_NEVER;
}

/* `limits` are to stay as long as the options. */
static struct vrs_open_options open_options(const struct common *common, bool alone,
                                            struct vrs_limits *limits)
{
    *limits = common->limits;
    limits->size = sizeof *limits;
    struct vrs_open_options options = { .size = sizeof options, .limits = limits };
    if (alone)
        options.progress = read_progress;
    options.threads = alone ? common->threads : 1;
    options.replay = replay_when(common->replay);
    return options;
}

enum vrs_status answer_open(const struct common *common, const char *path, bool alone,
                            struct vrs_file **ret, struct vrs_error *err)
{
    struct vrs_limits limits;
    struct vrs_open_options options = open_options(common, alone, &limits);
    return vrs_open(path, &options, ret, err);
}

enum vrs_status answer_open_any(const struct common *common, const char *path, bool alone,
                                struct vrs_file **ret_file, struct vrs_trace **ret_trace,
                                struct vrs_error *err)
{
    struct vrs_limits limits;
    struct vrs_open_options options = open_options(common, alone, &limits);
    return vrs_open_any(path, &options, ret_file, ret_trace, err);
}

enum vrs_status answer_open_comparable(const struct common *common, const char *path, bool alone,
                                       struct vrs_comparable *ret, struct vrs_error *err)
{
    struct vrs_limits limits;
    struct vrs_open_options options = open_options(common, alone, &limits);
    return vrs_open_comparable(path, &options, ret, err);
}

enum vrs_status answer_open_trace(const struct common *common, const char *path,
                                  struct vrs_trace **ret, struct vrs_error *err)
{
    struct vrs_limits limits;
    struct vrs_open_options options = open_options(common, true, &limits);
    return vrs_open_trace(path, &options, ret, err);
}

enum vrs_status answer_refuse_of_snapshots(const struct common *common,
                                           const struct snapshot_option *own,
                                           struct vrs_error *err)
{
    const char *option = own != NULL                ? own->name
                         : common->device != 0      ? "--device"
                         : common->replay != NULL   ? "--replay"
                         : common->user_root != NULL ? "--user-root"
                         : common->library != NULL  ? "--library"
                                                    : NULL;
    const char *instead = own != NULL ? own->instead : NULL;
    if (option == NULL)
        return VRS_OK;
    *err = (struct vrs_error){ VRS_USAGE, UINT64_MAX, "" };
    snprintf(err->message, sizeof err->message,
             "a profiler trace, and %s is of memory snapshots%s%s", option,
             instead != NULL ? ": " : "", instead != NULL ? instead : "");
    return VRS_USAGE;
}

static void ask_trace(struct work *w, const struct vrs_trace *trace, const char *path,
                      struct answer *a)
{
    if (!make_room(a, 1))
        return;
    a->is_trace = true;
    a->is_timeline = vrs_trace_is_timeline(trace);
    a->status =
        w->question->ask_trace(trace, path, w->question->settings, &a->result[0], &a->error);
    a->count = a->status == VRS_OK;
}

/* Opens and asks; `alone`: as in answer_open. */
static void ask_path(struct work *w, const char *path, bool alone, struct answer *a)
{
    struct vrs_file *file = NULL;
    struct vrs_trace *trace = NULL;
    if (w->question->ask_trace == NULL)
        a->status = answer_open(w->common, path, alone, &file, &a->error);
    else
        a->status = answer_open_any(w->common, path, alone, &file, &trace, &a->error);
    if (a->status == VRS_OK && trace != NULL)
        ask_trace(w, trace, path, a);
    else if (a->status == VRS_OK)
        ask_entries(w, file, path, a);
    vrs_close_trace(trace);
    vrs_close(file);
}

/* A job of vrs_parallel: touches nothing but its own answer. */
static void ask_file(void *arg, uint32_t i)
{
    struct work *w = arg;
    /* Of several files the files are counted, not the bytes. */
    ask_path(w, w->inputs.at[i].path, w->inputs.count == 1, &w->answer[i]);
}

/* What a file gave goes. */
static void forget_answer(struct answer *a)
{
    for (uint32_t k = 0; k < a->count; k++) {
        vrs_result_free(a->result[k]);
        free(a->entry_name[k]);
    }
    vrs_result_free(a->unread);
    free(a->result);
    free(a->entry_name);
    free(a->entry_error);
    *a = (struct answer){ .status = VRS_OK };
}

/* Did memory run out, which several at once may have had too little of? */
static bool lacked_memory(const struct answer *a)
{
    bool lacked = a->status == VRS_NOMEM;
    for (uint32_t k = 0; k < a->count; k++)
        lacked = lacked || (a->result[k] == NULL && a->entry_error[k].status == VRS_NOMEM);
    return lacked;
}

/* Once more, one after the other. */
static void ask_again(struct work *w)
{
    for (uint32_t i = 0; i < w->inputs.count; i++)
        if (lacked_memory(&w->answer[i])) {
            forget_answer(&w->answer[i]);
            ask_file(w, i);
        }
}

/* Those whose answers depend on what others have said. */
struct second_round {
    struct work *work;
    uint32_t *file, files;
};

static void ask_listed(void *arg, uint32_t i)
{
    struct second_round *round = arg;
    forget_answer(&round->work->answer[round->file[i]]);
    ask_file(round->work, round->file[i]);
}

static bool wants_again(const struct work *w, uint32_t i)
{
    const struct answer *a = &w->answer[i];
    const char *path = w->inputs.at[i].path;
    bool wanted = false;
    for (uint32_t k = 0; k < a->count && !a->is_trace; k++)
        wanted = wanted || (a->result[k] != NULL &&
                            w->question->again(w->question->settings, path, a->result[k]));
    return wanted && input_can_be_read_again(path);
}

static enum vrs_status ask_second(struct work *w, struct vrs_error *err)
{
    const struct verb_question *q = w->question;
    if (q->observe == NULL || w->inputs.count < 2)
        return VRS_OK;
    for (uint32_t i = 0; i < w->inputs.count; i++)
        for (uint32_t k = 0; k < w->answer[i].count && !w->answer[i].is_trace; k++)
            if (w->answer[i].result[k] != NULL)
                q->observe(q->settings, w->inputs.at[i].path, w->answer[i].result[k]);
    struct second_round round = { w, calloc(w->inputs.count, sizeof *round.file), 0 };
    if (round.file == NULL) {
        *err = (struct vrs_error){ VRS_NOMEM, UINT64_MAX, "out of memory" };
        return VRS_NOMEM;
    }
    for (uint32_t i = 0; i < w->inputs.count; i++)
        if (wants_again(w, i))
            round.file[round.files++] = i;
    enum vrs_status status =
        vrs_parallel(w->common->threads, round.files, ask_listed, NULL, &round, err);
    free(round.file);
    return status;
}

static void file_done(void *arg, uint32_t done)
{
    const struct work *w = arg;
    if (w->inputs.count > 1)
        progress_files(done, w->inputs.count);
}

/* What lies in a folder beside the recordings is no failure. */
static bool is_foreign(const struct input *input, const struct answer *a)
{
    return input->found && a->status == VRS_UNSUPPORTED;
}

/* Says which entries of a file failed; of many, the first.  False where none did. */
static bool say_entries(const char *path, const struct answer *a)
{
    uint32_t failed = 0;
    for (uint32_t k = 0; k < a->count; k++) {
        if (a->result[k] == NULL && failed++ < ENTRIES_SHOWN)
            message_entry_failure(path, a->entry_name[k], &a->entry_error[k]);
    }
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    if (failed > ENTRIES_SHOWN)
        message("%s: %u more of its entries failed", name, (unsigned)(failed - ENTRIES_SHOWN));
    return failed > 0;
}

/* Of two exit statuses the one to end with. */
static int worse(int a, int b)
{
    static const int order[] = { EXIT_USAGE, EXIT_FAILED, EXIT_NO, EXIT_UNDECIDED };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return EXIT_DONE;
}

/* Files of a folder that are no recordings are no part of the answer, unless they are to be. */
static bool tell_unread(const struct verb_question *q, const struct input *input, struct answer *a)
{
    struct vrs_error err;
    bool wanted =
        q->unread != NULL && a->status != VRS_USAGE && (q->strict || !is_foreign(input, a));
    if (!wanted)
        return false;
    if (q->unread(input->path, &a->error, &a->unread, &err) != VRS_OK)
        message_failure(input->path, &err);
    return a->unread != NULL;
}

/* Memory timelines have an answer of their own: beside other files they are as if they could not be
 * read. */
static void part_timelines(struct work *w)
{
    bool others = false;
    for (uint32_t i = 0; i < w->inputs.count; i++)
        others = others || (w->answer[i].count > 0 && !w->answer[i].is_timeline);
    for (uint32_t i = 0; others && i < w->inputs.count; i++) {
        struct answer *a = &w->answer[i];
        if (!a->is_timeline || a->status != VRS_OK)
            continue;
        vrs_result_free(a->result[0]);
        a->result[0] = NULL;
        a->count = 0;
        a->status = VRS_UNSUPPORTED;
        a->error = (struct vrs_error){ VRS_UNSUPPORTED, UINT64_MAX, ANSWER_TIMELINE_ALONE };
    }
}

/* What the files gave, in their order: snapshots and traces make two answers. */
struct gathered {
    const struct vrs_result **snapshot, **trace;
    uint32_t snapshots, traces;
};

static void gather_one(struct gathered *g, const struct answer *a, const struct vrs_result *result)
{
    if (a->is_trace)
        g->trace[g->traces++] = result;
    else
        g->snapshot[g->snapshots++] = result;
}

/* Says what failed, in the order of the files, and gathers what did not.  `*ret_usage`: all that
 * failed was asked for what it does not have. */
static int gather(const struct work *w, struct gathered *g, bool *ret_usage)
{
    bool other = false;
    int exit_status = EXIT_DONE;
    uint32_t answered = 0, foreign = 0;
    for (uint32_t i = 0; i < w->inputs.count; i++) {
        const struct input *input = &w->inputs.at[i];
        struct answer *a = &w->answer[i];
        if (a->status != VRS_OK) {
            message_failure(input->path, &a->error);
            if (is_foreign(input, a)) {
                foreign++;
            } else {
                exit_status = EXIT_FAILED;
                other = other || a->status != VRS_USAGE;
            }
            if (tell_unread(w->question, input, a))
                g->snapshot[g->snapshots++] = a->unread;
        }
        for (uint32_t k = 0; k < a->count; k++) {
            answered += a->result[k] != NULL && !a->is_trace;
            if (a->result[k] != NULL)
                gather_one(g, a, a->result[k]);
            else
                other = other || a->entry_error[k].status != VRS_USAGE;
        }
        if (say_entries(input->path, a))
            exit_status = EXIT_FAILED;
    }
    /* It may stand where a recording should be, as what git-lfs left does. */
    if (foreign > 0 && w->question->strict) {
        message("%u file%s of the folder cannot be checked, and --strict does not ignore that",
                (unsigned)foreign, foreign > 1 ? "s" : "");
        exit_status = worse(exit_status, EXIT_UNDECIDED);
        other = true;
    }
    /* What stands for files that were not read is of the kind of snapshots. */
    if (answered == 0 && (w->question->unread_beside || g->traces > 0))
        g->snapshots = 0;
    *ret_usage = exit_status != EXIT_DONE && !other;
    return exit_status;
}

/* Writes answers, each below the one before, and closes; `what` is what failed where it is not the
 * output. */
static int write_whole(struct output *output, const struct vrs_result *const *results,
                       uint32_t count, const struct vrs_write_options *options, const char *what)
{
    struct vrs_sink sink = { output_write, output };
    struct vrs_error err;
    enum vrs_status status = VRS_OK;
    for (uint32_t i = 0; i < count && status == VRS_OK; i++) {
        if (i > 0)
            output_write(output, "\n", 1);
        status = vrs_write(results[i], options, &sink, &err);
    }
    /* The output knows best why a write failed. */
    if (status != VRS_OK && output->error == 0) {
        message_failure(what, &err);
        output_close(output, false);
        return EXIT_FAILED;
    }
    return output_close(output, status == VRS_OK);
}

/* CSV on a terminal, whose text does not escape for itself as that of the other forms does. */
static int show_lines(const struct vrs_result *result, const struct vrs_write_options *options)
{
    struct terminal_lines lines = { NULL, 0, 0 };
    struct vrs_sink sink = { terminal_lines_write, &lines };
    struct vrs_error err;
    enum vrs_status status = vrs_write(result, options, &sink, &err);
    int shown = terminal_lines_end(&lines);
    if (status != VRS_OK && shown == EXIT_DONE)
        message_failure("writing", &err);
    return status == VRS_OK ? shown : EXIT_FAILED;
}

static void say_note(void *arg, const char *text)
{
    (void)arg;
    message("warning: %s", text);
}

/* What was written well may still say no. */
static int judged(int written, const struct vrs_result *const *results, uint32_t count)
{
    for (uint32_t i = 0; i < count && written != EXIT_FAILED; i++) {
        enum vrs_verdict verdict = vrs_verdict(results[i]);
        written = worse(written, verdict == VRS_NO          ? EXIT_NO
                                 : verdict == VRS_UNDECIDED ? EXIT_UNDECIDED
                                                            : EXIT_DONE);
    }
    return written;
}

int answer_write(const struct common *common, struct vrs_write_options options,
                 const struct vrs_result *result)
{
    return answer_write_all(common, options, &result, 1);
}

int answer_write_all(const struct common *common, struct vrs_write_options options,
                     const struct vrs_result *const *results, uint32_t count)
{
    struct output output;
    if (output_open(&output, "-o", common->output) != EXIT_DONE)
        return EXIT_FAILED;
    bool to_terminal = output.name == NULL && terminal_is(STDOUT_FILENO);
    options.size = sizeof options;
    if (common->json)
        options.format = VRS_JSON;
    else if (common->csv)
        options.format = VRS_CSV;
    options.note = say_note;
    options.width = terminal_width(output.fd);
    options.colour = terminal_colour(common->colour, output.fd);
    options.ascii = common->ascii || !terminal_utf8();
    options.rows = common->rows;
    options.stacks = common->stacks;
    options.all_frames = common->all_frames;
    options.all_ranks = common->all_ranks;
    options.device = common->device;
    /* A set COLUMNS asks for it, as well as a terminal. */
    bool drawn = to_terminal || getenv("COLUMNS") != NULL;
    options.picture = options.picture && drawn && options.width >= 60;
    if (to_terminal && options.format == VRS_CSV)
        return judged(show_lines(results[0], &options), results, count);
    return judged(write_whole(&output, results, count, &options, "writing"), results, count);
}

static int write_snapshot(const struct work *w, const struct vrs_result *result)
{
    struct output output;
    if (w->question->snapshot == NULL)
        return EXIT_DONE;
    if (output_open(&output, "--write", w->question->snapshot) != EXIT_DONE)
        return EXIT_FAILED;
    struct vrs_write_options options = { .size = sizeof options, .format = VRS_SNAPSHOT };
    return write_whole(&output, &result, 1, &options, "--write");
}

static int write_answers(const struct work *w, const struct vrs_result *const *results,
                         uint32_t count)
{
    int written = answer_write_all(w->common, w->question->write, results, count);
    if (written != EXIT_UNDECIDED || w->question->strict)
        return written;
    message("warning: not everything could be decided; with --strict that is exit status %d",
            EXIT_UNDECIDED);
    return EXIT_DONE;
}

/* A document is about files of one kind; text has a part for each. */
static int refuse_both(const struct work *w)
{
    bool is_text = !w->common->json && !w->common->csv && w->question->write.format == VRS_TEXT;
    if (is_text)
        return EXIT_DONE;
    message("the files are memory snapshots and profiler traces, which have documents of their "
            "own; name files of one kind, or leave the format out");
    return EXIT_USAGE;
}

/* Several results become one; `*ret_joined` is to be freed. */
static int join(const struct vrs_result *const *results, uint32_t count, bool is_one,
                const struct vrs_result **ret, struct vrs_result **ret_joined)
{
    struct vrs_error err;
    if (is_one) {
        *ret = results[0];
        return EXIT_DONE;
    }
    if (vrs_merge(results, count, ret_joined, &err) == VRS_OK) {
        *ret = *ret_joined;
        return EXIT_DONE;
    }
    if (err.status == VRS_USAGE)
        message("%s", err.message);
    else
        message_failure("joining", &err);
    return failure_exit(err.status);
}

/* One file of one entry is answered as such; a page of several is like several files, however many
 * of them could be read. */
static int write_gathered(struct work *w, const struct gathered *g)
{
    const bool is_one =
        g->snapshots + g->traces == 1 && !w->inputs.several && w->answer[0].count == 1;
    const struct vrs_result *written[2];
    struct vrs_result *joined[2] = { NULL, NULL };
    uint32_t count = 0;
    if (!is_one && w->question->snapshot != NULL) {
        message("%s holds several recordings, and --write takes one", w->inputs.at[0].path);
        return EXIT_USAGE;
    }
    int ended = g->snapshots > 0 && g->traces > 0 ? refuse_both(w) : EXIT_DONE;
    if (ended == EXIT_DONE && g->snapshots > 0)
        ended = join(g->snapshot, g->snapshots, is_one, &written[count++], &joined[0]);
    if (ended == EXIT_DONE && g->traces > 0)
        ended = join(g->trace, g->traces, is_one, &written[count++], &joined[1]);
    if (ended == EXIT_DONE) {
        ended = write_answers(w, written, count);
        int kept = is_one ? write_snapshot(w, written[0]) : EXIT_DONE;
        ended = ended != EXIT_DONE ? ended : kept;
    }
    for (uint32_t i = 0; i < 2; i++)
        vrs_result_free(joined[i]);
    return ended;
}

/* One more result behind the others. */
static void add_run(struct work *w, struct gathered *g)
{
    struct vrs_error err;
    if (w->question->run == NULL || w->inputs.run == NULL || g->snapshots == 0)
        return;
    if (w->question->run(w->inputs.run, &w->run, &err) == VRS_OK)
        g->snapshot[g->snapshots++] = w->run;
    else
        message("warning: %s: %s; ranks without a snapshot are not named", w->inputs.run,
                err.message);
}

static int ask_all(struct work *w)
{
    w->answer = calloc(w->inputs.count, sizeof *w->answer);
    struct vrs_error err = { VRS_NOMEM, UINT64_MAX, "out of memory" };
    progress_start("reading");
    if (w->answer == NULL ||
        vrs_parallel(w->common->threads, w->inputs.count, ask_file, file_done, w, &err) != VRS_OK ||
        ask_second(w, &err) != VRS_OK) {
        message_failure("reading", &err);
        return EXIT_FAILED;
    }
    if (w->common->threads != 1 && w->inputs.count > 1)
        ask_again(w);
    progress_hide();
    part_timelines(w);
    uint32_t room = 0;
    for (uint32_t i = 0; i < w->inputs.count; i++)
        room += w->answer[i].count + (w->answer[i].status != VRS_OK);
    const struct vrs_result **results = calloc(2 * (room + 2u), sizeof(*results));
    if (results == NULL) {
        message("out of memory");
        return EXIT_FAILED;
    }
    struct gathered g = { results, results + room + 2u, 0, 0 };
    bool usage = false;
    int exit_status = gather(w, &g, &usage);
    if (g.snapshots + g.traces == 0) {
        if (exit_status == EXIT_DONE)
            message("none of the files is a recording");
        exit_status = usage ? EXIT_USAGE : EXIT_FAILED;
    } else {
        add_run(w, &g);
        exit_status = worse(write_gathered(w, &g), exit_status);
    }
    free(results);
    return exit_status;
}

static void forget(struct work *w)
{
    for (uint32_t i = 0; w->answer != NULL && i < w->inputs.count; i++)
        forget_answer(&w->answer[i]);
    free(w->answer);
    vrs_result_free(w->run);
    inputs_free(&w->inputs);
}

bool answer_output_is_input(const char *option, const char *output, const struct inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->count; i++)
        if (output_replaces(option, output, inputs->at[i].path))
            return true;
    return false;
}

/* Whether the outputs leave the inputs, and one another, alone. */
static bool outputs_are_apart(const struct work *w)
{
    const char *output = w->common->output, *snapshot = w->question->snapshot;
    if (answer_output_is_input("-o", output, &w->inputs))
        return false;
    if (snapshot == NULL)
        return true;
    if (w->inputs.several) {
        message("--write takes one recording; name one file");
        return false;
    }
    bool both = output_is_stream(snapshot) && output_is_stream(output);
    if (both || (!output_is_stream(output) &&
                 (strcmp(snapshot, output) == 0 || output_is_file(output, snapshot)))) {
        message("--write %s is where the answer goes; name another file%s", snapshot,
                both ? ", or one with -o" : "");
        return false;
    }
    return !answer_output_is_input("--write", snapshot, &w->inputs);
}

int answer_files(const struct command *command, const struct verb_question *question, int count,
                 char *const *files)
{
    struct vrs_error err;
    if (question->check != NULL && question->check(question->settings, &err) != VRS_OK) {
        message("%s", err.message);
        return EXIT_USAGE;
    }
    if (count == 0) {
        message("%s needs a FILE, a folder, or - for standard input (vramscope help %s)",
                command->name, command->name);
        return EXIT_USAGE;
    }
    struct work w = { .question = question, .common = question->settings };
    int found = inputs_find(count, files, &w.inputs);
    int exit_status = found;
    inputs_sort(&w.inputs);
    if (!outputs_are_apart(&w)) {
        forget(&w);
        return EXIT_USAGE;
    }
    if (found != EXIT_USAGE && question->check_inputs != NULL) {
        int wrong = question->check_inputs(&w.inputs, question->settings);
        if (wrong != EXIT_DONE) {
            forget(&w);
            return wrong;
        }
    }
    if (question->ret_several != NULL)
        *question->ret_several = w.inputs.several;
    if (found != EXIT_USAGE && w.inputs.count > 0) {
        exit_status = worse(ask_all(&w), found);
    }
    forget(&w);
    return exit_status;
}

int answer_run(const struct command *command, const struct verb_question *question, int argc,
               char **argv)
{
    int files = 0, ended = EXIT_DONE;
    if (!verb_begins(command, argc, argv, question->settings, &files, &ended))
        return ended;
    return answer_files(command, question, files, argv);
}
