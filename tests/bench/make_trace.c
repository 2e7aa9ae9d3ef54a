/* make_trace.c - writes a large profiler trace for `make bench`, and the truth about it.
 *
 * usage: make_trace [--bytes N] PATH
 *
 * One training step is written again and again, its stamps and ids further on each time: Python
 * frames around operators, operators with shapes and stacks in operators, the calls that launch a
 * kernel each, the arrow from call to kernel, the instants of the allocator.  The device's rows
 * stand behind the host's of the same step, so the file is nearly in the order of time, as those of
 * the profiler are.  Standard output gets what a reader must find. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 160, DEPTH = 3, HOST = 4242, THREAD = 4242, STREAM = 7, PREFIX_US = 1717171717 };

struct kernel {
    int64_t start_ns, ns;
    uint64_t correlation, external;
    uint32_t name;
};

struct maker {
    FILE *to;
    uint64_t bytes;
    int64_t now_ns, device_ns; /* where the host stands, and when the device is free */
    uint64_t id, correlation;
    int64_t allocated;
    bool failed;
    /* The truth. */
    uint64_t events, ops, frames, calls, kernels, annotations, flows, memory, steps;
    int64_t busy_ns, first_ns, last_ns;
};

static const char *const kinds[] = { "Conv2d", "BatchNorm2d", "ReLU", "Linear" };
static const char *const ops[] = { "conv2d", "batch_norm", "relu_", "linear" };
static const char *const kernel_names[] = {
    "void cudnn::detail::implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1, true, false, "
    "true>(int, int, int, float const*, int, float*, float*, int, int)",
    "void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>(cudnn::bn_fw_params, float)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::threshold_kernel_impl<float>, "
    "at::detail::Array<char*, 2> >(int, float)",
    "volta_sgemm_128x64_nn",
};

/* Writes what printf would. */
#define PUT(m, ...) put_count((m), fprintf((m)->to, __VA_ARGS__))

static void put_count(struct maker *m, int written)
{
    m->failed = m->failed || written < 0;
    m->bytes += written > 0 ? (uint64_t)written : 0;
}

/* Microseconds since 1970 with three decimals. */
static void put_time(struct maker *m, const char *key, int64_t ns)
{
    PUT(m, "\"%s\": %d%06" PRId64 ".%03" PRId64, key, PREFIX_US + (int)(ns / 1000000000),
        ns / 1000 % 1000000, ns % 1000);
}

static void put_head(struct maker *m, const char *category, const char *name, int64_t start_ns,
                     int64_t ns)
{
    PUT(m, "%s\n  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d,\n    ",
        m->events > 0 ? "," : "", category, name, HOST, THREAD);
    put_time(m, "ts", start_ns);
    PUT(m, ", \"dur\": %" PRId64 ".%03" PRId64 ",\n    \"args\": {\n      ", ns / 1000, ns % 1000);
    m->events++;
    if (m->last_ns < start_ns + ns)
        m->last_ns = start_ns + ns;
}

static void put_op(struct maker *m, const char *name, uint32_t layer, uint64_t id, int64_t start_ns,
                   int64_t ns)
{
    uint32_t width = 64u << layer % 4;
    put_head(m, "cpu_op", name, start_ns, ns);
    PUT(m,
        "\"External id\": %" PRIu64 ",\"Record function id\": 0, \"Ev Idx\": %" PRIu64
        ", \"Sequence number\": %" PRIu64 ", \"Fwd thread id\": 0, "
        "\"Input Dims\": [[32, %u, 56, 56], [%u, %u, 3, 3], [], [], [], [], []], "
        "\"Call stack\": \"torch/nn/modules/%s.py(%u): forward;torch/nn/modules/module.py(1518): "
        "_call_impl;model/resnet.py(%u): forward;torch/nn/modules/module.py(1518): _call_impl;"
        "train.py(54): <module>\", "
        "\"Input type\": [\"float\", \"float\", \"\", \"\", \"Int\", \"\", \"Bool\"]\n    }\n  }",
        id, id, id / 2, width, width, width, ops[layer % 4], 100 + layer % 4, 200 + layer);
    m->ops++;
}

static void put_memory(struct maker *m, int64_t at_ns, int64_t bytes)
{
    m->allocated += bytes;
    PUT(m,
        ",\n  {\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": "
        "\"[memory]\",\n    \"pid\": %d, \"tid\": %d,\n    ",
        HOST, THREAD);
    put_time(m, "ts", at_ns);
    PUT(m,
        ",\n    \"args\": {\n      \"Total Reserved\": 4294967296, \"Total Allocated\": %" PRId64
        ", \"Bytes\": %" PRId64 ", \"Addr\": %" PRIu64
        ", \"Device Id\": 0, \"Device Type\": 1\n    }\n  }",
        m->allocated, bytes, UINT64_C(139937000000000) + (m->id % 4096) * 512);
    m->events++;
    m->memory++;
}

static void put_flow(struct maker *m, const char *phase, int pid, int tid, int64_t at_ns,
                     uint64_t id)
{
    PUT(m, ",\n  {\n    \"ph\": \"%s\", \"id\": %" PRIu64 ", \"pid\": %d, \"tid\": %d, ", phase, id,
        pid, tid);
    put_time(m, "ts", at_ns);
    PUT(m, ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"%s\n  }", *phase == 'f' ? ", \"bp\": \"e\"" : "");
    m->events++;
    m->flows++;
}

static void put_frame(struct maker *m, const char *kind, uint32_t layer, int64_t start_ns,
                      int64_t ns)
{
    char name[64];
    snprintf(name, sizeof name, "nn.Module: %s_%u", kind, layer);
    put_head(m, "python_function", name, start_ns, ns);
    PUT(m,
        "\"Python parent id\": %" PRIu64 ", \"Python id\": %" PRIu64 ", \"Ev Idx\": %" PRIu64
        ", \"Python module id\": %u\n    }\n  }",
        m->id, m->id + 1, m->id, layer);
    m->frames++;
}

/* One layer of the model: its frame, its operators, the launch of its kernel. */
static void put_layer(struct maker *m, uint32_t layer, struct kernel *kernel)
{
    static const char *const prefixes[DEPTH] = { "", "_", "cudnn_" };
    uint32_t kind = layer % 4;
    int64_t start = m->now_ns, ns = 48000 + (int64_t)(m->id * 7919 % 16000);
    uint64_t first = m->id;
    put_frame(m, kinds[kind], layer, start, ns);
    for (uint32_t d = 0; d <= DEPTH; d++) {
        char name[64];
        snprintf(name, sizeof name, "aten::%s%s", d < DEPTH ? prefixes[d] : "",
                 d < DEPTH ? ops[kind] : "empty");
        int64_t inset = 1500 * (int64_t)(d + 1);
        put_op(m, name, layer, first + d + 1, start + inset,
               d == DEPTH ? 2200 : ns - 2 * inset);
    }
    put_memory(m, start + 7000, (int64_t)1 << (16 + kind));
    put_memory(m, start + ns - 500, -((int64_t)1 << (16 + kind)));
    m->id += DEPTH + 3;
    kernel->correlation = ++m->correlation;
    kernel->external = first + DEPTH;
    kernel->name = kind;
    int64_t launch = start + ns - 20000, launch_ns = 5200;
    put_head(m, "cuda_runtime", "cudaLaunchKernel", launch, launch_ns);
    PUT(m,
        "\"External id\": %" PRIu64 ", \"cbid\": 211, \"correlation\": %" PRIu64 "\n    }\n  }",
        kernel->external, kernel->correlation);
    m->calls++;
    put_flow(m, "s", HOST, THREAD, launch, kernel->correlation);
    kernel->start_ns = launch + 8000 > m->device_ns + 900 ? launch + 8000 : m->device_ns + 900;
    kernel->ns = 20000 + (int64_t)(m->id * 104729 % 40000);
    m->device_ns = kernel->start_ns + kernel->ns;
    m->busy_ns += kernel->ns;
    m->now_ns = start + ns + 3000;
}

static void put_kernel(struct maker *m, const struct kernel *k)
{
    PUT(m,
        ",\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": 0, \"tid\": "
        "%d,\n    ",
        kernel_names[k->name], STREAM);
    put_time(m, "ts", k->start_ns);
    PUT(m,
        ", \"dur\": %" PRId64 ".%03" PRId64
        ",\n    \"args\": {\n      \"External id\": %" PRIu64
        ", \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": %d, \"correlation\": %" PRIu64
        ",\n      \"registers per thread\": 32, \"shared memory\": 0, \"blocks per SM\": 19.6, "
        "\"warps per SM\": 78.4,\n      \"grid\": [1568, 1, 1], \"block\": [128, 1, 1], "
        "\"est. achieved occupancy %%\": 100\n    }\n  }",
        k->ns / 1000, k->ns % 1000, k->external, STREAM, k->correlation);
    m->events++;
    m->kernels++;
    put_flow(m, "f", 0, STREAM, k->start_ns, k->correlation);
    if (m->last_ns < k->start_ns + k->ns)
        m->last_ns = k->start_ns + k->ns;
}

/* The range of a step stands behind what it holds: its end is known then. */
static void put_step(struct maker *m)
{
    struct kernel kernel[LAYERS];
    int64_t start = m->now_ns;
    char name[32];
    m->now_ns += 4000;
    for (uint32_t layer = 0; layer < LAYERS; layer++)
        put_layer(m, layer, &kernel[layer]);
    snprintf(name, sizeof name, "ProfilerStep#%" PRIu64, m->steps);
    put_head(m, "user_annotation", name, start, m->now_ns - start);
    PUT(m, "\"External id\": %" PRIu64 ", \"Ev Idx\": %" PRIu64 "\n    }\n  }", m->id, m->id);
    m->id++;
    m->annotations++;
    m->steps++;
    for (uint32_t layer = 0; layer < LAYERS; layer++)
        put_kernel(m, &kernel[layer]);
    m->now_ns = m->device_ns > m->now_ns ? m->device_ns : m->now_ns;
}

static void put_trace(struct maker *m, uint64_t bytes)
{
    PUT(m, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [{\"id\": 0, \"name\": \"A Card\", "
           "\"totalGlobalMem\": 34084028416, \"computeMajor\": 7, \"computeMinor\": 0, \"numSms\": "
           "80}],\n  \"record_shapes\": 1, \"profile_memory\": 1, \"with_stack\": 1,\n  "
           "\"traceEvents\": [");
    m->first_ns = m->now_ns;
    while (m->bytes < bytes && !m->failed)
        put_step(m);
    PUT(m, "\n  ],\n  \"traceName\": \"made\"\n}\n");
}

static void print_truth(const struct maker *m)
{
    printf("{\"bytes\": %" PRIu64 ", \"events\": %" PRIu64 ", \"kinds\": {\"op\": %" PRIu64
           ", \"annotation\": %" PRIu64 ", \"runtime\": %" PRIu64 ", \"kernel\": %" PRIu64
           ", \"python\": %" PRIu64 "}, \"span_ns\": %" PRId64 ", \"busy_ns\": %" PRId64
           ", \"memory\": %" PRIu64 ", \"steps\": %" PRIu64 "}\n",
           m->bytes, m->events, m->ops, m->annotations, m->calls, m->kernels, m->frames,
           m->last_ns - m->first_ns, m->busy_ns, m->memory, m->steps);
}

int main(int argc, char **argv)
{
    bool sized = argc == 4 && strcmp(argv[1], "--bytes") == 0;
    if (argc != (sized ? 4 : 2) || argv[argc - 1][0] == '-') {
        fputs("usage: make_trace [--bytes N] PATH\n", stderr);
        return 2;
    }
    struct maker m = { .to = fopen(argv[argc - 1], "wb"), .id = 1 };
    if (m.to == NULL) {
        fprintf(stderr, "make_trace: %s cannot be written\n", argv[argc - 1]);
        return 3;
    }
    put_trace(&m, sized ? strtoull(argv[2], NULL, 10) : 300000000);
    m.failed = fclose(m.to) != 0 || m.failed;
    if (m.failed) {
        fprintf(stderr, "make_trace: %s could not be written\n", argv[argc - 1]);
        return 3;
    }
    print_truth(&m);
    return 0;
}
