/* rule_shapes.c - sizes of matrix products in 16 bits, which tensor cores like in multiples. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/figures/figures.h"
#include "analysis/trace/rules/facts.h"
#include "analysis/trace/rules/judge.h"
#include "analysis/trace/rules/rules.h"
#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/tables.h"
#include "base/bytes.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"

/* Operators that multiply two matrices, and which of their inputs these are. */
struct product {
    str name;
    uint32_t first; /* the other is the next */
};

static const struct product products[] = {
    { { "aten::mm", 8 }, 0 },
    { { "aten::bmm", 9 }, 0 },
    { { "aten::addmm", 11 }, 1 },
    { { "aten::baddbmm", 13 }, 1 },
    { { "aten::_addmm_activation", 23 }, 1 },
};

static const struct product *product_of(str name)
{
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (str_equal(name, products[i].name))
            return &products[i];
    return NULL;
}

/* rows x inner by inner x columns */
struct sizes {
    int64_t rows, inner, columns;
};

/* Leaves the last two numbers of the list that begins at `at` behind its bracket; false: it has less
 * or is a list of others. */
static bool take_matrix(str json, size_t *at, int64_t *ret_rows, int64_t *ret_columns)
{
    enum { BASE = 10 };
    const int64_t most = INT64_MAX / BASE - 1;
    int64_t value = 0, before = -1, last = -1;
    bool in_number = false;
    for (; *at < json.len && json.ptr[*at] != ']'; ++*at) {
        char c = json.ptr[*at];
        if (c == '[')
            return false;
        bool is_digit = c >= '0' && c <= '9';
        if (is_digit && !in_number) {
            before = last;
            value = 0;
        }
        in_number = is_digit;
        if (is_digit && value < most)
            value = value * BASE + (c - '0');
        if (is_digit)
            last = value;
    }
    *ret_rows = before;
    *ret_columns = last;
    return before >= 0 && *at < json.len;
}

/* Of "[[8, 4], [4, 2]]"; false where the two are no matrices that can be multiplied. */
static bool take_sizes(str json, uint32_t first, struct sizes *ret)
{
    int64_t inner = -1;
    uint32_t list = 0;
    for (size_t at = 1; at < json.len; at++) {
        if (json.ptr[at] != '[')
            continue;
        int64_t rows = 0, columns = 0;
        at++;
        bool is_matrix = take_matrix(json, &at, &rows, &columns);
        if (list == first && is_matrix) {
            ret->rows = rows;
            ret->inner = columns;
        } else if (list == first + 1 && is_matrix) {
            ret->columns = columns;
            inner = rows;
        } else if (list >= first) {
            return false;
        }
        if (list++ == first + 1)
            return inner == ret->inner;
    }
    return false;
}

/* A vector is nobody's business, as is a tensor without values. */
static bool is_off(int64_t size, double multiple)
{
    return size > 1 && multiple >= 1 && size % (int64_t)multiple != 0;
}

/* CUTLASS and cuBLAS name a kernel by what its operands are aligned to: "..._tn_align8". */
static bool says_aligned(str kernel, double multiple)
{
    static const str names[] = { { "align8", 6 }, { "aligna8", 7 } };
    enum { NAMED = 8 };
    for (size_t i = 0; i < sizeof names / sizeof *names && multiple <= NAMED; i++)
        if (str_find(kernel, names[i]) < kernel.len)
            return true;
    return false;
}

struct unaligned {
    uint64_t products; /* with sizes, aligned or not */
    int64_t ns, longest_ns;
    uint32_t longest; /* work */
    struct sizes sizes;
};

static void add_product(const struct rule_facts *f, struct unaligned *u, uint32_t row)
{
    const struct trace_study *s = f->study;
    const struct spans *spans = &s->trace->spans;
    uint32_t owner = s->links.owner[row];
    struct sizes sizes = { .rows = 0 };
    if (owner == NO_ROW || spans->shapes[owner] == 0)
        return;
    const struct product *product = product_of(trace_text(s->trace, spans->name[owner]));
    double multiple = f->limits->at[TENSOR_ALIGN];
    if (product == NULL ||
        !take_sizes(trace_text(s->trace, spans->shapes[owner]), product->first, &sizes))
        return;
    u->products++;
    if (!is_off(sizes.rows, multiple) && !is_off(sizes.inner, multiple) &&
        !is_off(sizes.columns, multiple))
        return;
    if (says_aligned(trace_text(s->trace, spans->name[row]), multiple))
        return;
    u->ns = i64_plus(u->ns, spans->duration[row]);
    if (u->longest != NO_ROW && spans->duration[row] <= u->longest_ns)
        return;
    u->longest_ns = spans->duration[row];
    u->longest = row;
    u->sizes = sizes;
}

bool rule_tensor_align(struct judging *j)
{
    const struct rule_facts *f = j->f;
    const struct spans *spans = &f->study->trace->spans;
    struct unaligned u = { .longest = NO_ROW };
    if (!judge_capability(j))
        return false;
    if (!f->study->trace->header.has_shapes)
        return judge_no(j, "no shapes of operators were recorded (record_shapes=True)");
    for (uint32_t row = 0; row < spans->rows.len; row++)
        if (spans->kind[row] == SPAN_KERNEL && (f->names[spans->name[row]] & RULE_HALF) != 0)
            add_product(f, &u, row);
    if (u.products == 0)
        return judge_no(j, "no operator with shapes multiplies matrices in 16 bits, as kernels name "
                           "them");
    judge_note(j, "unaligned_ns", (double)u.ns);
    judge_note(j, "multiple", f->limits->at[TENSOR_ALIGN]);
    judge_note(j, "rows", (double)u.sizes.rows);
    judge_note(j, "inner", (double)u.sizes.inner);
    judge_note(j, "columns", (double)u.sizes.columns);
    judge_culprit(j, u.longest);
    j->found->gain_ns = u.ns;
    return judge_above(j, "unaligned_ratio",
                       judge_share((double)u.ns, (double)f->report->figures.tables.device_ns),
                       TENSOR_ALIGN_TIME);
}

bool trace_rules_use_shapes(const struct figures *f)
{
    const struct tables *t = &f->tables;
    bool multiplies = false, is_half = false;
    for (uint32_t i = 0; i < t->ops && !multiplies; i++)
        multiplies = t->op[i].self_device_ns > 0 && product_of(t->op[i].name) != NULL;
    for (uint32_t i = 0; multiplies && i < t->kernels && !is_half; i++)
        is_half = rule_name_is_half(t->kernel[i].name);
    return is_half;
}
