/* driver.c - one caller at a time in the driver's library. */
#define _POSIX_C_SOURCE 200809L
#include "profiler/driver.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

bool driver_init(struct driver *d, const char *library)
{
    *d = (struct driver){ .library = library };
    return pthread_mutex_init(&d->guard, NULL) == 0;
}

void driver_free(struct driver *d)
{
    nvml_close(&d->nvml);
    pthread_mutex_destroy(&d->guard);
}

void driver_after_fork(struct driver *d)
{
    pthread_mutex_init(&d->guard, NULL);
    /* The parent's state of the library is of no use here, nor to be ended here. */
    d->nvml = (struct nvml){ .library = NULL };
    d->tried = false;
}

/* With the guard held. */
static void ask(struct driver *d, nvml_device device, uint32_t what, struct driver_figures *ret)
{
    bool ok = true;
    if (what & DRIVER_MEMORY)
        ok = nvml_memory(&d->nvml, device, &ret->used, &ret->total) && ok;
    if (what & DRIVER_UTILISATION)
        ok = nvml_utilisation(&d->nvml, device, &ret->utilisation) && ok;
    if (what & DRIVER_PROCESSES)
        ok = nvml_processes(&d->nvml, device, (uint32_t)getpid(), &ret->processes, &ret->own) && ok;
    if (!ok)
        memcpy(ret->why, d->nvml.why, sizeof ret->why);
}

void driver_ask(struct driver *d, const char *id, uint32_t what, struct driver_figures *ret)
{
    *ret = (struct driver_figures){ .used = UINT64_MAX,
                                    .total = UINT64_MAX,
                                    .utilisation = -1,
                                    .processes = UINT32_MAX,
                                    .own = UINT64_MAX };
    nvml_device device;
    pthread_mutex_lock(&d->guard);
    if (!d->tried) {
        d->tried = true;
        (void)nvml_open(&d->nvml, d->library);
    }
    if (d->nvml.library != NULL && nvml_find(&d->nvml, id, &device))
        ask(d, device, what, ret);
    else
        memcpy(ret->why, d->nvml.why, sizeof ret->why);
    pthread_mutex_unlock(&d->guard);
}
