/* names.c - patterns of names, as prefixes, endings and parts. */
#include "analysis/trace/study/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/number.h"
#include "base/str.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *const blame_names[BLAMES] = {
    [BLAME_DATALOADER] = "dataloader",
    [BLAME_SYNC] = "sync",
    [BLAME_ALLOCATOR] = "allocator",
    [BLAME_MODULE_LOAD] = "module_load",
    [BLAME_OPTIMIZER] = "optimizer",
    [BLAME_OP] = "op",
    [BLAME_RUNTIME] = "runtime",
    [BLAME_PYTHON] = "python",
    [BLAME_NONE] = "none",
};

/* `part` is in lower case. */
static bool has_in_any_case(str name, str part)
{
    for (size_t at = 0; at + part.len <= name.len; at++) {
        size_t i = 0;
        while (i < part.len && to_lower(name.ptr[at + i]) == part.ptr[i])
            i++;
        if (i == part.len)
            return true;
    }
    return false;
}

static bool has(str name, str part)
{
    return str_find(name, part) < name.len;
}

static bool communicates(str name)
{
    static const str parts[] = {
        { "nccl", 4 },    { "rccl", 4 },     { "hccl", 4 },   { "msccl", 5 },
        { "nvshmem", 7 }, { "deep_ep", 7 }, { "cross_device_reduce", 19 },
    };
    for (size_t i = 0; i < COUNT(parts); i++)
        if (has_in_any_case(name, parts[i]))
            return true;
    return false;
}

static bool synchronizes(str name)
{
    static const str ends[] = {
        { "cudaDeviceSynchronize", 21 }, { "cudaStreamSynchronize", 21 },
        { "cudaEventSynchronize", 20 },  { "hipDeviceSynchronize", 20 },
        { "hipStreamSynchronize", 20 },  { "hipEventSynchronize", 19 },
    };
    for (size_t i = 0; i < COUNT(ends); i++)
        if (str_ends(name, ends[i]))
            return true;
    return has(name, S("aclrtSynchronize"));
}

static bool begins_with_one_of(str name, const str *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_starts(name, names[i]))
            return true;
    return false;
}

static bool blocks(str name)
{
    static const str names[] = {
        { "cudaMemcpy", 10 },
        { "hipMemcpy", 9 },
        { "aten::item", 10 },
        { "aten::_local_scalar_dense", 25 },
        { "aten::nonzero", 13 },
    };
    return synchronizes(name) || str_is_one_of(name, names, COUNT(names));
}

static bool allocates(str name)
{
    static const str begins[] = {
        { "cudaMalloc", 10 },   { "cudaFree", 8 },  { "hipMalloc", 9 },
        { "hipFree", 7 },       { "cuMemAlloc", 10 }, { "cuMemFree", 9 },
        { "cuMemCreate", 11 },  { "cuMemRelease", 12 }, { "cuMemMap", 8 },
        { "cuMemUnmap", 10 },   { "cuMemAddressReserve", 19 }, { "cuMemSetAccess", 14 },
    };
    return begins_with_one_of(name, begins, COUNT(begins));
}

static bool loads_data(str name)
{
    return str_starts(name, S("enumerate(DataLoader)#")) ||
           str_starts(name, S("enumerate(DataPipe)#"));
}

static bool is_unlisted(str name)
{
    static const str names[] = {
        { "profiler::_record_function_enter", 32 },
        { "profiler::_record_function_enter_new", 36 },
        { "profiler::_record_function_exit", 31 },
        { "aten::is_leaf", 13 },
        { "aten::output_nr", 15 },
        { "aten::_version", 14 },
    };
    return str_is_one_of(name, names, COUNT(names));
}

#define STEP_BEGIN S("ProfilerStep#")

static bool is_step(str name)
{
    const str begin = STEP_BEGIN;
    if (!str_starts(name, begin) || name.len == begin.len)
        return false;
    for (size_t i = begin.len; i < name.len; i++)
        if (!is_digit(name.ptr[i]))
            return false;
    return true;
}

static uint8_t traits_of(str name)
{
    unsigned traits = 0;
    if (communicates(name))
        traits |= NAME_COMMUNICATES;
    if (synchronizes(name))
        traits |= NAME_SYNCHRONIZES;
    if (has_in_any_case(name, S("launch")))
        traits |= NAME_LAUNCHES;
    if (is_step(name))
        traits |= NAME_STEP;
    if (str_starts(name, S("Optimizer.")) || str_starts(name, S("enumerate(Data")))
        traits |= NAME_RANGE;
    if (is_unlisted(name))
        traits |= NAME_UNLISTED;
    if (str_starts(name, S("nn.Module: ")))
        traits |= NAME_MODULE;
    return (uint8_t)traits;
}

static enum blame blame_of(str name)
{
    if (loads_data(name))
        return BLAME_DATALOADER;
    if (blocks(name))
        return BLAME_SYNC;
    if (allocates(name))
        return BLAME_ALLOCATOR;
    if (has(name, S("ModuleLoad")) || has(name, S("LibraryLoad")))
        return BLAME_MODULE_LOAD;
    return str_starts(name, S("Optimizer.")) ? BLAME_OPTIMIZER : BLAME_OP;
}

bool names_make(const struct trace *t, struct arena *arena, struct names *ret)
{
    uint32_t count = t->strings.rows.len;
    ret->traits = arena_array(arena, uint8_t, count);
    ret->blame = arena_array(arena, uint8_t, count);
    if (ret->traits == NULL || ret->blame == NULL)
        return false;
    for (uint32_t id = 0; id < count; id++) {
        str name = trace_text(t, id);
        ret->traits[id] = traits_of(name);
        ret->blame[id] = (uint8_t)blame_of(name);
    }
    return true;
}

int64_t name_step_number(str name)
{
    const size_t begin = STEP_BEGIN.len;
    uint64_t n = 0;
    bool negative = false;
    if (!is_step(name) ||
        !number_integer((str){ name.ptr + begin, name.len - begin }, &n, &negative) ||
        n > INT64_MAX)
        return -1;
    return (int64_t)n;
}

str name_without_number(str name)
{
    size_t end = name.len;
    while (end > 0 && is_digit(name.ptr[end - 1]))
        end--;
    bool is_numbered = end > 0 && end < name.len && name.ptr[end - 1] == '#';
    return is_numbered ? (str){ name.ptr, end - 1 } : name;
}
