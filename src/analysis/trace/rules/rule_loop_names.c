/* rule_loop_names.c - names on the thread of the steps: whose code they are, and what it does. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/phases/phases.h"
#include "analysis/trace/rules/facts.h"
#include "base/str.h"
#include "model/trace.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool begins_with_one_of(str name, const char *const *part, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_starts(name, str_from(part[i])))
            return true;
    return false;
}

/* The profiler takes away a folder that Python searches, so that a package may stand first. */
static bool is_of_a_package(str name)
{
    static const char *const begins[] = {
        "torchvision/", "torchaudio/", "numpy/",     "PIL/",        "cv2/",  "transformers/",
        "lightning/",   "pytorch_lightning/",        "accelerate/", "tqdm/", "pandas/",
    };
    return begins_with_one_of(name, begins, COUNT(begins));
}

bool rule_name_is_of_the_program(str name)
{
    static const char *const others[] = {
        "site-packages/", "dist-packages/", "torch/", "/lib/python3", "<frozen ", "<string>",
        "threading.py(", "runpy.py(", "contextlib.py(", "functools.py(", "queue.py(",
        "selectors.py(", "multiprocessing/", "concurrent/", "importlib/", "asyncio/",
        "vramscope/measuring/", "vramscope/compat/", "vramscope/profiler.py(", /* who records */
    };
    return rule_name_has(name, ".py(") &&
           !rule_name_has_one_of(name, others, COUNT(others)) && !is_of_a_package(name);
}

/* What a method of a tensor does for whoever calls it: to take its value, or to write it. */
static bool is_of_a_value(str name)
{
    return rule_name_has(name, "torch/_tensor.py(") || rule_name_has(name, "torch/_tensor_str.py(");
}

/* Frames that carry out a training: their time is that of a phase, or of the profiler. */
static bool trains(str name)
{
    static const char *const parts[] = {
        "torch/optim/",    "torch/autograd/",    "torch/_compile.py(", "torch/_dynamo/",
        "torch/nn/utils/", "torch/profiler/",    "torch/amp/",         "torch/cuda/",
        "torch/distributed/", "torch/_tensor.py(",
    };
    if (!rule_name_has(name, "torch/_tensor.py("))
        return rule_name_has_one_of(name, parts, COUNT(parts));
    return str_ends(name, S("): backward"));
}

/* "<built-in method item of Tensor object at 0x7f>" */
static bool takes_a_value(str name)
{
    static const char *const begins[] = {
        "<built-in method item of Tensor ", "<built-in method tolist of Tensor ",
        "<built-in method cpu of Tensor ", "<built-in method numpy of Tensor ",
    };
    return begins_with_one_of(name, begins, COUNT(begins)) ||
           rule_name_has(name, "torch/_tensor_str.py(");
}

/* What a built-in copies on its way, as autocast does before a product, nobody asked for. */
static bool hides_copies(str name)
{
    static const char *const asked[] = {
        " clone of ", " contiguous of ", " to of ",       " copy_ of ", " float of ", " double of ",
        " half of ",  " bfloat16 of ",   " reshape of ",  " type of ",  " long of ",  " int of ",
        " cpu of ",   " type_as of ",    " view_as of ",
    };
    return str_starts(name, S("<built-in ")) && !rule_name_has_one_of(name, asked, COUNT(asked));
}

static bool waits(str name)
{
    static const char *const begins[] = {
        "<built-in function sleep>",      "<built-in function open>",
        "<built-in function fromfile>",   "<built-in method read of ",
        "<built-in method readinto of ",  "<built-in method readline of ",
        "<built-in method readlines of ", "<built-in method recv of ",
        "<built-in method recv_into of ", "<built-in function pread>",
        "<built-in function read>",       "<built-in method poll of ",
        "<built-in function stat>",       "<built-in method acquire of ",
    };
    return begins_with_one_of(name, begins, COUNT(begins));
}

/* A comprehension has a frame of its own; who reads looks for the function around it. */
static bool is_part_of_a_function(str name)
{
    return str_ends(name, S("): <listcomp>")) || str_ends(name, S("): <genexpr>")) ||
           str_ends(name, S("): <dictcomp>")) || str_ends(name, S("): <setcomp>"));
}

static unsigned of_a_frame(str name)
{
    unsigned is = 0;
    if (rule_name_is_of_the_program(name))
        return is_part_of_a_function(name) ? 0u : LOOP_PROGRAM;
    is |= rule_name_has(name, ".py(") && !is_of_a_value(name) ? LOOP_FOREIGN : 0u;
    is |= str_starts(name, S("nn.Module: ")) ? LOOP_FORWARD : 0u;
    is |= rule_name_has(name, "torch/utils/data/") ? LOOP_LOADS : 0u;
    is |= trains(name) ? LOOP_TRAINS : 0u;
    is |= takes_a_value(name) ? LOOP_READS : 0u;
    is |= waits(name) ? LOOP_WAITS : 0u;
    is |= hides_copies(name) ? LOOP_HIDES : 0u;
    return is;
}

/* A range of the loss alone does not say where the forward is. */
static unsigned of_a_range(str name)
{
    enum trace_phase phase = trace_phase_of_range(name);
    if (phase == PHASE_DATA)
        return LOOP_LOADS;
    if (phase == PHASE_FORWARD && !rule_name_has(name, "loss") && !rule_name_has(name, "Loss"))
        return LOOP_FORWARD;
    return phase <= PHASE_FORWARD ? LOOP_TRAINS : 0u;
}

static unsigned of_an_operator(str name)
{
    static const char *const read[] = { "aten::item", "aten::_local_scalar_dense",
                                        "aten::is_nonzero", "aten::nonzero" };
    static const char *const copy[] = { "aten::copy_", "aten::clone", "aten::contiguous",
                                        "aten::to", "aten::_to_copy", "aten::reshape" };
    unsigned is = LOOP_OPERATOR;
    if (str_starts(name, S("autograd::engine::evaluate_function:")))
        return LOOP_TRAINS;
    if (!rule_name_has(name, "::")) /* until 2021 ranges were operators */
        return of_a_range(name);
    is |= str_is_one_of_texts(name, read, COUNT(read)) ? LOOP_READS : 0u;
    is |= str_is_one_of_texts(name, copy, COUNT(copy)) ? LOOP_COPIES : 0u;
    is |= str_equal(name, S("aten::copy_")) ? LOOP_COPY : 0u;
    return is;
}

uint16_t rule_loop_name(str name, uint8_t kind)
{
    unsigned is = kind == SPAN_PYTHON       ? of_a_frame(name)
                  : kind == SPAN_OP         ? of_an_operator(name)
                  : kind == SPAN_ANNOTATION ? of_a_range(name)
                                            : 0u;
    if (kind == SPAN_ANNOTATION && rule_name_has(name, "_MultiProcessingDataLoaderIter"))
        is |= LOOP_WORKERS;
    return (uint16_t)(is | LOOP_IS_KNOWN);
}
