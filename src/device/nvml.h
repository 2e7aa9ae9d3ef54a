/* nvml.h - what NVIDIA's driver says of a device, by its library, which is loaded when it is first
 * needed.
 *
 * A device is named by its UUID ("GPU-...", "MIG-...") or its PCI address ("00000000:65:00.0"),
 * never by a number, which the environment changes.  A call that fails says why; what it was to
 * tell is then not known.  Not locked; one struct is enough for a process. */
#ifndef VRS_DEVICE_NVML_H
#define VRS_DEVICE_NVML_H

#include <stdbool.h>
#include <stdint.h>

enum { NVML_WHY_BYTES = 160 };

struct nvml_calls;

struct nvml {
    void *library;
    struct nvml_calls *calls;
    char why[NVML_WHY_BYTES]; /* of the last call that failed; never empty then */
};

/* A device, as the library points at it. */
typedef struct nvml_device *nvml_device;

/* Loads the library, NULL: the driver's own, and begins with it once.  False: there is no
 * driver. */
bool nvml_open(struct nvml *n, const char *library);
void nvml_close(struct nvml *n);

bool nvml_find(struct nvml *n, const char *id, nvml_device *ret);

/* Bytes of all processes together, and of the device. */
bool nvml_memory(struct nvml *n, nvml_device device, uint64_t *ret_used, uint64_t *ret_total);

/* Percent of the time, of a while that the driver chooses, in which something ran. */
bool nvml_utilisation(struct nvml *n, nvml_device device, double *ret_percent);

/* How many processes compute on the device, and the bytes of the one with this number, UINT64_MAX
 * where the driver does not tell; 0 of one that does not. */
bool nvml_processes(struct nvml *n, nvml_device device, uint32_t pid, uint32_t *ret_count,
                    uint64_t *ret_bytes);

#endif
