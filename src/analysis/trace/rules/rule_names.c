/* rule_names.c - names of operators, kernels, copies and frames that rules ask for. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/rules/facts.h"
#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

bool rule_name_has(str name, const char *part)
{
    return str_find(name, str_from(part)) < name.len;
}

bool rule_name_has_one_of(str name, const char *const *part, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rule_name_has(name, part[i]))
            return true;
    return false;
}

/* Kernels of cuBLAS, cuDNN and CUTLASS say in their names that they use tensor cores, and of those
 * that multiply plain FP32 that they do not, whatever else the name has of the others. */
static bool uses_tensor_cores(str name)
{
    static const char *const plain[] = { "ffma", "f32f32_f32f32_f32", "sgemm", "simt" };
    static const char *const parts[] = {
        "h884", "s884", "h1688", "s1688", "hmma", "i8816", "16816", "c1688", "gmma", "tensorop",
        "xmma_gemm", "xmma_fprop", "xmma_dgrad", "xmma_wgrad", "xmma_implicit_gemm", "nvjet",
        "first_layer_wgrad_kernel", "flash_fwd", "flash_bwd",
    };
    return rule_name_has_one_of(name, parts, COUNT(parts)) &&
           !rule_name_has_one_of(name, plain, COUNT(plain));
}

bool rule_name_is_half(str name)
{
    static const char *const parts[] = {
        "bf16", "f16f16", "fp16", "hgemm", "h884", "s884", "h1688", "16816", "nvjet_h", "nvjet_t",
    };
    return rule_name_has_one_of(name, parts, COUNT(parts));
}

static bool makes_a_tensor(str name)
{
    static const char *const names[] = {
        "aten::rand", "aten::randn", "aten::randint", "aten::randperm", "aten::zeros",
        "aten::ones", "aten::full", "aten::arange", "aten::linspace", "aten::eye",
        "aten::zeros_like", "aten::ones_like", "aten::rand_like", "aten::randn_like",
        "aten::full_like",
    };
    return str_is_one_of_texts(name, names, COUNT(names));
}

static bool reads_a_value(str name)
{
    static const char *const names[] = { "aten::item", "aten::_local_scalar_dense",
                                         "aten::is_nonzero", "aten::nonzero" };
    return str_is_one_of_texts(name, names, COUNT(names));
}

static bool fills(str name)
{
    static const char *const names[] = { "aten::zero_", "aten::fill_", "aten::_foreach_zero_" };
    return str_is_one_of_texts(name, names, COUNT(names));
}

static bool waits_for_all(str name)
{
    static const char *const names[] = { "cudaDeviceSynchronize", "hipDeviceSynchronize" };
    return str_is_one_of_texts(name, names, COUNT(names));
}

static uint16_t rule_traits(str name)
{
    unsigned traits = 0;
    bool is_to_device = str_starts(name, S("Memcpy HtoD"));
    traits |= is_to_device ? RULE_TO_DEVICE : 0u;
    traits |= is_to_device && rule_name_has(name, "(Pageable") ? RULE_PAGEABLE : 0u;
    traits |= str_starts(name, S("Memcpy DtoD")) ? RULE_DEVICE_COPY : 0u;
    traits |= rule_name_has(name, "_single_tensor_") ? RULE_ONE_BY_ONE : 0u;
    traits |= fills(name) ? RULE_FILLS : 0u;
    traits |= str_starts(name, S("Optimizer.zero_grad#")) ? RULE_ZERO_GRAD : 0u;
    traits |= str_starts(name, S("Optimizer.step#")) ? RULE_OPTIMIZER : 0u;
    traits |= str_equal(name, S("aten::select")) ? RULE_SELECT : 0u;
    traits |= makes_a_tensor(name) ? RULE_CREATES : 0u;
    traits |= str_equal(name, S("aten::to")) ? RULE_TO : 0u;
    traits |= waits_for_all(name) ? RULE_WHOLE_SYNC : 0u;
    traits |= uses_tensor_cores(name) ? RULE_TENSOR_CORE : 0u;
    traits |= reads_a_value(name) ? RULE_READS : 0u;
    traits |= rule_name_is_half(name) ? RULE_HALF : 0u;
    traits |= str_starts(name, S("enumerate(DataLoader)#_SingleProcessDataLoaderIter"))
                  ? RULE_LONE_LOADER
                  : 0u;
    traits |= str_starts(name, S("hip")) ? RULE_HIP : 0u;
    return (uint16_t)traits;
}

bool rule_names_make(struct rule_facts *f)
{
    const struct trace *t = f->study->trace;
    f->names = arena_array(f->arena, uint16_t, t->strings.rows.len);
    if (f->names == NULL)
        return false;
    for (uint32_t id = 0; id < t->strings.rows.len; id++)
        f->names[id] = rule_traits(trace_text(t, id));
    return true;
}

/* By the frames that were recorded as such. */
static uint32_t frame_around(const struct rule_facts *f, uint32_t row)
{
    const struct spans *s = &f->study->trace->spans;
    uint32_t best = NO_ROW;
    for (uint32_t i = 0; i < s->rows.len; i++) {
        if (s->kind[i] != SPAN_PYTHON || s->track[i] != s->track[row] ||
            s->start[i] > s->start[row] || span_end(s, i) < span_end(s, row))
            continue;
        if ((best == NO_ROW || s->start[i] >= s->start[best]) &&
            rule_name_is_of_the_program(trace_text(f->study->trace, s->name[i])))
            best = i;
    }
    return best;
}

str rule_line(const struct rule_facts *f, uint32_t row)
{
    const struct trace *t = f->study->trace;
    if (row == NO_ROW)
        return (str){ NULL, 0 };
    bool has_frames = f->report->figures.kinds[SPAN_PYTHON] > 0;
    uint32_t frame = has_frames ? frame_around(f, row) : NO_ROW;
    return frame != NO_ROW ? trace_text(t, t->spans.name[frame]) : rule_line_given(f, row);
}

str rule_owner(const struct rule_facts *f, uint32_t row)
{
    const struct trace_study *s = f->study;
    const struct spans *spans = &s->trace->spans;
    if (row == NO_ROW)
        return (str){ NULL, 0 };
    uint32_t at = span_is_work(spans->kind[row]) ? s->links.owner[row] : row;
    if (!span_is_work(spans->kind[row]))
        while (at != NO_ROW && !span_is_range(spans->kind[at]))
            at = s->host.parent[at];
    /* A step is nobody who could act. */
    if (at == NO_ROW || (s->names.traits[spans->name[at]] & NAME_STEP) != 0)
        at = row;
    return trace_text(s->trace, spans->name[at]);
}
