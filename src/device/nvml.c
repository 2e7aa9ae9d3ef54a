/* nvml.c - the functions of libnvidia-ml, looked up by their names.
 *
 * What they take and fill in is declared here by hand, as their manual says, so that neither a
 * driver nor its headers are needed to build this. */
#include "device/nvml.h"

#include <assert.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"

#define LIBRARY "libnvidia-ml.so.1"

enum { SUCCESS = 0, INSUFFICIENT_SIZE = 7 };
enum { PROCESSES_MOST = 256 };

struct memory {
    unsigned long long total, free, used;
};

struct utilisation {
    unsigned gpu, memory; /* percent */
};

struct process {
    unsigned pid;
    unsigned long long bytes; /* all ones: not known */
    unsigned gpu_instance, compute_instance;
};

struct nvml_calls {
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int status);
    int (*by_uuid)(const char *uuid, nvml_device *ret);
    int (*by_pci)(const char *address, nvml_device *ret);
    int (*memory)(nvml_device device, struct memory *ret);
    int (*utilisation)(nvml_device device, struct utilisation *ret);
    int (*processes)(nvml_device device, unsigned *count, struct process *ret);
};

static const struct {
    const char *name;
    size_t at; /* in struct nvml_calls */
} functions[] = {
    { "nvmlInit_v2", offsetof(struct nvml_calls, init) },
    { "nvmlShutdown", offsetof(struct nvml_calls, shutdown) },
    { "nvmlErrorString", offsetof(struct nvml_calls, error_string) },
    { "nvmlDeviceGetHandleByUUID", offsetof(struct nvml_calls, by_uuid) },
    { "nvmlDeviceGetHandleByPciBusId_v2", offsetof(struct nvml_calls, by_pci) },
    { "nvmlDeviceGetMemoryInfo", offsetof(struct nvml_calls, memory) },
    { "nvmlDeviceGetUtilizationRates", offsetof(struct nvml_calls, utilisation) },
    /* Younger than the others; without it processes are not known. */
    { "nvmlDeviceGetComputeRunningProcesses_v3", offsetof(struct nvml_calls, processes) },
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0], NEEDED = FUNCTIONS - 1 };
static_assert(sizeof(struct nvml_calls) / sizeof(void (*)(void)) == FUNCTIONS,
              "a function that is not looked up would be called as NULL");

/* False, with a reason. */
static bool refuse(struct nvml *n, const char *what, const char *why)
{
    snprintf(n->why, sizeof n->why, "%s: %.120s", what, why != NULL ? why : "not told why");
    return false;
}

static bool worked(struct nvml *n, const char *function, int status)
{
    return status == SUCCESS || refuse(n, function, n->calls->error_string(status));
}

static bool look_up(struct nvml *n)
{
    for (size_t i = 0; i < FUNCTIONS; i++) {
        void *function = dlsym(n->library, functions[i].name);
        if (function == NULL && i < NEEDED)
            return refuse(n, functions[i].name, "the driver's library has no such function");
        /* ISO C has no conversion from an object's address to a function's. */
        memcpy((char *)n->calls + functions[i].at, &function, sizeof function);
    }
    return true;
}

bool nvml_open(struct nvml *n, const char *library)
{
    *n = (struct nvml){ .library = NULL };
    const char *name = library != NULL ? library : LIBRARY;
    n->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (n->library == NULL)
        return refuse(n, "NVML", dlerror());
    bool ok = vec_resize((void **)&n->calls, 1, sizeof *n->calls);
    ok = ok ? look_up(n) : refuse(n, "NVML", "out of memory");
    if (ok && worked(n, "nvmlInit_v2", n->calls->init()))
        return true;
    vec_resize((void **)&n->calls, 0, 0);
    dlclose(n->library);
    n->library = NULL;
    return false;
}

void nvml_close(struct nvml *n)
{
    if (n->library == NULL)
        return;
    n->calls->shutdown();
    vec_resize((void **)&n->calls, 0, 0);
    dlclose(n->library);
    n->library = NULL;
}

bool nvml_find(struct nvml *n, const char *id, nvml_device *ret)
{
    *ret = NULL;
    if (strncmp(id, "GPU-", 4) == 0 || strncmp(id, "MIG-", 4) == 0)
        return worked(n, "nvmlDeviceGetHandleByUUID", n->calls->by_uuid(id, ret));
    return worked(n, "nvmlDeviceGetHandleByPciBusId_v2", n->calls->by_pci(id, ret));
}

bool nvml_memory(struct nvml *n, nvml_device device, uint64_t *ret_used, uint64_t *ret_total)
{
    struct memory m = { 0 };
    if (!worked(n, "nvmlDeviceGetMemoryInfo", n->calls->memory(device, &m)))
        return false;
    if (m.total == 0 || m.used > m.total)
        return refuse(n, "nvmlDeviceGetMemoryInfo", "more memory in use than there is");
    *ret_used = m.used;
    *ret_total = m.total;
    return true;
}

bool nvml_utilisation(struct nvml *n, nvml_device device, double *ret_percent)
{
    struct utilisation u = { 0 };
    if (!worked(n, "nvmlDeviceGetUtilizationRates", n->calls->utilisation(device, &u)))
        return false;
    if (u.gpu > 100)
        return refuse(n, "nvmlDeviceGetUtilizationRates", "more than 100 percent");
    *ret_percent = u.gpu;
    return true;
}

bool nvml_processes(struct nvml *n, nvml_device device, uint32_t pid, uint32_t *ret_count,
                    uint64_t *ret_bytes)
{
    const char *name = functions[NEEDED].name;
    struct process process[PROCESSES_MOST];
    unsigned count = PROCESSES_MOST;
    if (n->calls->processes == NULL)
        return refuse(n, name, "the driver's library has no such function");
    int status = n->calls->processes(device, &count, process);
    if (status == INSUFFICIENT_SIZE)
        return refuse(n, name, "more than 256 processes");
    if (!worked(n, name, status))
        return false;
    if (count > PROCESSES_MOST)
        return refuse(n, name, "more processes than there was room for");
    *ret_count = count;
    *ret_bytes = 0;
    for (unsigned i = 0; i < count; i++)
        if (process[i].pid == pid)
            *ret_bytes = process[i].bytes;
    return true;
}
