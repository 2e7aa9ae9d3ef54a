/* export.c - what the caller wants in which format, and what that format needs of the recording. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "allocator/replay/replay.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curve_steps.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/study/moment.h"
#include "analysis/snapshot/study/study.h"
#include "api/file.h"
#include "api/result.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/file_facts.h"
#include "model/recording.h"
#include "render/answer/envelope.h"
#include "render/export/export.h"
#include "render/export/export_prepare.h"
#include "render/export/export_tables.h"
#include "render/snapshot/answers.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "vramscope/snapshot.h"

/* The caller's words, read. */
struct options_read {
    const struct export_format *format;
    struct moment moment;
    bool moment_asked;
    bool wanted[EXPORT_TABLES];
    bool by_count;
};

static const struct export_format *find_format(const char *name)
{
    const struct export_format *f = export_formats;
    while (f->name != NULL && (name == NULL || !str_equal(str_from(f->name), str_from(name))))
        f++;
    return f->name == NULL ? NULL : f;
}

/* What formats are called, one after the other. */
static void list_formats(char *to, size_t size)
{
    size_t len = 0;
    for (const struct export_format *f = export_formats; f->name != NULL && len < size; f++)
        len += (size_t)snprintf(to + len, size - len, "%s%s", len == 0 ? "" : ", ", f->name);
}

static enum vrs_status read_format(const char *name, struct options_read *ret,
                                   struct vrs_error *err)
{
    char names[160] = "";
    list_formats(names, sizeof names);
    ret->format = find_format(name);
    if (name == NULL)
        return vrs_fail(err, VRS_USAGE, "no format was named; these are known: %s", names);
    if (ret->format == NULL)
        return vrs_fail(err, VRS_USAGE, "there is no format \"%.40s\"; these are known: %s", name,
                        names);
    if (ret->format->write == NULL)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "this build is without %s: its library was not there when it was made",
                        name);
    return VRS_OK;
}

static enum vrs_status want_table(const char *name, struct options_read *ret, struct vrs_error *err)
{
    bool found = false, all = str_equal(str_from(name), S("all"));
    char names[160] = "";
    for (uint32_t t = 0, len = 0; t < EXPORT_TABLES; t++) {
        const char *table = export_kinds[t].name;
        if (all || str_equal(str_from(name), str_from(table)))
            found = ret->wanted[t] = true;
        len += (uint32_t)snprintf(names + len, sizeof names - len, "%s, ", table);
        assert(len < sizeof names);
    }
    return found ? VRS_OK
                 : vrs_fail(err, VRS_USAGE, "there is no table \"%.40s\", but %sor all of them",
                            name, names);
}

static enum vrs_status read_tables(const struct vrs_export_options *o, struct options_read *ret,
                                   struct vrs_error *err)
{
    enum export_needs needs = ret->format->needs;
    bool tables = needs == EXPORT_NEEDS_TABLES || needs == EXPORT_NEEDS_TABLE;
    if (o->tables > 0 && !tables)
        return vrs_fail(err, VRS_USAGE, "%s takes no tables", ret->format->name);
    for (uint32_t i = 0; i < o->tables; i++)
        TRY(want_table(o->table[i], ret, err));
    if (o->tables == 0)
        ret->wanted[EXPORT_ALLOCATIONS] = true;
    uint32_t wanted = 0;
    for (uint32_t t = 0; t < EXPORT_TABLES; t++)
        wanted += ret->wanted[t];
    if (needs == EXPORT_NEEDS_TABLE && wanted != 1)
        return vrs_fail(err, VRS_USAGE, "%s holds one table, and %u are named", ret->format->name,
                        (unsigned)wanted);
    return VRS_OK;
}

static bool shows_categories(const struct options_read *read)
{
    const struct export_format *format = read->format;
    bool tables = format->needs == EXPORT_NEEDS_TABLES || format->needs == EXPORT_NEEDS_TABLE;
    return format->categories || (tables && read->wanted[EXPORT_ALLOCATIONS]);
}

static bool shows_moment(const struct export_format *format)
{
    return format->needs == EXPORT_NEEDS_MOMENT || format->moment;
}

/* The caller's rules, then the built-in ones. */
static enum vrs_status read_rules(const struct vrs_export_options *o, struct category_rules *rules,
                                  struct vrs_error *err)
{
    const char *name = o->rules_name == NULL ? "rules" : o->rules_name;
    if (o->rules != NULL)
        TRY(category_rules_read(rules, str_from(o->rules), name, err));
    return category_rules_read(rules, str_from(category_rules_builtin), "builtin", err);
}

static enum vrs_status check_rules(const struct vrs_export_options *o,
                                   const struct options_read *read, struct vrs_error *err)
{
    struct category_rules rules;
    if (o->rules == NULL)
        return VRS_OK;
    if (!shows_categories(read))
        return vrs_fail(err, VRS_USAGE, "%s shows no categories here, so rules have no effect",
                        read->format->name);
    category_rules_init(&rules);
    enum vrs_status status = read_rules(o, &rules, err);
    category_rules_free(&rules);
    return status;
}

static enum vrs_status read_options(const struct vrs_export_options *o, struct options_read *ret,
                                    struct vrs_error *err)
{
    *ret = (struct options_read){ .moment = { .kind = AT_PEAK }, .moment_asked = o->at != NULL };
    TRY(read_format(o->to, ret, err));
    TRY(read_tables(o, ret, err));
    if (o->at != NULL && !shows_moment(ret->format))
        return vrs_fail(err, VRS_USAGE, "%s does not show a single moment", ret->format->name);
    if (o->at != NULL)
        TRY(moment_parse(str_from(o->at), &ret->moment, err));
    if (moment_needs_study(ret->moment))
        return vrs_fail(
            err, VRS_USAGE,
            "export takes no step or phase as a moment; vramscope steps lists their events");
    bool folded = str_equal(str_from(ret->format->name), S("folded"));
    if ((o->weight != NULL || o->inverse) && !folded)
        return vrs_fail(err, VRS_USAGE, "only folded takes a weight and a direction");
    ret->by_count = o->weight != NULL && str_equal(str_from(o->weight), S("count"));
    if (o->weight != NULL && !ret->by_count && !str_equal(str_from(o->weight), S("bytes")))
        return vrs_fail(err, VRS_USAGE, "a weight is bytes or count, not \"%.40s\"", o->weight);
    return check_rules(o, ret, err);
}

enum vrs_status vrs_export_check(const struct vrs_export_options *options, struct vrs_error *err)
{
    struct vrs_export_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct options_read ignored;
    return read_options(&o, &ignored, err);
}

enum vrs_status vrs_export_ready(const char *to, struct vrs_error *err)
{
    struct options_read read;
    TRY(read_format(to, &read, err));
    return read.format->ready == NULL ? VRS_OK : read.format->ready(err);
}

bool vrs_export_is_binary(const char *to)
{
    const struct export_format *format = find_format(to);
    return format != NULL && format->binary;
}

/* Devices. */

static enum vrs_status find_moment(const struct recording *r, const struct options_read *read,
                                   struct export_device *d, struct vrs_error *err)
{
    struct vrs_error none;
    if (!shows_moment(read->format))
        return VRS_OK;
    enum vrs_status found = moment_find(r, d->row, read->moment, &d->at_event, &none);
    d->has_moment = found == VRS_OK;
    if (found == VRS_USAGE || found == VRS_OK)
        return VRS_OK;
    if (err != NULL)
        *err = none;
    return found;
}

/* What each allocation is, and with `spans` steps and phases. */
static enum vrs_status find_categories(struct call *a, struct study_place *place, bool spans,
                                       struct exporting *e, struct vrs_error *err)
{
    TRY(study_place_make(place, err));
    for (uint32_t i = 0; i < e->devices; i++) {
        struct study study;
        struct arena_mark mark = arena_mark(&a->scratch);
        TRY(study_make(place, e->device[i].row, &study, err));
        TRY(export_keep_categories(&study, a->keep, &e->device[i].categories, err));
        if (spans)
            TRY(export_keep_spans(&study, a->keep, &e->device[i], err));
        arena_release(&a->scratch, mark);
    }
    return VRS_OK;
}

static enum vrs_status add_categories(struct call *a, const struct vrs_export_options *o,
                                      bool spans, struct exporting *e, struct vrs_error *err)
{
    struct category_rules rules;
    struct arena_mark mark = arena_mark(&a->scratch);
    struct study_place place = {
        .r = a->r,
        .naming = a->naming,
        .rules = &rules,
        .keep = a->keep,
        .scratch = &a->scratch,
    };
    category_rules_init(&rules);
    enum vrs_status status = read_rules(o, &rules, err);
    if (status == VRS_OK)
        status = find_categories(a, &place, spans, e, err);
    category_rules_free(&rules);
    arena_release(&a->scratch, mark);
    return status;
}

/* That the recording ends early, where it does. */
static enum vrs_status find_cut(struct call *a, str *ret, struct vrs_error *err)
{
    struct buf text;
    if (a->r->origin.complete)
        return VRS_OK;
    buf_init(&text, SIZE_MAX / 2);
    envelope_cut_text(&text, &a->r->origin);
    *ret = arena_copy(a->keep, buf_slice(&text));
    bool failed = text.failed || ret->ptr == NULL;
    buf_free(&text);
    return failed ? vrs_no_memory(err) : VRS_OK;
}

static enum vrs_status add_device(struct call *a, uint32_t row, const struct options_read *read,
                                  struct exporting *e, struct vrs_error *err)
{
    struct export_device *d = &e->device[e->devices++];
    int64_t number = a->r->devices.number[row];
    d->row = row;
    d->number = a->r->devices.kind[row] == DEVICE_HOST ? -1 - number : number;
    d->tracks_exact =
        a->r->devices.events[row] == 0 ||
        (grade_is_exact(a->proof->agreement[row].grade) && a->proof->agreement[row].ambiguous == 0);
    TRY(find_moment(a->r, read, d, err));
    TRY(lifetimes_make(a->r, row, a->keep, &d->lifetimes, err));
    return curve_steps_begin(a->r, row, &d->lifetimes, &a->proof->block_sizes, a->keep, &d->steps,
                             err);
}

/* A moment that no device has is a question without an answer. */
static enum vrs_status check_moment(const struct exporting *e, const struct options_read *read,
                                    struct vrs_error *err)
{
    bool asked = read->moment_asked || read->format->needs == EXPORT_NEEDS_MOMENT;
    bool any = e->devices == 0 || !asked;
    for (uint32_t i = 0; i < e->devices; i++)
        any = any || e->device[i].has_moment;
    if (any)
        return VRS_OK;
    int64_t ignored;
    enum vrs_status status = moment_find(e->r, e->device[0].row, read->moment, &ignored, err);
    assert(status != VRS_OK);
    return status;
}

/* The whole. */

static enum vrs_status prepare(struct call *a, const struct vrs_recording *recording,
                               const struct vrs_export_options *o, const struct options_read *read,
                               struct exporting *e, struct file_facts *file, struct vrs_error *err)
{
    TRY(file_facts_of(recording, o->about.path, a->keep, file, err));
    *e = (struct exporting){
        .r = a->r,
        .file = file,
        .tool = vrs_version(),
        .naming = a->naming,
        .scratch = &a->scratch,
        .by_count = read->by_count,
        .inverse = o->inverse,
        .database = o->database,
    };
    for (uint32_t t = 0; t < EXPORT_TABLES; t++)
        e->wanted[t] = read->wanted[t];
    TRY(find_cut(a, &e->cut, err));
    e->device = arena_array(a->keep, struct export_device, a->r->devices.rows.len);
    if (e->device == NULL)
        return vrs_no_memory(err);
    for (uint32_t d = 0; d < a->r->devices.rows.len; d++)
        if (call_wants(a, d))
            TRY(add_device(a, d, read, e, err));
    TRY(check_moment(e, read, err));
    if (shows_categories(read))
        TRY(add_categories(a, o, read->format->spans, e, err));
    TRY(export_find_names(a->keep, e, err));
    return export_find_stacks(a->keep, e, err);
}

static enum vrs_status write_all(struct exporting *e, const struct export_format *format,
                                 const struct vrs_sink *sink, struct vrs_error *err)
{
    struct out out = { .write = sink == NULL ? NULL : sink->write,
                       .arg = sink == NULL ? NULL : sink->arg };
    buf_init(&out.text, SIZE_MAX / 2);
    return out_finish(&out, format->write(e, &out, err), err);
}

/* For a person, what the format cannot say. */
static enum vrs_status say_cut(const struct exporting *e, const struct export_format *format,
                               const struct vrs_export_options *o, struct vrs_error *err)
{
    struct buf text;
    if (e->cut.len == 0 || !format->bare || o->note == NULL)
        return VRS_OK;
    buf_init(&text, SIZE_MAX / 2);
    envelope_name(&text, &(struct style){ .ascii = false }, e->file);
    buf_text(&text, ": ");
    buf_str(&text, e->cut);
    buf_format(&text, "; %s has no place to say so", format->name);
    buf_char(&text, '\0');
    enum vrs_status status = text.failed ? vrs_no_memory(err) : VRS_OK;
    if (status == VRS_OK)
        o->note(o->note_arg, text.at);
    buf_free(&text);
    return status;
}

enum vrs_status vrs_export(const struct vrs_recording *recording,
                           const struct vrs_export_options *options, const struct vrs_sink *sink,
                           struct vrs_error *err)
{
    struct vrs_export_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct options_read read;
    TRY(read_options(&o, &read, err));
    bool file = read.format->needs == EXPORT_NEEDS_FILE;
    if (file != (o.database != NULL) || (!file && sink == NULL))
        return vrs_fail(err, VRS_USAGE, "%s is written to %s", read.format->name,
                        file ? "a file, so `database` must name one" : "a sink, not a database");
    struct call a;
    struct exporting e;
    struct file_facts facts;
    struct vrs_result *ignored = NULL;
    /* Of a result only the memory is used. */
    enum vrs_status status = call_begin(&a, recording, &peak_answer, o.about.user_root,
                                        o.about.library, o.about.device.plus_one, err);
    if (status == VRS_OK)
        status = prepare(&a, recording, &o, &read, &e, &facts, err);
    if (status == VRS_OK)
        status = write_all(&e, read.format, sink, err);
    if (status == VRS_OK)
        status = say_cut(&e, read.format, &o, err);
    status = call_end(&a, status, &ignored);
    vrs_result_free(ignored);
    return status;
}
