/* cmd_doctor.c - vramscope doctor.
 *
 * Everything is a row: what was looked at, what it is, why, and the cure where it is missing.  Text
 * and JSON are the same rows.  What terminal.h decides is asked there; only the reason is found
 * here. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"
#include "help.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "terminal.h"
#include "view.h"
#include "vramscope/snapshot.h"

enum { EXIT_MISSING = 1, ROWS_MOST = 13 };

struct row {
    const char *name;
    bool ok, needed; /* needed: reading fails without it */
    char value[40];
    char why[sizeof(((struct vrs_error *)NULL)->message) + 40];
    const char *cure; /* NULL where it is ok */
};

struct rows {
    struct row at[ROWS_MOST];
    size_t count;
    const struct common *common;
    int fd; /* of the output, whose terminal is meant */
};

/* One recording in each form: a device with one event.  All are made of the JSON: the pickle is
 * pickle.dumps(json.loads(...), 4), the page has that in base64, the packed ones are what gzip -9n
 * and zstd -19 make of the text. */
enum { SAMPLE_EVENT_BYTES = 1536 };

static const char json[] = "{\"segments\": [], \"device_traces\": [[{\"action\": \"alloc\", "
                           "\"addr\": 4096, \"size\": 1536, \"stream\": 0}]]}";

static const char pickle[] =
    "\200\004\225\\\0\0\0\0\0\0\0}\224(\214\010segments\224]\224\214\015device_traces\224]\224]"
    "\224}\224(\214\006action\224\214\005alloc\224\214\004addr\224M\0\020\214\004size\224M\0"
    "\006\214\006stream\224K\0uaau.";

static const char html[] =
    "<!DOCTYPE html><script>const local_files = [{\"name\": \"sample\", \"base64\": \"gASVXAAAA"
    "AAAAAB9lCiMCHNlZ21lbnRzlF2UjA1kZXZpY2VfdHJhY2VzlF2UXZR9lCiMBmFjdGlvbpSMBWFsbG9jlIwEYWRkcpR"
    "NABCMBHNpemWUTQAGjAZzdHJlYW2USwB1YWF1Lg==\"}]</script>";

static const char gzip[] =
    "\037\213\010\0\0\0\0\0\002\003\035\312\313\012\200 \020@\321_\221Y\2670z@\375\212H\014:"
    "\204\340\003th\221\364\357\015.\317\345vht'\312\334\340T\306N\012<=\301\321\305\025\035"
    "\215h:\240\343P\262\0000\306\342@6\364\276JX\365\261\213ZxI4o\313\020W\302$\326\237\265"
    "\337\017\257\020\007\341c\0\0\0";

static const char zstd[] =
    "(\265/\375\004h\245\002\0\222E\022\021\220}\350#\202 K|\377\247\371dILw\307\020}\255.@z"
    "\332\340\315\304\014\220\036n\211\037\204\203D\001\351\357{\355Axg\347l\017\322W+\263k\317"
    "\025t\355f\006\235\324\360=\010K\201\3648WH#\304\317\003\002\0\216)E\274f\0366\321\245\\";

static const struct form {
    const char *name, *bytes;
    size_t len;
} forms[] = {
    { "pickle", pickle, sizeof pickle - 1 }, { "json", json, sizeof json - 1 },
    { "html", html, sizeof html - 1 },       { "gzip", gzip, sizeof gzip - 1 },
    { "zstd", zstd, sizeof zstd - 1 },
};

static const char *const recipe[] = {
    "import torch",
    "torch.cuda.memory._record_memory_history(max_entries=100000)",
    "...  # what you want to look at",
    "torch.cuda.memory._dump_snapshot(\"run.pickle\")",
    "torch.cuda.memory._record_memory_history(enabled=None)",
};

/* At the failure itself: a dump after the stack is unwound shows a program that has room. */
static const char *const oom_recipe[] = {
    "def write_snapshot(device, alloc, device_alloc, device_free):",
    "    torch.cuda.memory._dump_snapshot(\"oom.pickle\")",
    "",
    "torch.cuda.memory._record_memory_history(max_entries=100000)",
    "torch._C._cuda_attach_out_of_memory_observer(write_snapshot)",
};

static const char oom_advice[] =
    "Written later, when the error was caught and the stack unwound, the final state\n"
    "is that of a program which has room. docs/recording.md says more.\n";

static const char advice[] =
    "max_entries keeps the newest events of each device. By default it has no bound,\n"
    "and the host's memory fills for as long as the program runs.\n";

static struct row *add(struct rows *rows, const char *name)
{
    struct row *row = &rows->at[rows->count++];
    *row = (struct row){ .name = name, .ok = true };
    return row;
}

/* `value` and `why` of a row; a cure makes it a missing one. */
static void say(struct row *row, const char *value, const char *why, const char *cure)
{
    snprintf(row->value, sizeof row->value, "%s", value);
    snprintf(row->why, sizeof row->why, "%s", why);
    row->cure = cure;
    row->ok = cure == NULL;
}

static void look_at_version(struct rows *rows)
{
    struct row *row = add(rows, "version");
    row->needed = true;
    if (strcmp(vrs_version(), VRAMSCOPE_VERSION) == 0) {
        say(row, VRAMSCOPE_VERSION, "program and library agree", NULL);
        return;
    }
    char why[80];
    snprintf(why, sizeof why, "the library is %s", vrs_version());
    say(row, VRAMSCOPE_VERSION, why, "install both from one build");
}

/* The size of the one event of a sample; 0 where the recording has another number of events. */
static enum vrs_status read_sample(const struct form *form, uint64_t *ret, struct vrs_error *err)
{
    struct vrs_file *file = NULL;
    const struct vrs_recording *recording = NULL;
    struct vrs_span sizes = { 0 };
    enum vrs_status status = vrs_open_bytes(form->bytes, form->len, form->name, NULL, &file, err);
    if (status == VRS_OK)
        status = vrs_recording(file, 0, &recording, err);
    if (status == VRS_OK)
        status = vrs_column(recording, "events.size", &sizes, err);
    if (status == VRS_OK)
        *ret = sizes.count == 1 && sizes.type == VRS_U64 ? *(const uint64_t *)sizes.data : 0;
    vrs_close(file);
    return status;
}

static void look_at_form(struct rows *rows, const struct form *form)
{
    static const char cure[] = "build vramscope again, and run make test";
    struct row *row = add(rows, form->name);
    row->needed = true;
    uint64_t size = 0;
    struct vrs_error err;
    char why[sizeof row->why];
    if (read_sample(form, &size, &err) != VRS_OK) {
        if (err.offset == UINT64_MAX)
            snprintf(why, sizeof why, "%s", err.message);
        else
            snprintf(why, sizeof why, "byte %" PRIu64 ": %s", err.offset, err.message);
        say(row, "not read", why, cure);
    } else if (size != SAMPLE_EVENT_BYTES) {
        snprintf(why, sizeof why, "an event of %d bytes came out as %" PRIu64, SAMPLE_EVENT_BYTES,
                 size);
        say(row, "misread", why, cure);
    } else {
        snprintf(why, sizeof why, "a sample of %zu bytes was read correctly", form->len);
        say(row, "read", why, NULL);
    }
}

static void look_at_width(struct rows *rows)
{
    const char *columns = getenv("COLUMNS"), *why = "neither COLUMNS nor a terminal gives one";
    char *end = NULL;
    struct winsize size = { 0 };
    if (columns != NULL && strtol(columns, &end, 10) > 0 && *end == '\0')
        why = "COLUMNS says so";
    else if (ioctl(rows->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        why = "the terminal says so";
    char value[16];
    snprintf(value, sizeof value, "%" PRIu32, terminal_width(rows->fd));
    say(add(rows, "width"), value, why, NULL);
}

static void look_at_colour(struct rows *rows)
{
    const char *when = rows->common->colour, *no_color = getenv("NO_COLOR");
    bool on = terminal_colour(when, rows->fd);
    const char *why = on ? "the output is a terminal" : "TERM is dumb";
    if (when != NULL && strcmp(when, "auto") != 0)
        why = on ? "--color=always" : "--color=never";
    else if (!terminal_is(rows->fd))
        why = "the output is not a terminal";
    else if (no_color != NULL && no_color[0] != '\0')
        why = "NO_COLOR is set";
    say(add(rows, "colour"), on ? "on" : "off", why, NULL);
}

static void look_at_pictures(struct rows *rows)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    struct row *row = add(rows, "pictures");
    if (rows->common->ascii) {
        say(row, "ASCII", "--ascii", NULL);
        return;
    }
    char why[80] = "no locale is set";
    bool utf8 = terminal_utf8();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0') {
            snprintf(why, sizeof why, "%s names %s", names[i], utf8 ? "it" : "no UTF-8");
            break;
        }
    }
    say(row, utf8 ? "UTF-8" : "ASCII", why, utf8 ? NULL : "export LC_ALL=C.UTF-8");
}

/* The first word of digits and dots in the driver's own sentence. */
static void find_version(const char *line, char *ret, size_t size)
{
    for (const char *at = line; *(at += strspn(at, " \t\n")) != '\0'; at += strcspn(at, " \t\n")) {
        size_t len = strcspn(at, " \t\n");
        if (len == strspn(at, "0123456789.") && memchr(at, '.', len) != NULL) {
            snprintf(ret, size, "%.*s", (int)len, at);
            return;
        }
    }
}

/* Looks for what a driver leaves in the file system: nothing of it is loaded or run. */
static void look_at_driver(struct rows *rows)
{
    static const char *const signs[] = { "/dev/nvidiactl", "/usr/lib/wsl/lib/libcuda.so.1" };
    struct row *row = add(rows, "driver");
    char line[256] = "", version[32] = "present";
    const char *found = NULL;
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (file != NULL) {
        if (fgets(line, sizeof line, file) != NULL)
            find_version(line, version, sizeof version);
        fclose(file);
        found = "/proc/driver/nvidia/version";
    }
    for (size_t i = 0; i < sizeof signs / sizeof *signs && found == NULL; i++) {
        if (access(signs[i], F_OK) == 0)
            found = signs[i];
    }
    if (found == NULL) {
        say(row, "none", "reading needs none", "record on a machine with an NVIDIA driver");
        return;
    }
    char why[80];
    snprintf(why, sizeof why, "%s is there", found);
    say(row, version, why, NULL);
}

static void look_at_sqlite(struct rows *rows)
{
    struct row *row = add(rows, "sqlite");
    const struct vrs_export_options words = { .size = sizeof words, .to = "sqlite" };
    struct vrs_error err;
    if (vrs_export_ready(words.to, &err) == VRS_OK) {
        say(row, "found", "export --to sqlite can write a database", NULL);
        return;
    }
    bool built_in = vrs_export_check(&words, NULL) == VRS_OK;
    char why[sizeof row->why];
    snprintf(why, sizeof why, "export --to sqlite needs it: %s", err.message);
    say(row, "none", why,
        built_in ? "install SQLite 3.8.7 or later (Debian and Ubuntu: libsqlite3-0)"
                 : "install its header (tools/setup build names the package) and build again");
}

static void look_at_serve(struct rows *rows)
{
    struct row *row = add(rows, "serve");
    char why[sizeof row->why];
    if (view_can_serve(why, sizeof why))
        say(row, "found", "view --serve can serve pages", NULL);
    else
        say(row, "none", why,
            "install libmicrohttpd 0.9.71 or later (Debian and Ubuntu: libmicrohttpd12)");
}

static void look(struct rows *rows)
{
    look_at_version(rows);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        look_at_form(rows, &forms[i]);
    look_at_width(rows);
    look_at_colour(rows);
    look_at_pictures(rows);
    look_at_driver(rows);
    look_at_sqlite(rows);
    look_at_serve(rows);
}

static bool can_read(const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->at[i].needed && !rows->at[i].ok)
            return false;
    }
    return true;
}

static void put_text(FILE *out, const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->at[i];
        fprintf(out, "%-8s %-9s %s: %s%s%s\n", row->ok ? "ok" : "missing", row->name, row->value,
                row->why, row->cure == NULL ? "" : "; ", row->cure == NULL ? "" : row->cure);
    }
    fprintf(out, "\n%s\n\nTo record a snapshot, in the Python program:\n\n",
            can_read(rows) ? "All that reading needs is here."
                           : "Something that reading needs is missing.");
    for (size_t i = 0; i < sizeof recipe / sizeof *recipe; i++)
        fprintf(out, "    %s\n", recipe[i]);
    fprintf(out, "\n%s\nTo record why memory runs out, at the failure itself:\n\n", advice);
    for (size_t i = 0; i < sizeof oom_recipe / sizeof *oom_recipe; i++)
        fprintf(out, "%s%s\n", oom_recipe[i][0] == '\0' ? "" : "    ", oom_recipe[i]);
    fprintf(out, "\n%s", oom_advice);
}

static void put_string(FILE *out, const char *text)
{
    if (text == NULL) {
        fputs("null", out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fprintf(out, "%s%c", c == '"' || c == '\\' ? "\\" : "", c);
    }
    fputc('"', out);
}

static void put_lines(FILE *out, const char *const *line, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fputs(i == 0 ? "\n    " : ",\n    ", out);
        put_string(out, line[i]);
    }
}

static void put_json(FILE *out, const struct rows *rows)
{
    fputs("{\n  \"schema\": \"vramscope.doctor/1\",\n  \"tool\": ", out);
    put_string(out, VRAMSCOPE_VERSION);
    fprintf(out, ",\n  \"can_read\": %s,\n  \"checks\": [", can_read(rows) ? "true" : "false");
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->at[i];
        fprintf(out, "%s\n    { \"name\": ", i == 0 ? "" : ",");
        put_string(out, row->name);
        fprintf(out, ", \"ok\": %s, \"needed\": %s, \"value\": ", row->ok ? "true" : "false",
                row->needed ? "true" : "false");
        put_string(out, row->value);
        fputs(", \"why\": ", out);
        put_string(out, row->why);
        fputs(", \"cure\": ", out);
        put_string(out, row->cure);
        fputs(" }", out);
    }
    fputs("\n  ],\n  \"recipe\": [", out);
    put_lines(out, recipe, sizeof recipe / sizeof *recipe);
    fputs("\n  ],\n  \"oom_recipe\": [", out);
    put_lines(out, oom_recipe, sizeof oom_recipe / sizeof *oom_recipe);
    fputs("\n  ]\n}\n", out);
}

static int answer(const struct common *common)
{
    struct output output;
    if (output_open(&output, "-o", common->output) != EXIT_DONE)
        return EXIT_FAILED;
    struct rows rows = { .common = common, .fd = output.fd };
    look(&rows);
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (out != NULL)
        (common->json ? put_json : put_text)(out, &rows);
    bool whole = out != NULL && fclose(out) == 0;
    if (whole)
        output_write(&output, text, len);
    else
        message("out of memory");
    free(text);
    int exit_status = output_close(&output, whole);
    if (!whole || exit_status != EXIT_DONE)
        return EXIT_FAILED;
    return can_read(&rows) ? EXIT_DONE : EXIT_MISSING;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct common settings = { 0 };
    int operands = 0, ended = EXIT_DONE;
    if (!verb_begins(self, argc, argv, &settings, &operands, &ended))
        return ended;
    if (operands > 0) {
        message("doctor takes no FILE; vramscope report %s says how far a file can be trusted",
                argv[0]);
        return EXIT_USAGE;
    }
    return answer(&settings);
}

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "whether this machine can read snapshots, and how to record one",
    .synopsis = "[options]",
    .about = "Reads a sample of each form, looks at terminal, locale, driver and SQLite, and\n"
             "prints the lines of Python that record a snapshot. Reading needs no GPU, no\n"
             "driver. Exit status: 0 all that reading needs is here, 1 something of it is\n"
             "missing, 2 usage, 3 the output failed.\n",
    .examples = "vramscope doctor # what is here, how to record\n"
                "vramscope doctor --json # the same for a program\n",
    .options = { output_options },
    .run = run,
};
