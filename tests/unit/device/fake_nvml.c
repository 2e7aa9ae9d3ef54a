/* fake_nvml.c - stands for the driver's library where there is no driver: answers as it is told to,
 * by a struct that the test finds by its name. */
#include "unit/device/fake_nvml.h"

#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

struct device;
struct memory {
    unsigned long long total, free, used;
};
struct rates {
    unsigned gpu, memory;
};
struct process {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpu_instance, compute_instance;
};

EXPORTED struct fake_nvml fake_nvml = { .total = 1000, .used = 400, .percent = 30 };

EXPORTED int nvmlInit_v2(void);
EXPORTED int nvmlShutdown(void);
EXPORTED const char *nvmlErrorString(int status);
EXPORTED int nvmlDeviceGetHandleByUUID(const char *uuid, struct device **ret);
EXPORTED int nvmlDeviceGetHandleByPciBusId_v2(const char *address, struct device **ret);
EXPORTED int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *ret);
EXPORTED int nvmlDeviceGetUtilizationRates(struct device *device, struct rates *ret);
EXPORTED int nvmlDeviceGetComputeRunningProcesses_v3(struct device *device, unsigned *count,
                                                     struct process *ret);

int nvmlInit_v2(void)
{
    fake_nvml.inits++;
    return fake_nvml.init;
}

int nvmlShutdown(void)
{
    fake_nvml.shutdowns++;
    return 0;
}

const char *nvmlErrorString(int status)
{
    return status == 15 ? "GPU is lost" : status == 3 ? "Not Supported" : "Unknown Error";
}

static int find(const char *how, const char *id, struct device **ret)
{
    fake_nvml.finds++;
    fake_nvml.found[0] = '\0';
    strncat(fake_nvml.found, how, 8);
    strncat(fake_nvml.found, id, sizeof fake_nvml.found - 9);
    *ret = (struct device *)&fake_nvml;
    return fake_nvml.find;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, struct device **ret)
{
    return find("uuid ", uuid, ret);
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, struct device **ret)
{
    return find("pci ", address, ret);
}

int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *ret)
{
    (void)device;
    fake_nvml.memories++;
    *ret = (struct memory){ fake_nvml.total, fake_nvml.total - fake_nvml.used, fake_nvml.used };
    return fake_nvml.memory;
}

int nvmlDeviceGetUtilizationRates(struct device *device, struct rates *ret)
{
    (void)device;
    fake_nvml.utilisations++;
    *ret = (struct rates){ fake_nvml.percent, 1 };
    return fake_nvml.utilisation;
}

int nvmlDeviceGetComputeRunningProcesses_v3(struct device *device, unsigned *count,
                                            struct process *ret)
{
    (void)device;
    for (unsigned i = 0; i < fake_nvml.count && i < *count; i++)
        ret[i] = (struct process){ i == 0 ? fake_nvml.pid : 1, fake_nvml.process_bytes, 0, 0 };
    *count = fake_nvml.count;
    return fake_nvml.processes;
}
