/* from_json.c - reads a measurement from JSON, by tables of what each member may be.
 *
 * What is open is a stack of places.  A place of objects has a table of members, one of lists has
 * one member, which all of its elements are. */
#include "format/measurement/from_json.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/number.h"
#include "base/statistics.h"
#include "base/str.h"
#include "base/vec.h"
#include "format/json/reader.h"
#include "format/json/scan.h"
#include "format/measurement/agreement.h"
#include "model/ids.h"
#include "model/measurement.h"

#define SCHEMA_MEASUREMENT "vramscope.measurement/"
#define SCHEMA_DIAGNOSIS "vramscope.diagnosis/"
#define VERSION_READ "1"

enum place {
    PLACE_UNTOLD, /* an object whose first member is to tell what it is */
    PLACE_DIAGNOSIS,
    PLACE_MEASUREMENT,
    PLACE_TIMES,
    PLACE_TIME,
    PLACE_VALUES,
    PLACE_FIGURES,
    PLACE_FIGURE,
    PLACE_PHASES,
    PLACE_PHASE,
    PLACE_PATH,
    PLACE_CONDITIONS,
    PLACE_SHAPE,
    PLACES
};

/* What a value of JSON is. */
enum value_kind {
    IS_NULL = 1,
    IS_BOOL = 2,
    IS_NUMBER = 4,
    IS_TEXT = 8,
    IS_LIST = 16,
    IS_OBJECT = 32
};

/* What becomes of a value. */
enum taking {
    TAKE_SCHEMA,
    TAKE_TEXT,  /* a str */
    TAKE_REAL,  /* a double that is not below 0 */
    TAKE_COUNT, /* a uint64_t */
    TAKE_SHOWN, /* a str of whatever it is */
    TAKE_VALUE, /* one more value of the time */
    TAKE_PART,  /* one more part of a text */
    TAKE_PLACE  /* it is a place of its own */
};

struct member {
    const char *name;
    uint8_t kinds; /* enum value_kind, that it may be */
    uint8_t taking;
    uint8_t place; /* of TAKE_PLACE */
    bool required;
    size_t offset; /* in what the place fills */
};

struct place_kind {
    const struct member *member;
    uint32_t members;
    bool is_list;
};

enum { PLACES_OPEN_MOST = 8, PARTS_MOST = 64, PART_BYTES_MOST = 1 << 16 };

struct frame {
    enum place place;
    uint32_t seen;  /* bits of members */
    uint32_t index; /* of the element of a list */
    const struct member *at; /* the member whose value is next; NULL: none yet */
};

struct reading {
    struct measurement *m;
    struct frame open[PLACES_OPEN_MOST];
    uint32_t opens;
    struct stated_time time; /* the rows that stand open */
    struct measured_figure figure;
    struct measured_phase phase;
    struct buf parts; /* of a path or a shape */
    VEC(double) sorted; /* values of the time that ended */
    bool done;
};

#define IN(type, member) offsetof(struct type, member)

static const struct member of_untold[] = {
    { "schema", IS_TEXT, TAKE_SCHEMA, 0, true, 0 },
};
static const struct member of_diagnosis[] = {
    { "schema", IS_TEXT, TAKE_SCHEMA, 0, true, 0 },
    { "measurement", IS_OBJECT, TAKE_PLACE, PLACE_UNTOLD, true, 0 },
};
static const struct member of_measurement[] = {
    { "schema", IS_TEXT, TAKE_SCHEMA, 0, true, 0 },
    { "tool", IS_TEXT, TAKE_TEXT, 0, false, IN(measurement, tool) },
    { "what", IS_TEXT, TAKE_TEXT, 0, true, IN(measurement, what) },
    { "times", IS_LIST, TAKE_PLACE, PLACE_TIMES, true, 0 },
    { "phases", IS_LIST, TAKE_PLACE, PLACE_PHASES, true, 0 },
    { "figures", IS_LIST, TAKE_PLACE, PLACE_FIGURES, true, 0 },
    { "conditions", IS_OBJECT, TAKE_PLACE, PLACE_CONDITIONS, true, 0 },
};
static const struct member of_times[] = { { "", IS_OBJECT, TAKE_PLACE, PLACE_TIME, false, 0 } };

/* Of older documents, and of those that others write, the median alone is asked for. */
#define FIGURE(name, required, which)                                                              \
    { name, IS_NUMBER | IS_NULL, TAKE_REAL, 0, required,                                           \
      IN(stated_time, figure) + (which) * sizeof(double) }
static const struct member of_time[] = {
    { "name", IS_TEXT, TAKE_TEXT, 0, true, IN(stated_time, row.name) },
    { "unit", IS_TEXT, TAKE_TEXT, 0, true, IN(stated_time, row.unit) },
    { "clock", IS_TEXT, TAKE_TEXT, 0, true, IN(stated_time, row.clock) },
    { "count", IS_NUMBER, TAKE_COUNT, 0, true, IN(stated_time, row.count) },
    FIGURE("median", true, STATED_MEDIAN),
    FIGURE("mean", false, STATED_MEAN),
    FIGURE("deviation", false, STATED_DEVIATION),
    FIGURE("least", false, STATED_LEAST),
    FIGURE("most", false, STATED_MOST),
    FIGURE("p95", false, STATED_P95),
    FIGURE("p99", false, STATED_P99),
    { "values", IS_LIST, TAKE_PLACE, PLACE_VALUES, false, 0 },
};
static const struct member of_values[] = { { "", IS_NUMBER, TAKE_VALUE, 0, false, 0 } };
static const struct member of_figures[] = {
    { "", IS_OBJECT, TAKE_PLACE, PLACE_FIGURE, false, 0 },
};
static const struct member of_figure[] = {
    { "name", IS_TEXT, TAKE_TEXT, 0, true, IN(measured_figure, name) },
    { "unit", IS_TEXT, TAKE_TEXT, 0, true, IN(measured_figure, unit) },
    { "clock", IS_TEXT | IS_NULL, TAKE_TEXT, 0, true, IN(measured_figure, clock) },
    { "value", IS_NUMBER | IS_NULL, TAKE_REAL, 0, true, IN(measured_figure, value) },
};
static const struct member of_phases[] = { { "", IS_OBJECT, TAKE_PLACE, PLACE_PHASE, false, 0 } };
static const struct member of_phase[] = {
    { "path", IS_LIST, TAKE_PLACE, PLACE_PATH, true, 0 },
    { "device", IS_NUMBER, TAKE_COUNT, 0, true, IN(measured_phase, device) },
    { "peak_bytes", IS_NUMBER | IS_NULL, TAKE_COUNT, 0, true, IN(measured_phase, peak_bytes) },
    { "peak_delta_bytes", IS_NUMBER | IS_NULL, TAKE_COUNT, 0, true,
      IN(measured_phase, peak_delta_bytes) },
};
static const struct member of_path[] = { { "", IS_TEXT, TAKE_PART, 0, false, 0 } };

#define CONDITION(name, kinds, which)                                                              \
    { name, (kinds) | IS_NULL, TAKE_SHOWN, 0, false,                                               \
      IN(measurement, condition) + (which) * sizeof(str) }
static const struct member of_conditions[] = {
    CONDITION("model", IS_TEXT, CONDITION_MODEL),
    CONDITION("batch_size", IS_NUMBER, CONDITION_BATCH_SIZE),
    { "input_shape", IS_LIST | IS_NULL, TAKE_PLACE, PLACE_SHAPE, false, 0 },
    CONDITION("device", IS_TEXT, CONDITION_DEVICE),
    CONDITION("dtype", IS_TEXT, CONDITION_DTYPE),
    CONDITION("mode", IS_TEXT, CONDITION_MODE),
    CONDITION("num_workers", IS_NUMBER, CONDITION_NUM_WORKERS),
    CONDITION("cudnn_benchmark", IS_BOOL, CONDITION_CUDNN_BENCHMARK),
    CONDITION("gpu", IS_TEXT, CONDITION_GPU),
};
static const struct member of_shape[] = { { "", IS_NUMBER, TAKE_PART, 0, false, 0 } };

#define OBJECT(table) { table, sizeof(table) / sizeof *(table), false }
#define LIST(table) { table, 1, true }
static const struct place_kind place_kinds[PLACES] = {
    [PLACE_UNTOLD] = OBJECT(of_untold),
    [PLACE_DIAGNOSIS] = OBJECT(of_diagnosis),
    [PLACE_MEASUREMENT] = OBJECT(of_measurement),
    [PLACE_TIMES] = LIST(of_times),
    [PLACE_TIME] = OBJECT(of_time),
    [PLACE_VALUES] = LIST(of_values),
    [PLACE_FIGURES] = LIST(of_figures),
    [PLACE_FIGURE] = OBJECT(of_figure),
    [PLACE_PHASES] = LIST(of_phases),
    [PLACE_PHASE] = OBJECT(of_phase),
    [PLACE_PATH] = LIST(of_path),
    [PLACE_CONDITIONS] = OBJECT(of_conditions),
    [PLACE_SHAPE] = LIST(of_shape),
};

/* Messages. */

/* "\"times[2].median\"", with its quotes */
struct where {
    char text[120];
};

static void add_where(struct where *w, const char *text)
{
    size_t len = strlen(w->text), more = strlen(text);
    if (len + more < sizeof w->text)
        memcpy(w->text + len, text, more + 1);
}

static struct where where_of(const struct reading *r)
{
    struct where w = { "\"" };
    for (uint32_t i = 0; i < r->opens; i++) {
        const struct frame *f = &r->open[i];
        if (place_kinds[f->place].is_list) {
            char digits[16];
            snprintf(digits, sizeof digits, "[%u]", (unsigned)f->index);
            add_where(&w, digits);
        } else if (f->at != NULL) {
            add_where(&w, w.text[1] == '\0' ? "" : ".");
            add_where(&w, f->at->name);
        }
    }
    if (w.text[1] == '\0')
        return (struct where){ "the document" };
    add_where(&w, "\"");
    return w;
}

/* "a number or null" */
static struct where kinds_words(uint8_t kinds)
{
    static const char *const names[] = { "null", "true or false", "a number",
                                         "a text", "a list", "an object" };
    struct where w = { "" };
    for (size_t i = sizeof names / sizeof *names; i-- > 0;) {
        if ((kinds & 1u << i) == 0)
            continue;
        add_where(&w, w.text[0] == '\0' ? "" : " or ");
        add_where(&w, names[i]);
    }
    return w;
}

/* Values. */

static struct frame *innermost(struct reading *r)
{
    return &r->open[r->opens - 1];
}

/* What the value that comes is to be; `kind` is what it is. */
static enum vrs_status expect(struct reading *r, uint8_t kind, uint64_t offset,
                              const struct member **ret, struct vrs_error *err)
{
    static const struct member document = { "", IS_OBJECT, TAKE_PLACE, PLACE_UNTOLD, true, 0 };
    struct frame *f = r->opens == 0 ? NULL : innermost(r);
    const struct member *m = f == NULL                        ? &document
                             : place_kinds[f->place].is_list ? place_kinds[f->place].member
                                                             : f->at;
    if ((m->kinds & kind) == 0)
        return vrs_fail_at(err, VRS_CORRUPT, offset, "%s is %s, and should be %s",
                           where_of(r).text, kinds_words(kind).text, kinds_words(m->kinds).text);
    *ret = m;
    return VRS_OK;
}

/* Behind the value of an element. */
static void count_value(struct reading *r)
{
    if (r->opens > 0 && place_kinds[innermost(r)->place].is_list)
        innermost(r)->index++;
}

/* What the members of an open object are put into. */
static void *filled(struct reading *r)
{
    switch (innermost(r)->place) {
    case PLACE_TIME:
        return &r->time;
    case PLACE_FIGURE:
        return &r->figure;
    case PLACE_PHASE:
        return &r->phase;
    case PLACE_UNTOLD:
    case PLACE_DIAGNOSIS:
    case PLACE_MEASUREMENT:
    case PLACE_TIMES:
    case PLACE_VALUES:
    case PLACE_FIGURES:
    case PLACE_PHASES:
    case PLACE_PATH:
    case PLACE_CONDITIONS:
    case PLACE_SHAPE:
    case PLACES:
        break;
    }
    return r->m;
}

static enum vrs_status keep_text(struct reading *r, str text, str *to, struct vrs_error *err)
{
    *to = arena_copy(&r->m->text, text);
    return to->ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

static bool is_version_read(str schema, str begin)
{
    return str_starts(schema, begin) &&
           str_equal((str){ schema.ptr + begin.len, schema.len - begin.len }, S(VERSION_READ));
}

/* What the object is that stands open, by its first member. */
static enum vrs_status take_schema(struct reading *r, str schema, uint64_t offset,
                                   struct vrs_error *err)
{
    if (is_version_read(schema, S(SCHEMA_MEASUREMENT))) {
        innermost(r)->place = PLACE_MEASUREMENT;
        return VRS_OK;
    }
    if (is_version_read(schema, S(SCHEMA_DIAGNOSIS)) && r->opens == 1) {
        innermost(r)->place = PLACE_DIAGNOSIS;
        return VRS_OK;
    }
    return vrs_fail_at(err, VRS_UNSUPPORTED, offset,
                       "its schema is not one that is compared: those are " SCHEMA_MEASUREMENT
                       VERSION_READ ", and " SCHEMA_DIAGNOSIS VERSION_READ
                       " with a measurement inside");
}

static enum vrs_status take_part(struct reading *r, str text, uint64_t offset,
                                 struct vrs_error *err)
{
    bool is_path = innermost(r)->place == PLACE_PATH;
    if (innermost(r)->index >= PARTS_MOST)
        return vrs_fail_at(err, VRS_LIMIT, offset, "%s is one too many: %d are read at most",
                           where_of(r).text, PARTS_MOST);
    if (text.len > PART_BYTES_MOST || r->parts.len > PART_BYTES_MOST - text.len)
        return vrs_fail_at(err, VRS_LIMIT, offset, "%s is too long", where_of(r).text);
    if (innermost(r)->index > 0)
        buf_text(&r->parts, is_path ? "/" : ", ");
    buf_str(&r->parts, text);
    return r->parts.failed ? vrs_no_memory(err) : VRS_OK;
}

/* Tokens. */

static enum vrs_status string(void *self, str text, uint64_t offset, struct vrs_error *err)
{
    struct reading *r = self;
    const struct member *m = NULL;
    TRY(expect(r, IS_TEXT, offset, &m, err));
    if (m->taking == TAKE_SCHEMA)
        TRY(take_schema(r, text, offset, err));
    else if (m->taking == TAKE_PART)
        TRY(take_part(r, text, offset, err));
    else
        TRY(keep_text(r, text, (str *)(void *)((char *)filled(r) + m->offset), err));
    count_value(r);
    return VRS_OK;
}

static enum vrs_status take_real(struct reading *r, str text, uint64_t offset, double *to,
                                 struct vrs_error *err)
{
    double value;
    if (!number_real(text, &value) || !isfinite(value))
        return vrs_fail_at(err, VRS_CORRUPT, offset,
                           "%s is above 1.797e308, the largest number that is read",
                           where_of(r).text);
    if (value < 0)
        return vrs_fail_at(err, VRS_CORRUPT, offset, "%s is below 0", where_of(r).text);
    *to = value;
    return VRS_OK;
}

static enum vrs_status take_count(struct reading *r, str text, uint64_t offset, uint64_t *to,
                                  struct vrs_error *err)
{
    uint64_t value;
    bool negative;
    if (!number_integer(text, &value, &negative) || negative || value == UNKNOWN_U64)
        return vrs_fail_at(err, VRS_CORRUPT, offset, "%s is not a whole number of at least 0",
                           where_of(r).text);
    *to = value;
    return VRS_OK;
}

static enum vrs_status take_value(struct reading *r, str text, uint64_t offset,
                                  struct vrs_error *err)
{
    double value = 0;
    TRY(take_real(r, text, offset, &value, err));
    if (vec_push(&r->m->value, value)) {
        r->time.row.values++;
        return VRS_OK;
    }
    if (r->m->value.len < r->m->value.max)
        return vrs_no_memory(err);
    return vrs_fail_at(err, VRS_LIMIT, offset, "%s is one too many: %d values are read at most",
                       where_of(r).text, MEASURED_VALUES_MOST);
}

static enum vrs_status take_number(struct reading *r, const struct member *m, str text,
                                   uint64_t offset, struct vrs_error *err)
{
    void *to = (char *)filled(r) + m->offset;
    switch ((enum taking)m->taking) {
    case TAKE_REAL:
        return take_real(r, text, offset, to, err);
    case TAKE_COUNT:
        return take_count(r, text, offset, to, err);
    case TAKE_VALUE:
        return take_value(r, text, offset, err);
    case TAKE_PART:
        return take_part(r, text, offset, err);
    case TAKE_SHOWN:
        return keep_text(r, text, to, err);
    case TAKE_SCHEMA:
    case TAKE_TEXT:
    case TAKE_PLACE:
        break;
    }
    return VRS_OK;
}

static enum vrs_status number(void *self, str text, uint64_t offset, struct vrs_error *err)
{
    struct reading *r = self;
    const struct member *m = NULL;
    TRY(expect(r, IS_NUMBER, offset, &m, err));
    TRY(take_number(r, m, text, offset, err));
    count_value(r);
    return VRS_OK;
}

/* What is null stays as the row began, not known. */
static enum vrs_status literal(void *self, enum json_literal literal, uint64_t offset,
                               struct vrs_error *err)
{
    struct reading *r = self;
    const struct member *m = NULL;
    TRY(expect(r, literal == JSON_NULL ? IS_NULL : IS_BOOL, offset, &m, err));
    if (literal == JSON_NULL)
        return VRS_OK;
    return keep_text(r, literal == JSON_TRUE ? S("true") : S("false"),
                     (str *)(void *)((char *)filled(r) + m->offset), err);
}

/* Places. */

static void begin_time(struct reading *r)
{
    r->time = (struct stated_time){ .row.first_value = r->m->value.len };
    for (int i = 0; i < STATED_FIGURES; i++)
        r->time.figure[i] = NAN;
}

static void begin_row(struct reading *r, enum place place)
{
    if (place == PLACE_TIME)
        begin_time(r);
    else if (place == PLACE_FIGURE)
        r->figure = (struct measured_figure){ .value = NAN };
    else if (place == PLACE_PHASE)
        r->phase = (struct measured_phase){ .peak_bytes = UNKNOWN_U64,
                                            .peak_delta_bytes = UNKNOWN_U64 };
    else if (place == PLACE_VALUES)
        r->time.row.has_values = true;
    else if (place == PLACE_PATH || place == PLACE_SHAPE)
        r->parts.len = 0;
}

static enum vrs_status begin(struct reading *r, uint8_t kind, uint64_t offset,
                             struct vrs_error *err)
{
    const struct member *m = NULL;
    TRY(expect(r, kind, offset, &m, err));
    begin_row(r, m->place);
    r->open[r->opens++] = (struct frame){ .place = m->place };
    return VRS_OK;
}

static enum vrs_status begin_object(void *self, uint64_t offset, struct vrs_error *err)
{
    return begin(self, IS_OBJECT, offset, err);
}

static enum vrs_status begin_array(void *self, uint64_t offset, struct vrs_error *err)
{
    return begin(self, IS_LIST, offset, err);
}

static enum vrs_status key(void *self, str key, uint64_t offset, bool *ret_take,
                           struct vrs_error *err)
{
    struct reading *r = self;
    struct frame *f = innermost(r);
    const struct place_kind *kind = &place_kinds[f->place];
    f->at = NULL;
    *ret_take = false;
    for (uint32_t i = 0; i < kind->members; i++) {
        if (!str_equal(key, str_from(kind->member[i].name)))
            continue;
        f->at = &kind->member[i];
        if ((f->seen & 1u << i) != 0)
            return vrs_fail_at(err, VRS_CORRUPT, offset, "%s is given twice",
                               where_of(r).text);
        f->seen |= 1u << i;
        *ret_take = true;
        return VRS_OK;
    }
    if (f->place == PLACE_UNTOLD)
        return vrs_fail_at(err, VRS_CORRUPT, offset,
                           "the first member of %s is not \"schema\", which says what it is",
                           where_of(r).text);
    return VRS_OK;
}

static enum vrs_status check_members(struct reading *r, uint64_t offset, struct vrs_error *err)
{
    struct frame *f = innermost(r);
    const struct place_kind *kind = &place_kinds[f->place];
    f->at = NULL;
    for (uint32_t i = 0; i < kind->members; i++)
        if (kind->member[i].required && (f->seen & 1u << i) == 0)
            return vrs_fail_at(err, VRS_CORRUPT, offset, "%s has no member \"%s\"",
                               where_of(r).text, kind->member[i].name);
    return VRS_OK;
}

/* A row that ends has to agree with itself. */

static bool sort_values(struct reading *r)
{
    const struct measured_time *row = &r->time.row;
    r->sorted.len = 0;
    for (uint32_t i = 0; i < row->values; i++)
        if (!vec_push(&r->sorted, r->m->value.at[row->first_value + i]))
            return false;
    if (row->values > 0)
        statistics_sort(r->sorted.at, row->values);
    return true;
}

/* `words` are what is said of the member. */
static enum vrs_status refuse_member(struct reading *r, const char *member, str words,
                                     uint64_t offset, struct vrs_error *err)
{
    struct frame *f = innermost(r);
    const struct place_kind *kind = &place_kinds[f->place];
    for (uint32_t i = 0; i < kind->members; i++)
        if (strcmp(kind->member[i].name, member) == 0)
            f->at = &kind->member[i];
    return vrs_fail_at(err, VRS_CORRUPT, offset, "%s %.*s", where_of(r).text, (int)words.len,
                       words.ptr);
}

static enum vrs_status check_agreement(struct reading *r, uint64_t offset, struct vrs_error *err)
{
    enum { WORDS_MOST = 1000 };
    enum place place = innermost(r)->place;
    struct buf words;
    const char *member = NULL;
    bool agrees = true;
    if (place == PLACE_TIME && !sort_values(r))
        return vrs_no_memory(err);
    buf_init(&words, WORDS_MOST);
    if (place == PLACE_TIME)
        agrees = stated_time_agrees(&r->time, r->sorted.at, &words, &member);
    else if (place == PLACE_PHASE)
        agrees = measured_phase_agrees(&r->phase, &words, &member);
    enum vrs_status status = agrees         ? VRS_OK
                             : words.failed ? vrs_no_memory(err)
                                            : refuse_member(r, member, buf_slice(&words), offset,
                                                            err);
    buf_free(&words);
    return status;
}

/* A row that ends is kept, unless there is one of its name. */

static bool has_time(const struct measurement *m, str name)
{
    for (uint32_t i = 0; i < m->time.len; i++)
        if (str_equal(m->time.at[i].name, name))
            return true;
    return false;
}

static bool has_figure(const struct measurement *m, str name)
{
    for (uint32_t i = 0; i < m->figure.len; i++)
        if (str_equal(m->figure.at[i].name, name))
            return true;
    return false;
}

static bool has_phase(const struct measurement *m, const struct measured_phase *phase)
{
    for (uint32_t i = 0; i < m->phase.len; i++)
        if (str_equal(m->phase.at[i].path, phase->path) && m->phase.at[i].device == phase->device)
            return true;
    return false;
}

static enum vrs_status keep_row(struct reading *r, enum place ended, uint64_t offset,
                                struct vrs_error *err)
{
    struct measurement *m = r->m;
    if ((ended == PLACE_TIME && has_time(m, r->time.row.name)) ||
        (ended == PLACE_FIGURE && has_figure(m, r->figure.name)) ||
        (ended == PLACE_PHASE && has_phase(m, &r->phase)))
        return vrs_fail_at(err, VRS_CORRUPT, offset, "%s has the same name as a row before it",
                           where_of(r).text);
    bool is_kept = true;
    uint32_t len = 0;
    if (ended == PLACE_TIME) {
        r->time.row.median = r->time.figure[STATED_MEDIAN];
        is_kept = vec_push(&m->time, r->time.row);
        len = m->time.len;
    } else if (ended == PLACE_FIGURE) {
        is_kept = vec_push(&m->figure, r->figure);
        len = m->figure.len;
    } else if (ended == PLACE_PHASE) {
        is_kept = vec_push(&m->phase, r->phase);
        len = m->phase.len;
    }
    if (is_kept)
        return VRS_OK;
    if (len < MEASURED_ROWS_MOST)
        return vrs_no_memory(err);
    return vrs_fail_at(err, VRS_LIMIT, offset, "%s is one too many: %d rows are read at most",
                       where_of(r).text, MEASURED_ROWS_MOST);
}

static enum vrs_status end_object(void *self, uint64_t offset, struct vrs_error *err)
{
    struct reading *r = self;
    TRY(check_members(r, offset, err));
    TRY(check_agreement(r, offset, err));
    enum place ended = innermost(r)->place;
    r->opens--;
    TRY(keep_row(r, ended, offset, err));
    r->done = r->done || ended == PLACE_MEASUREMENT;
    count_value(r);
    return VRS_OK;
}

static enum vrs_status end_array(void *self, uint64_t offset, struct vrs_error *err)
{
    struct reading *r = self;
    (void)offset;
    enum place ended = innermost(r)->place;
    r->opens--;
    if (ended == PLACE_PATH)
        return keep_text(r, buf_slice(&r->parts), &r->phase.path, err);
    if (ended == PLACE_SHAPE)
        return keep_text(r, buf_slice(&r->parts), &r->m->condition[CONDITION_INPUT_SHAPE], err);
    return VRS_OK;
}

/* The whole. */

bool measurement_begins(struct window *w)
{
    static const char *const schemas[] = { SCHEMA_MEASUREMENT, SCHEMA_DIAGNOSIS };
    enum { HEAD = 4096 };
    size_t len = window_need(w, HEAD) ? HEAD : (size_t)(w->end - w->at);
    str head = { (const char *)w->at, len };
    static const char *const before[] = { "{", "\"schema\"", ":", "\"" };
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        str part = str_from(before[i]);
        while (head.len > 0 && is_blank((uint8_t)*head.ptr))
            head = (str){ head.ptr + 1, head.len - 1 };
        if (!str_starts(head, part))
            return false;
        head = (str){ head.ptr + part.len, head.len - part.len };
    }
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
        if (str_starts(head, str_from(schemas[i])))
            return true;
    return false;
}

static enum vrs_status check_end(const struct reading *r, struct window *w,
                                 const struct json_end *end, struct vrs_error *err)
{
    TRY(window_status(w, err));
    if (end->cut || !r->done)
        return vrs_fail_at(err, VRS_CORRUPT, end->offset, "the file ends inside the measurement");
    while (window_need(w, 1)) {
        if (!is_blank(*w->at))
            return vrs_fail_at(err, VRS_CORRUPT, window_offset(w),
                               "the measurement ends here, and the file goes on");
        w->at++;
    }
    return window_status(w, err);
}

enum vrs_status measurement_from_json(struct window *w, const struct limits *limits,
                                      struct measurement *ret, struct vrs_error *err)
{
    struct reading r = { .m = ret, .sorted.max = MEASURED_VALUES_MOST };
    const struct json_sink sink = {
        .self = &r,
        .kind = "measurement",
        .begin_object = begin_object,
        .end_object = end_object,
        .begin_array = begin_array,
        .end_array = end_array,
        .key = key,
        .string = string,
        .number = number,
        .literal = literal,
    };
    struct json_end end;
    buf_init(&r.parts, PART_BYTES_MOST + 2);
    enum vrs_status status = json_read(w, limits, &sink, &end, err);
    if (status == VRS_OK)
        status = check_end(&r, w, &end, err);
    buf_free(&r.parts);
    vec_free(&r.sorted);
    return status;
}
