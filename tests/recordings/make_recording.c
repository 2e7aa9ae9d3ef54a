/* make_recording SCRIPT -o OUT [--library DIR]: a recording made by a script (see README.md).
 *
 * Exit status: 0, 1 when OUT could not be written, 2 when the script has an error. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "allocator/whatif/run_recording.h"
#include "allocator/whatif/run_state.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/pairing.h"
#include "model/recording.h"
#include "model/stacks.h"
#include "model/strings.h"
#include "recorder.h"
#include "render/export/snapshot_pickle.h"
#include "render/write/out.h"
#include "script.h"

enum {
    ROWS_MAX = 1 << 22,
    TEXT_MAX = 1 << 24,
    LINES_MAX = 2000000,
    FRAMES_MAX = 256,
    NOT_MADE = 0,
    EVENT_US = 10 /* from one statement to the next */
};

/* What a script calls an allocation. */
struct named_block {
    struct recorded_device *device;
    uint32_t block;
    bool ran_out; /* it never was; a free of it is passed over */
};

struct maker {
    struct recording to;
    struct recorder recorder;
    struct allocator_config config;
    char settings[SCRIPT_LINE];
    uint64_t capacity;
    uint32_t device;
    uint32_t *stack_of;        /* of each name (string_id): its stack plus 1 */
    struct named_block *named; /* of each name */
    uint32_t names;            /* elements of both */
    bool trace, stacks, native;
};

static bool out_of_memory(const struct script_line *line)
{
    return script_fail(line, "out of memory");
}

/* Names. */

static bool name_of(struct maker *k, const struct script_line *line, const char *text,
                    uint32_t *ret)
{
    string_id id;
    if (!strings_intern(&k->to.code.strings, str_from(text), &id))
        return out_of_memory(line);
    if (id.n >= k->names) {
        uint32_t more = 2 * id.n + 64;
        uint32_t *stack_of = realloc(k->stack_of, more * sizeof *stack_of);
        if (stack_of != NULL)
            k->stack_of = stack_of;
        struct named_block *named = realloc(k->named, more * sizeof *named);
        if (named != NULL)
            k->named = named;
        if (stack_of == NULL || named == NULL)
            return out_of_memory(line);
        memset(stack_of + k->names, 0, (more - k->names) * sizeof *stack_of);
        memset(named + k->names, 0, (more - k->names) * sizeof *named);
        k->names = more;
    }
    *ret = id.n;
    return true;
}

static bool find_stack(struct maker *k, const struct script_line *line, const char *text,
                       uint32_t *ret)
{
    uint32_t name;
    if (!name_of(k, line, text, &name))
        return false;
    if (k->stack_of[name] == 0)
        return script_fail(line, "no stack is called %s", text);
    *ret = k->stacks ? k->stack_of[name] - 1 : 0;
    return true;
}

static struct recorded_device *device_now(struct maker *k, const struct script_line *line)
{
    struct recorded_device *d = recorder_device(&k->recorder, k->device, &k->config, k->capacity);
    if (d == NULL)
        script_fail(line, "too many devices");
    return d;
}

/* Stacks. */

static bool is_native(const char *file, size_t len)
{
    bool python = len >= 3 && memcmp(file + len - 3, ".py", 3) == 0;
    return !python && (len == 0 || file[0] != '<') && strstr(file, "ipykernel") != file;
}

/* FILE:LINE FUNCTION, or ::FUNCTION of a file that is not known; not pushed where only frames of
 * Python are wanted. */
static bool push_frame(struct maker *k, const struct script_line *line, char *text, stack_id *stack)
{
    static char unknown[] = "??";
    char *space = strchr(text, ' ');
    char *file = unknown, *function = text + 2;
    uint64_t number = 0;
    if (strncmp(text, "::", 2) != 0) {
        if (space != NULL)
            *space = '\0';
        char *colon = strrchr(text, ':');
        if (space == NULL || colon == NULL || !script_number(colon + 1, &number) ||
            number >= NO_LINE)
            return script_fail(line, "not FILE:LINE FUNCTION, ::FUNCTION or @STACK: %s", text);
        *colon = '\0';
        file = text;
        function = space + 1;
    }
    struct frame frame = { .line = (uint32_t)number };
    frame_id id;
    if (!k->native && is_native(file, strlen(file)))
        return true;
    if (!strings_intern(&k->to.code.strings, str_from(function), &frame.name) ||
        !strings_intern(&k->to.code.strings, str_from(file), &frame.file) ||
        !frames_intern(&k->to.code.frames, frame, &id) ||
        !stacks_push(&k->to.code.stacks, *stack, id, stack))
        return out_of_memory(line);
    return true;
}

/* Pushes all frames of a named stack, outermost first. */
static bool push_stack(struct maker *k, const struct script_line *line, const char *name,
                       stack_id *stack)
{
    uint32_t named = 0, frame[FRAMES_MAX], frames = 0;
    bool stacks = k->stacks;
    k->stacks = true;
    bool found = find_stack(k, line, name, &named);
    k->stacks = stacks;
    if (!found)
        return false;
    for (stack_id s = { named }; s.n != 0 && frames < FRAMES_MAX;
         s = stacks_caller(&k->to.code.stacks, s))
        frame[frames++] = stacks_frame(&k->to.code.stacks, s).n;
    for (; frames > 0; frames--)
        if (!stacks_push(&k->to.code.stacks, *stack, (frame_id){ frame[frames - 1] }, stack))
            return out_of_memory(line);
    return true;
}

static bool say_stack(struct maker *k, const struct script_line *line)
{
    char copy[SCRIPT_LINE], *part[FRAMES_MAX];
    uint32_t parts = 0, name = 0;
    stack_id stack = { 0 };
    if (line->words < 3)
        return script_fail(line, "wanted: stack NAME FRAME < FRAME …");
    if (!name_of(k, line, line->word[1], &name))
        return false;
    snprintf(copy, sizeof copy, "%s", line->rest + strlen(line->word[1]));
    for (char *at = copy; at != NULL && parts < FRAMES_MAX;) {
        char *next = strstr(at, " < ");
        part[parts++] = at + strspn(at, " \t");
        if (next != NULL) {
            *next = '\0';
            next += 3;
        }
        at = next;
    }
    while (parts-- > 0) {
        bool good = part[parts][0] == '@' ? push_stack(k, line, part[parts] + 1, &stack)
                                          : push_frame(k, line, part[parts], &stack);
        if (!good)
            return false;
    }
    k->stack_of[name] = stack.n + 1;
    return true;
}

/* Allocations. */

struct alloc_words {
    uint64_t size, stream;
    struct context context;
    uint32_t stack;
};

static bool take_text(struct maker *k, const struct script_line *line, const char *text,
                      string_id *ret)
{
    return strings_intern(&k->to.code.strings, str_from(text), ret) || out_of_memory(line);
}

/* `N` is the pool of a graph's capture, `0,N` that of a handle, as PyTorch numbers them. */
static bool take_pool(struct maker *k, const struct script_line *line, const char *text,
                      pool_id *ret)
{
    uint64_t first = 0, second = 0;
    bool handle = strncmp(text, "0,", 2) == 0;
    if (!script_number(handle ? text + 2 : text, handle ? &second : &first))
        return script_fail(line, "not a pool: %s", text);
    return pools_intern(&k->to.pools, first, second, ret) || out_of_memory(line);
}

static bool take_option(struct maker *k, const struct script_line *line, unsigned at,
                        struct alloc_words *a)
{
    const char *key = line->word[at], *value = line->word[at + 1];
    if (strcmp(key, "stream") == 0)
        return script_number(value, &a->stream) || script_fail(line, "not a stream: %s", value);
    if (strcmp(key, "pool") == 0)
        return take_pool(k, line, value, &a->context.pool);
    if (strcmp(key, "compile") == 0)
        return take_text(k, line, value, &a->context.compile_context);
    if (strcmp(key, "metadata") == 0)
        return take_text(k, line, value, &a->context.user_metadata);
    if (strcmp(key, "category") == 0)
        return take_text(k, line, value, &a->context.category);
    if (strcmp(key, "forward") == 0) {
        uint32_t stack = 0;
        bool good = find_stack(k, line, value, &stack);
        a->context.forward_stack.n = good ? stack : 0;
        return good;
    }
    return script_fail(line, "no option is called %s", key);
}

static bool take_alloc(struct maker *k, const struct script_line *line, struct alloc_words *a)
{
    unsigned at = 3;
    *a = (struct alloc_words){ .size = 0 };
    if (line->words < 3 || !script_number(line->word[2], &a->size))
        return script_fail(line, "wanted: alloc ID SIZE [STACK] [KEY VALUE …]");
    if (!pools_intern(&k->to.pools, 0, 0, &a->context.pool))
        return out_of_memory(line);
    if (line->words % 2 == 0 && !find_stack(k, line, line->word[at++], &a->stack))
        return false;
    for (; at + 1 < line->words; at += 2)
        if (!take_option(k, line, at, a))
            return false;
    return true;
}

static bool say_alloc(struct maker *k, const struct script_line *line)
{
    struct alloc_words a;
    uint32_t name = 0;
    context_id context;
    struct recorded_device *d = device_now(k, line);
    pool_id usual;
    if (d == NULL || !take_alloc(k, line, &a) || !name_of(k, line, line->word[1], &name))
        return false;
    struct named_block *named = &k->named[name];
    if (named->block != 0)
        return script_fail(line, "%s is allocated already", line->word[1]);
    if (!contexts_intern(&k->to.contexts, a.context, &context) ||
        !pools_intern(&k->to.pools, 0, 0, &usual))
        return out_of_memory(line);
    uint32_t pool = a.context.pool.n == usual.n ? 0 : a.context.pool.n;
    uint32_t block =
        recorder_alloc(d, pool, a.stream, a.size, name, (struct origin_of){ a.stack, context.n });
    *named = (struct named_block){ d, block, block == 0 };
    return true;
}

/* The word behind the statement's own words: a stack, or none. */
static bool take_stack(struct maker *k, const struct script_line *line, unsigned at, uint32_t *ret)
{
    *ret = 0;
    if (line->words > at + 1)
        return script_fail(line, "too many words");
    return line->words <= at || find_stack(k, line, line->word[at], ret);
}

/* free, free_requested and free_completed. */
static bool say_free(struct maker *k, const struct script_line *line)
{
    uint32_t name = 0, stack = 0;
    bool requests = strcmp(line->word[0], "free_completed") != 0;
    bool completes = strcmp(line->word[0], "free_requested") != 0;
    if (line->words < 2)
        return script_fail(line, "wanted: %s ID [STACK]", line->word[0]);
    if (!name_of(k, line, line->word[1], &name) || !take_stack(k, line, 2, &stack))
        return false;
    struct named_block *named = &k->named[name];
    if (named->ran_out) {
        named->ran_out = !completes;
        return true;
    }
    if (named->block == 0)
        return script_fail(line, "%s is not allocated", line->word[1]);
    const struct machine_block *b = &named->device->m.blocks.at[named->block];
    /* A full release may have completed it: then there is nothing left to do. */
    bool gone = b->use == BLOCK_FREE || b->tag != name;
    if (!gone && (b->use == BLOCK_WAITING) == requests)
        return script_fail(line, "%s is%s requested to be freed", line->word[1],
                           requests ? " already" : " not");
    if (!gone && requests)
        recorder_free_requested(named->device, named->block, stack);
    if (!gone && completes)
        recorder_free_completed(named->device, named->block, stack);
    if (completes)
        named->block = NOT_MADE;
    return true;
}

/* The other statements. */

static bool say_empty_cache(struct maker *k, const struct script_line *line)
{
    uint32_t stack;
    struct recorded_device *d = device_now(k, line);
    if (d == NULL || !take_stack(k, line, 1, &stack))
        return false;
    recorder_empty_cache(d, (struct origin_of){ stack, 0 });
    return true;
}

static bool say_mark(struct maker *k, const struct script_line *line)
{
    struct marks *m = &k->to.marks;
    string_id name;
    bool end = line->words == 3 && strcmp(line->word[2], "end") == 0;
    if (line->words != 3 || (!end && strcmp(line->word[2], "start") != 0))
        return script_fail(line, "wanted: mark NAME start|end");
    if (!take_text(k, line, line->word[1], &name))
        return false;
    if (!table_reserve(m, &marks_kind, 1))
        return out_of_memory(line);
    uint32_t row = m->rows.len++;
    m->name[row] = name.n;
    m->stage[row] = end ? STAGE_END : STAGE_START;
    m->device[row] = k->device;
    m->time_us[row] = k->recorder.time_us;
    return true;
}

/* user_defined [TEXT], snapshot. */
static bool say_note(struct maker *k, const struct script_line *line)
{
    struct recorded_device *d = device_now(k, line);
    bool snapshot = strcmp(line->word[0], "snapshot") == 0;
    struct context context = { .pool = { 0 } };
    context_id id;
    if (d == NULL || !take_text(k, line, snapshot ? "" : line->rest, &context.user_metadata))
        return false;
    if (!contexts_intern(&k->to.contexts, context, &id))
        return out_of_memory(line);
    recorder_note(d, snapshot ? ACTION_SNAPSHOT : ACTION_USER_DEFINED, snapshot ? d->m.active : 0,
                  (struct origin_of){ 0, id.n });
    return true;
}

static bool say_time(struct maker *k, const struct script_line *line)
{
    uint64_t step;
    if (line->words != 2 || line->word[1][0] != '+' || !script_number(line->word[1] + 1, &step))
        return script_fail(line, "wanted: time +MICROSECONDS");
    k->recorder.time_us += step;
    return true;
}

static bool say_window(struct maker *k, const struct script_line *line)
{
    bool late = line->words == 2 && strcmp(line->word[1], "late") == 0;
    if (!late && (line->words != 2 || strcmp(line->word[1], "ring") != 0))
        return script_fail(line, "wanted: window late|ring");
    recorder_forget(&k->recorder, late);
    if (late)
        k->to.marks.rows.len = 0;
    return true;
}

static bool say_settings(struct maker *k, const struct script_line *line)
{
    struct vrs_error err;
    if (k->recorder.devices > 0)
        return script_fail(line, "settings stand before what they are for");
    if (config_set(&k->config, str_from(line->rest), &err) != VRS_OK)
        return script_fail(line, "%s", err.message);
    snprintf(k->settings, sizeof k->settings, "%s", line->rest);
    return true;
}

static bool say_number(struct maker *k, const struct script_line *line)
{
    uint64_t number;
    if (line->words != 2 || !script_number(line->word[1], &number))
        return script_fail(line, "wanted: %s NUMBER", line->word[0]);
    if (strcmp(line->word[0], "device") == 0) {
        k->device = (uint32_t)number;
        return device_now(k, line) != NULL;
    }
    if (strcmp(line->word[0], "capacity") == 0) {
        k->capacity = number;
        return k->recorder.devices == 0 || script_fail(line, "capacity stands before allocations");
    }
    struct recorded_device *d = device_now(k, line);
    if (d == NULL)
        return false;
    d->device_free = number;
    return true;
}

static bool say_switch(struct maker *k, const struct script_line *line)
{
    if (line->words != 1)
        return script_fail(line, "too many words");
    k->trace = k->trace && strcmp(line->word[0], "no_trace") != 0;
    k->stacks = k->stacks && strcmp(line->word[0], "no_stacks") != 0;
    k->native = k->native && strcmp(line->word[0], "python_only") != 0;
    return k->to.code.stacks.rows.len <= 1 ||
           script_fail(line, "%s stands before stacks", line->word[0]);
}

static bool take_line(void *arg, const struct script_line *line)
{
    static const struct {
        const char *name;
        bool (*say)(struct maker *k, const struct script_line *line);
    } statements[] = {
        { "alloc", say_alloc },         { "free", say_free },
        { "free_requested", say_free }, { "free_completed", say_free },
        { "stack", say_stack },         { "empty_cache", say_empty_cache },
        { "mark", say_mark },           { "user_defined", say_note },
        { "snapshot", say_note },       { "time", say_time },
        { "window", say_window },       { "settings", say_settings },
        { "capacity", say_number },     { "device", say_number },
        { "device_free", say_number },  { "no_trace", say_switch },
        { "no_stacks", say_switch },    { "python_only", say_switch },
    };
    struct maker *k = arg;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (strcmp(statements[i].name, line->word[0]) == 0) {
            k->recorder.time_us += EVENT_US;
            return statements[i].say(k, line);
        }
    return script_fail(line, "no statement is called %s", line->word[0]);
}

/* The whole. */

/* All settings, and their text as it was written. */
static bool put_settings(struct maker *k)
{
    string_id text;
    if (!run_recording_settings(&k->to, &k->config))
        return false;
    uint32_t row = settings_find(&k->to, S("PYTORCH_CUDA_ALLOC_CONF"));
    if (row == NO_ROW || !strings_intern(&k->to.code.strings, str_from(k->settings), &text))
        return false;
    k->to.settings.text[row] = text.n;
    return true;
}

static bool write_bytes(void *file, const char *bytes, size_t len)
{
    return fwrite(bytes, 1, len, file) == len;
}

static int write_recording(const struct recording *r, const char *path)
{
    struct vrs_error err = { .message = "" };
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        fprintf(stderr, "%s: cannot be written\n", path);
        return 1;
    }
    struct out out = { .write = write_bytes, .arg = file };
    buf_init(&out.text, SIZE_MAX / 2);
    enum vrs_status status = snapshot_pickle(&out, r, &err);
    out_flush(&out, 0);
    bool written = status == VRS_OK && !out.text.failed && !out.refused;
    buf_free(&out.text);
    written = fclose(file) == 0 && written;
    if (!written)
        fprintf(stderr, "%s: %s\n", path, err.message);
    return written ? 0 : 1;
}

static int finish(struct maker *k, const char *path)
{
    struct vrs_error err = { .message = "out of memory" };
    bool good = recorder_finish(&k->recorder, k->trace) && put_settings(k) &&
                pair_allocations(&k->to, &err) == VRS_OK;
    if (!good) {
        fprintf(stderr, "%s: %s\n", path, err.message);
        return 1;
    }
    return write_recording(&k->to, path);
}

int main(int argc, char **argv)
{
    const char *in = NULL, *out = NULL, *library = NULL;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (more && strcmp(argv[i], "-o") == 0)
            out = argv[++i];
        else if (more && strcmp(argv[i], "--library") == 0)
            library = argv[++i];
        else
            in = argv[i];
    }
    static struct maker k = {
        .capacity = UINT64_MAX, .trace = true, .stacks = true, .native = true
    };
    if (in == NULL || out == NULL || !recording_init(&k.to, ROWS_MAX, TEXT_MAX)) {
        fprintf(stderr, "usage: make_recording SCRIPT -o OUT [--library DIR]\n");
        return 2;
    }
    k.config = config_default();
    k.to.origin.complete = true;
    k.recorder.to = &k.to;
    k.recorder.time_us = 1750000000000000;
    struct script script = {
        .library = library, .take = take_line, .arg = &k, .budget = LINES_MAX
    };
    int result = script_run(&script, in) ? finish(&k, out) : 2;
    recorder_free(&k.recorder);
    recording_free(&k.to);
    free(k.stack_of);
    free(k.named);
    return result;
}
