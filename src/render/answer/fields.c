/* fields.c - what a described member looks like in JSON and in a table. */
#include "render/answer/fields.h"
#include "render/answer/place.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "model/ids.h"
#include "render/answer/answer.h"
#include "render/write/human.h"
#include "render/write/json.h"
#include "render/write/out.h"
#include "render/write/text.h"

static void put_plain(struct json *j, const char *key, enum field_type type,
                      const struct field_value *v)
{
    switch (type) {
    case FIELD_BOOL:
        json_bool(j, key, v->number != 0);
        break;
    case FIELD_UNSIGNED:
        json_u64(j, key, v->number);
        break;
    case FIELD_SIGNED:
        json_i64(j, key, v->integer);
        break;
    case FIELD_REAL:
        json_fixed(j, key, v->real, v->decimals);
        break;
    case FIELD_TEXT:
    case FIELD_WORD:
    case FIELD_NAME:
    case FIELD_SENTENCE:
    case FIELD_STACK:
    case FIELD_ROW:
    case FIELD_INLINE:
    case FIELD_FREE:
    case FIELD_ROWS:
    case FIELD_VALUES:
    case FIELD_STACKS:
        json_str(j, key, v->text);
        break;
    }
}

static void put_scalar(const struct fields_json *w, const struct field *f, const char *key,
                       const void *row, const void *above)
{
    struct field_value v = field_value_of(f, row, above, w->limit);
    if (!v.known)
        json_null(w->j, key);
    else if (f->type == FIELD_STACK)
        json_stack(w->j, key, (stack_id){ (uint32_t)v.number }, w->numbers);
    else
        put_plain(w->j, key, f->type, &v);
}

static void put_sentence(const struct fields_json *w, const struct field *f, const char *key,
                         const void *row)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    if (w->kind->sentence(&words, f, row))
        json_str(w->j, key, buf_slice(&words));
    else
        json_null(w->j, key);
    w->j->out->failed = w->j->out->failed || words.failed;
    buf_free(&words);
}

static void open_array(struct json *j, const char *key, bool line)
{
    if (line)
        json_line_array(j, key);
    else
        json_array(j, key);
}

static void open_list(struct json *j, const char *key, const struct field *f)
{
    if (!f->row->keyed)
        open_array(j, key, f->line);
    else if (f->line)
        json_line_object(j, key);
    else
        json_object(j, key);
}

/* A row as a member that it names itself. */
static void put_keyed(const struct fields_json *w, const struct row_type *type, const void *row,
                      const void *above)
{
    uint32_t i = 1;
    while (i + 1 < type->fields && !field_is_there(&type->field[i], row, above))
        i++;
    json_name(w->j, field_value_of(&type->field[0], row, above, w->limit).text);
    put_scalar(w, &type->field[i], NULL, row, above);
}

static void put_rows(const struct fields_json *w, const struct field *f, const char *key,
                     const void *row, const void *above)
{
    uint32_t count;
    const char *list = field_list_of(f, row, above, &count);
    if (list == NULL) {
        json_null(w->j, key);
        return;
    }
    if (f->limited && count > w->limit)
        count = w->limit;
    open_list(w->j, key, f);
    for (uint32_t i = 0; i < count; i++) {
        if (f->row->keyed)
            put_keyed(w, f->row, list + i * f->row->size, row);
        else
            fields_object(w, NULL, f->row, list + i * f->row->size, row);
        if (w->out != NULL)
            out_flush(w->out, OUT_ENOUGH);
    }
    json_close(w->j);
}

static void put_values(const struct fields_json *w, const struct field *f, const char *key,
                       const void *row, const void *above)
{
    uint32_t count;
    const void *list = field_list_of(f, row, above, &count);
    if (list == NULL) {
        json_null(w->j, key);
        return;
    }
    open_array(w->j, key, f->line);
    for (uint32_t i = 0; i < count; i++) {
        struct field_value v = field_element_of(f, list, i);
        if (v.known)
            put_plain(w->j, NULL, f->of, &v);
        else
            json_null(w->j, NULL);
    }
    json_close(w->j);
}

static void put_free(const struct fields_json *w, const struct field *f, const char *key,
                     const void *row, const void *above)
{
    const struct field_free *free = field_row_of(f, row, above);
    if (free == NULL || free->type == NULL)
        json_null(w->j, key);
    else
        fields_object(w, key, free->type, free->row, row);
}

static void put_field(const struct fields_json *w, const struct field *f, const char *key,
                      const void *row, const void *above)
{
    if (f->type == FIELD_ROW) {
        const void *inner = field_row_of(f, row, above);
        if (inner == NULL)
            json_null(w->j, key);
        else
            fields_object(w, key, field_row_type(f, w->kind->result), inner, row);
    } else if (f->type == FIELD_FREE) {
        put_free(w, f, key, row, above);
    } else if (f->type == FIELD_ROWS) {
        put_rows(w, f, key, row, above);
    } else if (f->type == FIELD_VALUES) {
        put_values(w, f, key, row, above);
    } else if (f->type == FIELD_SENTENCE) {
        put_sentence(w, f, key, row);
    } else if (f->type == FIELD_STACKS) {
        json_stacks(w->j, w->out, w->numbers);
    } else {
        put_scalar(w, f, key, row, above);
    }
}

void fields_members(const struct fields_json *w, const struct row_type *type, const void *row,
                    const void *above)
{
    for (uint32_t i = 0; i < type->fields; i++) {
        const struct field *f = &type->field[i];
        const void *inner = f->type == FIELD_INLINE ? field_row_of(f, row, above) : NULL;
        if (inner != NULL)
            fields_members(w, f->row, inner, row);
        else if (f->type != FIELD_INLINE && field_is_there(f, row, above))
            put_field(w, f, type->tuple ? NULL : f->name, row, above);
    }
}

void fields_object(const struct fields_json *w, const char *key, const struct row_type *type,
                   const void *row, const void *above)
{
    if (type->tuple)
        json_line_array(w->j, key);
    else if (type->line)
        json_line_object(w->j, key);
    else
        json_object(w->j, key);
    fields_members(w, type, row, above);
    json_close(w->j);
}

static void put_document(struct json *j, struct out *out, const struct answer_set *set, uint32_t i,
                         const void *arg)
{
    const struct render_options *options = arg;
    const struct row_type *document = set->kind->document;
    const char *answer = (const char *)set->answers + i * document->size;
    const struct stack_texts *stacks = document_stacks(document, answer);
    struct stack_numbers numbers;
    struct fields_json w = { j, out, set->kind, &numbers, options->rows };
    if (options->rows == 0)
        w.limit = UINT32_MAX;
    if (stacks == NULL)
        w.numbers = NULL;
    else if (!stack_numbers_init(&numbers, stacks, j->out))
        return;
    fields_members(&w, document, answer, NULL);
    if (stacks != NULL)
        stack_numbers_free(&numbers);
}

void answer_json(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options)
{
    struct json j;
    document_begin(&j, out, set->kind->verb, several, options);
    document_files(&j, out, set, several, put_document, options);
    if (several && set->kind->set != NULL) {
        struct fields_json w = { &j, out, set->kind, NULL, UINT32_MAX };
        fields_members(&w, set->kind->set, set->more, NULL);
    }
    document_end(&j);
}

static bool is_number(const struct field *f)
{
    return f->unit != UNIT_ADDRESS &&
           (f->type == FIELD_UNSIGNED || f->type == FIELD_SIGNED || f->type == FIELD_REAL);
}

/* In hexadecimal, unless it is small. */
static str address_cell(struct cells *cells, uint64_t address)
{
    buf_format(&cells->text, address < 1 << 16 ? "%llu" : "0x%llx", (unsigned long long)address);
    return cell_end(cells);
}

/* A whole number by its unit. */
static str whole_cell(struct cells *cells, const struct field *f, const struct field_value *v)
{
    bool sign = f->type == FIELD_SIGNED;
    uint64_t number = sign ? (uint64_t)v->integer : v->number;
    int64_t value = sign || number <= INT64_MAX ? (int64_t)number : INT64_MAX;
    switch (f->unit) {
    case UNIT_BYTES:
        return cell_bytes(cells, value);
    case UNIT_EVENT:
        return cell_event(cells, value, "-");
    case UNIT_NUMBER:
        return cell_number(cells, number);
    case UNIT_ADDRESS:
        return address_cell(cells, number);
    case UNIT_NONE:
    case UNIT_COUNT:
    case UNIT_RATIO:
    case UNIT_US:
    case UNIT_NS:
    case UNIT_BYTE_EVENTS:
        break;
    }
    return cell_count(cells, number);
}

str fields_cell(struct cells *cells, const struct field *f, const void *row, const void *above)
{
    struct field_value v = field_value_of(f, row, above, UINT32_MAX);
    if (!v.known)
        return S("-");
    if (f->type == FIELD_TEXT)
        return cell_text(cells, v.text);
    if (f->type == FIELD_NAME) {
        category_words(&cells->text, v.text);
        return cell_end(cells);
    }
    if (f->type == FIELD_WORD)
        return v.text;
    return f->type == FIELD_REAL ? cell_share(cells, v.real) : whole_cell(cells, f, &v);
}

struct text_column shown_heading(const struct shown_column *column)
{
    struct text_column heading = { .heading = column->heading, .right = column->right };
    if (column->type != NULL) {
        const struct field *f = field_at(column->type, column->member);
        heading.heading = column->heading == NULL ? f->heading : column->heading;
        heading.right = column->right || is_number(f);
    }
    heading.flexible = column->flexible > 0;
    heading.least = column->flexible;
    heading.cut = column->cut;
    return heading;
}

str shown_cell(struct cells *cells, const struct shown_column *column, const void *row)
{
    const struct field *f = field_at(column->type, column->member);
    return fields_cell(cells, f, (const char *)row + column->row, row);
}

static str table_cell(struct cells *cells, const struct shown_table *t, const void *row,
                      uint32_t column)
{
    str cell;
    if (t->make != NULL && t->make(t->arg, row, column, &cell))
        return cell;
    return shown_cell(cells, &t->column[column], row);
}

void shown_table(struct buf *to, const struct style *style, struct cells *cells,
                 const struct shown_table *t)
{
    struct text_column column[SHOWN_COLUMNS_MOST];
    uint32_t shown[SHOWN_COLUMNS_MOST], columns = 0, lines = 0;
    assert(t->columns <= SHOWN_COLUMNS_MOST);
    assert(t->under == NULL || t->columns >= 2); /* lines below a row take two cells */
    for (uint32_t i = 0; i < t->columns; i++) {
        if ((t->hidden >> i & 1) != 0)
            continue;
        column[columns] = shown_heading(&t->column[i]);
        shown[columns++] = i;
    }
    str *cell = cells_array(cells, (size_t)t->rows * 2 + t->lasts, columns);
    if (cell == NULL)
        return;
    for (uint32_t i = 0; i < t->rows; i++) {
        const void *row = (const char *)t->row + i * t->row_bytes;
        str *next = cell + (size_t)lines++ * columns;
        for (uint32_t k = 0; k < columns; k++)
            next[k] = table_cell(cells, t, row, shown[k]);
        if (t->under != NULL)
            t->under(t->arg, row, cells);
        if (cells->text.len > 0)
            cell_end_lines(cells, cell + (size_t)lines++ * columns);
    }
    for (uint32_t i = 0; i < t->lasts; i++, lines++)
        for (uint32_t k = 0; k < columns; k++)
            cell[(size_t)lines * columns + k] = t->last[(size_t)i * t->columns + shown[k]];
    struct text_table table = { column, columns, lines, cell, t->indent };
    text_table(to, style, &table);
}
