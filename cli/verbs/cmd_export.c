/* cmd_export.c - vramscope export. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answer.h"
#include "command.h"
#include "help.h"
#include "inputs.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "terminal.h"
#include "terminal_lines.h"
#include "text_file.h"
#include "vramscope/snapshot.h"
#include "vramscope/trace.h"

struct export_settings {
    struct common common;
    const char *to, *at, *weight, *rules;
    char *rules_text;
    struct option_list table;
    bool inverse;
    uint32_t entry; /* of a page, from 1; 0: the only one */
};

#define IN(member) offsetof(struct export_settings, member)

static const struct option_spec options[] = {
    { 0, "to", "FORMAT",
      "csv, folded, speedscope, pprof, sqlite or perfetto; of a recording also json, of a trace "
      "also html and chrome",
      OPTION_CHOICE, IN(to), "csv json folded speedscope pprof sqlite perfetto html chrome" },
    { 't', "table", "TABLE",
      "with csv one, with json any of: devices, allocations (default), events, curves, segments, "
      "blocks, sites, stacks, frames, marks, settings, or all of them; may be repeated.  Of a "
      "trace one of: threads, spans, flows, memory, steps, operators (default), kernels, copies, "
      "calls, paths, ranges; of a memory timeline: timeline",
      OPTION_LIST, IN(table),
      "devices allocations events curves segments blocks sites stacks frames marks settings all "
      "threads spans flows memory steps operators kernels copies calls paths ranges timeline" },
    { 0, "at", "MOMENT",
      "with folded, speedscope, pprof and perfetto: an event's number, start, end, peak (default), "
      "oom or "
      "oom:K (the K-th), or seconds after the first event as 12.5s",
      OPTION_TEXT, IN(at), "start end peak oom" },
    { 0, "weight", "UNIT",
      "with folded: weigh stacks by bytes (default) or count, of allocations.  Of a trace, with "
      "folded, speedscope, pprof and html: by host (the default: time on the host), device (time "
      "of device work), bytes (allocated) or calls",
      OPTION_CHOICE, IN(weight), "bytes count host device calls" },
    { 0, "inverse", NULL, "with folded and html: begin with the innermost frame", OPTION_FLAG,
      IN(inverse), NULL },
    { 0, "rules", "FILE",
      "with allocations, sqlite, pprof and perfetto: apply the category rules of FILE before the "
      "built-in ones",
      OPTION_PATH, IN(rules), NULL },
    { 0, "entry", "NUMBER", "which recording of a page that holds several, from 1", OPTION_COUNT,
      IN(entry), NULL },
    { 0 },
};

/* One recording is read and nothing is drawn, so these are fewer than other verbs have. */
static const struct option_spec file_options[] = {
    { 0, "device", "NUMBER", "only this device", OPTION_DEVICE, IN(common.device), NULL },
    { 0, "user-root", "FOLDER", "frames under FOLDER are your own code, wherever it lies",
      OPTION_PATH, IN(common.user_root), NULL },
    { 0, "library", "GLOB", "frames whose path matches GLOB are not your own code", OPTION_TEXT,
      IN(common.library), NULL },
    { 0, "threads", "COUNT",
      "use at most COUNT threads (default: the number of processors; at most 64)", OPTION_THREADS,
      IN(common.threads), NULL },
    { 0, "limit", "NAME=VALUE",
      "raise a limit on what a file may contain: nesting, string, strings, items, unpacked, frames",
      OPTION_LIMIT, IN(common.limits), "nesting= string= strings= items= unpacked= frames=" },
    { 'o', "output", "FILE", "write to FILE, which appears only when it is whole", OPTION_PATH,
      IN(common.output), NULL },
    { 'h', "help", NULL, "print a summary of these options", OPTION_FLAG, IN(common.help), NULL },
    { 0 },
};

static void say_note(void *arg, const char *text)
{
    (void)arg;
    message("warning: %s", text);
}

static struct vrs_export_options options_of(const struct export_settings *s, const char *path)
{
    return (struct vrs_export_options){
        .size = sizeof(struct vrs_export_options),
        .about = { path, s->common.user_root, s->common.library, { s->common.device } },
        .to = s->to,
        .table = s->table.at,
        .tables = s->table.count,
        .at = s->at,
        .weight = s->weight,
        .inverse = s->inverse,
        .rules = s->rules_text,
        .rules_name = s->rules,
        .note = say_note,
    };
}

static struct vrs_trace_export_options trace_options_of(const struct export_settings *s,
                                                        const char *path)
{
    return (struct vrs_trace_export_options){
        .size = sizeof(struct vrs_trace_export_options),
        .path = path,
        .to = s->to,
        .table = s->table.count > 0 ? s->table.at[0] : NULL,
        .weight = s->weight,
        .inverse = s->inverse,
        .note = say_note,
    };
}

/* What was read: one of the two. */
struct subject {
    const struct vrs_recording *recording;
    const struct vrs_trace *trace;
};

static enum vrs_status export_to(const struct export_settings *s, struct subject subject,
                                 const char *path, const char *database,
                                 const struct vrs_sink *sink, struct vrs_error *err)
{
    if (subject.trace != NULL) {
        struct vrs_trace_export_options o = trace_options_of(s, path);
        o.database = database;
        return vrs_trace_export(subject.trace, &o, sink, err);
    }
    struct vrs_export_options o = options_of(s, path);
    o.database = database;
    return vrs_export(subject.recording, &o, sink, err);
}

static int failed(const char *name, const struct vrs_error *err)
{
    message_failure(name, err);
    return failure_exit(err->status);
}

static bool to_terminal(const struct export_settings *s)
{
    return output_is_stream(s->common.output) && terminal_is(STDOUT_FILENO);
}

/* An option that means nothing for a trace, where one is given: it is no silent no-op. */
static const char *option_of_snapshots(const struct export_settings *s)
{
    const struct {
        bool given;
        const char *option;
    } others[] = {
        { s->at != NULL, "--at" },
        { s->rules != NULL, "--rules" },
        { s->entry != 0, "--entry" },
        { s->common.device != 0, "--device" },
        { s->common.user_root != NULL, "--user-root" },
        { s->common.library != NULL, "--library" },
        { s->common.replay != NULL, "--replay" },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given)
            return others[i].option;
    return NULL;
}

/* Of words that make sense of neither kind of file: what is wrong with them for this one, where it
 * can be looked at; else for recordings, and for traces too where they may be meant. */
static int refuse_words(const struct export_settings *s, const char *path,
                        const struct vrs_error *of_recording, const struct vrs_error *of_trace)
{
    bool is_trace = path != NULL && input_can_be_read_again(path) && vrs_is_trace(path);
    const char *other = option_of_snapshots(s);
    if (is_trace && of_trace->status == VRS_OK) {
        message("%s is for memory snapshots, and %s is a profiler trace", other, path);
        return EXIT_USAGE;
    }
    bool has_name_of_traces = strcmp(s->to, "chrome") == 0 || strcmp(s->to, "html") == 0;
    bool is_of_traces = has_name_of_traces && of_trace->status != VRS_OK;
    if (has_name_of_traces && !is_of_traces) {
        message("%s is for memory snapshots, and %s a format of profiler traces", other, s->to);
        return EXIT_USAGE;
    }
    bool is_unknown = path != NULL && output_is_stream(path) && of_trace->status != VRS_OK;
    const struct vrs_error *why = is_trace || is_of_traces ? of_trace : of_recording;
    message("%s", why->message);
    if (is_unknown && !is_of_traces && strcmp(of_trace->message, of_recording->message) != 0)
        message("%s", of_trace->message);
    return failure_exit(why->status);
}

/* Whether the words make sense, of a recording or of a trace; `path` is NULL where not one file is
 * named. */
static int check_words(const struct export_settings *s, const char *path)
{
    struct vrs_export_options words = options_of(s, NULL);
    struct vrs_trace_export_options trace_words = trace_options_of(s, NULL);
    struct vrs_error err, trace_err = { .status = VRS_OK };
    if (vrs_export_check(&words, &err) == VRS_OK)
        return EXIT_DONE;
    if (vrs_trace_export_check(&trace_words, &trace_err) == VRS_OK &&
        option_of_snapshots(s) == NULL)
        return EXIT_DONE;
    return refuse_words(s, path, &err, &trace_err);
}

/* What SQLite keeps beside a database that is open, or was not closed, it would apply to the one
 * that is written in its place. */
static bool has_journal(const char *database)
{
    static const char *const ends[] = { "-wal", "-journal" };
    char path[PATH_MAX];
    struct stat there;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int len = snprintf(path, sizeof path, "%s%s", database, ends[i]);
        if (len < 0 || (size_t)len >= sizeof path || stat(path, &there) != 0 || there.st_size == 0)
            continue;
        message("-o %s: %s is of a database there that is open or was not closed, and would be "
                "taken for a part of the new one; remove it, or name another file",
                database, path);
        return true;
    }
    return false;
}

/* The words alone, before anything is read. */
static int check(const struct export_settings *s, int files, char *const *argv)
{
    if (s->to == NULL) {
        message("export needs --to FORMAT (vramscope help export)");
        return EXIT_USAGE;
    }
    int words = check_words(s, files == 1 ? argv[0] : NULL);
    if (words != EXIT_DONE)
        return words;
    if (files != 1) {
        message("export takes one FILE, or - for standard input (vramscope help export)");
        return EXIT_USAGE;
    }
    if (!input_is_named(argv[0]))
        return EXIT_USAGE;
    if (!output_is_stream(argv[0]) && input_is_folder(argv[0])) {
        message("%s is a folder; export takes one FILE of it at a time", argv[0]);
        return EXIT_USAGE;
    }
    bool is_page = strcmp(s->to, "html") == 0;
    if ((vrs_export_is_binary(s->to) || is_page) && to_terminal(s)) {
        message("%s is not for a terminal; name a file with -o", s->to);
        return EXIT_USAGE;
    }
    if (strcmp(s->to, "sqlite") == 0 && !output_is_stream(s->common.output) &&
        has_journal(s->common.output))
        return EXIT_USAGE;
    return output_replaces("-o", s->common.output, argv[0]) ? EXIT_USAGE : EXIT_DONE;
}

/* A table as text; the other forms of text escape for themselves. */
static int show(const struct export_settings *s, struct subject subject, const char *path)
{
    struct terminal_lines lines = { NULL, 0, 0 };
    struct vrs_sink sink = { terminal_lines_write, &lines };
    struct vrs_error err;
    enum vrs_status status = export_to(s, subject, path, NULL, &sink, &err);
    int shown = terminal_lines_end(&lines);
    if (shown != EXIT_DONE)
        return shown;
    return status == VRS_OK ? EXIT_DONE : failed(path, &err);
}

static int write_out(const struct export_settings *s, struct subject subject, const char *path)
{
    if (to_terminal(s) && strcmp(s->to, "csv") == 0)
        return show(s, subject, path);
    struct vrs_error err;
    struct output output;
    if (output_open(&output, "-o", s->common.output) != EXIT_DONE)
        return EXIT_FAILED;
    struct vrs_sink sink = { output_write, &output };
    bool file = strcmp(s->to, "sqlite") == 0;
    const char *database = file ? output_gathers(&output) : NULL;
    if (file && database == NULL) {
        const char *given = output.name;
        output_close(&output, false);
        if (given == NULL)
            message("sqlite is written to a file of its own; name one with -o");
        else
            message("-o %s: a database cannot be written to what is no file; name one that is new "
                    "or may be replaced, such as run.sqlite",
                    given);
        return EXIT_USAGE;
    }
    enum vrs_status status = export_to(s, subject, path, database, &sink, &err);
    int ended = EXIT_DONE;
    if (file && status == VRS_IO) {
        /* The recording is read already: it is what SQLite writes. */
        message("-o %s: %s; nothing was left behind", output.name, err.message);
        ended = EXIT_FAILED;
    } else if (status != VRS_OK && output.error == 0) {
        /* The output knows best why a write failed. */
        ended = failed(path, &err);
    }
    int closed = output_close(&output, status == VRS_OK);
    return ended != EXIT_DONE ? ended : closed;
}

static int export_file(const struct export_settings *s, const struct vrs_file *file,
                       const char *path)
{
    uint32_t count = vrs_count(file), entry = s->entry == 0 ? 1 : s->entry;
    const struct vrs_recording *recording = NULL;
    struct vrs_error err;
    if (count > 1 && s->entry == 0) {
        message("%s holds %u recordings; choose one with --entry", path, (unsigned)count);
        return EXIT_USAGE;
    }
    if (entry > count) {
        message("%s has no entry %u: it holds %u", path, (unsigned)entry, (unsigned)count);
        return EXIT_USAGE;
    }
    if (vrs_recording(file, entry - 1, &recording, &err) != VRS_OK) {
        message_entry_failure(path, vrs_entry_name(file, entry - 1), &err);
        return EXIT_FAILED;
    }
    return write_out(s, (struct subject){ .recording = recording }, path);
}

static int export_trace(const struct export_settings *s, const struct vrs_trace *trace,
                        const char *path)
{
    const char *other = option_of_snapshots(s);
    if (other != NULL) {
        message("%s is for memory snapshots, and %s is a profiler trace", other, path);
        return EXIT_USAGE;
    }
    if (s->table.count > 1) {
        message("csv holds one table, and %u are named", (unsigned)s->table.count);
        return EXIT_USAGE;
    }
    return write_out(s, (struct subject){ .trace = trace }, path);
}

/* Of words that are only of traces, for a file that is none, or cannot be read: `err`. */
static int refuse_file(const struct export_settings *s, const char *path, bool is_snapshot,
                       const struct vrs_error *of_words, const struct vrs_error *err)
{
    struct vrs_trace *trace = NULL;
    struct vrs_error of_trace;
    if (is_snapshot) {
        message("%s is no profiler trace, and of memory snapshots: %s", path, of_words->message);
        return EXIT_USAGE;
    }
    /* Why it is no trace tells more than why it is no snapshot. */
    bool is_told = input_can_be_read_again(path) &&
                   answer_open_trace(&s->common, path, &trace, &of_trace) != VRS_OK;
    vrs_close_trace(trace);
    return failed(path, is_told ? &of_trace : err);
}

static int read_and_write(const struct export_settings *s, char *const *argv)
{
    struct vrs_file *file = NULL;
    struct vrs_trace *trace = NULL;
    struct vrs_error err, of_words;
    struct vrs_export_options words = options_of(s, NULL);
    bool is_of_traces = vrs_export_check(&words, &of_words) != VRS_OK;
    progress_start("reading");
    enum vrs_status status = answer_open_any(&s->common, argv[0], true, &file, &trace, &err);
    progress_hide();
    int ended;
    if (trace != NULL)
        ended = export_trace(s, trace, argv[0]);
    else if (is_of_traces && status != VRS_IO)
        ended = refuse_file(s, argv[0], file != NULL, &of_words, &err);
    else
        ended = status != VRS_OK ? failed(argv[0], &err) : export_file(s, file, argv[0]);
    vrs_close_trace(trace);
    vrs_close(file);
    return ended;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct export_settings settings = { 0 };
    int files = 0, ended = EXIT_DONE;
    if (!verb_begins(self, argc, argv, &settings, &files, &ended))
        return ended;
    if (settings.rules != NULL &&
        text_file_read("--rules", settings.rules, &settings.rules_text) != EXIT_DONE)
        return EXIT_USAGE;
    ended = check(&settings, files, argv);
    if (ended == EXIT_DONE)
        ended = read_and_write(&settings, argv);
    free(settings.rules_text);
    return ended;
}

const struct command cmd_export = {
    .name = "export",
    .summary = "a recording or a trace in the formats of other tools",
    .synopsis = "--to FORMAT [options] FILE",
    .about = "csv and json have tables, sqlite has all of them; folded, speedscope and pprof\n"
             "have what was alive at a moment, by stack; perfetto has curves over time.\n"
             "Of a profiler trace folded, speedscope and pprof have its call tree, html is a page\n"
             "with its flame graph, and chrome, which perfetto reads, has what was read of it.\n"
             "Of a memory timeline of torch.profiler there is csv, its curve by category.\n"
             "Exit status: 0 done, 2 usage, 3 a file or the system failed, 130 interrupted.\n",
    .examples = "vramscope export run.pickle --to csv -t events # the trace as a table\n"
                "vramscope export run.pickle --to folded # lines for flamegraph.pl\n"
                "vramscope export run.pickle --to pprof -o p.gz # for pprof -http=: p.gz\n"
                "vramscope export run.pickle --to sqlite -o r.db # ask with SQL\n"
                "vramscope export run.pt.trace.json.gz --to folded # where the time went\n"
                "vramscope export run.pt.trace.json.gz --to html -o f.html # flame graph\n",
    .options = { options, replay_options, file_options },
    .run = run,
};
